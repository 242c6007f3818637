"""Metrics of one ranking with binary judgements, equal to those of ir_measures."""

import math
from collections.abc import Callable, Sequence
from functools import partial

Metric = Callable[[Sequence[int], int], float]
"""From the ranks at which relevant items stand (ascending, from 1) and the number of relevant items, at least 1."""


def recall(depth: int, ranks: Sequence[int], relevant: int) -> float:
    """The share of the relevant items that stand in the first `depth`."""
    return sum(rank <= depth for rank in ranks) / relevant


def reciprocal_rank(depth: int, ranks: Sequence[int], relevant: int) -> float:
    """1 / rank of the first relevant item; 0 where none stands in the first `depth`."""
    return 1 / ranks[0] if ranks and ranks[0] <= depth else 0.0


def ndcg(depth: int, ranks: Sequence[int], relevant: int) -> float:
    """Discounted cumulative gain over that of the best possible order (Järvelin, Kekäläinen 2002), gains 0 and 1."""
    gained = sum(_discount(rank) for rank in ranks if rank <= depth)
    return gained / sum(_discount(rank) for rank in range(1, min(depth, relevant) + 1))


def _discount(rank: int) -> float:
    return 1 / math.log2(rank + 1)


METRICS: dict[str, Metric] = {
    "recall_at_5": partial(recall, 5),
    "recall_at_10": partial(recall, 10),
    "recall_at_100": partial(recall, 100),
    "mrr_at_10": partial(reciprocal_rank, 10),
    "ndcg_at_10": partial(ndcg, 10),
}


def measure(ranks: Sequence[int], relevant: int) -> dict[str, float]:
    """All metrics of one ranking, by name."""
    return {name: metric(ranks, relevant) for name, metric in METRICS.items()}
