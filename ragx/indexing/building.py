"""The file that a run builds beside the index: nothing is visible before it is whole, nothing paid for is lost."""

import os
import re
import shutil
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import duckdb

from ragx.errors import IndexUnusable, RagxError
from ragx.store import (
    INDEX_NAME,
    Statement,
    Store,
    create_building,
    explained,
    logs,
    open_building,
    open_index,
    statements,
)
from ragx.types import Progress

_INDEX = statements("index")
_GRAPH = statements("graph")

_ANEW = "building-full"
_HEADERS = 3 * 4096
_TORN = re.compile(r"Corrupt WAL file: entry at byte position (\d+)")
_ENTRY_HEADER = 16


def leftovers(folder: Path) -> list[Path]:
    """Files of runs that did not end, oldest first, writable again."""
    found = [path for path in folder.glob("building*.duckdb") if path.is_file()]
    for path in found:
        path.chmod(0o644)
    return sorted(found, key=lambda path: (path.stat().st_mtime_ns, path.name))


def identities(folder: Path) -> list[dict[str, Any]]:
    """What the index and the files of interrupted runs say of their embedding model; unreadable ones say nothing."""
    found = []
    for opener in (
        partial(open_index, folder, outdated=True),
        *(partial(open_building, path) for path in leftovers(folder)),
    ):
        with suppress(RagxError, duckdb.Error), opener() as store:
            if identity := store.meta().get("embedder"):
                found.append(identity)
    return found


def start(folder: Path, base: Path | None, dimension: int, *, anew: bool) -> Store:
    """A file to build in: a copy of `base`, else empty. Its name says whether all its vectors are made `anew`."""
    names = (f"{_ANEW if anew else 'building'}{number or ''}.duckdb" for number in range(10_000))
    path = next(path for name in names if not (path := folder / name).exists())
    remove(path)
    if base is None:
        return create_building(path, dimension)
    copy = path.with_suffix(".copy")
    try:
        shutil.copyfile(base, copy)
    except OSError:
        copy.unlink(missing_ok=True)  # half a copy would keep the disk full
        raise
    os.replace(copy, path)
    return open_building(path)


def salvage(store: Store, interrupted: list[Path], *, anew: bool, progress: Progress) -> None:
    """Takes the vectors of runs that did not end, and the titles of their communities.

    A run that makes all vectors anew takes only those that another such run made, whose file outlives other runs.
    """
    for path in interrupted:
        made_anew = path.name.startswith(_ANEW)
        take_titles(store, path)
        if made_anew or not anew:
            take_vectors(store, path, progress=progress)
        if made_anew == anew:
            remove(path)


def take_vectors(store: Store, path: Path, *, progress: Progress) -> None:
    """Takes the vectors of another index file that this one lacks; warns of one that cannot be read."""
    try:
        _take(store, path, _INDEX.take_embeddings, _INDEX.take_subchunk_embeddings)
    except IndexUnusable:
        if path.stat().st_size > _HEADERS:
            progress.warn(f"{path.name} cannot be read: what was embedded in it is embedded again")


def take_titles(store: Store, path: Path) -> None:
    """Takes the titles of communities of another index file; what cannot be read has none."""
    with suppress(IndexUnusable):
        _take(store, path, _GRAPH.take_titles)


def _take(store: Store, path: Path, *statements: Statement) -> None:
    """Takes rows of another index file, as far as it has such tables; IndexUnusable: it cannot be read."""
    try:
        with explained(path):
            _attach(store, path)
            try:
                for statement in statements:
                    store.run(statement)
            finally:
                with suppress(duckdb.Error):
                    store.connection.execute("DETACH other")
    except (duckdb.CatalogException, duckdb.BinderException):
        pass  # ended before it had tables, or is of an earlier version


def _attach(store: Store, path: Path) -> None:
    """Attaches an index file as `other`, with all that its log holds."""
    literal = str(path).replace("'", "''")
    # DuckDB writes the indexes that a log creates while it replays it.
    attach = f"ATTACH '{literal}' AS other{'' if logs(path) else ' (READ_ONLY)'}"
    try:
        store.connection.execute(attach)
    except duckdb.IOException as error:
        torn = _TORN.search(str(error))
        if torn is None:
            raise
        # Where the power failed, garbage may follow what was committed. The position is behind size and checksum.
        os.truncate(logs(path)[0], int(torn[1]) - _ENTRY_HEADER)
        store.connection.execute(attach)


def remove(path: Path) -> None:
    """Removes an index file, its logs and what DuckDB moved out of memory."""
    for log in logs(path):
        log.unlink()
    path.unlink(missing_ok=True)
    shutil.rmtree(path.with_name(path.name + ".tmp"), ignore_errors=True)


def publish(store: Store, folder: Path) -> None:
    """Closes the file and puts it in the place of the published one, in one step, on disk before it returns."""
    store.checkpoint()
    store.close()
    # A program that opened the index for writing would lock readers out, or leave a log that the next one replays.
    store.path.chmod(0o444)
    _sync(store.path)
    published = folder / INDEX_NAME
    for log in logs(published):
        log.unlink()
    os.replace(store.path, published)
    _sync(folder)


def sweep(folder: Path, *, full: bool, progress: Progress) -> None:
    """Removes what interrupted runs left, once the index is right; what a full build left waits for the next."""
    kept = [] if full else [path for path in leftovers(folder) if path.name.startswith(_ANEW)]
    for path in folder.glob("building*"):
        if any(path.name.startswith(one.name) for one in kept):
            continue
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()
    if kept:
        progress.warn("a full build did not end; it goes on where it stopped with: ragx index --full")


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
