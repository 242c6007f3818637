"""Reads a file of the corpus whole, and only a regular file inside the root: nothing else is waited for or followed."""

import errno
import os
import stat
from pathlib import Path

import xxhash

from ragx.types import FileStat

VANISHED = "vanished"
UNREADABLE = "unreadable"
NOT_REGULAR = "no regular file"
BEHIND_LINK = "behind a symbolic link"
OUTSIDE = "outside the corpus"

# O_NONBLOCK: opening a FIFO without a writer would block for good.
_FLAGS = os.O_RDONLY | sum(getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_BINARY"))
_TICK_NS = 20_000_000
_COARSE_TICK_NS = 2_000_000_000
_SECOND_NS = 1_000_000_000
_REASONS = {errno.ENOENT: VANISHED, errno.ENOTDIR: VANISHED, errno.ELOOP: BEHIND_LINK, errno.ENXIO: NOT_REGULAR}


class FileUnreadable(Exception):
    """A file that cannot be read now; `reason` is a short constant phrase, fit for `Skipped`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def read(root: Path, path: str) -> bytes:
    """The bytes of the file at `path` relative to `root`; FileUnreadable if it is gone, closed to us or no file now."""
    return read_regular(_located(root, path))


def stat_of(root: Path, path: str) -> FileStat:
    """The file at `path` relative to `root` as its folder lists it; FileUnreadable if it is gone or no file now."""
    try:
        found = os.lstat(_located(root, path))
    except OSError as error:
        raise _unreadable(error) from error
    if not stat.S_ISREG(found.st_mode):
        raise FileUnreadable(BEHIND_LINK if stat.S_ISLNK(found.st_mode) else NOT_REGULAR)
    return FileStat(path, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)


def same_bytes(root: Path, now: FileStat, before: FileStat, digest: str, scanned_ns: int) -> bool:
    """Whether a file still has the bytes whose hash is `digest`, listed as `before` at `scanned_ns`.

    It is only read where its stat cannot tell. FileUnreadable: that was not possible.
    """
    if now == before and not _racy(now, scanned_ns):
        return True
    return now.size == before.size and content_hash(read(root, now.path)) == digest


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
        raise _unreadable(error) from error


def content_hash(data: bytes) -> str:
    """xxh3-128 of a file's bytes, 32 hexadecimal digits."""
    return xxhash.xxh3_128_hexdigest(data)


def _located(root: Path, path: str) -> bytes:
    """Where `path` lies; FileUnreadable if that is outside the root or behind a symbolic link."""
    if path.startswith("/") or ".." in path.split("/"):
        raise FileUnreadable(OUTSIDE)
    # Bytes, so that the locale's encoding has no say in which file a path names.
    file = os.path.join(os.path.realpath(os.fsencode(root)), path.encode("utf-8", "surrogateescape"))
    # O_NOFOLLOW guards the last part of a path only; a folder may have become a link out of the root since the walk.
    if os.path.realpath(os.path.dirname(file)) != os.path.dirname(file):
        raise FileUnreadable(BEHIND_LINK)
    return file


def _unreadable(error: OSError) -> FileUnreadable:
    return FileUnreadable(_REASONS.get(error.errno or 0, UNREADABLE))


def _racy(file: FileStat, scanned_ns: int) -> bool:
    """Whether the file may have changed after it was read within one tick of its clock (git's racy timestamps)."""
    tick = _COARSE_TICK_NS if file.mtime_ns % _SECOND_NS == 0 else _TICK_NS
    return max(file.mtime_ns, file.ctime_ns) >= scanned_ns - tick
