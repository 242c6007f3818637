"""The vector of a query, by the model that the index was built with and by no other."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragx.config import Config, check_built_with
from ragx.errors import IndexUnusable
from ragx.models import load_embedder
from ragx.store import Store
from ragx.types import Embedder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_REMEMBERED = 1000


def query_embedder(meta: Mapping[str, Any], config: Config, root: Path, announce: Callable[[str], None]) -> Embedder:
    """The embedding model of the settings; an error where the index was built with another."""
    check_built_with(meta["full_settings"], config, "embeddings.")
    built = meta["embedder"]
    embedder = load_embedder(config.embeddings, root=root, announce=announce, built=built, prove=False)
    for key in ("model", "fingerprint", "doc_prefix", "query_prefix"):
        now = getattr(embedder, key)
        if built[key] != now:
            raise IndexUnusable(
                f"the index was built with {key} {built[key]!r}, but the settings give {now!r}",
                "run: ragx index --full",
            )
    return embedder


def embed_query(embedder: Embedder, query: str) -> "NDArray[np.float32]":
    """Its unit vector, with the model's prefix for queries, from as much of its beginning as the model reads."""
    return next(embedder.embed([clipped(embedder, embedder.query_prefix, query)]))


def clipped(embedder: Embedder, prefix: str, text: str) -> str:
    """The prefix and as much of the text's beginning as the model reads behind it."""
    return prefix + embedder.counter.clip(text, embedder.window - embedder.counter.count(prefix))


def add_embed(store: Store, load: Callable[[], Embedder]) -> None:
    """Gives the connection of `store` the SQL function `embed(text)`; the first call loads the model by `load`."""

    @lru_cache(maxsize=_REMEMBERED)
    def embed(text: str) -> list[float]:
        vector: list[float] = embed_query(load(), text).tolist()
        return vector

    dimension: int = store.meta()["embedder"]["dimension"]
    store.add_function("embed", embed, ["VARCHAR"], f"FLOAT[{dimension}]")
