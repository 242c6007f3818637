"""A sweep in memory ranks as the statements of a query do, digit for digit, whatever the settings."""

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragx.config import Config, index_dir
from ragx.evaluation import Session
from ragx.evaluation.sweep import Sweep
from ragx.search import Options
from ragx.store import open_index
from tests.corpora import build, corpus, settings_of
from tests.random_settings import random_config

PLACES = ["mill", "river", "hive", "oven", "harbour", "clock", "meadow", "quarry"]
SENTENCES = [
    "Bread dough rests in a bowl before it goes into the tin.",
    "A queen bee lays two thousand eggs on a warm day.",
    "The mill ground barley until the river was dammed.",
    "A pendulum grows longer in the heat of summer.",
    "Clocks were set by the noon gun of the harbour.",
]
QUERIES = ["Who ground the barley at the mill?", "warm summer bread", "Wann mahlt der Müller?", "xylophone", "?!"]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Notes that link to, name and share tags with each other, in parts, two of them copies, and a module."""
    rng = random.Random(5)
    files: dict[str, str | bytes] = {}
    for number, place in enumerate(PLACES):
        sections = "\n".join(
            f"## Part {part} of the {place}\n\n{rng.choice(SENTENCES)} See [[{rng.choice(PLACES)}]], and the "
            f"story of the {rng.choice(PLACES)} notes of [{part}]({rng.choice(PLACES)}.md#part-1).\n"
            for part in range(3)
        )
        tag = "food" if number % 3 else "time"
        files[f"{place}.md"] = f"---\ntags: [{tag}]\n---\n# The {place} notes\n\n{sections}"
    files["copies/mill.md"] = files["mill.md"]
    files |= {
        "grind.py": "import barley\n\n\ndef grind():\n    return barley.ground()\n",
        "barley.py": "ground = str\n",
    }
    root = corpus(tmp_path_factory.mktemp("swept"), files)
    build(root)
    return root


@pytest.fixture(scope="module")
def sessions(root: Path) -> Iterator[tuple[Session, Session]]:
    """One for the statements, one for the sweep: what the stages of one leave behind cannot serve the other."""
    config = settings_of(root)
    with open_index(index_dir(root, config)) as store, open_index(index_dir(root, config)) as other:
        pair = Session(store, config, lambda _: None), Session(other, config, lambda _: None)
        for session in pair:
            assert session.load(Options()) == ""
        yield pair


def differing(sessions: tuple[Session, Session], sweep: Sweep, query: str, config: Config) -> list[Any]:
    ranked = [(*hit[:3], tuple(hit[-1])) for hit in sessions[0].trial(query).rank(config, Options()).hits]
    swept = sweep.hits(query, config)
    return [] if ranked == swept else [config, ranked, swept]


@pytest.mark.parametrize("seed", range(3))
def test_random_settings_rank_alike(sessions: tuple[Session, Session], seed: int) -> None:
    rng, sweep = random.Random(seed), Sweep(sessions[1])
    base = sessions[1].config
    base = replace(base, rerank=replace(base.rerank, depth=4))
    for step in range(40):
        config = replace(random_config(base, rng), keyword=base.keyword)
        assert differing(sessions, sweep, QUERIES[step % len(QUERIES)], config) == []


@pytest.mark.parametrize("preset", ["additive", "classic"])
@pytest.mark.parametrize("hops", [0, 1, 2, 3])
def test_heat_that_is_cut_off_and_floored_ranks_alike(
    sessions: tuple[Session, Session], preset: str, hops: int
) -> None:
    base = sessions[1].config
    base = replace(base, rerank=replace(base.rerank, enabled=False))
    for frontier, floor, seeds in ((150, -1.0, 20), (3, 0.5, 4), (1, None, 1)):
        traversal = replace(
            base.traversal, preset=preset, hops=hops, decay=0.7, max_frontier=frontier, query_floor=floor, seeds=seeds
        )
        config = replace(base, traversal=replace(traversal, tag_weight=0.3, link_weight=0.6))
        for query in QUERIES:
            assert differing(sessions, Sweep(sessions[1]), query, config) == []


def test_the_corpus_has_every_kind_of_edge_that_heat_follows(sessions: tuple[Session, Session]) -> None:
    kinds = sessions[0].searcher.store.connection.execute("SELECT DISTINCT kind FROM edges").fetchall()
    assert {kind for (kind,) in kinds} == {"similar", "link", "import", "mention", "tag"}
