"""The stored views and macros, from a plain DuckDB that knows neither ragx nor an extension."""

from pathlib import Path
from typing import Any

import duckdb
import pytest

from ragx.config import index_dir
from ragx.store import INDEX_NAME, create_building
from tests.corpora import build, corpus, settings_of

FILES = {1: "a/one.md", 2: "a/two.md", 3: "b/three.md", 4: "c.md", 5: "d/five.md", 6: "d/sub/six.md", 7: "seven.py"}
# Chunk: file, ordinal, first and last line.
CHUNKS = {
    10: (1, 0, 2, 4), 11: (1, 1, 6, 9), 20: (2, 0, 1, 3), 30: (3, 0, 1, 1), 31: (3, 1, 1, 5), 40: (4, 0, 1, 2),
    50: (5, 0, 1, 9), 51: (5, 1, 10, 12), 60: (6, 0, 1, 4), 61: (6, 1, 5, 8), 70: (7, 0, 1, 2), 71: (7, 1, 3, 4),
}  # fmt: skip
PAIRS = {(10, 11): 0.9, (11, 20): 0.8, (10, 20): 0.3, (20, 30): 0.97, (30, 31): 0.6, (10, 31): 1.0}
# Chunk, kind, target, heading, line, file and chunk that it leads to.
LINKS = [
    (50, "link", "sub/six.md", "Sun", 3, 6, 61),
    (50, "link", "nowhere.md", "", 4, None, None),
    (51, "mention", "Six", "", 10, 6, 60),
    (51, "link", "", "top", 11, 5, 50),
    (60, "wikilink", "five", "", 2, 5, 50),
    (60, "tag", "sun", "", 1, None, None),
    (70, "import", "json", "", 1, None, None),
    (70, "import", ".eight", "", 2, None, None),
    (70, "import", "crate::eight", "", 2, None, None),
    (70, "import", "mod eight", "", 2, None, None),
    (71, "import", "@/eight", "", 3, None, None),
]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    path = tmp_path_factory.mktemp("views") / "index.duckdb"
    with create_building(path, 2) as store:
        run = store.connection.execute
        for number, name in FILES.items():
            known = "1, 0, 0, 0, '', 'markdown', '', '', 'utf-8', '', []"
            run(f"INSERT INTO files VALUES ({number}, '', '{name}', {known})")
        for number, (file, ordinal, first, last) in CHUNKS.items():
            run(
                f"INSERT INTO chunks VALUES ({number}, {file}, {ordinal}, 'section', [], 'text', '', 0, 1, "
                f"{first}, {last}, 1, 1, 'en', {number})"
            )
            run(f"INSERT INTO embeddings_recent VALUES ({number}, [1, 0])")
        for (one, other), weight in PAIRS.items():
            for pair in (f"{one}, {other}", f"{other}, {one}"):
                run(f"INSERT INTO edges VALUES ({pair}, 'similar', {weight}, true)")
        run("INSERT INTO edges VALUES (70, 71, 'link', 1, true), (71, 70, 'link', 1, false)")
        for chunk, kind, _, _, _, _, target in LINKS:
            if target:
                kind = "link" if kind == "wikilink" else kind
                run(f"INSERT INTO edges VALUES ({chunk}, {target}, '{kind}', 1, true)")
                run(f"INSERT INTO edges VALUES ({target}, {chunk}, '{kind}', 1, false)")
        store.connection.executemany("INSERT INTO links VALUES (?, ?, ?, ?, ?, ?, ?)", LINKS)
    return duckdb.connect(str(path), read_only=True)


def rows(plain: duckdb.DuckDBPyConnection, sql: str) -> list[tuple[Any, ...]]:
    return plain.execute(sql).fetchall()


def test_no_extension_of_ours_is_loaded(plain: duckdb.DuckDBPyConnection) -> None:
    assert rows(plain, "SELECT count(*) FROM duckdb_extensions() WHERE loaded AND extension_name = 'vss'") == [(0,)]


