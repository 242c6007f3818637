"""Exact nearest neighbors: the same lists whatever the block shape, the BLAS, or the number of rows asked for."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Rows = NDArray[np.int64]
Weights = NDArray[np.float64]

DECIMALS = 6
_BLOCK_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class Pairs:
    """Directed pairs of rows, source -> target, with their cosine rounded to 6 decimals; three arrays of one length."""

    source: Rows
    target: Rows
    weight: Weights

    @staticmethod
    def empty() -> "Pairs":
        return Pairs(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.float64))


def concatenate(parts: list[Pairs]) -> Pairs:
    """All pairs of the parts."""
    if not parts:
        return Pairs.empty()
    return Pairs(
        np.concatenate([part.source for part in parts]),
        np.concatenate([part.target for part in parts]),
        np.concatenate([part.weight for part in parts]),
    )


def cosines(vectors: Vectors, source: Rows, target: Rows) -> Weights:
    """The cosine of each pair of unit vectors, summed in float64 pair by pair, rounded to 6 decimals."""
    weight = np.empty(len(source), np.float64)
    step = max(1, _BLOCK_BYTES // (16 * max(1, vectors.shape[1])))
    for start in range(0, len(source), step):
        part = slice(start, start + step)
        product = vectors[source[part]].astype(np.float64) * vectors[target[part]].astype(np.float64)
        weight[part] = product.sum(axis=1)
    return np.round(weight, DECIMALS) + 0.0  # no negative zero


def nearest(
    vectors: Vectors,
    rows: Rows,
    candidates: Rows,
    k: int,
    advance: Callable[[int], None] = lambda _: None,
    *,
    group: Rows | None = None,
) -> Pairs:
    """For each of `rows` its k nearest among `candidates`, itself excepted; ties go to the smaller row.

    With `group`, (n,), its whole group is excepted. `vectors` is (n, d) float32 of unit length. A matrix product in
    float32 only proposes: whatever it cannot tell from the k-th best, by the bound of its rounding error (Higham 2002,
    section 3.1), is compared in float64.
    """
    if len(rows) == 0 or len(candidates) == 0 or k < 1:
        return Pairs.empty()
    dimension = vectors.shape[1]
    margin = np.float32(4 * dimension * 2.0**-24 + 10.0**-DECIMALS)
    pool = vectors[candidates].T
    group = np.arange(len(vectors)) if group is None else group
    excepted = int(np.unique(group[candidates], return_counts=True)[1].max())
    step = max(1, _BLOCK_BYTES // (4 * len(candidates)))
    found = []
    for start in range(0, len(rows), step):
        block = rows[start : start + step]
        scores = vectors[block] @ pool
        # A row is not its own neighbor: as many places more are looked at as its group may take, and dropped below.
        place = min(k + excepted, len(candidates)) - 1
        least = -np.partition(-scores, place, axis=1)[:, place]
        at_row, at_candidate = np.nonzero(scores >= (least - margin)[:, None])
        source, target = block[at_row], candidates[at_candidate]
        different = group[source] != group[target]
        source, target = source[different], target[different]
        found.append(best(Pairs(source, target, cosines(vectors, source, target)), k))
        advance(len(block))
    return concatenate(found)


def best(pairs: Pairs, k: int) -> Pairs:
    """Of each source's pairs the k heaviest, ties to the smaller target; sorted by source, weight, target."""
    order = np.lexsort((pairs.target, -pairs.weight, pairs.source))
    source = pairs.source[order]
    starts = np.flatnonzero(np.r_[True, source[1:] != source[:-1]]) if len(source) else np.empty(0, np.int64)
    place = np.arange(len(source)) - np.repeat(starts, np.diff(np.r_[starts, len(source)]))
    kept = order[place < k]
    return Pairs(pairs.source[kept], pairs.target[kept], pairs.weight[kept])


def symmetric(pairs: Pairs) -> Pairs:
    """Each unordered pair once, the smaller row first, sorted."""
    low, high = np.minimum(pairs.source, pairs.target), np.maximum(pairs.source, pairs.target)
    order = np.lexsort((high, low))
    low, high, weight = low[order], high[order], pairs.weight[order]
    first = np.r_[True, (low[1:] != low[:-1]) | (high[1:] != high[:-1])] if len(low) else np.empty(0, bool)
    return Pairs(low[first], high[first], weight[first])
