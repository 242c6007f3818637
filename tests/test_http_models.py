"""Embedding models behind a server: which requests are made, and what is believed of the answers."""

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from itertools import chain, cycle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragx.config.settings import Embeddings, Origin
from ragx.errors import IndexUnusable, ModelError, RagxError
from ragx.models import http, load_embedder, served
from ragx.models.catalogue import SERVED, served_row
from ragx.models.estimate import EstimatedCounter
from ragx.models.vectors import Refused, parse, vectors_in
from ragx.types import Embedder
from tests.misbehaving import DIMENSION, MODEL, Server, vector

TEXTS = [f"text {number}" for number in range(20)]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "BACKOFF_SECONDS", 0.01)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        yield server


def settings(server: Server, **changed: Any) -> Embeddings:
    values = {"provider": "openai", "model": MODEL, "base_url": server.url, "batch_size": 4, "timeout": 60.0}
    return Embeddings(**(values | changed))


def identity(embedder: Embedder) -> dict[str, Any]:
    return {"fingerprint": embedder.fingerprint, "dimension": embedder.dimension, "probe": list(embedder.probe)}


def known(server: Server, **changed: Any) -> Embedder:
    """The server's model as a query uses it: its identity is known, and nothing has been asked yet."""
    built = {"fingerprint": f"served:{MODEL}:0", "dimension": DIMENSION, "probe": unit(vector(served.PROBE)).tolist()}
    return load_embedder(settings(server, **changed), built=built, prove=False)


def unit(values: list[float]) -> Any:
    return (np.array(values) / np.linalg.norm(values)).astype(np.float32)


def expected(texts: list[str]) -> list[bytes]:
    return [unit(vector(text)).tobytes() for text in texts]


def embedded(embedder: Embedder, texts: list[str]) -> list[bytes]:
    return [vector.tobytes() for vector in embedder.embed(texts)]


def failure(embedder: Embedder, texts: list[str] = TEXTS) -> str:
    with pytest.raises(ModelError) as caught:
        list(embedder.embed(texts))
    line = f"{caught.value.message}; {caught.value.hint}"
    assert "\n" not in line
    assert caught.value.hint
    return line


# Requests


def test_order_is_kept_under_random_delays_with_few_requests_at_once(server: Server) -> None:
    delays = cycle([0.03, 0.0, 0.01, 0.02, 0.005])
    server.delays = lambda: next(delays)
    texts = [f"text {number}" for number in range(101)]
    assert embedded(known(server, concurrency=3), texts) == expected(texts)
    assert server.most_at_once == 3
    assert sorted(len(request.texts) for request in server.requests) == [1] + [4] * 25
    assert sorted(server.texts) == sorted(texts)


def test_what_is_sent_is_what_the_protocol_says(server: Server) -> None:
    list(known(server).embed(["a\n", "日本 \ud800"]))
    (request,) = server.requests
    assert request.path == "/v1/embeddings"
    assert request.body == {"model": MODEL, "input": ["a\n", "日本 ?"], "encoding_format": "float"}
    assert request.headers["Content-Type"] == "application/json"
    assert "Authorization" not in request.headers


def test_reading_ahead_is_bounded(server: Server) -> None:
    taken = []
    texts = (taken.append(number) or f"text {number}" for number in range(10_000))
    vectors = known(server, concurrency=2).embed(texts)
    next(vectors)
    assert len(taken) <= 4 * 2 * 2 + 4
    vectors.close()


def test_a_query_is_one_request_and_none_before_it(server: Server) -> None:
    embedder = known(server)
    assert (embedder.dimension, embedder.model, embedder.languages) == (DIMENSION, MODEL, frozenset())
    assert list(embedder.embed([])) == []
    assert server.requests == []
    assert embedded(embedder, ["why?"]) == expected(["why?"])
    assert server.texts == ["why?"]


def test_vectors_are_of_unit_length(server: Server) -> None:
    for found in known(server).embed(TEXTS):
        assert found.dtype == np.float32
        assert abs(float(np.linalg.norm(found.astype(np.float64))) - 1) < 1e-6