@pytest.mark.parametrize(
    ("place", "chunk"),
    [
        ("'a/one.md'", 10),
        ("'a/one.md:1'", 10),
        ("'a/one.md:5'", 10),
        ("'a/one.md:6'", 11),
        ("'a/one.md:99'", 11),
        ("'a/one.md:6-9'", 11),
        ("'b/three.md:1'", 30),
        ("'b/three.md:2'", 30),
        ("20", 20),
        ("'20'", 20),
        ("'nowhere.md:1'", None),
        ("21", None),
    ],
)
def test_a_chunk_is_found_by_its_place(plain: duckdb.DuckDBPyConnection, place: str, chunk: int | None) -> None:
    assert rows(plain, f"SELECT find_chunk({place})") == [(chunk,)]


def test_hubs_count_only_edges_that_are_strong_enough(plain: duckdb.DuckDBPyConnection) -> None:
    hubs = "SELECT chunk_id, edge_count, strength FROM hubs(min_weight := {}) WHERE map_contains(kinds, 'similar')"
    found = rows(plain, hubs.format(0.55))[:3]
    assert found == [(10, 2, 1.9), (20, 2, pytest.approx(1.77)), (11, 2, pytest.approx(1.7))]
    assert rows(plain, hubs.format(0.1))[0][:2] == (10, 3)


def test_hubs_tell_their_links_whatever_weight_similar_edges_need(plain: duckdb.DuckDBPyConnection) -> None:
    both = {"link": 1, "mention": 1}
    found = rows(plain, "SELECT chunk_id, edge_count, kinds FROM hubs(k := 3, min_weight := 2)")
    assert found == [(50, 3, {"link": 3}), (51, 2, both), (60, 2, both)]


def test_orphans_are_without_an_edge_or_without_a_strong_one(plain: duckdb.DuckDBPyConnection) -> None:
    assert rows(plain, "SELECT chunk_id, strongest FROM orphans() WHERE path = 'c.md'") == [(40, None)]
    assert rows(plain, "SELECT chunk_id FROM orphans(min_weight := 0.92) WHERE path <> 'seven.py'") == [(40,), (11,)]


def test_no_part_of_a_file_that_is_linked_is_an_orphan(plain: duckdb.DuckDBPyConnection) -> None:
    # 51 and 61 have no edge that would save them; the links of seven.py stay within it.
    assert rows(plain, "SELECT chunk_id FROM orphans()") == [(40,), (70,), (71,)]


def test_a_pair_of_near_duplicates_stands_once(plain: duckdb.DuckDBPyConnection) -> None:
    pairs = rows(plain, "SELECT chunk_id, other_chunk_id, weight FROM near_duplicates()")
    assert pairs == [(10, 31, 1.0), (20, 30, 0.97)]
    assert len(rows(plain, "FROM near_duplicates(cosine := 0.9)")) == 3


def test_bridges_lead_from_folder_to_folder(plain: duckdb.DuckDBPyConnection) -> None:
    found = rows(plain, "SELECT path, other_path, weight FROM bridges()")
    assert found == [("a/one.md", "b/three.md", 1.0), ("a/two.md", "b/three.md", 0.97)]
    assert len(rows(plain, "FROM bridges(k := 1)")) == 1


def test_a_bridge_of_links_has_a_direction(plain: duckdb.DuckDBPyConnection) -> None:
    found = rows(plain, "SELECT chunk_id, other_chunk_id, kind FROM bridges(kind := 'link')")
    assert found == [(50, 61, "link"), (60, 50, "link")]
    assert rows(plain, "SELECT chunk_id, other_chunk_id FROM bridges(kind := 'mention')") == [(51, 60)]
    assert rows(plain, "FROM bridges(kind := 'tag')") == []


def test_heat_follows_links_in_their_direction_and_says_so(plain: duckdb.DuckDBPyConnection) -> None:
    heat = "SELECT chunk_id, heat, hop, parent, kind FROM heat_from({}, min_weight := 2)"
    assert rows(plain, heat.format(51)) == [
        (50, 0.5, 1, 51, "link"), (60, 0.5, 1, 51, "mention"), (61, 0.25, 2, 50, "link"),
    ]  # fmt: skip
    assert rows(plain, heat.format(61)) == []


