"""The index file: the only opener of index.duckdb, and the reader of `sql/`."""

from ragx.store.cookbook import Recipe, cookbook
from ragx.store.failures import explained, room_in
from ragx.store.sandbox import answering, open_sandbox
from ragx.store.statements import Statement, script, statements
from ragx.store.store import (
    FINISH,
    INCOMPLETE,
    INDEX_NAME,
    SCHEMA,
    Store,
    check_complete,
    check_links,
    check_schema,
    create_building,
    is_complete,
    is_outdated,
    logs,
    open_building,
    open_index,
)

__all__ = [
    "FINISH",
    "INCOMPLETE",
    "INDEX_NAME",
    "SCHEMA",
    "Recipe",
    "Statement",
    "Store",
    "answering",
    "check_complete",
    "check_links",
    "check_schema",
    "cookbook",
    "create_building",
    "explained",
    "is_complete",
    "is_outdated",
    "logs",
    "open_building",
    "open_index",
    "open_sandbox",
    "room_in",
    "script",
    "statements",
]
