"""Serves the embedding model of ragx over HTTP, so that another program searches with the very same vectors.

    python benchmarks/embed_server.py [--port N]

An OpenAI-compatible `POST /v1/embeddings` on loopback. Texts are embedded as they are sent, prefixes included; what the
model cannot read in one piece is cut off, as servers do.
"""

import argparse
import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from ragx.config.settings import Embeddings
from ragx.models import load_embedder
from ragx.types import Embedder


def _handler(embedder: Embedder) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._answer(200, {"object": "list", "data": [{"id": embedder.model, "object": "model"}]})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if self.path != "/v1/embeddings":
                self._answer(404, {"error": {"message": f"no such path: {self.path}"}})
                return
            given = json.loads(body)["input"]
            texts = [given] if isinstance(given, str) else given
            vectors = embedder.embed(embedder.counter.clip(text, embedder.window) for text in texts)
            data = [
                {"object": "embedding", "index": index, "embedding": vector.tolist()}
                for index, vector in enumerate(vectors)
            ]
            self._answer(200, {"object": "list", "model": embedder.model, "data": data})

        def _answer(self, status: int, document: dict[str, Any]) -> None:
            data = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *arguments: object) -> None:
            """Says nothing."""

    return Handler


def server(port: int = 0) -> ThreadingHTTPServer:
    """A server on loopback, bound and not yet serving; port 0 takes a free one."""
    return ThreadingHTTPServer(("127.0.0.1", port), _handler(load_embedder(Embeddings())))


def address(bound: ThreadingHTTPServer) -> str:
    """The base URL for a client."""
    return f"http://127.0.0.1:{bound.server_address[1]}/v1"


@contextmanager
def serving() -> Iterator[str]:
    """The base URL of a server that runs within."""
    with server() as bound:
        thread = Thread(target=bound.serve_forever)
        thread.start()
        try:
            yield address(bound)
        finally:
            bound.shutdown()
            thread.join()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0)
    with server(parser.parse_args().port) as bound:
        print(address(bound), flush=True)
        bound.serve_forever()


if __name__ == "__main__":
    main()
