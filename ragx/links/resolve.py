"""Which file of a corpus a reference means: the same for the same files, whatever the order they came in."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from posixpath import dirname, join, normpath

from ragx.links.reference import IMPORT, LINK, WIKILINK

PROSE = {"markdown", "text", "rst", "asciidoc", "org", "html", "notebook"}
_PAGES = (".md", ".mdx", ".markdown", ".rst", ".adoc", ".org", ".txt", ".html")
_FOLDER_PAGES = ("README.md", "index.md", "_index.md", "index.rst", "README.rst", "index.html")
_SCRIPTS = (".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".d.ts", ".vue", ".svelte", ".json")
_SCRIPT_SUFFIX = re.compile(r"\.[mc]?jsx?$")
_CRATE_ROOTS = ("lib.rs", "main.rs", "mod.rs")


@dataclass(frozen=True, slots=True)
class Named:
    """A file and the names that it goes by: its path, its title and its aliases."""

    file_id: int
    path: str
    kind: str
    title: str
    aliases: tuple[str, ...]


class Corpus:
    """The files that references may mean."""

    def __init__(self, files: Iterable[Named]) -> None:
        self._ids: dict[str, int] = {}
        self._paths: dict[str, list[str]] = defaultdict(list)  # by folded path
        self._names: dict[str, list[str]] = defaultdict(list)  # by folded last part
        self._stems: dict[str, list[str]] = defaultdict(list)  # of prose, by folded name of the note
        self._titles: dict[str, list[str]] = defaultdict(list)
        self._folders: dict[str, list[str]] = defaultdict(list)  # of Go files, by the last part of their folder
        for file in files:
            self._ids[file.path] = file.file_id
            self._paths[_fold(file.path)].append(file.path)
            name = file.path.rpartition("/")[2]
            self._names[_fold(name)].append(file.path)
            if file.kind in PROSE:
                self._stems[_fold(name.rpartition(".")[0] or name)].append(file.path)
                for title in {_fold(title) for title in (file.title, *file.aliases) if title}:
                    self._titles[title].append(file.path)
            elif file.kind == "go" and not name.endswith("_test.go"):
                self._folders[dirname(file.path).rpartition("/")[2]].append(file.path)

    def resolve(self, source: str, kind: str, target: str) -> int | None:
        """The file that a reference of this kind (reference.py) in the file `source` means; None: none of these."""
        if kind == LINK:
            path = self._page(source, target) if target else source
        elif kind == WIKILINK:
            path = self._note(source, target) if target else source
        elif kind == IMPORT:
            path = self._module(source, target)
        else:
            path = None
        return None if path is None else self._ids.get(path)

    def _page(self, source: str, target: str) -> str | None:
        """The file at a path relative to the source's folder, or to the corpus where it begins with `/`."""
        base = _below(source, target)
        if base is None:
            return None
        exact = not target.endswith("/")
        names = [base] if exact else []
        names += [base + suffix for suffix in _PAGES] if exact else []
        names += [join(base, page) for page in _FOLDER_PAGES]
        if base.endswith(".html"):
            names += [base.removesuffix(".html") + suffix for suffix in _PAGES]
        return self._first(names, source)

    def _note(self, source: str, target: str) -> str | None:
        """The note of this name: of several, the one nearest to the source; with folders, one whose path ends so."""
        folder, _, name = target.strip("/").rpartition("/")
        stem = name.removesuffix(".md")
        found = self._stems.get(_fold(stem), []) or self._names.get(_fold(name), [])
        if folder:
            ending = _fold(normpath(join("/", folder)))
            found = [path for path in found if _fold("/" + dirname(path)).endswith(ending)]
        return _nearest(found or self._titles.get(_fold(target), []), source)

    def _module(self, source: str, target: str) -> str | None:
        suffix = source.rpartition(".")[2].lower()
        if suffix in ("py", "pyi", "pyw"):
            return self._python(source, target)
        if suffix == "go":
            return self._go(source, target)
        if suffix == "rs":
            return self._rust(source, target)
        return self._script(source, target)

    def _python(self, source: str, target: str) -> str | None:
        """A module or the package that defines the name; `a.b` may be module b of package a or name b of module a."""
        dots = len(target) - len(target.lstrip("."))
        parts = target[dots:].split(".")
        for kept in (parts, parts[:-1]):
            if not kept and not dots:
                continue
            inner = "/".join(kept)
            names = [f"{inner}.py", f"{inner}.pyi", f"{inner}/__init__.py"] if inner else ["__init__.py"]
            if dots:
                folder = dirname(source)
                for _ in range(dots - 1):
                    folder = dirname(folder)
                path = self._first([join(folder, name) for name in names], source)
            else:
                path = self._upwards(source, names) or (self._ending(source, names) if len(kept) > 1 else None)
                if path is None and len(kept) == 1:
                    path = self._ending(source, names[2:])
            if path:
                return path
        return None

    def _script(self, source: str, target: str) -> str | None:
        if target.startswith("."):
            base = _below(source, target)
            bases = [] if base is None else [base]
        else:  # the bundlers' name for the folder of the sources
            bases = [join(folder, "src", target[2:]) for folder in _ancestors(source)]
            bases += [join(folder, target[2:]) for folder in _ancestors(source)]
        names = []
        for base in bases:
            plain = _SCRIPT_SUFFIX.sub("", base)
            names += [base, *(base + suffix for suffix in _SCRIPTS)]
            names += [plain + suffix for suffix in _SCRIPTS] if plain != base else []
            names += [join(base, f"index{suffix}") for suffix in _SCRIPTS]
        return self._first(names, source)

    def _go(self, source: str, target: str) -> str | None:
        """The first file of the folder that is the end of the import's path, or shares more than a name with it."""
        parts = target.split("/")[::-1]
        found = [path for path in self._folders.get(parts[0], []) if dirname(path) != dirname(source)]
        ends = []
        for folder in {dirname(path) for path in found}:
            names = folder.split("/")[::-1]
            common = _common_start(names, parts)
            if common > 1 or len(names) == 1:
                ends.append((-common, len(names), folder))
        nearest = min(ends)[2] if ends else None
        return min((path for path in found if dirname(path) == nearest), default=None)

    def _rust(self, source: str, target: str) -> str | None:
        folder, _, name = source.rpartition("/")
        inside = folder if name in _CRATE_ROOTS else source.removesuffix(".rs")
        if target.startswith("mod "):
            return self._first(_rust_files(inside, [target[4:]]), source)
        first, *parts = target.split("::")
        base = inside
        if first == "crate":
            root = self._upwards(source, _CRATE_ROOTS[:2])
            if root is None:
                return None
            base = dirname(root)
        while first == "super":
            base = dirname(base)
            if not parts or parts[0] != "super":
                break
            parts = parts[1:]
        # The last part may be a name that the module defines.
        path = self._first(_rust_files(base, parts) + _rust_files(base, parts[:-1]), source)
        return None if path == source else path

    def _first(self, names: Sequence[str], source: str) -> str | None:
        """The first of these paths that is a file, in this spelling or another case or normal form of it."""
        for name in names:
            if name in self._ids:
                return name
        for name in names:
            if found := self._paths.get(_fold(name)):
                return _nearest(found, source)
        return None

    def _upwards(self, source: str, names: Sequence[str]) -> str | None:
        """The file of one of these names in the source's folder, or in the next one above that has it."""
        for folder in _ancestors(source):
            for name in names:
                if (path := join(folder, name)) in self._ids:
                    return path
        return None

    def _ending(self, source: str, names: Sequence[str]) -> str | None:
        """The file nearest to the source whose path ends with the first of these names that any does."""
        for name in names:
            known = self._names.get(_fold(name.rpartition("/")[2]), [])
            if found := [path for path in known if f"/{path}".endswith(f"/{name}")]:
                return _nearest(found, source)
        return None


