"""Which files of a tree are found, by their names, the globs of the settings and what they are."""

import os
import sys
import unicodedata
from collections import Counter
from pathlib import Path

import pytest

from ragx.config.settings import CODE_GLOBS, DATA_GLOBS, DOCUMENT_GLOBS, Corpus
from ragx.errors import ConfigError
from ragx.files import kind_of, read
from ragx.files.kinds import KINDS
from tests.trees import grow, paths, reasons, walk

linux = pytest.mark.skipif(sys.platform != "linux", reason="other file systems fold or refuse such names")


def test_files_come_sorted_by_path_with_their_status(tmp_path: Path) -> None:
    grow(tmp_path, {"b/x.md": "12345", "b-.md": "", "é.md": "", "a.md": "", "Z.md": "", "b.md": ""})
    discovery = walk(tmp_path)
    assert [file.path for file in discovery.files] == ["Z.md", "a.md", "b-.md", "b.md", "b/x.md", "é.md"]
    status = (tmp_path / "b/x.md").stat()
    found = discovery.files[4]
    assert (found.size, found.mtime_ns, found.ctime_ns, found.inode) == (
        5,
        status.st_mtime_ns,
        status.st_ctime_ns,
        status.st_ino,
    )
    assert discovery.skipped == ()


@linux
@pytest.mark.parametrize(
    "name",
    [
        "with space.md",
        " leading.md",
        "quote'\".md",
        "[brackets].md",
        "{braces}.md",
        "hash#1.md",
        "per%20cent.md",
        "new\nline.md",
        "end\n",
        "-rf.md",
        "back\\slash.md",
        "star*.md",
        "a" * 252 + ".md",
        "zwj\u200d.md",
        "emoji😀.md",
    ],
)
def test_odd_names_are_found_and_read(tmp_path: Path, name: str) -> None:
    inside = f"folder {name[:200]}/{name}"
    grow(tmp_path, {name: "text", inside: "inside"})
    assert paths(tmp_path) == sorted([name, inside])
    assert read(tmp_path, name) == b"text"
    assert read(tmp_path, inside) == b"inside"


@linux
def test_twins_in_case_or_unicode_form_are_two_files(tmp_path: Path) -> None:
    composed, decomposed = unicodedata.normalize("NFC", "café.md"), unicodedata.normalize("NFD", "café.md")
    names = [composed, decomposed, "a b.md", "A B.md", "a_b.md", "a-b.md"]
    grow(tmp_path, {name: name for name in names})
    assert paths(tmp_path) == sorted(names)
    assert all(read(tmp_path, name) == name.encode() for name in names)


@linux
def test_name_that_is_not_utf8_is_skipped_and_shown_escaped(tmp_path: Path) -> None:
    root = os.fsencode(tmp_path)
    os.mkdir(root + b"/d\xe9")
    for name in (b"/bad\xff.md", b"/d\xe9/in.md"):
        with open(root + name, "wb"):
            pass
    assert reasons(tmp_path) == {"bad\\xff.md": "name is not UTF-8", "d\\xe9/": "name is not UTF-8"}
    assert paths(tmp_path) == []


def test_odd_times_are_taken_as_they_are(tmp_path: Path) -> None:
    grow(tmp_path, {"old.md": "", "new.md": ""})
    os.utime(tmp_path / "old.md", ns=(0, 0))
    os.utime(tmp_path / "new.md", ns=(2**32 * 10**9, 2**32 * 10**9))
    assert [file.mtime_ns for file in walk(tmp_path).files] == [2**32 * 10**9, 0]


def test_case_of_a_suffix_does_not_matter(tmp_path: Path) -> None:
    grow(tmp_path, {"UPPER.MD": "", "Mixed.Py": "", "MAKEFILE": "", "License.md": "", "Package-Lock.json": ""})
    assert paths(tmp_path, Corpus()) == ["MAKEFILE", "Mixed.Py", "UPPER.MD"]


def test_globs_are_gitignore_style(tmp_path: Path) -> None:
    grow(tmp_path, {"docs/a.md": "", "docs/x/y/b.md": "", "docs/c.txt": "", "src/docs/d.md": "", "e.md": ""})
    assert paths(tmp_path, Corpus(include=("docs/**/*.md",))) == ["docs/a.md", "docs/x/y/b.md"]
    assert paths(tmp_path, Corpus(include=("docs/",))) == ["docs/a.md", "docs/c.txt", "docs/x/y/b.md", "src/docs/d.md"]
    assert paths(tmp_path, Corpus(include=("./docs/*.md", "/e.md"))) == ["docs/a.md", "e.md"]
    assert paths(tmp_path, Corpus(include=("*.md",), exclude=("/docs",))) == ["e.md", "src/docs/d.md"]
    assert paths(tmp_path, Corpus(include=())) == []


def test_last_glob_that_matches_a_file_or_a_folder_above_it_decides(tmp_path: Path) -> None:
    grow(tmp_path, {"a.md": "", "drafts/b.md": "", "drafts/keep/c.md": "", "drafts/keep/d.txt": ""})
    include = ("*.md", "!drafts/", "drafts/keep/*.md")
    assert paths(tmp_path, Corpus(include=include, exclude=())) == ["a.md", "drafts/keep/c.md"]
    assert paths(tmp_path, Corpus(include=("*.md",), exclude=("*.md", "!drafts/"))) == [
        "drafts/b.md",
        "drafts/keep/c.md",
    ]


