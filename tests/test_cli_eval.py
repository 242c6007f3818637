"""`ragx eval`: its golden files, and as a process on a small corpus with the real models."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragx.evaluation import Comparison, Difference, Evaluation, JudgedQuery, Measured, Outcome, Unindexed
from ragx.evaluation.metrics import METRICS
from ragx.evaluation.queries import Item
from ragx.render.evaluation import eval_document, eval_text
from ragx.render.terminal import View
from tests.corpora import build
from tests.corpora import corpus as make_corpus
from tests.rendered import golden, valid

FOUND = Evaluation(
    embedding_model="bge-small-en-v1.5",
    rerank_model="ms-marco-MiniLM-L-12-v2",
    configurations=(
        Measured("lexical", dict(zip(METRICS, (0.5, 0.75, 1.0, 0.5, 0.57), strict=True)), 3.21, {"keyword": 2}, {}),
        Measured(
            "rerank",
            dict(zip(METRICS, (1.0, 1.0, 1.0, 0.5, 0.6937123456), strict=True)),
            1520.456,
            {"vector": 2, "keyword": 2, "fusion": 2, "rerank": 1},
            {("rerank", "ms-marco-MiniLM-L-12-v2 does not read de"): 1},
        ),
    ),
    not_run={"full": "no language model is set up"},
    outcomes=(
        Outcome(
            JudgedQuery(
                1, "how are\nbackups made? \x1b[2J" + " and restored" * 9, ("ops/backup.md", "ops/backup.md:41"), "q1"
            ),
            (Item("ops/backup.md"), Item("ops/backup.md", 41)),
            {"lexical": (1, 7), "rerank": (1, 2)},
        ),
        Outcome(
            JudgedQuery(3, "Wie geht das?", ("a.md", "gone.md")), (Item("a.md"),), {"lexical": (), "rerank": (99,)}
        ),
    ),
    excluded=(JudgedQuery(4, "lost", ("gone.md", "two\nlines.md")),),
    unindexed=(
        Unindexed(3, "Wie geht das?", "gone.md"),
        Unindexed(4, "lost", "gone.md"),
        Unindexed(4, "lost", "two\nlines.md"),
    ),
)
COMPARISON = Comparison(
    2,
    1,
    {
        "rerank": dict(
            zip(
                METRICS,
                (
                    Difference(0.012, 0.003, 0.021),
                    Difference(-0.0004, -0.02, 0.01),
                    Difference(0.0, 0.0, 0.0),
                    Difference(-0.25, -0.5, -0.125),
                    Difference(0.1, 0.0, 0.2),
                ),
                strict=True,
            )
        )
    },
)  # fmt: skip
TERMINAL = View(terminal=True, color=True, width=72)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("eval.txt", eval_text(FOUND, None, View(), per_query=False)),
        ("eval_compared.txt", eval_text(FOUND, COMPARISON, View(), per_query=True)),
        ("eval_terminal.txt", eval_text(FOUND, None, TERMINAL, per_query=True)),
    ],
)
def test_each_text_is_what_its_golden_file_says(name: str, text: str) -> None:
    assert f"{text}\n" == golden(name)


def test_the_document_is_what_its_golden_file_says_and_valid() -> None:
    assert valid(eval_document(FOUND, COMPARISON)) == json.loads(golden("eval.json"))
    assert "comparison" not in valid(eval_document(FOUND, None))


def test_a_single_configuration_has_no_best_to_mark() -> None:
    alone = replace(FOUND, configurations=FOUND.configurations[:1], not_run={}, unindexed=(), excluded=())
    assert "\x1b[1m" not in eval_text(alone, None, TERMINAL, per_query=False)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    notes = {
        "bees.md": "Bees swarm in May when the old queen leaves the hive.",
        "bread.md": "Bread dough rests in a bowl before it goes into the tin.",
        "mill.md": "The mill ground barley until the river was dammed.",
        "clock.md": "A pendulum grows longer in the heat of summer.",
    }
    root = make_corpus(tmp_path_factory.mktemp("eval") / "corpus", {name: f"{text}\n" for name, text in notes.items()})
    build(root)
    lines: list[dict[str, Any]] = [
        {"query": "when do bees swarm?", "relevant_files": ["bees.md"], "id": 1},
        {"query": "how long does dough rest?", "relevant": ["bread.md:1", "gone.md"], "id": 1},
        {"query": "who ground the barley?", "relevant": ["gone.md"]},
    ]
    (root.parent / "queries.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return root


def ragx(root: Path, *arguments: str) -> tuple[int, str, str]:
    done = subprocess.run([sys.executable, "-m", "ragx", *arguments], cwd=root, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def test_all_configurations_run_and_the_document_compares_with_a_later_one(root: Path, tmp_path: Path) -> None:
    code, out, err = ragx(root, "eval", "../queries.jsonl", "--json")
    assert code == 0, err
    assert "warning: not in the index, and so not counted: 2 relevant items" in err
    document = valid(json.loads(out))
    assert [config["name"] for config in document["configs"]] == [
        "lexical", "baseline", "hybrid", "graph", "rerank", "full"
    ]  # fmt: skip
    assert all(config["ndcg_at_10"] == 1 and config["cpu_ms"] > 0 for config in document["configs"])
    assert (document["query_count"], [gap["line"] for gap in document["excluded"]]) == (2, [3])
    assert [query["unit"] for query in document["queries"]] == ["file", "passage"]

    (tmp_path / "old.json").write_text(out)
    code, out, err = ragx(
        root,
        "eval",
        "../queries.jsonl",
        "--config",
        "hybrid",
        "--config",
        "lexical",
        "--compare",
        str(tmp_path / "old.json"),
    )
    assert code == 0, err
    lines = out.splitlines()
    assert lines[0] == "2 queries, mean"
    assert [line.split()[0] for line in lines[2:4]] == ["lexical", "hybrid"]
    assert "  line 2: gone.md" in lines
    assert "hybrid  nDCG@10  +0.000 [+0.000, +0.000]  noise" in lines


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["../nothing.jsonl"], "cannot read ../nothing.jsonl: No such file or directory"),
        (["../queries.jsonl", "--config", "best"], "no configuration is called best; there are: lexical, baseline"),
        (["../queries.jsonl", "--compare", "bees.md"], "bees.md is no measurement of ragx eval"),
        (["bees.md"], "bees.md:1: not JSON"),
    ],
)
def test_what_is_wrong_is_one_line_and_exit_2(root: Path, arguments: list[str], message: str) -> None:
    code, out, err = ragx(root, "eval", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"ragx: {message}") and err.count("\n") == 1