def _rust_files(folder: str, parts: Sequence[str]) -> list[str]:
    """The files that a module may be; without parts, the one whose folder this is."""
    inner = join(folder, *parts)
    return [f"{inner}.rs", *(join(inner, name) for name in (_CRATE_ROOTS if not parts else _CRATE_ROOTS[2:]))]


def _below(source: str, target: str) -> str | None:
    """The path from the source's folder, or from the corpus's where it begins with `/`; None: it leads out of it."""
    path = normpath(join("/" if target.startswith("/") else dirname(source), target.lstrip("/"))).lstrip("/")
    if path == ".." or path.startswith("../"):
        return None
    return "" if path == "." else path


def _ancestors(path: str) -> Iterator[str]:
    """The folder of a file, and those above it; the corpus's own is empty."""
    while path:
        path = dirname(path)
        yield path


def _nearest(paths: Sequence[str], source: str) -> str | None:
    """The path that shares the most folders with the source; ties go to the shortest way down, then by name."""
    if len(paths) < 2:
        return paths[0] if paths else None
    here = dirname(source).split("/")

    def distance(path: str) -> tuple[int, int, str]:
        there = dirname(path).split("/")
        return (-_common_start(here, there), len(there), path)

    return min(paths, key=distance)


def _common_start(one: Sequence[str], other: Sequence[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _fold(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
