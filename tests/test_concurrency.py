"""Several processes on one index: one writes at a time, and readers neither wait nor see half of anything."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ragx.config import index_dir
from ragx.errors import IndexLocked, UsageError
from ragx.indexing.lock import exclusive
from ragx.store import open_index
from tests import dying, reading, unprivileged
from tests.corpora import build, corpus, dump, index_elsewhere, settings_of, write

CATS = {"a.md": "# Cats\n\nCats sleep through most of the day.\n", "b.md": "Kittens sleep even more, and dream.\n"}
DOGS = {"a.md": "# Dogs\n\nDogs guard the yard at night.\n\n# Cats\n\nCats do not.\n", "b.md": "Puppies chew shoes.\n"}


@contextmanager
def stopped(root: Path, moment: str) -> "Iterator[subprocess.Popen[str]]":
    """A run that stands still at `moment`; killed at the end, if it still lives."""
    process = dying.start(root, moment, signal.SIGSTOP)
    try:
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        yield process
    finally:
        process.kill()
        process.communicate()


def read(how: str, root: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "-W", "error", "-m", "tests.reading", how, str(root)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=dying.REPOSITORY, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def test_a_second_indexer_is_told_who_is_at_work(tmp_path: Path) -> None:
    root = corpus(tmp_path, dict(CATS))
    with stopped(root, "embedding 1") as holder, pytest.raises(IndexLocked, match=rf"by process {holder.pid} since 20"):
        build(root)
    assert build(root).changed  # the holder was killed


def test_a_second_indexer_waits_for_the_first(tmp_path: Path) -> None:
    root = corpus(tmp_path, dict(CATS))
    with stopped(root, "publishing") as holder, dying.start(root, wait=True) as waiting:
        assert waiting.stdout is not None and waiting.stderr is not None
        waiting.stdout.readline()
        time.sleep(0.5)
        assert waiting.poll() is None
        assert not (root / ".ragx" / "index.duckdb").exists()
        holder.send_signal(signal.SIGCONT)
        assert waiting.stderr.read() == ""
        assert (holder.wait(), waiting.wait()) == (0, 0)
    assert not build(root).changed


def test_who_waits_is_let_in_when_the_holder_is_killed(tmp_path: Path) -> None:
    root = corpus(tmp_path, dict(CATS))
    with stopped(root, "publishing") as holder, dying.start(root, wait=True) as waiting:
        assert waiting.stdout is not None
        waiting.stdout.readline()
        holder.kill()
        assert waiting.wait(timeout=30) == 0
    assert not build(root).changed


def test_a_lock_whose_folder_was_removed_locks_nobody_out_and_lets_nobody_in_twice(tmp_path: Path) -> None:
    folder = tmp_path / ".ragx"
    with exclusive(folder, wait=False):
        shutil.rmtree(folder)
        with exclusive(folder, wait=False), pytest.raises(IndexLocked), exclusive(folder, wait=False):
            pass


def test_a_query_may_run_while_the_index_is_built_and_published(tmp_path: Path) -> None:
    root = corpus(tmp_path, dict(CATS))
    known = set()
    build(root)
    with read("loop", root) as reader:
        try:
            for number in range(8):
                known |= {reading.rows(root), reading.answer(root)}
                write(root, {**(DOGS if number % 2 else CATS), "c.md": f"Version {number}.\n"})
                build(root, full=number % 3 == 0)
            known |= {reading.rows(root), reading.answer(root)}
        finally:
            reader.send_signal(signal.SIGTERM)
        out, err = reader.communicate()
    assert err == ""
    seen = out.splitlines()[:-1]
    assert set(seen) <= known
    assert len(set(seen)) > 1


def test_answers_of_a_long_lived_reader_are_of_one_version_each_and_never_older_than_before(tmp_path: Path) -> None:
    things = ("baskets", "windows", "sofas", "ovens", "meadows", "attics")

    def version(number: int) -> dict[str, str | bytes]:
        return {f"{thing}.md": f"Cats of version {number} sleep in {thing}.\n" for thing in things}

    root = corpus(tmp_path, version(0))
    build(root)
    with read("search", root) as searching, read("connect", root) as connecting:
        readers = (searching, connecting)
        try:
            first = [reader.stdout.readline() for reader in readers if reader.stdout]
            assert first == ["6 0\n"] * 2
            for number in range(1, 9):
                write(root, version(number))
                build(root, full=number % 4 == 0)
            time.sleep(1)
        finally:
            for reader in readers:
                reader.send_signal(signal.SIGTERM)
        for reader in readers:
            out, err = reader.communicate()
            assert err == ""
            answers = [line.split() for line in out.splitlines()[:-1]]
            assert {(count, len(numbers)) for count, *numbers in answers} == {("6", 1)}
            seen = [int(numbers[0]) for _, *numbers in answers]
            assert seen == sorted(seen) and len(set(seen)) > 1


def test_an_open_reader_keeps_its_version_over_a_publish(tmp_path: Path) -> None:
    root = corpus(tmp_path, dict(CATS))
    build(root)
    with read("hold", root) as reader:
        assert reader.stdin is not None and reader.stdout is not None
        before = reader.stdout.readline()
        for content in (DOGS, {"c.md": "One more.\n"}):
            write(root, dict(content))
            assert build(root).changed
            print(file=reader.stdin, flush=True)
            assert reader.stdout.readline() == before
        reader.stdin.close()
    with read("hold", root) as reader:
        out, err = reader.communicate("")
    assert (out == before, err) == (False, "")


def test_a_process_that_reads_an_old_version_opens_and_updates_the_new_one(tmp_path: Path) -> None:
    root = corpus(tmp_path / "corpus", dict(CATS))
    build(root)
    with open_index(index_dir(root, settings_of(root))) as old:
        before = old.meta()
        write(root, dict(DOGS))
        with dying.start(root) as elsewhere:
            assert elsewhere.wait(timeout=30) == 0
        rows = dump(root)
        assert old.meta() == before
        with open_index(index_dir(root, settings_of(root))) as new:
            assert new.meta() != before
        write(root, {"c.md": "One more.\n"})
        build(root)
    assert dump(root) != rows
    rows = dump(root)
    with index_elsewhere(tmp_path / "full"):
        build(root, full=True)
        assert dump(root) == rows


INDEX = """
import sys
from pathlib import Path
from ragx.errors import RagxError
from tests.corpora import build
try:
    print(build(Path(sys.argv[1])).changed)
