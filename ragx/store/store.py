"""The only opener of an index file: a published one read-only, one that is being built for writing."""

import json
import os
import shlex
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import duckdb

from ragx.errors import IndexForeign, IndexMissing, IndexUnusable, RagxError
from ragx.store.failures import REBUILD, damaged, explained
from ragx.store.statements import Statement, script, statements

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA = 5
"""Number of the data model; another number in the file means another ragx wrote it."""

INDEX_NAME = "index.duckdb"

INCOMPLETE = "the index has no vectors and no graph yet: its first run is still embedding, or did not end"
FINISH = "run: ragx index"

_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    # Never fetches an extension behind the user's back.
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    # The default lets joins fetch 2,048 rows one by one by their key, vectors too: three times as slow as to scan them.
    "index_scan_max_count": 512,
}
_MOST_PLANS = 64
_STORE = statements("store")


class Store:
    """A connection to an index file; closes with `close()` or at the end of a `with`."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: Path) -> None:
        self.connection = connection
        self.path = path
        self.failure: RagxError | None = None
        """Why a function of `add_function` failed: DuckDB passes on only words of it."""
        self._plans: dict[str, str] = {}
        self._numbers = count()

    def run(self, statement: Statement, *, keep_plan: bool = False, **parameters: Any) -> duckdb.DuckDBPyConnection:
        """Executes a statement; of `parameters` it takes those that it names.

        To plan a statement may take longer than to execute it. `keep_plan` does so once for the same values (booleans,
        numbers, text) of the parameters.
        IndexUnusable, DiskFull: the file cannot be read or written.
        """
        chosen = {name: parameters[name] for name in statement.parameters}
        with self._explained():
            if keep_plan:
                return self.connection.execute(f"EXECUTE {self._plan(statement.with_values(chosen))}")
            return self.connection.execute(statement.sql, chosen)

    def rows(self, statement: Statement, **parameters: Any) -> list[tuple[Any, ...]]:
        with self._explained():
            return self.run(statement, **parameters).fetchall()

    def value(self, statement: Statement, **parameters: Any) -> Any:
        """The first column of the first row, or None."""
        with self._explained():
            row = self.run(statement, **parameters).fetchone()
        return row[0] if row else None

    def _plan(self, sql: str) -> str:
        """The name under which a statement without parameters is prepared."""
        if sql not in self._plans:
            if len(self._plans) == _MOST_PLANS:
                self.connection.execute(f"DEALLOCATE {self._plans.pop(next(iter(self._plans)))}")
            name = f"plan_{next(self._numbers)}"
            self.connection.execute(f"PREPARE {name} AS {sql}")
            self._plans[sql] = name
        return self._plans[sql]

    def script(self, name: str) -> None:
        with self._explained():
            self.connection.execute(script(name))

    def load(self, statement: Statement, incoming: "pa.Table", **parameters: Any) -> None:
        """Runs a statement that reads the rows of an Arrow table as `incoming`."""
        self.connection.register("incoming", incoming)
        try:
            self.run(statement, **parameters)
        finally:
            self.connection.unregister("incoming")

    def add_function(self, name: str, function: Callable[..., Any], takes: Sequence[str], returns: str) -> None:
        """A scalar SQL function; NULL in, NULL out. A RagxError in it is kept as `failure`."""

        def called(*values: Any) -> Any:
            try:
                return function(*values)
            except RagxError as error:
                self.failure = error
                raise

        self.connection.create_function(name, called, list(takes), returns)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing."""
        self.connection.begin()
        try:
            yield
        except BaseException:
            # After a failure of the file there is nothing left to roll back; what failed is what counts.
            with suppress(duckdb.Error):
                self.connection.rollback()
            raise
        with self._explained():
            self.connection.commit()

    def meta(self) -> dict[str, Any]:
        """What the index says of itself."""
        return {key: json.loads(value) for key, value in self.rows(_STORE.read_meta)}

    def set_meta(self, key: str, value: Any) -> None:
        self.run(_STORE.drop_meta, key=key)
        self.run(_STORE.add_meta, key=key, value=json.dumps(value))

    def checkpoint(self) -> None:
        """Brings everything into the file; no log is left."""
        with self._explained():
            self.connection.execute("CHECKPOINT")

    def close(self) -> None:
        # After Ctrl-C in a statement on several threads, close() waits until it would have ended.
        with suppress(duckdb.ConnectionException):  # closed before
            self.connection.interrupt()
        self.connection.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()
        # Rows are read when they are fetched, wherever that is.
        if isinstance(error, duckdb.Error):
            with self._explained():
                raise error

    def _explained(self) -> AbstractContextManager[None]:
        return explained(self.path.with_name(INDEX_NAME))


