"""Runs ragx-cli 0.10.0 (PyPI, Python 3.12) on a collection, in a virtual environment of its own, with our vectors."""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from ragx.config.settings import Embeddings
from ragx.models import embedder_row

VERSION = "0.10.0"
CONFIGURATIONS = ("baseline", "graph")
"""Those that need no second server: the vector leg alone, and with the graph, which is what its `query` does."""

_MODEL = "bge-small-en-v1.5"


def find_python() -> Path | None:
    """An interpreter of Python 3.12, on the PATH or of pyenv."""
    on_path = shutil.which("python3.12")
    candidates = [Path(on_path)] if on_path else []
    candidates += sorted(Path("~/.pyenv/versions").expanduser().glob("3.12.*/bin/python"))
    for python in candidates:
        # A shim of pyenv is there and yet runs nothing where its version is not active.
        done = subprocess.run([python, "-c", "import sys; print(sys.version_info[:2])"], capture_output=True, text=True)
        if done.stdout.strip() == "(3, 12)":
            return python
    return None


def install(python: Path, folder: Path) -> Path:
    """The program, installed into `folder` unless it is there; hnswlib is compiled, so this wants a C++ compiler."""
    program = folder / "bin" / "ragx-cli"
    if not program.exists():
        subprocess.run([python, "-m", "venv", folder], check=True)
        subprocess.run([folder / "bin" / "pip", "install", "--quiet", f"ragx-cli=={VERSION}"], check=True)
    return program


def hit_ranks(
    program: Path, corpus: Path, queries: Sequence[Mapping[str, object]], base_url: str, home: Path
) -> dict[str, list[list[int]]]:
    """Indexes `corpus` and asks `queries`: by configuration, the ranks of each query's relevant files in the top 10."""
    settings = {
        "embeddings.base_url": base_url,
        "embeddings.model": _MODEL,
        "embeddings.doc_prefix": "",
        "embeddings.query_prefix": embedder_row(Embeddings(model=_MODEL)).query_prefix,
        "embeddings.autostart": "false",
        "expansion.enabled": "false",
        "rerank.enabled": "false",
    }

    def run(*arguments: str) -> str:
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "OPENAI"))}
        done = subprocess.run(
            [program, *arguments], cwd=corpus, env=environment | {"HOME": str(home)}, capture_output=True, text=True
        )
        if done.returncode:
            raise SystemExit(f"ragx-cli {' '.join(arguments)}: exit {done.returncode}\n{done.stderr[-2000:]}")
        return done.stdout

    run("init", "--yes")
    for name, value in settings.items():
        run("config", "set", name, value)
    run("index")
    lines = [json.dumps({"query": query["query"], "relevant_files": query["relevant"]}) for query in queries]
    (home / "queries.jsonl").write_text("\n".join(lines), encoding="utf-8")
    document = json.loads(run("eval", str(home / "queries.jsonl"), "--json", "--configs", ",".join(CONFIGURATIONS)))
    return {name: [query["per_config"][name]["hit_ranks"] for query in document["queries"]] for name in CONFIGURATIONS}
