"""Similar edges: after any edits they are those of a full build, though only what the edits touch is computed."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ragx.graph.knn import Pairs, best, concatenate, nearest, symmetric
from ragx.store import Store, statements
from ragx.types import Progress

_GRAPH = statements("graph")

Ids = NDArray[np.int64]

_LEAST_TEXTS = 100
_SAMPLE_TEXTS = 512
_QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)


@dataclass(frozen=True)
class Texts:
    """The distinct texts of an index: ids ascending, vectors (n, d) float32 of unit length in their order."""

    ids: Ids
    vectors: NDArray[np.float32]


@dataclass(frozen=True)
class TextGraph:
    """The distinct texts of an index, ascending, and its similar edges as pairs of their ids, in both directions."""

    ids: Ids
    edges: Pairs

    @staticmethod
    def empty() -> "TextGraph":
        return TextGraph(np.empty(0, np.int64), Pairs.empty())


def read_text_graph(store: Store) -> TextGraph:
    """What an index knows of its texts before it is changed."""
    edges = store.run(_GRAPH.read_text_edges).fetchnumpy()
    ids = store.run(_GRAPH.read_text_ids).fetchnumpy()["embedding_id"]
    return TextGraph(ids, Pairs(edges["source"], edges["target"], edges["weight"]))


def read_texts(store: Store, dimension: int) -> Texts:
    """The distinct texts with their vectors."""
    table = store.run(_GRAPH.read_vectors).to_arrow_table()
    return Texts(table.column("id").to_numpy(), vector_matrix(table, dimension))


def random_pair_cosines(texts: Texts) -> dict[str, float]:
    """Quantiles of the cosine of two texts that chance brought together.

    Of all pairs of the texts with the smallest ids: ids are hashes, so this is a random sample that edits hardly
    change. Empty where the corpus is too small to tell.
    """
    if len(texts.ids) < _LEAST_TEXTS:
        return {}
    sample = texts.vectors[:_SAMPLE_TEXTS]
    found = np.quantile((sample @ sample.T)[np.triu_indices(len(sample), 1)], _QUANTILES)
    return {str(at): round(float(value), 4) for at, value in zip(_QUANTILES, found, strict=True)}


def vector_matrix(table: pa.Table, dimension: int) -> NDArray[np.float32]:
    """The column `vector` of a table as an (n, d) array."""
    matrix = np.empty((table.num_rows, dimension), np.float32)
    at = 0
    for batch in table.to_batches():
        values = batch.column("vector")
        matrix[at : at + len(values)] = values.flatten().to_numpy().reshape(-1, dimension)
        at += len(values)
    return matrix


def link_similar(store: Store, texts: Texts, before: TextGraph, k: int, progress: Progress) -> None:
    """Writes the similar edges of the texts in `store`, taking over from `before` what the change left as it was.

    A text's list is its k nearest, and each list is part of the edges, so the k heaviest edges of a text are its list.
    Lists are computed anew for new texts and for those that lost a neighbor; others only compare theirs with the new.
    """
    ids, vectors = texts.ids, texts.vectors
    kept = np.isin(before.ids, ids, assume_unique=True)
    added = ~np.isin(ids, before.ids, assume_unique=True)
    if not added.any() and kept.all():
        write_similar(store, symmetric(before.edges))
        return
    old = best(before.edges, k)
    lost = np.isin(old.source, before.ids[~kept]) | np.isin(old.target, before.ids[~kept])
    stale = added.copy()
    stale[np.isin(ids, old.source[lost], assume_unique=False)] = True
    anew, others, fresh = np.flatnonzero(stale), np.flatnonzero(~stale), np.flatnonzero(added)

    progress.stage("linking similar chunks", len(anew) + len(others), "chunks")
    lists = [nearest(vectors, anew, np.arange(len(ids)), k, progress.advance)]
    if len(others):
        unchanged = ~np.isin(old.source, ids[stale]) & np.isin(old.source, ids)
        mine = Pairs(
            np.searchsorted(ids, old.source[unchanged]),
            np.searchsorted(ids, old.target[unchanged]),
            old.weight[unchanged],
        )
        lists.append(best(concatenate([mine, nearest(vectors, others, fresh, k, progress.advance)]), k))
    pairs = symmetric(concatenate(lists))
    write_similar(store, Pairs(ids[pairs.source], ids[pairs.target], pairs.weight))


def write_similar(store: Store, pairs: Pairs) -> None:
    """Replaces the similar edges by `pairs` of text ids, each pair once."""
    rows = pa.table({"source": pairs.source, "target": pairs.target, "weight": pairs.weight})
    with store.transaction():
        store.run(_GRAPH.drop_similar_edges)
        store.load(_GRAPH.add_similar_edges, rows)
