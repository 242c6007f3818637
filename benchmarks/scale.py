"""A real corpus, indexed, edited, thinned out, moved and queried: seconds a stage, peak memory, file sizes.

    python benchmarks/scale.py FOLDER [--files N] [--largest BYTES] [--record]

Copies up to N files of FOLDER (of those that ragx indexes) to a scratch folder and runs the program as a user would.
`--largest` leaves out larger files: embedding takes most of the time, and grows with the text.
`--record` appends the figures to benchmarks/runs/scale.jsonl.
"""

import argparse
import json
import os
import platform
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ragx import __version__
from ragx.config.settings import Corpus
from ragx.files import discover, kind_of

RUNS = Path(__file__).parent / "runs" / "scale.jsonl"


def copy(source: Path, target: Path, limit: int, largest: int) -> int:
    """Copies a random sample of the files that would be indexed, the same each time."""
    settings = Corpus(respect_gitignore=False, max_file_bytes=largest)
    found = [file.path for file in discover(source, settings, target / ".ragx").files]
    chosen = sorted(random.Random(0).sample(found, min(limit, len(found))))
    for path in chosen:
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / path, target / path)
    (target / "ragx.toml").touch()
    return len(chosen)


def ragx(root: Path, *arguments: str) -> dict[str, Any]:
    """Runs the program; its JSON document with wall and CPU seconds and peak memory beside it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    # A process of its own each time, so that the peak is this command's and not an earlier one's.
    watched = (
        "import json, resource, subprocess, sys; "
        "done = subprocess.run(sys.argv[1:], capture_output=True); "
        "sys.stderr.buffer.write(done.stderr); "
        "used = resource.getrusage(resource.RUSAGE_CHILDREN); "
        "print(json.dumps({'code': done.returncode, 'rss_mb': used.ru_maxrss // 1024, 'out': done.stdout.decode()}))"
    )
    # -P: a folder of the corpus must not pass for a module.
    command = [sys.executable, "-c", watched, sys.executable, "-P", "-m", "ragx", *arguments]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    told = json.loads(done.stdout)
    if told["code"]:
        raise SystemExit(done.stderr)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "wall": round(time.perf_counter() - started, 2),
        "cpu": round(cpu, 2),
        "rss_mb": told["rss_mb"],
        "told": json.loads(told["out"]),
    }


def edit(root: Path, files: list[str]) -> None:
    for path in files[:1]:
        with (root / path).open("a", encoding="utf-8") as file:
            file.write("\n\nOne more paragraph about lighthouses.\n")


def delete(root: Path, files: list[str]) -> None:
    for path in files[1:11]:
        (root / path).unlink()


def rename(root: Path, files: list[str]) -> None:
    """The folder at the top with the most files gets another name."""
    tops = [path.split("/")[0] for path in files[11:] if "/" in path]
    top = max(set(tops), key=tops.count)
    (root / top).rename(root / f"{top}-renamed")


def nothing(root: Path, files: list[str]) -> None:
    """Leaves the corpus as it is."""


STEPS: dict[str, Callable[[Path, list[str]], None]] = {
    "first build": nothing,
    "nothing changed": nothing,
    "one file edited": edit,
    "ten files deleted": delete,
    "a folder renamed": rename,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--largest", type=int, default=Corpus().max_file_bytes)
    parser.add_argument("--record", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        count = copy(given.folder, root, given.files, given.largest)
        files = [path for path in sorted(os.path.relpath(file, root) for file in root.rglob("*")) if kind_of(path)]
        files = [path for path in files if (root / path).is_file() and path != "ragx.toml"]
        random.Random(1).shuffle(files)
        text_mb = sum((root / path).stat().st_size for path in files) / 1e6
        print(f"{count:,} files, {text_mb:.1f} MB of text; {platform.machine()}, {os.cpu_count()} cores")
        steps: dict[str, Any] = {}
        for name, act in STEPS.items():
            act(root, files)
            run = ragx(root, "index", "--json")
            told = run.pop("told")
            run |= {key: told[key] for key in ("chunks_total", "texts_embedded", "texts_reused", "edges_total")}
            run["index_mb"] = round((root / ".ragx" / "index.duckdb").stat().st_size / 1e6, 1)
            run["seconds"] = told["seconds"]
            steps[name] = run
            print(f"{name:18} {run['wall']:8.2f} s {run['cpu']:8.2f} CPU s {run['rss_mb']:6} MB peak  "
                  f"{run['chunks_total']:,} chunks, {run['texts_embedded']:,} texts embedded, "
                  f"{run['index_mb']} MB file  {run['seconds']}")  # fmt: skip
        for name, extra in (("query", []), ("query, no reranker", ["--no-rerank"])):
            run = ragx(root, "query", "how are command line options parsed?", "--json", *extra)
            steps[name] = {key: run[key] for key in ("wall", "cpu", "rss_mb")}
            print(f"{name:18} {run['wall']:8.2f} s {run['cpu']:8.2f} CPU s {run['rss_mb']:6} MB peak")
    if given.record:
        record = {
            "date": time.strftime("%Y-%m-%d"),
            "ragx": __version__,
            "machine": {"cores": os.cpu_count(), "arch": platform.machine(), "python": platform.python_version()},
            "files": count,
            "text_mb": round(text_mb, 1),
            "steps": steps,
        }
        with RUNS.open("a", encoding="utf-8") as runs:
            runs.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
