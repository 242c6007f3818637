"""The two segments of vectors: one under a vector index and never written, one recent and scanned; merged by share."""

from collections.abc import Sequence
from typing import Any

from ragx.store import Store, statements
from ragx.store.vss import load_vss
from ragx.types import Progress

_VECTORS = statements("vectors")
_INDEX = statements("index")

AUTO_ROWS = 1_000
"""From so many vectors on "auto" builds a vector index."""

STALE_SHARE = 0.2
STALE_ROWS = 1_000

OPTIONS = {"metric": "cosine", "M": 16, "ef_construction": 128}


def open_segments(store: Store) -> None:
    """Makes a file that is built on an earlier one writable: its vector index needs the extension, or goes."""
    store.run(_VECTORS.drop_recent_ids)
    if store.value(_VECTORS.has_vector_index) and load_vss(store):
        store.run(_VECTORS.drop_vector_index)


def settle_segments(store: Store, hnsw: str, sample: Sequence[int], progress: Progress) -> dict[str, Any] | None:
    """Brings the segments into the shape that `vectors.hnsw` asks for; vectors of dead texts go when they are many.

    Returns what a reader needs to trust the vector index, None where there is none.
    """
    indexed, recent = store.value(_VECTORS.count_indexed), store.value(_VECTORS.count_recent)
    dead = store.value(_VECTORS.count_dead_indexed)
    there = store.value(_VECTORS.has_vector_index)
    wanted = hnsw == "always" or (hnsw == "auto" and indexed + recent >= AUTO_ROWS)
    fresh = recent + dead <= max(STALE_ROWS, STALE_SHARE * indexed)
    if not (there and wanted and fresh):
        if there:
            store.run(_VECTORS.drop_vector_index)
        there = wanted and _build(store, sample, progress)
    if not there:
        _drop_dead(store, sample)
    store.run(_VECTORS.create_recent_ids)
    if not there:
        return None
    dead = store.value(_VECTORS.count_dead_indexed)
    return {**OPTIONS, "rows": store.value(_VECTORS.count_indexed), "dead": dead}


def _build(store: Store, sample: Sequence[int], progress: Progress) -> bool:
    if why := load_vss(store):
        progress.warn(f"no vector index: {why}")
        return False
    progress.stage("building the vector index", None, "")
    store.run(_VECTORS.drop_indexed_ids)
    store.run(_VECTORS.merge_segments)
    store.run(_VECTORS.clear_recent)
    store.run(_VECTORS.drop_dead_indexed, keep=list(sample))
    store.run(_VECTORS.create_indexed_ids)
    store.checkpoint()
    store.run(_VECTORS.create_vector_index)
    return True


def _drop_dead(store: Store, sample: Sequence[int]) -> None:
    """Once they are a third of all; till then their texts may come back."""
    dead = store.value(_VECTORS.count_dead) - len(sample)
    if dead > store.value(_INDEX.count_texts) / 2:
        store.run(_VECTORS.drop_dead_indexed, keep=list(sample))
        store.run(_VECTORS.drop_dead_recent, keep=list(sample))
