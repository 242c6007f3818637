"""The vector index finds what a scan finds, is never trusted blindly, and does not let the file grow."""

import random
from pathlib import Path
from typing import Any

import duckdb
import pytest

from ragx.config import index_dir
from ragx.search import Options, Searcher
from ragx.store import INDEX_NAME, Store, open_index, statements
from ragx.store.vss import load_vss
from tests.corpora import ask, build, corpus, dump, settings_of, write

SEARCH = statements("search")
VECTORS = statements("vectors")

WHO = ("the baker", "a sailor", "my neighbour", "the old queen", "a lawyer", "the night nurse", "our teacher")
DOES = ("repairs", "paints", "sells", "forgets", "describes", "steals", "measures", "photographs")
WHAT = ("a red bicycle", "the harbour wall", "fresh bread", "two clocks", "the tax form", "a violin", "old maps")
WHERE = ("in the rain", "before dawn", "at the market", "without a word")


def sentences(count: int) -> list[str]:
    every = [f"{who} {does} {what} {where}." for who in WHO for does in DOES for what in WHAT for where in WHERE]
    random.Random(1).shuffle(every)
    return every[:count]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files: dict[str, str | bytes] = {f"{at // 50}/{at}.md": text for at, text in enumerate(sentences(1_000))}
    root = corpus(tmp_path_factory.mktemp("indexed"), files)
    build(root)
    return root


def stamp(root: Path) -> dict[str, Any] | None:
    with open_index(index_dir(root, settings_of(root))) as store:
        found: dict[str, Any] | None = store.meta()["vector_index"]
        return found


def plan(store: Store, sql: str, **parameters: Any) -> str:
    return str(store.connection.execute(f"EXPLAIN {sql}", parameters).fetchall()[0][1])


def test_a_thousand_vectors_get_an_index_by_themselves(root: Path) -> None:
    assert stamp(root) == {"metric": "cosine", "M": 16, "ef_construction": 128, "rows": 1_200, "dead": 200}


def test_the_search_is_an_index_scan(root: Path) -> None:
    with open_index(index_dir(root, settings_of(root))) as store:
        Searcher(store, settings_of(root), print).search("who sells bread?", Options(hnsw=True, rerank=False))
        nearest = (
            "SELECT id FROM embeddings_indexed ORDER BY array_cosine_distance(vector, $vector::VARCHAR::embedding)"
        )
        assert "HNSW_INDEX_SCAN" in plan(store, f"{nearest} LIMIT 160", vector=str([0.5] * 384))
        body = SEARCH.search_vectors.sql.partition("INSERT INTO cosines")[2]
        assert "HNSW_INDEX_SCAN" in plan(store, body, vector=str([0.5] * 384), fetch=160)


def test_the_nearest_twenty_are_those_of_a_scan(root: Path) -> None:
    settings = settings_of(root)
    found = 0
    with open_index(index_dir(root, settings)) as store:
        searcher = Searcher(store, settings, print)
        for query in sentences(1_100)[1_000:1_050]:
            tops = []
            for hnsw in (True, False):
                answer = searcher.search(query, Options(hnsw=hnsw, lexical=False, graph=False, rerank=False, top=20))
                assert answer.stages[1].detail == ("vector index" if hnsw else "exact scan")
                tops.append({hit.chunk_id for hit in answer.hits})
            found += len(tops[0] & tops[1])
    assert found / (50 * 20) >= 0.97


def test_both_ways_give_the_same_scores(root: Path) -> None:
    query = "who photographs the harbour?"
    by_index, by_scan = (ask(root, query, hnsw=hnsw, top=10) for hnsw in (True, False))
    assert [(hit.chunk_id, hit.score) for hit in by_index.hits] == [(hit.chunk_id, hit.score) for hit in by_scan.hits]


