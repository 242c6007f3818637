"""An id, a path, or a path and a line become chunks of the index, or an error with the nearest name."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ragx.errors import UsageError
from ragx.store import Store, statements

_INSPECT = statements("inspect")

# As results print it: with the last line too.
_LINE = re.compile(r"(.+):(\d{1,15})(?:-\d{1,15})?", re.DOTALL)

Spell = Callable[[str], Sequence[str]]
"""How the index may spell a path that somebody typed, likeliest first."""


@dataclass(frozen=True)
class Target:
    """A file, or one chunk of it: `chunk_id` is None for a whole file, `chunk_ids` are all that is meant, in order."""

    file: str
    chunk_id: int | None
    chunk_ids: tuple[int, ...]


def find(store: Store, given: str, spell: Spell) -> Target:
    """What `given` names: a chunk's id, a path, or PATH:LINE, which is the chunk that holds the line."""
    if given.isascii() and given.isdigit():
        rows = store.rows(_INSPECT.find_chunk, typed=given)
        if not rows:
            nearest = store.value(_INSPECT.nearest_chunk, typed=given[:40])
            raise UsageError(f"no chunk {given} in the index", f"nearest: {nearest}" if nearest is not None else "")
        ((chunk_id, file),) = rows
        return Target(file, chunk_id, (chunk_id,))
    if row := find_file(store, given, spell):
        return Target(row[1], None, file_chunks(store, row[0]))
    named = _LINE.fullmatch(given)
    if named and (row := find_file(store, named[1], spell)):
        chunk_id = _chunk_at(store, row[0], row[1], int(named[2]), row[-1])
        return Target(row[1], chunk_id, (chunk_id,))
    raise unknown_file(store, named[1] if named else given, spell)


def one_chunk(store: Store, given: str, spell: Spell) -> int:
    """The id of the one chunk that `given` names."""
    target = find(store, given, spell)
    if len(target.chunk_ids) != 1:
        raise UsageError(
            f"{target.file} has {len(target.chunk_ids)} chunks: name one by its id or a line, as {target.file}:1",
            "ragx inspect file lists them",
        )
    return target.chunk_ids[0]


def find_file(store: Store, given: str, spell: Spell) -> tuple[Any, ...] | None:
    """The row of a file by any spelling."""
    for path in spell(given):
        for row in store.rows(_INSPECT.find_file, path=_clean(path)):
            return row
    return None


def file_chunks(store: Store, file_id: int) -> tuple[int, ...]:
    """The ids of a file's chunks, in order."""
    return tuple(row[0] for row in store.rows(_INSPECT.list_file_chunks, file_id=file_id))


def unknown_file(store: Store, given: str, spell: Spell) -> UsageError:
    """The error that names the path that is most like `given`."""
    nearest = store.value(_INSPECT.nearest_file, path=_clean(spell(given)[0]))
    return UsageError(f"no file {_clean(given)} in the index", f"nearest: {nearest}" if nearest is not None else "")


def _chunk_at(store: Store, file_id: int, file: str, line: int, skipped: str) -> int:
    chunk_id: int | None = store.value(_INSPECT.find_line, file_id=file_id, line=line)
    if chunk_id is not None:
        return chunk_id
    near = store.rows(_INSPECT.nearest_line, file_id=file_id, line=line)
    if not near:
        raise UsageError(f"{file} has no chunks{f': {skipped}' if skipped else ''}")
    raise UsageError(f"no chunk holds line {line} of {file}", f"nearest: {file}:{near[0][0]}-{near[0][1]}")


def _clean(text: str) -> str:
    """What an argument that is not UTF-8 is to DuckDB."""
    return text.encode("utf-8", "replace").decode()
