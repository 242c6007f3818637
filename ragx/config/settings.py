"""The one table of settings: section, key, type, default, range and meaning.

Validation, `ragx config`, `ragx.toml` and the README's table are all derived from these dataclasses.
A setting typed `X | None` accepts the word "auto" in TOML, which is None here: the catalogue row or the preset decides.
"""

from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, get_type_hints

Effect = Literal["query", "files", "graph", "vectors", "full"]
"""What a change costs: nothing, a new walk of the tree, a new graph, a new vector index, or `index --full`."""


@dataclass(frozen=True)
class Rule:
    """What a setting means and which values it accepts."""

    help: str
    effect: Effect
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()


def _setting(
    default: Any,
    help: str,
    *,
    effect: Effect = "query",
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] = (),
) -> Any:
    return field(default=default, metadata={"rule": Rule(help, effect, low, high, choices)})


DOCUMENT_GLOBS = ("*.md", "*.mdx", "*.markdown", "*.rst", "*.txt", "*.adoc", "*.asciidoc", "*.org")
CODE_GLOBS = (
    "*.py", "*.pyi", "*.js", "*.jsx", "*.mjs", "*.cjs", "*.ts", "*.tsx", "*.mts", "*.cts", "*.vue", "*.svelte",
    "*.go", "*.rs", "*.java", "*.kt", "*.kts", "*.scala", "*.groovy", "*.c", "*.h", "*.cc", "*.cpp", "*.cxx",
    "*.hh", "*.hpp", "*.hxx", "*.m", "*.mm", "*.cs", "*.fs", "*.vb", "*.rb", "*.php", "*.pl", "*.pm", "*.lua",
    "*.r", "*.jl", "*.swift", "*.dart", "*.ex", "*.exs", "*.erl", "*.hs", "*.ml", "*.clj", "*.lisp", "*.el",
    "*.sh", "*.bash", "*.zsh", "*.fish", "*.ps1", "*.bat", "*.sql", "*.proto", "*.graphql", "*.tf", "*.nix",
    "*.css", "*.scss", "*.less", "*.html", "*.htm", "*.ipynb", "Dockerfile", "Makefile", "*.mk", "*.cmake",
)  # fmt: skip
DATA_GLOBS = ("*.json", "*.jsonc", "*.yaml", "*.yml", "*.toml", "*.ini", "*.cfg", "*.csv", "*.tsv")


@dataclass(frozen=True)
class Corpus:
    """Which files are indexed."""

    include: tuple[str, ...] = _setting(
        DOCUMENT_GLOBS + CODE_GLOBS + DATA_GLOBS,
        "gitignore-style globs of the files to index; case does not matter",
        effect="files",
    )
    exclude: tuple[str, ...] = _setting(
        ("*.lock", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "packages.lock.json", "go.sum",
         "requirements*.txt", "constraints*.txt", "LICENSE*", "COPYING*", "*.min.js", "*.min.css", "*.map", "dist/",
         "build/", "target/", "coverage/", "vendor/"),
        "gitignore-style globs of the files and folders to leave out", effect="files",
    )  # fmt: skip
    respect_gitignore: bool = _setting(True, "leave out what git ignores", effect="files")
    max_file_bytes: int = _setting(
        2 * 1024 * 1024, "larger files are skipped", effect="files", low=1, high=1024 * 1024 * 1024
    )
    max_data_bytes: int = _setting(
        256 * 1024, "larger files of data (JSON, YAML, TOML, XML, CSV) are skipped",
        effect="files", low=1, high=1024 * 1024 * 1024,
    )  # fmt: skip


@dataclass(frozen=True)
class Chunking:
    """How files are cut."""

    size_tokens: int = _setting(
        800, "largest chunk in the model's tokens; capped by the model's window", effect="full", low=32, high=32768
    )
    overlap: float = _setting(
        0.15, "share of a chunk that the next part of the same split section repeats", effect="full", low=0, high=0.5
    )


@dataclass(frozen=True)
class Keyword:
    """The keyword leg (BM25)."""

    k1: float = _setting(1.2, "how fast repeated words stop counting", low=0, high=10)
    b: float = _setting(0.75, "how much long chunks are held back", low=0, high=1)


@dataclass(frozen=True)
class Graph:
    """The similarity graph."""

    k: int = _setting(
        8, "nearest distinct texts that a chunk (or sub-chunk) is linked to", effect="graph", low=1, high=100
    )
    edge_source: str = _setting(
        "chunk",
        "what similar edges compare: whole chunks, or their nearest sub-chunks",
        effect="full",
        choices=("chunk", "subchunk"),
    )
    subchunk_size_tokens: int = _setting(
        128, "largest sub-chunk in the model's tokens", effect="full", low=16, high=32768
    )
    near_dup_sim: float = _setting(
        0.9, "with sub-chunks: chunks whose cosine is this or more are not linked", effect="graph", low=0, high=1
    )
    min_edge_sim: float | None = _setting(
        None,
        "similar edges below this cosine are not followed; auto: the median of all pairs of texts",
        low=-1,
        high=1,
    )


