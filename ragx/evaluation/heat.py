"""Heat over the graph in memory: that of the statement `spread_heat` in `sql/heat.sql`, digit for digit.

A statement costs 10 to 30 CPU ms for each query and each way to spread; this, one.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragx.store import Store, statements

_EVALUATION = statements("evaluation")

Chunks = NDArray[np.int64]
"""Places of chunks in the order of their ids, from 0."""


class Graph:
    """The edges of a traversal whose parameters `Heat.prepare` has just given; `chunk_ids` are all, ascending.

    A chunk is two nodes, since heat and heat over links never mix: `2 * place` and the next.
    """

    def __init__(self, store: Store, parameters: Mapping[str, Any], chunk_ids: NDArray[np.int64]) -> None:
        def nodes(columns: Mapping[str, Any], name: str) -> NDArray[np.int64]:
            places: NDArray[np.int64] = 2 * np.searchsorted(chunk_ids, columns[name]) + columns["is_link"]
            return places

        self._parameters = parameters
        self._sums = parameters["aggregate"] == "sum"
        self.seeds: int = parameters["seeds"]
        edges = store.run(_EVALUATION.list_steps, **parameters).fetchnumpy()
        src, self._dst, self._weight = nodes(edges, "src"), nodes(edges, "dst"), edges["weight"]
        self._begin = np.searchsorted(src, np.arange(2 * len(chunk_ids) + 1))
        degrees = store.run(_EVALUATION.list_degrees).fetchnumpy()
        self._leaving, self._arriving = np.ones((2, 2 * len(chunk_ids)))
        if self._sums:
            self._leaving[:] = np.inf
            self._leaving[nodes(degrees, "chunk_id")] = np.sqrt(degrees["leaving"])
            self._arriving[nodes(degrees, "chunk_id")] = np.sqrt(degrees["arriving"])

    def spread(self, seeds: Chunks, fused: NDArray[np.float64], cosines: NDArray[np.float64]) -> NDArray[np.float64]:
        """The heat of every chunk, over all edges and over links, `(n, 2)`; `seeds` are the best first, with `fused`.

        `cosines` are those of all chunks to the query, NaN where they are not known.
        """
        given = self._parameters
        heat, warmth = np.zeros((2, len(self._leaving)))
        if self._sums:
            warmth[2 * seeds] = fused - fused[-1:]
            linking = seeds[: given["link_seeds"]]
            warmth[2 * linking + 1] = 1 / np.sqrt(np.arange(1, len(linking) + 1))
        else:
            heat[2 * seeds] = warmth[2 * seeds] = fused
        admitted = cosines >= given["query_floor"]
        admitted[np.isnan(cosines)] = given["query_floor"] <= -1
        admitted[seeds] = True
        admitted = np.repeat(admitted, 2)
        for _ in range(given["hops"]):
            arrived = self._passed(warmth) / self._arriving / 1e12
            warmth = np.where(admitted & (arrived > (0 if self._sums else heat)), arrived, 0)
            heat = heat + warmth if self._sums else np.maximum(heat, warmth)
        return heat.reshape(-1, 2)

    def _passed(self, warmth: NDArray[np.float64]) -> NDArray[np.float64]:
        """What the hottest nodes pass on to each node, in trillionths: whole numbers."""
        emits = warmth / self._leaving
        relaying = np.flatnonzero(warmth > 0)
        relaying = relaying[np.argsort(-warmth[relaying], kind="stable")][: self._parameters["max_frontier"]]
        sizes = self._begin[relaying + 1] - self._begin[relaying]
        source = np.repeat(relaying, sizes)
        edge = np.arange(len(source)) + np.repeat(self._begin[relaying] - (np.cumsum(sizes) - sizes), sizes)
        part, whole = np.modf(1e12 * emits[source] * self._parameters["decay"] * self._weight[edge])
        passed = np.zeros_like(warmth)
        gather = np.add if self._sums else np.maximum
        gather.at(passed, self._dst[edge], whole + (part >= 0.5))
        return passed
