"""Tells a difference between two measurements from noise: paired bootstrap intervals over the queries of both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragx.errors import UsageError
from ragx.evaluation.metrics import METRICS, measure
from ragx.parsing import from_json

RESAMPLES = 10_000
_SEED = 42
_BLOCK = 4_000_000

Values = Mapping[str, Mapping[str, float]]
"""The metrics of one query, by configuration."""


@dataclass(frozen=True)
class Difference:
    """How far the new mean lies above the old one, with its 95 % interval."""

    mean: float
    low: float
    high: float

    @property
    def noise(self) -> bool:
        """Whether the queries do not tell it from no difference."""
        return self.low <= 0 <= self.high


@dataclass(frozen=True)
class Comparison:
    """By configuration and metric, over the queries that both have; `rejudged` of them have other relevant items."""

    queries: int
    rejudged: int
    differences: dict[str, dict[str, Difference]]


@dataclass(frozen=True)
class Scored:
    """What was measured for a query, and against what."""

    query: str
    relevant: frozenset[str]
    values: Values


def bootstrap(differences: NDArray[np.float64]) -> list[Difference]:
    """The mean of each column of `(queries, columns)`, and its interval over resampled queries."""
    return interval(differences.mean(axis=0), resampled(differences))


def resampled(differences: NDArray[np.float64], seed: int = _SEED) -> NDArray[np.float64]:
    """The means of each column of `(queries, columns)` in as many samples of the queries: `(RESAMPLES, columns)`.

    Every column sees the same samples, so what is equal stays equal. Of one query, which tells nothing, any mean comes.
    """
    count = len(differences)
    if count < 2:
        return np.tile(np.linspace(-1, 1, RESAMPLES)[:, None], differences.shape[1])
    rng = np.random.default_rng(seed)
    blocks = []
    for start in range(0, RESAMPLES, rows := max(1, _BLOCK // count)):
        rows = min(rows, RESAMPLES - start)
        drawn = rng.integers(count, size=(rows, count)) + count * np.arange(rows)[:, None]
        how_often = np.bincount(drawn.ravel(), minlength=rows * count).reshape(rows, count)
        blocks.append(how_often @ differences / count)
    return np.concatenate(blocks)


def interval(means: NDArray[np.float64], samples: NDArray[np.float64]) -> list[Difference]:
    """Each mean with the percentile interval of its samples."""
    low, high = np.quantile(samples, [0.025, 0.975], axis=0)
    return [Difference(*map(float, row)) for row in zip(means, low, high, strict=True)]


def compare(old: Sequence[Scored], new: Sequence[Scored]) -> Comparison:
    """New minus old, for the configurations that both have. Queries are matched by their text, copies in order."""
    pairs = _pairs(old, new)
    if not pairs:
        raise UsageError("the two measurements have no query in common")
    names = [name for name in pairs[0][1].values if name in pairs[0][0].values]
    if not names:
        raise UsageError("the two measurements have no configuration in common")
    table = np.array(
        [[b.values[name][metric] - a.values[name][metric] for name in names for metric in METRICS] for a, b in pairs]
    )
    cells = iter(bootstrap(table))
    differences = {name: {metric: next(cells) for metric in METRICS} for name in names}
    return Comparison(len(pairs), sum(a.relevant != b.relevant for a, b in pairs), differences)


def _pairs(old: Sequence[Scored], new: Sequence[Scored]) -> list[tuple[Scored, Scored]]:
    waiting: dict[str, list[Scored]] = {}
    for scored in reversed(old):
        waiting.setdefault(scored.query, []).append(scored)
    return [(found.pop(), scored) for scored in new if (found := waiting.get(scored.query))]


def read_outcomes(path: Path) -> tuple[Scored, ...]:
    """What `eval --json` wrote into a file; UsageError where it is something else."""
    try:
        document: Any = from_json(path.read_bytes())
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except ValueError:
        document = None
    try:
        if document["schema"] != "ragx.eval.v1":
            raise ValueError
        # Ranks are whole: metrics of them are exact, those in the document are rounded.
        return tuple(
            Scored(
                str(entry["query"]),
                frozenset(entry["relevant"]),
                {
                    name: measure([int(rank) for rank in found["hit_ranks"]], len(entry["relevant"]))
                    for name, found in entry["per_config"].items()
                },
            )
            for entry in document["queries"]
        )
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError):
        hint = "write one with: ragx eval FILE --json > OLD.json"
        raise UsageError(f"{path} is no measurement of ragx eval", hint) from None