def test_a_filter_scans_so_that_it_applies_before_the_nearest_are_taken(root: Path) -> None:
    answer = ask(root, "who sells bread?", hnsw=True, paths=("3",), top=50)
    assert answer.stages[1].detail == "exact scan"
    assert len(answer.hits) == 50


def test_small_corpora_are_scanned_whatever_the_index(root: Path) -> None:
    assert ask(root, "who sells bread?").stages[1].detail == "exact scan"


def tampered(root: Path, statement: str) -> list[str]:
    """What a query says of an index into whose file somebody wrote."""
    path = index_dir(root, settings_of(root)) / INDEX_NAME
    path.chmod(0o644)
    with duckdb.connect(str(path)) as connection:
        assert load_vss(Store(connection, path)) == ""
        connection.execute(statement)
    path.chmod(0o444)
    warnings: list[str] = []
    with open_index(path.parent) as store:
        searcher = Searcher(store, settings_of(root), warnings.append)
        for _ in range(2):
            answer = searcher.search("who sells bread?", Options(hnsw=True, rerank=False))
            assert answer.stages[1].detail == "exact scan"
            assert answer.hits
    return warnings


@pytest.mark.parametrize(
    "statement",
    [
        "DROP INDEX embeddings_hnsw",
        "DELETE FROM embeddings_indexed WHERE id = (SELECT min(id) FROM embeddings_indexed)",
    ],
    ids=["index dropped", "row deleted"],
)
def test_an_index_that_does_not_fit_its_stamp_is_not_used(tmp_path: Path, statement: str) -> None:
    files: dict[str, str | bytes] = {f"{at}.md": text for at, text in enumerate(sentences(60))}
    root = corpus(tmp_path, files | {"ragx.toml": '[vectors]\nhnsw = "always"\n'})
    build(root)
    assert len(tampered(root, statement)) == 1


def test_the_setting_decides_at_the_next_run(tmp_path: Path) -> None:
    root = corpus(tmp_path, {f"{at}.md": text for at, text in enumerate(sentences(40))})
    build(root)
    assert stamp(root) is None
    for hnsw, there in (("always", True), ("never", False), ("always", True)):
        write(root, {"ragx.toml": f'[vectors]\nhnsw = "{hnsw}"\n'})
        assert build(root).texts_embedded == 0
        assert (stamp(root) is not None) == there
        assert not build(root).changed


def test_dead_vectors_are_looked_past_and_the_file_does_not_grow(tmp_path: Path) -> None:
    """Appending to an indexed table eight times made a file of 31 MB one of 176."""
    files: dict[str, str | bytes] = {f"{at}.md": text for at, text in enumerate(sentences(300))}
    root = corpus(tmp_path, files | {"ragx.toml": '[vectors]\nhnsw = "always"\n'})
    build(root)
    path = index_dir(root, settings_of(root)) / INDEX_NAME
    first = path.stat().st_size
    more = iter(sentences(500)[300:])
    for run in range(50):
        for at in range(3):
            write(root, {f"{3 * run + at}.md": next(more)})
        build(root)
    rows = dump(root)
    assert len(rows["chunks"]) == 300
    assert path.stat().st_size < 1.5 * first + 2_000_000
    answer = ask(root, "who sells bread?", hnsw=True, top=100, graph=False)
    assert answer.stages[1].detail == "vector index"
    exact = ask(root, "who sells bread?", hnsw=False, top=100, graph=False)
    assert len({hit.chunk_id for hit in answer.hits} & {hit.chunk_id for hit in exact.hits}) >= 97


def test_the_file_reads_without_the_extension(root: Path) -> None:
    path = index_dir(root, settings_of(root)) / INDEX_NAME
    with duckdb.connect(str(path), read_only=True) as plain:
        assert plain.execute("SELECT count(*) FROM embeddings").fetchall() == [(1_200,)]
        assert len(plain.execute("FROM keyword_search('baker bread')").fetchall()) == 10
        assert len(plain.execute("FROM similar_to((SELECT min(id) FROM chunks), k := 3)").fetchall()) == 3
