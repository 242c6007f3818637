"""An embedding model behind a server: vectors in order, few requests at once, and never two models in one index."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from threading import Event, Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragx.config import server
from ragx.config.settings import Embeddings
from ragx.errors import IndexUnusable
from ragx.models.catalogue import served_row
from ragx.models.estimate import EstimatedCounter
from ragx.models.failures import Asking, unusable
from ragx.models.http import Api
from ragx.models.threads import in_order
from ragx.models.vectors import Refused, same_direction, vectors_in

Vector = NDArray[np.float32]

PROBE = "The harbour master's ledger of 1893 lists 41 ships; die Fähre fehlt, 船は七隻。 def tide(hour): return -hour"
"""What a served model is known by: it has no digest, but its vector of this text."""

SAME_MODEL = 0.999
"""Least cosine of two probes of one model: kernels and batches move the last digits, other weights far more."""

_SPECIAL_TOKENS = 2
_BASE_BYTES = 1 << 20
_TEXT_BYTES = 1 << 18
"""Room for 8,192 dimensions of 32 characters."""


class ServedEmbedder:
    """An embedding model behind an OpenAI-compatible server (types.Embedder).

    `built` is the identity noted in the index that is extended or queried: nothing is asked before the first text, and
    with `prove` the first request also shows whether the model still is that one (IndexUnusable). Without `built` the
    model is asked at once who it is, and takes the fingerprint of the one among `seen` that it turns out to be.
    """

    languages: frozenset[str] = frozenset()
    counter = EstimatedCounter()

    def __init__(
        self,
        chosen: Embeddings,
        *,
        built: Mapping[str, Any] | None,
        seen: Callable[[], Iterable[Mapping[str, Any]]],
        prove: bool,
        announce: Callable[[str], None],
    ) -> None:
        row = served_row(chosen.model)
        self._chosen, self._announce = chosen, announce
        self._lock = Lock()
        self._opened: Api | None = None
        self.model = chosen.model
        self.window = row.window - _SPECIAL_TOKENS
        self.doc_prefix = row.doc_prefix if chosen.doc_prefix is None else chosen.doc_prefix
        self.query_prefix = row.query_prefix if chosen.query_prefix is None else chosen.query_prefix
        self.dimension = 0
        if built is None:
            (probe,) = self._ask([PROBE], Event())
            identity = next((known for known in seen() if self._is(known, probe)), None) or self._new(probe)
        else:
            identity = built
        # An index of another model keeps its vectors to itself: this fingerprint is nobody's.
        self.fingerprint = identity["fingerprint"] if self._mine(identity) else self._kind
        self.probe: tuple[float, ...] = tuple(identity.get("probe", ()))
        self.dimension = identity["dimension"]
        self._proven = built is None or not prove

    def embed(self, texts: Iterable[str]) -> Iterator[Vector]:
        """One unit vector a text, in order. What arrived before a failure is given before it is raised."""
        remaining = iter(texts)
        stop = Event()
        if not self._proven:
            # Alone, so that nothing is paid for when the model is another one.
            first = list(islice(remaining, max(1, self._chosen.batch_size - 1)))
            if not first:
                return
            batches = _batches(iter([PROBE, *first]), self._chosen.batch_size)
            probe, *vectors = [vector for batch in batches for vector in self._ask(batch, stop)]
            self._prove(probe)
            yield from vectors
        batches = _batches(remaining, self._chosen.batch_size)
        try:
            for answer in in_order(lambda batch: self._ask(batch, stop), batches, self._chosen.concurrency):
                yield from answer
        finally:
            stop.set()

    def _ask(self, texts: list[str], stop: Event) -> list[Vector]:
        api = self._api()
        body = {"model": self.model, "input": texts, "encoding_format": "float"}
        answer = api.post("/embeddings", body, most_bytes=_BASE_BYTES + _TEXT_BYTES * len(texts), stop=stop)
        try:
            return vectors_in(answer, len(texts), self.dimension or None)
        except Refused as error:
            raise unusable(api.server, str(error)) from error

    def _api(self) -> Api:
        with self._lock:
            # Not before: a run that embeds nothing needs neither the server nor its key.
            if self._opened is None:
                asking = Asking("embeddings", self._chosen.provider, self.model, self._chosen.api_key_env)
                self._opened = Api(server(self._chosen), asking, self._chosen.timeout, self._announce)
            return self._opened

    def _prove(self, probe: Vector) -> None:
        if not same_direction(np.array(self.probe, np.float32), probe, SAME_MODEL):
            raise IndexUnusable(
                f"the server's {self.model} is not the model that the index was built with: its vectors are others",
                "ragx index --full",
            )
        self._proven = True

    @property
    def _kind(self) -> str:
        return f"served:{self.model}:"

    def _mine(self, identity: Mapping[str, Any]) -> bool:
        return str(identity.get("fingerprint", "")).startswith(self._kind)

    def _is(self, identity: Mapping[str, Any], probe: Vector) -> bool:
        known = np.array(identity.get("probe", ()), np.float32)
        return self._mine(identity) and same_direction(known, probe, SAME_MODEL)

    def _new(self, probe: Vector) -> dict[str, Any]:
        rounded = [round(float(x), 6) for x in probe]
        # Three decimals, so that a second full build most often gets the same ids though the last digits have moved.
        coarse = np.round(probe, 3) + np.float32(0)  # + 0: no minus zero
        digest = hashlib.blake2b(coarse.astype("<f4").tobytes(), digest_size=8).hexdigest()
        return {"fingerprint": self._kind + digest, "dimension": probe.size, "probe": rounded}


def _batches(texts: Iterator[str], size: int) -> Iterator[list[str]]:
    while batch := list(islice(texts, size)):
        yield batch
