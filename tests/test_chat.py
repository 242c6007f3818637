"""Chat models behind a server: what is sent, what is believed of the answer, and how each failure reads."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragx.config.settings import Expansion
from ragx.errors import ModelError
from ragx.models import http, load_chat
from ragx.models.answers import json_in, listed, plain
from ragx.models.chat import MOST_TOKENS, without_thinking
from tests.misbehaving import CHAT, Server


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "BACKOFF_SECONDS", 0.01)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        yield server


def asked(server: Server, says: Any = "Yes.", **changed: Any) -> str:
    server.says = lambda task, text: says
    values = {"provider": "openai", "model": CHAT, "base_url": server.url, "timeout": 60.0}
    return load_chat(Expansion(**(values | changed))).ask("Be brief.", "Is it?")


def failure(server: Server, says: Any = "Yes.", **changed: Any) -> str:
    with pytest.raises(ModelError) as caught:
        asked(server, says, **changed)
    assert caught.value.hint and "\n" not in f"{caught.value.message}{caught.value.hint}"
    return f"{caught.value.message}; {caught.value.hint}"


def test_what_is_sent_is_what_the_protocol_says(server: Server) -> None:
    assert asked(server) == "Yes."
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.body == {
        "model": CHAT,
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Is it?"}],
        "temperature": 0,
        "max_tokens": MOST_TOKENS,
    }
    assert "Authorization" not in request.headers


def test_a_model_that_takes_other_options_gets_them_and_is_not_refused_twice(server: Server) -> None:
    # Models that reason take neither a temperature nor max_tokens: no question to them was ever answered.
    server.plan = ["no max_tokens", "no temperature"]
    server.says = lambda task, text: "Yes."
    chat = load_chat(Expansion(model=CHAT, base_url=server.url))
    assert chat.ask("Be brief.", "Is it?") == chat.ask("Be brief.", "Is it?") == "Yes."
    assert len(server.requests) == 4
    for request in server.requests[2:]:
        assert request.body["max_completion_tokens"] == MOST_TOKENS
        assert not {"temperature", "max_tokens"} & request.body.keys()


def test_a_model_with_a_small_window_is_asked_without_a_limit(server: Server) -> None:
    server.plan = ["small window", "small window"]
    assert asked(server) == "Yes."
    assert server.requests[2].body.keys() == {"model", "messages", "temperature"}
    server.always = "small window"
    assert "is too large" in failure(server) and len(server.requests) == 6


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("<think>Is it?\n\nHm.</think>\n\nYes.", "Yes."),
        ("Hm, the template opened it.</think>Yes.", "Yes."),
        ("Yes.<think>Or is", "Yes."),
        ("<THINK>a</THINK>Yes<thinking>b</thinking>.", "Yes."),
        ("<think></think>Yes.", "Yes."),
        ({"content": "Yes.", "reasoning_content": "Is it?"}, "Yes."),
        ({"content": [{"type": "text", "text": "Ye"}, {"type": "image"}, {"type": "text", "text": "s."}]}, "Yes."),
    ],
)
def test_an_answer_is_without_thinking(server: Server, said: Any, answer: str) -> None:
    assert asked(server, said) == answer


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("", "sent an empty answer"),
        ("<think>Is it?</think>", "sent an empty answer"),
        ({"content": None, "reasoning_content": "Is it?"}, "sent an empty answer"),
        ({"content": "<think>Is it", "finish_reason": "length"}, "spent all of 4,096 tokens on thinking"),
    ],
)
def test_an_answer_without_words_is_none(server: Server, said: Any, words: str) -> None:
    assert words in failure(server, said)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("no choices", "sent no answer of a chat model"),
        ("no message", "sent no answer of a chat model"),
        ("a list", "sent no answer of a chat model"),
        ("html", "answered with HTML"),
        ("no json", "sent no JSON but 'OK'"),
        ("401", "answered 401: injected; name the variable that holds its key: ragx config set expansion.api_key_env"),
        ("404", f"answered 404: model not found; it has '{CHAT}'"),
        ("400 too long", "exceeds the context length; ask for less"),
        ("500", "answered 500: injected; look at the server, then run the command again"),
        ("endless", "sent more than"),
        ("redirect", "a redirect to"),
    ],
)
def test_each_fault_says_in_one_line_which_server_what_and_what_to_do(server: Server, fault: str, words: str) -> None:
    server.always = fault
    line = failure(server)
    assert words in line and server.url in line
    assert len(server.requests) == (http.TRIES if fault == "500" else 1)


def test_a_model_that_needs_too_long_is_not_asked_again(server: Server) -> None:
    # With 300 s a try and four tries, a query would have hung for twenty minutes.
    server.always = "hang"
    started = time.monotonic()
    assert "ragx config set expansion.timeout 0.6" in failure(server, timeout=0.3)
    assert time.monotonic() - started < 5 and len(server.requests) == 1


def test_nothing_is_asked_where_no_model_is_named(server: Server) -> None:
    assert failure(server, model="") == "no chat model is set up; ragx config set expansion.model NAME"
    assert server.requests == []


def test_a_key_is_sent_and_never_told(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINE", "sk-secret")
    asked(server, api_key_env="MINE")
    assert server.requests[0].headers["Authorization"] == "Bearer sk-secret"
    server.always = "401 echo"
    line = failure(server, api_key_env="MINE")
    assert "sk-secret" not in line and "***" in line


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ('Sure!\n```json\n{"a": ["b"]}\n```\nAnything else?', {"a": ["b"]}),
        ('As [1] says {braces}: {"a": 1}', {"a": 1}),
        ('["a", "b"]', ["a", "b"]),
        ('[{"q": "a"}, {"q": "b"}]', [{"q": "a"}, {"q": "b"}]),
        ('{"a": ["b", "c', None),
        ("no JSON", None),
        ("[" * 100_000, None),
        ("[]", None),
    ],
)
def test_json_is_found_among_other_words(text: str, value: Any) -> None:
    assert json_in(text) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ('  "How are\n dumps made?" ', "How are dumps made?"),
        ("**bold**", "bold"),
        ("red \x1b[31m and \u202eback\x07", "red [31m and back"),
        ("<html><body>a</body></html>", ""),
        ("?!", ""),
        (None, ""),
        (3, ""),
        ("\ud800 lone", "lone"),
        ("many words here", "many..."),
    ],
)
def test_an_answer_becomes_plain_text(value: Any, text: str) -> None:
    assert plain(value, 19 if value != "many words here" else 10) == text


def test_lists_are_read_whatever_their_marks() -> None:
    text = "Here they are:\n1. one\n2) two\n- three\n* four\n(5) five\nWhat is six?\nThat is all."
    assert [*listed(text)] == ["one", "two", "three", "four", "five", "What is six?"]


@given(st.text(st.sampled_from("<>/think{}[]\"' \n,:a1"), max_size=200))
def test_no_answer_is_an_error(text: str) -> None:
    assert "<think>" not in without_thinking(text)
    json_in(text)
    for item in listed(text):
        assert len(plain(item, 20)) <= 20


def test_an_answer_full_of_signs_is_read_in_no_time() -> None:
    # A pattern that looks for the end of each start takes the square of the length.
    started = time.monotonic()
    for text in ("<think>" * 100_000, "</think>" * 100_000, "{" * 500_000, '["' * 200_000, "[1," * 200_000):
        json_in(without_thinking(text))
    assert time.monotonic() - started < 5
