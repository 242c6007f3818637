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
    """Characters `[start, end)` of a document's text that form a chunk; the headings above them, outermost first."""

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

    def clip(self, text: str, tokens: int) -> str:
        """The longest beginning of `text`, cut between two tokens, that has at most `tokens` of them."""
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
    def probe(self) -> tuple[float, ...]:
        """The vector of a fixed text, by which a served model is known again; empty: the fingerprint is a digest."""
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


class Chat(Protocol):
    """A language model that answers in text."""

    @property
    def model(self) -> str: ...

    def ask(self, task: str, text: str) -> str:
        """The answer to `text` under the instructions of `task`, without the model's thinking; never empty."""
        ...


@dataclass(frozen=True)
class Expansion:
    """What a chat model made of a query: other wordings, and a passage that might answer it; "": none."""

    variants: tuple[str, ...] = ()
    passage: str = ""


@dataclass(frozen=True)
class Step:
    """A chunk on the way of the heat, and the edge that led to it; the seed has none."""

    chunk_id: int
    file: str
    line_start: int
    line_end: int
    kind: str | None
    weight: float | None


@dataclass(frozen=True)
class Trace:
    """The way on which most of a chunk's heat came to it: which `share` of it, and the steps from the seed on.

    `part`: "heat", "link" or "second", as in Parts.
    """

    part: str
    share: float
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Parts:
    """A score's parts. All but cosine, bm25 and logit are in [0, 1], unweighted. None: no such part."""

    cosine: float | None
    bm25: float | None
    vector: float | None
    lexical: float | None
    fused: float
    heat: float | None
    link: float | None
    """Heat that came over explicit links, where the rule keeps it apart."""

    second: float | None
    """What a second search says of it."""

    rerank: float | None
    logit: float | None


@dataclass(frozen=True)
class Lines:
    """Whole lines of a file, from 1, with their line ends."""

    line_start: int
    line_end: int
    text: str


@dataclass(frozen=True)
class Context:
    """The lines around a chunk as they are on disk; None: there are none, or the chunk is not in its place any more."""

    before: Lines | None
    after: Lines | None


@dataclass(frozen=True)
class Copy:
    """Where nearly the same as a hit stands, or quite the same: `cosine` is 1."""

    chunk_id: int
    file: str
    line_start: int
    line_end: int
    cosine: float


@dataclass(frozen=True)
class Hit:
    """A ranked chunk."""

    chunk_id: int
    file: str
    score: float
    parts: Parts
    kind: str
    headings: tuple[str, ...]
    language: str
    byte_start: int
    byte_end: int
    line_start: int
    line_end: int
    text: str
    traces: tuple[Trace, ...] = ()
    """One for each part of the heat that reached it, where an explanation was asked for."""

    also_in: tuple[Copy, ...] = ()
    """Lower hits that are folded under this one, best first."""

    stale: bool = False
    """Whether the file has other bytes now than when it was indexed, or is gone."""

    context: Context | None = None
    """None: not asked for."""

    readable: str = ""
    """What a reader sees of a text that is markup; empty: the text itself."""

    @property
    def shown(self) -> str:
        """What a result prints of the chunk."""
        return self.readable or self.text


@dataclass(frozen=True)
class FileHit:
    """A ranked file, by the scores of its best sections, at most 1.39; its chunks, best first."""

    file: str
    score: float
    chunk_ids: tuple[int, ...]
    stale: bool | None = None
    """As a hit's; None: not among the best, and not looked at."""


@dataclass(frozen=True)
class CommunityHit:
    """A ranked community of the graph: what it is about, the sum of its best three hits' scores, and these hits."""

    number: int
    size: int
    name: str
    title: str
    """What a chat model calls it, and `summary` what it says of it; empty: none was asked."""

    summary: str
    content_hash: str
    terms: tuple[str, ...]
    score: float
    hits: tuple[Hit, ...]


@dataclass(frozen=True)
class Source:
    """A passage that an answer in words cites as `[number]`."""

    number: int
    chunk_id: int
    file: str
    line_start: int
    line_end: int


@dataclass(frozen=True)
class Written:
    """An answer in words by a chat model, with the sources that it cites, each of which it was shown.

    Not `supported`: it cites none, and may be made up.
    """

    text: str
    sources: tuple[Source, ...]

    @property
    def supported(self) -> bool:
        return bool(self.sources)


@dataclass(frozen=True)
class Stage:
    """Whether a stage of a query ran (`ran`), and how or why not (`detail`)."""

    name: str
    ran: bool
    detail: str


@dataclass(frozen=True)
class Answer:
    """The result of a query: the best distinct chunks, as many as asked for, and all files of any candidate."""

    query: str
    hits: tuple[Hit, ...]
    files: tuple[FileHit, ...]
    stages: tuple[Stage, ...]
    weights: dict[str, float]
    relevant: bool
    """False: nothing in the corpus is about this query: no rare term of it occurs, and no chunk is near enough."""

    terms: frozenset[str]
    """The query's terms as the keyword index spells them, for marking words in a snippet."""

    expansion: Expansion = Expansion()
    """What was searched for besides the query."""

    written: Written | None = None
    """In words, where that was asked for and could be had."""


@dataclass(frozen=True)
class FileChanges:
    """The files of a run by what it did with them, as paths; `unchanged` is a number."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]
    unchanged: int
    skipped: tuple[Skipped, ...]


@dataclass(frozen=True)
class IndexReport:
    """What an indexing run did; with `dry_run`, what it would do to files. `changed`: a new index was published."""

    path: str
    changed: bool
    dry_run: bool
    full: bool
    files: FileChanges
    chunks_added: int = 0
    chunks_removed: int = 0
    chunks_total: int = 0
    texts_embedded: int = 0
    texts_reused: int = 0
    edges_total: int = 0
    communities_total: int = 0
    communities_described: int = 0
    """By a chat model, in this run."""
    warnings: tuple[str, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)

    def counts(self) -> dict[str, int]:
        """The report in numbers."""
        return {
            "files_added": len(self.files.added),
            "files_changed": len(self.files.changed),
            "files_removed": len(self.files.removed),
            "files_unchanged": self.files.unchanged,
            "files_skipped": len(self.files.skipped),
            "chunks_added": self.chunks_added,
            "chunks_removed": self.chunks_removed,
            "chunks_total": self.chunks_total,
            "texts_embedded": self.texts_embedded,
            "texts_reused": self.texts_reused,
            "edges_total": self.edges_total,
            "communities_total": self.communities_total,
            "communities_described": self.communities_described,
        }


class Progress(Protocol):
    """What an indexing run tells whoever watches it."""

    def stage(self, name: str, total: int | None, unit: str) -> None:
        """A stage begins; `total` is None where it is not known."""
        ...

    def advance(self, amount: int) -> None: ...

    def warn(self, message: str) -> None: ...
