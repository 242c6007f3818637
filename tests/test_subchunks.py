"""Edges by sub-chunks join texts that share one concept of several, and leave queries alone."""

from pathlib import Path

import numpy as np

from ragx.config import index_dir
from ragx.graph.knn import nearest
from ragx.store import open_index
from tests.corpora import build, corpus, dump, settings_of, write

DISKS = "Every night the server copies its disks to the vault, and a restored disk is checked against its sums."
CATS = "Cats sleep through most of the day; kittens sleep even more, and they dream of mice and of warm milk."
TOMATOES = "Tomatoes want sun, water and patience; in August they are ripe and are eaten with salt and some bread."
FILES: dict[str, str | bytes] = {
    "ragx.toml": '[graph]\nedge_source = "subchunk"\nsubchunk_size_tokens = 32\n',
    "mixed.txt": f"{DISKS} {CATS} {TOMATOES}\n",
    "cats.txt": f"{CATS}\n",
    "alone.txt": "The ferry leaves at nine.\n",
}


def test_an_edge_is_as_heavy_as_the_nearest_sub_chunks_not_as_the_diluted_whole(tmp_path: Path) -> None:
    root = corpus(tmp_path, FILES)
    build(root)
    rows = dump(root)
    texts = {row[0]: row[5] for row in rows["chunks"]}
    cut = [[row[2] for row in rows["subchunks"] if texts[row[0]].startswith(start)] for start in ("Every", "Cats")]
    assert cut == [[DISKS, CATS, TOMATOES], [CATS]]
    weights = {(texts[src][:4], texts[dst][:4]): weight for src, dst, _, weight, _ in rows["edges"]}
    assert weights["Ever", "Cats"] == weights["Cats", "Ever"] == 1.0


def test_near_duplicates_are_not_linked(tmp_path: Path) -> None:
    root = corpus(tmp_path, {**FILES, "again.txt": f"{CATS} Milk.\n"})
    build(root)
    rows = dump(root)
    cats = {row[0] for row in rows["chunks"] if row[5].startswith("Cats")}
    assert len(cats) == 2
    assert not [row for row in rows["edges"] if {row[0], row[1]} == cats]


def test_vectors_of_sub_chunks_are_kept_apart_used_again_and_forgotten(tmp_path: Path) -> None:
    root = corpus(tmp_path, FILES)
    assert build(root).texts_embedded == 5
    (root / "mixed.txt").rename(root / "moved.txt")
    assert build(root).texts_embedded == 0
    with open_index(index_dir(root, settings_of(root))) as store:
        # The window that is a chunk has the chunk's vector.
        assert store.connection.execute("SELECT count(*) FROM embeddings_subchunk").fetchall() == [(2,)]
    write(root, {"moved.txt": f"{TOMATOES}\n"})
    build(root)
    with open_index(index_dir(root, settings_of(root))) as store:
        assert store.connection.execute("SELECT count(*) FROM embeddings_subchunk").fetchall() == [(0,)]


def test_another_source_of_edges_takes_a_full_build_and_leaves_nothing_of_the_one_before(tmp_path: Path) -> None:
    root = corpus(tmp_path, {**FILES, "ragx.toml": ""})
    build(root)
    whole = dump(root)
    write(root, {"ragx.toml": FILES["ragx.toml"]})
    build(root, full=True)
    assert len(dump(root)["subchunks"]) == 5
    write(root, {"ragx.toml": ""})
    build(root, full=True)
    assert dump(root) == whole and not whole["subchunks"]


def test_the_rows_of_its_group_do_not_take_places_in_a_rows_list() -> None:
    vectors = np.array([[1, 0], [0.96, 0.28], [0.8, 0.6], [0.6, 0.8], [0, 1]], np.float32)
    rows, group = np.arange(5), np.array([0, 0, 0, 1, 1])
    found = nearest(vectors, rows, rows, 1, group=group)
    assert found.target.tolist() == [3, 3, 3, 2, 2]
