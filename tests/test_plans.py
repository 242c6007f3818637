"""Plans that outlive a query: the answer never depends on what the tables held when a plan was made."""

from pathlib import Path

import pytest

from ragx.store import Statement, Store, create_building


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = create_building(tmp_path / "index.duckdb", 3)
    store.script("session")
    return store


def statement(sql: str, *parameters: str) -> Statement:
    return Statement("", sql, frozenset(parameters))


@pytest.mark.parametrize(
    ("sql", "before", "after"),
    [
        ("SELECT count(*) FROM pool WHERE bm25 > 10", [(0,)], [(1,)]),
        ("SELECT max(bm25) FROM pool", [(3.0,)], [(20.0,)]),
        ("SELECT count(fused), count(*) FROM pool WHERE fused IS NOT NULL", [(3, 3)], [(4, 4)]),
        ("SELECT count(*) FROM pool LEFT JOIN logits USING (chunk_id) WHERE logit IS NULL", [(3,)], [(4,)]),
        ("SELECT count(*) FROM pool JOIN logits USING (chunk_id)", [(0,)], [(1,)]),
        ("SELECT chunk_id FROM pool GROUP BY chunk_id HAVING chunk_id > 10 ORDER BY chunk_id", [], [(20,), (21,)]),
        ("SELECT chunk_id FROM pool WHERE chunk_id NOT IN (1, 2, 3) ORDER BY chunk_id", [], [(20,), (21,)]),
    ],
)
def test_a_kept_plan_finds_what_was_not_there_when_it_was_made(
    store: Store, sql: str, before: list[object], after: list[object]
) -> None:
    add = "INSERT INTO pool (chunk_id, bm25, fused) VALUES "
    store.connection.execute(f"{add} (1, 1, 1), (2, 2, 2), (3, 3, 3)")
    assert store.rows(statement(sql), keep_plan=True) == before
    store.connection.execute(f"{add} (20, 20, NULL), (21, 4, 4)")
    store.connection.execute("INSERT INTO logits VALUES (20, 1)")
    assert store.rows(statement(sql), keep_plan=True) == after


def test_a_plan_is_of_the_values_that_it_was_asked_for_with(store: Store) -> None:
    echo = statement("SELECT $flag, $count, $weight, $text", "flag", "count", "weight", "text")
    for values in [
        {"flag": True, "count": 3, "weight": 0.1, "text": "sum"},
        {"flag": False, "count": -3, "weight": 1e-300, "text": "it's $weight"},
        {"flag": False, "count": 2**62, "weight": float("inf"), "text": ""},
    ]:
        for _ in range(2):
            assert store.rows(echo, keep_plan=True, **values) == [tuple(values.values())]
    assert store.value(statement("SELECT typeof($weight)", "weight"), keep_plan=True, weight=0.5) == "DOUBLE"


def test_plans_do_not_pile_up(store: Store) -> None:
    for number in range(200):
        assert store.value(statement("SELECT $number", "number"), keep_plan=True, number=number) == number
    (kept,) = store.connection.execute("SELECT count(*) FROM duckdb_prepared_statements()").fetchall()
    assert kept[0] <= 64
