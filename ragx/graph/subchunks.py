"""Similar edges by sub-chunks: two texts are as near as their nearest sub-chunks, computed anew in each run."""

import numpy as np

from ragx.config.settings import Graph
from ragx.graph.knn import DECIMALS, Pairs, cosines, nearest, symmetric
from ragx.graph.similar import Texts, vector_matrix, write_similar
from ragx.store import Store, statements
from ragx.types import Progress

_GRAPH = statements("graph")


def link_subchunks(store: Store, texts: Texts, settings: Graph, progress: Progress) -> None:
    """Links each text with those that hold one of the k nearest sub-chunks of one of its own, near-duplicates not.

    An edge's weight is the greatest cosine of all pairs of their sub-chunks.
    """
    table = store.run(_GRAPH.read_subchunks).to_arrow_table()
    if not table.num_rows:
        write_similar(store, Pairs.empty())
        return
    vectors = vector_matrix(table, texts.vectors.shape[1])
    # Ascending: the sub-chunks of a text are neighboring rows.
    owner = np.searchsorted(texts.ids, table.column("text_id").to_numpy())
    rows = np.arange(len(owner))
    progress.stage("linking similar sub-chunks", len(rows), "sub-chunks")
    found = nearest(vectors, rows, rows, settings.k, progress.advance, group=owner)
    pairs = symmetric(Pairs(owner[found.source], owner[found.target], found.weight))
    apart = cosines(texts.vectors, pairs.source, pairs.target) < settings.near_dup_sim
    source, target = pairs.source[apart], pairs.target[apart]
    bounds = np.searchsorted(owner, np.arange(len(texts.ids) + 1))
    exact = vectors.astype(np.float64)
    greatest = [
        (exact[bounds[a] : bounds[a + 1]] @ exact[bounds[b] : bounds[b + 1]].T).max()
        for a, b in zip(source, target, strict=True)
    ]
    weight = np.array(greatest, np.float64).round(DECIMALS) + 0.0  # no negative zero
    write_similar(store, Pairs(texts.ids[source], texts.ids[target], weight))
