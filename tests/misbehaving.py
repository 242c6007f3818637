"""An OpenAI-compatible server of embeddings and chat that fails as real ones do, one fault a request, as it is told."""

import hashlib
import json
import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

DIMENSION = 16
MODEL = "test-embed"
CHAT = "chat-model"
HTML = b"<!DOCTYPE html><html><body>Hello</body></html>"


def vector(text: str, weights: str = "", dimension: int = DIMENSION) -> list[float]:
    """What the model with these weights says to the text; not of unit length."""
    digest = hashlib.shake_256(f"{weights}|{text}".encode()).digest(2 * dimension)
    return [(int.from_bytes(digest[2 * i : 2 * i + 2], "big") - 32768) / 8192 for i in range(dimension)]


@dataclass(frozen=True)
class Request:
    """What a client sent."""

    path: str
    headers: dict[str, str]
    texts: list[str]
    body: dict[str, Any]


def silent(task: str, text: str) -> str:
    """A chat model that has nothing to say."""
    return ""


@dataclass
class Server:
    """Answers well, but for `plan`, the names of faults by request ("" for none), and `always` after that."""

    plan: list[str] = field(default_factory=list)
    always: str = ""
    weights: str = ""
    dimension: int = DIMENSION
    models: tuple[str, ...] = (CHAT, MODEL)
    says: Callable[[str, str], Any] = silent
    """What the chat model answers to a task and a text: its content, or the whole message."""
    delays: Callable[[], float] = lambda: 0.0
    requests: list[Request] = field(default_factory=list)
    most_at_once: int = 0

    def __post_init__(self) -> None:
        self.lock = threading.Lock()
        self.at_once = 0
        self.released = threading.Event()
        self.http: ThreadingHTTPServer | None = None
        self.port = 0
        self.start()

    def start(self) -> None:
        """Listens, on the same port as before where there was one."""
        owner = self

        class Bound(Handler):
            server_of = owner

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 64

            def handle_error(self, request: Any, client_address: Any) -> None:
                pass  # clients hang up on purpose here

        self.http = Quiet(("127.0.0.1", self.port), Bound)
        self.port = self.http.server_address[1]
        threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True).start()

    def stop(self) -> None:
        if self.http is not None:
            self.http.shutdown()
            self.http.server_close()
            self.http = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def texts(self) -> list[str]:
        """All texts that were sent, in the order in which they came."""
        return [text for request in self.requests for text in request.texts]

    @property
    def asked(self) -> list[str]:
        """What the chat model was asked, in the order in which it came, without its tasks."""
        return [request.body["messages"][-1]["content"] for request in self.requests if "messages" in request.body]

    def next_fault(self) -> str:
        with self.lock:
            return self.plan.pop(0) if self.plan else self.always

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.released.set()
        self.stop()


class Handler(BaseHTTPRequestHandler):
    server_of: Server

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        if self.path == "/v1/models" and self.server_of.models:
            self.send(200, {"data": [{"id": name} for name in self.server_of.models]})
        else:
            self.send(404, {"error": "no such page"})

    def do_POST(self) -> None:
        server = self.server_of
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = body.get("input", [])
        with server.lock:
            server.requests.append(Request(self.path, dict(self.headers), texts, body))
            server.at_once += 1
            server.most_at_once = max(server.most_at_once, server.at_once)
        try:
            fault = server.next_fault()
            time.sleep(server.delays())
        finally:
            with server.lock:
                server.at_once -= 1
        if fault:
            FAULTS[fault](self, self.entries(texts))
        elif self.path.endswith("/chat/completions"):
            said = server.says(*(message["content"] for message in body["messages"]))
            message = said if isinstance(said, dict) else {"role": "assistant", "content": said}
            finish = message.pop("finish_reason", "stop")
            self.send(200, {"choices": [{"index": 0, "message": message, "finish_reason": finish}]})
        else:
            self.send(200, {"object": "list", "data": self.entries(texts)})

    def entries(self, texts: list[str]) -> list[dict[str, Any]]:
        server = self.server_of
        return [
            {"object": "embedding", "index": i, "embedding": vector(text, server.weights, server.dimension)}
            for i, text in enumerate(texts)
        ]

    def send(self, status: int, value: Any, **headers: str) -> None:
        content = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        for name, text in ({"Content-Type": "application/json"} | headers).items():
            self.send_header(name.replace("_", "-"), text)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _status(status: int, message: str = "injected", **headers: str) -> Callable[[Handler, Any], None]:
    return lambda handler, entries: handler.send(status, {"error": {"message": message}}, **headers)


