"""A second search finds what the first hit speaks of and the question does not, only when it is asked for."""

from contextlib import contextmanager
from pathlib import Path

import pytest

from ragx.evaluation import CONFIGURATIONS
from ragx.search import Options
from ragx.search.searcher import Searcher
from ragx.store import open_index
from ragx.types import Answer, Hit
from tests.corpora import Silent, ask, build, corpus, searcher_of, settings_of, write

NOTES: dict[str, str | bytes] = {
    "disease.md": "# Why the vines died\n\nThe vines died of phylloxera, a louse that came with grafted rootstock.\n",
    "cure.md": "# Grafting\n\nAmerican rootstock withstands phylloxera: grafted on rootstock, the old sorts live on.\n",
    **{f"fair{year}.md": f"# Fair of {year}\n\nThe band of {year} played at the fair.\n" for year in range(1970, 1990)},
}
QUESTION = "Why did the vines die?"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = corpus(tmp_path_factory.mktemp("second"), NOTES)
    build(root)
    return root


def hit(answer: Answer, file: str) -> Hit:
    (found,) = [hit for hit in answer.hits if hit.file == file]
    return found


@pytest.mark.parametrize("form", ["feedback", "embedding"])
def test_what_only_the_first_hit_speaks_of_is_lifted_and_explained(root: Path, form: str) -> None:
    write(root, {"ragx.toml": f'[query]\nsecond = "{form}"\n'})
    how = {"graph": False, "top": 30, "explain": True}
    flat, deep = ask(root, QUESTION, **how), ask(root, QUESTION, deep=True, **how)
    assert [answer.hits[0].file for answer in (flat, deep)] == ["disease.md"] * 2
    assert deep.hits[1].file == "cure.md"
    assert (deep.hits[0].parts.second, deep.hits[1].parts.second) == (1.0, 1.0)
    assert hit(deep, "cure.md").score > hit(flat, "cure.md").score
    (way,) = deep.hits[1].traces
    assert [(step.file, step.kind, step.weight) for step in way.steps] == [
        ("disease.md", None, None),
        ("cure.md", "second", None),
    ]
    assert (way.part, way.share) == ("second", 1.0)
    assert sum(deep.weights.values()) == pytest.approx(1)
    (stage,) = [stage for stage in deep.stages if stage.name == "second"]
    assert stage.ran and "disease.md" in stage.detail


def test_eval_measures_it_where_it_is_named() -> None:
    names = [each.name for each in CONFIGURATIONS if not each.by_name]
    assert "deep" not in names and len(names) == len(CONFIGURATIONS) - 1


def test_who_does_not_ask_for_it_gets_none(root: Path) -> None:
    answer = ask(root, QUESTION, top=30)
    assert answer.weights["second"] == 0
    assert all(hit.parts.second is None for hit in answer.hits)


@pytest.mark.parametrize("form", ["feedback", "embedding"])
def test_a_filter_holds_for_the_second_search_too(root: Path, form: str) -> None:
    write(root, {"ragx.toml": f'[query]\nsecond = "{form}"\n'})
    answer = ask(root, QUESTION, deep=True, paths=("disease.md", "fair*.md"), top=100)
    assert {hit.file for hit in answer.hits} == set(NOTES) - {"cure.md"}


def test_it_stands_beside_heat_and_goes_with_the_next_query(root: Path) -> None:
    write(root, {"ragx.toml": ""})
    options = Options(deep=True, rerank=False, top=30)
    with contextmanager(searcher_of)(root) as searcher:
        alone = searcher.search(QUESTION, Options(rerank=False, top=30))
        first = searcher.search(QUESTION, options)
        assert searcher.search(QUESTION, options) == first
        assert searcher.search(QUESTION, Options(rerank=False, top=30)) == alone
    assert first.hits[1].parts.heat and first.hits[1].parts.second


@pytest.mark.parametrize("form", ["feedback", "embedding"])
def test_what_the_vector_index_left_out_gets_its_cosine(tmp_path: Path, form: str) -> None:
    settings = f'[query]\nsecond = "{form}"\n[vectors]\nhnsw = "always"\n[fusion]\nper_query_top = 2\n'
    root = corpus(tmp_path, NOTES | {"ragx.toml": settings})
    build(root)
    with contextmanager(searcher_of)(root) as searcher:
        exact, found = (searcher.search(QUESTION, Options(deep=True, hnsw=hnsw, top=2)) for hnsw in (False, True))
    assert [stage.detail for stage in found.stages if stage.name == "vector"] == ["vector index"]
    assert found.hits == exact.hits
    assert all(hit.parts.cosine for hit in found.hits)


def test_without_a_first_hit_or_its_rivals_it_changes_nothing(root: Path) -> None:
    write(root, {"ragx.toml": '[query]\nsecond = "embedding"\n'})
    said = Silent()
    with open_index(root / ".ragx") as store:
        searcher = Searcher(store, settings_of(root), said.warn)
        nothing = searcher.search("qqqq", Options(vector=False, deep=True))
        lexical = searcher.search("vines", Options(vector=False, deep=True, rerank=False))
    assert nothing.hits == ()
    (stage,) = [stage for stage in nothing.stages if stage.name == "second"]
    assert (stage.ran, stage.detail) == (False, "there is no first hit")
    assert lexical.hits[0].file == "disease.md"
    assert said.warnings == []
