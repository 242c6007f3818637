"""The strongest path over the graph: of all, the one whose edge weights have the greatest product."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ragx.inspection.chunks import Edge, Entry, entries
from ragx.store import Store, statements

_GRAPH = statements("graph")
_INSPECT = statements("inspect")


@dataclass(frozen=True)
class GraphPath:
    """A chunk, the edges that lead from it to the other end, one after the other, and the product of their weights."""

    strength: float
    start: Entry
    edges: tuple[Edge, ...]


def strongest_path(store: Store, sources: Sequence[int], targets: Sequence[int]) -> GraphPath | None:
    """The strongest path from any of `sources` to any of `targets`; None: no edges connect them."""
    rows = store.rows(_INSPECT.find_path, sources=list(sources), targets=list(targets))
    if not rows:
        return None
    ((strength, chunk_ids),) = rows
    places = entries(store, chunk_ids)
    edges = {row[:2]: row[2:] for row in store.rows(_GRAPH.edges_between, chunk_ids=chunk_ids)}
    steps = (Edge(places[pair[1]], *edges[pair]) for pair in pairwise(chunk_ids))
    return GraphPath(strength, places[chunk_ids[0]], tuple(steps))
