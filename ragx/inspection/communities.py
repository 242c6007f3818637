"""Communities of the graph: how large, in which files, and what they are about."""

from dataclasses import dataclass

from ragx.errors import UsageError
from ragx.inspection.chunks import Entry, entries
from ragx.store import Store, statements

_INSPECT = statements("inspect")

_FILES = 5


@dataclass(frozen=True)
class Community:
    """A community of `size` chunks. `files`: those with the most chunks, and how many; `terms`: most telling first.

    `central`: the chunk with the strongest edges inside it; `content_hash`: the same as long as its texts are; `title`
    and `summary`: a chat model's, empty where none was asked.
    """

    number: int
    size: int
    name: str
    title: str
    summary: str
    terms: tuple[str, ...]
    central: Entry
    content_hash: str
    file_count: int
    files: tuple[tuple[str, int], ...]


def communities(store: Store) -> tuple[Community, ...]:
    """All communities, largest first."""
    rows = store.rows(_INSPECT.list_communities, most=_FILES)
    central = entries(store, (chunk_id for *_, chunk_id, _, _, _, _ in rows))
    return tuple(
        Community(
            number, size, name, title, summary, tuple(terms), central[chunk_id], content_hash, files,
            tuple(zip(paths, counts, strict=True)),
        )
        for number, size, name, title, summary, terms, chunk_id, content_hash, files, paths, counts in rows
    )  # fmt: skip


def community(store: Store, number: int) -> Community:
    """One community; UsageError that says which there are where it is not one."""
    found = communities(store)
    for each in found:
        if each.number == number:
            return each
    there = f"there are 0 to {found[-1].number}" if found else "there are none"
    raise UsageError(f"no community {number} in the index", there)


def members(store: Store, number: int) -> tuple[Entry, ...]:
    """The chunks of a community, those that hold it together most first."""
    rows = store.rows(_INSPECT.list_members, community=number)
    return tuple(entries(store, (row[0] for row in rows)).values())
