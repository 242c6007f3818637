"""`query --global --answer`: an answer in words whose every citation exists."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ragx.cli import run
from ragx.models import http
from ragx.render.terminal import View
from ragx.render.text import written_text
from ragx.search.writing import checked, checked_points, cited, write_answer
from ragx.types import Written
from tests.corpora import build, corpus, write
from tests.misbehaving import CHAT, Server
from tests.rendered import COMMUNITIES, valid
from tests.test_describe import FILES

QUESTION = "how is honey made?"


def answering(task: str, text: str) -> str:
    """A model that cites what it is shown, and something else besides."""
    numbers = re.findall(r"^\[(\d+)\] ", text, re.MULTILINE)
    if numbers:
        return f"- Bees make it [{numbers[0]}].\n- Nobody knows [99].\n- That is all."
    return "Bees make honey [" + re.findall(r"\[(\d+)\]", text)[0] + ", 99]. From flowers [98]."


@pytest.fixture(autouse=True)
def quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "BACKOFF_SECONDS", 0.01)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "RAGX_DIR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(says=answering) as server:
        yield server


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = corpus(tmp_path_factory.mktemp("written") / "corpus", {**FILES, "ragx.toml": "[graph]\nk = 3\n"})
    build(root)
    return root


@pytest.fixture
def query(indexed: Path, server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    configure(indexed, server)
    monkeypatch.chdir(indexed)

    def asked(*arguments: str) -> tuple[int, str, str]:
        code = run(["query", "--global", QUESTION, "--no-rerank", "--top", "2", *arguments])
        return code, *capsys.readouterr()

    return asked


def configure(root: Path, server: Server) -> None:
    write(root, {"ragx.toml": f'[graph]\nk = 3\n[expansion]\nmodel = "{CHAT}"\nbase_url = "{server.url}"\n'})


def test_points_of_each_topic_become_one_answer_with_its_sources(query: Any, server: Server) -> None:
    code, out, err = query("--answer", "--json")
    document = valid(json.loads(out))
    assert (code, err, len(server.asked)) == (0, "", 3)
    results = [result for topic in document["communities"] for result in topic["results"]]
    answer = document["answer"]
    assert answer["text"] == "Bees make honey [1]. From flowers." and answer["supported"]
    (source,) = answer["sources"]
    first = results[0]
    assert source == {"number": 1, **{key: first[key] for key in ("chunk_id", "file", "line_start", "line_end")}}
    assert document["stages"][-1] == {"name": "answer", "ran": True, "detail": "chat-model, passages of 2 topics"}
    *topics, last = server.asked
    assert all(text.endswith(f"\n\nQuestion: {QUESTION}") for text in server.asked)
    assert "[99]" not in last and "That is all" not in last
    shown = sorted(int(number) for text in topics for number in re.findall(r"^\[(\d+)\] ", text, re.MULTILINE))
    assert shown == list(range(1, len(results) + 1))


def test_the_text_ends_with_the_list_of_sources(query: Any) -> None:
    code, out, err = query("--answer")
    assert (code, err) == (0, "")
    assert re.fullmatch(r"Bees make honey \[1\]\. From flowers\.\n\nsources\n  \[1\] bees/\d\.md:1-3\n", out)


def test_no_model_is_asked_unless_an_answer_is_asked_for(query: Any, server: Server) -> None:
    code, out, _ = query("--json")
    document = valid(json.loads(out))
    assert code == 0 and "answer" not in document and server.requests == []
    assert "answer" not in {stage["name"] for stage in document["stages"]}


@pytest.mark.parametrize("fault", ["not there", "401", "500", "html", "no choices"])
def test_a_failure_leaves_the_topics_and_one_warning(query: Any, server: Server, fault: str) -> None:
    topics = query()[1]
    server.always = fault
    if fault == "not there":
        server.stop()
    code, out, err = query("--answer")
    said = [line for line in err.splitlines() if not line.endswith(": trying again")]
    assert (code, out) == (0, topics)
    assert len(said) == 1 and said[0].startswith("answer skipped: ") and server.url in said[0]
    stage = valid(json.loads(query("--answer", "--json")[1]))["stages"][-1]
    assert (stage["name"], stage["ran"]) == ("answer", False)


@pytest.mark.parametrize("said", ["NONE", "They say nothing.", "A point [99].", "<html>[99]</html>"])
def test_passages_that_say_nothing_are_no_answer(query: Any, server: Server, said: str) -> None:
    server.says = lambda task, text: said
    code, out, err = query("--answer", "--json")
    document = valid(json.loads(out))
    assert code == 0 and "answer" not in document and len(server.asked) == 2
    assert err == "answer skipped: the passages say nothing about the question; ask for more of them with --top\n"


def test_an_answer_without_a_source_is_called_unsupported(query: Any, server: Server) -> None:
    server.says = lambda task, text: (
        answering(task, text) if "\n\n[" in text or text[0] == "[" else "Honey is old [77]."
    )
    code, out, _ = query("--answer")
    assert (code, out) == (0, "Honey is old.\n\nunsupported: it cites no passage\n")
    assert valid(json.loads(query("--answer", "--json")[1]))["answer"] == {
        "text": "Honey is old.", "supported": False, "sources": []
    }  # fmt: skip


def test_an_answer_goes_with_topics_only(query: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["query", QUESTION, "--answer"]) == 2
    assert "--answer goes with --global" in capsys.readouterr().err


def test_a_reference_in_a_passage_is_no_citation() -> None:
    # A paper's own [2] was taken for the second passage.
    class Model:
        model = "m"

        def ask(self, task: str, text: str) -> str:
            asked.append(text)
            return "It is so [1]."

    asked: list[str] = []
    hit = replace(COMMUNITIES[0].hits[0], text="As Smith [2] and others [3, 4] say.")
    written = write_answer(Model(), "why?", (replace(COMMUNITIES[0], hits=(hit,)),))
    assert "As Smith (2) and others (3, 4) say." in asked[0]
    assert written and [source.number for source in written.sources] == [1]


@pytest.mark.parametrize(
    ("text", "kept", "numbers"),
    [
        ("A [1]. B [2, 9]. C [9].", "A [1]. B [2]. C.", [1, 2]),
        ("A [1][2] [ 2 ; 1 ].", "A [1][2] [2, 1].", [1, 2, 2, 1]),
        ("A [note]. B [0]. C [999999999].", "A [note]. B. C.", []),
        ("A 【2】. B【99】.", "A [2]. B.", [2]),
        ("", "", []),
    ],
)
def test_numbers_that_no_passage_has_are_dropped(text: str, kept: str, numbers: list[int]) -> None:
    assert checked(text, {1: "", 2: ""}) == kept
    assert cited(kept) == numbers


def test_points_are_bounded_and_escapes_are_shown_as_such() -> None:
    points = checked_points("- word word [1]\n" * 10_000, {1: COMMUNITIES[0].hits[0]})
    assert sum(map(len, points)) <= 3000
    assert written_text(Written("\x1b[31mred\x07", ()), View()).startswith("\\x1b[31mred\\x07\n")
