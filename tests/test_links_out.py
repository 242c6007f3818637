"""No symbolic link that came with a corpus leads ragx out of it, neither to read nor to write."""

import os
from pathlib import Path

import pytest

from ragx.cli import run
from ragx.config import index_dir, load
from ragx.errors import ConfigError, IndexForeign
from ragx.store import open_index
from tests.corpora import build, corpus, settings_of


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "diary.md").write_text("Dear diary, the launch code is 0000.\n")
    (folder / "rc").write_text("export SECRET=1\n")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def said(error: IndexForeign | ConfigError) -> str:
    return f"{error.message}; {error.hint}"


def test_a_file_or_folder_behind_a_link_is_not_indexed(tmp_path: Path, outside: Path) -> None:
    root = corpus(tmp_path / "corpus", {"a.md": "Cats sleep all day.\n"})
    (root / "link.md").symlink_to(outside / "diary.md")
    (root / "folder").symlink_to(outside)
    (root / ".gitignore").symlink_to(outside / "diary.md")
    assert build(root).files.added == ("a.md",)
    assert b"launch code" not in (root / ".ragx/index.duckdb").read_bytes()


@pytest.mark.parametrize("target", ["rc", "nothing"])
def test_a_ragx_toml_behind_a_link_is_neither_read_nor_changed(tmp_path: Path, outside: Path, target: str) -> None:
    root = tmp_path / "corpus"
    root.mkdir()
    (root / "ragx.toml").symlink_to(outside / target)
    before = contents(outside)
    with pytest.raises(ConfigError) as caught:
        load(root)
    assert said(caught.value) == f"{root}/ragx.toml is a symbolic link out of the corpus; put a file in its place"
    assert run(["config", "set", "graph.k", "9", "-C", str(root)]) == 2
    assert run(["init", "--yes", str(root)]) == 2
    assert contents(outside) == before


def test_a_ragx_toml_elsewhere_in_the_corpus_is_read(tmp_path: Path) -> None:
    root = tmp_path / "corpus"
    (root / "etc").mkdir(parents=True)
    (root / "etc/mine.toml").write_text("[graph]\nk = 9\n")
    (root / "ragx.toml").symlink_to("etc/mine.toml")
    assert load(root).config.graph.k == 9


def test_an_index_folder_behind_a_link_is_not_written_to(tmp_path: Path, outside: Path) -> None:
    root = corpus(tmp_path / "corpus", {"a.md": "Cats sleep all day.\n"})
    (root / ".ragx").symlink_to(outside)
    before = contents(outside)
    for command in (["index"], ["index", "--full"], ["query", "cats"], ["status"], ["export", "out"]):
        assert run([*command, "-C", str(root)]) == 2
    with pytest.raises(ConfigError) as caught:
        index_dir(root, settings_of(root))
    assert said(caught.value).startswith(f"{root}/.ragx is a symbolic link out of the corpus; remove it")
    assert contents(outside) == before


@pytest.mark.parametrize(
    "name",
    ["lock", ".gitignore", "index.duckdb", "index.duckdb.wal", "index.duckdb.tmp", "building.duckdb", "building.copy",
     "building.duckdb.wal", "building.duckdb.tmp", "building-aside", "building-full.duckdb"],
)  # fmt: skip
@pytest.mark.parametrize("target", ["rc", "nothing", "."])
def test_a_link_in_the_index_folder_is_not_followed(tmp_path: Path, outside: Path, name: str, target: str) -> None:
    root = corpus(tmp_path / "corpus", {"a.md": "Cats sleep all day.\n"})
    folder = root / ".ragx"
    folder.mkdir(exist_ok=True)
    (folder / name).symlink_to(outside / target)
    before, mode = contents(outside), (outside / "rc").stat().st_mode
    for full in (False, True):
        with pytest.raises(IndexForeign) as caught:
            build(root, full=full)
        assert said(caught.value) == f"{folder}/{name} is a symbolic link; remove it: rm {folder}/{name}"
        with pytest.raises(IndexForeign):
            open_index(folder)
    assert contents(outside) == before and (outside / "rc").stat().st_mode == mode
    (folder / name).unlink()
    assert build(root).files.added == ("a.md",)


def test_a_corpus_does_not_say_where_its_index_goes(tmp_path: Path, outside: Path) -> None:
    root = corpus(tmp_path / "corpus", {"a.md": "A.\n", "ragx.toml": f'[index]\npath = "{outside}"\n'})
    with pytest.raises(ConfigError, match=r"index\.path belongs to the machine, not to a corpus"):
        load(root)
    assert sorted(os.listdir(outside)) == ["diary.md", "rc"]


def test_a_ragx_toml_without_end_is_not_read_to_its_end(tmp_path: Path) -> None:
    with (tmp_path / "ragx.toml").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(ConfigError, match=r"is larger than 1,048,576 bytes"):
        load(tmp_path)
