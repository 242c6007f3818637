"""Reads a file of the corpus whole, and only a regular file inside the root: nothing else is waited for or followed."""

import errno
import os
import stat
from pathlib import Path

import xxhash

VANISHED = "vanished"
UNREADABLE = "unreadable"
NOT_REGULAR = "no regular file"
BEHIND_LINK = "behind a symbolic link"
OUTSIDE = "outside the corpus"

# O_NONBLOCK: opening a FIFO without a writer would block for good.
_FLAGS = os.O_RDONLY | sum(getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_BINARY"))
_REASONS = {errno.ENOENT: VANISHED, errno.ENOTDIR: VANISHED, errno.ELOOP: BEHIND_LINK, errno.ENXIO: NOT_REGULAR}


class FileUnreadable(Exception):
    """A file that cannot be read now; `reason` is a short constant phrase, fit for `Skipped`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def read(root: Path, path: str) -> bytes:
    """The bytes of the file at `path` relative to `root`; FileUnreadable if it is gone, closed to us or no file now."""
    if path.startswith("/") or ".." in path.split("/"):
        raise FileUnreadable(OUTSIDE)
    # Bytes, so that the locale's encoding has no say in which file a path names.
    file = os.path.join(os.path.realpath(os.fsencode(root)), path.encode("utf-8", "surrogateescape"))
    # O_NOFOLLOW guards the last part of a path only; a folder may have become a link out of the root since the walk.
    if os.path.realpath(os.path.dirname(file)) != os.path.dirname(file):
        raise FileUnreadable(BEHIND_LINK)
    return read_regular(file)


def read_regular(file: bytes) -> bytes:
    """The bytes of one regular file, whatever folder it is in; FileUnreadable for a symbolic link and all the rest."""
    try:
        descriptor = os.open(file, _FLAGS)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise FileUnreadable(NOT_REGULAR)
            with open(descriptor, "rb", buffering=0, closefd=False) as stream:
                return stream.read()
        finally:
            os.close(descriptor)
    except OSError as error:
        raise FileUnreadable(_REASONS.get(error.errno or 0, UNREADABLE)) from error


def content_hash(data: bytes) -> str:
    """xxh3-128 of a file's bytes, 32 hexadecimal digits."""
    return xxhash.xxh3_128_hexdigest(data)
