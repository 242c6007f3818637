"""Communities of the graph: a seeded Leiden partition, the same for the same edges."""

import numpy as np
import pyarrow as pa
from graspologic_native import leiden_csr

from ragx.config.settings import Communities
from ragx.store import Store, statements

_GRAPH = statements("graph")


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


def _number(label: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> "np.ndarray[tuple[int], np.dtype[np.int32]]":
    """Labels 0, 1, ... by falling size of the community, then by its first member; `label` is in the order of ids."""
    _, first, inverse, size = np.unique(label, return_index=True, return_inverse=True, return_counts=True)
    number = np.empty(len(size), np.int32)
    number[np.lexsort((first, -size))] = np.arange(len(size), dtype=np.int32)
    return number[inverse]
