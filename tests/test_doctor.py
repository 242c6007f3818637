"""`ragx doctor`: each part that is set up is tried, what is not set up is no failure."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragx.cli import run
from ragx.models import http
from tests.corpora import build, corpus, write
from tests.misbehaving import CHAT, Server
from tests.rendered import valid


@pytest.fixture(autouse=True)
def quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "BACKOFF_SECONDS", 0.01)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "RAGX_DIR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(says=lambda task, text: "<think>Am I?</think>Yes.") as server:
        yield server


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = corpus(tmp_path / "corpus", {"a.md": "# Cats\n\nCats sleep all day.\n"})
    monkeypatch.chdir(root)
    return root


def states(capsys: pytest.CaptureFixture[str], code: int) -> dict[str, dict[str, Any]]:
    assert run(["doctor", "--json"]) == code
    document = valid(json.loads(capsys.readouterr().out))
    assert document["ok"] == (code == 0)
    return {check["name"]: check for check in document["checks"]}


def test_what_is_not_set_up_is_no_failure(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build(root)
    assert {name: check["state"] for name, check in states(capsys, 0).items()} == {
        "index": "ok", "embeddings": "ok", "rerank": "ok", "chat": "off"
    }  # fmt: skip
    assert run(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "ok      embeddings  bge-small-en-v1.5 (onnx), 384 dimensions"
    assert lines[3] == "off     chat        no chat model is set up, and none is needed"


def test_a_chat_model_is_tried_where_one_is_set_up(
    root: Path, server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    build(root)
    write(root, {"ragx.toml": f'[rerank]\nenabled = false\n[expansion]\nmodel = "{CHAT}"\nbase_url = "{server.url}"\n'})
    found = states(capsys, 0)
    assert (found["chat"]["state"], found["chat"]["detail"]) == ("ok", "chat-model (openai)")
    assert found["rerank"]["state"] == "off" and len(server.requests) == 1
    server.always = "401"
    chat = states(capsys, 2)["chat"]
    assert (chat["state"], chat["hint"]) == (
        "failed",
        "name the variable that holds its key: ragx config set expansion.api_key_env NAME",
    )
    server.stop()
    assert f"nothing listens at {server.url}" in states(capsys, 2)["chat"]["detail"]


def test_a_part_that_fails_keeps_no_other_from_being_tried(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(
        root, {"ragx.toml": '[rerank]\nmodel = "nope"\n[expansion]\nmodel = "m"\nbase_url = "https://example.org/v1"\n'}
    )
    found = states(capsys, 2)
    assert {name: check["state"] for name, check in found.items()} == {
        "index": "failed", "embeddings": "ok", "rerank": "failed", "chat": "failed"
    }  # fmt: skip
    assert found["index"]["hint"] == "run: ragx index"
    assert "which you have not allowed" in found["chat"]["detail"]