except RagxError as error:
    print(f"{type(error).__name__}: {error.message}; {error.hint}")
"""
ASK = """
import sys
from pathlib import Path
from tests.corpora import ask
print(ask(Path(sys.argv[1]), "cats").hits[0].file)
"""


@pytest.mark.parametrize("mode", [0o555, 0o666, 0o000])
def test_an_index_folder_without_the_rights_to_write_is_named(tmp_path: Path, mode: int) -> None:
    root = corpus(tmp_path, dict(CATS))
    build(root)
    write(root, dict(DOGS))
    folder = root / ".ragx"
    folder.chmod(mode)
    done = unprivileged.run(INDEX, root)
    asked = unprivileged.run(ASK, root)
    folder.chmod(0o755)
    assert done.stderr == ""
    assert done.stdout.startswith(f"UsageError: the index folder {folder} cannot be written: Permission denied; ")
    assert done.stdout.count("\n") == 1
    if mode == 0o555:
        assert asked.stdout == "a.md\n"


def test_a_file_in_the_place_of_the_index_folder_is_named(tmp_path: Path) -> None:
    root = corpus(tmp_path / "corpus", dict(CATS))
    (tmp_path / "file").write_text("")
    with index_elsewhere(tmp_path / "file"), pytest.raises(UsageError, match="cannot be written: File exists"):
        build(root)
    with index_elsewhere(tmp_path / "file" / "deeper"), pytest.raises(UsageError, match="Not a directory"):
        build(root)


def test_an_index_elsewhere_leaves_the_corpus_as_it_is(tmp_path: Path) -> None:
    root = corpus(tmp_path / "corpus", dict(CATS))
    with index_elsewhere(tmp_path / "far" / "away"):
        build(root)
        assert sorted(os.listdir(tmp_path / "far" / "away")) == [".gitignore", "index.duckdb", "lock"]
    assert sorted(os.listdir(root)) == ["a.md", "b.md", "ragx.toml"]


def test_no_home_is_needed(tmp_path: Path) -> None:
    root = corpus(tmp_path, dict(CATS))
    env = {name: value for name, value in os.environ.items() if name != "HOME"}
    for command, shown in ((["index"], "2"), (["query", "cats", "--files-only"], "a.md")):
        done = subprocess.run(
            [sys.executable, "-m", "ragx", *command], cwd=root, capture_output=True, text=True,
            env=env | {"PYTHONPATH": str(dying.REPOSITORY)},
        )  # fmt: skip
        assert (done.returncode, shown in done.stdout) == (0, True), done.stderr
