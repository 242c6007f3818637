"""What the settings leave open: weights come from the reranker's catalogue row, the traversal from its preset."""

from dataclasses import dataclass
from typing import Any

from ragx.config import Config
from ragx.config.settings import Fusion, Scoring
from ragx.models import RerankerRow

HEAT_BONUS = 0.15
LINK_BONUS = 0.25
SECOND_BONUS = 0.1
"""What all heat, all heat over links and the second search's best add to a fused score of 0 to 1 in the order in which
chunks are reranked."""

# Measured on five collections: any share below this one leaves queries in the corpus's own language as they are.
_FULL_COVERAGE = 0.3


@dataclass(frozen=True)
class Weights:
    """Weights of cross-encoder, heat, heat over links, second search and first stage; they sum to 1."""

    alpha: float
    beta: float
    beta_link: float
    beta_second: float
    gamma: float


PRESETS: dict[str, dict[str, Any]] = {
    "additive": {"hops": 1, "decay": 1.0, "query_floor": -1.0, "aggregate": "sum"},
    "classic": {"hops": 2, "decay": 0.5, "query_floor": None, "aggregate": "max"},
}
"""additive: one step, sums, degree-normalised; classic: two steps, the hottest way, near the query."""


def traversal_parameters(config: Config, hops: int | None, unrelated: float | None) -> dict[str, Any]:
    """The parameters of the heat statement; `hops` overrides the settings.

    `unrelated` is the cosine that half of all pairs of the corpus's texts exceed by chance (None: not known): the floor
    where neither the settings nor the preset name one.
    """
    traversal = config.traversal
    floor = -1.0 if unrelated is None else unrelated
    preset = PRESETS[traversal.preset]
    query_floor = preset["query_floor"] if traversal.query_floor is None else traversal.query_floor
    return {
        "seeds": traversal.seeds,
        "link_seeds": traversal.link_seeds,
        "max_frontier": traversal.max_frontier,
        "aggregate": preset["aggregate"],
        "hops": next(steps for steps in (hops, traversal.hops, preset["hops"]) if steps is not None),
        "decay": preset["decay"] if traversal.decay is None else traversal.decay,
        "query_floor": floor if query_floor is None else query_floor,
        "min_edge_sim": floor if config.graph.min_edge_sim is None else config.graph.min_edge_sim,
        **{f"{kind}_weight": getattr(traversal, f"{kind}_weight") for kind in ("link", "import", "mention", "tag")},
    }


def weights(scoring: Scoring, row: RerankerRow, *, rerank: bool, graph: bool, link: bool, second: bool) -> Weights:
    """The weights of the parts that a query's scores have, normalised; the first stage's alone where none counts."""
    alpha = (row.alpha if scoring.alpha_rerank is None else scoring.alpha_rerank) if rerank else 0.0
    beta = (row.beta if scoring.beta_heat is None else scoring.beta_heat) if graph else 0.0
    beta_link = (row.beta_link if scoring.beta_link is None else scoring.beta_link) if link else 0.0
    gamma = row.gamma if scoring.gamma_vector is None else scoring.gamma_vector
    beta_second = scoring.beta_second if second else 0.0
    total = alpha + beta + beta_link + beta_second + gamma
    if not total:
        return Weights(0.0, 0.0, 0.0, 0.0, 1.0)
    return Weights(alpha / total, beta / total, beta_link / total, beta_second / total, gamma / total)


def vector_weight(fusion: Fusion, coverage: float) -> float:
    """A keyword leg that knows hardly a word of the query, one in another language say, counts for less."""
    return 1 - (1 - fusion.vector_weight) * min(1.0, coverage / _FULL_COVERAGE)
