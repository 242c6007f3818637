"""What chunk size and overlap are worth on long documents: collections' documents, concatenated, cut in different ways.

    python benchmarks/long_documents.py COLLECTION.tar.gz... [--work DIR] [--documents N]

The documents of each collection (Markdown) become files of N, once as Markdown with a heading a document, once as plain
text. A query's relevant items are the lines at which its documents stand now. Each row is another way of cutting, its
differences are against the default. `nDCG@10` is that of passages (`ragx eval`), where one that touches a document has
found it; `text read` is the share of the relevant documents' text in the first 8,000 characters (about 2,000 tokens)
of the ranking, whatever the size of its passages. The cross-encoder is left out: it reads the first tokens of any.
The figures, the machine and the date are appended to benchmarks/runs/long_documents.jsonl.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from quality import Scores, commit, machine, ragx, unpack

from ragx import __version__
from ragx.config import index_dir, load
from ragx.config.settings import Chunking
from ragx.evaluation.compare import Difference, bootstrap
from ragx.evaluation.metrics import METRICS
from ragx.evaluation.queries import Judge, hit_ranks
from ragx.evaluation.run import DEPTH
from ragx.evaluation.session import Session
from ragx.search import Options
from ragx.store import open_index

RUNS = Path(__file__).parent / "runs" / "long_documents.jsonl"
READ_CHARS = 8_000
SIZES = (200, 400, 800)
OVERLAPS = (0.0, 0.15, 0.3)
DEFAULT = Chunking()
OPTIONS = Options(rerank=False, hnsw=False)
"""The cross-encoder reads the first tokens of a passage, whatever its size."""


@dataclass(frozen=True)
class Document:
    """Where a document stands in its long file: `line` is its text's, `[start, end)` are bytes."""

    file: str
    line: int
    start: int
    end: int


@dataclass(frozen=True)
class Query:
    text: str
    relevant: tuple[Document, ...]


def concatenate(collections: Iterable[Path], corpus: Path, each: int, *, headings: bool) -> list[Query]:
    """Writes the long files, and returns the collections' queries with their documents' new places."""
    corpus.mkdir(parents=True)
    queries = []
    for collection in collections:
        paths = sorted((collection / "corpus").rglob("*.md"))
        places: dict[str, Document] = {}
        for start in range(0, len(paths), each):
            name = f"{collection.name}-{start // each + 1:03}.{'md' if headings else 'txt'}"
            text = f"# Volume {start // each + 1}\n" if headings else ""
            for path in paths[start : start + each]:
                title, _, body = path.read_text(encoding="utf-8").partition("\n")
                lines = [f"#{title}" if headings else title.lstrip("# "), "", *body.strip().split("\n")]
                # Documents are of one long line; where one has more, the longest is what it is about.
                line = text.count("\n") + 2 + max(range(len(lines)), key=lambda at: len(lines[at]))
                before = len(text.encode())
                text += "\n" + "\n".join(lines) + "\n"
                if lines[0].strip("# ") or body.strip():
                    place = Document(name, line, before, len(text.encode()))
                    places[path.relative_to(collection / "corpus").as_posix()] = place
            (corpus / name).write_text(text, encoding="utf-8")
        for entry in map(json.loads, (collection / "queries.jsonl").read_text(encoding="utf-8").splitlines()):
            # Of a document without text nothing is indexed.
            relevant = tuple(places[path] for path in dict.fromkeys(entry["relevant"]) if path in places)
            if relevant:
                queries.append(Query(entry["query"], relevant))
    return queries


def text_read(relevant: Sequence[Document], passages: Iterable[tuple[str, int, int]]) -> float:
    """The share of the relevant documents' bytes among the first READ_CHARS of the ranking, no byte counted twice."""
    room = READ_CHARS
    read: dict[str, set[int]] = {}
    for file, start, end in passages:
        seen = read.setdefault(file, set())
        new = [at for at in range(start, end) if at not in seen][:room]
        seen.update(new)
        room -= len(new)
        if not room:
            break
    found = sum(len(read.get(each.file, set()).intersection(range(each.start, each.end))) for each in relevant)
    return found / sum(each.end - each.start for each in relevant)


