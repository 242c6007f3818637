"""The walk over real trees: what is never touched, what goes wrong on the way, and reading what it found."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragx.config.settings import Corpus
from ragx.errors import UsageError
from ragx.files import FileUnreadable, discover, read
from tests.trees import ALL, grow, paths, reasons, walk


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the folders that are listed, in order."""
    names: list[str] = []
    scandir = os.scandir

    def spy(path: bytes) -> "os._ScandirIterator[bytes]":
        names.append(os.path.basename(os.fsdecode(path).rstrip("/")))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", spy)
    return names


def test_folders_left_out_whole_are_never_listed(tmp_path: Path, listed: list[str]) -> None:
    tree = {f"{folder}/deep/x.md": "" for folder in ("ignored", "node_modules", "dist", ".cache", "out/index")}
    grow(tmp_path, {**tree, "kept/x.md": "", ".gitignore": "ignored/\n"})
    discover(tmp_path, Corpus(), tmp_path / "out/index")
    assert sorted(listed[1:]) == ["kept", "out"]


def test_index_folder_is_left_out_whatever_its_name(tmp_path: Path) -> None:
    grow(tmp_path, {"corpus/a.md": "", "corpus/data/index/b.md": "", "corpus/data/c.md": ""})
    (tmp_path / "alias").symlink_to("corpus")
    for root, alias in (("corpus", "corpus"), ("alias", "corpus"), ("corpus", "alias")):
        discovery = discover(tmp_path / root, ALL, tmp_path / alias / "data/index")
        assert [file.path for file in discovery.files] == ["a.md", "data/c.md"]
        assert [(entry.path, entry.reason) for entry in discovery.skipped] == [("data/index/", "belongs to ragx")]


def test_pipes_sockets_and_devices_are_skipped_unopened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe.md")
    os.mkfifo(".gitignore")
    os.symlink("/dev/null", "null.md")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket.md")
        assert reasons(tmp_path) == {
            ".gitignore": "hidden",
            "pipe.md": "no regular file",
            "socket.md": "no regular file",
            "null.md": "symbolic link out of the corpus",
        }
        for name in ("pipe.md", "socket.md"):
            assert _unreadable(tmp_path, name) == "no regular file"


def test_nothing_is_indexed_twice_through_a_symbolic_link(tmp_path: Path) -> None:
    tree = {"corpus/a.md": "", "corpus/sub/b.md": "", "outside/c.md": "", "corpus-2/d.md": ""}
    root = grow(tmp_path, tree) / "corpus"
    for link, target in {
        "file.md": "a.md",
        "folder": "sub",
        "absolute.md": str(root / "a.md"),
        "sub/up": "..",
        "sub/self": ".",
        "out.md": "../outside/c.md",
        "out": "../outside",
        "prefix": "../corpus-2",
        "above": "..",
        "chain.md": "file.md",
        "dangling.md": "nothing",
        "dangling-out.md": "/nonexistent/nothing",
        "through.md": "a.md/x",
        "ring1.md": "ring2.md",
        "ring2.md": "ring1.md",
    }.items():
        (root / link).symlink_to(target)
    assert paths(root) == ["a.md", "sub/b.md"]
    inside, outside = "symbolic link to a file or folder inside the corpus", "symbolic link out of the corpus"
    loop, nothing = "symbolic link in a loop", "symbolic link to nothing"
    assert reasons(root) == {
        "file.md": inside,
        "folder": inside,
        "absolute.md": inside,
        "chain.md": inside,
        "sub/up": loop,
        "sub/self": loop,
        "above": loop,
        "ring1.md": loop,
        "ring2.md": loop,
        "out.md": outside,
        "out": outside,
        "prefix": outside,
        "dangling.md": nothing,
        "dangling-out.md": nothing,
        "through.md": nothing,
    }
    alias = tmp_path / "alias"
    alias.symlink_to("corpus")
    assert paths(alias) == paths(root)
    assert reasons(alias) == reasons(root)


