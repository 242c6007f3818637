"""Heat over links lifts what the best hits name, floors are the corpus's own, and what did not run does not count."""

import re
from pathlib import Path

import numpy as np
import pytest

from ragx.config import Config, load
from ragx.config.settings import Graph, Scoring, Traversal
from ragx.graph import Texts, random_pair_cosines
from ragx.models import reranker_row
from ragx.render.terminal import View
from ragx.render.text import query_text
from ragx.search import Options
from ragx.search.weights import traversal_parameters, weights
from ragx.store import open_index
from ragx.types import Answer
from tests.corpora import ask, build, corpus, searcher_of, write

NOTES: dict[str, str | bytes] = {
    "director.md": "# Vera Lind\n\nVera Lind grew up on the island of Gotland, where her father kept sheep.\n",
    "film.md": "# The Long Winter\n\nThe Long Winter is a film of 1962 that Vera Lind directed in black and white.\n",
    **{
        f"film{year}.md": f"# Film of {year}\n\nA film of {year} in colour, about the sea and {year} sails.\n"
        for year in range(1970, 1990)
    },
}
QUESTION = "Where did she who directed the film The Long Winter grow up?"


def place(answer: Answer, file: str) -> int:
    return [hit.file for hit in answer.hits].index(file)


def test_what_the_best_hit_names_is_lifted_and_explained(tmp_path: Path) -> None:
    root = corpus(tmp_path, NOTES)
    build(root)
    flat, lifted = ask(root, QUESTION, graph=False, top=30), ask(root, QUESTION, top=30, explain=True)
    assert (lifted.hits[0].file, lifted.hits[1].file) == ("film.md", "director.md")
    assert place(flat, "director.md") >= place(lifted, "director.md")
    (way,) = [trace for trace in lifted.hits[1].traces if trace.part == "link"]
    assert [(step.file, step.kind) for step in way.steps] == [("film.md", None), ("director.md", "mention")]
    assert (way.share, lifted.hits[1].parts.link) == (1.0, 1.0)
    assert sum(lifted.weights.values()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("rerank", "why"),
    [(False, "first by words and vectors, so it stays first"), (True, "behind what the cross-encoder read")],
)
def test_a_score_that_is_not_the_sum_of_its_parts_says_why(tmp_path: Path, rerank: bool, why: str) -> None:
    # Without it, the parts of a hit that its place holds up or down seem to be summed up wrongly.
    scoring = "[scoring]\nbeta_link = 1.0\ngamma_vector = 0.1\nalpha_rerank = 0.0\nbeta_heat = 0.0\n"
    root = corpus(tmp_path, NOTES | {"ragx.toml": f"{scoring}[rerank]\ndepth = 1\n"})
    build(root)
    for searcher in searcher_of(root):
        answer = searcher.search(QUESTION, Options(top=30, rerank=rerank, explain=True))
    text = query_text(answer, View(), explain=True)
    bounds = [line.partition("(")[2] for line in text.splitlines() if line.startswith("  bound ")]
    assert set(bounds) == {f"{why})"}
    for hit, block in zip(answer.hits, text.split("\n\n"), strict=False):
        parts = re.findall(r"^  \w+ +[\d.]+ x [\d.]+ = ([\d.]+)|^  bound +([+-][\d.]+)", block, re.MULTILINE)
        assert sum(float(part or bound) for part, bound in parts) == pytest.approx(hit.score, abs=0.02)


def test_links_are_followed_outward_only(tmp_path: Path) -> None:
    root = corpus(tmp_path, NOTES)
    build(root)
    answer = ask(root, "Vera Lind grew up on Gotland with sheep", top=30)
    assert answer.hits[0].file == "director.md"
    assert answer.hits[place(answer, "film.md")].parts.link in (None, 0.0)


def test_a_kind_of_weight_zero_is_not_followed(tmp_path: Path) -> None:
    root = corpus(tmp_path, NOTES)
    build(root)
    write(root, {"ragx.toml": "[traversal]\nmention_weight = 0.0\n"})
    answer = ask(root, QUESTION, top=30)
    assert all(hit.parts.link is None for hit in answer.hits)
    assert answer.weights["link"] == 0


def test_the_classic_rule_follows_links_too_and_says_so(tmp_path: Path) -> None:
    root = corpus(
        tmp_path, {**NOTES, "ragx.toml": '[traversal]\npreset = "classic"\nseeds = 1\n[graph]\nmin_edge_sim = 1.0\n'}
    )
    build(root)
    (way,) = next(hit for hit in ask(root, QUESTION, top=30, explain=True).hits if hit.file == "director.md").traces
    assert (way.part, [step.kind for step in way.steps]) == ("heat", [None, "mention"])


def test_where_no_link_was_followed_its_weight_goes_to_the_other_parts() -> None:
    row = reranker_row(Config().rerank)
    with_links = weights(Scoring(), row, rerank=False, graph=True, link=True, second=False)
    without = weights(Scoring(), row, rerank=False, graph=True, link=False, second=False)
    assert without.beta_link == 0 < with_links.beta_link
    assert without.beta + without.gamma == pytest.approx(1)
    assert without.beta / without.gamma == pytest.approx(with_links.beta / with_links.gamma)


def test_floors_are_the_corpus_s_own_unless_they_are_set() -> None:
    def floors(config: Config, unrelated: float | None) -> tuple[float, float]:
        parameters = traversal_parameters(config, None, unrelated)
        return parameters["min_edge_sim"], parameters["query_floor"]

    classic = Traversal(preset="classic")
    assert floors(Config(), 0.6) == (0.6, -1)
    assert floors(Config(traversal=classic), 0.6) == (0.6, 0.6)
    assert floors(Config(traversal=classic), None) == (-1, -1)
    assert floors(Config(graph=Graph(min_edge_sim=0.7), traversal=Traversal(query_floor=0.1)), 0.6) == (0.7, 0.1)


def test_random_pairs_are_those_of_the_smallest_ids() -> None:
    vectors = np.eye(600, dtype=np.float32)
    vectors[512:] = vectors[0]  # beyond the sample
    found = random_pair_cosines(Texts(np.arange(600), vectors))
    assert found == dict.fromkeys(("0.01", "0.05", "0.25", "0.5", "0.75", "0.95", "0.99"), 0.0)
    assert random_pair_cosines(Texts(np.arange(99), vectors[:99])) == {}


def test_the_level_of_chance_is_in_the_index(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        f"{number}.md": f"Note {number} is about the number {number}.\n" for number in range(120)
    }
    root = corpus(tmp_path, files)
    build(root)
    with open_index(load(root).root / ".ragx") as store:
        cosines = store.meta()["random_pair_cosines"]
    assert 0 < cosines["0.01"] < cosines["0.5"] < cosines["0.99"] < 1
