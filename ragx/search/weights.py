"""What the settings leave open: weights come from the reranker's catalogue row, the traversal from its preset."""

from dataclasses import dataclass
from typing import Any

from ragx.config.settings import Scoring, Traversal
from ragx.models import RerankerRow


@dataclass(frozen=True)
class Weights:
    """Weights of cross-encoder, heat and first stage; they sum to 1."""

    alpha: float
    beta: float
    gamma: float


PRESETS: dict[str, dict[str, Any]] = {
    "additive": {"hops": 1, "decay": 1.0, "query_floor": -1.0, "aggregate": "sum", "normalise": "degree"},
    "classic": {"hops": 2, "decay": 0.5, "query_floor": 0.35, "aggregate": "max", "normalise": "none"},
}
"""additive: one step, sums, degree-normalised; classic: two steps, the hottest way, near the query."""


def traversal_parameters(traversal: Traversal, hops: int | None) -> dict[str, Any]:
    """The parameters of the heat statement; `hops` overrides the settings."""
    chosen = {"hops": hops, "decay": traversal.decay, "query_floor": traversal.query_floor}
    if hops is None:
        chosen["hops"] = traversal.hops
    return {
        "seeds": traversal.seeds,
        "max_frontier": traversal.max_frontier,
        **PRESETS[traversal.preset],
        **{name: value for name, value in chosen.items() if value is not None},
    }


def weights(scoring: Scoring, row: RerankerRow, *, rerank: bool, graph: bool) -> Weights:
    """The weights of the stages that run, normalised; the first stage alone counts where nothing else would."""
    alpha = (row.alpha if scoring.alpha_rerank is None else scoring.alpha_rerank) if rerank else 0.0
    beta = (row.beta if scoring.beta_heat is None else scoring.beta_heat) if graph else 0.0
    gamma = row.gamma if scoring.gamma_vector is None else scoring.gamma_vector
    total = alpha + beta + gamma
    return Weights(alpha / total, beta / total, gamma / total) if total else Weights(0.0, 0.0, 1.0)