@dataclass(frozen=True)
class Communities:
    """Leiden communities, computed anew in each run."""

    resolution: float = _setting(1.0, "higher: more and smaller communities", effect="graph", low=0.01, high=100)
    seed: int = _setting(42, "seed of the Leiden algorithm", effect="graph", low=0, high=2**31 - 1)


@dataclass(frozen=True)
class Vectors:
    """The vector index (HNSW): an accelerator for large corpora and for ad-hoc SQL."""

    hnsw: str = _setting(
        "auto", "when it is built; auto: from 1,000 vectors on", effect="vectors", choices=("auto", "always", "never")
    )


@dataclass(frozen=True)
class Traversal:
    """How heat spreads from the best hits over the graph. Unset values come from the preset."""

    preset: str = _setting(
        "additive", "additive: sums, degree-normalised; classic: the hottest path", choices=("additive", "classic")
    )
    seeds: int = _setting(20, "best hits that emit heat", low=1, high=100)
    link_seeds: int = _setting(5, "best hits whose links are followed (additive)", low=0, high=100)
    link_weight: float = _setting(1.0, "weight of links to a file or note", low=0, high=1)
    import_weight: float = _setting(1.0, "weight of imports", low=0, high=1)
    mention_weight: float = _setting(1.0, "weight of a title in another file's text", low=0, high=1)
    tag_weight: float = _setting(1.0, "weight of a tag that few files share", low=0, high=1)
    hops: int | None = _setting(None, "steps that heat travels (additive 1, classic 2)", low=0, high=5)
    decay: float | None = _setting(
        None, "share of the heat that a step passes on (additive 1.0, classic 0.5)", low=0, high=1
    )
    query_floor: float | None = _setting(
        None,
        "least cosine to the query that a chunk needs to be admitted (none, the median of all pairs of texts)",
        low=-1,
        high=1,
    )
    max_frontier: int = _setting(150, "hottest chunks that relay heat in each step", low=1, high=10000)


@dataclass(frozen=True)
class Fusion:
    """How the vector leg and the keyword leg become one ranking."""

    method: str = _setting("convex", "convex: by score; rrf: by rank", choices=("convex", "rrf"))
    vector_weight: float = _setting(0.6, "weight of the vector leg in a convex fusion", low=0, high=1)
    rrf_k: int = _setting(60, "constant of reciprocal rank fusion", low=1, high=1000)
    per_query_top: int = _setting(100, "hits that each leg contributes", low=1, high=1000)


@dataclass(frozen=True)
class Scoring:
    """Weights of the final score, normalised to sum 1. "auto" takes them from the reranker's catalogue row."""

    alpha_rerank: float | None = _setting(None, "weight of the cross-encoder", low=0, high=1)
    beta_heat: float | None = _setting(None, "weight of the heat", low=0, high=1)
    beta_link: float | None = _setting(None, "weight of the heat that comes over links (additive)", low=0, high=1)
    beta_second: float = _setting(0.08, "weight of what a second search finds", low=0, high=1)
    gamma_vector: float | None = _setting(None, "weight of the fused first stage", low=0, high=1)


DEFAULT_BASE_URL = "http://localhost:1234/v1"
"""Where LM Studio listens."""

OLLAMA_BASE_URL = "http://localhost:11434/v1"

_BASE_URL = "address of an OpenAI-compatible server; OPENAI_BASE_URL where no file sets it; Ollama's own with ollama"
_API_KEY_ENV = "environment variable that holds the server's key; empty: OPENAI_API_KEY where that is set"


@dataclass(frozen=True)
class Origin:
    """Keys of a section that a file sets (`given`), and those that only the ragx.toml of `corpus` sets (`foreign`)."""

    given: frozenset[str] = frozenset()
    foreign: frozenset[str] = frozenset()
    corpus: Path = Path()


@dataclass(frozen=True)
class Embeddings:
    """The model that turns text into vectors."""

    provider: str = _setting(
        "onnx",
        "onnx runs in this process and needs no server; openai: any OpenAI-compatible server; ollama: Ollama",
        effect="full",
        choices=("onnx", "openai", "ollama"),
    )
    model: str = _setting("bge-small-en-v1.5", "a model of the catalogue, or one that the server has", effect="full")
    doc_prefix: str | None = _setting(None, "put before each text that is indexed", effect="full")
    query_prefix: str | None = _setting(None, "put before each query", effect="full")
    base_url: str = _setting(DEFAULT_BASE_URL, _BASE_URL)
    api_key_env: str = _setting("", _API_KEY_ENV)
    batch_size: int = _setting(32, "texts in a request to a server", low=1, high=2048)
    concurrency: int = _setting(4, "requests to a server at once", low=1, high=64)
    timeout: float = _setting(120.0, "seconds that a server has for an answer", low=0.1, high=3600)
    origin: Origin = field(default=Origin(), compare=False, repr=False)


