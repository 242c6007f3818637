"""Reads `sql/`: a file is either a script or named statements, and a name is the verb that runs it."""

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)
_PARAMETER = re.compile(r"\$(\w+)")


@dataclass(frozen=True)
class Statement:
    """One SQL statement and the names of its parameters."""

    name: str
    sql: str
    parameters: frozenset[str]

    def with_values(self, values: dict[str, Any]) -> str:
        """The statement with values (booleans, numbers, text) where its parameters stand."""
        return _PARAMETER.sub(lambda found: _literal(values[found[1]]), self.sql)


def _literal(value: bool | int | float | str) -> str:
    if isinstance(value, float):
        return f"'{value!r}'::DOUBLE"  # a bare 0.1 is a DECIMAL
    return "'{}'".format(value.replace("'", "''")) if isinstance(value, str) else str(value)


def folder() -> Traversable | Path:
    """`sql/`: in the installed package, or beside it in a checkout."""
    packaged = files("ragx") / "sql"
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / "sql"


def script(name: str) -> str:
    """The text of a script of several statements."""
    return (folder() / f"{name}.sql").read_text(encoding="utf-8")


@cache
def statements(name: str) -> SimpleNamespace:
    """The statements of a file as attributes."""
    parts = _NAME.split(script(name))[1:]
    found = {
        title: Statement(title, body.strip(), frozenset(_PARAMETER.findall(body)))
        for title, body in zip(parts[::2], parts[1::2], strict=True)
    }
    if len(found) != len(parts) // 2:
        raise ValueError(f"a name stands twice in {name}.sql")
    return SimpleNamespace(**found)
