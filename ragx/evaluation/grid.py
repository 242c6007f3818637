"""The settings that `tune` searches with the values that it tries, and points among them as configurations."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ragx.config import Config
from ragx.models import reranker_row
from ragx.search.weights import traversal_parameters

Point = tuple[Any, ...]
"""A value for each row of the grid, in its order."""

Kinds = frozenset[str]
"""The kinds of edges that a graph has."""


@dataclass(frozen=True)
class Row:
    """A setting, the values to try besides its present one, and under which settings and on which graph it acts."""

    name: str
    values: tuple[Any, ...]
    acts: Callable[[Config, Kinds], bool] = lambda config, kinds: True


def _tells_apart(kind: str) -> Callable[[Config, Kinds], bool]:
    """How kinds compare is all that matters to heat over links, which is scaled to [0, 1]."""

    def acts(config: Config, kinds: Kinds) -> bool:
        return kind in kinds and (len(kinds - {"similar"}) > 1 or not _keeps_links_apart(config, kinds))

    return acts


def _relays(config: Config, kinds: Kinds) -> bool:
    # One step of the additive rule scales all heat alike, which is scaled to [0, 1] anyway.
    heat = traversal_parameters(config, None, None)
    return bool(heat["hops"] > 1 or heat["aggregate"] == "max")


def _keeps_links_apart(config: Config, kinds: Kinds) -> bool:
    return bool(traversal_parameters(config, None, None)["aggregate"] == "sum")


def _has_links(config: Config, kinds: Kinds) -> bool:
    return _keeps_links_apart(config, kinds) and bool(kinds - {"similar"})


def _is_convex(config: Config, kinds: Kinds) -> bool:
    return config.fusion.method == "convex"


def _reranks(config: Config, kinds: Kinds) -> bool:
    return config.rerank.enabled


GRID = (
    Row("fusion.method", ("convex", "rrf")),
    Row("fusion.vector_weight", (0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9), _is_convex),
    *(
        Row(f"traversal.{kind}_weight", (0.0, 0.5, 1.0), _tells_apart(kind))
        for kind in ("link", "import", "mention", "tag")
    ),
    Row("traversal.hops", (1, 2, 3)),
    Row("traversal.decay", (0.25, 0.5, 0.75, 1.0), _relays),
    Row("rerank.depth", (10, 20, 40), _reranks),
    Row("scoring.alpha_rerank", (0.0, 0.1, 0.2, 0.4, 0.8), _reranks),
    Row("scoring.beta_heat", (0.0, 0.05, 0.1, 0.2, 0.4)),
    Row("scoring.beta_link", (0.0, 0.1, 0.2, 0.3, 0.5), _has_links),
    Row("scoring.gamma_vector", (0.1, 0.3, 0.5, 0.7, 1.0)),
)
"""In the order of the stages."""


def point_of(config: Config) -> Point:
    """Where a configuration stands; what it leaves open has the value that is in force."""
    heat = traversal_parameters(config, None, None)
    row = reranker_row(config.rerank)
    in_force = {
        "traversal.hops": heat["hops"],
        "traversal.decay": heat["decay"],
        "rerank.depth": row.depth,
        "scoring.alpha_rerank": row.alpha,
        "scoring.beta_heat": row.beta,
        "scoring.beta_link": row.beta_link,
        "scoring.gamma_vector": row.gamma,
    }
    values = []
    for name in names():
        section, key = name.split(".")
        value = getattr(getattr(config, section), key)
        values.append(in_force[name] if value is None else value)
    return tuple(values)


def config_at(config: Config, point: Point) -> Config:
    """The configuration with the settings of a point."""
    for name, value in zip(names(), point, strict=True):
        section, key = name.split(".")
        config = replace(config, **{section: replace(getattr(config, section), **{key: value})})
    return config


def alternatives(config: Config, kinds: Kinds, point: Point, at: int) -> tuple[Point, ...]:
    """The points that differ from `point` in row `at` alone; none where that changes nothing."""
    row = GRID[at]
    if not row.acts(config_at(config, point), kinds):
        return ()
    return tuple((*point[:at], value, *point[at + 1 :]) for value in row.values if value != point[at])


def names() -> tuple[str, ...]:
    """The settings of the grid."""
    return tuple(row.name for row in GRID)
