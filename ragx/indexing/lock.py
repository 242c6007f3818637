"""One indexer at a time: an advisory lock that the system lets go of when its holder dies."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ragx.errors import IndexLocked, UsageError

LOCK_NAME = "lock"


@contextmanager
def exclusive(folder: Path, *, wait: bool) -> Iterator[None]:
    """Holds the lock of a `.ragx` folder, which is made if need be; else says who holds it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        ignore = folder / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")
        descriptor = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise UsageError(
            f"the index folder {folder} cannot be written: {error.strerror}",
            "check its owner and mode, or put the index elsewhere with the environment variable RAGX_DIR",
        ) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            holder = os.read(descriptor, 200).decode("utf-8", "replace").strip() or "another process"
            raise IndexLocked(f"{folder} is being indexed by {holder}", "wait for it with: ragx index --wait") from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"process {os.getpid()} since {time.strftime('%Y-%m-%d %H:%M:%S')}\n".encode(), 0)
        yield
        os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)