def _answer(change: Callable[[list[dict[str, Any]]], Any]) -> Callable[[Handler, Any], None]:
    return lambda handler, entries: handler.send(200, change(entries))


def _each(change: Callable[[list[float]], Any]) -> Callable[[Handler, Any], None]:
    return _answer(lambda entries: {"data": [entry | {"embedding": change(entry["embedding"])} for entry in entries]})


def _shuffled(entries: list[dict[str, Any]]) -> Any:
    return {"data": random.Random(5).sample(entries, len(entries))}


def _without_index(entries: list[dict[str, Any]]) -> Any:
    return {"data": [{"embedding": entry["embedding"]} for entry in entries]}


def _close(handler: Handler, entries: Sequence[Any]) -> None:
    content = json.dumps({"data": entries}).encode()
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(content) + content[: len(content) // 2])
    handler.close_connection = True


def _hang(handler: Handler, entries: Sequence[Any]) -> None:
    handler.server_of.released.wait(30)


def _drip(handler: Handler, entries: Sequence[Any]) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    while not handler.server_of.released.wait(0.05):
        handler.wfile.write(b" ")
        handler.wfile.flush()


def _die(handler: Handler, entries: Sequence[Any]) -> None:
    handler.server_of.stop()
    handler.close_connection = True


def _endless(handler: Handler, entries: Sequence[Any]) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
    while True:
        handler.wfile.write(b" " * 65536)


def _echo_key(handler: Handler, entries: Sequence[Any]) -> None:
    handler.send(401, {"error": {"message": f"bad key {handler.headers['Authorization']}"}})


FAULTS: dict[str, Callable[[Handler, Any], None]] = {
    "400 too long": _status(400, "the input length exceeds the context length"),
    "500 too long": _status(500, "input is too large to process, increase the physical batch size"),
    "401": _status(401),
    "401 echo": _echo_key,
    "403": _status(403),
    "404": _status(404, "model not found"),
    "429": _status(429),
    "429 wait 1 s": _status(429, Retry_After="1"),
    "429 wait a day": _status(429, Retry_After="86400"),
    "429 date": lambda handler, _: handler.send(429, b"", Retry_After=formatdate(time.time() + 2, usegmt=True)),
    "500": _status(500),
    "no max_tokens": _status(
        400,
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    ),
    "small window": _status(400, "'max_tokens' or 'max_completion_tokens' is too large: 4096. The window holds 2048."),
    "no temperature": _status(400, "Unsupported value: 'temperature' does not support 0 with this model."),
    "no choices": _answer(lambda entries: {"choices": []}),
    "no message": _answer(lambda entries: {"choices": [{"text": "hello"}]}),
    "a list": _answer(lambda entries: ["hello"]),
    "502 html": lambda handler, _: handler.send(502, HTML, Content_Type="text/html"),
    "503": _status(503),
    "redirect": lambda handler, _: handler.send(307, b"", Location="http://127.0.0.1:9/v1/embeddings"),
    "html": lambda handler, _: handler.send(200, HTML, Content_Type="text/html"),
    "html as json": lambda handler, _: handler.send(200, HTML),
    "no json": lambda handler, _: handler.send(200, b"OK"),
    "nothing": lambda handler, _: handler.send(200, b""),
    "error with 200": _answer(lambda entries: {"error": {"message": "no model is loaded"}}),
    "no data": _answer(lambda entries: {"data": []}),
    "data is null": _answer(lambda entries: {"data": None}),
    "half": _answer(lambda entries: {"data": entries[: len(entries) // 2]}),
    "one too many": _answer(lambda entries: {"data": [*entries, entries[0] | {"index": len(entries)}]}),
    "index twice": _answer(lambda entries: {"data": [entry | {"index": 0} for entry in entries]}),
    "shuffled": _answer(_shuffled),
    "without index": _answer(_without_index),
    "half the dimension": _each(lambda values: values[: len(values) // 2]),
    "nan": _each(lambda values: [float("nan"), *values[1:]]),
    "infinity": _each(lambda values: [float("inf"), *values[1:]]),
    "null": _each(lambda values: [None, *values[1:]]),
    "all null": _each(lambda values: None),
    "text": _each(lambda values: [str(value) for value in values]),
    "zero": _each(lambda values: [0.0] * len(values)),
    "close": _close,
    "hang": _hang,
    "drip": _drip,
    "die": _die,
    "endless": _endless,
}
