"""Measures how well an index answers, on queries whose relevant files are known."""

from ragx.evaluation.compare import Comparison, Difference, bootstrap, compare, read_outcomes
from ragx.evaluation.queries import JudgedQuery, read_queries
from ragx.evaluation.run import CONFIGURATIONS, Evaluation, Measured, Outcome, Unindexed, evaluate
from ragx.evaluation.session import Ranking, Session, Trial
from ragx.evaluation.tune import TUNED_METRICS, Fold, Tuning, tune

__all__ = [
    "CONFIGURATIONS",
    "TUNED_METRICS",
    "Comparison",
    "Difference",
    "Evaluation",
    "Fold",
    "JudgedQuery",
    "Measured",
    "Outcome",
    "Ranking",
    "Session",
    "Trial",
    "Tuning",
    "Unindexed",
    "bootstrap",
    "compare",
    "evaluate",
    "read_outcomes",
    "read_queries",
    "tune",
]
