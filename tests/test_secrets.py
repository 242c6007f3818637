"""What stays on the machine: everything with the bundled models, and keys wherever a server is asked."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from ragx.cli import run
from ragx.models import http
from tests import offline
from tests.misbehaving import MODEL, Server

REPOSITORY = Path(__file__).parents[1]
KEY, OTHER_KEY = "sk-planted-7d1f0c", "sk-planted-too-99aa"

OFFLINE = """
import os, sys, time
from tests import offline
offline.forbid()
from ragx.cli import run
os.chdir(sys.argv[1])
os.environ["HOME"] = sys.argv[1]
for line in sys.stdin.read().splitlines():
    code = run(line.split())
    assert code in (0, 1), (line, code)
time.sleep(3)  # a library may wait before it reports to its makers
"""

OFFLINE_COMMANDS = """\
init --yes
index
query honey
query honey --json --explain
query honey --refresh --hnsw
similar bees.md
inspect communities
status
sql --list
sql SELECT(embed('honey'))
eval queries.jsonl
export out
config list
index --full
"""


def offline_run(program: str, *arguments: object, stdin: str = "") -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", program, *map(str, arguments)], cwd=REPOSITORY, input=stdin, text=True,
        capture_output=True, timeout=120, env=os.environ | {"PYTHONPATH": str(REPOSITORY)},
    )  # fmt: skip


def test_no_command_opens_a_socket_with_the_bundled_models(tmp_path: Path) -> None:
    (tmp_path / "bees.md").write_text("# Bees\n\nBees make honey all day.\n")
    (tmp_path / "wax.md").write_text("# Wax\n\nhttps://example.com/wax is a page about wax.\n")
    (tmp_path / "queries.jsonl").write_text('{"query": "honey", "relevant": ["bees.md"]}\n')
    done = offline_run(OFFLINE, tmp_path, stdin=OFFLINE_COMMANDS)
    assert done.returncode == 0, done.stderr
    assert "bees.md" in done.stdout
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"bees.md", "wax.md", "queries.jsonl", "ragx.toml", ".ragx", "out"}


@pytest.mark.parametrize(
    "program",
    [
        "import socket; socket.socket()",
        "import socket; socket.getaddrinfo('localhost', 80)",
        "import subprocess; subprocess.run(['true'])",
        pytest.param(
            "import ctypes; ctypes.CDLL(None).socket(2, 1, 0)",
            marks=pytest.mark.skipif(not offline.has_kernel_filter(), reason="no filter for this kernel"),
        ),
    ],
)
def test_the_guard_sees_what_it_is_there_for(program: str) -> None:
    assert offline_run(f"from tests import offline; offline.forbid(); {program}").returncode != 0


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(http, "BACKOFF_SECONDS", 0.01)
    with Server() as server:
        yield server


def test_a_key_stands_in_no_output_and_no_file(tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "corpus"
    root.mkdir()
    (root / "bees.md").write_text("# Bees\n\nBees make honey all day.\n")
    (root / "queries.jsonl").write_text('{"query": "honey", "relevant": ["bees.md"]}\n')
    out, err = io.StringIO(), io.StringIO()
    monkeypatch.chdir(root)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("MINE", OTHER_KEY)
    monkeypatch.setattr("sys.stdout", out)
    monkeypatch.setattr("sys.stderr", err)
    run(["init", "--yes"])
    for name, value in (("provider", "openai"), ("model", MODEL), ("base_url", server.url)):
        run(["config", "set", f"embeddings.{name}", value])
    for variable, key in (("", KEY), ("MINE", OTHER_KEY)):
        run(["config", "set", "embeddings.api_key_env", variable])
        for command in (
            ["index", "--full", "-v"], ["query", "honey", "--explain"], ["query", "honey", "--json"],
            ["status", "--json"], ["sql", "SELECT embed('honey')"], ["sql", "FROM meta", "--json"],
            ["config", "list"], ["--version"],
            ["config", "list", "--json"], ["eval", "queries.jsonl", "--json"], ["export", "out", "--force", "--json"],
            ["tune", "queries.jsonl"], ["sql", "SELECT getenv('MINE')"],
        ):  # fmt: skip
            run(command)
        assert server.requests[-1].headers["Authorization"] == f"Bearer {key}"
        for fault in ("401 echo", "401", "403", "404", "429", "500", "redirect", "html", "no json", "half", "close"):
            server.always = fault
            for command in (
                ["index", "--full"],
                ["query", "honey"],
                ["query", "honey", "--json"],
                ["sql", "SELECT embed('x')"],
            ):
                run(command)
        server.always = ""
    # A mistake that is easily made, once or in the file itself.
    assert run(["config", "set", "embeddings.api_key_env", KEY]) == 2
    settings = (root / "ragx.toml").read_text()
    (root / "ragx.toml").write_text(settings.replace('"MINE"', f'"{KEY}"'))
    for command in (["config", "list"], ["index"], ["status"]):
        assert run(command) == 2
    (root / "ragx.toml").write_text(settings)
    said = out.getvalue() + err.getvalue()
    assert "bad key Bearer ***" in said and "ragx.query.v1" in said
    assert (root / "out/manifest.json").exists()
    rows = "".join(str(pq.read_table(path).to_pylist()) for path in (root / "out").glob("*.parquet"))
    for key in (KEY, OTHER_KEY):
        assert key not in said
        assert key not in rows
        for path in tmp_path.rglob("*"):
            if path.is_file():
                assert key.encode() not in path.read_bytes(), path


def test_meta_in_json_is_what_was_searched_for_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # DuckDB compresses: bytes alone would prove nothing about what stands in the index.
    (tmp_path / "ragx.toml").touch()
    (tmp_path / "bees.md").write_text("Bees make honey.\n")
    monkeypatch.chdir(tmp_path)
    out = io.StringIO()
    monkeypatch.setattr("sys.stdout", out)
    run(["index", "-q"])
    run(["sql", "FROM meta", "--json"])
    rows = json.loads(out.getvalue())["rows"]
    assert {"embedder", "full_settings", "last_run"} <= {row["key"] for row in rows}
