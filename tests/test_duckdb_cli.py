"""The published file in DuckDB's own command line client, which knows neither ragx nor the vector extension."""

import json
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import duckdb
import pytest

from ragx.config import index_dir
from ragx.store import INDEX_NAME
from tests.corpora import build, corpus, settings_of
from tests.notes import NOTES

CALLS = {
    "backlinks": "backlinks('garden/bees.md')",
    "bridges": "bridges(k := 3)",
    "find_chunk": "(SELECT find_chunk('garden/bees.md:1') AS id) WHERE id IS NOT NULL",
    "heat_from": "heat_from(find_chunk('house/backup.md:1'))",
    "hubs": "hubs(k := 3)",
    "keyword_search": "keyword_search('restore backup')",
    "near_duplicates": "near_duplicates()",
    "neighbors_of": "neighbors_of(find_chunk('garden/bees.md:1'))",
    "orphans": "orphans(min_weight := 0.99)",
    "similar_to": "similar_to(find_chunk('garden/bees.md:1'))",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The published file, with a vector index in it."""
    plan = {"plan.md": "See [the hive](garden/bees.md) and [[Cellar]].\n"}
    root = corpus(tmp_path_factory.mktemp("cli"), NOTES | plan)
    (root / "ragx.toml").write_text('[vectors]\nhnsw = "always"\n')
    build(root)
    return index_dir(root, settings_of(root)) / INDEX_NAME


def client(index: Path, home: Path, sql: str) -> list[dict[str, Any]]:
    """The rows that the client prints, with nothing installed in its home."""
    package = find_spec("duckdb_cli")
    assert package and package.submodule_search_locations
    program = Path(package.submodule_search_locations[0]) / "duckdb"
    command = [program, "-readonly", "-json", "-init", "/dev/null", index, "-c", sql]
    done = subprocess.run(command, env={"HOME": str(home)}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    return rows


def test_the_client_is_of_our_version_and_alone(index: Path, tmp_path: Path) -> None:
    loaded = "SELECT count(*) FROM duckdb_extensions() WHERE loaded AND extension_name = 'vss'"
    (row,) = client(index, tmp_path, f"SELECT version() AS version, ({loaded}) AS loaded")
    assert row == {"version": f"v{duckdb.__version__}", "loaded": 0}
    (row,) = client(index, tmp_path, "SELECT count(*) AS indexes FROM duckdb_indexes() WHERE sql ILIKE '%hnsw%'")
    assert row["indexes"] == 1


def test_every_view_and_macro_answers(index: Path, tmp_path: Path) -> None:
    views = client(index, tmp_path, "SELECT view_name AS name FROM duckdb_views() WHERE NOT internal ORDER BY name")
    macros = client(
        index,
        tmp_path,
        "SELECT DISTINCT function_name AS name FROM duckdb_functions() "
        "WHERE function_type IN ('macro', 'table_macro') AND NOT internal ORDER BY name",
    )
    assert [row["name"] for row in macros] == sorted(CALLS)
    for call in (*(row["name"] for row in views), *CALLS.values()):
        assert client(index, tmp_path, f"FROM {call}"), call


def test_tables_and_columns_explain_themselves(index: Path, tmp_path: Path) -> None:
    silent = "SELECT table_name FROM {}() WHERE NOT internal AND comment IS NULL"
    assert client(index, tmp_path, silent.format("duckdb_tables")) == []
    assert client(index, tmp_path, silent.format("duckdb_views").replace("table_name", "view_name")) == []
