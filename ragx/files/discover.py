"""Lists the files of a corpus, and each path left out with the reason; never enters a folder that is left out whole."""

import errno
import os
from dataclasses import dataclass, field
from pathlib import Path

from ragx.config.settings import Corpus
from ragx.errors import UsageError
from ragx.files import globs, repository
from ragx.files.globs import Globs
from ragx.files.kinds import DATA_KINDS, kind_of
from ragx.files.reading import NOT_REGULAR, UNREADABLE
from ragx.files.repository import Rules
from ragx.types import FileStat, Skipped

OWN = "belongs to ragx"
HIDDEN = "hidden"
NOT_UTF8 = "name is not UTF-8"
JUNK = "installed or generated"
GIT_IGNORED = "ignored by git"
EXCLUDED = "excluded by corpus.exclude"
NOT_INCLUDED = "not in corpus.include"
TOO_LARGE = "larger than corpus.max_file_bytes"
TOO_MUCH_DATA = "data file larger than corpus.max_data_bytes"
LINK_INSIDE = "symbolic link to a file or folder inside the corpus"
LINK_OUTSIDE = "symbolic link out of the corpus"
LINK_LOOP = "symbolic link in a loop"
LINK_DANGLING = "symbolic link to nothing"

_OWN_NAMES = (b"ragx.toml", b".ragx")
_JUNK_NAMES = frozenset({"node_modules", "__pycache__", "venv", "site-packages"})


@dataclass(frozen=True)
class Discovery:
    """What a walk found, both sorted by path. A folder that was skipped whole is one entry with a `/` at its end."""

    files: tuple[FileStat, ...]
    skipped: tuple[Skipped, ...]


@dataclass(frozen=True)
class _Folder:
    """A folder still to list: its path from the root (`""`, or ending in `/`) and what the folders above it decided."""

    path: str
    rules: Rules
    included_by: int = -1
    excluded_by: int = -1


@dataclass(frozen=True)
class _Walk:
    """What holds for the whole walk, and what it has found."""

    root: bytes
    index_folder: bytes
    corpus: Corpus
    include: Globs
    exclude: Globs
    files: list[FileStat] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)


def discover(root: Path, corpus: Corpus, index_dir: Path) -> Discovery:
    """All files below `root` that `corpus` asks for. UsageError if the root cannot be listed; all below it is no error.

    Of a list of globs the last one that matches a file, or a folder above it, decides. Hidden entries, installed
    packages, symbolic links, whatever is no regular file, names that are not UTF-8, `ragx.toml` and the index are
    always left out.
    """
    walk = _Walk(
        os.path.realpath(os.fsencode(root)),
        os.path.realpath(os.fsencode(index_dir)),
        corpus,
        globs.from_setting("corpus.include", corpus.include, suffixes_name_files=True),
        globs.from_setting("corpus.exclude", corpus.exclude),
    )
    pending = [_Folder("", repository.above(walk.root) if corpus.respect_gitignore else Rules())]
    while pending:
        _list(walk, pending.pop(), pending)
    return Discovery(
        tuple(sorted(walk.files, key=lambda file: file.path)),
        tuple(sorted(walk.skipped, key=lambda skipped: skipped.path)),
    )


def _list(walk: _Walk, folder: _Folder, pending: list[_Folder]) -> None:
    """Sorts the entries of one folder into files, skipped ones and folders still to list."""
    location = os.path.join(walk.root, folder.path.encode())
    try:
        with os.scandir(location) as scan:
            entries = {entry.name: entry for entry in scan}
    except OSError as error:
        if not folder.path:
            # An empty answer would drop the whole index.
            shown = walk.root.decode("utf-8", "backslashreplace")
            raise UsageError(f"cannot list the folder {shown}: {error.strerror}") from error
        if isinstance(error, (FileNotFoundError, NotADirectoryError)):
            return
        walk.skipped.append(Skipped(folder.path, UNREADABLE))
        return
    if folder.path and b"pyvenv.cfg" in entries:
        walk.skipped.append(Skipped(folder.path, JUNK))
        return
    rules = folder.rules
    if walk.corpus.respect_gitignore and (b".git" in entries or b".gitignore" in entries):
        rules = repository.inside(
            rules, location, folder.path, starts=b".git" in entries, has_file=b".gitignore" in entries
        )
    here = _Folder(folder.path, rules, folder.included_by, folder.excluded_by)
    for entry in entries.values():
        try:
            reason = _take(walk, here, entry, pending)
            slash = "/" if reason and entry.is_dir(follow_symlinks=False) else ""
        except FileNotFoundError:
            continue
        except OSError:
            reason, slash = UNREADABLE, ""
        if reason:
            name = entry.name.decode("utf-8", "backslashreplace")
            walk.skipped.append(Skipped(folder.path + name + slash, reason))


def _take(walk: _Walk, folder: _Folder, entry: "os.DirEntry[bytes]", pending: list[_Folder]) -> str:
    """Adds an entry to the files or to the folders still to list; otherwise the reason why not."""
    if entry.name in _OWN_NAMES or entry.path == walk.index_folder:
        return OWN
    if entry.name.startswith(b"."):
        return HIDDEN
    try:
        name = entry.name.decode()
    except UnicodeDecodeError:
        return NOT_UTF8
    is_folder = entry.is_dir(follow_symlinks=False)
    if is_folder and name in _JUNK_NAMES:
        return JUNK
    path = folder.path + name
    if folder.rules.levels and repository.ignores(folder.rules, path, is_folder):
        return GIT_IGNORED
    folded = globs.fold(path)
    excluded_by = max(folder.excluded_by, walk.exclude.last(folded, is_folder))
    if excluded_by >= 0 and not walk.exclude.negated[excluded_by]:
        return EXCLUDED
    if entry.is_symlink():
        return _link(walk.root, entry.path)
    included_by = max(folder.included_by, walk.include.last(folded, is_folder))
    if is_folder:
        pending.append(_Folder(path + "/", folder.rules, included_by, excluded_by))
        return ""
    if not entry.is_file(follow_symlinks=False):
        return NOT_REGULAR
    if included_by < 0 or walk.include.negated[included_by]:
        return NOT_INCLUDED
    status = entry.stat(follow_symlinks=False)
    if status.st_size > walk.corpus.max_file_bytes:
        return TOO_LARGE
    if status.st_size > walk.corpus.max_data_bytes and kind_of(name) in DATA_KINDS:
        return TOO_MUCH_DATA
    walk.files.append(FileStat(path, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino))
    return ""


def _link(root: bytes, link: bytes) -> str:
    """Why a symbolic link is not followed: its target is indexed under its own name, or is none of the corpus."""
    try:
        target = os.path.realpath(link, strict=True)
    except (FileNotFoundError, NotADirectoryError):
        return LINK_DANGLING
    except OSError as error:
        return LINK_LOOP if error.errno == errno.ELOOP else UNREADABLE
    if _contains(target, os.path.dirname(link)):
        return LINK_LOOP
    return LINK_INSIDE if _contains(root, target) else LINK_OUTSIDE


def _contains(folder: bytes, path: bytes) -> bool:
    """Whether `path` is `folder` or lies below it."""
    return path == folder or path.startswith(folder.rstrip(b"/") + b"/")
