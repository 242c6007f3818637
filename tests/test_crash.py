"""A run that is killed at any moment leaves the old index whole, and the next run pays for no vector again."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest

from ragx.errors import IndexMissing
from ragx.indexing.run import Options, index
from ragx.store import create_building, explained
from ragx.types import Answer
from tests import dying
from tests.corpora import Silent, ask, build, corpus, dump, index_elsewhere, settings_of, write

QUESTION = "which copies does the vault hold?"
NOTES = [
    "Every night the server copies its disks to the vault.", "A restored disk is checked against its sums.",
    "The vault holds copies of the last thirty nights.", "Cats sleep through most of the day.",
    "Kittens sleep even more, and dream.", "Tomatoes want sun, water and patience.", "Oil the chain after rain.",
    "Bread rises twice before it is baked.", "The ferry leaves at six and waits for nobody.", "Snow closes the pass.",
    "Salt was worth more than silver here.", "The well behind the barn has never run dry.", "Bees swarm in May.",
    "The piano is tuned twice a year.", "Moss on the roof holds water.", "Sheep are shorn on a dry day in June.",
    "A ladder stands safely at a low angle.", "Plant garlic before the first frost.", "Letters took eleven days.",
    "The mill ground barley for the valley.", "Clocks run slow in summer.", "Candles burn longer with a short wick.",
    "Cut the hedge after the birds have left.", "The cradle is made of walnut.",
]  # fmt: skip
EDITS = {"note3.md": "# Cats\n\nCats sleep.\n\n# Dogs\n\nDogs do not.\n", "note24.md": "A violin bow needs rosin.\n"}
NEW_CHUNKS = 3


@dataclass(frozen=True)
class Tree:
    """A corpus, what a full build makes of it, and an index of its state before the last edits."""

    root: Path
    old_index: Path
    rows: dict[str, list[tuple[Any, ...]]]
    answer: Answer
    texts: int
    old_vectors: set[int]
    new_texts: int


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    place = tmp_path_factory.mktemp("crash")
    root = corpus(place / "corpus", {f"note{number}.md": f"{text}\n" for number, text in enumerate(NOTES)})
    with index_elsewhere(place / "old"):
        build(root)
        old_vectors = dying.vectors(place / "old" / "index.duckdb")
    write(root, dict(EDITS))
    (root / "note5.md").unlink()
    (root / "note6.md").rename(root / "moved.md")
    with index_elsewhere(place / "full"):
        texts = build(root, full=True).texts_embedded
        rows, answer = dump(root), ask(root, QUESTION)
    with index_elsewhere(place / "incremental"):
        restore(place / "old", place / "incremental")
        new_texts = build(root).texts_embedded
    return Tree(root, place / "old", rows, answer, texts, old_vectors, new_texts)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Where the index of this test's runs is."""
    with index_elsewhere(tmp_path / "index"):
        yield tmp_path / "index"


