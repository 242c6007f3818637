"""Explicit links: after any edits each one leads where it would in a full build, and to there is an edge."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from ragx.links import Corpus, Named
from ragx.links.resolve import PROSE
from ragx.store import Store, statements
from ragx.text import terms

_LINKS = statements("links")

_MOST_MENTIONS = 50
"""A name that more files mention is a word of the corpus."""

_MOST_CHUNKS = 400
"""A name whose rarest word more chunks hold is not looked for."""

_MOST_TAGGED = 20
"""A tag of more files says little of each."""

_SHORTEST_NAME = 3
_PARENTHESIS = re.compile(r"\s*\([^()]*\)$")
_NOT_SLUG = re.compile(r"[^\w\- ]")

_RESOLVED = pa.schema(
    [
        ("chunk_id", pa.int64()), ("kind", pa.string()), ("target", pa.string()), ("heading", pa.string()),
        ("line", pa.int32()), ("file_id", pa.int64()), ("target_id", pa.int64()),
    ]
)  # fmt: skip
_NAMES = pa.schema([("file_id", pa.int64()), ("name", pa.string()), ("forms", pa.list_(pa.string()))])


def link_files(store: Store) -> None:
    """Finds out anew what every link leads to and where titles are mentioned, and writes the edges of both."""
    named = [
        Named(file_id, path, kind, title, tuple(aliases))
        for file_id, path, kind, title, aliases in store.rows(_LINKS.read_names)
    ]
    links = store.rows(_LINKS.read_links)
    corpus = Corpus(named)
    files = [corpus.resolve(path, kind, target) for *_, kind, target, _, _, path in links]
    meant = {(file, link[3]) for file, link in zip(files, links, strict=True) if file is not None}
    places = _places(store, sorted(meant | {(file, "") for file, _ in meant}))
    rows = [
        (*link[:-1], file, None if file is None else places.get((file, link[3]), places.get((file, ""))))
        for link, file in zip(links, files, strict=True)
    ]
    columns: list[Any] = list(zip(*rows, strict=True)) or [[]] * len(_RESOLVED)
    with store.transaction():
        store.run(_LINKS.drop_all_links)
        store.load(_LINKS.add_resolved_links, pa.table(columns, schema=_RESOLVED))
        store.run(_LINKS.create_plain)
        store.load(
            _LINKS.add_mentions,
            pa.Table.from_pylist(_mentionable(named), _NAMES),
            prose=sorted(PROSE),
            most_chunks=_MOST_CHUNKS,
            most_files=_MOST_MENTIONS,
        )
        store.run(_LINKS.drop_link_edges)
        store.run(_LINKS.add_link_edges, most_tagged=_MOST_TAGGED)


def _places(store: Store, wanted: Sequence[tuple[int, str]]) -> dict[tuple[int, str], int]:
    """For each file and heading that are meant the chunk where it begins; what is not there is left out."""
    slugs: dict[int, dict[str, int]] = defaultdict(dict)
    for file_id, heading, chunk_id in store.rows(_LINKS.read_headings, file_ids=sorted({file for file, _ in wanted})):
        slugs[file_id].setdefault(_slug(heading), chunk_id)
    places = {place: found for place in wanted if (found := slugs[place[0]].get(_slug(place[1]))) is not None}
    if blocks := sorted({place for place in wanted if place[1].startswith("^")}):
        files, names = zip(*blocks, strict=True)
        rows = store.rows(_LINKS.find_blocks, file_ids=files, blocks=names)
        places |= {(file_id, block): chunk_id for file_id, block, chunk_id in rows}
    return places


def _slug(heading: str) -> str:
    """The anchor that a heading has on a web page."""
    return _NOT_SLUG.sub("", unicodedata.normalize("NFC", heading).casefold().strip()).replace(" ", "-")


def _mentionable(files: Sequence[Named]) -> list[dict[str, Any]]:
    """The names of files that are looked for in the texts of others, without those that several files bear."""
    bearers: dict[str, set[int]] = defaultdict(set)
    spelling: dict[str, str] = {}
    for file in files:
        if file.kind in PROSE:
            for name in (file.title, _PARENTHESIS.sub("", file.title), *file.aliases):
                if len(name) >= _SHORTEST_NAME:
                    bearers[name.casefold()].add(file.file_id)
                    spelling.setdefault(name.casefold(), name)
    return [
        {
            "file_id": next(iter(of)),
            "name": spelling[name],
            "forms": sorted({term.form for term in terms(spelling[name], "")}),
        }
        for name, of in sorted(bearers.items())
        if len(of) == 1
    ]
