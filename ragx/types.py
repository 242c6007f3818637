"""The values that pass between layers: all frozen, none knows how it is made."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class FileStat:
    """A file as the directory lists it; `path` is relative to the root, with `/`. Times in nanoseconds."""

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


@dataclass(frozen=True)
class Skipped:
    """A path that is not indexed, and why, in words that a user reads."""

    path: str
    reason: str


@dataclass(frozen=True)
class Span:
    """Characters `[start, end)` of a document's text that form a chunk, with the headings above them, outermost first."""

    start: int
    end: int
    kind: str
    headings: tuple[str, ...] = ()


class TokenCounter(Protocol):
    """Counts tokens as the embedding model does."""

    def starts(self, text: str) -> "NDArray[np.int64]":
        """The character offsets at which the text's tokens start, ascending."""
        ...

    def count(self, text: str) -> int:
        """How many tokens the model sees for this text, special tokens not counted."""
        ...


class Embedder(Protocol):
    """A model that turns text into unit vectors of `dimension` float32."""

    @property
    def model(self) -> str: ...
    @property
    def fingerprint(self) -> str:
        """Changes whenever the same text could get another vector."""
        ...

    @property
    def dimension(self) -> int: ...
    @property
    def window(self) -> int:
        """Most tokens of a text, without special tokens; longer texts must be split."""
        ...

    @property
    def doc_prefix(self) -> str: ...
    @property
    def query_prefix(self) -> str: ...
    @property
    def languages(self) -> frozenset[str]:
        """ISO 639-1 codes of the languages that the model reads; empty: all."""
        ...

    @property
    def counter(self) -> TokenCounter: ...

    def embed(self, texts: Iterable[str]) -> "Iterator[NDArray[np.float32]]":
        """One unit vector a text, in order. Prefixes are the caller's. Reads ahead only a bounded number of texts."""
        ...


class Reranker(Protocol):
    """A cross-encoder."""

    @property
    def model(self) -> str: ...
    @property
    def languages(self) -> frozenset[str]: ...

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """One logit a text, in order; higher is more relevant."""
        ...


@dataclass(frozen=True)
class Step:
    """How heat reached a chunk: from which seed, over which last edge, in which step."""

    seed: int
    parent: int
    kind: str
    weight: float
    hop: int
    path: tuple[int, ...]


@dataclass(frozen=True)
class Hit:
    """A ranked chunk. The parts of the score are in [0, 1] before weighting; None: the stage did not run for it."""

    chunk_id: int
    file: str
    kind: str
    headings: tuple[str, ...]
    language: str
    byte_start: int
    byte_end: int
    line_start: int
    line_end: int
    text: str
    score: float
    cosine: float | None
    bm25: float | None
    vector: float | None
    lexical: float | None
    fused: float
    heat: float | None
    rerank: float | None
    logit: float | None
    step: Step | None = None


@dataclass(frozen=True)
class FileHit:
    """A ranked file: the sum of its best three chunk scores, and the chunks, best first."""

    file: str
    score: float
    chunk_ids: tuple[int, ...]


@dataclass(frozen=True)
class Stage:
    """Whether a stage of a query ran (`ran`), and how or why not (`detail`)."""

    name: str
    ran: bool
    detail: str


@dataclass(frozen=True)
class Answer:
    """The result of a query: all candidates in order, never cut by `--top`."""

    query: str
    hits: tuple[Hit, ...]
    files: tuple[FileHit, ...]
    stages: tuple[Stage, ...]
    weights: dict[str, float]
    relevant: bool
    """False: nothing in the corpus is about this query (DESIGN: no rare term occurs, no chunk is near enough)."""

    words: tuple[str, ...] = ()
    """Surface forms of the query's terms, for marking them in a snippet."""


@dataclass(frozen=True)
class IndexReport:
    """What an indexing run did."""

    path: str
    changed: bool
    dry_run: bool
    full: bool
    files_added: int
    files_changed: int
    files_removed: int
    files_unchanged: int
    chunks_added: int
    chunks_removed: int
    chunks_total: int
    texts_embedded: int
    texts_reused: int
    edges_total: int
    communities_total: int
    skipped: tuple[Skipped, ...] = ()
    warnings: tuple[str, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)
    added: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


class Progress(Protocol):
    """What an indexing run tells whoever watches it."""

    def stage(self, name: str, total: int | None, unit: str) -> None:
        """A stage begins; `total` is None where it is not known."""
        ...

    def advance(self, amount: int) -> None: ...

    def warn(self, message: str) -> None: ...
