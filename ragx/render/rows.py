"""The rows of a SQL result as text: aligned for a person, exact for a program."""

import csv
import io
import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from itertools import islice
from typing import Any

from rich.cells import cell_len

from ragx.render.snippet import clipped
from ragx.render.terminal import View, json_line, visible

Row = Sequence[Any]

_WIDEST_CELL = 60
_NULL = "NULL"


@dataclass(frozen=True)
class Column:
    """A column of a result; a name that stands twice there has got a number."""

    name: str
    type: str


class Rows:
    """The first `limit` rows of a result, one at a time; knows after the last whether there were any or more."""

    def __init__(self, rows: Iterable[Row], limit: int | None) -> None:
        self._rows = rows
        self._limit = limit
        self.empty = True
        self.cut = False

    def __iter__(self) -> Iterator[Row]:
        rows = iter(self._rows)
        for row in islice(rows, self._limit):
            self.empty = False
            yield row
        self.cut = self._limit is not None and next(rows, None) is not None


def columns(description: Iterable[Sequence[Any]]) -> list[Column]:
    """The columns of a DB-API description."""
    found: list[Column] = []
    names: set[str] = set()
    for given, kind, *_ in description:
        name, number = given, 0
        while name in names:
            number += 1
            name = f"{given}_{number}"
        names.add(name)
        found.append(Column(name, str(kind)))
    return found


def table_lines(columns: Sequence[Column], rows: Iterable[Row], view: View) -> Iterator[str]:
    """Aligned columns, long cells cut, numbers to the right; a plan as DuckDB draws it; nothing without a row."""
    if [column.name for column in columns] == ["explain_key", "explain_value"]:
        yield from (visible(line) for _, plan in rows for line in plan.rstrip("\n").split("\n"))
        return
    values = list(rows)
    cells = [[_shown(value) for value in row] for row in values]
    if not cells:
        return
    names = [clipped(visible(column.name), _WIDEST_CELL) for column in columns]
    widths = [max(cell_len(cell) for cell in column) for column in zip(names, *cells, strict=True)]
    right = [_numeric(column) for column in columns]
    yield view.bold(_aligned(names, widths, right))
    yield view.dim("  ".join("-" * width for width in widths))
    for row in cells:
        yield _aligned(row, widths, right)


def markdown_lines(columns: Sequence[Column], rows: Iterable[Row], view: View) -> Iterator[str]:
    """A table of Markdown, every cell whole on its line."""
    yield _markdown([column.name for column in columns])
    yield _markdown(["---:" if _numeric(column) else "---" for column in columns])
    for row in rows:
        yield _markdown([_NULL if value is None else _text(value) for value in row])


def csv_lines(columns: Sequence[Column], rows: Iterable[Row], view: View) -> Iterator[str]:
    """RFC 4180 with plain line ends, NULL as nothing, nested values as JSON; on a terminal nothing that it obeys."""
    yield _csv([visible(column.name) if view.terminal else column.name for column in columns])
    for row in rows:
        cells = ["" if value is None else _text(value) for value in row]
        yield _csv([visible(cell) for cell in cells] if view.terminal else cells)


def jsonl_lines(columns: Sequence[Column], rows: Iterable[Row], view: View) -> Iterator[str]:
    """One object a row."""
    for row in rows:
        yield json_line(_object(columns, row))


LINES: dict[str, Callable[[Sequence[Column], Iterable[Row], View], Iterator[str]]] = {
    "table": table_lines,
    "csv": csv_lines,
    "jsonl": jsonl_lines,
    "markdown": markdown_lines,
}


def sql_document(columns: Sequence[Column], rows: Rows) -> dict[str, Any]:
    """`ragx.sql.v1`: the columns with their types, and one object a row."""
    objects = [_object(columns, row) for row in rows]
    return {
        "schema": "ragx.sql.v1",
        "columns": [{"name": column.name, "type": column.type} for column in columns],
        "rows": objects,
        "truncated": rows.cut,
    }


def _object(columns: Sequence[Column], row: Row) -> dict[str, Any]:
    return {column.name: _plain(value) for column, value in zip(columns, row, strict=True)}


def _plain(value: Any) -> Any:
    """A value as JSON has it: no NaN, times in ISO 8601, bytes in hexadecimal."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, (float, Decimal)):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    return str(value)


def _text(value: Any) -> str:
    """A value exactly."""
    if isinstance(value, (float, Decimal, str)):
        return str(value)
    plain = _plain(value)
    return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)


def _shown(value: Any) -> str:
    """A value at a glance."""
    if value is None:
        return _NULL
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, (list, tuple)):
        # More than this of a vector does not fit.
        whole = ", ".join(_shown(part) for part in value[:_WIDEST_CELL])
    else:
        whole = _text(value)
    return clipped(visible(whole[: 4 * _WIDEST_CELL]), _WIDEST_CELL)


def _numeric(column: Column) -> bool:
    return column.type.endswith(("INT", "INTEGER", "FLOAT", "DOUBLE")) or column.type.startswith("DECIMAL")


def _aligned(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = (
        " " * (width - cell_len(cell)) + cell if flush else cell + " " * (width - cell_len(cell))
        for cell, width, flush in zip(cells, widths, right, strict=True)
    )
    return "  ".join(padded).rstrip()


def _markdown(cells: Sequence[str]) -> str:
    return f"| {' | '.join(visible(cell.replace(chr(10), ' ')).replace('|', chr(92) + '|') for cell in cells)} |"


def _csv(cells: Sequence[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(cells)
    return line.getvalue()
