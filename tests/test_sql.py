"""`ragx sql`: what the sandbox lets through, the cookbook, and each form of output."""

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from ragx.cli import run
from ragx.errors import ModelError, UsageError
from ragx.render import rows
from ragx.render.terminal import View
from ragx.store import answering, cookbook, open_sandbox
from tests.corpora import build, corpus
from tests.notes import NOTES
from tests.rendered import valid

Ask = Callable[..., tuple[int, str, str]]

PLAN = "Order [cloves](garden/garlic.md) in time.\n\nThen see to the [[Cellar]].\n"
ENDLESS = "SELECT count(*) FROM range(100000000000) a, range(1000000) b WHERE a.range % 7 = b.range % 5"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = corpus(tmp_path_factory.mktemp("sql"), NOTES | {"plan.md": PLAN})
    build(root)
    return root


@pytest.fixture
def ask(root: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Ask:
    monkeypatch.chdir(root)
    monkeypatch.setenv("HOME", str(tmp_path))

    def ask(*arguments: str) -> tuple[int, str, str]:
        code = run(["sql", *arguments])
        return code, *capfd.readouterr()

    return ask


def one(root: Path, sql: str, seconds: float = 30, **values: str) -> list[tuple[Any, ...]]:
    with open_sandbox(root / ".ragx") as store, answering(store, sql, values, seconds) as result:
        return result.fetchall()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM files",
        "FROM files",
        "WITH a AS (SELECT 1 AS b) SELECT b FROM a",
        "VALUES (1)",
        "DESCRIBE files",
        "SUMMARIZE chunks",
        "EXPLAIN FROM files",
        "/* why */ explain ANALYZE -- so\n SELECT 1;",
        "EXPLAIN (FORMAT json) SELECT 1",
        "EXPLAIN (SELECT 1)",
        "SELECT 'COPY; ATTACH; enable_profiling()'",
    ],
)
def test_what_reads_is_run(root: Path, sql: str) -> None:
    assert one(root, sql)


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TABLE memory.main.t AS SELECT 1",
        "CREATE TEMP TABLE t (a INTEGER)",
        "INSERT INTO files SELECT * FROM files",
        "DELETE FROM files",
        "COPY files TO 'stolen.csv'",
        "ATTACH 'other.duckdb'",
        "INSTALL vss",
        "LOAD vss",
        "CALL pragma_version()",
        "PRAGMA enable_profiling",
        "SET threads = 1",
        "SET lock_configuration = false",
        "RESET memory_limit",
        "USE memory",
        "EXPORT DATABASE 'x'",
        "CHECKPOINT",
        "BEGIN",
        "PREPARE p AS SELECT 1",
        "SELECT 1; SELECT 2",
        "SELECT 1; COPY files TO 'stolen.csv'",
        "EXPLAIN ANALYZE CREATE TABLE memory.main.t AS SELECT 1",
        "EXPLAIN ANALYZE COPY files TO 'stolen.csv'",
        "EXPLAIN ANALYZE SELECT * FROM enable_profiling()",
        "FROM enable_profiling()",
        "FROM enable_logging(storage = 'stdout')",
        "FROM query('FROM enable' || '_profiling()')",
        "SELECT 1 WHERE EXISTS (FROM disable_logging())",
        "FROM force_checkpoint()",
        "FROM read_csv('/etc/passwd')",
        "FROM '/etc/passwd'",
        "FROM read_text('ragx.toml')",
        "FROM glob('*')",
        "FROM read_parquet('https://example.com/x.parquet')",
        "FROM duckdb_secrets()",
        "FROM root",
        "",
        "-- nothing",
        "SELEC 1",
    ],
)
def test_what_does_more_than_read_is_refused(root: Path, sql: str, capfd: pytest.CaptureFixture[str]) -> None:
    before = sorted(root.rglob("*"))
    with pytest.raises(UsageError) as refused:
        one(root, sql)
    assert "\n" not in refused.value.message and len(refused.value.message) < 320
    assert sorted(root.rglob("*")) == before
    assert capfd.readouterr() == ("", "")


def test_the_bounds_of_memory_and_disk_hold(root: Path) -> None:
    settings = dict(one(root, "SELECT name, value FROM duckdb_settings()"))
    assert settings["memory_limit"] == "953.6 MiB"
    assert settings["max_temp_directory_size"] == "3.7 GiB"
    assert not Path(settings["temp_directory"]).exists()
    assert settings["enable_external_access"] == "false" and settings["lock_configuration"] == "true"


