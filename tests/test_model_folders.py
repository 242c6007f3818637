"""Models in a folder: tiny graphs that do what real ones seldom do, encoded by hand (numbers are onnx.proto3's)."""

import json
import struct
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, models, pre_tokenizers

from ragx.config.settings import Embeddings, Rerank
from ragx.errors import ModelError
from ragx.models import load_embedder, load_reranker, reranker_row


def one_line(caught: pytest.ExceptionInfo[ModelError]) -> str:
    text = f"{caught.value.message}: {caught.value.hint}"
    assert "\n" not in text
    assert caught.value.hint
    return text


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
    (folder / "sentence_bert_config.json").write_text("[" * 100_000)
    with pytest.raises(ModelError, match="nested too deep"):
        load_embedder(Embeddings(model=str(folder)))


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
    assert reranker_row(Rerank(model=str(folder))).pair_tokens == 512
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
