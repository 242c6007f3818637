"""BM25, fusion, heat and the final score in SQL equal plain Python on random data; files rank as their chunks do."""

import math
import random
import tempfile
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st

from ragx.search.results import rank_files
from ragx.store import Store, create_building, statements
from ragx.types import FileHit

HEAT = statements("heat")
SEARCH = statements("search")
CLOSE = {"rel": 1e-9, "abs": 1e-12}


class Corpus:
    """A random index in a real file: chunks with terms, vectors and edges, and the same in plain dictionaries."""

    def __init__(self, path: Path, seed: int) -> None:
        rng = random.Random(seed)
        self.rng = rng
        self.chunks = sorted(rng.sample(range(1, 10_000), rng.randint(1, 30)))
        self.words = {chunk: [rng.randint(1, 12) for _ in range(rng.randint(1, 20))] for chunk in self.chunks}
        self.vectors = {chunk: [rng.choice([-1.0, 0.0, 0.5, 1.0]) for _ in range(3)] for chunk in self.chunks}
        self.edges: dict[tuple[int, int, str], tuple[float, bool]] = {}
        for _ in range(3 * len(self.chunks)):
            a, b, kind = rng.choice(self.chunks), rng.choice(self.chunks), rng.choice(["similar", "link", "mention"])
            if a != b and kind == "similar":
                self.edges[a, b, kind] = self.edges[b, a, kind] = (round(rng.uniform(0.1, 1), 2), True)
            elif a != b:
                self.edges[a, b, kind] = (1.0, True)
                self.edges.setdefault((b, a, kind), (1.0, False))
        self.store = create_building(path, 3)
        self.store.script("session")
        execute = self.store.connection.executemany
        execute(
            "INSERT INTO chunks SELECT $1, 1, 0, 'section', [], 'text', '', 0, 0, 0, 0, 0, $2, '', $1",
            [(chunk, len(words)) for chunk, words in self.words.items()],
        )
        execute("INSERT INTO embeddings_recent VALUES ($1, $2)", list(self.vectors.items()))
        self.store.connection.execute("INSERT INTO embeddings_indexed VALUES (0, [9, 9, 9])")  # of no chunk
        self.store.connection.execute(
            "INSERT INTO files SELECT 1, '', 'file.md', 0, 0, 0, 0, '', '', '', '', '', '', []"
        )
        postings = [(term, chunk, tf) for chunk, words in self.words.items() for term, tf in Counter(words).items()]
        execute("INSERT INTO postings VALUES ($1, $2, $3)", postings)
        df = Counter(term for term, _, _ in postings)
        execute("INSERT INTO terms VALUES ($1, $1, $2)", list(df.items()))
        if self.edges:
            execute(
                "INSERT INTO edges VALUES ($1, $2, $3, $4, $5)",
                [(a, b, kind, weight, outward) for (a, b, kind), (weight, outward) in self.edges.items()],
            )

    def bm25(self, tokens: list[list[int]], counts: list[int], k1: float, b: float) -> dict[int, float]:
        mean = sum(map(len, self.words.values())) / len(self.words)
        scores: dict[int, float] = {}
        for chunk, words in self.words.items():
            best = []
            for token, count in zip(tokens, counts, strict=True):
                values = []
                for term in set(token):
                    tf = words.count(term)
                    df = sum(term in other for other in self.words.values())
                    if tf:
                        idf = math.log(1 + (len(self.words) - df + 0.5) / (df + 0.5))
                        values.append(count * idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * len(words) / mean)))
                best.extend([max(values)] if values else [])
            if best:
                scores[chunk] = sum(best)
        return scores

    def cosines(self, query: list[float]) -> dict[int, float]:
        return {chunk: sum(x * y for x, y in zip(vector, query, strict=True)) for chunk, vector in self.vectors.items()}


def min_max(values: dict[int, float]) -> dict[int, float]:
    low, high = min(values.values()), max(values.values())
    return {key: (value - low) / (high - low) if high > low else 1.0 for key, value in values.items()}


