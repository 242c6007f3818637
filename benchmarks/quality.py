"""Retrieval quality on collections with known answers: one table, and which differences are more than noise.

    python benchmarks/quality.py COLLECTION.tar.gz... [--work DIR] [--peer] [--permute]

A collection unpacks to NAME/corpus/ and NAME/queries.jsonl (`ragx eval` lines). Each is indexed with the bundled models
and asked under every configuration of `ragx eval`; `--peer` adds ragx-cli 0.10.0 on the same vectors, `--permute` a
placebo: the same graph with its chunks shuffled. The figures, the machine and the date are appended to
benchmarks/runs/quality.jsonl.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import embed_server
import numpy as np
import peer
import pyarrow as pa
from numpy.typing import NDArray

from ragx import __version__
from ragx.evaluation.compare import Difference, interval, resampled
from ragx.evaluation.metrics import measure
from ragx.store import INDEX_NAME, open_building
from ragx.store.vss import load_vss

RUNS = Path(__file__).parent / "runs" / "quality.jsonl"
METRIC = "ndcg_at_10"
CONTRASTS = (
    ("full", "hybrid"),
    ("graph", "hybrid"),
    ("permuted graph", "hybrid"),
    ("rerank", "hybrid"),
    ("hybrid", "better leg"),
    ("full", "peer graph"),
    ("graph", "peer graph"),
)
LEGS = ("lexical", "baseline")
PERMUTE = """
    CREATE TEMP TABLE permuted AS
    SELECT source.other AS src, target.other AS dst, kind, weight, outward
    FROM edges
    JOIN shuffled AS source ON source.id = edges.src
    JOIN shuffled AS target ON target.id = edges.dst;
    DELETE FROM edges;
    INSERT INTO edges FROM permuted ORDER BY src, dst
"""

Scores = dict[str, NDArray[np.float64]]
"""A metric of each query, by configuration."""


def unpack(archive: Path, work: Path) -> Path:
    """The folder of a collection, freshly unpacked."""
    name = archive.name.removesuffix(".gz").removesuffix(".tar")
    shutil.rmtree(work / name, ignore_errors=True)
    with tarfile.open(archive) as tar:
        tar.extractall(work, filter="data")
    return work / name


def ragx(corpus: Path, home: Path, *arguments: str, index: Path | None = None) -> dict[str, Any]:
    """Runs the program, with its index elsewhere where one is given, and reads its document."""
    # Settings of this machine would be measured along.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("RAGX_", "OPENAI_"))}
    done = subprocess.run(
        [sys.executable, "-m", "ragx", *arguments, "--json"],
        cwd=corpus,
        env=environment | {"HOME": str(home)} | ({"RAGX_DIR": str(index)} if index else {}),
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise SystemExit(f"ragx {' '.join(arguments)}: exit {done.returncode}\n{done.stderr[-2000:]}")
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def measured(collection: Path, home: Path) -> tuple[dict[str, Any], Scores]:
    """A collection's figures for the record, and the scores of its queries."""
    corpus = collection / "corpus"
    (corpus / "ragx.toml").touch()
    index = ragx(corpus, home, "index")
    found = ragx(corpus, home, "eval", str(collection / "queries.jsonl"))
    if found["unindexed"]:
        raise SystemExit(f"{collection.name}: {found['unindexed'][0]['relevant']} is not indexed")
    names = [config["name"] for config in found["configs"]]
    scores = {
        name: np.array([query["per_config"][name][METRIC] for query in found["queries"]], np.float64) for name in names
    }
    record = {
        "files": index["files_added"],
        "chunks": index["chunks_total"],
        "queries": found["query_count"],
        "index_seconds": {stage: round(seconds, 1) for stage, seconds in index["seconds"].items()},
        "models": [found["embedding_model"], found["rerank_model"]],
        "configs": {
            config["name"]: {
                **{name: value for name, value in config.items() if isinstance(value, float)},
                "stages": config["stages"],
            }
            for config in found["configs"]
        },
        "not_run": found["not_run"],
    }
    return record, scores


def measured_permuted(collection: Path, home: Path) -> Scores:
    """The scores with the edges of each chunk given to another one: what a graph gains that knows nothing."""
    folder = collection / "permuted"
    folder.mkdir()
    path = Path(shutil.copy(collection / "corpus" / ".ragx" / INDEX_NAME, folder))
    path.chmod(0o600)
    with open_building(path) as store:
        load_vss(store)  # the file cannot be written without it
        chunk_ids = store.connection.execute("SELECT id FROM chunks ORDER BY id").fetchnumpy()["id"]
        shuffled = np.random.default_rng(0).permutation(chunk_ids)
        store.connection.register("shuffled", pa.table({"id": chunk_ids, "other": shuffled}))
        store.connection.execute(PERMUTE)
        store.checkpoint()
    path.chmod(0o444)
    found = ragx(
        collection / "corpus", home, "eval", str(collection / "queries.jsonl"), "--config", "graph", index=folder
    )
    scores = [query["per_config"]["graph"][METRIC] for query in found["queries"]]
    return {"permuted graph": np.array(scores, np.float64)}