def restore(index: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(index / "index.duckdb", folder)


def check_after_first_build(tree: Tree, folder: Path) -> None:
    paid = dying.committed(folder)
    if (folder / "index.duckdb").exists():
        assert dump(tree.root) == tree.rows
        check_next_run(tree, folder, embedded=0)
    else:
        with pytest.raises(IndexMissing):
            dump(tree.root)
        check_next_run(tree, folder, embedded=tree.texts - len(paid))


def check_after_incremental_run(tree: Tree, folder: Path) -> None:
    paid = dying.committed(folder) - tree.old_vectors
    # Where no chunk needs the model, the measure that was taken before stands.
    needs_model = not published(tree, folder) and len(paid) < NEW_CHUNKS
    check_next_run(tree, folder, embedded=tree.new_texts - len(paid) if needs_model else 0)


def check_after_full_build(tree: Tree, folder: Path) -> None:
    paid = dying.committed(folder)
    published(tree, folder)
    check_next_run(tree, folder, embedded=tree.texts - len(paid), full=True)


def published(tree: Tree, folder: Path) -> bool:
    """Whether the new index is there, and whole; else it is the old one, byte by byte."""
    if (folder / "index.duckdb").read_bytes() == (tree.old_index / "index.duckdb").read_bytes():
        return False
    assert dump(tree.root) == tree.rows
    return True


def check_next_run(tree: Tree, folder: Path, embedded: int, **options: bool) -> None:
    assert build(tree.root, **options).texts_embedded == embedded
    assert dump(tree.root) == tree.rows
    assert ask(tree.root, QUESTION) == tree.answer
    assert sorted(os.listdir(folder)) == [".gitignore", "index.duckdb", "lock"]


@pytest.mark.parametrize("moment", ["sorting keywords", "embedding 7", "measuring 1", "open index"])
def test_a_killed_first_build_embeds_nothing_twice(tree: Tree, folder: Path, moment: str) -> None:
    dying.die(tree.root, moment)
    if moment == "embedding 7":
        assert len(dying.committed(folder)) == 7 // dying.COMMIT_TEXTS * dying.COMMIT_TEXTS
    check_after_first_build(tree, folder)


@pytest.mark.parametrize(
    "moment",
    [
        "shutil.copyfile index.duckdb", "os.rename building.copy", "reading 1", "embedding 3", "linking similar chunks",
        "publishing", "open building.duckdb", "os.rename building.duckdb", "open index",
    ],
)  # fmt: skip
def test_a_killed_incremental_run_leaves_the_old_index(tree: Tree, folder: Path, moment: str) -> None:
    restore(tree.old_index, folder)
    dying.die(tree.root, moment)
    check_after_incremental_run(tree, folder)


@pytest.mark.parametrize("moment", ["embedding 5", "measuring 2", "os.rename building-full.duckdb", "open index"])
def test_a_killed_full_build_goes_on_where_it_stopped(tree: Tree, folder: Path, moment: str) -> None:
    restore(tree.old_index, folder)
    dying.die(tree.root, moment, full=True)
    check_after_full_build(tree, folder)


@pytest.mark.parametrize("seed", range(6))
def test_a_run_may_be_killed_at_any_time(tree: Tree, folder: Path, seed: int) -> None:
    check = (check_after_first_build, check_after_incremental_run, check_after_full_build)[seed % 3]
    full = check is check_after_full_build
    if check is not check_after_first_build:
        restore(tree.old_index, folder)
    with dying.start(tree.root, full=full) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(random.Random(seed).uniform(0, 0.6))
        process.kill()
    check(tree, folder)


@pytest.mark.parametrize("moment", ["reading 3", "embedding 3", "os.rename building.duckdb"])
def test_ctrl_c_leaves_the_old_index_and_all_that_was_embedded(tree: Tree, folder: Path, moment: str) -> None:
    restore(tree.old_index, folder)
    dying.die(tree.root, moment, signal.SIGINT)
    if moment == "embedding 3":
        assert len(dying.committed(folder) - tree.old_vectors) == 3
    check_after_incremental_run(tree, folder)


def test_ctrl_c_in_the_middle_of_a_statement_is_no_error_of_the_database(tree: Tree) -> None:
    program = """
import os, signal, sys, threading
from pathlib import Path
from ragx.store import Statement, open_index
with open_index(Path(sys.argv[1])) as store:
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    store.rows(Statement("long", "SELECT sum(a.range * b.range) FROM range(1000000) a, range(1000000) b", frozenset()))
"""
    command = [sys.executable, "-c", program, str(tree.old_index)]
    done = subprocess.run(command, cwd=dying.REPOSITORY, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr.strip().rpartition("\n")[2]) == (-signal.SIGINT, "KeyboardInterrupt")


def test_ctrl_c_while_rows_are_handed_over_is_no_error_of_the_database(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), explained(tmp_path):
        raise duckdb.Error("KeyboardInterrupt: <EMPTY MESSAGE>")


def test_killed_again_and_again_a_run_comes_to_its_end(tree: Tree, folder: Path) -> None:
    restore(tree.old_index, folder)
    paid = 0
    for moment in ("embedding 5", "embedding 4", "measuring 3"):
        dying.die(tree.root, moment, full=True)
        assert len(dying.committed(folder)) > paid
        paid = len(dying.committed(folder))
        assert len(list(folder.glob("building*.duckdb"))) == 1
    check_after_full_build(tree, folder)


def test_an_interrupted_full_build_waits_for_the_next_one_over_other_runs(tree: Tree, folder: Path) -> None:
    restore(tree.old_index, folder)
    dying.die(tree.root, "embedding 9", full=True)
    paid = dying.committed(folder)
    progress = Silent()
    for changed in (True, False):
        report = index(tree.root, settings_of(tree.root), Options(), progress)
        assert report.changed == changed
        assert report.texts_embedded <= tree.new_texts
        assert dying.committed(folder) == paid
    assert progress.warnings == ["a full build did not end; it goes on where it stopped with: ragx index --full"] * 2
    check_next_run(tree, folder, embedded=tree.texts - len(paid), full=True)


def test_a_full_build_takes_no_vector_of_the_index_from_an_interrupted_run(tree: Tree, folder: Path) -> None:
    for moment in ("os.rename building.copy", "embedding 3"):
        restore(tree.old_index, folder)
        dying.die(tree.root, moment)
        check_next_run(tree, folder, embedded=tree.texts, full=True)
        (folder / "index.duckdb").unlink()


def test_a_full_build_takes_no_vector_of_the_index_from_an_interrupted_one_that_kept_them(
    tree: Tree, folder: Path
) -> None:
    restore(tree.old_index, folder)
    dying.die(tree.root, "embedding 1", full=True, keep_vectors=True)
    check_next_run(tree, folder, embedded=tree.texts, full=True)


def test_a_full_build_that_keeps_vectors_takes_those_of_the_index_and_of_interrupted_runs(
    tree: Tree, folder: Path
) -> None:
    restore(tree.old_index, folder)
    dying.die(tree.root, "embedding 3")
    paid = dying.committed(folder) - tree.old_vectors
    assert paid
    check_next_run(tree, folder, embedded=tree.new_texts - len(paid), full=True, keep_vectors=True)


def test_a_vector_that_was_committed_twice_is_taken_once(tree: Tree, folder: Path) -> None:
    dying.die(tree.root, "embedding 5")
    with duckdb.connect(folder / "building.duckdb") as connection:
        connection.execute("INSERT INTO embeddings_recent FROM embeddings_recent")
    check_after_first_build(tree, folder)
    with duckdb.connect(folder / "index.duckdb", read_only=True) as connection:
        assert connection.execute("SELECT count(*) - count(DISTINCT id) FROM embeddings").fetchone() == (0,)


@pytest.mark.parametrize(
    ("spoil", "warned"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:12288] + bytes(2_000_000)), True),
        (lambda path: os.truncate(path, path.stat().st_size // 2), True),
        (lambda path: os.truncate(path, 0), False),
        (lambda path: path.write_bytes(b"no database" * 5000), True),
    ],
    ids=["blanked", "cut off", "empty", "no database"],
)
def test_a_damaged_file_of_an_interrupted_run_stops_no_run(tree: Tree, folder: Path, spoil: Any, warned: bool) -> None:
    dying.die(tree.root, "publishing")
    with duckdb.connect(folder / "building.duckdb") as connection:
        connection.execute("CHECKPOINT")
    spoil(folder / "building.duckdb")
    progress = Silent()
    report = index(tree.root, settings_of(tree.root), Options(), progress)
    assert report.texts_embedded == tree.texts
    assert bool(progress.warnings) == warned
    check_next_run(tree, folder, embedded=0)