def test_the_place_of_an_error_is_named_where_it_is_not_the_first_line(root: Path) -> None:
    with pytest.raises(UsageError, match=r'column "nope" not found.*\(line 2\)$'):
        one(root, "SELECT\n nope FROM files")


def test_parameters_are_values_and_never_sql(root: Path) -> None:
    assert one(root, "SELECT $a, $b::INTEGER", a="'; DROP TABLE files", b="2") == [("'; DROP TABLE files", 2)]
    with pytest.raises(UsageError, match=r"^\$b needs a value: b=VALUE$"):
        one(root, "SELECT $a, $b", a="1")
    with pytest.raises(UsageError, match=r"^the statement has no \$c$"):
        one(root, "SELECT 1", c="1")


def test_a_statement_is_stopped_at_its_time_limit(root: Path) -> None:
    started = time.monotonic()
    with pytest.raises(UsageError, match=r"stopped after 0\.5 seconds"):
        one(root, ENDLESS, seconds=0.5)
    assert time.monotonic() - started < 20
    assert one(root, "SELECT 1") == [(1,)]


def test_an_error_of_a_function_keeps_its_remedy(root: Path) -> None:
    def fail(text: str) -> str:
        raise ModelError("the server is away", "start it")

    with open_sandbox(root / ".ragx") as store:
        store.add_function("fail", fail, ["VARCHAR"], "VARCHAR")
        with pytest.raises(ModelError) as failed, answering(store, "SELECT fail('x')", {}, 30) as result:
            result.fetchall()
    assert (failed.value.message, failed.value.hint) == ("the server is away", "start it")


def test_ctrl_c_ends_a_statement_and_leaves_nothing(root: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ragx", "sql", ENDLESS]
    options = {"cwd": root, "env": os.environ | {"TMPDIR": str(tmp_path)}}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options) as process:
        while not list(tmp_path.glob("ragx-*")):
            time.sleep(0.1)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"interrupted\n")
    assert os.listdir(tmp_path) == []


def test_embed_is_the_vector_of_a_query(ask: Ask) -> None:
    cosine = "array_cosine_similarity(vector, embed('swarms of bees'))"
    sql = f"SELECT path, {cosine} AS s FROM v_chunks ORDER BY s DESC LIMIT 1"
    code, out, err = ask(sql, "--json")
    (row,) = valid(json.loads(out))["rows"]
    assert (code, err, row["path"]) == (0, "", "garden/bees.md")
    assert 0.5 < row["s"] < 1
    assert ask("SELECT embed(NULL) IS NULL AS it", "--format", "csv")[1] == "it\ntrue\n"


@pytest.mark.parametrize("name", sorted(cookbook()))
def test_every_recipe_answers(root: Path, name: str) -> None:
    recipe = cookbook()[name]
    needed = {"chunk": "garden/bees.md:3", "words": "restore backup", "path": "garden/garlic.md"}
    values = {key: value or needed[key] for key, value in recipe.parameters.items()}
    found = one(root, recipe.sql, **values)
    if name == "orphans":
        found = one(root, recipe.sql, min_weight="0.99")
    assert found
    assert recipe.what.endswith(".") and f"-- name: {name}\n-- {recipe.what}\n" in recipe.sql


def test_recipes_say_what_is_so(root: Path) -> None:
    def answers(name: str, **values: str) -> list[tuple[Any, ...]]:
        recipe = cookbook()[name]
        return one(root, recipe.sql, **{key: value or "" for key, value in (recipe.parameters | values).items()})

    assert answers("similar", chunk="garden/bees.md", k="1")[0][1] == "garden/honey.md"
    assert answers("keyword_search", words="GARLIC frost")[0][1] == "garden/garlic.md"
    assert answers("near_duplicates")[0][:2] == (1.0, "house/backup.md")
    assert sum(row[1] for row in answers("degrees")) == sum(row[3] for row in answers("kinds")) == 8
    assert answers("largest_files", k="1")[0][:3] == ("house/backup.md", len(NOTES["house/backup.md"]), "markdown")
    assert [row[0] for row in answers("term_statistics", like="honey%")] == ["honey"]
    assert dict(answers("last_run"))["files_added"] == "7"
    assert answers("backlinks", path="garden/garlic.md")[0][:4] == ("plan.md", 1, "link", "garden/garlic.md")
    assert answers("unresolved_links") == [("plan.md", 3, "wikilink", "Cellar", "")]
    assert answers("bridges", kind="link")[0][2] == "plan.md"
    assert {row[0]: row[3] for row in answers("stale_files")}["garden/garlic.md"] == 1
    communities = answers("communities")
    assert sum(row[1] for row in communities) == 8
    assert any("bees" in row[3] for row in communities)