def test_an_interrupted_run_does_not_wait_for_a_server_that_hangs(server: Server) -> None:
    server.plan = ["", "hang"]
    vectors = known(server, timeout=20.0, concurrency=2).embed(TEXTS)
    next(vectors)
    begin = time.monotonic()
    vectors.close()
    assert time.monotonic() - begin < 10
    assert all(thread.daemon for thread in threading.enumerate() if thread.name == "ragx-http")


def test_only_served_models_load_an_http_client() -> None:
    script = (
        "import sys; from ragx.config.settings import Embeddings; from ragx.models import load_embedder;"
        "load_embedder(Embeddings()); print('httpx' in sys.modules);"
        "load_embedder(Embeddings(provider='ollama', model='m'), built={'dimension': 1, 'fingerprint': ''});"
        "print('httpx' in sys.modules, 'tokenizers' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("False\nTrue True\n", "")


# A model is known by its vector of one text


def test_a_new_model_is_asked_once_who_it_is(server: Server) -> None:
    embedder = load_embedder(settings(server))
    assert server.texts == [served.PROBE]
    assert (embedder.dimension, len(embedder.probe)) == (DIMENSION, DIMENSION)
    assert embedder.fingerprint.startswith(f"served:{MODEL}:")
    assert load_embedder(settings(server)).fingerprint == embedder.fingerprint
    server.weights = "other"
    assert load_embedder(settings(server)).fingerprint != embedder.fingerprint


def test_a_known_model_is_proven_in_the_first_request_and_only_there(server: Server) -> None:
    built = identity(load_embedder(settings(server)))
    server.requests.clear()
    embedder = load_embedder(settings(server), built=built)
    assert embedder.fingerprint == built["fingerprint"]
    assert list(embedder.embed([])) == []
    assert server.requests == []
    assert embedded(embedder, TEXTS) == expected(TEXTS)
    assert embedded(embedder, TEXTS) == expected(TEXTS)
    assert server.requests[0].texts == [served.PROBE, *TEXTS[:3]]
    assert server.texts.count(served.PROBE) == 1
    assert max(len(request.texts) for request in server.requests) == 4


def test_one_text_a_request_can_be_proven_too(server: Server) -> None:
    built = identity(load_embedder(settings(server)))
    server.requests.clear()
    assert embedded(load_embedder(settings(server, batch_size=1), built=built), TEXTS) == expected(TEXTS)
    assert server.texts[:2] == [served.PROBE, TEXTS[0]]
    assert len(server.requests) == 21


def test_other_weights_under_the_same_name_are_refused_before_more_is_paid_for(server: Server) -> None:
    built = identity(load_embedder(settings(server)))
    server.requests.clear()
    server.weights = "other"
    with pytest.raises(IndexUnusable, match="is not the model that the index was built with") as caught:
        list(load_embedder(settings(server), built=built).embed(TEXTS))
    assert caught.value.hint == "ragx index --full"
    assert len(server.requests) == 1


def test_a_model_whose_last_digits_drift_keeps_its_fingerprint(server: Server) -> None:
    first = load_embedder(settings(server))
    drifted = identity(first) | {"fingerprint": f"served:{MODEL}:earlier"}
    drifted["probe"] = [value + 0.005 * (-1) ** place for place, value in enumerate(first.probe)]
    strangers = [
        {"fingerprint": "onnx:cls:0:0", "dimension": 384},
        {"fingerprint": "served:another:0", "dimension": DIMENSION, "probe": list(first.probe)},
        {"fingerprint": f"served:{MODEL}:shorter", "dimension": 2, "probe": [0.6, 0.8]},
    ]
    assert load_embedder(settings(server), seen=lambda: strangers).fingerprint == first.fingerprint
    assert load_embedder(settings(server), seen=lambda: [*strangers, drifted]).fingerprint.endswith(":earlier")
    assert len(list(load_embedder(settings(server), built=drifted).embed(TEXTS))) == 20


def test_an_index_of_another_model_is_no_index_of_this_one(server: Server) -> None:
    built = {"fingerprint": "onnx:cls:0:0", "dimension": 384, "probe": []}
    assert load_embedder(settings(server), built=built).fingerprint == f"served:{MODEL}:"
    assert server.requests == []


# Faults that pass, and faults that stay


@pytest.mark.parametrize("fault", ["500", "502 html", "503", "429", "close", "nothing there"])
def test_a_fault_that_passes_is_waited_out(server: Server, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    embedder = load_embedder(settings(server), announce=said.append)
    if fault == "nothing there":
        server.stop()
        monkeypatch.setattr(http, "BACKOFF_SECONDS", 0.3)
        threading.Timer(0.02, server.start).start()
    else:
        server.plan = [fault, "", fault, fault]
    assert embedded(embedder, TEXTS) == expected(TEXTS)
    assert len(said) == 1
    assert server.url in said[0] and said[0].endswith(": trying again")


@pytest.mark.parametrize(("fault", "least"), [("429 wait 1 s", 1.0), ("429 date", 0.9)])
def test_a_server_that_says_when_to_come_back_is_left_alone_till_then(server: Server, fault: str, least: float) -> None:
    server.plan = [fault]
    begin = time.monotonic()
    assert embedded(known(server), ["a"]) == expected(["a"])
    assert least <= time.monotonic() - begin < 30


def test_no_server_is_waited_for_longer_than_a_limit(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MOST_SECONDS", 0.05)
    server.always = "429 wait a day"
    begin = time.monotonic()
    assert failure(known(server), ["a"]).startswith(f"{server.url} answered 429: injected; try again later")
    assert (len(server.requests), time.monotonic() - begin < 30) == (4, True)


@pytest.mark.parametrize("fault", ["429", "500", "503", "close"])
def test_four_tries_are_enough(server: Server, fault: str) -> None:
    server.always = fault
    failure(known(server), ["a"])
    assert len(server.requests) == 4


@pytest.mark.parametrize(
    "fault", ["400 too long", "500 too long", "401", "403", "404", "redirect", "html", "nan", "half"]
)
def test_what_waiting_does_not_mend_is_not_tried_again(server: Server, fault: str) -> None:
    server.always = fault
    failure(known(server), ["a", "b"])
    assert len(server.requests) == 1


LINES = {
    "400 too long": "URL answered 400: the input length exceeds the context length; a smaller chunking.size_tokens: "
    "ragx config set chunking.size_tokens 256, then ragx index --full",
    "500 too long": "URL answered 500: input is too large to process, increase the physical batch size; a smaller "
    "chunking.size_tokens: ragx config set chunking.size_tokens 256, then ragx index --full",
    "401": "URL answered 401: injected; name the variable that holds its key: "
    "ragx config set embeddings.api_key_env NAME",
    "429": "URL answered 429: injected; try again later, or ask more slowly: ragx config set embeddings.concurrency 1",
    "500": "URL answered 500: injected; look at the server, then run the command again: what was embedded is kept",
    "502 html": "URL answered 502; look at the server, then run the command again: what was embedded is kept",
    "redirect": "URL answered 307, a redirect to http://127.0.0.1:9/v1, which is not followed; if that is the server: "
    "ragx config set embeddings.base_url http://127.0.0.1:9/v1",
    "html": "URL answered with HTML, is this an OpenAI-compatible base_url?; it usually ends in /v1: "
    "ragx config set embeddings.base_url URL",
    "html as json": "URL answered with HTML, is this an OpenAI-compatible base_url?; it usually ends in /v1: "
    "ragx config set embeddings.base_url URL",
    "no json": "URL sent no JSON but 'OK'; ANSWER",
    "nothing": "URL sent an empty answer; ANSWER",
    "error with 200": "URL answered 200: no model is loaded; look at the server, then run the command again: "
    "what was embedded is kept",
    "no data": "URL sent 0 vectors for 4 texts; ANSWER",
    "data is null": "URL sent no list of vectors; ANSWER",
    "half": "URL sent 2 vectors for 4 texts; ANSWER",
    "one too many": "URL sent 5 vectors for 4 texts; ANSWER",
    "index twice": "URL sent vectors without saying which text each belongs to; ANSWER",
    "half the dimension": "URL sent a vector of 8 dimensions instead of 16; ANSWER",
    "nan": "URL sent a vector with a number that is not finite; ANSWER",
    "infinity": "URL sent a vector with a number that is not finite; ANSWER",
    "null": "URL sent a vector with something else than numbers in it; ANSWER",
    "all null": "URL sent an entry without a vector; ANSWER",
    "text": "URL sent a vector with something else than numbers in it; ANSWER",
    "zero": "URL sent a vector of zeros; ANSWER",
    "endless": "URL sent more than 2,097,152 bytes; ANSWER",
}


@pytest.mark.parametrize("fault", LINES)
def test_each_fault_says_in_one_line_which_server_what_and_what_to_run(server: Server, fault: str) -> None:
    server.always = fault
    line = LINES[fault].replace("ANSWER", "nothing of that answer was stored; look at the server and its model")
    found = failure(known(server))
    assert found.replace(server.url, "URL") == line


def test_a_server_that_hangs_drips_or_breaks_off_is_given_up(server: Server) -> None:
    for fault, words in (
        ("hang", "did not answer within 0.2 seconds; look at the server, or give it longer: ragx config set "),
        ("drip", "did not answer within 0.2 seconds; look at the server, or give it longer: ragx config set "),
        ("close", "broke off the connection; look at the server"),
    ):
        server.always = fault
        assert failure(known(server, timeout=0.2), ["a"]).startswith(f"{server.url} {words}")


def test_a_server_that_is_not_there_is_not_waited_for(server: Server) -> None:
    server.stop()
    begin = time.monotonic()
    start = f"nothing listens at {server.url}; start "
    assert failure(known(server)) == f"{start}the server or run: ragx config set embeddings.provider onnx"
    assert failure(known(server, provider="ollama")).startswith(f"{start}it: ollama serve or run: ")
    assert time.monotonic() - begin < 10
    assert "cannot be reached" in failure(known(server, base_url="http://no-such-host.invalid/v1"), ["a"])


def test_an_unknown_model_is_answered_with_those_that_the_server_has(server: Server) -> None:
    server.always = "404"
    assert failure(known(server, model="mine"), ["a"]) == (
        f"{server.url} has no model 'mine'; it has chat-model, {MODEL}; ragx config set embeddings.model {MODEL}"
    )
    assert "; ollama pull mine, or: ragx config set" in failure(known(server, provider="ollama", model="mine"), ["a"])
    server.models = ()
    assert failure(known(server, model="mine"), ["a"]) == (
        f"{server.url} answered 404: model not found; see {server.url}/models, then: "
        "ragx config set embeddings.model NAME"
    )
    base = server.url.removesuffix("/v1")
    assert "base_url usually ends in /v1" in failure(known(server, base_url=base), ["a"])


def test_what_arrived_before_a_failure_is_given_first(server: Server) -> None:
    server.plan, server.always = ["", "", ""], "half"
    found = []
    with pytest.raises(ModelError, match="sent 2 vectors for 4 texts"):
        for vector in known(server, concurrency=1).embed(TEXTS):
            found.append(vector.tobytes())
    assert found == expected(TEXTS)[:12]


def test_each_vector_belongs_to_its_text_whatever_the_order_of_the_answer(server: Server) -> None:
    server.always = "shuffled"
    assert embedded(known(server), TEXTS) == expected(TEXTS)
    server.always = "without index"
    assert embedded(known(server), TEXTS) == expected(TEXTS)


# Keys


def test_a_key_is_sent_and_never_told(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "  sk-secret-1234 \n")
    embedder = known(server)
    list(embedder.embed(["a"]))
    assert server.requests[0].headers["Authorization"] == "Bearer sk-secret-1234"
    server.always = "401 echo"
    line = failure(embedder, ["a"])
    assert line == f"{server.url} answered 401: bad key Bearer ***; is OPENAI_API_KEY the key of this server?"
    assert "secret" not in repr(vars(embedder)) + repr(vars(embedder._api()))  # type: ignore[attr-defined]


@pytest.mark.parametrize("key", ["sk-secret\nX-Header: 1", "sk-secret\x00", "sk-sécret"])
def test_a_key_that_no_header_can_carry_is_not_shown(server: Server, monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setattr("os.environ", {"OPENAI_API_KEY": key})
    with pytest.raises(RagxError) as caught:
        list(known(server).embed(["a"]))
    assert caught.value.message == "the environment variable OPENAI_API_KEY holds characters that no key has"
    assert server.requests == []


def test_a_key_that_was_kept_back_is_mentioned_where_the_server_wants_one(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    server.always = "401"
    origin = Origin(frozenset({"base_url"}), frozenset({"base_url"}))
    assert failure(known(server, origin=origin), ["a"]) == (
        f"{server.url} answered 401: injected; OPENAI_API_KEY was not sent, since only ragx.toml names this server; "
        f"if you trust it: ragx config set embeddings.base_url {server.url}"
    )
    assert "Authorization" not in server.requests[0].headers


# What is known of a model by its name


def test_prefixes_follow_the_name_unless_they_are_set(server: Server) -> None:
    def prefixes(model: str, **changed: Any) -> tuple[str, str]:
        embedder = known(server, model=model, **changed)
        return embedder.doc_prefix, embedder.query_prefix

    assert prefixes("text-embedding-nomic-embed-text-v1.5") == ("search_document: ", "search_query: ")
    assert prefixes("intfloat/multilingual-E5-small") == ("passage: ", "query: ")
    assert prefixes("text-embedding-3-small") == ("", "")
    assert prefixes("nomic-embed-text", doc_prefix="", query_prefix="q: ") == ("", "q: ")


def test_every_name_has_a_row() -> None:
    assert served_row("anything").window == 8192
    assert served_row("BGE-M3").window == 8192
    assert served_row("bge-small-en-v1.5").window == 512
    assert served_row("nomic-embed-text:v1.5").window == 2048
    assert [row.part for row in SERVED if row.part != row.part.lower()] == []


# Answers


def test_a_number_too_large_for_a_float_is_refused() -> None:
    with pytest.raises(Refused, match="too large"):
        vectors_in({"data": [{"embedding": [10**400, 1]}]}, 1, None)


@pytest.mark.parametrize("size", [1e-200, 1e-160, 1.0, 1e160, 1e300])
def test_a_vector_of_any_finite_length_has_its_direction(size: float) -> None:
    # Squares that overflow or vanish made it none, or one of another length than 1.
    (vector,) = vectors_in({"data": [{"embedding": [3 * size, -4 * size]}]}, 1, None)
    assert vector.tolist() == [np.float32(0.6), np.float32(-0.8)]


@pytest.mark.parametrize("content", [b"", b"\xff", b"[" * 100_000, b"1" * 10_000, b"{", b"NaN,"])
def test_what_is_no_json_is_refused(content: bytes) -> None:
    with pytest.raises(Refused):
        parse(content)


# Tokens


def test_tokens_are_estimated_rather_too_high_than_too_low() -> None:
    counter = EstimatedCounter()
    prose = "Every night the server copies its disks to the vault, and a restored disk is checked against its sums."
    assert 3 < len(prose) / counter.count(prose) < 4
    assert counter.count("検索エンジンは文書を探す。") == 13
    assert counter.starts("the vault, 12345 été").tolist() == [0, 4, 8, 9, 11, 14, 17]


@given(st.text(st.characters(exclude_categories=("Cs",))), st.integers(0, 20))
def test_the_estimate_agrees_with_itself(text: str, most: int) -> None:
    counter = EstimatedCounter()
    starts = counter.starts(text).tolist()
    assert len(starts) == counter.count(text) == len(set(starts))
    assert starts == sorted(starts)
    clipped = counter.clip(text, most)
    assert text.startswith(clipped)
    assert counter.count(clipped) == min(most, len(starts))


def test_threads_share_the_work_and_errors_keep_their_place() -> None:
    def slow(number: int) -> int:
        time.sleep(0.002 * (number % 3))
        if number == 7:
            raise ModelError("seven")
        return -number

    results = served.in_order(slow, range(100), 3)
    assert [next(results) for _ in range(7)] == [-number for number in range(7)]
    with pytest.raises(ModelError, match="seven"):
        next(results)
    assert list(chain(served.in_order(slow, [], 3), served.in_order(slow, [1], 3))) == [-1]