@pytest.mark.parametrize("tail", [b"\0" * 5000, b"\0" * 20, b"garbage" * 1000])
def test_what_was_committed_before_the_power_failed_is_kept(tree: Tree, folder: Path, tail: bytes) -> None:
    dying.die(tree.root, "embedding 9")
    paid = dying.committed(folder)
    with (folder / "building.duckdb.wal").open("ab") as log:
        log.write(tail)
    check_next_run(tree, folder, embedded=tree.texts - len(paid))


@pytest.mark.parametrize("moment", ["building the vector index", "publishing"])
def test_a_vector_index_in_the_log_does_not_hide_the_vectors(tree: Tree, folder: Path, moment: str) -> None:
    settings = tree.root / "ragx.toml"
    settings.write_text('[vectors]\nhnsw = "always"\n')
    try:
        dying.die(tree.root, moment)
        assert build(tree.root).texts_embedded == 0
    finally:
        settings.write_text("")


def test_vectors_of_another_model_are_passed_over_in_silence(tree: Tree, folder: Path) -> None:
    folder.mkdir()
    with create_building(folder / "building.duckdb", 3) as store:
        store.connection.execute("INSERT INTO embeddings_recent VALUES (1, [1, 0, 0])")
    progress = Silent()
    index(tree.root, settings_of(tree.root), Options(), progress)
    assert progress.warnings == []
    check_next_run(tree, folder, embedded=0)


def test_a_log_without_its_file_is_never_replayed_onto_a_new_one(tree: Tree, folder: Path) -> None:
    restore(tree.old_index, folder)
    dying.die(tree.root, "embedding 3")
    (folder / "building.duckdb").unlink()
    assert (folder / "building.duckdb.wal").exists()
    check_next_run(tree, folder, embedded=tree.new_texts)