def test_the_cookbook_is_listed_and_shown(ask: Ask) -> None:
    code, out, _ = ask("--list")
    assert code == 0 and "@similar chunk=... k=8\n" in out
    code, out, _ = ask("--list", "--json")
    listed = {entry["name"]: entry for entry in valid(json.loads(out))["recipes"]}
    assert listed["similar"]["parameters"] == {"chunk": None, "k": "8"}
    assert ask("--show", "@hubs")[1] == ask("--show", "hubs")[1] == cookbook()["hubs"].sql.rstrip("\n") + "\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "ragx: there is nothing to run; run: ragx sql --list\n"),
        (("@hub",), "ragx: the cookbook has no @hub; run: ragx sql --list\n"),
        (("@hubs", "j=1"), "ragx: @hubs has no parameter j (it has: k, min_weight); run: ragx sql --show @hubs\n"),
        (("@similar",), "ragx: @similar needs a value: chunk=VALUE; run: ragx sql --show @similar\n"),
        (("SELECT", "1"), "ragx: 1 is not KEY=VALUE; quote the statement as one argument; run: ragx sql --help\n"),
        (("@hubs", "k=many"), "ragx: Conversion Error: Could not convert string 'many' to INT32"),
        (("SELECT 1", "--json", "--format", "csv"), "ragx: --json and --format csv exclude each other"),
        (("SELECT 1", "-o", "nowhere/x.csv"), "ragx: cannot write nowhere/x.csv: No such file or directory\n"),
        (("SELECT 1", "-o", "x.parquet", "--limit", "1"), "ragx: --limit is for text"),
    ],
)
def test_a_mistake_is_one_line(ask: Ask, root: Path, arguments: tuple[str, ...], said: str) -> None:
    before = sorted(root.iterdir())
    code, _, err = ask(*arguments)
    assert code == 2 and err.startswith(said) and err.count("\n") == 1
    assert sorted(root.iterdir()) == before


def test_a_statement_may_come_from_stdin(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"SELECT $a AS a")))
    assert ask("-", "a=x=y", "--format", "jsonl") == (0, '{"a": "x=y"}\n', "")


def test_a_table_is_aligned_and_cut_and_says_so(ask: Ask) -> None:
    columns = "'a' || range AS name, range * 1.5::DOUBLE AS number, NULL AS gone, repeat('long ', 50) AS text"
    sql = f"SELECT {columns} FROM range(12)"
    code, out, err = ask(sql, "--limit", "2")
    assert code == 0
    assert out.splitlines() == [
        "name  number  gone  text",
        "----  ------  ----  " + "-" * 60,
        "a0         0  NULL  " + ("long " * 12)[:59] + "…",
        "a1       1.5  NULL  " + ("long " * 12)[:59] + "…",
    ]
    assert err == "note: only the first 2 rows; more with --limit N\n"
    assert len(ask("FROM range(2000)")[1].splitlines()) == 1002
    assert len(ask("FROM range(2000)", "--format", "csv")[1].splitlines()) == 2001


@pytest.mark.parametrize("form", ["table", "csv", "json", "jsonl", "markdown"])
def test_no_row_is_exit_1(ask: Ask, form: str) -> None:
    code, out, err = ask("SELECT path FROM files WHERE false", "--format", form)
    assert (code, err) == (1, "no rows\n")
    heads = {"csv": "path\n", "markdown": "| path |\n| --- |\n"}
    if form == "json":
        assert valid(json.loads(out))["rows"] == []
    else:
        assert out == heads.get(form, "")


