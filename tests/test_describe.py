"""`index --describe`: titles of communities by a chat model, asked for once a content and never needed."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest

from ragx.cli import run
from ragx.config import index_dir, load
from ragx.export import export
from ragx.indexing.describe import read_description
from ragx.indexing.run import Options, index
from ragx.models import http
from ragx.store import open_index
from tests.corpora import Silent, build, corpus, dump, index_elsewhere, settings_of, write
from tests.misbehaving import CHAT, Server
from tests.rendered import valid
from tests.test_overview import ENDS, TOPICS

FILES: dict[str, str | bytes] = {
    f"{topic}/{number}.md": f"# {topic.title()} {number}\n\n{text.format(end)}\n"
    for topic, text in TOPICS.items()
    for number, end in enumerate(ENDS)
}
TITLES = {"honey": "Keeping bees", "disks": "Copies of disks", "violin": "Care of violins"}


def titled(task: str, text: str) -> str:
    """A model that knows the topics."""
    title = next((title for word, title in TITLES.items() if word in text), "All sorts")
    return "<think>Well.</think>" + json.dumps({"title": title, "summary": f"{title} is one topic. It is a good one."})


@pytest.fixture(autouse=True)
def quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "BACKOFF_SECONDS", 0.01)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "RAGX_DIR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(says=titled) as server:
        yield server


@pytest.fixture
def root(tmp_path: Path, server: Server) -> Path:
    root = corpus(tmp_path / "topics", dict(FILES))
    configure(root, server)
    return root


def configure(root: Path, server: Server) -> None:
    write(root, {"ragx.toml": "[graph]\nk = 3\n[rerank]\nenabled = false\n[expansion]\n"
                 f'model = "{CHAT}"\nbase_url = "{server.url}"\n'})  # fmt: skip


def titles(root: Path) -> list[tuple[Any, ...]]:
    with open_index(index_dir(root, settings_of(root))) as store:
        return store.connection.execute("SELECT * FROM community_titles ORDER BY ALL").fetchall()


def test_each_topic_is_asked_for_once_as_long_as_its_texts_are_the_same(root: Path, server: Server) -> None:
    assert build(root).communities_described == 0 and server.requests == []
    report = build(root, describe=True)
    count = report.communities_total
    assert (report.communities_described, report.changed, report.warnings) == (count, True, ())
    assert len(server.asked) == count == len(titles(root)) >= 3
    assert {title for _, title, _, _ in titles(root)} >= {"Keeping bees"}
    assert not build(root, describe=True).changed
    write(root, {"bees/0.md": "# Bees 0\n\nA hive of bees makes more honey than before from the meadow.\n"})
    build(root)
    kept = titles(root)
    assert len(server.asked) == count and 0 < len(kept) < count
    assert build(root, describe=True).communities_described == len(server.asked) - count
    assert set(kept) < set(titles(root))


def test_the_rest_of_the_index_is_the_same_with_titles_and_without(root: Path, server: Server) -> None:
    build(root, describe=True)
    write(root, {"bees/0.md": "# Bees 0\n\nA hive of bees is old.\n", "violins/9.md": "# New\n\nA violin is new.\n"})
    (root / "disks/1.md").unlink()
    build(root, describe=True)
    rows = dump(root)
    with index_elsewhere(root.parent / "elsewhere"):
        build(root)
        assert dump(root) == rows and titles(root) == []


def test_a_full_build_keeps_the_titles_of_what_is_the_same_and_no_other(root: Path, server: Server) -> None:
    build(root, describe=True)
    before = titles(root)
    asked = len(server.requests)
    build(root, full=True)
    assert titles(root) == before
    for name in FILES:
        if name.startswith("bees/"):
            write(root, {name: f"# Wasps\n\n{name} says that wasps make honey too.\n"})
    build(root, full=True, keep_vectors=True)
    assert set(titles(root)) < set(before)
    assert len(server.requests) == asked


@pytest.mark.parametrize("fault", ["not there", "401", "500", "no choices", "html"])
def test_a_server_that_fails_leaves_a_whole_index_and_one_warning(root: Path, server: Server, fault: str) -> None:
    server.always = fault
    if fault == "not there":
        server.stop()
    report = build(root, describe=True)
    assert report.changed and report.communities_described == 0 and report.communities_total >= 3
    (warning,) = report.warnings
    assert warning.startswith("describe skipped: ") and server.url in warning
    assert len(server.requests) <= 4 * (http.TRIES if fault == "500" else 1)
    assert all(row[2] for row in dump(root)["community_labels"])


def test_titles_that_arrived_before_a_failure_are_kept(root: Path, server: Server) -> None:
    server.plan, server.always = [""], "401"
    assert build(root, describe=True).communities_described == 1
    server.always = ""
    first = titles(root)
    asked = len(server.requests)
    report = build(root, describe=True)
    assert report.communities_described == report.communities_total - 1 == len(server.requests) - asked
    assert set(first) < set(titles(root))


def test_titles_of_an_interrupted_run_are_not_asked_for_again(root: Path, server: Server) -> None:
    class Interrupted(Silent):
        def stage(self, name: str, total: int | None, unit: str) -> None:
            self.describing = name == "describing topics"

        def advance(self, amount: int) -> None:
            if self.describing:
                raise KeyboardInterrupt

    build(root)
    with pytest.raises(KeyboardInterrupt):
        index(root, settings_of(root), Options(describe=True), Interrupted())
    assert titles(root) == []
    report = build(root, describe=True)
    assert report.communities_described == report.communities_total - 1 == len(titles(root)) - 1


def test_a_title_that_is_none_leaves_the_words(root: Path, server: Server) -> None:
    server.says = lambda task, text: "<html>" if "honey" in text else titled(task, text)
    report = build(root, describe=True)
    assert 0 < report.communities_described < report.communities_total
    assert report.warnings == ("describe skipped: chat-model gave no title",)


def test_few_are_asked_at_once(root: Path, server: Server) -> None:
    server.delays = lambda: 0.05
    build(root, describe=True)
    assert server.most_at_once <= 2


def test_nothing_is_asked_where_no_model_is_named_or_a_clone_names_the_host(root: Path, server: Server) -> None:
    write(root, {"ragx.toml": "[graph]\nk = 3\n"})
    (warning,) = build(root, describe=True).warnings
    assert warning == "describe skipped: no chat model is set up; ragx config set expansion.model NAME"
    write(root, {"ragx.toml": '[graph]\nk = 3\n[expansion]\nmodel = "m"\nbase_url = "https://example.org/v1"\n'})
    (warning,) = build(root, describe=True).warnings
    assert "which you have not allowed" in warning and "https://example.org" in warning
    assert server.requests == []


def test_titles_are_shown_exported_and_read_by_sql(
    root: Path, server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(root)
    assert run(["index", "--describe", "--json", "-q"]) == 0
    document = valid(json.loads(capsys.readouterr().out))
    assert document["communities_described"] == document["communities_total"] and "describe" in document["seconds"]

    def shown(*arguments: str) -> str:
        assert run(list(arguments)) == 0
        return capsys.readouterr().out

    summary = "Keeping bees is one topic. It is a good one."
    assert "Keeping bees  " in (text := shown("inspect", "communities")) and f"  about    {summary}\n" in text
    found = valid(json.loads(shown("inspect", "communities", "--json")))["communities"]
    assert ("Keeping bees", summary) in {(each["title"], each["summary"]) for each in found}
    assert shown("query", "--global", "honey", "--top", "1").startswith("Keeping bees  ")
    (topic,) = valid(json.loads(shown("query", "--global", "honey", "--top", "1", "--json")))["communities"]
    assert (topic["title"], topic["summary"]) == ("Keeping bees", summary) and "honey" in topic["terms"]
    assert "Keeping bees" in shown("sql", "@communities")
    config = load(root).config
    export(index_dir(root, config), root.parent / "out", tables=("community_labels",))
    table = pq.read_table(root.parent / "out" / "community_labels.parquet")
    assert "Keeping bees" in table["title"].to_pylist() and summary in table["summary"].to_pylist()
    with duckdb.connect(index_dir(root, config) / "index.duckdb", read_only=True) as plain:
        assert ("Keeping bees",) in plain.execute("SELECT title FROM v_community_labels").fetchall()


@pytest.mark.parametrize(
    ("answer", "title", "summary"),
    [
        ('```json\n{"title": "A b", "summary": "C d.\\nE f."}\n```', "A b", "C d. E f."),
        ("# Title: A b\n\nC d. E f.", "A b", "C d. E f."),
        ('{"title": ["A"], "summary": "C d."}', "", ""),
        ('{"summary": "C d."}', "", ""),
        ('{"title": "A \\u001b[2J b", "summary": 5}', "A [2J b", ""),
        ("<html></html>", "", ""),
        ("", "", ""),
    ],
)
def test_odd_answers_give_a_title_or_none(answer: str, title: str, summary: str) -> None:
    assert read_description(answer) == (title, summary)
    assert len(read_description("word " * 1000)[0]) <= 80
