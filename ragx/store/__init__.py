"""The index file: the only opener of index.duckdb, and the reader of `sql/`."""

from ragx.store.failures import explained
from ragx.store.statements import Statement, script, statements
from ragx.store.store import (
    INDEX_NAME,
    SCHEMA,
    Store,
    check_schema,
    create_building,
    logs,
    open_building,
    open_index,
)

__all__ = [
    "INDEX_NAME",
    "SCHEMA",
    "Statement",
    "Store",
    "check_schema",
    "create_building",
    "explained",
    "logs",
    "open_building",
    "open_index",
    "script",
    "statements",
]
