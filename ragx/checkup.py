"""Tries every part that the settings name, one after the other, and says of each whether it works; changes nothing."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ragx.config import Config, index_dir
from ragx.errors import RagxError
from ragx.models import load_chat, load_embedder, load_reranker
from ragx.search.embedding import embed_query, query_embedder
from ragx.store import INCOMPLETE, is_complete, open_index, statements

_INDEX = statements("index")

State = Literal["ok", "off", "failed"]


@dataclass(frozen=True)
class Check:
    """A part, its state, and how it works or why not; `hint`: what to run where it failed."""

    name: str
    state: State
    detail: str
    hint: str = ""


def check(root: Path, config: Config, announce: Callable[[str], None]) -> tuple[Check, ...]:
    """Index, embedding model, cross-encoder and chat model. What is not set up is off, and no failure."""
    parts: dict[str, Callable[[], Check]] = {
        "index": lambda: _index(root, config),
        "embeddings": lambda: _embeddings(root, config, announce),
        "rerank": lambda: _rerank(root, config, announce),
        "chat": lambda: _chat(config, announce),
    }
    checks = []
    for name, part in parts.items():
        try:
            checks.append(part())
        except RagxError as error:
            checks.append(Check(name, "failed", error.message, error.hint))
    return tuple(checks)


def _index(root: Path, config: Config) -> Check:
    with open_index(index_dir(root, config)) as store:
        chunks = store.value(_INDEX.count_chunks)
        detail = f"{store.path}, {chunks:,} chunks"
        return Check("index", "ok", detail if is_complete(store) else f"{detail}; {INCOMPLETE}")


def _embeddings(root: Path, config: Config, announce: Callable[[str], None]) -> Check:
    try:
        with open_index(index_dir(root, config)) as store:
            meta = store.meta()
    except RagxError:  # said of the index; a model can be tried without one
        embedder = load_embedder(config.embeddings, root=root, announce=announce)
    else:
        embedder = query_embedder(meta, config, root, announce)
    vector = embed_query(embedder, "Are you there?")
    return Check("embeddings", "ok", f"{embedder.model} ({config.embeddings.provider}), {vector.size} dimensions")


def _rerank(root: Path, config: Config, announce: Callable[[str], None]) -> Check:
    if not config.rerank.enabled:
        return Check("rerank", "off", "rerank.enabled is false")
    reranker = load_reranker(config.rerank, root=root, announce=announce)
    reranker.score("Are you there?", ["I am."])
    return Check("rerank", "ok", reranker.model)


def _chat(config: Config, announce: Callable[[str], None]) -> Check:
    if not config.expansion.model:
        return Check("chat", "off", "no chat model is set up, and none is needed")
    chat = load_chat(config.expansion, announce=announce)
    chat.ask("Reply with one word.", "Are you there?")
    return Check("chat", "ok", f"{chat.model} ({config.expansion.provider})")
