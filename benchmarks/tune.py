"""Whether the advice of `ragx tune` holds on unseen queries: what one half of the queries says, tried on the other.

    python benchmarks/tune.py COLLECTION.tar.gz... [--work DIR] [--splits N]

A collection is as for benchmarks/quality.py, and is indexed with the bundled models. Its queries are split in halves at
random; `tune` reads one, and the other is ranked with the settings before and with the advice; then they change places.
The search starts from the defaults, and from vectors alone, so that there is something to find. The figures, the
machine and the date are appended to benchmarks/runs/tune.jsonl.
"""

import argparse
import json
import random
import sys
import tempfile
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from quality import commit, machine, ragx, unpack

from ragx import __version__
from ragx.config import Config, index_dir, load
from ragx.evaluation import Difference, JudgedQuery, Session, bootstrap, read_queries, tune
from ragx.evaluation.metrics import METRICS
from ragx.evaluation.run import held_against
from ragx.search import Options
from ragx.store import open_index

RUNS = Path(__file__).parent / "runs" / "tune.jsonl"
STARTS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "vectors alone": {"fusion.vector_weight": 1.0, "scoring.beta_heat": 0.0, "scoring.beta_link": 0.0},
}


class Silent:
    """Watches a search without a word."""

    def stage(self, name: str, total: int | None, unit: str) -> None:
        pass

    def advance(self, amount: int) -> None:
        pass

    def warn(self, message: str) -> None:
        print(message, file=sys.stderr)


def with_settings(config: Config, settings: dict[str, Any]) -> Config:
    """The configuration with other values of some settings."""
    for name, value in settings.items():
        section, key = name.split(".")
        config = replace(config, **{section: replace(getattr(config, section), **{key: value})})
    return config


def scores(session: Session, config: Config, queries: list[JudgedQuery]) -> NDArray[np.float64]:
    """nDCG@10 of each query, ranked by the statements that `ragx query` runs."""
    return np.array(
        [
            METRICS["ndcg_at_10"](
                session.hit_ranks(items, session.trial(judged.query).rank(config, Options()).hits, 10), len(items)
            )
            for judged, items in held_against(session, queries)[0]
        ]
    )


def tried(session: Session, config: Config, seen: list[JudgedQuery], unseen: list[JudgedQuery]) -> dict[str, Any]:
    """What one half says, and what that is worth on the other."""
    found = tune(session, config, seen, "ndcg@10", Silent())
    gains = np.zeros((len(unseen), 1))
    if found.proposals:
        advised = with_settings(config, found.proposals)
        gains = (scores(session, advised, unseen) - scores(session, config, unseen))[:, None]
    return {"seen": len(seen), "proposed": found.proposals, "expected": found.gain, "unseen": bootstrap(gains)[0]}


def measured(collection: Path, splits: int) -> dict[str, list[dict[str, Any]]]:
    """By start, what each half of each split says and is worth."""
    corpus = collection / "corpus"
    config = load(corpus).config
    queries = read_queries(collection / "queries.jsonl")
    found: dict[str, list[dict[str, Any]]] = {start: [] for start in STARTS}
    with open_index(index_dir(corpus, config)) as store:
        session = Session(store, config, print, root=corpus)
        for seed in range(splits):
            shuffled = random.Random(seed).sample(queries, len(queries))
            halves = shuffled[::2], shuffled[1::2]
            for start, settings in STARTS.items():
                for seen, unseen in (halves, halves[::-1]):
                    each = tried(session, with_settings(config, settings), seen, unseen)
                    found[start].append(each)
                    print(row(collection.name, start, each), flush=True)
    return found


def row(name: str, start: str, found: dict[str, Any]) -> str:
    """A line of the table."""
    changes = " ".join(f"{setting}={value}" for setting, value in found["proposed"].items()) or "nothing"
    unseen = interval(found["unseen"]) if found["proposed"] else ""
    return f"{name:<12} {start:<14} {found['seen']:>4}  {interval(found['expected'])}  {unseen:<24}  {changes}"


def interval(difference: Difference) -> str:
    return f"{difference.mean:+z.3f} [{difference.low:+z.3f}, {difference.high:+z.3f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("collections", metavar="COLLECTION.tar.gz", type=Path, nargs="+")
    parser.add_argument(
        "--work", metavar="DIR", type=Path, help="scratch folder that is kept  [default: a temporary one]"
    )
    parser.add_argument("--splits", metavar="N", type=int, default=2, help="how often queries are split  [default: 2]")
    given = parser.parse_args()
    records: dict[str, dict[str, list[dict[str, Any]]]] = {}
    print(f"{'nDCG@10':<12} {'from':<14} seen  {'expected':<23}  {'on unseen queries':<24}  proposed")
    with tempfile.TemporaryDirectory() as scratch:
        work = (given.work or Path(scratch)).resolve()
        home = work / "home"
        home.mkdir(parents=True, exist_ok=True)
        for archive in given.collections:
            collection = unpack(archive, work)
            (collection / "corpus" / "ragx.toml").touch()
            ragx(collection / "corpus", home, "index")
            records[collection.name] = measured(collection, given.splits)
    record = {
        "date": time.strftime("%Y-%m-%d"),
        "ragx": __version__,
        "commit": commit(),
        "machine": machine(),
        "collections": records,
    }
    RUNS.parent.mkdir(exist_ok=True)
    with RUNS.open("a", encoding="utf-8") as runs:
        runs.write(json.dumps(record, default=lambda gain: [round(value, 4) for value in asdict(gain).values()]) + "\n")


if __name__ == "__main__":
    main()
