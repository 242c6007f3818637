"""The nearest neighbors are the brute-force ones, and communities are numbered the same way every time."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragx.config.settings import Communities
from ragx.graph import find_communities
from ragx.graph.knn import Pairs, best, nearest, symmetric
from ragx.store import create_building


def unit(rows: list[list[float]]) -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
    vectors = np.array(rows, np.float64) + 1e-3
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def brute_force(vectors: np.ndarray, rows: list[int], candidates: list[int], k: int) -> list[tuple[int, int, float]]:
    found = []
    for row in rows:
        scored = []
        for other in candidates:
            if other != row:
                cosine = round(float(np.sum(vectors[row].astype(np.float64) * vectors[other].astype(np.float64))), 6)
                scored.append((-cosine, other))
        found += [(row, other, -negative) for negative, other in sorted(scored)[:k]]
    return found


# Few distinct values, so that ties and equal vectors are common.
matrices = st.lists(st.lists(st.sampled_from([-1.0, 0.0, 0.25, 1.0]), min_size=4, max_size=4), min_size=1, max_size=25)


@settings(max_examples=100)
@given(rows=matrices, k=st.integers(1, 12), data=st.data())
def test_nearest_equals_brute_force(rows: list[list[float]], k: int, data: st.DataObject) -> None:
    vectors = unit(rows)
    indices = st.lists(st.integers(0, len(rows) - 1), unique=True).map(sorted)
    asked, candidates = data.draw(indices), data.draw(indices)
    pairs = nearest(vectors, np.array(asked, np.int64), np.array(candidates, np.int64), k)
    found = list(zip(pairs.source.tolist(), pairs.target.tolist(), pairs.weight.tolist(), strict=True))
    assert found == brute_force(vectors, asked, candidates, k)


def test_hundreds_of_near_identical_texts_do_not_hide_each_other() -> None:
    # The matrix product cannot tell these apart; the pairwise sums can.
    base = np.random.default_rng(0).standard_normal(384)
    vectors = unit([(base + 1e-5 * np.random.default_rng(seed).standard_normal(384)).tolist() for seed in range(300)])
    everything = np.arange(300)
    pairs = nearest(vectors, everything, everything, 8)
    assert len(pairs.source) == 300 * 8
    assert brute_force(vectors, [0, 7], list(range(300)), 8) == [
        row
        for row in zip(pairs.source.tolist(), pairs.target.tolist(), pairs.weight.tolist(), strict=True)
        if row[0] in (0, 7)
    ]


def test_a_pair_stands_once_whoever_found_it() -> None:
    pairs = symmetric(Pairs(np.array([1, 2, 0]), np.array([0, 0, 1]), np.array([0.5, 0.25, 0.5])))
    assert (pairs.source.tolist(), pairs.target.tolist(), pairs.weight.tolist()) == ([0, 0], [1, 2], [0.5, 0.25])
    assert best(Pairs.empty(), 3).source.tolist() == symmetric(Pairs.empty()).source.tolist() == []


@pytest.mark.parametrize("chunks", [0, 1])
def test_a_corpus_without_edges_has_no_communities(tmp_path: Path, chunks: int) -> None:
    with create_building(tmp_path / "index.duckdb", 3) as store:
        find_communities(store, Communities())
        assert store.connection.execute("FROM communities").fetchall() == []


def test_communities_are_numbered_by_size_then_smallest_member(tmp_path: Path) -> None:
    with create_building(tmp_path / "index.duckdb", 3) as store:
        groups = [(50, 60), (10, 20), (30, 40, 70)]
        edges = [(a, b) for group in groups for a in group for b in group if a != b]
        store.connection.executemany("INSERT INTO edges VALUES ($1, $2, 'similar', 0.9, true)", edges)
        find_communities(store, Communities())
        found = store.connection.execute("FROM communities ORDER BY community, chunk_id").fetchall()
    assert found == [(30, 0), (40, 0), (70, 0), (10, 1), (20, 1), (50, 2), (60, 2)]