def measured_peer(collection: Path, program: Path, base_url: str, home: Path) -> Scores:
    """The peer's scores, on a copy of the corpus."""
    corpus = collection / "peer"
    shutil.copytree(collection / "corpus", corpus, ignore=shutil.ignore_patterns(".ragx", "ragx.toml"))
    text = (collection / "queries.jsonl").read_text(encoding="utf-8")
    queries = [json.loads(line) for line in text.splitlines() if line.strip()]
    found = peer.hit_ranks(program, corpus, queries, base_url, home)
    return {
        f"peer {name}": np.array(
            [measure(ranks, len(set(query["relevant"])))[METRIC] for ranks, query in zip(rows, queries, strict=True)]
        )
        for name, rows in found.items()
    }


def differences(collections: dict[str, Scores]) -> dict[str, dict[str, Difference]]:
    """By contrast, of each collection and of their mean, each collection's queries resampled on their own."""
    found: dict[str, dict[str, Difference]] = {}
    for better, worse in CONTRASTS:
        rows: dict[str, Difference] = {}
        means, samples = [], []
        for seed, (name, scores) in enumerate(collections.items()):
            base = max(LEGS, key=lambda leg: scores[leg].mean()) if worse == "better leg" else worse
            if better not in scores or base not in scores:
                break
            column = (scores[better] - scores[base])[:, None]
            means.append(column.mean(axis=0))
            samples.append(resampled(column, seed))
            rows[name] = interval(means[-1], samples[-1])[0]
        else:
            rows["mean"] = interval(np.mean(means, axis=0), np.mean(samples, axis=0))[0]
            found[f"{better} - {worse}"] = rows
    return found


def table(collections: dict[str, Scores]) -> str:
    """Configurations down, collections across."""
    configurations = list(next(iter(collections.values())))
    width = max(map(len, collections)) + 2
    lines = [f"{'nDCG@10':<14}" + "".join(f"{name:>{width}}" for name in [*collections, "mean"])]
    for configuration in configurations:
        means = [float(scores[configuration].mean()) for scores in collections.values()]
        cells = "".join(f"{value:>{width}.3f}" for value in [*means, sum(means) / len(means)])
        lines.append(f"{configuration:<14}{cells}")
    return "\n".join(lines)


def machine() -> dict[str, Any]:
    """What the figures were measured on and with."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        models = [line.partition(":")[2].strip() for line in info.read_text().splitlines() if "model name" in line]
        cpu = models[0] if models else cpu
    packages = ("duckdb", "numpy", "onnxruntime", "tokenizers")
    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        **{package: version(package) for package in packages},
    }


def commit() -> str:
    """The commit that was measured; empty outside of a checkout."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip() if shutil.which("git") else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collections", metavar="COLLECTION.tar.gz", type=Path, nargs="+")
    parser.add_argument(
        "--work", metavar="DIR", type=Path, help="scratch folder that is kept  [default: a temporary one]"
    )
    parser.add_argument("--permute", action="store_true", help="also ask with the graph's chunks shuffled")
    parser.add_argument("--peer", action="store_true", help=f"also run ragx-cli {peer.VERSION}, on Python 3.12")
    given = parser.parse_args()
    python = peer.find_python() if given.peer else None
    if given.peer and python is None:
        print("no Python 3.12 is here: the peer's rows are left out", file=sys.stderr)
    with tempfile.TemporaryDirectory() as scratch:
        work = (given.work or Path(scratch)).resolve()
        home = work / "home"
        home.mkdir(parents=True, exist_ok=True)
        records: dict[str, Any] = {}
        collections: dict[str, Scores] = {}
        for archive in given.collections:
            print(f"{archive.name}: ragx", file=sys.stderr)
            collection = unpack(archive, work)
            records[collection.name], collections[collection.name] = measured(collection, home)
            if given.permute:
                collections[collection.name] |= measured_permuted(collection, home)
        if python:
            program = peer.install(python, work / "peer-0.10.0")
            with embed_server.serving() as base_url:
                for name, scores in collections.items():
                    print(f"{name}: ragx-cli", file=sys.stderr)
                    found = measured_peer(work / name, program, base_url, home)
                    scores |= found
                    records[name]["peer"] = {key: {METRIC: float(each.mean())} for key, each in found.items()}
    told = differences(collections)
    print(table(collections))
    for contrast, rows in told.items():
        print(f"\n{contrast} [95 % interval]")
        for name, each in rows.items():
            noise = "  noise" if each.noise else ""
            print(f"  {name:<14}{each.mean:+z.3f} [{each.low:+z.3f}, {each.high:+z.3f}]{noise}")
    record = {
        "date": time.strftime("%Y-%m-%d"),
        "ragx": __version__,
        "commit": commit(),
        "machine": machine(),
        "collections": records,
        "differences": {
            contrast: {
                name: [round(value, 4) for value in (each.mean, each.low, each.high)] for name, each in rows.items()
            }
            for contrast, rows in told.items()
        },
    }
    RUNS.parent.mkdir(exist_ok=True)
    with RUNS.open("a", encoding="utf-8") as runs:
        runs.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
