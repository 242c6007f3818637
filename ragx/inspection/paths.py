"""The strongest path over the graph: of all, the one whose edge weights have the greatest product."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ragx.inspection.chunks import entries
from ragx.store import Store, statements
from ragx.types import Step

_INSPECT = statements("inspect")


@dataclass(frozen=True)
class GraphPath:
    """Chunks from one end to the other, each with the edge that led to it, and the product of the weights."""

    strength: float
    steps: tuple[Step, ...]


def strongest_path(store: Store, sources: Sequence[int], targets: Sequence[int]) -> GraphPath | None:
    """The strongest path from any of `sources` to any of `targets`; None: no edges connect them."""
    rows = store.rows(_INSPECT.find_path, sources=list(sources), targets=list(targets))
    if not rows:
        return None
    ((strength, chunk_ids),) = rows
    places = entries(store, chunk_ids)
    edges = {row[:2]: row[2:] for row in store.rows(_INSPECT.list_path_edges, chunk_ids=chunk_ids)}
    led = [(None, None), *(edges[pair] for pair in pairwise(chunk_ids))]
    steps = (
        Step(at.chunk_id, at.file, at.line_start, at.line_end, kind, weight)
        for at, (kind, weight) in zip((places[chunk_id] for chunk_id in chunk_ids), led, strict=True)
    )
    return GraphPath(strength, tuple(steps))