def best_first(scores: dict[int, float]) -> list[int]:
    return sorted(scores, key=lambda chunk: (-scores[chunk], chunk))


def fuse(
    cosines: dict[int, float], bm25: dict[int, float], top: int, method: str, weight: float, rrf_k: int
) -> dict[int, float]:
    legs = best_first(cosines)[:top], best_first(bm25)[:top]
    union = sorted({*legs[0], *legs[1]})
    if not union:
        return {}
    if method == "rrf":
        return {chunk: sum(1 / (rrf_k + leg.index(chunk) + 1) for leg in legs if chunk in leg) for chunk in union}
    vector = min_max({chunk: cosines[chunk] for chunk in union}) if cosines else {}
    lexical = min_max({chunk: bm25.get(chunk, 0.0) for chunk in union}) if bm25 else {}
    if not lexical:
        return vector
    if not vector:
        return lexical
    return {chunk: weight * vector[chunk] + (1 - weight) * lexical[chunk] for chunk in union}


def spread(
    fused: dict[int, float],
    edges: dict[tuple[int, int, str], tuple[float, bool]],
    cosines: dict[int, float],
    how: dict[str, Any],
) -> dict[tuple[int, str], float]:
    hottest_wins = how["aggregate"] == "max"
    followed: list[tuple[int, int, str, str, float]] = []
    for (a, b, kind), (cosine, outward) in sorted(edges.items()):
        weight = cosine if kind == "similar" else how[f"{kind}_weight"]
        if outward and weight > 0 and (kind != "similar" or cosine >= how["min_edge_sim"]):
            followed.append((a, b, kind, "heat" if kind == "similar" or hottest_wins else "link", weight))
    leaves: dict[tuple[int, str], float] = defaultdict(float)
    arrives: dict[tuple[int, str], float] = defaultdict(float)
    for a, b, _, part, weight in followed:
        leaves[a, part] += weight
        arrives[b, part] += weight
    seeds = best_first(fused)[: how["seeds"]]
    least = min((fused[seed] for seed in seeds), default=0.0)
    heat = {(seed, "heat"): fused[seed] if hottest_wins else 0.0 for seed in seeds}
    emits = {(seed, "heat"): fused[seed] if hottest_wins else fused[seed] - least for seed in seeds}
    if not hottest_wins:
        emits |= {(seed, "link"): 1 / math.sqrt(place) for place, seed in enumerate(seeds[: how["link_seeds"]], 1)}
    for _ in range(how["hops"]):
        hottest = sorted((node for node in emits if emits[node] > 0), key=lambda node: (-emits[node], *node))
        relays = hottest[: how["max_frontier"]]
        arrivals: dict[tuple[int, str], list[float]] = defaultdict(list)
        for a, b, _, part, weight in followed:
            if (a, part) in relays:
                scale = math.sqrt(leaves[a, part] * arrives[b, part]) if not hottest_wins else 1.0
                arrivals[b, part].append(emits[a, part] * weight * how["decay"] / scale)
        emits = {}
        for node, passed in arrivals.items():
            arrived = max(passed) if hottest_wins else sum(passed)
            near = cosines.get(node[0], -1.0) >= how["query_floor"] or node[0] in seeds
            if near and arrived > (heat.get(node, 0.0) if hottest_wins else 0.0):
                heat[node] = arrived if hottest_wins else heat.get(node, 0.0) + arrived
                emits[node] = arrived
    return {node: value for node, value in heat.items() if value > 0}


def read(store: Store, columns: str, table: str) -> dict[int, float]:
    return dict(store.connection.execute(f"SELECT chunk_id, {columns} FROM {table}").fetchall())


