"""Searches settings on judged queries, and tells on queries that the search did not see whether they are better.

What the search finds on all queries is proposed only where five folds of them, each ranked with the settings that were
found without it, gain more than noise. `graph.k` is not searched: another k needs another graph, and that an index run.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ragx.config import Config
from ragx.errors import UsageError
from ragx.evaluation.compare import Difference, bootstrap
from ragx.evaluation.descent import Descent, descend
from ragx.evaluation.grid import Point, config_at, names
from ragx.evaluation.metrics import METRICS
from ragx.evaluation.queries import JudgedQuery
from ragx.evaluation.run import Unindexed, held_against
from ragx.evaluation.session import Session
from ragx.evaluation.sweep import Sweep
from ragx.search import Options
from ragx.types import Progress

LEAST_QUERIES = 20
"""With fewer distinct queries nothing is proposed."""

TUNED_METRICS = {"ndcg@10": "ndcg_at_10", "mrr@10": "mrr_at_10", "recall@10": "recall_at_10"}
"""What can be maximised, as one types it."""

_DEPTH = 10

Verdict = Literal["better", "noise", "too_few"]


@dataclass(frozen=True)
class Fold:
    """Queries that were held out, and the settings that were found without them."""

    queries: int
    settings: dict[str, Any]


@dataclass(frozen=True)
class Tuning:
    """What was found. `settings`: on all queries, with the mean `fitted` on these same; `present`: in force now.

    `before` and `held_out` are means over all queries, with the settings in force and with those of each one's fold;
    `gain` is their difference.
    """

    embedding_model: str
    rerank_model: str | None
    metric: str
    queries: int
    distinct: int
    present: dict[str, Any]
    settings: dict[str, Any]
    folds: tuple[Fold, ...]
    before: float
    held_out: float
    fitted: float
    gain: Difference
    excluded: tuple[JudgedQuery, ...]
    unindexed: tuple[Unindexed, ...]

    @property
    def verdict(self) -> Verdict:
        """Whether the queries tell that other settings are better."""
        if self.distinct < LEAST_QUERIES:
            return "too_few"
        return "better" if self.gain.low > 0 and self.settings != self.present else "noise"

    @property
    def proposals(self) -> dict[str, Any]:
        """The settings to change, with their new values; none where that is not known to be better."""
        if self.verdict != "better":
            return {}
        return {name: value for name, value in self.settings.items() if value != self.present[name]}


def tune(session: Session, config: Config, queries: Sequence[JudgedQuery], metric: str, progress: Progress) -> Tuning:
    """Tunes for a metric of `TUNED_METRICS`, from `config` with the models of the session.

    UsageError where no query can be asked or a model is missing.
    """
    if metric not in TUNED_METRICS:
        raise UsageError(f"no metric to tune for is called {metric}", f"there are: {', '.join(TUNED_METRICS)}")
    answerable, excluded, unindexed = held_against(session, queries)
    progress.stage("loading the models", None, "")
    if why := session.load(Options()):
        raise UsageError(f"a query cannot run in full: {why}")
    value = METRICS[TUNED_METRICS[metric]]
    sweep = Sweep(session)

    def measure(points: Sequence[Point], advance: Callable[[int], None]) -> NDArray[np.float64]:
        configs = [config_at(config, point) for point in points]
        table = np.empty((len(configs), len(answerable)))
        for column, (judged, items) in enumerate(answerable):
            for row, settings in enumerate(configs):
                ranks = session.hit_ranks(items, sweep.hits(judged.query, settings), _DEPTH)
                table[row, column] = value(ranks, len(items))
            advance(1)
        return table

    texts = [judged.query for judged, _ in answerable]
    return _tuning(config, metric, texts, descend(config, sweep.kinds, texts, measure, progress), excluded, unindexed)


def _tuning(
    config: Config,
    metric: str,
    texts: Sequence[str],
    found: Descent,
    excluded: tuple[JudgedQuery, ...],
    unindexed: tuple[Unindexed, ...],
) -> Tuning:
    return Tuning(
        embedding_model=config.embeddings.model,
        rerank_model=config.rerank.model if config.rerank.enabled else None,
        metric=metric,
        queries=len(texts),
        distinct=len(set(texts)),
        present=_named(found.start),
        settings=_named(found.best),
        folds=tuple(Fold(int(mask.sum()), _named(point)) for mask, point in found.folds),
        before=float(found.before.mean()),
        held_out=float(found.unseen.mean()),
        fitted=float(found.fitted.mean()),
        gain=bootstrap((found.unseen - found.before)[:, None])[0],
        excluded=excluded,
        unindexed=unindexed,
    )


def _named(point: Point) -> dict[str, Any]:
    return dict(zip(names(), point, strict=True))
