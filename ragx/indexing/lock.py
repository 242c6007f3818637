"""One indexer at a time: an advisory lock that the system lets go of when its holder dies."""

import errno
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ragx.errors import IndexLocked, UsageError
from ragx.store import check_links, room_in

LOCK_NAME = "lock"


@contextmanager
def exclusive(folder: Path, *, wait: bool) -> Iterator[None]:
    """Holds the lock of a `.ragx` folder, which is made if need be.

    IndexLocked: another process holds it. UsageError: the folder cannot be written.
    """
    try:
        with room_in(folder):
            descriptor = _acquire(folder, wait=wait)
    except BlockingIOError:
        holder = (folder / LOCK_NAME).read_text("utf-8", "replace").strip() or "another process"
        raise IndexLocked(f"{folder} is being indexed by {holder}", "wait for it with: ragx index --wait") from None
    except OSError as error:
        raise UsageError(
            f"the index folder {folder} cannot be written: {error.strerror}",
            "check its owner and mode, or put the index elsewhere with the environment variable RAGX_DIR",
        ) from error
    try:
        yield
    finally:
        os.ftruncate(descriptor, 0)
        os.close(descriptor)


def _acquire(folder: Path, *, wait: bool) -> int:
    """The descriptor of the lock file, held, signed, and not of one that was removed in the meantime."""
    while True:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        check_links(folder)
        ignore = folder / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")
        path = folder / LOCK_NAME
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            if path.exists() and os.path.samestat(os.fstat(descriptor), path.stat()):
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, f"process {os.getpid()} since {time.strftime('%Y-%m-%d %H:%M:%S')}\n".encode(), 0)
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
