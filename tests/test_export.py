"""An export: what its files hold, how they are read, and that it is whole or not there."""

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from ragx.cli import run
from ragx.errors import IndexMissing, UsageError
from ragx.export import TABLES, export
from tests.corpora import build, corpus, dump
from tests.notes import NOTES
from tests.rendered import valid


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    linked = {"garden/garlic.md": f"{NOTES['garden/garlic.md']}See [[honey]] and [more](gone.md).\n"}
    root = corpus(tmp_path_factory.mktemp("export"), NOTES | linked)
    build(root)
    return root


@pytest.fixture(scope="module")
def exported(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("exported") / "deep" / "er"
    export(root / ".ragx", target)
    return target


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_manifest_says_what_is_there(exported: Path) -> None:
    manifest = valid(json.loads((exported / "manifest.json").read_text(encoding="utf-8")))
    assert {path.name for path in exported.iterdir()} == {"manifest.json", *(f"{name}.parquet" for name in TABLES)}
    assert (manifest["dimension"], manifest["settings"]["graph.k"]) == (384, 8)
    for table in manifest["tables"].values():
        written = pq.read_table(exported / table["file"])
        assert written.num_rows == table["rows"] > 0
        assert {field.name: str(field.type) for field in written.schema} == table["columns"]
    assert pq.ParquetFile(exported / "chunks.parquet").metadata.row_group(0).column(0).compression == "ZSTD"


def test_rows_are_those_of_the_index_in_the_order_of_ids(root: Path, exported: Path) -> None:
    rows = dump(root)
    for name in ("edges", "links", "communities", "community_labels"):
        written = [tuple(row.values()) for row in pq.read_table(exported / f"{name}.parquet").to_pylist()]
        assert written == [(*row, "", "") if name == "community_labels" else row for row in rows[name]]
    for name in ("files", "chunks", "embeddings"):
        ids = pq.read_table(exported / f"{name}.parquet")["id"].to_pylist()
        assert ids == sorted(set(ids))
    chunks = pq.read_table(exported / "chunks.parquet").to_pylist()
    assert [chunk["id"] for chunk in chunks] == [row[0] for row in rows["chunks"]]
    paths = {file["id"]: file["path"] for file in pq.read_table(exported / "files.parquet").to_pylist()}
    for chunk in chunks:
        data = (root / paths[chunk["file_id"]]).read_bytes()
        assert data[chunk["byte_start"] : chunk["byte_end"]].decode() == chunk["text"]


def test_pandas_stacks_the_vectors(exported: Path) -> None:
    embeddings = pd.read_parquet(exported / "embeddings.parquet")
    vectors = np.stack(embeddings["vector"])
    assert vectors.shape == (len(embeddings), 384) and vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1)
    chunks = pd.read_parquet(exported / "chunks.parquet").merge(embeddings, left_on="embedding_id", right_on="id")
    assert len(chunks) == 7


def test_polars_reads_arrays(exported: Path) -> None:
    embeddings = pl.read_parquet(exported / "embeddings.parquet")
    assert embeddings.schema["vector"] == pl.Array(pl.Float32, 384)
    assert embeddings["vector"].to_numpy().shape == (embeddings.height, 384)


def test_arrow_and_duckdb_read_the_folder(exported: Path) -> None:
    assert ds.dataset(exported / "edges.parquet").count_rows() == pq.read_table(exported / "edges.parquet").num_rows
    joined = duckdb.connect().execute(
        f"SELECT files.path FROM '{exported}/chunks.parquet' AS chunks "
        f"JOIN '{exported}/files.parquet' AS files ON files.id = chunks.file_id "
        f"JOIN '{exported}/embeddings.parquet' AS embeddings ON embeddings.id = chunks.embedding_id"
    )
    assert len(joined.fetchall()) == 7


def test_the_same_index_gives_the_same_bytes(root: Path, exported: Path, tmp_path: Path) -> None:
    export(root / ".ragx", tmp_path / "again")
    assert contents(tmp_path / "again") == contents(exported)


