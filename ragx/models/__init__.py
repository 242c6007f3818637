"""Whatever runs a model: the catalogue's rows at once, the models themselves when they are loaded."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ragx.config import settings
from ragx.models import catalogue, local
from ragx.models.catalogue import EmbedderRow, RerankerRow
from ragx.types import Embedder, Reranker

__all__ = ["EmbedderRow", "RerankerRow", "embedder_row", "load_embedder", "load_reranker", "reranker_row"]


def _silent(message: str) -> None:
    pass


def embedder_row(model: str, root: Path = Path()) -> EmbedderRow:
    """The row of `embeddings.model`, a name of the catalogue or the path of a folder; no model is loaded."""
    if local.is_path(model):
        return local.embedder_row(model, local.folder_of(model, root))
    return catalogue.embedder_row(model)


def reranker_row(model: str, root: Path = Path()) -> RerankerRow:
    """The row of `rerank.model`, a name of the catalogue or the path of a folder; no model is loaded."""
    if local.is_path(model):
        return local.reranker_row(model, local.folder_of(model, root))
    return catalogue.reranker_row(model)


def load_embedder(
    chosen: settings.Embeddings,
    *,
    root: Path = Path(),
    announce: Callable[[str], None] = _silent,
    built: Mapping[str, Any] | None = None,
    seen: Callable[[], Iterable[Mapping[str, Any]]] = tuple,
    prove: bool = True,
) -> Embedder:
    """The embedding model in force, with the prefixes of the settings where they are set.

    `./` paths are relative to `root`; `announce` hears about downloads and second tries. ModelError carries a one-line
    remedy. For a served model, which has no digest, `built`, `seen` and `prove` are as in `served.ServedEmbedder`.
    """
    if chosen.provider != "onnx":
        # 110 ms of CPU for an HTTP client that a local model does not need.
        from ragx.models import served

        return served.ServedEmbedder(chosen, built=built, seen=seen, prove=prove, announce=announce)
    from ragx.models import onnx, source

    row = embedder_row(chosen.model, root)
    if chosen.doc_prefix is not None:
        row = replace(row, doc_prefix=chosen.doc_prefix)
    if chosen.query_prefix is not None:
        row = replace(row, query_prefix=chosen.query_prefix)
    return onnx.OnnxEmbedder(row, source.locate(row, _folder(chosen.model, root), announce))


def load_reranker(
    chosen: settings.Rerank, *, root: Path = Path(), announce: Callable[[str], None] = _silent
) -> Reranker:
    """The cross-encoder in force; as `load_embedder`."""
    from ragx.models import onnx, source

    row = reranker_row(chosen.model, root)
    return onnx.OnnxReranker(row, source.locate(row, _folder(chosen.model, root), announce))


def _folder(model: str, root: Path) -> Path | None:
    return local.folder_of(model, root) if local.is_path(model) else None
