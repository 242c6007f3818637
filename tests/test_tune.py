"""`ragx tune`: it proposes what is better beyond noise; a query with those settings ranks as it did in the search."""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ragx.config import SETTINGS, Config, index_dir, set_value
from ragx.errors import UsageError
from ragx.evaluation import Difference, Fold, JudgedQuery, Session, Tuning, Unindexed, bootstrap, evaluate, tune
from ragx.evaluation.descent import Descent, descend, folds
from ragx.evaluation.grid import GRID, Point, alternatives, config_at, names, point_of
from ragx.models import reranker_row
from ragx.render.tuning import tune_document, tune_text
from ragx.search import Options, Searcher
from ragx.store import open_index
from tests.corpora import Silent, build, settings_of
from tests.corpora import corpus as make_corpus
from tests.rendered import valid

WORDS = {
    "bread": "Bread dough rests in a bowl before it goes into the tin.",
    "honey": "Honey is taken in July and once more in August.",
    "queen": "A queen bee lays two thousand eggs on a warm day.",
    "river": "The river was dammed and the mill stood still.",
    "barley": "Barley makes a heavier loaf than wheat does.",
    "clock": "The clock was set by the noon gun of the harbour.",
    "pendulum": "A pendulum grows longer in the heat of summer.",
    "oven": "An oven must be hot before anything is baked.",
    "swarm": "The swarm leaves in May when the hive is full.",
}
KINDS = frozenset({"similar", "link", "import", "mention", "tag"})
QUERIES = [f"{a} {b}" for a, b in combinations(WORDS, 2)][:24]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus whose settings leave the vectors out, and the cross-encoder."""
    root = make_corpus(tmp_path_factory.mktemp("tuned"), {f"{name}.md": f"{text}\n" for name, text in WORDS.items()})
    (root / "ragx.toml").write_text("[rerank]\nenabled = false\n[fusion]\nvector_weight = 0.0\n")
    build(root)
    return root


@pytest.fixture(scope="module")
def queries(root: Path) -> list[JudgedQuery]:
    """What a fusion that hears the vectors would answer."""
    config = settings_of(root)
    return judged_by(root, replace(config, fusion=replace(config.fusion, vector_weight=0.9)))


def judged_by(root: Path, config: Config) -> list[JudgedQuery]:
    """Queries whose relevant file is what `config` finds first."""
    with open_index(index_dir(root, config)) as store:
        searcher = Searcher(store, config, lambda _: None)
        return [
            JudgedQuery(line, query, (searcher.search(query, Options(top=1, hnsw=False)).hits[0].file,))
            for line, query in enumerate(QUERIES, 1)
        ]


def tuned(root: Path, queries: list[JudgedQuery], metric: str = "ndcg@10") -> Tuning:
    config = settings_of(root)
    with open_index(index_dir(root, config)) as store:
        return tune(Session(store, config, pytest.fail, root=root), config, queries, metric, Silent())


def test_what_is_proposed_ranks_in_a_query_digit_for_digit_as_it_did_in_the_search(
    root: Path, queries: list[JudgedQuery], tmp_path: Path
) -> None:
    found = tuned(root, queries)
    assert found.verdict == "better" and 0 < found.gain.low <= found.gain.mean
    assert found.gain.mean == pytest.approx(found.held_out - found.before)
    start = settings_of(root)
    (tmp_path / "ragx.toml").write_bytes((root / "ragx.toml").read_bytes())
    for name, value in found.proposals.items():
        set_value(tmp_path / "ragx.toml", name, value)
    config = settings_of(tmp_path)
    with open_index(index_dir(root, start)) as store:
        session = Session(store, start, lambda _: None)
        assert session.load(Options()) == ""
        tried = [
            session.trial(query).rank(config_at(start, tuple(found.settings.values())), Options())
            for query in QUERIES[:8]
        ]
    with open_index(index_dir(root, start)) as store:
        searcher = Searcher(store, config, lambda _: None)
        for query, ranking in zip(QUERIES[:8], tried, strict=True):
            answer = searcher.search(query, Options(top=1000, hnsw=False))
            parts = [tuple(getattr(hit.parts, field.name) for field in fields(hit.parts)) for hit in answer.hits]
            assert [hit[3:-1] for hit in ranking.hits] == parts
            assert [hit[:3] for hit in ranking.hits] == [(hit.chunk_id, hit.file, hit.score) for hit in answer.hits]
    with open_index(index_dir(root, start)) as store:
        (full,) = evaluate(store, config, queries, ("full",), Silent(), root=root).configurations
    assert full.values["ndcg_at_10"] == pytest.approx(found.fitted, abs=1e-12)


@pytest.mark.parametrize("count", [1, 2])
def test_too_few_queries_tell_nothing_and_copies_are_no_more_of_them(
    root: Path, queries: list[JudgedQuery], count: int
) -> None:
    found = tuned(root, queries[:count] * 2, "mrr@10")
    assert (found.queries, found.distinct, found.verdict, found.proposals) == (2 * count, count, "too_few", {})
    assert len(found.folds) == count


def test_an_unknown_metric_is_refused(root: Path, queries: list[JudgedQuery]) -> None:
    with pytest.raises(UsageError, match="no metric to tune for is called map"):
        tuned(root, queries, "map")


def one_gain_and_one_loss(at: dict[str, Any]) -> float:
    return float(at["scoring.beta_heat"] == 0.2) - float(at["fusion.method"] == "rrf")


def searched(
    seed: int,
    gain: float,
    effect: Callable[[dict[str, Any]], float] = one_gain_and_one_loss,
    *,
    count: int = 100,
    deviation: float = 0.1,
) -> Descent:
    """A search on made-up metrics: noise, and `gain` times what settings effect."""

    def measure(points: Sequence[Point], advance: Callable[[int], None]) -> NDArray[np.float64]:
        rows = []
        for point in points:
            noise = np.random.default_rng([seed, *map(ord, str(point))]).normal(0, deviation, count)
            rows.append(0.5 + gain * effect(dict(zip(names(), point, strict=True))) + noise)
        return np.array(rows).reshape(-1, count)

    return descend(Config(), KINDS, [f"q{number}" for number in range(count)], measure, Silent())


def test_a_gain_is_found_in_every_fold_and_shown_at_its_true_size_on_unseen_queries() -> None:
    found = searched(1, 0.2)
    at = names().index("scoring.beta_heat")
    assert {point[at] for point in (found.best, *(point for _, point in found.folds))} == {0.2}
    assert found.best[0] == "convex"
    (difference,) = bootstrap((found.unseen - found.before)[:, None])
    assert difference.low < 0.2 < difference.high and difference.low > 0.1
    assert np.sum([mask for mask, _ in found.folds], axis=0).tolist() == [1] * 100


def test_noise_looks_better_on_the_queries_searched_and_seldom_on_unseen_ones() -> None:
    gains = [searched(seed, 0.0) for seed in range(20)]
    assert sum((each.fitted - each.before).mean() > 0.01 for each in gains) >= 15
    assert sum(bootstrap((each.unseen - each.before)[:, None])[0].low > 0 for each in gains) <= 3


def test_what_gains_nothing_beside_a_later_find_is_put_back() -> None:
    def effect(at: dict[str, Any]) -> float:
        return 2.0 if at["scoring.gamma_vector"] == 0.3 else float(at["fusion.vector_weight"] == 0.9)

    found = searched(1, 0.2, effect, deviation=0)
    changed = [
        {name: value for name, value, before in zip(names(), point, found.start, strict=True) if value != before}
        for point in (found.best, *(point for _, point in found.folds))
    ]
    assert changed == [{"scoring.gamma_vector": 0.3}] * 6


def test_folds_keep_equal_texts_together_and_do_not_depend_on_the_order() -> None:
    queries = [f"q{number % 23}" for number in range(40)]
    found = dict(zip(queries, folds(queries), strict=True))
    assert [found[query] for query in queries] == list(folds(queries))
    assert dict(zip(reversed(queries), folds(queries[::-1]), strict=True)) == found
    assert sorted(np.bincount([*found.values()])) == [4, 4, 5, 5, 5]


def test_the_grid_lies_within_what_the_settings_accept_and_starts_at_what_is_in_force() -> None:
    for row in GRID:
        rule = SETTINGS[row.name].rule
        assert SETTINGS[row.name].rule.effect == "query"
        for value in row.values:
            assert value in rule.choices if rule.choices else rule.low <= value <= rule.high
    config, reranker = Config(), reranker_row(Config().rerank)
    assert dict(zip(names(), point_of(config), strict=True)) == {
        "fusion.method": config.fusion.method,
        "fusion.vector_weight": config.fusion.vector_weight,
        "traversal.link_weight": 1.0,
        "traversal.import_weight": 1.0,
        "traversal.mention_weight": 1.0,
        "traversal.tag_weight": 1.0,
        "traversal.hops": 1,
        "traversal.decay": 1.0,
        "rerank.depth": reranker.depth,
        "scoring.alpha_rerank": reranker.alpha,
        "scoring.beta_heat": reranker.beta,
        "scoring.beta_link": reranker.beta_link,
        "scoring.gamma_vector": reranker.gamma,
    }


def test_settings_that_change_nothing_are_not_tried() -> None:
    def tried(config: Config, kinds: frozenset[str] = KINDS) -> set[str]:
        return {row.name for at, row in enumerate(GRID) if alternatives(config, kinds, point_of(config), at)}

    everything, config = {*names()}, Config()
    assert tried(config) == everything - {"traversal.decay"}
    assert tried(replace(config, traversal=replace(config.traversal, hops=2))) == everything
    classic = replace(config, traversal=replace(config.traversal, preset="classic", hops=1))
    assert tried(classic) == everything - {"scoring.beta_link"}
    off = replace(config, rerank=replace(config.rerank, enabled=False), fusion=replace(config.fusion, method="rrf"))
    assert everything - tried(off) == {
        "fusion.vector_weight", "traversal.decay", "rerank.depth", "scoring.alpha_rerank"
    }  # fmt: skip
    weights = {f"traversal.{kind}_weight" for kind in KINDS - {"similar"}}
    assert tried(config, frozenset({"similar"})) == everything - {"traversal.decay", "scoring.beta_link"} - weights
    # A kind alone weighs what `beta_link` says, whatever its own weight is; beside others, it is a matter of taste.
    assert tried(config, frozenset({"similar", "mention"})) & weights == set()
    assert tried(classic, frozenset({"similar", "mention"})) & weights == {"traversal.mention_weight"}
    both = frozenset({"similar", "mention", "tag"})
    assert tried(config, both) & weights == {"traversal.mention_weight", "traversal.tag_weight"}


PRESENT = dict(zip(names(), point_of(Config()), strict=True))
FOUND = Tuning(
    embedding_model="bge-small-en-v1.5",
    rerank_model="ms-marco-MiniLM-L-12-v2",
    metric="ndcg@10",
    queries=200,
    distinct=200,
    present=PRESENT,
    settings=PRESENT | {"fusion.vector_weight": 0.7, "rerank.depth": 40},
    folds=tuple(Fold(40, PRESENT | {"fusion.vector_weight": 0.7}) for _ in range(5)),
    before=0.5614,
    held_out=0.5826,
    fitted=0.5871,
    gain=Difference(0.0212, 0.0101, 0.0333),
    excluded=(JudgedQuery(4, "lost", ("gone.md",)),),
    unindexed=(Unindexed(4, "lost", "gone.md"),),
)


def test_the_commands_are_printed_only_where_the_gain_is_beyond_noise() -> None:
    sources = {"rerank.depth": "~/.ragxrc", "fusion.vector_weight": "ragx.toml"}
    text = tune_text(FOUND, sources)
    assert "ragx config set fusion.vector_weight 0.7\nragx config set --global rerank.depth 40\n" in text
    assert "left out, since nothing relevant is indexed: 1 query (line 4)" in text
    noise = replace(FOUND, gain=Difference(0.0212, -0.001, 0.04))
    assert "no setting is better beyond noise on these 200 queries" in tune_text(noise, sources)
    few = replace(FOUND, distinct=19)
    assert "19 distinct queries; 20 are the least" in tune_text(few, sources)
    assert "config set" not in tune_text(noise, sources) + tune_text(few, sources)
    for found, verdict in ((FOUND, "better"), (noise, "noise"), (few, "too_few")):
        document = valid(tune_document(found, sources))
        assert document["verdict"] == verdict
        assert [each["command"] for each in document["proposals"]] == (
            ["ragx config set fusion.vector_weight 0.7", "ragx config set --global rerank.depth 40"]
            if verdict == "better"
            else []
        )


def test_the_command_reads_each_passage_with_the_cross_encoder_and_prints_one_document(tmp_path: Path) -> None:
    root = make_corpus(tmp_path / "corpus", {f"{name}.md": f"{WORDS[name]}\n" for name in ("bread", "queen", "river")})
    build(root)
    lines = [{"query": "eggs", "relevant": ["queen.md"]}, {"query": "dough", "relevant": ["bread.md", "gone.md"]}]
    (tmp_path / "queries.jsonl").write_text("\n".join(map(json.dumps, lines)))

    def ragx(*arguments: str) -> tuple[int, str, str]:
        command = [sys.executable, "-m", "ragx", "tune", *arguments]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    code, out, err = ragx("../queries.jsonl", "--json", "--metric", "recall@10")
    assert code == 0, err
    document = valid(json.loads(out))
    assert (document["verdict"], document["present_mean"], document["gain"]["low"]) == ("too_few", 1, 0)
    assert "searching, round 1 of at most 3" in err and "not counted: 1 relevant item" in err
    code, out, err = ragx("../queries.jsonl", "--metric", "map")
    assert (code, out) == (2, "")
    assert err == "ragx: no metric to tune for is called map; there are: ndcg@10, mrr@10, recall@10\n"
