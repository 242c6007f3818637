"""Coordinate descent over `grid`, once for each fold on the queries of the others, and once on all queries."""

import math
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragx.config import Config
from ragx.evaluation.grid import GRID, Kinds, Point, alternatives, point_of
from ragx.types import Progress

FOLDS = 5

_ROUNDS = 3
_SEED = 42

Measure = Callable[[Sequence[Point], Callable[[int], None]], NDArray[np.float64]]
"""The metric at points, as `(points, queries)`; is to tell the callable when it is done with a query."""


@dataclass(frozen=True)
class Descent:
    """`best`: the point found on all queries; `folds`: which queries were held out, and the point found without them.

    Each query's metric: `before` at the start, `fitted` at `best`, `unseen` at the point of the fold that held it out.
    """

    start: Point
    best: Point
    folds: tuple[tuple[NDArray[np.bool_], Point], ...]
    before: NDArray[np.float64]
    unseen: NDArray[np.float64]
    fitted: NDArray[np.float64]


def descend(config: Config, kinds: Kinds, queries: Sequence[str], measure: Measure, progress: Progress) -> Descent:
    """Searches from where `config` stands, on a graph with these kinds of edges."""
    fold_of = folds(queries)
    held_out = [fold_of == fold for fold in range(fold_of.max() + 1)]
    trials, start = _Trials(measure, len(queries)), point_of(config)
    *found, best = _points(
        config, kinds, trials, start, [*(~mask for mask in held_out), np.ones(len(queries), bool)], progress
    )
    unseen = np.empty(len(queries))
    for mask, point in zip(held_out, found, strict=True):
        unseen[mask] = trials.values(point)[mask]
    return Descent(
        start, best, tuple(zip(held_out, found, strict=True)), trials.values(start), unseen, trials.values(best)
    )


def folds(queries: Sequence[str]) -> NDArray[np.intp]:
    """A fold for each query, from 0; equal texts share one, and the order of the queries does not matter."""
    texts = sorted(set(queries))
    random.Random(_SEED).shuffle(texts)
    fold_of = {text: number % FOLDS for number, text in enumerate(texts)}
    return np.array([fold_of[text] for text in queries], np.intp)


class _Trials:
    """What each query is worth at the points that were tried; none is tried twice."""

    def __init__(self, measure: Measure, queries: int) -> None:
        self.queries = queries
        self._measure = measure
        self._values: dict[Point, NDArray[np.float64]] = {}

    def values(self, point: Point) -> NDArray[np.float64]:
        return self._values[point]

    def run(self, points: Iterable[Point], progress: Progress) -> None:
        new = sorted(set(points) - self._values.keys())
        self._values |= zip(new, self._measure(new, progress.advance), strict=True)


def _points(
    config: Config, kinds: Kinds, trials: _Trials, start: Point, masks: Sequence[NDArray[np.bool_]], progress: Progress
) -> list[Point]:
    """Where the descents on these sets of queries end. They go in step, as they share most of their trials."""
    points = [start for _ in masks]
    for number in range(1, _ROUNDS + 1):
        progress.stage(f"searching, round {number} of at most {_ROUNDS}", len(GRID) * trials.queries, "steps")
        before = list(points)
        for at in range(len(GRID)):
            choices = [alternatives(config, kinds, point, at) for point in points]
            trials.run([start, *(point for choice in choices for point in choice)], progress)
            points = [
                _better(trials, mask, point, choice) for mask, point, choice in zip(masks, points, choices, strict=True)
            ]
        if points == before:
            break
    # What was found first may be worth nothing beside what was found later.
    progress.stage("putting back what gains nothing", len(GRID) * trials.queries, "steps")
    for at in range(len(GRID)):
        without = [(*point[:at], start[at], *point[at + 1 :]) for point in points]
        trials.run(without, progress)
        points = [
            _better(trials, mask, simpler, [point]) for mask, simpler, point in zip(masks, without, points, strict=True)
        ]
    return points


def _better(trials: _Trials, mask: NDArray[np.bool_], point: Point, choice: Sequence[Point]) -> Point:
    """The best of `choice`, if it gains more than one standard error (Breiman et al. 1984), else `point`."""
    count = int(mask.sum())
    if not choice or count < 2:
        return point
    gains = np.array([trials.values(each)[mask] - trials.values(point)[mask] for each in choice])
    best = int(gains.mean(axis=1).argmax())
    gain = gains[best]
    return choice[best] if gain.mean() > gain.std(ddof=1) / math.sqrt(count) else point
