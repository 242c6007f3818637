"""Runs that are killed, interrupted or out of disk at random moments, and what they leave: one table.

    python benchmarks/crash.py [--trials N] [--how NAME...] [--record]

N trials (default 34) of each kind: a first, an incremental and a full run over two corpora that are made up here, a
small one with the bundled model and a middle one with a server that counts what it is asked. Each trial ends the
program at a random moment by SIGKILL, or (a quarter as many each) by SIGINT or for want of room: so much a file by
RLIMIT_FSIZE, so much in all on a tmpfs where one can be mounted. Then the index has to answer as before or as a full
build does, and the next run has to end, equal a full build row by row, and embed no text whose vector was committed.
`--record` appends the figures to benchmarks/runs/crash.jsonl.
"""

import argparse
import json
import multiprocessing
import os
import platform
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import shake_256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import duckdb

import ragx
from ragx import __version__
from ragx.models.served import PROBE
from ragx.store import INDEX_NAME

RUNS = Path(__file__).parent / "runs" / "crash.jsonl"
QUESTION = "which copies does the vault hold?"
TABLES = ("files", "chunks", "links", "edges", "communities", "community_labels", "terms", "postings")
WORDS = (
    "vault", "copies", "night", "server", "disk", "restored", "checked", "sums", "barley", "mill", "clock", "summer",
    "candle", "wick", "hedge", "birds", "garlic", "frost", "letter", "ferry", "snow", "pass", "salt", "silver",
    "well", "barn", "bees", "swarm", "piano", "moss", "roof", "sheep", "ladder", "angle", "cradle", "walnut", "rosin",
    "bow",
)  # fmt: skip
KINDS = {"first": [], "incremental": [], "full": ["--full"]}
DIMENSION = 32


class Counting(BaseHTTPRequestHandler):
    """An OpenAI-compatible embedding server; `texts` is what it was asked, the probe aside."""

    texts: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        Counting.texts += [text for text in given if text != PROBE]
        data = [{"index": number, "embedding": vector(text)} for number, text in enumerate(given)]
        content = json.dumps({"object": "list", "data": data}).encode()
        with suppress(OSError):  # its client was killed
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    def log_message(self, format: str, *arguments: object) -> None:
        """Says nothing."""


def vector(text: str) -> list[float]:
    """Words in common make near vectors."""
    sums = [0.0] * DIMENSION
    for word in text.lower().split():
        digest = shake_256(word.encode()).digest(DIMENSION)
        sums = [total + byte - 127.5 for total, byte in zip(sums, digest, strict=True)]
    return sums if any(sums) else [1.0] * DIMENSION


@contextmanager
def serving() -> Iterator[str]:
    class Quiet(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            """Clients are killed on purpose here."""

    with Quiet(("127.0.0.1", 0), Counting) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        server.shutdown()


@dataclass
class Corpus:
    """A tree, edited since the index in `old` was built; what a full build makes of it is in `full`."""

    name: str
    root: Path
    old: Path
    full: Path
    served: bool
    texts: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)


def write(root: Path, files: int, sections: int, settings: str) -> None:
    """Notes of made-up sentences with links, the same each time."""
    chosen = random.Random(7)
    for number in range(files):
        parts = [f"See [[note{chosen.randrange(files)}]].\n"]
        for section in range(sections):
            words = " ".join(chosen.choices(WORDS, k=25))
            parts.append(f"# Part {section} of {number}\n\n{words}.\n")
        (root / f"note{number}.md").write_text("\n".join(parts))
    (root / "ragx.toml").write_text(settings)


def edit(root: Path, files: int) -> None:
    """A tenth of the notes changes, a few move or go, and one comes that answers the question."""
    (root / "new.md").write_text("The vault holds copies of the last thirty nights.\n")
    for number in range(0, files, 10):
        with (root / f"note{number}.md").open("a") as file:
            file.write(f"\n# Later\n\nNote {number} was written again after the frost.\n")
    (root / "note1.md").unlink()
    (root / "note2.md").rename(root / "moved.md")


def program(arguments: list[str], index: str, told: str, room: int | None) -> None:
    """Runs the program in this process, which was forked with everything imported, and ends it."""
    os.environ["RAGX_DIR"] = index
    # What a shell starts in the background ignores it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, path in ((1, told), (2, os.devnull)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    if room is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
    from ragx.cli import run

    os._exit(run(arguments))


