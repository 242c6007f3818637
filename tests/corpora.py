"""Small corpora on disk and what an index says of them."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ragx.config import Config, index_dir, load
from ragx.indexing.run import Options, index
from ragx.search import Options as QueryOptions
from ragx.search import Searcher
from ragx.store import open_index
from ragx.types import Answer, IndexReport

LAW_TABLES = ("files", "chunks", "links", "subchunks", "edges", "communities", "community_labels", "terms", "postings")
"""The tables that a full build and any sequence of incremental runs agree on, row by row. (`forms` may keep a spelling
of a term that lives on in other spellings.)"""


class Silent:
    """Watches an indexing run without a word, and remembers its warnings."""

    def __init__(self) -> None:
        self.warnings: list[str] = []

    def stage(self, name: str, total: int | None, unit: str) -> None:
        pass

    def advance(self, amount: int) -> None:
        pass

    def warn(self, message: str) -> None:
        self.warnings.append(message)


def write(root: Path, files: dict[str, str | bytes]) -> None:
    """Writes files, line ends as they are."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def corpus(root: Path, files: dict[str, str | bytes]) -> Path:
    """A folder with ragx.toml and files."""
    write(root, {"ragx.toml": "", **files})
    return root


@contextmanager
def index_elsewhere(folder: Path) -> Any:
    """Within, the index of any corpus lives in `folder`."""
    before = os.environ.get("RAGX_DIR")
    os.environ["RAGX_DIR"] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ["RAGX_DIR"]
        else:
            os.environ["RAGX_DIR"] = before


def settings_of(root: Path) -> Config:
    return load(root).config


def build(root: Path, **options: bool) -> IndexReport:
    """An indexing run."""
    return index(root, settings_of(root), Options(**options), Silent())


def searcher_of(root: Path) -> Iterator[Searcher]:
    """One searcher for many questions, that fails where it has to warn."""
    settings = settings_of(root)
    with open_index(index_dir(root, settings)) as store:
        yield Searcher(store, settings, pytest.fail, root=root)


def dump(root: Path) -> dict[str, list[tuple[Any, ...]]]:
    """All rows of the tables that the laws speak of, sorted."""
    with open_index(index_dir(root, settings_of(root))) as store:
        return {
            table: store.connection.execute(f"SELECT * FROM {table} ORDER BY ALL").fetchall() for table in LAW_TABLES
        }


def ask(root: Path, query: str, **options: Any) -> Answer:
    """One query without the cross-encoder."""
    settings = settings_of(root)
    with open_index(index_dir(root, settings)) as store:
        return Searcher(store, settings, lambda _: None).search(query, QueryOptions(rerank=False, **options))
