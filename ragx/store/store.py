"""The only opener of an index file: a published one read-only, one that is being built for writing."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

from ragx.errors import IndexLocked, IndexMissing, IndexUnusable
from ragx.store.statements import Statement, script, statements

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA = 1
"""Number of the data model; another number in the file means another ragx wrote it."""

INDEX_NAME = "index.duckdb"

_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    # Never fetches an extension behind the user's back.
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}
_STORE = statements("store")


class Store:
    """A connection to an index file; closes with `close()` or at the end of a `with`."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: Path) -> None:
        self.connection = connection
        self.path = path

    def run(self, statement: Statement, **parameters: Any) -> duckdb.DuckDBPyConnection:
        """Executes a statement; of `parameters` it takes those that it names."""
        chosen = {name: parameters[name] for name in statement.parameters}
        return self.connection.execute(statement.sql, chosen)

    def rows(self, statement: Statement, **parameters: Any) -> list[tuple[Any, ...]]:
        return self.run(statement, **parameters).fetchall()

    def value(self, statement: Statement, **parameters: Any) -> Any:
        """The first column of the first row, or None."""
        row = self.run(statement, **parameters).fetchone()
        return row[0] if row else None

    def script(self, name: str) -> None:
        self.connection.execute(script(name))

    def load(self, statement: Statement, incoming: "pa.Table", **parameters: Any) -> None:
        """Runs a statement that reads the rows of an Arrow table as `incoming`."""
        self.connection.register("incoming", incoming)
        try:
            self.run(statement, **parameters)
        finally:
            self.connection.unregister("incoming")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing."""
        self.connection.begin()
        try:
            yield
        except BaseException:
            self.connection.rollback()
            raise
        self.connection.commit()

    def meta(self) -> dict[str, Any]:
        """What the index says of itself."""
        return {key: json.loads(value) for key, value in self.rows(_STORE.read_meta)}

    def set_meta(self, key: str, value: Any) -> None:
        self.run(_STORE.drop_meta, key=key)
        self.run(_STORE.add_meta, key=key, value=json.dumps(value))

    def close(self) -> None:
        self.connection.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def wal_path(path: Path) -> Path:
    """Where DuckDB keeps what is committed but not yet in the file."""
    return path.with_name(path.name + ".wal")


def open_index(folder: Path) -> Store:
    """Opens the published index of a `.ragx` folder read-only, or says why not and what to run."""
    path = folder / INDEX_NAME
    if not path.is_file():
        raise IndexMissing(f"no index in {folder}", "run: ragx index")
    if wal_path(path).exists():
        raise IndexUnusable(
            f"{wal_path(path)} was left by a program that opened the index for writing", "run: ragx index"
        )
    try:
        store = Store(duckdb.connect(path, read_only=True, config=_SETTINGS), path)
    except duckdb.Error as error:
        raise _unusable(path, error) from error
    try:
        check_schema(store)
    except BaseException:
        store.close()
        raise
    return store


def open_building(path: Path) -> Store:
    """Opens a file that is being built, as it is."""
    try:
        return Store(duckdb.connect(path, config=_SETTINGS), path)
    except duckdb.Error as error:
        raise _unusable(path, error) from error


def create_building(path: Path, dimension: int) -> Store:
    """A new, empty index for vectors of `dimension`."""
    store = open_building(path)
    store.connection.execute(f"CREATE TYPE embedding AS FLOAT[{dimension:d}]")
    store.script("schema")
    store.script("views")
    store.set_meta("schema", SCHEMA)
    return store


def check_schema(store: Store) -> None:
    """Refuses a file that is no index, or that another version of the data model wrote."""
    try:
        schema = store.meta().get("schema")
    except (duckdb.Error, ValueError) as error:
        raise IndexUnusable(f"{store.path} is not an index of ragx", "move it away and run: ragx index") from error
    if schema != SCHEMA:
        newer = isinstance(schema, int) and schema > SCHEMA
        raise IndexUnusable(
            f"{store.path} was written by {'a newer' if newer else 'another'} version of ragx (schema {schema})",
            "upgrade ragx, or run: ragx index --full" if newer else "run: ragx index --full",
        )


def _unusable(path: Path, error: duckdb.Error) -> IndexLocked | IndexUnusable:
    text = str(error)
    if "lock" in text:
        return IndexLocked(f"{path} is open for writing in another program", "close it there and try again")
    if "version number" in text or "storage version" in text.lower():
        return IndexUnusable(f"{path} was written by another version of DuckDB", "run: ragx index --full")
    if "Permission denied" in text:
        return IndexUnusable(f"{path} may not be read: permission denied", "check its owner and mode")
    return IndexUnusable(f"{path} is damaged or not a DuckDB file", "run: ragx index --full")
