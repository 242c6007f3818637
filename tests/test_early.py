"""While a first run still embeds, the words of the corpus can be searched, and the file says what it lacks."""

import json
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

import ragx
from ragx import cli
from ragx.indexing import run
from ragx.store import INCOMPLETE
from tests import dying
from tests.corpora import ask, build, corpus, dump, index_elsewhere, write

NOTES: dict[str, str | bytes] = {
    "backup.md": "# Backups\n\nEvery night the server copies its disks to the vault. See [restoring](restore.md).\n",
    "restore.md": "# Restoring\n\nA restored disk is checked against its sums.\n",
    "cats.md": "Cats sleep through most of the day.\n",
    "kittens.txt": "Kittens sleep even more, and dream.\n",
    "garden.md": "# Garden\n\nTomatoes want sun, water and patience.\n",
    "bread.md": "Bread rises twice before it is baked.\n",
}
TEXTS = len(NOTES)
WARNING = f"{INCOMPLETE}; run: ragx index\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A corpus whose first run was killed when it had embedded three texts, of which two are committed."""
    root = corpus(tmp_path / "corpus", dict(NOTES))
    dying.die(root, "embedding 3", early_texts=TEXTS)
    return root


@pytest.fixture(scope="module")
def read_only(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The same, for tests that change nothing."""
    root = corpus(tmp_path_factory.mktemp("early"), dict(NOTES))
    dying.die(root, "embedding 3", early_texts=TEXTS)
    yield root


def test_words_are_found_before_anything_is_embedded(read_only: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["query", "what does the vault copy?", "--json", "-C", str(read_only)]) == 0
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert document["results"][0]["file"] == "backup.md"
    assert document["results"][0]["cosine"] is None
    ran = {stage["name"]: stage["ran"] for stage in document["stages"]}
    assert ran == {
        "expansion": False, "vector": False, "keyword": True, "fusion": True, "graph": False, "second": False,
        "rerank": True,
    }  # fmt: skip
    details = {stage["name"]: stage["detail"] for stage in document["stages"]}
    assert (details["vector"], details["graph"]) == (f"{INCOMPLETE}; run: ragx index", INCOMPLETE)
    assert err == f"vector skipped: {WARNING}"


def test_what_no_text_says_is_nothing_relevant(read_only: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["query", "zxqv blorp", "-C", str(read_only)]) == 1
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 2)


def test_status_says_what_is_not_there_yet(read_only: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["status", "-C", str(read_only)]) == 0
    out, err = capsys.readouterr()
    assert "graph       none yet, and no vectors; run: ragx index\n" in out
    assert err == f"warning: {WARNING}"
    assert cli.run(["status", "--json", "-C", str(read_only)]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["complete"], document["chunks"], document["edges"] > 0) == (False, TEXTS, True)


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (["sql", "--format", "csv", "SELECT path FROM keyword_search('vault')"], "backup.md"),
        (["sql", "--format", "csv", "SELECT count(*) AS n FROM v_chunks WHERE vector IS NULL"], "6"),
        (["inspect", "file", "cats.md"], "cats.md"),
        (["inspect", "chunk", "cats.md:1"], "Cats sleep"),
        (["inspect", "links", "restore.md"], "backup.md"),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, list) else "",
)
def test_what_needs_no_vector_works_with_a_warning(
    read_only: Path, capsys: pytest.CaptureFixture[str], command: list[str], shown: str
) -> None:
    assert cli.run([*command, "-C", str(read_only)]) == 0
    out, err = capsys.readouterr()
    assert shown in out
    assert err == f"warning: {WARNING}"


@pytest.mark.parametrize(
    "command",
    [
        ["similar", "cats.md"], ["similar", "--duplicates"], ["inspect", "neighbors", "cats.md:1"],
        ["inspect", "communities"], ["inspect", "community", "0"], ["inspect", "path", "cats.md", "bread.md"],
        ["query", "cats", "--global"], ["export", "out"], ["eval", "queries.jsonl"], ["tune", "queries.jsonl"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_what_needs_vectors_says_so_in_one_line(
    read_only: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    command: list[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    queries = tmp_path / "queries.jsonl"
    queries.write_text('{"query": "cats", "relevant": ["cats.md"]}\n')
    command = [str(tmp_path / argument) if argument in ("out", queries.name) else argument for argument in command]
    assert cli.run([*command, "-C", str(read_only)]) == 2
    assert capsys.readouterr() == ("", f"ragx: {WARNING}")
    assert list(tmp_path.iterdir()) == [queries]


def test_python_is_warned_and_sees_the_whole_index_when_it_is_there(root: Path) -> None:
    with pytest.warns(UserWarning, match="no vectors and no graph yet"):
        assert ragx.connect(root).sql("SELECT count(*) FROM chunks").fetchone() == (TEXTS,)
    with pytest.warns(UserWarning, match="no vectors and no graph yet"):
        table = ragx.search("cats", root, rerank=False)
    assert table.column("file").to_pylist() == ["cats.md"]
    build(root)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = ragx.search("cats", root, rerank=False)
    assert table.num_rows > 1 and table.column("cosine").null_count == 0


def test_the_next_run_goes_on_and_embeds_no_text_twice(root: Path, tmp_path: Path) -> None:
    paid = dying.committed(root / ".ragx")
    assert len(paid) == 2
    report = build(root)
    assert report.changed
    assert (report.texts_embedded, report.texts_reused, report.files.unchanged) == (TEXTS - 2, 2, TEXTS)
    assert not build(root).changed
    assert sorted(path.name for path in (root / ".ragx").iterdir()) == [".gitignore", "index.duckdb", "lock"]
    check_equals_a_full_build(root, tmp_path)


def test_a_dry_run_does_not_take_it_for_up_to_date(read_only: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["index", "--dry-run", "-C", str(read_only)]) == 0
    assert "up to date" not in capsys.readouterr().out


def test_edits_before_the_next_run_are_seen(root: Path, tmp_path: Path) -> None:
    write(root, {"cats.md": "Cats do not sleep.\n", "new.md": "A violin bow needs rosin, says [[cats]].\n"})
    (root / "bread.md").unlink()
    (root / "restore.md").rename(root / "moved.md")
    build(root)
    check_equals_a_full_build(root, tmp_path)


def test_settings_may_be_changed_as_long_as_nothing_was_published_but_words(root: Path, tmp_path: Path) -> None:
    # Else the second try of a first run would ask for --full.
    (root / "ragx.toml").write_text("[chunking]\nsize_tokens = 64\n")
    assert build(root).chunks_removed == 0
    check_equals_a_full_build(root, tmp_path)


@pytest.mark.parametrize(
    "moment", ["os.rename building1.copy", "os.rename building1.duckdb", "measuring 1", "linking similar chunks"]
)
def test_a_run_that_is_killed_around_it_loses_nothing(tmp_path: Path, moment: str) -> None:
    notes = {**NOTES, **{f"{number}.md": f"Note {number} tells of night {number}.\n" for number in range(20)}}
    root = corpus(tmp_path / "corpus", notes)
    dying.die(root, moment, early_texts=1)
    paid = dying.committed(root / ".ragx")
    with index_elsewhere(tmp_path / "all"):
        texts = build(root).texts_embedded
    assert build(root).texts_embedded == texts - len(paid)
    check_equals_a_full_build(root, tmp_path)


def test_an_index_of_keywords_never_replaces_a_whole_one(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "EARLY_TEXTS", 1)
    build(root)
    rows = dump(root)
    for options in ({}, {"full": True}):
        write(root, {"new.md": f"A violin bow needs rosin: {options}.\n"})
        dying.die(root, "embedding 1", early_texts=1, **options)
        assert dump(root) == rows
        assert ask(root, "cats").stages[1].ran


def check_equals_a_full_build(root: Path, tmp_path: Path) -> None:
    rows, answer = dump(root), ask(root, "how long do cats sleep?")
    with index_elsewhere(tmp_path / "full"):
        build(root, full=True)
        assert dump(root) == rows
        assert ask(root, "how long do cats sleep?") == answer
