"""What is like a file or a passage, and what stands in two places: from stored vectors and edges, no model."""

from collections.abc import Sequence
from dataclasses import dataclass

from ragx.inspection.chunks import Entry, entries
from ragx.inspection.places import Target
from ragx.store import Store, statements

_SIMILAR = statements("similar")
_ALL = 2**31


@dataclass(frozen=True)
class Likeness:
    """A chunk, and the one of those asked for that it is most like."""

    chunk: Entry
    to: Entry
    cosine: float


@dataclass(frozen=True)
class Pair:
    """Two chunks in different places; `identical`: their texts are, up to line ends."""

    first: Entry
    second: Entry
    cosine: float
    identical: bool


def similar(store: Store, target: Target, top: int, least: float) -> tuple[Likeness, ...]:
    """The `top` chunks nearest to a chunk, or to any chunk of a file (then only chunks of other files), best first."""
    return _likenesses(store, _rank(store, target, top, least))


def similar_files(store: Store, target: Target, top: int, least: float) -> tuple[Likeness, ...]:
    """The `top` files by their best chunk, each as that chunk."""
    best: dict[int, tuple[int, int, float, int]] = {}
    for row in _rank(store, target, _ALL, least):
        best.setdefault(row[-1], row)
    found = _likenesses(store, list(best.values())[: top + 1])
    return tuple(likeness for likeness in found if likeness.chunk.file != target.file)[:top]


def duplicates(store: Store, top: int | None, least: float) -> tuple[Pair, ...]:
    """Pairs of chunks with a cosine of `least` or more, identical ones first, out of each text's k nearest."""
    rows = store.rows(_SIMILAR.list_duplicates, top=_ALL if top is None else top, least=least)
    places = entries(store, (chunk_id for row in rows for chunk_id in row[:2]))
    # The reader goes through the files by name.
    pairs = ((sorted((places[a], places[b]), key=_place), cosine, identical) for a, b, cosine, identical in rows)
    return tuple(Pair(first, second, cosine, identical) for (first, second), cosine, identical in pairs)


def _rank(store: Store, target: Target, top: int, least: float) -> list[tuple[int, int, float, int]]:
    elsewhere = target.chunk_id is None
    chunk_ids = list(target.chunk_ids)
    return store.rows(_SIMILAR.rank_similar, chunk_ids=chunk_ids, elsewhere=elsewhere, top=top, least=least)


def _likenesses(store: Store, rows: Sequence[tuple[int, int, float, int]]) -> tuple[Likeness, ...]:
    places = entries(store, (chunk_id for row in rows for chunk_id in row[:2]))
    return tuple(Likeness(places[chunk_id], places[to], cosine) for chunk_id, to, cosine, _ in rows)


def _place(entry: Entry) -> tuple[str, int]:
    return entry.file, entry.byte_start
