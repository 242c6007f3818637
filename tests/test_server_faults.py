"""Indexing and asking with a server that fails: one line, exit 2, nothing lost or mixed, nothing paid for twice."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragx.cli import run
from ragx.config import load
from ragx.errors import ConfigError, ModelError
from ragx.models import http
from ragx.models.served import PROBE
from ragx.search import Options, Searcher
from ragx.store import open_index
from tests.corpora import Silent, ask, build, corpus, dump, index_elsewhere, write
from tests.misbehaving import MODEL, Server

WORDS = (
    "apples", "bees", "bicycles", "bread", "candles", "chimneys", "clocks", "compost", "cradles", "ferries", "fires",
    "garlic", "hedges", "ladders", "letters", "mills", "pianos", "roofs", "salt", "sheep", "snow", "violins", "wells",
    "yeast",
)  # fmt: skip
NOTES: dict[str, str | bytes] = {f"{word}.md": f"# {word}\n\nEverything about {word}.\n" for word in WORDS}
Rows = dict[str, list[tuple[object, ...]]]


@pytest.fixture(autouse=True)
def quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "BACKOFF_SECONDS", 0.01)
    monkeypatch.setattr(http, "MOST_SECONDS", 0.05)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "RAGX_DIR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        yield server


@pytest.fixture(scope="module")
def without_faults(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    """The index of the notes, but for what tells one copy of a file from another."""
    root = corpus(tmp_path_factory.mktemp("without") / "corpus", NOTES)
    write(root, {"ragx.toml": ""})
    rows = undisturbed(root)
    del rows["files"]
    return rows


@pytest.fixture
def root(tmp_path: Path, server: Server) -> Path:
    root = corpus(tmp_path / "corpus", NOTES)
    configure(root, server)
    return root


def configure(root: Path, server: Server, timeout: float = 60) -> None:
    """Where nothing hangs, the time is so long that no pause of the machine is taken for a fault."""
    write(root, {"ragx.toml": f'[embeddings]\nprovider = "openai"\nmodel = "{MODEL}"\nbase_url = "{server.url}"\n'
                 f'batch_size = 5\nconcurrency = 1\ntimeout = {timeout}\nquery_prefix = "q: "\n'})  # fmt: skip


def undisturbed(root: Path, weights: str = "") -> Rows:
    """The index that a server without faults gives to the same files."""
    settings = (root / "ragx.toml").read_text()
    with Server(weights=weights) as well, index_elsewhere(root.parent / "undisturbed"):
        configure(root, well)
        build(root)
        rows = dump(root)
    write(root, {"ragx.toml": settings})
    return rows


def index_fails(root: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What `ragx index` says when it fails."""
    capsys.readouterr()
    before = os.getcwd()
    try:
        assert run(["index", "-q", "-C", str(root)]) == 2
    finally:
        os.chdir(before)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1 and err.startswith("ragx: ") and "Traceback" not in err
    return err


FOR_GOOD = (
    "400 too long", "401", "403", "404", "429", "429 wait a day", "500", "502 html", "503", "redirect", "html",
    "html as json", "no json", "nothing", "error with 200", "no data", "data is null", "half", "one too many",
    "index twice", "half the dimension", "nan", "infinity", "null", "all null", "text", "zero", "close", "hang",
    "drip", "endless",
)  # fmt: skip


@pytest.mark.parametrize("fault", FOR_GOOD)
def test_a_run_that_a_fault_ends_keeps_what_was_embedded_and_the_next_does_the_rest(
    root: Path, server: Server, without_faults: Rows, capsys: pytest.CaptureFixture[str], fault: str
) -> None:
    if fault in ("hang", "drip"):
        configure(root, server, timeout=2)
    # The model is asked who it is, two batches arrive, the third does not.
    server.plan, server.always = ["", "", ""], fault
    line = index_fails(root, capsys)
    assert server.url in line and (";" in line)
    assert not (root / ".ragx/index.duckdb").exists()
    paid = [text for request in server.requests[1:3] for text in request.texts]
    assert len(set(paid)) == 10

    server.always = ""
    server.requests.clear()
    report = build(root)
    assert server.texts[0] == PROBE
    assert not set(paid) & set(server.texts)
    assert len(set(server.texts)) == len(server.texts) == 1 + len(NOTES) - 10 + len(NOTES)
    assert report.texts_embedded == len(server.texts) - 1
    assert dump(root) | {"files": []} == without_faults | {"files": []}