@pytest.mark.parametrize("victim", ["a.md", "sub"])
def test_entry_gone_during_the_walk_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, victim: str) -> None:
    grow(tmp_path, {"a.md": "", "b.md": "", "sub/c.md": ""})
    scandir = os.scandir

    def scan_then_lose(path: bytes) -> "contextlib.AbstractContextManager[Iterator[os.DirEntry[bytes]]]":
        with scandir(path) as scan:
            entries = list(scan)
        gone = tmp_path / victim
        if gone.exists():
            gone.rename(tmp_path.parent / f"gone-{victim}")
        return contextlib.nullcontext(iter(entries))

    monkeypatch.setattr(os, "scandir", scan_then_lose)
    discovery = walk(tmp_path)
    assert [file.path for file in discovery.files] == {"a.md": ["b.md", "sub/c.md"], "sub": ["a.md", "b.md"]}[victim]
    assert discovery.skipped == ()


def test_root_that_cannot_be_listed_is_an_error_not_an_empty_corpus(tmp_path: Path) -> None:
    grow(tmp_path, {"a.md": ""})
    for root in (tmp_path / "none", tmp_path / "a.md"):
        with pytest.raises(UsageError, match="cannot list the folder"):
            walk(root)


# Root reads whatever it likes, so the test gives up its rights, once all is imported.
AS_NOBODY = """
import os, sys
from pathlib import Path
from ragx.config.settings import Corpus
from ragx.errors import UsageError
from ragx.files import FileUnreadable, discover, read
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
root = Path(sys.argv[1])
found = discover(root, Corpus(), root / ".ragx")
print([file.path for file in found.files])
print([(entry.path, entry.reason) for entry in found.skipped])
for action in (lambda: read(root, "secret.md"), lambda: discover(root / "closed", Corpus(), root / ".ragx")):
    try:
        action()
    except (FileUnreadable, UsageError) as error:
        print(error)
"""


def test_unreadable_folder_is_counted_and_unreadable_file_refused() -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = grow(Path(folder), {"a.md": "", "secret.md": "", "closed/x.md": "", "listable/y.md": ""})
        os.chmod(root, 0o755)
        modes = {"secret.md": 0o000, "closed": 0o000, "listable": 0o444}
        for path, mode in modes.items():
            os.chmod(root / path, mode)
        done = subprocess.run(
            [sys.executable, "-c", AS_NOBODY, folder],
            cwd=Path(__file__).parents[1],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        for path in modes:
            os.chmod(root / path, 0o755)
    assert done.stdout.splitlines() == [
        "['a.md', 'secret.md']",
        "[('closed/', 'unreadable'), ('listable/y.md', 'unreadable')]",
        "unreadable",
        f"cannot list the folder {os.path.realpath(folder)}/closed: Permission denied",
    ]


def _unreadable(root: Path, path: str) -> str:
    with pytest.raises(FileUnreadable) as refused:
        read(root, path)
    return refused.value.reason


def test_file_that_changed_since_the_walk_is_refused_with_a_reason(tmp_path: Path) -> None:
    root = grow(tmp_path, {"root/a.md": "\r\n", "root/sub/b.md": "", "outside/b.md": "secret"}) / "root"
    assert read(root, "a.md") == b"\r\n"
    assert _unreadable(root, "gone.md") == "vanished"
    assert _unreadable(root, "a.md/x") == "vanished"
    assert _unreadable(root, "sub") == "no regular file"
    (root / "link.md").symlink_to("a.md")
    assert _unreadable(root, "link.md") == "behind a symbolic link"
    shutil.rmtree(root / "sub")
    (root / "sub").symlink_to("../outside")
    assert _unreadable(root, "sub/b.md") == "behind a symbolic link"
    assert _unreadable(root, "../outside/b.md") == "outside the corpus"
    assert _unreadable(root, str(tmp_path / "outside/b.md")) == "outside the corpus"
