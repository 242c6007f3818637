"""Heat over the graph: from the best of the pool to what is like it or named by it, which joins the pool."""

from collections.abc import Callable
from typing import Any

from ragx.config import Config
from ragx.search.weights import traversal_parameters
from ragx.store import Store, statements

_HEAT = statements("heat")


class Heat:
    """The traversal of one open index; the degrees of its chunks are counted once for queries without a filter."""

    def __init__(self, store: Store, unrelated: float | None) -> None:
        """`unrelated`: the cosine that half of all pairs of texts exceed by chance; None: not known."""
        self._store = store
        self._unrelated = unrelated
        self._counted: dict[str, Any] = {}

    def clear(self) -> None:
        """Forgets the traversal before, and takes out of the pool what only that found."""
        self._store.run(_HEAT.clear_heat, keep_plan=True)
        self._store.run(_HEAT.drop_heated, keep_plan=True)

    def spread(
        self,
        config: Config,
        hops: int | None,
        fetch: Callable[..., None],
        *,
        vector_weight: float,
        scoped: bool,
        explain: bool,
    ) -> None:
        """Fills the table of heat; `explain`: with the ways on which it came.

        `fetch(statement, **parameters)` sees to the cosines of the chunks that the statement names.
        """
        parameters = self.prepare(config, hops, scoped=scoped)
        fetch(_HEAT.wanted_by_graph, **parameters)
        self._store.run(_HEAT.spread_heat, keep_plan=True, explain=explain, **parameters)
        self.admit(config, vector_weight)

    def admit(self, config: Config, vector_weight: float) -> None:
        """What has heat and is not in the pool joins it."""
        self._store.run(_HEAT.admit_heated, keep_plan=True, method=config.fusion.method, vector_weight=vector_weight)

    def came_over_links(self) -> bool:
        """Whether explicit links brought any."""
        return bool(self._store.value(_HEAT.links_followed, keep_plan=True))

    def prepare(self, config: Config, hops: int | None, *, scoped: bool) -> dict[str, Any]:
        """The parameters of a traversal, for which the degrees are counted then."""
        parameters = traversal_parameters(config, hops, self._unrelated)
        chosen = {name: parameters[name] for name in _HEAT.add_degrees.parameters - {"scoped"}}
        if scoped or chosen != self._counted:
            self._counted = {}
            self._store.run(_HEAT.clear_degrees)
            self._store.run(_HEAT.add_degrees, scoped=scoped, **chosen)
            self._counted = {} if scoped else chosen
        return parameters