def measured(
    corpus: Path, home: Path, queries: list[Query], size: int, overlap: float
) -> tuple[dict[str, Any], Scores]:
    """What one way of cutting comes to, and what each query is worth by it."""
    (corpus / "ragx.toml").write_text(f"[chunking]\nsize_tokens = {size}\noverlap = {overlap}\n")
    index = ragx(corpus, home, "index", "--full", "--keep-vectors")
    config = load(corpus).config
    values: dict[str, list[float]] = {"nDCG@10": [], "text read": []}
    with open_index(index_dir(corpus, config)) as store:
        session = Session(store, config, print)
        if why := session.load(OPTIONS):
            raise SystemExit(why)
        chunks = store.connection.execute("SELECT id, byte_start, byte_end FROM chunks")
        places = {row[0]: row[1:] for row in chunks.fetchall()}
        tokens = store.connection.execute("SELECT avg(token_count), max(token_count) FROM chunks").fetchall()[0]
        judge = Judge(session.passages.values())
        for query in queries:
            items, missing = judge.items(f"{each.file}:{each.line}" for each in query.relevant)
            if missing:
                raise SystemExit(f"{missing[0]} is not indexed")
            ranked = [hit[0] for hit in session.trial(query.text).rank(config, OPTIONS).hits]
            passages = [session.passages[chunk] for chunk in ranked]
            values["nDCG@10"].append(METRICS["ndcg_at_10"](hit_ranks(items, passages, DEPTH), len(items)))
            read = [(passage.file, *places[chunk]) for chunk, passage in zip(ranked, passages, strict=True)]
            values["text read"].append(text_read(query.relevant, read))
    record = {"chunks": index["chunks_total"], "mean_tokens": round(tokens[0]), "max_tokens": tokens[1]}
    return record, {name: np.array(column) for name, column in values.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collections", metavar="COLLECTION.tar.gz", type=Path, nargs="+")
    parser.add_argument(
        "--work", metavar="DIR", type=Path, help="scratch folder that is kept  [default: a temporary one]"
    )
    parser.add_argument("--documents", metavar="N", type=int, default=20, help="documents a file  [default: 20]")
    given = parser.parse_args()
    records = []
    with tempfile.TemporaryDirectory() as scratch:
        work = (given.work or Path(scratch)).resolve()
        (home := work / "home").mkdir(parents=True, exist_ok=True)
        collections = [unpack(archive, work) for archive in given.collections]
        for variant in ("headings", "plain"):
            corpus = work / f"long-{variant}"
            queries = concatenate(collections, corpus, given.documents, headings=variant == "headings")
            found: dict[tuple[int, float], Scores] = {}
            for size in SIZES:
                for overlap in OVERLAPS:
                    print(f"{variant}: {size} tokens, overlap {overlap}", file=sys.stderr)
                    record, found[size, overlap] = measured(corpus, home, queries, size, overlap)
                    records.append({"variant": variant, "size_tokens": size, "overlap": overlap, **record})
            base = found[DEFAULT.size_tokens, DEFAULT.overlap]
            for record in records[-len(found) :]:
                scores = found[record["size_tokens"], record["overlap"]]
                record |= {name: round(float(column.mean()), 4) for name, column in scores.items()}
                record["differences"] = {
                    name: [round(value, 4) for value in (each.mean, each.low, each.high)]
                    for name, column in scores.items()
                    for each in [difference(column, base[name])]
                }
                print(json.dumps(record))
    record = {
        "date": time.strftime("%Y-%m-%d"),
        "ragx": __version__,
        "commit": commit(),
        "machine": machine(),
        "collections": [archive.name for archive in given.collections],
        "documents_a_file": given.documents,
        "queries": len(queries),
        "rows": records,
    }
    RUNS.parent.mkdir(exist_ok=True)
    with RUNS.open("a", encoding="utf-8") as runs:
        runs.write(json.dumps(record) + "\n")


def difference(column: NDArray[np.float64], base: NDArray[np.float64]) -> Difference:
    """How far a column's mean lies above another's, paired by query."""
    return bootstrap((column - base)[:, None])[0]


if __name__ == "__main__":
    main()