def start(corpus: Corpus, index: Path, *options: str, room: int | None = None) -> Any:
    """A run whose document goes to a file beside the index."""
    arguments = ["index", "--json", "--quiet", *options, "-C", str(corpus.root)]
    process = PROCESSES.Process(target=program, args=(arguments, str(index), f"{index}.json", room))
    process.start()
    return process


PROCESSES = multiprocessing.get_context("forkserver")


def finish(corpus: Corpus, index: Path, *options: str) -> dict[str, Any] | None:
    """A run to its end: its document, and None where it failed."""
    process = start(corpus, index, *options)
    process.join()
    return json.loads(Path(f"{index}.json").read_text()) if process.exitcode == 0 else None


def rows(index: Path) -> dict[str, list[tuple[Any, ...]]]:
    with duckdb.connect() as connection:
        connection.execute(f"ATTACH '{index / INDEX_NAME}' AS it (READ_ONLY)")
        return {table: connection.execute(f"FROM it.{table} ORDER BY ALL").fetchall() for table in TABLES}


def answer(corpus: Corpus, index: Path) -> Any:
    """A pyarrow.Table with the hits, or the name of the error."""
    os.environ["RAGX_DIR"] = str(index)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ragx.search(QUESTION, corpus.root, rerank=False)
    except ragx.RagxError as error:
        return type(error).__name__


def vectors(folder: Path, pattern: str) -> set[int]:
    """The ids of the vectors in index files of a folder, which stay as they are."""
    found: set[int] = set()
    for path in folder.glob(pattern):
        with tempfile.TemporaryDirectory() as aside, duckdb.connect() as connection, suppress(duckdb.Error):
            for file in folder.glob(f"{path.name}*"):
                if file.is_file():
                    shutil.copyfile(file, Path(aside) / file.name)
            connection.execute(f"ATTACH '{aside}/{path.name}' AS it")
            both = "SELECT id FROM it.embeddings_indexed UNION SELECT id FROM it.embeddings_recent"
            found |= {row[0] for row in connection.execute(both).fetchall()}
    return found


def prepare(work: Path, name: str, files: int, sections: int, settings: str, *, served: bool) -> Corpus:
    corpus = Corpus(name, work / name, work / f"{name}-old", work / f"{name}-full", served)
    corpus.root.mkdir()
    write(corpus.root, files, sections, settings)
    finish(corpus, corpus.old)
    edit(corpus.root, files)
    for kind, options in KINDS.items():
        index = corpus.full if kind == "full" else work / f"{name}-{kind}"
        if kind == "incremental":
            restore(corpus.old, index)
        started = time.perf_counter()
        told = finish(corpus, index, *options)
        assert told is not None
        corpus.seconds[kind] = time.perf_counter() - started
        corpus.texts[kind] = told["texts_embedded"]
    return corpus