def logs(path: Path) -> list[Path]:
    """The files beside a database in which DuckDB keeps what is committed but not yet in it."""
    names = (path.name + ending for ending in (".wal", ".wal.checkpoint", ".wal.recovery"))
    return [log for name in names if (log := path.with_name(name)).exists()]


def check_links(folder: Path) -> None:
    """Refuses a symbolic link in the folder of an index: ragx makes none, and would write to whatever it leads to."""
    with suppress(FileNotFoundError, NotADirectoryError, PermissionError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_symlink():
                raise IndexForeign(f"{entry.path} is a symbolic link", f"remove it: rm {shlex.quote(entry.path)}")


def open_index(folder: Path, *, outdated: bool = False) -> Store:
    """Opens the published index of a `.ragx` folder read-only, or says why not and what to run.

    With `outdated` also one of an earlier data model, of which only `meta` and the vectors are sure to be as now.
    """
    check_links(folder)
    path = folder / INDEX_NAME
    before = _stat(path)
    if left := logs(path):
        raise IndexUnusable(f"{left[0]} was left by a program that opened the index for writing", "run: ragx index")
    store = _attach(path)
    try:
        if not (outdated and is_outdated(store)):
            check_schema(store)
        # A file that was cut off opens as long as its end is not needed, and a publish in between is no damage.
        if os.path.samestat(before, _stat(path)) and not store.value(_STORE.check_blocks, size=before.st_size):
            raise damaged(path)
    except BaseException:
        store.close()
        raise
    return store


def open_building(path: Path) -> Store:
    """Opens a file that is being built, as it is."""
    with explained(path.with_name(INDEX_NAME)):
        return Store(duckdb.connect(path, config=_SETTINGS), path)


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
    schema = _schema(store)
    if schema is None:
        raise IndexForeign(f"{store.path} is not an index of ragx", "move it away and run: ragx index")
    if is_outdated(store):
        raise IndexUnusable(
            f"{store.path} was written by an earlier version of ragx (schema {schema})", "run: ragx index"
        )
    if schema != SCHEMA:
        raise IndexUnusable(
            f"{store.path} was written by a newer version of ragx (schema {schema})", f"upgrade ragx, or {REBUILD}"
        )


def is_complete(store: Store) -> bool:
    """Whether the run that wrote this file came to its end; else it has no vectors and no similar edges yet."""
    return bool(store.meta().get("complete", True))


def check_complete(store: Store) -> None:
    """IndexUnusable where there is no graph, and no vector to be sure of."""
    if not is_complete(store):
        raise IndexUnusable(INCOMPLETE, FINISH)


def is_outdated(store: Store) -> bool:
    """Whether an earlier version of the data model wrote this file."""
    schema = _schema(store)
    return isinstance(schema, int) and schema < SCHEMA


def _schema(store: Store) -> Any:
    try:
        return store.meta().get("schema")
    except (duckdb.ProgrammingError, TypeError, ValueError):
        return None


def _stat(path: Path) -> os.stat_result:
    """The state of an index file that is one."""
    try:
        found = path.stat()
    except FileNotFoundError:
        raise IndexMissing(f"no index in {path.parent}", "run: ragx index") from None
    except OSError as error:
        raise IndexUnusable(f"{path} may not be read: {error.strerror}", "check its owner and mode") from error
    if not stat.S_ISREG(found.st_mode):
        what = "a folder" if stat.S_ISDIR(found.st_mode) else "no regular file"
        raise IndexForeign(f"{path} is {what}, not an index of ragx", "move it away and run: ragx index")
    return found


def _attach(path: Path) -> Store:
    # DuckDB gives a process that has a file open the same file again, by its path: after a publish, the old one.
    # An attached file is its connection's own.
    settings = _SETTINGS | {"temp_directory": f"{path}.tmp"}
    literal = str(path).replace("'", "''")
    with explained(path):
        connection = duckdb.connect(config=settings)
        try:
            connection.execute(f"ATTACH '{literal}' AS ragx (READ_ONLY)")
            connection.execute("USE ragx")
        except BaseException:
            connection.close()
            raise
    return Store(connection, path)
