"""Measurements: metrics equal ir_measures', bad lines are named, and a trial ranks exactly as a query does."""

import json
import random
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest
from ir_measures import RR, Qrel, R, ScoredDoc, nDCG

from ragx.config import index_dir
from ragx.errors import UsageError
from ragx.evaluation import Session, bootstrap, compare, evaluate, read_outcomes, read_queries
from ragx.evaluation.compare import RESAMPLES, Scored
from ragx.evaluation.metrics import METRICS, measure
from ragx.evaluation.queries import Item, Judge, JudgedQuery, Passage, hit_ranks
from ragx.search import Options, Searcher
from ragx.store import Store, open_index
from tests.corpora import Silent, build, settings_of
from tests.corpora import corpus as make_corpus
from tests.random_settings import random_config

THEIRS = {
    "recall_at_5": R @ 5,
    "recall_at_10": R @ 10,
    "recall_at_100": R @ 100,
    "mrr_at_10": RR @ 10,
    "ndcg_at_10": nDCG @ 10,
}
SENTENCES = [
    "Bread dough rests in a bowl before it goes into the tin.",
    "Sourdough needs flour, water and a week of patience.",
    "The oven must be hot before the bread goes in.",
    "Bees swarm in May when the old queen leaves the hive.",
    "A queen bee lays two thousand eggs on a warm day.",
    "Honey is taken in July and once more in August.",
    "The mill ground barley until the river was dammed.",
    "A water wheel turns slowly when the river is low.",
    "Barley bread is heavier than bread made of wheat.",
    "The pendulum of a clock grows longer in the heat.",
    "Clocks were set by the noon gun of the harbour.",
    "Der Müller mahlt das Korn, wenn der Fluss genug Wasser hat.",
]
QUERIES = ["when do bees swarm?", "barley bread", "Wann mahlt der Müller?", "xylophone", "the river is low"]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus of twelve notes and one longer file with several chunks."""
    files = {f"notes/{number:02}.md": f"# Note {number}\n\n{text}\n" for number, text in enumerate(SENTENCES)}
    sections = (f"## Part {number}\n\n{text}\n" for number, text in enumerate(SENTENCES[:4]))
    root = make_corpus(tmp_path_factory.mktemp("evaluated"), {**files, "all.md": "\n".join(sections)})
    build(root)
    return root


@pytest.fixture(scope="module")
def store(root: Path) -> Iterator[Store]:
    with open_index(index_dir(root, settings_of(root))) as store:
        yield store


@pytest.mark.parametrize("seed", range(40))
def test_metrics_are_those_of_ir_measures(seed: int) -> None:
    rng = random.Random(seed)
    documents = [f"d{number}" for number in range(rng.choice([1, 8, 120, 300]))]
    relevant = {f"d{number}" for number in rng.sample(range(320), rng.choice([1, 2, 12, 150]))}
    ranked = rng.sample(documents, rng.randint(1, len(documents)))
    ranks = [rank for rank, name in enumerate(ranked, 1) if name in relevant]
    qrels = [Qrel("q", name, 1) for name in relevant]
    run = [ScoredDoc("q", name, -float(rank)) for rank, name in enumerate(ranked)]
    theirs = ir_measures.calc_aggregate(list(THEIRS.values()), qrels, run)
    assert measure(ranks, len(relevant)) == pytest.approx(
        {name: theirs[metric] for name, metric in THEIRS.items()}, abs=1e-9
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{", "not JSON"),
        (b'{"query": "\xff", "relevant": ["a"]}', "not UTF-8"),
        (b'["query"]', "not a JSON object"),
        (b'{"relevant": ["a"]}', '"query" must be a text'),
        (b'{"query": " \\t", "relevant": ["a"]}', '"query" must be a text'),
        (b'{"query": "a"}', 'neither of "relevant" and "relevant_files"'),
        (b'{"query": "a", "relevant": ["a"], "relevant_files": ["a"]}', 'both of "relevant" and "relevant_files"'),
        (b'{"query": "a", "relevant": "a.md"}', '"relevant" must be a list of paths'),
        (b'{"query": "a", "relevant_files": [3]}', '"relevant_files" must be a list of paths'),
        (b'{"query": "a", "relevant": [""]}', '"relevant" must be a list of paths'),
        (b'{"query": "a", "relevant": []}', '"relevant" is empty'),
        (b"[" * 100_000, "not JSON"),
    ],
)
def test_a_bad_line_is_refused_by_its_number(tmp_path: Path, line: bytes, message: str) -> None:
    path = tmp_path / "queries.jsonl"
    path.write_bytes(b'{"query": "a", "relevant": ["a.md"]}\n\n' + line + b'\n{"query": 1}\n')
    with pytest.raises(UsageError) as caught:
        read_queries(path)
    assert caught.value.message.startswith(f"{path}:3: {message}")


@pytest.mark.parametrize("data", [b"", b"\n \r\n", b"\xef\xbb\xbf"])
def test_a_file_without_queries_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "queries.jsonl").write_bytes(data)
    with pytest.raises(UsageError, match="holds no query"):
        read_queries(tmp_path / "queries.jsonl")
    with pytest.raises(UsageError, match="cannot read"):
        read_queries(tmp_path)


def test_both_names_of_the_list_a_bom_line_ends_and_unknown_keys_are_read(tmp_path: Path) -> None:
    (tmp_path / "queries.jsonl").write_bytes(
        b'\xef\xbb\xbf{"query": "a\xc3\xa9", "relevant_files": ["a.md"], "id": 7, "set": {"x": 1}}\r\n'
        b'{"query": "b", "relevant": ["b.md:3", "c.md"], "id": 7}'
    )
    assert read_queries(tmp_path / "queries.jsonl") == (
        JudgedQuery(1, "aé", ("a.md",), "7"),
        JudgedQuery(2, "b", ("b.md:3", "c.md"), "7"),
    )


PASSAGES = [Passage("a.md", 1, 9), Passage("a.md", 11, 20), Passage("b.md", 1, 5), Passage("odd:7", 1, 2)]


@pytest.mark.parametrize(
    ("name", "item"),
    [
        ("a.md", Item("a.md")),
        ("./a.md", Item("a.md")),
        ("x/../a.md", Item("a.md")),
        ("a.md:9", Item("a.md", 9)),
        ("./a.md:11", Item("a.md", 11)),
        ("a.md:10", None),
        ("a.md:21", None),
        ("a.md:0", None),
        ("A.md", None),
        ("c.md", None),
        ("c.md:1", None),
        ("odd:7", Item("odd:7")),
        ("odd:7:2", Item("odd:7", 2)),
        ("odd", None),
    ],
)
def test_a_relevant_path_or_line_is_found_in_the_index_or_named(name: str, item: Item | None) -> None:
    assert Judge(PASSAGES).items([name, name]) == (((item,), ()) if item else ((), (name, name)))


@pytest.mark.parametrize(
    ("items", "ranks"),
    [
        (["b.md"], (2,)),
        (["a.md", "b.md", "c.md"], (1, 2)),
        (["a.md:12"], (3,)),
        # A file beside a line is found by its first passage, and passages are ranked.
        (["a.md:12", "b.md"], (2, 3)),
        (["a.md:12", "a.md"], (1, 3)),
        # Two lines that one passage finds take a rank each, so that no measure exceeds 1.
        (["a.md:1", "a.md:9"], (1, 2)),
        (["a.md:1", "a.md:9", "b.md:2"], (1, 2, 3)),
        (["c.md"], ()),
    ],
)
def test_ranks_of_files_and_of_lines(items: list[str], ranks: tuple[int, ...]) -> None:
    ranked = [Passage("a.md", 1, 9), Passage("b.md", 1, 5), Passage("a.md", 11, 20), Passage("a.md", 1, 9)]
    split = (name.partition(":") for name in items)
    wanted = [Item(file, int(line) if line else None) for file, _, line in split]
    assert hit_ranks(wanted, ranked, 100) == ranks


def test_nothing_beyond_the_depth_is_found() -> None:
    ranked = [Passage(f"{number}.md", 1, 1) for number in range(200)]
    assert hit_ranks([Item("99.md"), Item("100.md")], ranked, 100) == (100,)


def random_options(rng: random.Random) -> Options:
    return Options(
        top=1000,
        vector=rng.random() < 0.8,
        lexical=rng.random() < 0.8,
        deep=rng.random() < 0.3,
        graph=rng.random() < 0.6,
        rerank=rng.choice([True, False, None]),
        hops=rng.choice([None, None, 0, 2]),
        hnsw=False,
        fold=False,
    )


def test_a_trial_ranks_as_a_query_does_digit_for_digit_whatever_was_tried_before(root: Path, store: Store) -> None:
    rng = random.Random(3)
    base = settings_of(root)
    base = replace(base, rerank=replace(base.rerank, depth=3))
    with open_index(store.path.parent) as other:
        session = Session(other, base, lambda _: None)
        searcher = Searcher(store, base, lambda _: None)
        for options in (Options(), Options(rerank=True)):
            assert session.load(options) == ""
        trials = {query: session.trial(query) for query in QUERIES}
        previous = random_config(base, rng), random_options(rng)
        for step in range(50):
            # Mostly one query under ever other settings; now and then only the query or only the settings change.
            query = QUERIES[step // 10] if rng.random() < 0.8 else rng.choice(QUERIES)
            config = previous[0] if rng.random() < 0.3 else random_config(base, rng)
            options = previous[1] if rng.random() < 0.3 else random_options(rng)
            previous = config, options
            ranking = trials[query].rank(config, options)
            searcher.config = config
            answer = searcher.search(query, options)
            assert ranking.stages == answer.stages, (config, options)
            parts = [tuple(getattr(hit.parts, field.name) for field in fields(hit.parts)) for hit in answer.hits]
            assert [hit[3:-1] for hit in ranking.hits] == parts, (config, options)
            assert [hit[:3] for hit in ranking.hits] == [(hit.chunk_id, hit.file, hit.score) for hit in answer.hits]


def test_a_setting_that_only_weighs_runs_no_stage_again(root: Path, store: Store) -> None:
    with open_index(store.path.parent) as other:
        session = Session(other, settings_of(root), lambda _: None)
        assert session.load(Options()) == ""
        trial = session.trial(QUERIES[0])
        config = settings_of(root)
        first = trial.rank(config, Options())
        for leg in ("vector_leg", "keyword_leg", "fuse", "spread", "rerank"):
            setattr(session.searcher, leg, None)
        again = trial.rank(replace(config, scoring=replace(config.scoring, alpha_rerank=0.9)), Options())
        assert (again.stages, len(again.hits)) == (first.stages, len(first.hits))
        assert {hit[:3] for hit in again.hits} != {hit[:3] for hit in first.hits}
        assert again.cpu_ms > first.cpu_ms / 2  # what was kept costs what it did


def measured(store: Store, root: Path, *queries: JudgedQuery, names: tuple[str, ...] = ("lexical",)) -> Any:
    return evaluate(store, settings_of(root), queries, names, Silent(), root=root)


def test_a_relevant_file_that_is_not_indexed_does_not_count_and_is_named(root: Path) -> None:
    with open_index(index_dir(root, settings_of(root))) as store:
        found = measured(
            store,
            root,
            JudgedQuery(1, "bees swarm", ("notes/03.md", "gone.md")),
            JudgedQuery(2, "mill", ("gone.md", "all.md:900")),
        )
    assert [(outcome.judged.line, outcome.ranks) for outcome in found.outcomes] == [(1, {"lexical": (1,)})]
    assert found.configurations[0].values["recall_at_5"] == 1
    assert [judged.line for judged in found.excluded] == [2]
    assert [(gap.line, gap.name) for gap in found.unindexed] == [(1, "gone.md"), (2, "gone.md"), (2, "all.md:900")]


def test_a_line_ranks_passages_and_a_file_its_best(root: Path) -> None:
    with open_index(index_dir(root, settings_of(root))) as store:
        found = measured(
            store,
            root,
            JudgedQuery(1, "sourdough patience", ("all.md:7",)),
            JudgedQuery(2, "sourdough patience", ("all.md",)),
        )
    line, file = found.outcomes
    assert (line.unit, file.unit) == ("passage", "file")
    assert line.ranks == file.ranks == {"lexical": (2,)} or line.ranks == file.ranks == {"lexical": (1,)}


def test_no_answerable_query_and_an_unknown_configuration_are_errors(root: Path) -> None:
    with open_index(index_dir(root, settings_of(root))) as store:
        with pytest.raises(UsageError, match=r"no query has a relevant file that is indexed \(x\.md is not\)"):
            measured(store, root, JudgedQuery(1, "bees", ("x.md",)))
        with pytest.raises(UsageError, match="no configuration is called hybird"):
            measured(store, root, JudgedQuery(1, "bees", ("all.md",)), names=("lexical", "hybird"))


def test_a_model_that_is_not_there_leaves_out_what_needs_it_and_says_why(root: Path, tmp_path: Path) -> None:
    base = settings_of(root)
    for name in ("model.onnx", "tokenizer.json"):
        (tmp_path / name).write_text("nonsense")
    without = replace(base, rerank=replace(base.rerank, model=str(tmp_path)))
    queries = (JudgedQuery(1, "bees", ("all.md",)),)
    with open_index(index_dir(root, base)) as store:
        found = evaluate(store, without, queries, (), Silent(), root=root)
        assert [each.name for each in found.configurations] == ["lexical", "baseline", "hybrid", "graph"]
        assert set(found.not_run) == {"rerank", "full"} and all(found.not_run.values())
    with open_index(index_dir(root, base)) as store, pytest.raises(UsageError, match="full cannot run"):
        evaluate(store, without, queries, ("full",), Silent(), root=root)


def test_a_language_that_the_cross_encoder_does_not_read_is_counted(root: Path) -> None:
    with open_index(index_dir(root, settings_of(root))) as store:
        queries = [
            JudgedQuery(1, "Wann mahlt der Müller das Korn?", ("notes/11.md",)),
            JudgedQuery(2, "bees", ("all.md",)),
        ]
        (found,) = measured(store, root, *queries, names=("rerank",)).configurations
    assert found.stages["rerank"] == 1
    assert found.skipped == {("rerank", "ms-marco-MiniLM-L-12-v2 does not read de"): 1}


def test_an_interval_holds_the_true_difference_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(5)
    samples = rng.normal(0.1, 1, (80, 200))
    intervals = bootstrap(samples)
    assert 0.88 <= np.mean([each.low <= 0.1 <= each.high for each in intervals]) <= 0.99
    assert [each.mean for each in intervals] == pytest.approx(list(samples.mean(axis=0)))
    assert bootstrap(samples) == intervals


def test_equal_columns_get_equal_intervals_and_no_difference_is_noise() -> None:
    a, b, zero = bootstrap(np.array([[0.5, 0.5, 0.0], [0.25, 0.25, 0.0], [0.0, 0.0, 0.0]]))
    assert a == b and a.low < a.mean < a.high
    assert (zero.mean, zero.low, zero.high, zero.noise) == (0, 0, 0, True)


def test_many_queries_are_resampled_in_blocks_without_losing_any() -> None:
    (found,) = bootstrap(np.random.default_rng(1).normal(0, 1, (6_001, 1)))
    assert found.high - found.low == pytest.approx(2 * 1.96 / np.sqrt(6_001), rel=0.05)
    assert RESAMPLES == 10_000


def test_one_query_tells_nothing() -> None:
    assert bootstrap(np.array([[0.4]]))[0].noise


def scored(query: str, value: float, *relevant: str) -> Scored:
    return Scored(query, frozenset(relevant), {"hybrid": dict.fromkeys(METRICS, value)})


def test_queries_are_paired_by_text_and_copies_by_order() -> None:
    old = [scored("a", 0.1, "x"), scored("b", 0.5, "x"), scored("a", 0.2, "x"), scored("old", 1.0, "x")]
    new = [scored("new", 0.0, "x"), scored("a", 0.3, "x"), scored("b", 0.5, "y"), scored("a", 0.4, "x")]
    found = compare(old, new)
    assert (found.queries, found.rejudged) == (3, 1)
    difference = found.differences["hybrid"]["ndcg_at_10"]
    assert difference.mean == pytest.approx(0.4 / 3)
    with pytest.raises(UsageError, match="no query in common"):
        compare(old[:1], new[:1])
    with pytest.raises(UsageError, match="no configuration in common"):
        compare(old, [Scored("a", frozenset("x"), {"full": dict.fromkeys(METRICS, 0.0)})])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"schema": "ragx.query.v1"}',
        '{"schema": "ragx.eval.v1", "queries": [{"query": "a"}]}',
        '{"schema": "ragx.eval.v1", "queries": [{"query": 1, "relevant": [], "per_config": {"": {"hit_ranks": []}}}]}',
        "[" * 100_000,
    ],
)
def test_a_file_that_is_no_measurement_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "old.json").write_text(text)
    with pytest.raises(UsageError, match="is no measurement of ragx eval"):
        read_outcomes(tmp_path / "old.json")
    with pytest.raises(UsageError, match="cannot read"):
        read_outcomes(tmp_path / "nothing.json")


def test_what_eval_wrote_compares_to_itself_without_a_difference(root: Path, tmp_path: Path) -> None:
    from ragx.render.evaluation import eval_document
    from tests.rendered import valid

    queries = [JudgedQuery(number, query, ("all.md", "notes/08.md")) for number, query in enumerate(QUERIES, 1)]
    with open_index(index_dir(root, settings_of(root))) as store:
        found = measured(store, root, *queries, names=("lexical", "hybrid"))
    (tmp_path / "old.json").write_text(json.dumps(valid(eval_document(found, None))))
    comparison = compare(read_outcomes(tmp_path / "old.json"), found.scored())
    assert all(
        each.mean == each.low == each.high == 0 for row in comparison.differences.values() for each in row.values()
    )
    valid(eval_document(found, comparison))