def restore(index: Path, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    shutil.copy(index / INDEX_NAME, target)


def trial(corpus: Corpus, kind: str, how: str, chosen: random.Random, index: Path) -> Counter[str]:
    """Ends one run early, looks at what is left, and brings it to its end."""
    if kind != "first":
        restore(corpus.old, index)
    before, whole = answer(corpus, index), answer(corpus, corpus.full)
    size = (corpus.full / INDEX_NAME).stat().st_size
    process = start(
        corpus, index, *KINDS[kind], room=chosen.randrange(int(size * 1.1)) if how == "RLIMIT_FSIZE" else None
    )
    if how.startswith("SIG"):
        started = time.perf_counter()
        process.join(chosen.uniform(0, corpus.seconds[kind]))
        if process.is_alive():
            os.kill(process.pid, getattr(signal, how))
        else:
            # The machine has less to do than when it was measured.
            corpus.seconds[kind] = time.perf_counter() - started
    process.join()
    seen = Counter({"trials": 1, "ended early": process.exitcode != 0})

    left = answer(corpus, index)
    if same(left, before) and not same(before, whole):
        state = "as before"
    elif same(left, whole):
        state = "new"
    elif kind == "first" and not isinstance(left, str) and left.column("cosine").null_count == len(left):
        state = "keywords"
    else:
        state = "other"
    seen[state] += 1
    paid = vectors(index, "building*.duckdb") - (vectors(corpus.old, INDEX_NAME) if kind == "incremental" else set())
    # What is committed of a run that came to its end is in the index; a full run in its place pays for all again.
    owed = 0 if state == "new" and kind != "full" else corpus.texts[kind] - len(paid)
    if how == "tmpfs":
        subprocess.run(["mount", "-o", "remount,size=256m", str(index)], check=True)
    Counting.texts.clear()
    told = finish(corpus, index, *KINDS[kind])
    if told is None:
        return seen + Counter({"next run failed": 1})
    embedded = len(Counting.texts) if corpus.served else told["texts_embedded"]
    seen["embedded twice"] += max(0, embedded - owed)
    seen["not as a full build"] += rows(index) != rows(corpus.full) or not same(answer(corpus, index), whole)
    return seen


def same(one: Any, other: Any) -> bool:
    return one == other if isinstance(one, str) or isinstance(other, str) else bool(one.equals(other))


@contextmanager
def room_for_a_trial(work: Path, how: str, chosen: random.Random, size: int) -> Iterator[Path]:
    """A new folder for an index, on a tmpfs of a random size where that is how the disk is filled."""
    index = Path(tempfile.mkdtemp(dir=work))
    if how != "tmpfs":
        yield index
    else:
        kilobytes = chosen.randrange(size // 1024 + 64, 4 * size // 1024)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(index)], check=True)
        try:
            yield index
        finally:
            with suppress(ragx.RagxError):
                ragx.search(QUESTION, work)  # lets go of the file
            subprocess.run(["umount", "-l", str(index)], check=True)
    shutil.rmtree(index, ignore_errors=True)


def can_mount(work: Path) -> bool:
    place = work / "mount"
    place.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)], capture_output=True)
    return done.returncode == 0 and subprocess.run(["umount", str(place)]).returncode == 0


COLUMNS = (
    "trials", "ended early", "as before", "keywords", "new", "other", "next run failed", "not as a full build",
    "embedded twice",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=34)
    parser.add_argument("--how", nargs="+", choices=("SIGKILL", "SIGINT", "RLIMIT_FSIZE", "tmpfs"), help="only these")
    parser.add_argument("--record", action="store_true")
    given = parser.parse_args()
    PROCESSES.set_forkserver_preload(["ragx.indexing.run", "ragx.models.onnx", "ragx.cli", "ragx.render.documents"])
    started = time.perf_counter()
    table: dict[str, Counter[str]] = {}
    with tempfile.TemporaryDirectory() as folder, serving() as url:
        work = Path(folder)
        os.environ |= {"HOME": folder, "XDG_STATE_HOME": folder}
        server = f'[embeddings]\nprovider = "openai"\nbase_url = "{url}"\nmodel = "counted"\n'
        corpora = (
            prepare(work, "small", 20, 1, "", served=False),
            prepare(work, "middle", 150, 4, server, served=True),
        )
        ways = ["SIGKILL", "SIGINT", "RLIMIT_FSIZE", *(["tmpfs"] if can_mount(work) else [])]
        ways = [how for how in ways if how in (given.how or ways)]
        print(f"{platform.machine()}, {os.cpu_count()} cores, DuckDB {duckdb.__version__}", file=sys.stderr)
        print(f"{'':30}" + "".join(f"{name:>20}" for name in COLUMNS))
        for how in ways:
            for corpus in corpora:
                for kind in KINDS:
                    seen: Counter[str] = Counter()
                    size = (corpus.full / INDEX_NAME).stat().st_size
                    for number in range(given.trials if how == "SIGKILL" else given.trials // 4):
                        chosen = random.Random(f"{how} {corpus.name} {kind} {number}")
                        with room_for_a_trial(work, how, chosen, size) as index:
                            seen += trial(corpus, kind, how, chosen, index)
                    name = f"{how} {corpus.name} {kind}"
                    table[name] = seen
                    print(f"{name:30}" + "".join(f"{seen[column]:20,}" for column in COLUMNS), flush=True)
    if given.record:
        record = {
            "date": time.strftime("%Y-%m-%d"),
            "ragx": __version__,
            "machine": {"cores": os.cpu_count(), "arch": platform.machine(), "python": platform.python_version()},
            "seconds": round(time.perf_counter() - started),
            "trials": {name: {column: seen[column] for column in COLUMNS} for name, seen in table.items()},
        }
        with RUNS.open("a", encoding="utf-8") as runs:
            runs.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
