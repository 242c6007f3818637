"""The file that a run builds beside the published one: not visible before it is whole, and nothing paid for is lost."""

import os
import shutil
from pathlib import Path

import duckdb

from ragx.store import INDEX_NAME, Store, create_building, open_building, statements, wal_path
from ragx.types import Progress

_INDEX = statements("index")


def leftovers(folder: Path) -> list[Path]:
    """Files of runs that did not end, oldest first."""
    return sorted(folder.glob("building*.duckdb"), key=lambda path: (path.stat().st_mtime_ns, path.name))


def start(folder: Path, base: Path | None, dimension: int) -> Store:
    """A file to build in: a copy of `base`, else empty."""
    for copy in folder.glob("building*.copy"):
        copy.unlink()
    path = next(path for number in range(10_000) if not (path := _path(folder, number)).exists())
    if base is None:
        return create_building(path, dimension)
    copy = path.with_suffix(".copy")
    shutil.copyfile(base, copy)
    os.replace(copy, path)
    return open_building(path)


def salvage(store: Store, path: Path, *, full: bool, progress: Progress) -> None:
    """Takes the vectors of a run that did not end and removes its file. A full build takes only a full build's."""
    take_vectors(store, path, only_full=full, progress=progress)
    remove(path)


def take_vectors(store: Store, path: Path, *, only_full: bool = False, progress: Progress) -> None:
    """Takes the vectors of another index file that this one lacks; an unreadable one is passed over with a warning."""
    try:
        _take(store, path, only_full)
    except duckdb.Error:
        progress.warn(f"{path.name} cannot be read: what was embedded in it is embedded again")


def _take(store: Store, path: Path, only_full: bool) -> None:
    literal = str(path).replace("'", "''")
    store.connection.execute(f"ATTACH '{literal}' AS other (READ_ONLY)")
    try:
        if not only_full or store.value(_INDEX.other_is_full) == "true":
            store.run(_INDEX.take_embeddings)
    finally:
        store.connection.execute("DETACH other")


def remove(path: Path) -> None:
    """Removes an index file and its log."""
    wal_path(path).unlink(missing_ok=True)
    path.unlink(missing_ok=True)


def publish(store: Store, folder: Path) -> None:
    """Closes the file and puts it in the place of the published one, in one step, on disk before it returns."""
    store.connection.execute("CHECKPOINT")
    store.close()
    # A program that opened it for writing would lock every reader out, or leave a log that the next reader replays.
    store.path.chmod(0o444)
    _sync(store.path)
    published = folder / INDEX_NAME
    wal_path(published).unlink(missing_ok=True)
    os.replace(store.path, published)
    wal_path(store.path).unlink(missing_ok=True)
    _sync(folder)


def _path(folder: Path, number: int) -> Path:
    return folder / f"building{number or ''}.duckdb"


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
