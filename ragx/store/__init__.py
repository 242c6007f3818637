"""The index file: the only opener of index.duckdb, and the reader of `sql/`."""

from ragx.store.statements import Statement, script, statements
from ragx.store.store import (
    INDEX_NAME,
    SCHEMA,
    Store,
    check_schema,
    create_building,
    open_building,
    open_index,
    wal_path,
)

__all__ = [
    "INDEX_NAME",
    "SCHEMA",
    "Statement",
    "Store",
    "check_schema",
    "create_building",
    "open_building",
    "open_index",
    "script",
    "statements",
    "wal_path",
]
