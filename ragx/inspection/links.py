"""What a file links to and what links to it, with the lines that say so; in a fixed order."""

from dataclasses import dataclass
from typing import Any

from ragx.inspection.places import Spell, find_file, unknown_file
from ragx.store import Store, statements

_INSPECT = statements("inspect")


@dataclass(frozen=True)
class End:
    """Where a link leads: a chunk of a file, or an empty file, which has none."""

    file: str
    chunk_id: int | None
    line_start: int | None
    line_end: int | None


@dataclass(frozen=True)
class Link:
    """A link as written on a line of `file`. `unresolved`: it should lead to a file of the corpus, and does not."""

    file: str
    line: int
    chunk_id: int
    kind: str
    target: str
    heading: str
    unresolved: bool
    to: End | None


@dataclass(frozen=True)
class FileLinks:
    """The links of a file, and those of other files that lead to it; each by place."""

    path: str
    links: tuple[Link, ...]
    backlinks: tuple[Link, ...]


def file_links(store: Store, given: str, spell: Spell) -> FileLinks:
    """The links from and to a file; UsageError with the nearest path where the index has no such file."""
    row = find_file(store, given, spell)
    if row is None:
        raise unknown_file(store, given, spell)
    path: str = row[1]
    found = tuple(_link(row) for row in store.rows(_INSPECT.list_links, path=path))
    return FileLinks(
        path,
        links=tuple(link for link in found if link.file == path),
        backlinks=tuple(link for link in found if link.file != path),
    )


def _link(row: tuple[Any, ...]) -> Link:
    path, line, chunk_id, kind, target, heading, unresolved, *end = row
    return Link(path, line, chunk_id, kind, target, heading, unresolved, None if end[0] is None else End(*end))