def test_a_link_is_seen_from_both_ends(plain: duckdb.DuckDBPyConnection) -> None:
    columns = "path, line, chunk_id, kind, target, heading, target_path, target_line_start, target_line_end, target_id"
    link = ("d/five.md", 3, 50, "link", "sub/six.md", "Sun", "d/sub/six.md", 5, 8, 61)
    assert rows(plain, f"SELECT {columns} FROM v_links WHERE chunk_id = 50 AND target_id IS NOT NULL") == [link]
    assert rows(plain, "SELECT path, line, kind, heading FROM backlinks('d/sub/six.md')") == [
        ("d/five.md", 3, "link", "Sun"), ("d/five.md", 10, "mention", ""),
    ]  # fmt: skip
    assert rows(plain, "SELECT chunk_id, outward FROM neighbors_of(60)") == [(50, True), (51, False)]
    assert len(rows(plain, "FROM v_links")) == len(LINKS)


def test_a_link_within_a_file_is_no_backlink(plain: duckdb.DuckDBPyConnection) -> None:
    assert rows(plain, "SELECT path FROM backlinks('d/five.md')") == [("d/sub/six.md",)]


def test_libraries_and_tags_are_not_missing_but_paths_are(plain: duckdb.DuckDBPyConnection) -> None:
    assert rows(plain, "SELECT line, kind, target FROM unresolved_links") == [
        (4, "link", "nowhere.md"),
        (2, "import", ".eight"),
        (2, "import", "mod eight"),
        (3, "import", "@/eight"),
    ]


@pytest.mark.parametrize("hops", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("floor", [0.0, 0.55])
def test_heat_is_that_of_the_hottest_way(plain: duckdb.DuckDBPyConnection, hops: int, floor: float) -> None:
    edges = [edge for (a, b), weight in PAIRS.items() if weight >= floor for edge in ((a, b, weight), (b, a, weight))]
    for start in {chunk for pair in PAIRS for chunk in pair}:
        heat = {start: 1.0}
        for _ in range(hops):
            arrived = dict(heat)
            for source, target, weight in edges:
                if source in heat:
                    arrived[target] = max(arrived.get(target, 0), heat[source] * weight * 0.5)
            heat = arrived
        del heat[start]
        sql = f"SELECT chunk_id, heat FROM heat_from({start}, hops := {hops}, min_weight := {floor})"
        assert dict(rows(plain, sql)) == pytest.approx(heat)


def test_heat_tells_whence_it_came(plain: duckdb.DuckDBPyConnection) -> None:
    found = {row[0]: row[1:] for row in rows(plain, "SELECT chunk_id, hop, parent FROM heat_from(10)")}
    assert found == {31: (1, 10), 11: (1, 10), 30: (2, 31), 20: (2, 11)}


def test_macros_take_a_place_through_find_chunk(plain: duckdb.DuckDBPyConnection) -> None:
    assert rows(plain, "SELECT chunk_id FROM neighbors_of(find_chunk('a/one.md:7'))") == [(10,), (20,)]
    assert len(rows(plain, "FROM similar_to(find_chunk('a/one.md:7'), k := 3)")) == 3


def test_views_use_no_window_functions() -> None:
    # They race on small inputs in DuckDB 1.5.5, as in a query.
    folder = Path(__file__).parents[1] / "sql"
    texts = [path.read_text(encoding="utf-8") for path in (folder / "views.sql", *(folder / "explore").glob("*.sql"))]
    assert not any("OVER (" in text for text in texts)


def test_a_run_renews_the_views_of_an_earlier_version(tmp_path: Path) -> None:
    root = corpus(tmp_path, {"a.md": "Cats sleep.\n"})
    build(root)
    path = index_dir(root, settings_of(root)) / INDEX_NAME
    path.chmod(0o644)
    with duckdb.connect(str(path)) as earlier:
        earlier.execute("DROP MACRO TABLE hubs")
    path.chmod(0o444)
    (root / "b.md").write_text("Dogs bark.\n")
    build(root)
    with duckdb.connect(str(path), read_only=True) as plain:
        assert plain.execute("SELECT count(*) FROM hubs()").fetchone() is not None
