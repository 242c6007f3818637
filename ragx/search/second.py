"""A second search with what the first hit says: for answers that the words of the question do not name."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ragx.config.settings import Keyword
from ragx.search.embedding import embed_query
from ragx.search.readable import readable_text
from ragx.store import Store, statements
from ragx.types import Embedder, Stage

_SECOND = statements("second")

_MOST = 100
_TERMS = 10
_CHARACTERS = 400
_LESS = 0.5


def search_again(
    store: Store,
    form: str,
    query: str,
    keyword: Keyword,
    load: Callable[[], Embedder],
    fetch: Callable[..., None],
    *,
    scoped: bool,
) -> Stage:
    """Adds its hits to the table of heat, as a part of their own; whoever calls it lets them join the pool.

    `feedback`: the chunks that hold the strongest terms of the first hit. `embedding`: those near to the question with
    the beginning of the first hit, less half of the hit itself, so that it finds what the hit does not say.
    `load` gives the embedding model (its ModelError passes through), `fetch(statement)` the cosines of the chunks that
    the statement names.
    """
    found = store.rows(_SECOND.find_first_hit)
    if not found:
        return Stage("second", False, "there is no first hit")
    ((chunk_id, text, path, vector),) = found
    common: dict[str, Any] = {"chunk_id": chunk_id, "most": _MOST, "scoped": scoped}
    if form == "feedback":
        store.run(_SECOND.feed_back, terms=_TERMS, k1=keyword.k1, b=keyword.b, **common)
        detail = f"the {_TERMS} strongest terms of {path}"
    elif vector is None:
        return Stage("second", False, "the first hit has no vector")
    else:
        longer = embed_query(load(), f"{query} {readable_text(text, path)[:_CHARACTERS]}")
        away = longer - _LESS * float(longer @ vector) * np.array(vector, np.float32)
        store.run(_SECOND.look_again, vector=str((away / np.linalg.norm(away)).tolist()), **common)
        detail = f"the question with the beginning of {path}"
    fetch(_SECOND.wanted_by_second)
    return Stage("second", True, detail)
