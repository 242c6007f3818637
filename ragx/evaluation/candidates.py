"""Fuses, heats and ranks in memory what both legs found for a query, digit for digit as the statements of `sql/` do.

The steps are named for the statements that they repeat, and add and divide in the same order. Chunks are places in the
order of their ids.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragx.config.settings import Fusion
from ragx.evaluation.heat import Chunks, Graph
from ragx.search.weights import HEAT_BONUS, LINK_BONUS, Weights, vector_weight

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Legs:
    """What both legs say: the cosine of every chunk, NaN where there is none, and the BM25 score of those in `matches`.

    `coverage` is the share of the query's words that the dictionary holds.
    """

    cosines: NDArray[np.float32]
    matches: Chunks
    bm25: Floats
    coverage: float


@dataclass(frozen=True)
class FirstStage:
    """The pool, best first; `parts` are fused, heat and link, each scaled, `(3, n)`; `linked`: heat came over links."""

    chunks: Chunks
    parts: Floats
    linked: bool

    def shortlist(self, depth: int) -> Chunks:
        """Places in the pool of what the cross-encoder reads, best first."""
        fused, heat, link = self.parts
        return np.argsort(-(fused + HEAT_BONUS * heat + LINK_BONUS * link), kind="stable")[:depth]

    def rank(self, weights: Weights, read: Chunks, logits: Floats) -> tuple[Chunks, Floats]:
        """All chunks, best first, with their scores; `read` are places in the pool, none without a cross-encoder."""
        fused, heat, link = self.parts
        rerank = np.zeros(len(fused))
        unread = np.ones(len(fused), bool)
        rerank[read] = _min_max(logits, logits)
        unread[read] = False
        scores = weights.gamma * fused + weights.beta * heat + weights.beta_link * link + weights.alpha * rerank
        if len(read):
            scores[unread] = np.minimum(scores[unread], scores[read].min())
        else:
            scores[:1] = scores.max(initial=0)
        order = np.lexsort((-scores, unread))
        return self.chunks[order], scores[order]


def first_stage(legs: Legs, fusion: Fusion, graph: Graph) -> FirstStage:
    """The best of both legs with what heat reaches from them."""
    cosines = legs.cosines.astype(np.float64)
    known = np.flatnonzero(~np.isnan(cosines))
    vector = _best(known, cosines[known], fusion.per_query_top)
    keyword = _best(legs.matches, legs.bm25, fusion.per_query_top)
    retrieved = np.union1d(vector, keyword)
    scaled = _scaled(cosines, legs, retrieved, vector_weight(fusion, legs.coverage))
    if fusion.method == "rrf":
        scaled = np.zeros(len(scaled))
        for leg in (vector, keyword):
            scaled[leg] += 1 / (fusion.rrf_k + np.arange(1, len(leg) + 1))
    seeds = _best(retrieved, scaled[retrieved], graph.seeds)
    heat, link = graph.spread(seeds, scaled[seeds], cosines).T
    pool = np.union1d(retrieved, np.flatnonzero((heat > 0) | (link > 0)))
    pool = _best(pool, scaled[pool], len(pool))
    fused = scaled[pool]
    parts = np.stack([_min_max(fused, fused), _share(heat[pool]), _share(link[pool])])
    return FirstStage(pool, parts, bool(link.any()))


def _best(chunks: Chunks, scores: Floats, top: int) -> Chunks:
    """The best of ascending chunks, best first."""
    return chunks[np.argsort(-scores, kind="stable")[:top]]


def _scaled(cosines: Floats, legs: Legs, retrieved: Chunks, weight: float) -> Floats:
    """The convex fusion of every chunk, on the scale of those retrieved; a leg without scores does not count."""
    bm25 = np.zeros(len(cosines))
    bm25[legs.matches] = legs.bm25
    lexical = _min_max(bm25, bm25[retrieved]) if bm25[retrieved].any() else None
    if np.isnan(cosines[retrieved]).all():
        return bm25 if lexical is None else lexical
    vector = _min_max(cosines, cosines[retrieved])
    return vector if lexical is None else weight * vector + (1 - weight) * lexical


def _min_max(values: Floats, scale: Floats) -> Floats:
    """Values that are all equal carry no order and count fully, but what is less than they."""
    low, high = scale.min(initial=np.inf), scale.max(initial=-np.inf)
    return (values - low) / (high - low) if high > low else np.where(values < low, 0.0, 1.0)


def _share(heat: Floats) -> Floats:
    """The share of the greatest heat; 0 where there is none."""
    high = heat.max(initial=0)
    return heat / high if high > 0 else heat
