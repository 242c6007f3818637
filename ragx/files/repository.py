"""Answers as git does whether it ignores an entry, from .gitignore files and .git/info/exclude alone.

Global excludes do not count: the same tree gives the same index on every machine. Neither does git's index: a file
that was added in spite of a rule is left out.
"""

import os
from dataclasses import dataclass

from ragx.files.globs import Globs, from_gitignore
from ragx.files.reading import FileUnreadable, read_regular


@dataclass(frozen=True)
class Rules:
    """The patterns in force in a folder, weakest first, each with the length of the path of the folder it stands in."""

    origin: str = ""
    """Where the corpus root lies below the top of its repository: "" or a path ending in `/`."""

    levels: tuple[tuple[int, Globs], ...] = ()


def ignores(rules: Rules, path: str, is_folder: bool) -> bool:
    """Whether git ignores this entry itself; the folders above it were asked before it."""
    full = rules.origin + path
    for base, globs in reversed(rules.levels):
        index = globs.last(full[base:], is_folder)
        if index >= 0:
            return not globs.negated[index]
    return False


def above(root: bytes) -> Rules:
    """The rules that a repository around the root has for it; none if the root, or a folder between, is ignored itself.

    Somebody who indexes an ignored folder wants what is in it.
    """
    top = os.path.realpath(root)
    parts: list[str] = []
    while not os.path.lexists(os.path.join(top, b".git")):
        parent, name = os.path.split(top)
        if not name:
            return Rules()
        top = parent
        parts.insert(0, name.decode("utf-8", "surrogateescape"))
    # Of a root that is a repository, the walk itself reads the rules.
    rules = Rules()
    folder, path = top, ""
    for part in parts:
        rules = inside(rules, folder, path, starts=folder == top, has_file=True)
        path += part
        if ignores(rules, path, True):
            return Rules()
        path += "/"
        folder = os.path.join(folder, part.encode("utf-8", "surrogateescape"))
    return Rules(path, rules.levels)


def inside(rules: Rules, folder: bytes, path: str, *, starts: bool, has_file: bool) -> Rules:
    """The rules in force inside a folder: those from above and its own .gitignore.

    If a repository `starts` here, those from above end: git does not look into a nested repository from outside, and
    inside it only its own rules count.
    """
    levels = rules.levels
    base = len(rules.origin) + len(path)
    if starts:
        levels = _level(base, os.path.join(_common_folder(folder), b"info", b"exclude"))
    if has_file:
        levels += _level(base, os.path.join(folder, b".gitignore"))
    return Rules(rules.origin, levels)


def _level(base: int, file: bytes) -> tuple[tuple[int, Globs], ...]:
    try:
        globs = from_gitignore(read_regular(file))
    except FileUnreadable:
        return ()
    return ((base, globs),) if globs.negated else ()


def _common_folder(folder: bytes) -> bytes:
    """The folder that holds info/exclude: .git, or what the file .git of a submodule or linked work tree leads to."""
    git = os.path.join(folder, b".git")
    pointer = _line(git)
    if pointer.startswith(b"gitdir: "):
        git = os.path.join(folder, pointer.removeprefix(b"gitdir: "))
    return os.path.normpath(os.path.join(git, _line(os.path.join(git, b"commondir"))))


def _line(file: bytes) -> bytes:
    """The text of a one-line file; empty where there is none."""
    try:
        return read_regular(file).rstrip(b"\r\n")
    except FileUnreadable:
        return b""
