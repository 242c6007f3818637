"""`import ragx`: light to import, one search like the command line's, models that stay loaded, indexes that do not."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import ragx
from ragx import api
from ragx.cli import run
from ragx.models import load_embedder, load_reranker
from ragx.search import embedding
from ragx.search import loaded as query_models
from tests.corpora import build, corpus, write
from tests.notes import NOTES
from tests.test_cli_query import TOPICS


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    root = corpus(tmp_path / "notes", NOTES)
    build(root)
    yield root
    for opened in api._open.values():
        opened.searcher.store.close()
    api._open.clear()


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The models that are loaded from here on."""
    loaded: list[str] = []

    def noted(name: str, load: Any) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            loaded.append(name)
            return load(*arguments, **options)

        return call

    monkeypatch.setattr(embedding, "load_embedder", noted("embedder", load_embedder))
    monkeypatch.setattr(query_models, "load_reranker", noted("reranker", load_reranker))
    return loaded


def test_the_import_loads_nothing_heavy_and_its_names_are_there() -> None:
    heavy = ("numpy", "duckdb", "pyarrow", "onnxruntime", "tokenizers", "httpx", "typer")
    script = (
        f"import sys, ragx; print([name for name in {heavy} if name in sys.modules], sorted(ragx.__all__), dir(ragx))"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert out.startswith("[] ['RagxError', '__version__', 'connect', 'search'] ")
    assert "'connect'" in out and "'search'" in out
    with pytest.raises(AttributeError, match="has no attribute 'serach'"):
        ragx.serach  # noqa: B018  # the access is what fails


def test_search_is_the_function_although_a_package_of_that_name_is_imported() -> None:
    script = "import ragx.search.searcher, ragx.cli; from ragx.search import Options; print(ragx.search.__module__)"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "ragx.api\n"


def test_a_search_gives_what_the_command_line_gives(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(root / "garden")
    table = ragx.search("how do bees swarm?", top=3)
    assert table.schema == api.RESULT
    assert run(["query", "how do bees swarm?", "--top", "3", "--json"]) == 0
    results = json.loads(capsys.readouterr().out)["results"]
    rows = table.to_pylist()
    assert [row["file"] for row in rows] == [result["file"] for result in results]
    for row, result in zip(rows, results, strict=True):
        flat = {**result, **result["breakdown"]}
        for name in api.RESULT.names:
            assert row[name] == (pytest.approx(flat[name], abs=1e-6) if isinstance(row[name], float) else flat[name])


def test_options_are_those_of_a_query(root: Path) -> None:
    table = ragx.search("restore a backup", root, rerank=False, graph=False, lexical=False, kinds=["python"])
    assert table["file"].to_pylist() == ["restore.py"]
    assert table["rerank"].null_count == table["heat"].null_count == table["bm25"].to_pylist().count(0.0) == 1
    assert set(ragx.search("bees", root, rerank=False, paths=["garden"])["file"].to_pylist()) <= {
        "garden/bees.md",
        "garden/garlic.md",
        "garden/honey.md",
    }
    with pytest.warns(UserWarning, match="no indexed file matches nope"):
        assert ragx.search("bees", root, rerank=False, paths=["nope"]).num_rows == 0
    with pytest.warns(UserWarning, match="expansion"):
        assert ragx.search("bees", root, rerank=False, expand=True).num_rows


def test_nothing_relevant_is_a_table_without_rows(root: Path) -> None:
    # Notes that repeat themselves: a query that is as far from each as this one is about none.
    write(
        root, {f"{name}.md": f"# {name}\n\n{text}\n\n## Again\n\nAs I said: {text}\n" for name, text in TOPICS.items()}
    )
    build(root)
    table = ragx.search("kubernetes ingress controller", root, rerank=False)
    assert (table.num_rows, table.schema) == (0, api.RESULT)


def test_models_are_loaded_once_and_a_new_index_is_seen(root: Path, loaded: list[str]) -> None:
    assert ragx.search("bees", root)["file"][0].as_py().startswith("garden/")
    assert sorted(loaded) == ["embedder", "reranker"]
    write(root, {"garden/wasps.md": "# Wasps\n\nWasps built a paper nest under the eaves.\n"})
    build(root)
    del loaded[:]
    assert ragx.search("a paper nest of wasps", root)["file"][0].as_py() == "garden/wasps.md"
    write(root, {"garden/ants.md": "# Ants\n\nAnts farm aphids on the roses.\n"})
    build(root)
    assert ragx.search("ants that farm aphids", root)["file"][0].as_py() == "garden/ants.md"
    assert loaded == ["embedder"] * loaded.count("embedder") and len(api._open) == 1


def test_settings_are_read_again_at_each_search(root: Path, loaded: list[str]) -> None:
    assert ragx.search("bees", root)["rerank"].null_count == 0
    (root / "ragx.toml").write_text("[rerank]\nenabled = false\n[query]\ntop = 1\n")
    table = ragx.search("bees", root)
    assert (table.num_rows, table["rerank"].null_count, loaded) == (1, 1, ["embedder", "reranker"])


def test_a_connection_reads_with_macros_and_embeds(root: Path) -> None:
    con = ragx.connect(root / "garden")
    sql = "SELECT path FROM v_chunks ORDER BY array_cosine_similarity(vector, embed('swarms of bees')) DESC LIMIT 1"
    assert con.execute(sql).fetchall() == [("garden/bees.md",)]
    assert con.execute("SELECT path FROM keyword_search('honey')").fetchall() == [("garden/honey.md",)]
    with pytest.raises(duckdb.InvalidInputException, match="read-only"):
        con.execute("DELETE FROM chunks")
    con.execute("CREATE TEMP TABLE mine AS FROM files")
    con.register("given", pa.table({"path": ["restore.py"]}))
    assert con.execute("SELECT count(*) FROM mine JOIN given USING (path)").fetchall() == [(1,)]
    con.close()


def test_a_connection_shares_the_model_of_search(root: Path, loaded: list[str]) -> None:
    ragx.search("bees", root, rerank=False)
    con = ragx.connect(root)
    assert con.execute("SELECT len(embed('bees')::FLOAT[])").fetchall() == [(384,)]
    assert loaded == ["embedder"]
    con.close()


def test_a_stage_that_cannot_run_is_a_warning(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "ragx.toml").write_text("[expansion]\nenabled = true\n")
    with pytest.warns(UserWarning, match="expansion skipped"):
        ragx.search("bees", root, rerank=False)


def test_errors_are_ragx_errors_with_a_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ragx.RagxError, match="does not exist"):
        ragx.search("bees", tmp_path / "nowhere")
    with pytest.raises(ragx.RagxError, match=r"no ragx\.toml in"):
        ragx.connect(tmp_path)
    (tmp_path / "ragx.toml").write_text("")
    for call in (lambda: ragx.connect(tmp_path), lambda: ragx.search("bees", tmp_path)):
        with pytest.raises(ragx.RagxError, match="no index in") as missing:
            call()
        assert missing.value.hint == "run: ragx index"
