"""Whatever stands in the place of the index: one line says what it is, and nothing of others is destroyed."""

import json
import os
import random
import signal
import sqlite3
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import duckdb
import pytest

from ragx.errors import IndexForeign, IndexLocked, IndexUnusable, RagxError
from ragx.store import Statement, open_index
from tests import dying, unprivileged
from tests.corpora import ask, build, corpus, dump, index_elsewhere, write

BLOCK = 256 * 1024
QUESTION = "what do cats do?"
FRUITS = ("Apples", "Pears", "Plums", "Quinces", "Cherries")
PLACES = ("the north", "the valley", "an old garden", "Spain")
FILES = {
    "cats.md": "# Cats\n\nCats sleep through most of the day.\n\n# Kittens\n\nKittens sleep even more, and dream.\n",
    "vault.md": "Every night the server copies its disks to the vault.\n",
    **{f"{fruit} of {place}.txt": f"{fruit} of {place}.\n" for fruit, place in product(FRUITS, PLACES)},
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus with an index."""
    root = corpus(tmp_path_factory.mktemp("built"), dict(FILES))
    build(root)
    return root


@pytest.fixture
def place(built: Path, tmp_path: Path) -> Iterator[Path]:
    """Where a copy of the index is that a test may spoil; runs of `built` find it there."""
    folder = tmp_path / "index"
    folder.mkdir()
    copy = folder / "index.duckdb"
    copy.write_bytes((built / ".ragx" / "index.duckdb").read_bytes())
    with index_elsewhere(folder):
        yield copy


def said(error: RagxError) -> str:
    """What the command line prints."""
    assert "\n" not in error.message + error.hint
    return f"{error.message}; {error.hint}"


def test_the_published_file_is_read_only_for_everybody(built: Path) -> None:
    assert (built / ".ragx" / "index.duckdb").stat().st_mode & 0o777 == 0o444


def test_a_notebook_that_opens_it_for_writing_fails_and_spoils_nothing(built: Path) -> None:
    folder = built / ".ragx"
    before = (folder / "index.duckdb").read_bytes()
    done = unprivileged.run("import duckdb, sys; duckdb.connect(sys.argv[1])", folder / "index.duckdb")
    assert "Permission denied" in done.stderr
    assert (folder / "index.duckdb").read_bytes() == before
    assert sorted(os.listdir(folder)) == [".gitignore", "index.duckdb", "lock"]
    done = unprivileged.run(
        "import duckdb, sys; print(duckdb.connect(sys.argv[1], read_only=True).execute('FROM chunks').fetchone()[2])",
        folder / "index.duckdb",
    )
    assert (done.stdout.strip().isdigit(), done.stderr) == (True, "")


def empty(path: Path) -> None:
    path.write_bytes(b"")


def text(path: Path) -> None:
    path.write_text("not a database\n" * 1000)


def noise(path: Path) -> None:
    path.write_bytes(random.Random(1).randbytes(1_000_000))


def sqlite(path: Path) -> None:
    path.unlink()
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE t (a)")
    connection.close()


def cut(share: float) -> Callable[[Path], None]:
    def spoil(path: Path) -> None:
        os.truncate(path, int(path.stat().st_size * share))

    return spoil


def without_last_byte(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 1)


def blank(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:12288] + bytes(path.stat().st_size - 12288))


def from_a_newer_duckdb(path: Path) -> None:
    """The first header: a checksum, DUCK, the number of the storage version."""
    data = bytearray(path.read_bytes())
    data[12] += 100
    checksum = 5381
    for (word,) in struct.iter_unpack("<Q", data[8:4096]):
        checksum ^= word * 0xBF58476D1CE4E5B9 & (1 << 64) - 1
    data[:8] = struct.pack("<Q", checksum)
    path.write_bytes(data)


def schema(number: int) -> Callable[[Path], None]:
    def spoil(path: Path) -> None:
        with duckdb.connect(path) as connection:
            connection.execute("UPDATE meta SET value = ? WHERE key = 'schema'", [json.dumps(number)])

    return spoil


DAMAGED = "is damaged or not a DuckDB file; run: ragx index --full"
MENDABLE: dict[str, tuple[Callable[[Path], None], str]] = {
    "empty": (empty, DAMAGED),
    "text": (text, DAMAGED),
    "noise": (noise, DAMAGED),
    "sqlite": (sqlite, DAMAGED),
    "cut to nothing": (cut(0.0001), DAMAGED),
    "cut to a third": (cut(0.3), DAMAGED),
    "cut to nine tenths": (cut(0.9), DAMAGED),
    "cut by a byte": (without_last_byte, DAMAGED),
    "blank": (blank, DAMAGED),
    "newer DuckDB": (from_a_newer_duckdb, "was written by another version of DuckDB; run: ragx index --full"),
    "newer": (
        schema(999),
        "was written by a newer version of ragx (schema 999); upgrade ragx, or run: ragx index --full",
    ),
}


@pytest.mark.parametrize(("spoil", "message"), MENDABLE.values(), ids=MENDABLE)
def test_an_unusable_index_is_named_and_a_full_build_mends_it(
    built: Path, place: Path, spoil: Callable[[Path], None], message: str
) -> None:
    rows = dump(built)
    spoil(place)
    for use in (dump, build):
        with pytest.raises(IndexUnusable) as caught:
            use(built)
        assert said(caught.value).startswith(str(place))
        assert said(caught.value).endswith(message)
    build(built, full=True, keep_vectors=spoil is not empty)
    assert dump(built) == rows
    assert sorted(os.listdir(place.parent)) == [".gitignore", "index.duckdb", "lock"]


def test_an_index_of_an_earlier_data_model_is_renewed_without_embedding_anything(built: Path, place: Path) -> None:
    rows = dump(built)
    schema(1)(place)
    with duckdb.connect(place) as connection:
        connection.execute("DROP TABLE community_labels")
    with pytest.raises(IndexUnusable) as caught:
        dump(built)
    assert said(caught.value) == f"{place} was written by an earlier version of ragx (schema 1); run: ragx index"
    assert build(built, dry_run=True).texts_embedded == 0
    report = build(built)
    assert (report.texts_embedded, report.chunks_total) == (0, len(rows["chunks"]))
    assert dump(built) == rows
    assert not build(built).changed


def test_a_damaged_block_is_found_when_it_is_read_and_gives_no_wrong_answer(built: Path, place: Path) -> None:
    rows, answer = dump(built), ask(built, QUESTION)
    whole = place.read_bytes()
    outcomes = []
    for start in range(3 * 4096, len(whole), BLOCK):
        place.write_bytes(whole[:start] + bytes(BLOCK) + whole[start + BLOCK :])
        try:
            assert (dump(built), ask(built, QUESTION)) == (rows, answer)
            outcomes.append("whole")
        except IndexUnusable as error:
            assert said(error) == f"{place} {DAMAGED}"
            outcomes.append("damaged")
    assert outcomes.count("damaged") > len(outcomes) / 2


def test_a_run_over_a_damaged_block_leaves_the_index_and_says_how_to_mend_it(built: Path, place: Path) -> None:
    write(built, {"new.md": "Something new.\n"})
    whole = place.read_bytes()
    for start in range(3 * 4096, len(whole), 3 * BLOCK):
        place.write_bytes(whole[:start] + bytes(BLOCK) + whole[start + BLOCK :])
        before = place.stat()
        try:
            build(built)
        except IndexUnusable as error:
            assert said(error) == f"{place} {DAMAGED}"
            assert os.path.samestat(place.stat(), before)
        place.unlink()
    place.write_bytes(whole)
    (built / "new.md").unlink()
    build(built)


def test_a_wrong_statement_stays_an_error_of_the_program(built: Path) -> None:
    with pytest.raises(duckdb.BinderException), open_index(built / ".ragx") as store:
        store.run(Statement("wrong", "SELECT nothing FROM chunks", frozenset()))
    with pytest.raises(duckdb.ConversionException), open_index(built / ".ragx") as store:
        store.connection.execute("SELECT text::INTEGER FROM chunks").fetchall()


def a_database(path: Path) -> None:
    path.unlink()
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE accounts AS SELECT 1 AS balance")


def a_database_with_a_log(path: Path) -> None:
    path.unlink()
    killed_writer(path, "CREATE TABLE accounts AS SELECT 1 AS balance")


def a_database_with_a_table_of_that_name(path: Path) -> None:
    path.unlink()
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE meta AS SELECT 'color' AS key, 'blue' AS value")


def an_encrypted_database(path: Path) -> None:
    path.unlink()
    with duckdb.connect() as connection:
        connection.execute("SET force_mbedtls_unsafe = true")
        connection.execute(f"ATTACH '{path}' AS secret (ENCRYPTION_KEY 'key')")
        connection.execute("CREATE TABLE secret.accounts AS SELECT 1 AS balance")


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "thesis.tex").write_text("years of work")


def a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def killed_writer(path: Path, statement: str) -> None:
    """Leaves a database with a log."""
    program = "import duckdb, os, sys; c = duckdb.connect(sys.argv[1]); c.execute(sys.argv[2]); os.kill(os.getpid(), 9)"
    assert subprocess.run([sys.executable, "-c", program, str(path), statement]).returncode == -signal.SIGKILL
    assert path.with_name(path.name + ".wal").exists()


def contents(folder: Path) -> dict[str, bytes | None]:
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.name not in ("lock", ".gitignore"):
            found[path.name] = path.read_bytes() if path.is_file() else None
    return found


@pytest.mark.parametrize(
    "put",
    [
        a_database, a_database_with_a_log, a_database_with_a_table_of_that_name, an_encrypted_database, a_folder,
        a_pipe,
    ],
)  # fmt: skip
def test_what_is_no_index_is_never_replaced(built: Path, place: Path, put: Callable[[Path], None]) -> None:
    put(place)
    before = contents(place.parent)
    uses: list[Callable[[], object]] = [lambda: build(built), lambda: build(built, full=True)]
    if put is not a_database_with_a_log:  # of which a reader sees the log
        uses.append(lambda: dump(built))
    for use in uses:
        with pytest.raises(IndexForeign) as caught:
            use()
        assert said(caught.value).startswith(f"{place} is ")
        assert said(caught.value).endswith("; move it away and run: ragx index")
    assert contents(place.parent) == before


@pytest.mark.parametrize("full", [False, True])
def test_a_log_that_a_writer_left_is_removed_and_never_replayed(built: Path, place: Path, full: bool) -> None:
    rows = dump(built)
    killed_writer(place, "DELETE FROM chunks")
    with pytest.raises(IndexUnusable) as caught:
        dump(built)
    assert said(caught.value) == f"{place}.wal was left by a program that opened the index for writing; run: ragx index"
    build(built, full=full)
    assert dump(built) == rows
    assert sorted(os.listdir(place.parent)) == [".gitignore", "index.duckdb", "lock"]


def test_a_log_beside_a_damaged_index_does_not_hide_the_damage(built: Path, place: Path) -> None:
    place.with_name("index.duckdb.wal").write_bytes(b"x" * 100)
    noise(place)
    with pytest.raises(IndexUnusable) as caught:
        build(built)
    assert said(caught.value) == f"{place} {DAMAGED}"
    build(built, full=True)
    assert not build(built).changed


def test_an_index_that_is_open_for_writing_elsewhere_is_left_alone(built: Path, place: Path) -> None:
    program = (
        "import duckdb, sys; c = duckdb.connect(sys.argv[1]); c.execute(sys.argv[2]); print(1, flush=True); input()"
    )
    for statement in ("SELECT 1", "DELETE FROM chunks"):
        command = [sys.executable, "-c", program, str(place), statement]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdin is not None and writer.stdout is not None
            writer.stdout.readline()
            before = contents(place.parent)
            for full in (False, True):
                with pytest.raises(IndexLocked, match="open for writing in another program"):
                    build(built, full=full)
            assert contents(place.parent) == before
            writer.kill()


def test_an_index_without_the_right_to_read_it_is_named(built: Path, place: Path) -> None:
    program = """
import sys
from pathlib import Path
from ragx.errors import IndexUnusable
from ragx.store import open_index
try:
    open_index(Path(sys.argv[1]))
except IndexUnusable as error:
    print(error.message)
"""
    place.chmod(0)
    done = unprivileged.run(program, place.parent)
    assert (done.stdout, done.stderr) == (f"{place} may not be read: permission denied\n", "")
    place.parent.chmod(0)
    done = unprivileged.run(program, place.parent)
    place.parent.chmod(0o755)
    assert (done.stdout.lower(), done.stderr) == (f"{place} may not be read: permission denied\n".lower(), "")


FULL_DISK = """
import json, resource, signal, sys
from pathlib import Path
from ragx.errors import DiskFull
from ragx.indexing import embed
from tests.corpora import build
embed._COMMIT_TEXTS = 2
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    build(Path(sys.argv[1]), **json.loads(sys.argv[3]))
except DiskFull as error:
    print(f"{error.message}; {error.hint}")
"""


def fill_the_disk(root: Path, room: int, **options: bool) -> str:
    """A run for whose files there is no more than `room` bytes each."""
    command = [sys.executable, "-W", "error", "-c", FULL_DISK, str(root), str(room), json.dumps(options)]
    done = subprocess.run(command, cwd=dying.REPOSITORY, capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("room", [0, 5_000, 150_000, 1_000_000])
def test_a_full_disk_leaves_the_index_and_keeps_what_was_embedded(built: Path, place: Path, room: int) -> None:
    rows = dump(built)
    shown = fill_the_disk(built, room, full=True)
    assert shown == f"the disk is full: no room in {place.parent}; free some space and run it again\n"
    assert dump(built) == rows
    paid = dying.committed(place.parent)
    assert bool(paid) == (room >= 150_000)
    with duckdb.connect(place, read_only=True) as connection:
        (texts,) = connection.execute("SELECT count(*) FROM embeddings").fetchone() or ()
    assert build(built, full=True).texts_embedded == texts - len(paid)


def test_a_full_disk_in_an_incremental_run_leaves_the_index(built: Path, place: Path) -> None:
    rows = dump(built)
    write(built, {"new.md": "Something new.\n"})
    for room in (1_000_000, place.stat().st_size, place.stat().st_size + 200_000):
        assert fill_the_disk(built, room).startswith("the disk is full: ")
        assert dump(built) == rows
        assert not list(place.parent.glob("*.copy"))
    build(built)
    (built / "new.md").unlink()
    build(built)
    assert sorted(os.listdir(place.parent)) == [".gitignore", "index.duckdb", "lock"]
