"""Turns the errors of DuckDB that a user can mend into one line and a remedy; all others stay as they are."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from ragx.errors import DiskFull, IndexForeign, IndexLocked, IndexUnusable, RagxError

_FULL = ("No space left on device", "Disk quota exceeded", "File too large")
_FULL_ERRNO = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_DAMAGED = (
    "not a valid DuckDB database file",
    "Corrupt database file",
    "Could not read enough bytes",
    "Is a directory",
    "while replaying WAL",
    # DuckDB takes a file that begins as one of SQLite for that.
    "sqlite_scanner",
)
REBUILD = "run: ragx index --full"


@contextmanager
def explained(index: Path) -> Iterator[None]:
    """Within, failures to read or write a database in the folder of `index` are errors that name `index`."""
    try:
        yield
    except duckdb.Error as error:
        if str(error).startswith("KeyboardInterrupt"):
            raise KeyboardInterrupt from error
        meaning = _meaning(index, error)
        if meaning is None:
            raise
        raise meaning from error
    except RuntimeError as error:
        # DuckDB reports Ctrl-C in two ways.
        if isinstance(error.__cause__, KeyboardInterrupt):
            raise KeyboardInterrupt from error
        raise


@contextmanager
def room_in(folder: Path) -> Iterator[None]:
    """Within, where nothing else is written but `folder`, a full disk is an error that names it."""
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL_ERRNO:
            raise
        raise _disk_full(folder) from error


def damaged(index: Path) -> IndexUnusable:
    """What to say of a file that DuckDB cannot make sense of."""
    return IndexUnusable(f"{index} is damaged or not a DuckDB file", REBUILD)


def _meaning(index: Path, error: duckdb.Error) -> RagxError | None:
    # The path may hold any words.
    text = str(error).replace(str(index.parent), "")
    if any(words in text for words in _FULL):
        return _disk_full(index.parent)
    if "Could not set lock" in text or "Unique file handle conflict" in text:
        return IndexLocked(f"{index} is open for writing in another program", "close it there and try again")
    if "Cannot open encrypted database" in text:
        return IndexForeign(
            f"{index} is an encrypted database, not an index of ragx", "move it away and run: ragx index"
        )
    if not isinstance(error, (duckdb.IOException, duckdb.SerializationException, duckdb.FatalException)):
        return None
    if "Permission denied" in text:
        return IndexUnusable(f"{index} may not be read: permission denied", "check its owner and mode")
    if "database file with version number" in text:
        return IndexUnusable(f"{index} was written by another version of DuckDB", REBUILD)
    if isinstance(error, duckdb.SerializationException) or any(words in text for words in _DAMAGED):
        return damaged(index)
    reason = text.splitlines()[0].partition(" Error: ")[2]
    return IndexUnusable(f"{index} cannot be read: {reason}", f"try again, or {REBUILD}")


def _disk_full(folder: Path) -> DiskFull:
    return DiskFull(f"the disk is full: no room in {folder.absolute()}", "free some space and run it again")
