"""ragx in Python: the corpus's index as a DuckDB connection, and search as an Arrow table."""

import os
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import RLock
from typing import Any

import duckdb
import pyarrow as pa

from ragx.config import PROJECT_FILE, Config, find_root, index_dir, load
from ragx.errors import IndexMissing, IndexUnusable, UsageError
from ragx.search import Options, Searcher
from ragx.search.embedding import add_embed
from ragx.store import INCOMPLETE, INDEX_NAME, is_complete, open_index
from ragx.types import Answer, Embedder

RESULT = pa.schema(
    [
        ("chunk_id", pa.int64()),
        ("file", pa.string()),
        ("line_start", pa.int32()),
        ("line_end", pa.int32()),
        ("byte_start", pa.int64()),
        ("byte_end", pa.int64()),
        ("kind", pa.string()),
        ("headings", pa.list_(pa.string())),
        ("language", pa.string()),
        ("score", pa.float64()),
        ("cosine", pa.float64()),
        ("bm25", pa.float64()),
        ("vector", pa.float64()),
        ("lexical", pa.float64()),
        ("fused", pa.float64()),
        ("heat", pa.float64()),
        ("link", pa.float64()),
        ("second", pa.float64()),
        ("rerank", pa.float64()),
        ("logit", pa.float64()),
        ("stale", pa.bool_()),
        (
            "also_in",
            pa.list_(
                pa.struct(
                    [
                        ("chunk_id", pa.int64()),
                        ("file", pa.string()),
                        ("line_start", pa.int32()),
                        ("line_end", pa.int32()),
                        ("cosine", pa.float64()),
                    ]
                )
            ),
        ),
        ("text", pa.string()),
    ]
)
"""The columns that `search` returns: as in `ragx query --json`, the breakdown flat and the text whole."""


@dataclass(frozen=True)
class _Corpus:
    root: Path
    config: Config
    index_dir: Path


@dataclass(frozen=True)
class _Open:
    inode: tuple[int, int]
    searcher: Searcher


_open: dict[Path, _Open] = {}
_lock = RLock()


def connect(path: str | os.PathLike[str] = ".") -> duckdb.DuckDBPyConnection:
    """A connection to the index of the corpus at or above `path`, with its macros and `embed(text)` as functions.

    The index is read-only; temporary tables, files and other databases are as in any connection.
    The connection keeps to the index as it is now: one that is published later takes another `connect`.
    """
    corpus = _corpus(path)
    store = open_index(corpus.index_dir)
    built = store.meta()["embedder"]
    if not is_complete(store):
        _warn(INCOMPLETE)

    def load_embedder() -> Embedder:
        with _lock:
            searcher = _searcher(corpus)
            if searcher.meta["embedder"] != built:
                raise IndexUnusable("the index was built anew with another model", "connect again")
            return searcher.models.load_embedder()

    add_embed(store, load_embedder)
    return store.connection


def search(
    query: str,
    path: str | os.PathLike[str] = ".",
    *,
    top: int | None = None,
    rerank: bool | None = None,
    graph: bool = True,
    lexical: bool = True,
    expand: bool | None = None,
    deep: bool = False,
    paths: Sequence[str] = (),
    kinds: Sequence[str] = (),
    hnsw: bool | None = None,
    fold: bool | None = None,
) -> pa.Table:
    """The best chunks for `query`, best first, one a row, with the columns of `RESULT`; no row: nothing is relevant.

    `None` leaves a choice to the settings; `expand` asks a chat model for other wordings; `deep` searches again with
    what the first hit says; `paths` (files, folders or globs of the corpus) and `kinds` (of files) restrict the
    search; `hnsw` searches the vector index (False: scans all vectors); `fold` gives what is nearly the same once.
    A stage that cannot run is a warning. Models stay loaded, and a newly published index is seen.
    """
    options = Options(
        top=top,
        rerank=rerank,
        graph=graph,
        lexical=lexical,
        expand=expand,
        deep=deep,
        paths=tuple(paths),
        kinds=tuple(kinds),
        hnsw=hnsw,
        fold=fold,
    )
    with _lock:
        answer = _searcher(_corpus(path)).search(query, options)
    return _table(answer)


def _corpus(path: str | os.PathLike[str]) -> _Corpus:
    start = Path(path).absolute()
    if not start.exists():
        raise UsageError(f"{start} does not exist")
    root = find_root(start)
    if root is None:
        raise UsageError(f"no {PROJECT_FILE} in {start} or in a parent folder", "ragx init")
    loaded = load(root)
    for warning in loaded.warnings:
        _warn(warning)
    return _Corpus(root, loaded.config, index_dir(root, loaded.config))


def _searcher(corpus: _Corpus) -> Searcher:
    """The searcher of a corpus, opened anew where its index or its settings are others than before."""
    index = corpus.index_dir / INDEX_NAME
    before = _open.get(index)
    try:
        found = index.stat()
    except FileNotFoundError:
        found = None
    if before is not None:
        # A file that is open keeps its inode from being used again.
        if found and before.inode == (found.st_dev, found.st_ino) and before.searcher.config == corpus.config:
            return before.searcher
        del _open[index]
        before.searcher.store.close()
    if found is None:
        raise IndexMissing(f"no index in {corpus.index_dir}", "run: ragx index")
    searcher = Searcher(open_index(corpus.index_dir), corpus.config, _warn, root=corpus.root)
    if before is not None:
        searcher.models.take_over(before.searcher.models)
    _open[index] = _Open((found.st_dev, found.st_ino), searcher)
    return searcher


def _warn(message: str) -> None:
    warnings.warn(message, stacklevel=2)


def _table(answer: Answer) -> pa.Table:
    hits = answer.hits if answer.relevant else ()
    columns: dict[str, list[Any]] = {
        name: [getattr(hit, name) if hasattr(hit, name) else getattr(hit.parts, name) for hit in hits]
        for name in RESULT.names
    }
    columns["also_in"] = [[asdict(copy) for copy in hit.also_in] for hit in hits]
    return pa.table(columns, schema=RESULT)
