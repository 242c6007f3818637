"""Where the vector index pays: milliseconds of the vector leg by scan and by index, cold and warm, and the recall.

    python benchmarks/vectors.py [--rows 5000 20000 50000 100000 200000] [--record]

Vectors are synthetic: 384 dimensions, in clusters, so that nearest neighbors exist. Cold is a process of its own: it
opens the file and asks once. Warm is the median of further queries.
`--record` appends to benchmarks/runs/vectors.jsonl.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

from ragx.config.settings import Config
from ragx.indexing.vectors import settle_segments
from ragx.search import Options, Searcher
from ragx.store import INDEX_NAME, Store, create_building, open_index, statements

RUNS = Path(__file__).parent / "runs" / "vectors.jsonl"
DIMENSION = 384
QUERIES = 40


class Watch:
    """Hears nothing of an indexing run but its warnings."""

    def stage(self, name: str, total: int | None, unit: str) -> None:
        pass

    def advance(self, amount: int) -> None:
        pass

    def warn(self, message: str) -> None:
        raise SystemExit(message)


def vectors(rows: int, seed: int) -> np.ndarray:
    """(rows, 384) float32 of unit length around rows / 20 centres; each seed gives others of the same clusters."""
    centres = np.random.default_rng(0).standard_normal((max(1, rows // 20), DIMENSION)).astype(np.float32)
    random = np.random.default_rng(seed)
    members = centres[random.integers(0, len(centres), rows)]
    members += 0.8 * random.standard_normal((rows, DIMENSION), np.float32)
    return members / np.linalg.norm(members, axis=1, keepdims=True)


def build(folder: Path, rows: int) -> None:
    """An index file with `rows` chunks, each with a vector of its own."""
    with create_building(folder / INDEX_NAME, DIMENSION) as store:
        values = pa.FixedSizeListArray.from_arrays(pa.array(vectors(rows, 1).ravel()), DIMENSION)
        store.load(statements("index").add_embeddings, pa.table({"id": np.arange(rows), "vector": values}))
        store.connection.execute(
            "INSERT INTO chunks SELECT i, 0, i, 'section', [], '', '', 0, 0, 0, 0, 0, 0, '', i FROM range($1) AS t(i)",
            [rows],
        )
        store.set_meta("scanned_ns", 0)
        store.set_meta("vector_index", settle_segments(store, "always", [], Watch()))
        store.run(statements("index").create_chunk_index)
        store.checkpoint()


class Asked(Searcher):
    """A searcher whose query vectors are given."""

    def nearest(self, vector: np.ndarray, hnsw: bool) -> tuple[float, set[int]]:
        """Milliseconds of the vector leg, and the best 20 chunks."""
        started = time.perf_counter()
        self.search_vector(str(vector.tolist()), self.config, Options(hnsw=hnsw))
        took = 1000 * (time.perf_counter() - started)
        rows = self.store.connection.execute("FROM cosines ORDER BY cosine DESC, chunk_id LIMIT 20").fetchall()
        return took, {row[0] for row in rows}


def searcher(folder: Path) -> tuple[Store, Asked]:
    store = open_index(folder)
    return store, Asked(store, Config(), lambda message: sys.exit(message))


def cold(folder: Path, hnsw: bool) -> float:
    """Milliseconds from opening the file to the first answer, in a process of its own; the median of five."""
    told = [
        subprocess.run(
            [sys.executable, __file__, "--once", str(folder), "hnsw" if hnsw else "exact"],
            capture_output=True, text=True, check=True,
        ).stdout
        for _ in range(5)
    ]  # fmt: skip
    return statistics.median(float(line) for line in told)


def once(folder: Path, hnsw: bool) -> None:
    vector = vectors(20, 2)[0]
    started = time.perf_counter()
    store, asked = searcher(folder)
    asked.nearest(vector, hnsw)
    print(1000 * (time.perf_counter() - started))
    store.close()


def measure(rows: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        started = time.perf_counter()
        build(folder, rows)
        built = time.perf_counter() - started
        store, asked = searcher(folder)
        with store:
            queries = vectors(rows, 2)[:QUERIES]
            by_scan = [asked.nearest(query, False) for query in queries]
            by_index = [asked.nearest(query, True) for query in queries]
        hits = [len(a[1] & b[1]) / 20 for a, b in zip(by_scan, by_index, strict=True)]
        return {
            "rows": rows,
            "build_s": round(built, 1),
            "warm_exact_ms": round(statistics.median(ms for ms, _ in by_scan[3:]), 1),
            "warm_hnsw_ms": round(statistics.median(ms for ms, _ in by_index[3:]), 1),
            "cold_exact_ms": round(cold(folder, False), 1),
            "cold_hnsw_ms": round(cold(folder, True), 1),
            "recall_at_20": round(statistics.mean(hits), 3),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[5_000, 20_000, 50_000, 100_000, 200_000])
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--once", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.once:
        once(Path(given.once[0]), given.once[1] == "hnsw")
        return
    measured = []
    for rows in given.rows:
        measured.append(measure(rows))
        print("  ".join(f"{key} {value}" for key, value in measured[-1].items()), flush=True)
    if given.record:
        machine = {"cores": os.cpu_count(), "arch": platform.machine(), "python": platform.python_version()}
        with RUNS.open("a", encoding="utf-8") as runs:
            runs.write(json.dumps({"date": time.strftime("%Y-%m-%d"), "machine": machine, "rows": measured}) + "\n")


if __name__ == "__main__":
    main()
