"""Whether a query searches the vector index or scans all vectors: by measured crossovers, or as asked."""

from collections.abc import Callable
from typing import Any

from ragx.store import Store, statements
from ragx.store.vss import load_vss

_VECTORS = statements("vectors")

WARM_ROWS = 20_000
"""From so many vectors on the index is faster for the second and later queries of a process."""

COLD_ROWS = 150_000
"""The same for a process's only query, which has to load the extension (80 ms) and read the index."""

_SPARE = 1.5
_LEAST_FETCH = 160


class VectorIndex:
    """The vector index of an open index file, loaded when it is first used."""

    def __init__(self, store: Store, stamp: dict[str, Any] | None, warn: Callable[[str], None]) -> None:
        self._store = store
        self._stamp = stamp
        self._warn = warn
        self._asked = 0
        self._ready: bool | None = None

    def serves(self, wanted: bool | None, *, scoped: bool) -> bool:
        """Whether the next query searches the index; a filtered one scans, as the index would filter what it took."""
        self._asked += 1
        if wanted is False or scoped:
            return False
        if self._stamp is None:
            if wanted:
                self._refuse("there is none; run: ragx config set vectors.hnsw always, then: ragx index")
            return False
        if wanted is None and self._stamp["rows"] < (COLD_ROWS if self._asked == 1 else WARM_ROWS):
            return False
        if self._ready is None:
            self._ready = self._open(self._stamp)
        return self._ready

    def fetch(self, top: int) -> int:
        """How many nearest to ask for, so that `top` are left without those of dead texts."""
        assert self._stamp is not None
        alive = 1 - self._stamp["dead"] / max(1, self._stamp["rows"])
        return max(_LEAST_FETCH, int(_SPARE * top / max(0.1, alive)))

    def _open(self, stamp: dict[str, Any]) -> bool:
        if why := load_vss(self._store):
            return self._refuse(why)
        there = self._store.value(_VECTORS.has_vector_index)
        if not there or self._store.value(_VECTORS.count_indexed) != stamp["rows"]:
            return self._refuse("it is not the one that was built; run: ragx index --full --keep-vectors")
        for setting in (_VECTORS.bare_index_scans, _VECTORS.search_width, _VECTORS.fetch_by_index):
            self._store.run(setting)
        return True

    def _refuse(self, why: str) -> bool:
        self._warn(f"all vectors are scanned instead of the vector index: {why}")
        return False
