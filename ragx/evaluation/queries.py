"""Queries with the files or lines that answer them: read from JSONL, held against an index, found in a ranking."""

import posixpath
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragx.errors import UsageError
from ragx.parsing import from_json

_RELEVANT = ("relevant", "relevant_files")
_AT_LINE = re.compile(r"(.+):(\d+)")


@dataclass(frozen=True)
class JudgedQuery:
    """A query and what answers it, as written: `path` or `path:line`. `line` is where the query itself stands."""

    line: int
    query: str
    relevant: tuple[str, ...]
    id: str = ""


@dataclass(frozen=True)
class Item:
    """Something that answers a query: a file, or the passage that holds a line of it."""

    file: str
    line: int | None = None

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Passage:
    """Where a chunk stands."""

    file: str
    line_start: int
    line_end: int
    headings: tuple[str, ...] = ()


def read_queries(path: Path) -> tuple[JudgedQuery, ...]:
    """The queries of a JSONL file; UsageError names the first line that is none."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    queries = []
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if line.strip():
            try:
                queries.append(_query(number, line))
            except ValueError as error:
                raise UsageError(f"{path}:{number}: {error}", _example()) from None
    if not queries:
        raise UsageError(f"{path} holds no query", _example())
    return tuple(queries)


def _query(number: int, line: bytes) -> JudgedQuery:
    try:
        entry: Any = from_json(line.decode())
    except UnicodeDecodeError:
        raise ValueError("not UTF-8") from None
    except ValueError as error:
        raise ValueError(f"not JSON ({error})") from None
    if not isinstance(entry, dict):
        raise ValueError("not a JSON object")
    query = entry.get("query")
    if not isinstance(query, str) or not query.strip():
        raise ValueError('"query" must be a text')
    named = [key for key in _RELEVANT if key in entry]
    if len(named) != 1:
        raise ValueError(f'{"both" if named else "neither"} of "relevant" and "relevant_files"')
    relevant = entry[named[0]]
    if not isinstance(relevant, list) or not all(isinstance(name, str) and name for name in relevant):
        raise ValueError(f'"{named[0]}" must be a list of paths')
    if not relevant:
        raise ValueError(f'"{named[0]}" is empty')
    return JudgedQuery(number, query, tuple(relevant), str(entry.get("id", "")))


def _example() -> str:
    return 'a line looks like {"query": "how are backups made?", "relevant": ["ops/backup.md"]}'


class Judge:
    """Tells which relevant items an index holds."""

    def __init__(self, passages: Iterable[Passage]) -> None:
        self._lines: dict[str, list[tuple[int, int]]] = {}
        for passage in passages:
            self._lines.setdefault(passage.file, []).append((passage.line_start, passage.line_end))

    def items(self, names: Iterable[str]) -> tuple[tuple[Item, ...], tuple[str, ...]]:
        """What `names` stand for, each once, and the names that stand for nothing in the index."""
        found: dict[Item, None] = {}
        unindexed = []
        for name in names:
            item = self._item(name)
            if item is None:
                unindexed.append(name)
            else:
                found[item] = None
        return tuple(found), tuple(unindexed)

    def _item(self, name: str) -> Item | None:
        for path in (name, posixpath.normpath(name)):
            if path in self._lines:
                return Item(path)
            if (at := _AT_LINE.fullmatch(path)) and at[1] in self._lines:
                line = int(at[2])
                return Item(at[1], line) if any(a <= line <= b for a, b in self._lines[at[1]]) else None
        return None


def only_files(items: Iterable[Item]) -> bool:
    """Whether files are ranked; where a line is asked for, passages are."""
    return all(item.line is None for item in items)


def hit_ranks(items: Sequence[Item], ranked: Iterable[Passage], depth: int) -> tuple[int, ...]:
    """The ranks at which `items` are found in the first `depth`, ascending, from 1.

    An item is found by the first passage that holds its line or stands in its file; items that one passage finds take a
    rank each.
    """
    missing = list(items)
    ranks: list[int] = []
    place = 0
    for passage in ranked:
        if place >= depth or not missing:
            break
        found = [item for item in missing if _holds(passage, item)]
        ranks += range(place + 1, place + 1 + len(found))
        place += max(1, len(found))
        missing = [item for item in missing if item not in found]
    return tuple(rank for rank in ranks if rank <= depth)


def _holds(passage: Passage, item: Item) -> bool:
    return passage.file == item.file and (item.line is None or passage.line_start <= item.line <= passage.line_end)
