"""The cookbook: statements in `sql/explore` that answer common questions about a corpus, each under its name."""

import re
from dataclasses import dataclass
from functools import cache

from ragx.store.statements import folder

_HEAD = re.compile(r"-- name: (\w+)\n-- (.+)\n((?:-- parameter: \w+ =.*\n)*)")
_PARAMETER = re.compile(r"-- parameter: (\w+) =(.*)")


@dataclass(frozen=True)
class Recipe:
    """A statement, what it answers, and its parameters with their defaults; None: a value must be given."""

    name: str
    what: str
    parameters: dict[str, str | None]
    sql: str


@cache
def cookbook() -> dict[str, Recipe]:
    """All recipes by name, in alphabetical order."""
    entries = (entry for entry in (folder() / "explore").iterdir() if entry.name.endswith(".sql"))
    return {
        entry.name.removesuffix(".sql"): _recipe(entry.name.removesuffix(".sql"), entry.read_text(encoding="utf-8"))
        for entry in sorted(entries, key=lambda entry: entry.name)
    }


def _recipe(name: str, text: str) -> Recipe:
    head = _HEAD.match(text)
    if head is None or head[1] != name:
        raise ValueError(f"{name}.sql does not begin with its name and a sentence")
    parameters = {key: value.strip() or None for key, value in _PARAMETER.findall(head[3])}
    return Recipe(name, head[2], parameters, text)
