"""Communities of the graph: how large, in which files, and the terms that tell one from the others."""

from dataclasses import dataclass

from ragx.errors import UsageError
from ragx.inspection.chunks import Entry, entries
from ragx.store import Store, statements
from ragx.text import is_stop_word

_INSPECT = statements("inspect")
_KEYWORD = statements("keyword")

_FILES = 5
_TERMS = 8

# Function words rank high, as they are in every chunk, and are left out by the languages' lists.
_TERMS_READ = 200


@dataclass(frozen=True)
class Community:
    """A community of `size` chunks. `files`: those with the most chunks, and how many; `terms`: most telling first."""

    number: int
    size: int
    file_count: int
    files: tuple[tuple[str, int], ...]
    terms: tuple[str, ...]


def communities(store: Store) -> tuple[Community, ...]:
    """All communities, largest first."""
    languages = [row[0] for row in store.rows(_KEYWORD.corpus_languages)]
    told = {
        number: [form for form in forms if not is_stop_word(form, languages)][:_TERMS]
        for number, forms in store.rows(_INSPECT.rank_terms, most=_TERMS_READ)
    }
    return tuple(
        Community(number, size, file_count, tuple(zip(paths, counts, strict=True)), tuple(told.get(number, ())))
        for number, size, file_count, paths, counts in store.rows(_INSPECT.list_communities, most=_FILES)
    )


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
