"""Runs ONNX models one text or pair a run, unpadded, on single threads: a result never depends on its neighbours."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding

from ragx.errors import ModelError
from ragx.models.catalogue import EmbedderRow, Pooling, RerankerRow
from ragx.models.source import Found
from ragx.models.tokens import Counter, load_tokenizer
from ragx.models.vectors import unit

Item = TypeVar("Item")
Result = TypeVar("Result")


class Graph:
    """An ONNX graph, opened by its first run. Any number of threads may run it, each run on its caller's thread.

    One session for all threads is as fast as one a thread, and saves 110 MB each (two threads, 250 texts of 5 to
    511 tokens: 4.5 s both).
    """

    def __init__(self, path: Path, name: str) -> None:
        self._path, self._name = path, name
        self._lock = Lock()
        self._session: Any = None
        self._output = ""
        self._inputs: dict[str, Any] = {}

    def run(self, encoding: Encoding) -> NDArray[np.float32]:
        """The output for one text or pair, without the batch's axis."""
        self.open()
        length = len(encoding)
        values = {
            "input_ids": encoding.ids,
            "attention_mask": np.ones(length),
            "token_type_ids": encoding.type_ids,
            "position_ids": np.arange(length),
        }
        feeds = {name: np.asarray(values[name], kind)[None] for name, kind in self._inputs.items()}
        try:
            batch = self._session.run([self._output], feeds)
        # The engine's errors share no class, and here they can only mean the model's file.
        except Exception as error:
            raise ModelError(f"{self._name} failed: {_first_line(error)}", "use another export of the model") from error
        result: NDArray[np.float32] = batch[0][0]
        return result

    def open(self) -> None:
        """Opens the graph, if no run has yet."""
        with self._lock:
            if self._session is None:
                self._open()

    def _open(self) -> None:
        # From 1.32 on it would report to Microsoft and keep a device id; its own switch comes after the first report.
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        # 85 ms of CPU, which a run that embeds nothing does not need.
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
        options.log_severity_level = 4  # an error is raised anyway; below, it is printed too
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            # By path: 60 ms, against 100 from bytes; and only so it finds weights beside the graph.
            session = onnxruntime.InferenceSession(str(self._path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # as above
            reason = _first_line(error)
            raise ModelError(f"{self._path} is not a usable ONNX model: {reason}", "export the model again") from error
        kinds = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
        for node in session.get_inputs():
            if node.name not in ("input_ids", "attention_mask", "token_type_ids", "position_ids"):
                raise ModelError(f"{self._path} wants {node.name}, which no text has", "export it as an encoder")
            self._inputs[node.name] = kinds[node.type]
        outputs = [node.name for node in session.get_outputs()]
        # Where sentence-transformers exported the graph, it ends in the pooled vector.
        self._output = "sentence_embedding" if "sentence_embedding" in outputs else outputs[0]
        self._session = session


class OnnxEmbedder:
    """An embedding model in this process (types.Embedder)."""

    def __init__(self, row: EmbedderRow, found: Found) -> None:
        self._tokenizer = load_tokenizer(found.tokenizer)
        self._graph = Graph(found.graph, row.name)
        self._row = row
        self.model = row.name
        # Without the name: a folder may be moved, and the same files are the same model.
        self.fingerprint = f"onnx:{row.pooling}:{found.graph_sha256[:16]}:{found.tokenizer_sha256[:16]}"
        self.probe: tuple[float, ...] = ()
        self.window = row.positions - self._tokenizer.num_special_tokens_to_add(is_pair=False)
        self.doc_prefix = row.doc_prefix
        self.query_prefix = row.query_prefix
        self.languages = row.languages
        self.counter = Counter(self._tokenizer)
        self.dimension = row.dimension
        if not found.tried:
            self._try()

    def embed(self, texts: Iterable[str]) -> Iterator[NDArray[np.float32]]:
        """One unit vector a text, in order; ValueError for a text longer than the window: nothing is ever cut."""
        return in_order(self._vector, texts, self._graph.open)

    def _vector(self, text: str) -> NDArray[np.float32]:
        encoding = self._tokenizer.encode(text)
        if len(encoding) > self._row.positions:
            raise ValueError(f"a text of {len(encoding)} tokens does not fit into {self._row.positions}")
        vector = unit(pool(self._graph.run(encoding), self._row.pooling))
        if not np.isfinite(vector).all():
            raise ModelError(f"{self.model} gave a vector without a direction", "use another export of the model")
        return vector

    def _try(self) -> None:
        # Whether an unknown file works shows here, not in the middle of a run.
        self.dimension = self._vector("a").size
        if self._row.dimension not in (0, self.dimension):
            wrong = f"gives {self.dimension} dimensions instead of {self._row.dimension}"
            raise ModelError(f"the file of {self.model} {wrong}", "use another export of the model")


class OnnxReranker:
    """A cross-encoder in this process (types.Reranker)."""

    def __init__(self, row: RerankerRow, found: Found) -> None:
        self._tokenizer = load_tokenizer(found.tokenizer)
        self._tokenizer.enable_truncation(row.pair_tokens, strategy="longest_first")
        self._graph = Graph(found.graph, row.name)
        self.model = row.name
        self.languages = row.languages
        if not found.tried:
            self._logit("a", "a")

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """One logit a text, in order; a pair that is too long loses the end of its longer part."""
        return list(in_order(lambda text: self._logit(query, text), texts, self._graph.open))

    def _logit(self, query: str, text: str) -> float:
        logits = self._graph.run(self._tokenizer.encode(query, text))
        if logits.size != 1 or not np.isfinite(logits).all():
            raise ModelError(f"{self.model} gives no single score a pair", "use a cross-encoder with one logit")
        return float(logits.reshape(()))


def pool(states: NDArray[np.float32], pooling: Pooling) -> NDArray[np.float64]:
    """One vector from the states of a text's tokens, `(tokens, d)`; a graph that pools by itself gives `(d,)`."""
    if states.ndim == 1:
        return np.asarray(states, np.float64)
    if pooling == "mean":
        return np.asarray(states.mean(axis=0, dtype=np.float64))
    return np.asarray(states[0 if pooling == "cls" else -1], np.float64)


def in_order(
    function: Callable[[Item], Result], items: Iterable[Item], prepare: Callable[[], None]
) -> Iterator[Result]:
    """`map` on a thread a core that reads at most two items a thread ahead; `prepare` runs before, on the caller's."""
    threads = cores()
    pending: deque[Future[Result]] = deque()
    executor = ThreadPoolExecutor(threads, "ragx-model")
    try:
        for item in items:
            # Not in a worker: where Ctrl-C hit an import of the main thread and was swallowed, Python never gives its
            # import lock back, and an import in another thread waits for ever.
            prepare()
            pending.append(executor.submit(function, item))
            if len(pending) > 2 * threads:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    finally:
        executor.shutdown(cancel_futures=True)


def cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__
