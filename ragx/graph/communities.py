"""Communities of the graph: a seeded Leiden partition with names, the same for the same edges and texts."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

import numpy as np
import pyarrow as pa
from graspologic_native import leiden_csr

from ragx.chunking import readable
from ragx.config.settings import Communities
from ragx.store import Store, statements
from ragx.store.ids import stable_id
from ragx.text import stop_terms, terms

_GRAPH = statements("graph")
_KEYWORD = statements("keyword")

_TERMS = 8
_NAME_TERMS = 3

# Different terms may turn out to be one word, as two languages stem it.
_TERMS_READ = 16

# Chunks in which the spelling of a term is looked up: a count of all would tokenise the corpus again.
_SPOKEN = 3


def find_communities(store: Store, settings: Communities) -> None:
    """Partitions the chunks that have an edge (Traag, Waltman, van Eck 2019); numbers by size, then smallest member."""
    edges = store.run(_GRAPH.read_edges).fetchnumpy()
    nodes = np.unique(edges["src"])
    chunk_ids, community = np.empty(0, np.int64), np.empty(0, np.int32)
    if len(nodes):
        source = np.searchsorted(nodes, edges["src"])
        start = np.searchsorted(source, np.arange(len(nodes) + 1)).astype(np.int64)
        target = np.searchsorted(nodes, edges["dst"]).astype(np.int32)
        _, partition = leiden_csr(
            start, target, edges["weight"], len(nodes), resolution=settings.resolution, seed=settings.seed
        )
        chunk_ids, community = nodes, _number(np.array([partition[node] for node in range(len(nodes))], np.int64))
    with store.transaction():
        store.run(_GRAPH.drop_communities)
        store.load(_GRAPH.add_communities, pa.table({"chunk_id": chunk_ids, "community": community}))


def label_communities(store: Store) -> None:
    """Says what each community is about: its telling terms as its texts mostly spell them, and its central chunk."""
    languages = [row[0] for row in store.rows(_KEYWORD.corpus_languages)]
    stop_ids = sorted(stable_id(term) for term in stop_terms(languages))
    ranked = store.rows(_GRAPH.rank_terms, stop_ids=stop_ids, most=_TERMS_READ, spoken=_SPOKEN)
    spelled = _spellings(store, {chunk_id for *_, chunk_ids in ranked for chunk_id in chunk_ids})
    words: dict[int, dict[str, None]] = {number: {} for (number,) in store.rows(_GRAPH.read_communities)}
    for community, term, chunk_ids in ranked:
        words[community][_commonest(term, [spelled[chunk_id] for chunk_id in chunk_ids])] = None
    chosen = [list(found)[:_TERMS] for found in words.values()]
    labels = {
        "community": pa.array(words, pa.int32()),
        "name": pa.array([", ".join(found[:_NAME_TERMS]) for found in chosen], pa.string()),
        "terms": pa.array(chosen, pa.list_(pa.string())),
    }
    with store.transaction():
        store.run(_GRAPH.drop_labels)
        store.load(_GRAPH.add_labels, pa.table(labels))


def _spellings(store: Store, chunk_ids: Iterable[int]) -> dict[int, Counter[tuple[str, str]]]:
    """How often each chunk writes a term in which form: of its text, headings, title and name, as they are indexed."""
    spelled = {}
    for chunk_id, text, headings, language, kind, path, title in store.rows(
        _GRAPH.read_wording, chunk_ids=sorted(chunk_ids)
    ):
        context = "\n".join([*headings, title, PurePosixPath(path).stem])
        written = [*terms(readable(text, kind), language), *terms(context, language)]
        spelled[chunk_id] = Counter((term.term, term.form) for term in written)
    return spelled


def _commonest(term: str, spelled: Sequence[Counter[tuple[str, str]]]) -> str:
    """The form in which most chunks mostly have the term; ties go to the shorter form, then by alphabet."""
    counts: Counter[str] = Counter()
    for counted in spelled:
        for (found, form), count in counted.items():
            if found == term:
                counts[form] += count
    return min(counts, key=lambda form: (-counts[form], len(form), form))


def _number(label: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> "np.ndarray[tuple[int], np.dtype[np.int32]]":
    """Labels 0, 1, ... by falling size of the community, then by its first member; `label` is in the order of ids."""
    _, first, inverse, size = np.unique(label, return_index=True, return_inverse=True, return_counts=True)
    number = np.empty(len(size), np.int32)
    number[np.lexsort((first, -size))] = np.arange(len(size), dtype=np.int32)
    return number[inverse]
