"""Whatever runs a model: the catalogue's rows at once, the models themselves when they are loaded."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ragx.config import model_folder, model_wish, require, settings
from ragx.errors import ModelError
from ragx.models import catalogue, local
from ragx.models.catalogue import EmbedderRow, RerankerRow
from ragx.types import Chat, Embedder, Reranker

__all__ = [
    "EmbedderRow",
    "RerankerRow",
    "embedder_row",
    "load_chat",
    "load_embedder",
    "load_reranker",
    "reranker_row",
]


def _silent(message: str) -> None:
    pass


def embedder_row(chosen: settings.Embeddings, root: Path = Path()) -> EmbedderRow:
    """The row of `embeddings.model`, a name of the catalogue or the path of a folder; no model is loaded.

    ConsentNeeded where a folder is named by ragx.toml alone: nothing in it is read before.
    """
    folder = _folder(chosen, root)
    return local.embedder_row(chosen.model, folder) if folder else catalogue.embedder_row(chosen.model)


def reranker_row(chosen: settings.Rerank, root: Path = Path()) -> RerankerRow:
    """The row of `rerank.model`; as `embedder_row`."""
    folder = _folder(chosen, root)
    return local.reranker_row(chosen.model, folder) if folder else catalogue.reranker_row(chosen.model)


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

    row = embedder_row(chosen, root)
    if chosen.doc_prefix is not None:
        row = replace(row, doc_prefix=chosen.doc_prefix)
    if chosen.query_prefix is not None:
        row = replace(row, query_prefix=chosen.query_prefix)
    return onnx.OnnxEmbedder(row, source.locate(row, _folder(chosen, root), announce))


def load_reranker(
    chosen: settings.Rerank, *, root: Path = Path(), announce: Callable[[str], None] = _silent
) -> Reranker:
    """The cross-encoder in force; as `load_embedder`."""
    from ragx.models import onnx, source

    row = reranker_row(chosen, root)
    return onnx.OnnxReranker(row, source.locate(row, _folder(chosen, root), announce))


def load_chat(chosen: settings.Expansion, *, announce: Callable[[str], None] = _silent) -> Chat:
    """The chat model of the settings, of which nothing is asked yet; ModelError where they name none.

    ConsentNeeded and ConfigError as `config.server` has them.
    """
    if not chosen.model:
        raise ModelError("no chat model is set up", "ragx config set expansion.model NAME")
    # An HTTP client that nothing else needs.
    from ragx.models import chat

    return chat.ServedChat(chosen, announce)


def _folder(chosen: settings.Embeddings | settings.Rerank, root: Path) -> Path | None:
    """The folder that the setting names, if it names one and the user allows it."""
    folder = model_folder(chosen.model, root)
    if folder is not None and "model" in chosen.origin.foreign:
        wish = model_wish(f"{type(chosen).__name__.lower()}.model", chosen.model, folder)
        require(chosen.origin.corpus, [wish], f"load the model in {folder}")
    return folder
