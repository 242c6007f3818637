"""Runs SQL that a user wrote: one statement that reads, from the index and nothing else, within limits."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Timer
from typing import Any

import duckdb

from ragx.errors import RagxError, UsageError
from ragx.store.failures import explained
from ragx.store.store import Store, open_index

_EXPLAIN = re.compile(
    r"(?:\s|--[^\n]*\n|/\*.*?\*/)*EXPLAIN\b\s*(?:ANALYZE\b)?\s*(?:\((?:ANALYZE|FORMAT)\b[^)]*\))?",
    re.IGNORECASE | re.DOTALL,
)
_FUNCTION = re.compile(r'"Function": "(\w+)"')
_PLACE = re.compile(r"\n+LINE (\d+): ")
_LONGEST_MESSAGE = 300

_EFFECTS = frozenset(
    {
        "CHECKPOINT",
        "DISABLE_LOGGING",
        "DISABLE_PROFILING",
        "ENABLE_LOGGING",
        "ENABLE_PROFILING",
        "FORCE_CHECKPOINT",
        "TRUNCATE_DUCKDB_LOGS",
    }
)
"""Table functions that a SELECT may call and that do something; two of them print to stdout, past Python."""


@contextmanager
def open_sandbox(folder: Path) -> Iterator[Store]:
    """The published index of a `.ragx` folder for SQL of users: no files, no network, no settings, little memory."""
    with TemporaryDirectory(prefix="ragx-") as spill, open_index(folder) as store:
        literal = spill.replace("'", "''")
        store.connection.execute(f"SET temp_directory = '{literal}'")
        store.script("sandbox")
        yield store


@contextmanager
def answering(store: Store, sql: str, given: Mapping[str, str], seconds: float) -> Iterator[duckdb.DuckDBPyConnection]:
    """Runs a SELECT or EXPLAIN and lends its result, to be fetched within; `given` are the values of its `$names`.

    UsageError: another statement or several, an error of SQL, or one that takes longer than `seconds`.
    """
    expired = Event()

    def expire() -> None:
        expired.set()
        store.connection.interrupt()

    timer = Timer(seconds, expire)
    timer.daemon = True
    try:
        with explained(store.path):
            try:
                statement = _one(sql)
                values = _values(statement, given)
                timer.start()
                _refuse_effects(store, sql, statement, values)
                yield store.connection.execute(statement, values)
            except duckdb.InterruptException as error:
                if expired.is_set():
                    raise UsageError(f"stopped after {seconds:g} seconds", "allow more with --timeout") from error
                raise
    except duckdb.InternalException:
        raise
    except duckdb.Error as error:
        raise store.failure or _condensed(error) from error
    finally:
        timer.cancel()


def _one(sql: str) -> duckdb.Statement:
    """The only statement of `sql`, if it reads."""
    found = duckdb.extract_statements(sql)
    if not found:
        raise UsageError("there is no SQL statement", 'try: ragx sql "FROM files"')
    if len(found) > 1:
        raise UsageError(f"one statement at a time, not {len(found)}")
    if found[0].type not in (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN):
        kind = str(found[0].type).rpartition(".")[2].replace("_", " ")
        raise UsageError(f"only SELECT and EXPLAIN are run, not {kind}: the index is read-only")
    return found[0]


def _values(statement: duckdb.Statement, given: Mapping[str, str]) -> dict[str, str]:
    wanted = statement.named_parameters
    if unknown := sorted(given.keys() - wanted):
        raise UsageError(f"the statement has no ${unknown[0]}")
    if missing := sorted(wanted - given.keys()):
        raise UsageError(f"${missing[0]} needs a value: {missing[0]}=VALUE")
    return dict(given)


def _refuse_effects(store: Store, sql: str, statement: duckdb.Statement, values: dict[str, str]) -> None:
    """A statement is what its plan does: `query()` can hide a function from whoever reads only the text."""
    reading = sql
    if statement.type == duckdb.StatementType.EXPLAIN:
        explain = _EXPLAIN.match(sql)
        reading = sql[explain.end() :] if explain else ""
        if [part.type for part in duckdb.extract_statements(reading)] != [duckdb.StatementType.SELECT]:
            raise UsageError("only a SELECT can be explained: the index is read-only")
    plan: list[tuple[Any, ...]] = store.connection.execute(f"EXPLAIN (FORMAT json) {reading}", values).fetchall()
    if effects := sorted(_EFFECTS.intersection(*[_FUNCTION.findall(text) for *_, text in plan])):
        raise UsageError(f"{effects[0].lower()}() does not read: only what reads is run")


def _condensed(error: duckdb.Error) -> RagxError:
    """What DuckDB says of a statement, without the drawing of its place."""
    message, *place = _PLACE.split(str(error), maxsplit=1)
    message = " ".join(message.split())
    if len(message) > _LONGEST_MESSAGE:
        message = message[: _LONGEST_MESSAGE - 1] + "…"
    return UsageError(f"{message} (line {place[0]})" if place and place[0] != "1" else message)
