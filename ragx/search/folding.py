"""Of texts that are the same or nearly so, a ranking shows the best and says where the others are; none is lost."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ragx.store import Store, statements

_SEARCH = statements("search")

# Hundreds of notes that are nearly the same fill both legs. Pairs of so many chunks are compared in a second.
_DEEPER = 4
_DEEPEST = 1_600


@dataclass(frozen=True)
class Group:
    """A row of `rank`, and what is folded under it, best first: the id of each chunk and its cosine to the row's."""

    best: tuple[Any, ...]
    copies: tuple[tuple[int, float], ...] = ()


def fold(store: Store, ranked: Sequence[tuple[Any, ...]], cosine: float) -> list[Group]:
    """Groups of ranked chunks, best first: each chunk under the best one that it is a copy of, or that is as near.

    What is folded itself holds no others: everything in a group is at least `cosine` near to its best.
    """
    chunk_ids = [row[0] for row in ranked]
    copies: dict[int, list[tuple[int, float]]] = {}
    folded: set[int] = set()
    for place, better, likeness in store.rows(_SEARCH.near_duplicates, chunk_ids=chunk_ids, cosine=cosine):
        if place not in folded and better not in folded:
            folded.add(place)
            copies.setdefault(better, []).append((chunk_ids[place], likeness))
    return [Group(row, tuple(copies.get(place, ()))) for place, row in enumerate(ranked) if place not in folded]


def deeper(groups: Sequence[Group], ranked: Sequence[tuple[Any, ...]], top: int, depth: int) -> int | None:
    """How many hits each leg needs where copies took the places of others in legs of `depth`; None: these will do."""
    crowded = len(groups) < min(top, depth, len(ranked)) and depth <= len(ranked) and depth < _DEEPEST
    return min(depth * _DEEPER, _DEEPEST) if crowded else None