@dataclass(frozen=True)
class Expansion:
    """The chat model, and what it adds to a question. None is asked unless `model` names one."""

    enabled: bool = _setting(False, "expand each query by one call of the chat model")
    variants: int = _setting(3, "other wordings of the question that it is asked for", low=1, high=8)
    hyde: bool = _setting(True, "ask for a passage that might answer the question too, and search for what is like it")
    provider: str = _setting(
        "openai", "openai: any OpenAI-compatible server; ollama: Ollama", choices=("openai", "ollama")
    )
    model: str = _setting("", "a chat model that the server has; empty: none is asked")
    base_url: str = _setting(DEFAULT_BASE_URL, _BASE_URL)
    api_key_env: str = _setting("", _API_KEY_ENV)
    timeout: float = _setting(300.0, "seconds that a server has for an answer", low=0.1, high=3600)
    origin: Origin = field(default=Origin(), compare=False, repr=False)


@dataclass(frozen=True)
class Rerank:
    """The cross-encoder on the best hits."""

    enabled: bool = _setting(True, "rerank the best hits")
    model: str = _setting("ms-marco-MiniLM-L-12-v2", "a reranker of the catalogue")
    depth: int | None = _setting(None, "hits that are reranked", low=1, high=1000)
    origin: Origin = field(default=Origin(), compare=False, repr=False)


@dataclass(frozen=True)
class Query:
    """What a query prints."""

    top: int = _setting(8, "results", low=1, high=1000)
    max_chunk_chars: int = _setting(
        1200, "characters of a chunk, and of each line around it, in the JSON", low=1, high=1_000_000
    )
    second: str = _setting(
        "feedback",
        "what --deep looks for: feedback: the first hit's strongest terms; embedding: the question and its beginning",
        choices=("feedback", "embedding"),
    )
    fold: bool = _setting(True, "print texts that are the same, or nearly so, once, and say where else they are")
    fold_cosine: float = _setting(0.97, "from which cosine on two texts are nearly the same", low=0.5, high=1)
    context_lines: int = _setting(0, "lines of the file to print before and after each hit", low=0, high=200)


@dataclass(frozen=True)
class Index:
    """Where the index lives; only in ~/.ragxrc, since it is a matter of the machine."""

    path: str = _setting(
        "", "folder of all corpora's indexes, each in a subfolder, instead of .ragx beside ragx.toml; RAGX_DIR wins"
    )


@dataclass(frozen=True)
class Config:
    """All settings in force."""

    corpus: Corpus = field(default_factory=Corpus)
    chunking: Chunking = field(default_factory=Chunking)
    keyword: Keyword = field(default_factory=Keyword)
    graph: Graph = field(default_factory=Graph)
    communities: Communities = field(default_factory=Communities)
    vectors: Vectors = field(default_factory=Vectors)
    traversal: Traversal = field(default_factory=Traversal)
    fusion: Fusion = field(default_factory=Fusion)
    scoring: Scoring = field(default_factory=Scoring)
    embeddings: Embeddings = field(default_factory=Embeddings)
    expansion: Expansion = field(default_factory=Expansion)
    rerank: Rerank = field(default_factory=Rerank)
    query: Query = field(default_factory=Query)
    index: Index = field(default_factory=Index)


MACHINE_SECTIONS = ("embeddings", "expansion", "rerank", "index")
"""Sections that ~/.ragxrc may hold."""

MACHINE_ONLY_SECTIONS = ("index",)
"""Sections that ragx.toml may not hold."""


@dataclass(frozen=True)
class Setting:
    """One row of the table: where it stands, its type, default and rule."""

    section: str
    key: str
    type: Any
    default: Any
    rule: Rule

    @property
    def name(self) -> str:
        return f"{self.section}.{self.key}"


SECTIONS: dict[str, Any] = get_type_hints(Config)
"""The class of each section."""


def _table() -> dict[str, Setting]:
    rows = [
        Setting(section, key.name, key.type, key.default, key.metadata["rule"])
        for section, keys in SECTIONS.items()
        for key in fields(keys)
        if "rule" in key.metadata
    ]
    return {row.name: row for row in rows}


SETTINGS: dict[str, Setting] = _table()


def settings_with_effect(config: Config, *effects: Effect) -> dict[str, Any]:
    """The values in force of all settings whose change has one of `effects`, by name, JSON-ready."""
    return {
        name: list(value) if isinstance(value := getattr(getattr(config, row.section), row.key), tuple) else value
        for name, row in SETTINGS.items()
        if row.rule.effect in effects
    }
