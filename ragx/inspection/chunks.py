"""Chunks, files and edges as the index has them; whatever is listed comes in a fixed order."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from ragx.inspection.places import Spell, file_chunks, find_file, unknown_file
from ragx.store import Store, statements

_INSPECT = statements("inspect")


@dataclass(frozen=True)
class Entry:
    """A chunk with its text. `community` is None where no edge leads."""

    chunk_id: int
    file: str
    ordinal: int
    kind: str
    headings: tuple[str, ...]
    language: str
    byte_start: int
    byte_end: int
    line_start: int
    line_end: int
    token_count: int
    community: int | None
    text: str


@dataclass(frozen=True)
class Edge:
    """An edge to a chunk. `outward`: not the reverse of a link, which has a direction."""

    to: Entry
    kind: str
    weight: float
    outward: bool


@dataclass(frozen=True)
class FileView:
    """A file of the index and its chunks in order; `skipped` says why it has none."""

    path: str
    size: int
    content_hash: str
    kind: str
    language: str
    title: str
    encoding: str
    skipped: str
    chunks: tuple[Entry, ...] = ()


def entries(store: Store, chunk_ids: Iterable[int]) -> dict[int, Entry]:
    """Chunks by id, in the order of `chunk_ids`."""
    wanted = list(dict.fromkeys(chunk_ids))
    found = {row[0]: _entry(row) for row in store.rows(_INSPECT.read_entries, chunk_ids=wanted)}
    return {chunk_id: found[chunk_id] for chunk_id in wanted}


def one_entry(store: Store, chunk_id: int) -> Entry:
    """A chunk that is there."""
    return entries(store, [chunk_id])[chunk_id]


def neighbors(store: Store, chunk_id: int) -> tuple[Edge, ...]:
    """The edges of a chunk, strongest first."""
    rows = store.rows(_INSPECT.list_edges, chunk_id=chunk_id)
    ends = entries(store, (row[0] for row in rows))
    return tuple(Edge(ends[dst], kind, weight, outward) for dst, kind, weight, outward in rows)


def file_view(store: Store, given: str, spell: Spell) -> FileView:
    """A file with its chunks; UsageError with the nearest path where the index has no such file."""
    row = find_file(store, given, spell)
    if row is None:
        raise unknown_file(store, given, spell)
    file_id, *described = row
    file = FileView(*described)
    return replace(file, chunks=tuple(entries(store, file_chunks(store, file_id)).values()))


def _entry(row: tuple[Any, ...]) -> Entry:
    chunk_id, file, ordinal, kind, headings, *others = row
    return Entry(chunk_id, file, ordinal, kind, tuple(headings), *others)