VALUES = r"""
SELECT
    1 AS a, 2 AS a, 'x, "y"' || chr(10) || '|' AS s, 0.5::DECIMAL(3,1) AS d, [1, 2] AS l, {'k': NULL} AS o,
    'nan'::DOUBLE AS n, TIMESTAMP '2026-01-02 03:04:05' AS t, '\xAB'::BLOB AS b, true AS y, NULL AS z,
    170141183460469231731::HUGEINT AS h
"""


def test_values_survive_each_form(ask: Ask) -> None:
    plain = {
        "a": 1,
        "a_1": 2,
        "s": 'x, "y"\n|',
        "d": 0.5,
        "l": [1, 2],
        "o": {"k": None},
        "n": None,
        "t": "2026-01-02T03:04:05",
        "b": "ab",
        "y": True,
        "z": None,
        "h": 170141183460469231731,
    }
    assert json.loads(ask(VALUES, "--format", "jsonl")[1]) == plain
    document = valid(json.loads(ask(VALUES, "--json")[1]))
    assert document["rows"] == [plain] and document["columns"][1] == {"name": "a_1", "type": "INTEGER"}
    (row,) = csv.DictReader(io.StringIO(ask(VALUES, "--format", "csv")[1]))
    assert (row["s"], row["l"], row["z"], row["n"], row["y"]) == ('x, "y"\n|', "[1, 2]", "", "nan", "true")
    assert r'| x, "y" \| |' in ask(VALUES, "--format", "markdown")[1]


def test_times_and_exact_numbers_are_text_that_a_program_reads() -> None:
    columns = [rows.Column("t", "TIMESTAMP WITH TIME ZONE"), rows.Column("d", "DECIMAL(38,10)")]
    row = (datetime(2026, 1, 2, tzinfo=UTC), Decimal("12345678901234567890.0000000001"))
    line = list(rows.csv_lines(columns, [row], View()))[1]
    assert line == "2026-01-02T00:00:00+00:00,12345678901234567890.0000000001"


def test_a_cell_cannot_drive_the_terminal(ask: Ask) -> None:
    out = ask("SELECT chr(27) || '[2J' || chr(10) AS it")[1]
    assert out.splitlines()[2] == r"\x1b[2J\n"


def test_a_plan_is_drawn(ask: Ask) -> None:
    assert ask("EXPLAIN SELECT 1")[1].startswith("┌───")


@pytest.mark.parametrize(
    ("name", "begins"),
    [("x.csv", "n\n0\n"), ("x.JSON", '{"schema": "ragx.sql.v1"'), ("x.md", "| n |"), ("x.txt", "n\n-\n")],
)
def test_the_suffix_of_a_file_says_the_form(ask: Ask, tmp_path: Path, name: str, begins: str) -> None:
    assert ask("SELECT range AS n FROM range(3)", "-o", str(tmp_path / name)) == (0, "", "")
    assert (tmp_path / name).read_text().startswith(begins)
    assert os.listdir(tmp_path) == [name]


def test_parquet_is_written_whole_or_not_at_all(ask: Ask, tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    assert ask("FROM range(50000)", "-o", str(path)) == (0, "", "")
    assert pq.read_table(path).num_rows == 50000
    before = path.read_bytes()
    code, _, err = ask(
        "SELECT CASE WHEN range = 49999 THEN error('late') ELSE 1 END FROM range(50000)", "-o", str(path)
    )
    assert (code, err) == (2, "ragx: Invalid Input Error: late\n")
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["x.parquet"]
    assert ask("SELECT 1 AS a WHERE false", "-o", str(path))[0] == 1
    assert pq.read_table(path).num_rows == 0


def test_parquet_goes_into_a_pipe_but_not_to_a_terminal(root: Path) -> None:
    command = [sys.executable, "-m", "ragx", "sql", "SELECT 1 AS a", "--format", "parquet"]
    found = subprocess.run(command, cwd=root, capture_output=True, check=True).stdout
    assert pq.read_table(io.BytesIO(found)).to_pylist() == [{"a": 1}]
    controller, terminal = os.openpty()
    refused = subprocess.run(command, cwd=root, stdout=terminal, stderr=subprocess.PIPE)
    os.close(terminal)
    os.close(controller)
    assert refused.returncode == 2
    assert refused.stderr == b"ragx: Parquet is nothing for a terminal; give it a file: -o FILE.parquet\n"
