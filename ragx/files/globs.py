"""Gitignore-style patterns, matched one entry at a time, as a walk from the root down meets them."""

import re
import unicodedata
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field

from ragx.errors import ConfigError

_SPECIAL = re.compile(r"[*?\[\\/]")


@dataclass(frozen=True)
class Globs:
    """Compiled patterns in order. Each table is a pair: what counts for a file, what counts for a folder."""

    # Nearly all patterns are plain names and suffixes. Looking these up, a walk of 20,000 files under the default globs
    # takes 12 us a file; with a regex for each pattern 28 us.
    negated: list[bool] = field(default_factory=list)
    names: tuple[dict[str, int], dict[str, int]] = field(default_factory=lambda: ({}, {}))
    suffixes: tuple[dict[str, int], dict[str, int]] = field(default_factory=lambda: ({}, {}))
    regexes: tuple[list[tuple[int, re.Pattern[str]]], list[tuple[int, re.Pattern[str]]]] = field(
        default_factory=lambda: ([], [])
    )

    def last(self, path: str, is_folder: bool) -> int:
        """The index of the last pattern that matches this very entry, not a folder above it; -1: none does.

        `path` is relative to the folder that the patterns stand in, without a slash at the end.
        """
        name = path.rpartition("/")[2]
        last = self.names[is_folder].get(name, -1)
        suffixes = self.suffixes[is_folder]
        dot = name.find(".") if suffixes else -1
        while dot >= 0:
            last = max(last, suffixes.get(name[dot:], -1))
            dot = name.find(".", dot + 1)
        # In a regex "$" matches before a newline at the end, and "." no newline at all.
        path = path.replace("\n", "\0")
        for index, regex in reversed(self.regexes[is_folder]):
            if index < last:
                break
            match = regex.search(path)
            # The one group of pathspec's regexes marks a match that ends at a folder above.
            if match and match.lastindex is None:
                return index
        return last


def from_gitignore(data: bytes) -> Globs:
    """The patterns of a .gitignore file; a line that git could not read either is passed over."""
    globs = Globs()
    # Names that are not UTF-8 are never matched, so any stand-in for the bad bytes will do.
    for line in data.decode("utf-8-sig", "replace").split("\n"):
        _add(globs, _trim(line.removesuffix("\r")))
    return globs


def from_setting(name: str, patterns: Iterable[str], *, suffixes_name_files: bool = False) -> Globs:
    """The patterns of a setting, to be matched with folded paths; ConfigError for one that can match nothing.

    If `suffixes_name_files`, "*.js" stands for files alone: it does not ask for all that is in a folder `three.js`.
    """
    globs = Globs()
    for pattern in patterns:
        plain = fold(pattern.strip()).removeprefix("./")
        # "#" begins a comment in a file, but a list has none.
        line = "\\" + plain if plain.startswith("#") else plain
        if not _add(globs, line, suffixes_name_files=suffixes_name_files):
            raise ConfigError(f"{name}: {pattern!r} is no gitignore-style glob", f"ragx config set {name} ...")
    return globs


def fold(path: str) -> str:
    """The form in which names are compared with the globs of settings: lower case, accents composed."""
    return path.lower() if path.isascii() else unicodedata.normalize("NFC", path).lower()


def _trim(line: str) -> str:
    """Drops the spaces at the end that are not escaped, as git does; other white space there is part of the name."""
    bare = line.rstrip(" ")
    escaped = (len(bare) - len(bare.rstrip("\\"))) % 2 == 1
    if escaped and len(bare) < len(line):
        return bare[:-1] + "[ ]"
    # pathspec would strip it.
    return f"{bare[:-1]}[{bare[-1]}]" if bare[-1:].isspace() else bare


def _add(globs: Globs, line: str, *, suffixes_name_files: bool = False) -> bool:
    """Appends one pattern; False: it is none."""
    if not line or line.startswith("#"):
        return False
    sign = "!" if line.startswith("!") else ""
    body = line.removeprefix(sign)
    for_files = not body.endswith("/")
    body = body.removesuffix("/")
    if not body or body.endswith("/"):
        return False
    index = len(globs.negated)
    kinds = (False, True) if for_files else (True,)
    if not _SPECIAL.search(body):
        for kind in kinds:
            globs.names[kind][body] = index
    elif body.startswith("*.") and not _SPECIAL.search(body, 1):
        for kind in (False,) if suffixes_name_files and for_files and not sign else kinds:
            globs.suffixes[kind][body[1:]] = index
    else:
        regex = _regex(sign + body)
        if regex is None:
            return False
        for kind in kinds:
            globs.regexes[kind].append((index, regex))
    globs.negated.append(bool(sign))
    return True


def _regex(line: str) -> re.Pattern[str] | None:
    # A query reads files too, but lists none: it does without this import.
    from pathspec import GitIgnoreSpec

    try:
        with warnings.catch_warnings():
            # A bracket expression such as [[a] makes `re` warn of its own future syntax.
            warnings.simplefilter("ignore", FutureWarning)
            (pattern,) = GitIgnoreSpec.from_lines([line]).patterns
    except (ValueError, re.error):
        return None
    regex: re.Pattern[str] | None = pattern.regex
    return regex
