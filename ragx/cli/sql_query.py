"""`ragx sql`: one statement that reads, in a sandbox; the result as a table, as text for programs, or as Parquet."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from ragx.cli.common import Directory, Json, OpenCorpus, Quiet, emit_json, here, open_corpus, talk, warn_incomplete
from ragx.errors import UsageError

if TYPE_CHECKING:
    import duckdb

_TABLE_ROWS = 1000
_BATCH_ROWS = 1000
_LIST = "ragx sql --list"


class Format(StrEnum):
    table = "table"
    csv = "csv"
    json = "json"
    jsonl = "jsonl"
    markdown = "markdown"
    parquet = "parquet"


_SUFFIXES = {
    ".csv": Format.csv,
    ".json": Format.json,
    ".jsonl": Format.jsonl,
    ".ndjson": Format.jsonl,
    ".md": Format.markdown,
    ".parquet": Format.parquet,
}


def sql(
    statement: Annotated[
        str | None,
        typer.Argument(metavar="SQL|@NAME|-", help="A SELECT, an entry of the cookbook, or - to read stdin."),
    ] = None,
    values: Annotated[
        list[str] | None, typer.Argument(metavar="KEY=VALUE...", help="Values of the statement's $keys.")
    ] = None,
    list_recipes: Annotated[bool, typer.Option("--list", help="List the cookbook.")] = False,
    show: Annotated[str | None, typer.Option(metavar="@NAME", help="Print an entry of the cookbook.")] = None,
    form: Annotated[
        Format | None, typer.Option("--format", help="How to print the rows.  [default: by -o's suffix, else table]")
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write to FILE.")] = None,
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Most rows.  [default: 1000 in a table, else all]")
    ] = None,
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", min=0.1, max=86400, help="Stop a statement after so long.")
    ] = 30,
    json: Json = False,
    directory: Directory = None,
    quiet: Quiet = False,
) -> None:
    """Ask the index with read-only SQL."""
    if list_recipes:
        _list(json)
        return
    if show is not None:
        print(_recipe(show).sql.rstrip("\n"))
        return
    if statement is None:
        raise UsageError("there is nothing to run", _LIST)
    chosen = _format(form, output, as_json=json)
    text, given = _statement(statement, values or [])
    corpus = open_corpus(directory)

    from ragx.search.embedding import add_embed, query_embedder
    from ragx.store import answering, open_sandbox

    with open_sandbox(corpus.index_dir) as store:
        warn_incomplete(store)
        meta = store.meta()  # not in the function: it runs while the connection is busy
        add_embed(store, cache(lambda: query_embedder(meta, corpus.config, corpus.root, talk)))
        with answering(store, text, given, timeout) as result:
            if chosen == Format.parquet:
                found = _parquet(result, output, limit)
            else:
                found = _text(result, chosen, output, limit, corpus, here(directory))
    if not found:
        talk("no rows")
        raise typer.Exit(1)


def _list(as_json: bool) -> None:
    from ragx.store import cookbook

    recipes = cookbook().values()
    if as_json:
        entries = [{"name": one.name, "what": one.what, "parameters": one.parameters} for one in recipes]
        emit_json({"schema": "ragx.cookbook.v1", "recipes": entries})
        return
    for one in recipes:
        parameters = "".join(f" {key}={value or '...'}" for key, value in one.parameters.items())
        print(f"@{one.name}{parameters}\n    {one.what}")


def _recipe(name: str) -> Any:
    from ragx.store import cookbook

    found = cookbook().get(name.removeprefix("@"))
    if found is None:
        raise UsageError(f"the cookbook has no {name}", _LIST)
    return found


def _statement(given: str, values: Sequence[str]) -> tuple[str, dict[str, str]]:
    """The SQL to run and the values of its parameters."""
    parameters = {}
    for value in values:
        key, equals, rest = value.partition("=")
        if not equals:
            raise UsageError(f"{value} is not KEY=VALUE; quote the statement as one argument", "ragx sql --help")
        parameters[key] = rest
    if given == "-":
        return sys.stdin.buffer.read().decode("utf-8", "replace"), parameters
    if not given.startswith("@"):
        return given, parameters
    recipe = _recipe(given)
    known = ", ".join(recipe.parameters) or "none"
    if unknown := [key for key in parameters if key not in recipe.parameters]:
        raise UsageError(f"{given} has no parameter {unknown[0]} (it has: {known})", f"ragx sql --show {given}")
    parameters = recipe.parameters | parameters
    if missing := [key for key, value in parameters.items() if value is None]:
        raise UsageError(f"{given} needs a value: {missing[0]}=VALUE", f"ragx sql --show {given}")
    return recipe.sql, parameters


def _format(form: Format | None, output: Path | None, *, as_json: bool) -> Format:
    if as_json and form not in (None, Format.json):
        raise UsageError(f"--json and --format {form} exclude each other", "ragx sql --help")
    if form is None:
        form = Format.json if as_json else _SUFFIXES.get(output.suffix.lower() if output else "", Format.table)
    if form == Format.parquet and output is None and sys.stdout.isatty():
        raise UsageError("Parquet is nothing for a terminal", "give it a file: -o FILE.parquet")
    return form


def _text(
    result: "duckdb.DuckDBPyConnection",
    form: Format,
    output: Path | None,
    limit: int | None,
    corpus: OpenCorpus,
    start: Path,
) -> bool:
    """Writes the rows; says whether there were any."""
    from ragx.render import rows, terminal

    view = terminal.View() if output else terminal.view(sys.stdout, corpus.root, start)
    columns = rows.columns(result.description or [])
    taken = rows.Rows(_fetched(result), _TABLE_ROWS if limit is None and form == Format.table else limit)
    with _sink(output) as sink:
        if form == Format.json:
            emit_json(rows.sql_document(columns, taken), sink)
        else:
            for line in rows.LINES[form](columns, taken, view):
                print(line, file=sink)
    if taken.cut and form != Format.json:
        talk(f"note: only the first {limit or _TABLE_ROWS:,} rows; more with --limit N")
    return not taken.empty


def _fetched(result: "duckdb.DuckDBPyConnection") -> Iterator[tuple[Any, ...]]:
    while batch := result.fetchmany(_BATCH_ROWS):
        yield from batch


def _parquet(result: "duckdb.DuckDBPyConnection", output: Path | None, limit: int | None) -> bool:
    from ragx.export import BATCH_ROWS, write_parquet

    if limit is not None:
        raise UsageError("--limit is for text; for Parquet, put a LIMIT into the statement")
    reader = result.to_arrow_reader(BATCH_ROWS)
    if output is None:
        return write_parquet(reader, sys.stdout.buffer) > 0
    with _aside(output) as path:
        return write_parquet(reader, str(path)) > 0


@contextmanager
def _sink(output: Path | None) -> Iterator[TextIO]:
    if output is None:
        yield sys.stdout
        return
    with _aside(output) as path, path.open("w", encoding="utf-8", errors="backslashreplace") as file:
        yield file


@contextmanager
def _aside(output: Path) -> Iterator[Path]:
    """A file to write that becomes `output` when it is whole, and is gone when it is not."""
    from ragx.store import room_in

    path = output.with_name(f".{output.name}.tmp-{os.getpid()}")
    try:
        with room_in(output.parent):
            yield path
        os.replace(path, output)
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError) as error:
        raise UsageError(f"cannot write {output}: {error.strerror}") from error
    finally:
        with suppress(FileNotFoundError, NotADirectoryError):
            path.unlink()


def register(app: typer.Typer) -> None:
    """Adds `sql` to the command line."""
    app.command("sql")(sql)
