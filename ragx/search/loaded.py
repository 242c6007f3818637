"""The models of a query, each loaded when the first query needs it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ragx.config import Config
from ragx.models import load_chat, load_reranker
from ragx.search.embedding import query_embedder
from ragx.types import Chat, Embedder, Reranker


class Models:
    """Those that the settings name, for an index whose `meta` says by which its vectors were made."""

    def __init__(self, meta: Mapping[str, Any], config: Config, root: Path, warn: Callable[[str], None]) -> None:
        self.embedder: Embedder | None = None
        self.reranker: Reranker | None = None
        self.chat: Chat | None = None
        self._meta = meta
        self._config = config
        self._root = root
        self._warn = warn

    def take_over(self, before: "Models") -> None:
        """What the other has loaded and is still the right one."""
        same_model = before._meta["embedder"] == self._meta["embedder"]
        if same_model and before._config.embeddings == self._config.embeddings:
            self.embedder = before.embedder
        if before._config.rerank == self._config.rerank:
            self.reranker = before.reranker

    def load_embedder(self) -> Embedder:
        """The embedding model of the settings; IndexUnusable where the index was built with another."""
        if self.embedder is None:
            self.embedder = query_embedder(self._meta, self._config, self._root, self._warn)
        return self.embedder

    def load_reranker(self) -> Reranker:
        """The cross-encoder of the settings; ModelError where it cannot be had."""
        if self.reranker is None:
            self.reranker = load_reranker(self._config.rerank, root=self._root, announce=self._warn)
        return self.reranker

    def load_chat(self) -> Chat:
        """The chat model of the settings; ModelError, ConfigError, ConsentNeeded: it may not or cannot be asked."""
        if self.chat is None:
            self.chat = load_chat(self._config.expansion, announce=self._warn)
        return self.chat