@pytest.mark.parametrize("fault", ["429", "500", "503", "close", "429 wait 1 s", "shuffled", "without index"])
def test_a_fault_that_passes_changes_nothing(root: Path, server: Server, without_faults: Rows, fault: str) -> None:
    server.plan = ["", fault, "", "", fault, fault]
    build(root)
    assert dump(root) | {"files": []} == without_faults | {"files": []}


def test_a_server_that_dies_half_way_loses_nothing(
    root: Path, server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    server.plan = ["", "", "", "die"]
    assert f"nothing listens at {server.url}" in index_fails(root, capsys)
    assert f"nothing listens at {server.url}" in index_fails(root, capsys)
    server.start()
    server.requests.clear()
    build(root)
    assert len(server.texts) == 1 + len(NOTES) - 10 + len(NOTES)
    assert dump(root) == undisturbed(root)


def test_a_server_that_dies_amid_the_sub_chunks_loses_none_of_them(
    root: Path, server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    sections = "".join(f"The {word} is fed at {hour}. " for hour in range(6, 15) for word in ("hen", "cow", "owl"))
    write(root, {"long.md": f"# Feeding\n\n{sections}\n"})
    settings = (root / "ragx.toml").read_text() + '[graph]\nedge_source = "subchunk"\nsubchunk_size_tokens = 16\n'
    write(root, {"ragx.toml": settings})
    chunks = len(NOTES) + 1
    # Chunks and their own sentences come first; of the sub-chunks one batch arrives.
    answered = 1 + 2 * -(-chunks // 5) + 1
    server.plan = [*[""] * answered, "die"]
    assert f"nothing listens at {server.url}" in index_fails(root, capsys)
    paid = set(server.requests[answered - 1].texts)
    server.start()
    server.requests.clear()
    report = build(root)
    assert len(paid) == 5 and report.texts_embedded and not paid & set(server.texts)
    rows = dump(root)
    assert sum(row[2].startswith("The ") for row in rows["subchunks"]) > 2
    build(root, full=True)
    assert dump(root) == rows


def test_several_requests_at_once_give_the_same_index(root: Path, server: Server) -> None:
    rows = undisturbed(root)
    delays = iter([0.03, 0.0, 0.02, 0.0, 0.01] * 10)
    server.delays = lambda: next(delays)
    (root / "ragx.toml").write_text((root / "ragx.toml").read_text().replace("concurrency = 1", "concurrency = 3"))
    build(root)
    assert server.most_at_once == 3
    assert dump(root) == rows


def test_a_fault_in_an_incremental_run_leaves_the_old_index_and_keeps_the_new_vectors(
    root: Path, server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    build(root)
    before = dump(root)
    new: dict[str, str | bytes] = {f"new{n}.md": f"# New {n}\n\nThe number {n} is new here.\n" for n in range(12)}
    write(root, new)
    server.requests.clear()
    server.plan, server.always = ["", ""], "500"
    index_fails(root, capsys)
    assert dump(root) == before
    assert server.texts[0] == PROBE
    paid = [text for request in server.requests[:2] for text in request.texts if text != PROBE]
    assert len(paid) == 9
    server.always = ""
    server.requests.clear()
    build(root)
    assert not set(paid) & set(server.texts)
    assert dump(root) == undisturbed(root)


# Who needs no server


def test_a_run_that_embeds_nothing_makes_no_request(root: Path, server: Server) -> None:
    build(root)
    server.requests.clear()
    server.stop()
    assert not build(root).changed
    (root / "yeast.md").rename(root / "moved.md")
    (root / "bees.md").unlink()
    os.utime(root / "salt.md", ns=(0, 0))
    report = build(root)
    assert (report.changed, report.files.removed, report.texts_embedded) == (True, ("bees.md", "yeast.md"), 0)
    assert server.requests == []
    assert dump(root) == undisturbed(root)


def test_a_key_that_is_not_set_stops_only_a_run_that_embeds(
    root: Path, server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build(root)
    (tmp_path / ".ragxrc").write_text(f'[embeddings]\napi_key_env = "NOT_SET"\nbase_url = "{server.url}"\n')
    (root / "bees.md").unlink()
    assert build(root).changed
    write(root, {"more.md": "More than before.\n"})
    assert "names the environment variable NOT_SET, which is not set" in index_fails(root, capsys)


# Other weights under the same name


def test_other_weights_are_refused_and_nothing_is_mixed(
    root: Path, server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    build(root)
    before = dump(root)
    write(root, {"more.md": "More than before.\n"})
    server.weights = "other"
    server.requests.clear()
    line = index_fails(root, capsys)
    assert line == (
        f"ragx: the server's {MODEL} is not the model that the index was built with: its vectors are others; "
        "run: ragx index --full\n"
    )
    assert len(server.requests) == 1
    assert dump(root) == before
    build(root, full=True)
    assert dump(root) == undisturbed(root, weights="other")


def test_another_dimension_is_refused_whatever_the_name(
    root: Path, server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    build(root)
    write(root, {"more.md": "More than before.\n"})
    server.dimension = 8
    assert "sent a vector of 8 dimensions instead of 16" in index_fails(root, capsys)
    build(root, full=True)
    server.requests.clear()
    assert len(ask(root, "apples").hits) > 0
    assert server.texts == ["q: apples"]


def test_vectors_of_an_interrupted_run_are_not_taken_by_other_weights(
    root: Path, server: Server, capsys: pytest.CaptureFixture[str]
) -> None:
    server.plan, server.always = ["", "", ""], "500"
    index_fails(root, capsys)
    server.weights, server.always = "other", ""
    server.requests.clear()
    assert build(root).texts_embedded == 2 * len(NOTES)
    assert dump(root) == undisturbed(root, weights="other")


def test_a_full_build_embeds_everything_anew_under_the_same_ids_and_keeps_vectors_on_request(
    root: Path, server: Server
) -> None:
    build(root)
    before = dump(root)
    assert build(root, full=True).texts_embedded == 2 * len(NOTES)
    assert dump(root) == before
    server.requests.clear()
    assert build(root, full=True, keep_vectors=True).texts_embedded == 0
    assert server.texts == [PROBE]
    assert dump(root) == before


def test_an_interrupted_full_build_goes_on(root: Path, server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    build(root)
    server.plan, server.always = ["", "", ""], "500"
    with pytest.raises(ModelError):
        build(root, full=True)
    server.always = ""
    server.requests.clear()
    assert build(root, full=True).texts_embedded == 2 * len(NOTES) - 10
    assert dump(root) == undisturbed(root)


# Asking


@pytest.mark.parametrize("fault", ["not there", "401", "500", "half the dimension", "nan", "html", "hang", "404"])
def test_a_query_goes_on_without_vectors_and_says_so(root: Path, server: Server, fault: str) -> None:
    build(root)
    server.requests.clear()
    if fault == "not there":
        server.stop()
    server.always = fault
    if fault == "hang":
        configure(root, server, timeout=0.3)
    said = Silent()
    config = load(root).config
    with open_index(root / ".ragx") as store:
        answer = Searcher(store, config, said.warn).search("everything about violins", Options(rerank=False))
    assert answer.hits[0].file == "violins.md"
    (stage,) = [stage for stage in answer.stages if stage.name == "vector"]
    assert not stage.ran
    assert [warning for warning in said.warnings if warning.startswith("vector skipped: ")] != []
    assert "q: everything about violins" in {*server.texts, "q: everything about violins" * (fault == "not there")}


def test_a_query_with_a_server_is_one_request(root: Path, server: Server) -> None:
    build(root)
    server.requests.clear()
    assert ask(root, "violins").stages[1].ran
    assert server.texts == ["q: violins"]


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        (("openai", "onnx"), "embeddings.provider is onnx, but the index was built with openai"),
        ((MODEL, "other-model"), "embeddings.model is other-model, but the index was built with test-embed"),
        (("q: ", "query: "), "embeddings.query_prefix is query: , but the index was built with q: "),
    ],
)
def test_a_query_never_mixes_models(root: Path, server: Server, setting: tuple[str, str], words: str) -> None:
    build(root)
    server.requests.clear()
    settings = (root / "ragx.toml").read_text().replace(*setting)
    if setting[1] == "onnx":
        settings = settings.replace(MODEL, "bge-small-en-v1.5")
    write(root, {"ragx.toml": settings})
    with pytest.raises(ConfigError, match=words):
        ask(root, "violins")
    assert server.requests == []
