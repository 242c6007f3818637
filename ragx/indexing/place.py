"""What stands where the index is to be: a run replaces an index, damaged or not, and never anything else."""

import fcntl
import shutil
from pathlib import Path

from ragx.errors import IndexForeign, IndexLocked, IndexMissing, IndexUnusable
from ragx.store import INDEX_NAME, logs, open_index


def check_place(folder: Path, *, full: bool) -> None:
    """Removes what a program that wrote to the index left beside it. IndexForeign: here is no place for an index."""
    published = folder / INDEX_NAME
    try:
        if left := logs(published):
            _check_without_logs(published)
            for log in left:
                log.unlink()
        if full:
            open_index(folder).close()
    except IndexMissing:
        return
    except IndexForeign:
        raise
    except IndexUnusable:
        if not full:
            raise


def _check_without_logs(published: Path) -> None:
    """A log is a part of somebody's database: only an index loses its own, and only when nobody is writing to it."""
    if not published.is_file():
        return
    aside = published.with_name("building-aside")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir()
    try:
        with published.open("rb") as file:
            fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)  # what DuckDB locks a file with
        shutil.copyfile(published, aside / INDEX_NAME)
        open_index(aside, outdated=True).close()
    except PermissionError as error:
        raise IndexUnusable(f"{published} may not be read: {error.strerror}", "check its owner and mode") from error
    except BlockingIOError as error:
        raise IndexLocked(f"{published} is open for writing in another program", "close it there first") from error
    except IndexUnusable as error:
        raise type(error)(error.message.replace(str(aside), str(published.parent)), error.hint) from error
    finally:
        shutil.rmtree(aside)
