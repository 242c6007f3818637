"""Every named statement binds on a fresh schema, is used, and stands once."""

import re
from pathlib import Path

import duckdb
import pytest

from ragx.store import Statement, Store, create_building, script, statements
from ragx.store.vss import load_vss

ROOT = Path(__file__).parents[1]
FILES = sorted(path.stem for path in (ROOT / "sql").glob("*.sql") if "-- name:" in path.read_text(encoding="utf-8"))
NAMED = [(file, statement) for file in FILES for statement in vars(statements(file)).values()]

INCOMING = """CREATE TEMP TABLE incoming AS SELECT
    0::BIGINT AS id, '' AS root, '' AS path, 0::BIGINT AS size, 0::BIGINT AS mtime_ns, 0::BIGINT AS ctime_ns,
    0::UBIGINT AS inode, '' AS content_hash, '' AS kind, '' AS language, '' AS title, '' AS encoding, '' AS skipped,
    0::BIGINT AS file_id, 0 AS ordinal, []::VARCHAR[] AS headings, '' AS text, '' AS text_hash, 0::BIGINT AS byte_start,
    0::BIGINT AS byte_end, 0 AS line_start, 0 AS line_end, 0 AS token_count, 0 AS term_count, 0::BIGINT AS embedding_id,
    [0, 0, 0]::FLOAT[3] AS vector, 0::BIGINT AS source, 0::BIGINT AS target, 0::DOUBLE AS weight, 0::BIGINT AS chunk_id,
    0 AS community, 0::BIGINT AS term_id, 0 AS tf, '' AS form, '' AS term, []::VARCHAR[] AS aliases, '' AS heading,
    0 AS line, 0::BIGINT AS target_id, '' AS name, []::VARCHAR[] AS forms, []::VARCHAR[] AS terms
"""


@pytest.fixture
def fresh(tmp_path: Path) -> Store:
    store = create_building(tmp_path / "fresh.duckdb", 3)
    assert load_vss(store) == ""
    store.script("session")
    store.connection.execute(INCOMING)
    other = create_building(tmp_path / "other.duckdb", 3)
    other.close()
    store.connection.execute(f"ATTACH '{tmp_path / 'other.duckdb'}' AS other (READ_ONLY)")
    return store


@pytest.mark.parametrize(("file", "statement"), NAMED, ids=[f"{file}.{statement.name}" for file, statement in NAMED])
def test_binds_on_a_fresh_schema(fresh: Store, file: str, statement: Statement) -> None:
    # What earlier statements of the same file create is there when the later ones run.
    for earlier in vars(statements(file)).values():
        if earlier is statement:
            break
        if earlier.sql.upper().lstrip().startswith(("CREATE TEMP", "-- ")) and "CREATE TEMP" in earlier.sql:
            fresh.connection.execute(earlier.sql)
    body = re.sub(r"^--.*\n", "", statement.sql, flags=re.MULTILINE).strip()
    if body.startswith(("CREATE", "DROP", "SET")):
        fresh.connection.execute(body)  # these cannot be prepared
    else:
        fresh.connection.execute(f"PREPARE it AS {body}")


@pytest.mark.parametrize(("file", "statement"), NAMED, ids=[f"{file}.{statement.name}" for file, statement in NAMED])
def test_says_what_it_does(file: str, statement: Statement) -> None:
    assert statement.sql.startswith("-- ")
    assert len(duckdb.extract_statements(statement.sql)) == 1


def test_every_name_is_used_and_every_used_name_is_there() -> None:
    used: set[tuple[str, str]] = set()
    for path in (ROOT / "ragx").rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        for variable, file in re.findall(r"^(_[A-Z]+) = statements\(\"(\w+)\"\)", source, re.MULTILINE):
            used.update((file, name) for name in re.findall(rf"{variable}\.(\w+)", source))
    assert used == {(file, statement.name) for file, statement in NAMED}


def test_a_parameter_is_never_passed_in_vain(fresh: Store) -> None:
    # DuckDB refuses a parameter that the statement does not name.
    fresh.run(statements("store").read_meta, key="unused")


def test_the_schema_is_commented_in_the_database(fresh: Store) -> None:
    tables = fresh.connection.execute(
        "SELECT table_name, comment FROM duckdb_tables() WHERE NOT temporary AND database_name = 'fresh'"
    ).fetchall()
    columns = fresh.connection.execute(
        "SELECT table_name, column_name, comment FROM duckdb_columns() "
        "WHERE database_name = 'fresh' AND schema_name = 'main' AND NOT internal "
        "AND table_name IN (SELECT table_name FROM duckdb_tables() WHERE NOT temporary)"
    ).fetchall()
    assert [name for name, comment in tables if not comment] == []
    assert [row[:2] for row in columns if not row[2] and row[0] != "meta"] == []


def test_scripts_are_read_from_the_package_or_from_beside_it() -> None:
    assert "CREATE TABLE chunks" in script("schema")


def test_queries_use_no_window_functions() -> None:
    # On small inputs, with all cores busy, DuckDB 1.5.5 fails in them:
    # "Attempted to access index 0 within vector of size 0".
    assert "OVER (" not in script("search") + script("session").replace("Window functions", "")