def test_suffix_glob_does_not_ask_for_all_in_a_folder_of_that_name(tmp_path: Path) -> None:
    grow(tmp_path, {"three.js/logo.svg": "", "three.js/main.js": ""})
    assert paths(tmp_path, Corpus()) == ["three.js/main.js"]
    assert paths(tmp_path, Corpus(include=("*.js/",))) == ["three.js/logo.svg", "three.js/main.js"]


@linux
def test_glob_matches_a_name_in_either_unicode_form(tmp_path: Path) -> None:
    grow(tmp_path, {unicodedata.normalize("NFD", "Entwürfe/x.md"): "", "y.md": ""})
    exclude = (unicodedata.normalize("NFC", "entwürfe/"),)
    assert paths(tmp_path, Corpus(exclude=exclude)) == ["y.md"]


def test_hash_in_a_setting_is_no_comment(tmp_path: Path) -> None:
    grow(tmp_path, {"#inbox/x.md": "", "y.md": ""})
    assert paths(tmp_path, Corpus(exclude=("#inbox/",))) == ["y.md"]


@pytest.mark.parametrize("glob", ["", "/", "!", "[z-a].md", "a\\", "[b"])
def test_glob_that_can_match_nothing_is_refused(tmp_path: Path, glob: str) -> None:
    with pytest.raises(ConfigError, match=r"corpus\.exclude"):
        walk(tmp_path, Corpus(exclude=(glob,)))


def test_every_skipped_path_has_a_reason_that_can_be_counted(tmp_path: Path) -> None:
    grow(
        tmp_path,
        {
            "a.md": "",
            "a.png": "",
            "b.bin": "",
            "big.md": "x" * 101,
            "fits.md": "x" * 100,
            "dist/x.md": "",
            ".hidden.md": "",
            ".obsidian/x.md": "",
            "node_modules/x/x.md": "",
            "sub/__pycache__/x.py": "",
            "env/pyvenv.cfg": "",
            "env/x.py": "",
            "ragx.toml": "",
            "sub/ragx.toml": "",
            ".ragx/x.md": "",
        },
    )
    corpus = Corpus(include=("*.md", "*.py", "*.toml"), max_file_bytes=100)
    assert paths(tmp_path, corpus) == ["a.md", "fits.md"]
    assert reasons(tmp_path, corpus) == {
        "a.png": "not in corpus.include",
        "b.bin": "not in corpus.include",
        "big.md": "larger than corpus.max_file_bytes",
        "dist/": "excluded by corpus.exclude",
        ".hidden.md": "hidden",
        ".obsidian/": "hidden",
        "node_modules/": "installed or generated",
        "sub/__pycache__/": "installed or generated",
        "env/": "installed or generated",
        "ragx.toml": "belongs to ragx",
        "sub/ragx.toml": "belongs to ragx",
        ".ragx/": "belongs to ragx",
    }
    skipped = walk(tmp_path, corpus).skipped
    assert [entry.path for entry in skipped] == sorted(entry.path for entry in skipped)
    assert Counter(entry.reason for entry in skipped)["belongs to ragx"] == 3


def test_data_is_indexed_by_default_unless_it_is_large_or_a_lock_file(tmp_path: Path) -> None:
    large = "x" * (256 * 1024 + 1)
    grow(
        tmp_path,
        {
            "a.json": "{}", "b.yaml": "a: 1", "c.toml": "", "d.csv": "a,b", "e.cfg": "", "tsconfig.json": "{}",
            "big.JSON": large, "big.csv": large, "big.md": large, "big.cfg": large,
            "package-lock.json": "{}", "pnpm-lock.yaml": "", "uv.lock": "",
        },
    )  # fmt: skip
    taken = ["a.json", "b.yaml", "big.cfg", "big.md", "c.toml", "d.csv", "e.cfg", "tsconfig.json"]
    assert paths(tmp_path, Corpus()) == taken
    assert reasons(tmp_path, Corpus()) == {
        "big.JSON": "data file larger than corpus.max_data_bytes",
        "big.csv": "data file larger than corpus.max_data_bytes",
        "package-lock.json": "excluded by corpus.exclude",
        "pnpm-lock.yaml": "excluded by corpus.exclude",
        "uv.lock": "excluded by corpus.exclude",
    }
    assert "big.csv" in paths(tmp_path, Corpus(max_data_bytes=300_000))


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("a.md", "markdown"),
        ("dir.py/A.MDX", "markdown"),
        ("notes.txt", "text"),
        ("x.RST", "rst"),
        ("x.d.ts", "typescript"),
        ("Makefile", "makefile"),
        ("sub/makefile.am", "makefile"),
        ("Dockerfile.dev", "dockerfile"),
        ("CMakeLists.txt", "cmake"),
        ("makefile.md", "markdown"),
        ("x.ipynb", "notebook"),
        ("README", "text"),
        ("a.unknown", "text"),
        ("folder.py/readme", "text"),
        ("py", "text"),
        ("", "text"),
    ],
)
def test_kind_of_a_name(path: str, kind: str) -> None:
    assert kind_of(path) == kind
    assert kind in KINDS


def test_every_file_that_is_indexed_by_default_has_a_kind_of_its_own() -> None:
    without = [glob for glob in DOCUMENT_GLOBS + CODE_GLOBS + DATA_GLOBS if kind_of(glob.replace("*", "x")) == "text"]
    assert without == ["*.txt"]
