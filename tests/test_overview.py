"""`query --global`: the communities that a question is about, each with the hits that say so."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from ragx.cli import run
from tests.corpora import ask, build, corpus, dump
from tests.rendered import valid

TOPICS = {
    "bees": "A hive of bees {}. The queen and her workers make honey from the flowers of the meadow.",
    "disks": "The backup of the server {}. Every night the disks are copied and the sums are checked.",
    "violins": "The violin {}. Its strings and its bow are looked after by the orchestra's luthier.",
}
ENDS = ("came in May", "was lost in winter", "is old", "needs some care", "was sold", "is the best that we have had")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = {
        f"{topic}/{number}.md": f"# {topic.title()} {number}\n\n{text.format(end)}\n"
        for topic, text in TOPICS.items()
        for number, end in enumerate(ENDS)
    }
    root = corpus(tmp_path_factory.mktemp("topics"), dict(files))
    # Nearest neighbors of so few chunks are all of them.
    (root / "ragx.toml").write_text("[graph]\nk = 3\n[rerank]\nenabled = false\n")
    build(root)
    return root


@pytest.fixture
def query(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.chdir(root)
    monkeypatch.setenv("HOME", str(tmp_path))

    def asked(*arguments: str) -> tuple[int, str, str]:
        code = run(["query", *arguments])
        return code, *capsys.readouterr()

    return asked


def test_communities_are_ranked_by_the_sum_of_their_best_three_hits(root: Path, query: Any) -> None:
    code, out, _ = query("--global", "how do bees make honey?", "--json", "--top", "2")
    found = valid(json.loads(out))["communities"]
    assert code == 0 and len(found) == 2
    community = dict(dump(root)["communities"])
    scores: dict[int, list[float]] = defaultdict(list)
    for hit in ask(root, "how do bees make honey?", top=1000).hits:
        scores[community[hit.chunk_id]].append(hit.score)
    expected = sorted(((sum(values[:3]), -number) for number, values in scores.items()), reverse=True)
    assert [(each["score"], -each["community_id"]) for each in found] == [
        (pytest.approx(score, abs=1e-6), number) for score, number in expected[:2]
    ]
    labels = {row[0]: row for row in dump(root)["community_labels"]}
    for each in found:
        assert (each["size"], each["name"], each["terms"]) == labels[each["community_id"]][1:4]
        assert 1 <= len(each["results"]) <= 3
        assert all(community[result["chunk_id"]] == each["community_id"] for result in each["results"])
    assert found[0]["results"][0]["file"].startswith("bees/")


def test_a_topic_is_printed_with_its_name_its_terms_and_where_to_read_on(query: Any) -> None:
    code, out, err = query("--global", "restoring a backup of the disks", "--top", "1")
    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert {"backup", "disks", "server"} & set(lines[0].replace(",", "").split())
    assert lines[1].startswith("  ") and lines[2].startswith("  disks/")


def test_a_filter_and_a_missing_vector_leg_leave_an_overview_of_the_rest(root: Path, query: Any) -> None:
    found = valid(json.loads(query("--global", "old strings", "--json", "--path", "violins/**")[1]))["communities"]
    assert found and all(hit["file"].startswith("violins/") for each in found for hit in each["results"])
    words = ask(root, "honey", top=1000, vector=False).hits
    assert words and {hit.file.split("/")[0] for hit in words} == {"bees"}


@pytest.mark.parametrize("other", [("--budget", "100"), ("--files-only",), ("--explain",), ("-C", "2")])
def test_an_overview_does_not_go_with_other_forms_of_output(query: Any, other: tuple[str, ...]) -> None:
    code, out, err = query("--global", "bees", *other)
    assert (code, out) == (2, "") and "--global goes with neither" in err


def test_what_has_no_topic_is_not_said_to_be_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    build(corpus(tmp_path, {"a.md": "The only hive of bees.\n"}))
    monkeypatch.chdir(tmp_path)
    said = "what was found belongs to no topic, as nothing is linked to it; see it without --global\n"
    assert run(["query", "--global", "hive"]) == 1
    assert capsys.readouterr() == ("", said)
    assert run(["query", "--global", "(((", "--no-rerank"]) == 1
    assert capsys.readouterr() == ("", "nothing found in 1 chunk\n")