traversals = st.fixed_dictionaries(
    {
        "min_edge_sim": st.sampled_from([-1.0, 0.3, 0.6]),
        "seeds": st.integers(1, 8),
        "link_seeds": st.integers(0, 8),
        "link_weight": st.sampled_from([1.0, 0.5]),
        "import_weight": st.just(1.0),
        "mention_weight": st.sampled_from([1.0, 0.0]),
        "tag_weight": st.just(1.0),
        "hops": st.integers(0, 3),
        "decay": st.sampled_from([0.5, 1.0]),
        "aggregate": st.sampled_from(["sum", "max"]),
        "query_floor": st.sampled_from([-1.0, 0.0, 0.5]),
        "max_frontier": st.integers(1, 20),
    }
)


@settings(max_examples=40, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@example(  # a chunk that no edge leaves relays nothing, but is one of the hottest
    seed=17454,
    legs="both",
    method="convex",
    weight=0.3,
    top=4,
    how={
        "min_edge_sim": -1.0, "seeds": 7, "link_seeds": 2, "link_weight": 1.0, "import_weight": 1.0, "tag_weight": 1.0,
        "mention_weight": 0.0, "hops": 1, "decay": 0.5, "aggregate": "sum", "query_floor": 0.0, "max_frontier": 4,
    },
)  # fmt: skip
@given(
    seed=st.integers(0, 10**6),
    legs=st.sampled_from(["both", "vector", "keyword"]),
    method=st.sampled_from(["convex", "rrf"]),
    weight=st.sampled_from([0.0, 0.3, 0.6, 1.0]),
    top=st.integers(1, 40),
    how=traversals,
)
def test_each_stage_equals_plain_python(
    seed: int, legs: str, method: str, weight: float, top: int, how: dict[str, Any]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        corpus = Corpus(Path(folder) / "index.duckdb", seed)
        store, rng = corpus.store, corpus.rng
        query = [rng.choice([-1.0, 0.5, 1.0]) for _ in range(3)]
        tokens = [[rng.randint(1, 14) for _ in range(rng.randint(1, 2))] for _ in range(rng.randint(0, 4))]

        cosines = corpus.cosines(query) if legs != "keyword" else {}
        if legs != "keyword":
            store.run(SEARCH.scan_vectors, vector=str(query), scoped=False)
        assert read(store, "cosine", "cosines") == pytest.approx(cosines, **CLOSE)

        counts = [rng.randint(1, 3) for _ in tokens]
        bm25 = corpus.bm25(tokens, counts, 1.2, 0.75) if legs != "vector" else {}
        if legs != "vector":
            pairs = sorted({(number, term) for number, token in enumerate(tokens) for term in token})
            numbers, term_ids = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
            how_often = [counts[number] for number in numbers]
            settled = {"k1": 1.2, "b": 0.75, "scoped": False}
            store.run(SEARCH.score_keywords, tokens=numbers, term_ids=term_ids, counts=how_often, **settled)
        assert read(store, "bm25", "keyword_scores") == pytest.approx(bm25, **CLOSE)

        # The stages after the legs are compared on the very numbers that SQL has, so that ties fall the same way.
        cosines, bm25 = read(store, "cosine", "cosines"), read(store, "bm25", "keyword_scores")
        store.run(SEARCH.fuse, top=top, method=method, vector_weight=weight, rrf_k=60)
        fused = read(store, "fused", "pool")
        assert fused == pytest.approx(fuse(cosines, bm25, top, method, weight, 60), **CLOSE)

        store.run(HEAT.add_degrees, scoped=False, **how)
        store.run(HEAT.spread_heat, explain=False, **how)
        rows = store.connection.execute("SELECT chunk_id, part, heat FROM heat").fetchall()
        heat = {(chunk, part): value for chunk, part, value in rows}
        # SQL counts in whole trillionths.
        assert heat == pytest.approx(spread(fused, corpus.edges, cosines, how), rel=1e-9, abs=1e-9)

        store.run(HEAT.admit_heated, method=method, vector_weight=weight)
        pool = read(store, "fused", "pool")
        assert set(pool) == set(fused) | {chunk for chunk, _ in heat}
        check_rank(store, pool, heat, rng)
        store.close()


def check_rank(store: Store, pool: dict[int, float], heat: dict[tuple[int, str], float], rng: random.Random) -> None:
    chosen = rng.choice([(0.2, 0.1, 0.1, 0.6), (1.0, 0.0, 0.0, 0.0), (0.0, 0.2, 0.3, 0.5), (0.5, 0.5, 0.0, 0.0)])
    alpha, beta, beta_link, gamma = chosen
    depth = rng.randint(1, 30)
    bonus = {"heat_bonus": 0.15, "link_bonus": 0.25, "second_bonus": 0.1}
    shortlist = [row[0] for row in store.rows(SEARCH.shortlist, depth=depth, **bonus)]
    logits = {chunk: rng.choice([-5.0, 0.0, 3.0]) for chunk in shortlist} if alpha else {}
    store.run(SEARCH.add_logits, chunk_ids=list(logits), logits=list(logits.values()))
    ranked = store.rows(SEARCH.rank, alpha=alpha, beta=beta, beta_link=beta_link, beta_second=0.0, gamma=gamma)
    assert {row[0] for row in ranked} == set(pool)
    if not pool:
        return
    parts = min_max(pool)
    hottest = {
        part: max((value for (_, one), value in heat.items() if one == part), default=0.0) for part in ("heat", "link")
    }
    warmth = {node: value / hottest[node[1]] for node, value in heat.items()}
    rerank = min_max(logits) if logits else {}
    score = {
        chunk: gamma * parts[chunk]
        + beta * warmth.get((chunk, "heat"), 0.0)
        + beta_link * warmth.get((chunk, "link"), 0.0)
        + alpha * rerank.get(chunk, 0.0)
        for chunk in pool
    }
    places = best_first(pool)
    if logits:
        assert {row[0] for row in ranked[: len(logits)]} == set(logits)
        bound = min(score[chunk] for chunk in logits)
        score = {chunk: value if chunk in logits else min(value, bound) for chunk, value in score.items()}
    else:
        score[places[0]] = max(score.values())
        assert ranked[0][0] == places[0]
    assert {row[0]: row[2] for row in ranked} == pytest.approx(score, **CLOSE)
    assert all(0 <= row[2] <= 1 + 1e-9 for row in ranked)
    assert all(a[2] >= b[2] for a, b in pairwise(ranked))


def test_an_empty_index_has_no_candidates(tmp_path: Path) -> None:
    with create_building(tmp_path / "index.duckdb", 3) as store:
        store.script("session")
        store.run(SEARCH.scan_vectors, vector="[1.0, 0.0, 0.0]", scoped=False)
        store.run(SEARCH.score_keywords, tokens=[0], term_ids=[1], counts=[1], k1=1.2, b=0.75, scoped=False)
        store.run(SEARCH.fuse, top=100, method="convex", vector_weight=0.6, rrf_k=60)
        assert store.rows(SEARCH.rank, alpha=0.2, beta=0.1, beta_link=0.1, beta_second=0.0, gamma=0.6) == []


def test_a_file_is_not_better_for_being_cut_into_more_chunks() -> None:
    ranked = [(1, "a.md", 0.9, ["A"]), (2, "long.md", 0.8, []), (3, "long.md", 0.8, []), (4, "long.md", 0.7, [])]
    assert rank_files(ranked) == (FileHit("a.md", 0.9, (1,)), FileHit("long.md", 0.8, (2, 3, 4)))


def test_a_file_with_more_sections_about_the_query_passes_one_with_a_slightly_better_one() -> None:
    sections = [
        (2, "b.md", 0.75, ["B"]),
        (3, "b.md", 0.5, ["B", "C"]),
        (4, "b.md", 0.5, ["D"]),
        (5, "b.md", 0.5, ["E"]),
    ]
    (first, second) = rank_files([(1, "a.md", 0.9, ["A"]), *sections])
    assert (first.file, first.chunk_ids, second.file) == ("b.md", (2, 3, 4, 5), "a.md")
    assert first.score == pytest.approx(0.75 + 0.3 * 0.5 + 0.09 * 0.5)