def test_the_example_draws_every_file_and_link(exported: Path, tmp_path: Path) -> None:
    script = Path(__file__).parents[1] / "benchmarks" / "draw_graph.py"
    picture = tmp_path / "graph.svg"
    subprocess.run([sys.executable, script, exported, "-o", picture, "--similar", "0.7"], check=True)
    drawn = ElementTree.parse(picture).getroot()
    titles = [title.text for title in drawn.iter("{http://www.w3.org/2000/svg}title")]
    assert titles == sorted(NOTES)
    named = {text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")}
    assert named & {"honey.md", "garlic.md"}


def test_what_is_left_out_is_not_there(root: Path, tmp_path: Path) -> None:
    manifest = export(root / ".ragx", tmp_path / "few", tables=["edges", "chunks"], text=False)
    assert list(valid(manifest)["tables"]) == ["chunks", "edges"]
    assert "text" not in manifest["tables"]["chunks"]["columns"]
    for path in (tmp_path / "few").iterdir():
        assert b"queen" not in path.read_bytes()


def test_only_an_earlier_export_is_replaced_and_only_when_forced(root: Path, tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.mkdir()
    export(root / ".ragx", target)
    with pytest.raises(UsageError, match="holds an export already"):
        export(root / ".ragx", target)
    export(root / ".ragx", target, tables=["files"], force=True)
    assert set(contents(target)) == {"manifest.json", "files.parquet"}
    (target / "notebook.ipynb").write_text("{}")
    with pytest.raises(UsageError, match=r"notebook\.ipynb is not part of the export"):
        export(root / ".ragx", target, force=True)
    others = ('{"schema": "other"}', "[", "[" * 100_000)
    for name, text in (("notes.md", "mine"), *(("manifest.json", other) for other in others)):
        foreign = tmp_path / f"foreign-{len(text)}"
        foreign.mkdir()
        (foreign / name).write_text(text)
        with pytest.raises(UsageError, match="holds no export of ragx"):
            export(root / ".ragx", foreign, force=True)
        assert contents(foreign) == {name: text.encode()}
    (tmp_path / "link").symlink_to(target)
    for name in ("link", "foreign-4/notes.md"):
        with pytest.raises(UsageError, match="is no folder"):
            export(root / ".ragx", tmp_path / name, force=True)


@pytest.mark.parametrize("earlier", [False, True])
def test_an_interrupted_export_leaves_what_was_there(root: Path, tmp_path: Path, earlier: bool) -> None:
    target = tmp_path / "out"
    if earlier:
        export(root / ".ragx", target, tables=["files"])
    before = {path.name: contents(path) for path in tmp_path.iterdir()}

    def interrupt(table: str) -> None:
        if table == "edges":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export(root / ".ragx", target, force=True, progress=interrupt)
    assert {path.name: contents(path) for path in tmp_path.iterdir()} == before


def test_a_place_that_cannot_be_written_and_an_index_that_is_not_there_are_errors(root: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot write"):
        export(root / ".ragx", tmp_path / "file" / "out")
    with pytest.raises(IndexMissing):
        export(tmp_path, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_the_command_line(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(root)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    target = str(tmp_path / "out")
    assert run(["export", target, "--no-embeddings", "--quiet"]) == 0
    assert capsys.readouterr() == (
        "files.parquet                      6 rows\n"
        "chunks.parquet                     7 rows\n"
        f"edges.parquet             {len(dump(root)['edges']):>10} rows\n"
        "links.parquet                      2 rows\n"
        "communities.parquet                7 rows\n"
        f"community_labels.parquet  {len(dump(root)['community_labels']):>10} rows\n",
        "",
    )
    assert run(["export", target, "--force", "--only", "files", "--json"]) == 0
    out, err = capsys.readouterr()
    assert list(valid(json.loads(out))["tables"]) == ["files"] and err == "exporting files\n"
    assert run(["export", target, "--force", "--only", "chunks", "--no-text", "--quiet"]) == 0
    assert capsys.readouterr().out == "chunks.parquet           7 rows\n"
    assert "text" not in pq.read_schema(f"{target}/chunks.parquet").names
    for arguments, said in (
        (["--only", "terms"], "there is no table terms to export; choose from: files, chunks"),
        (["--only", "embeddings", "--no-embeddings"], "leave nothing"),
        ([], "holds an export already; replace it with --force"),
    ):
        assert run(["export", target, *arguments]) == 2
        assert said in capsys.readouterr().err
