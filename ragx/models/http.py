"""Talks to OpenAI-compatible servers: patient where waiting may help, bounded in time and size, one line on failure."""

import contextlib
import email.utils
import json
import random
import re
import time
import weakref
from collections.abc import Callable
from threading import Event
from typing import Any

import httpx

from ragx import __version__
from ragx.config import Server, is_local
from ragx.errors import ModelError
from ragx.models import failures
from ragx.models.vectors import Refused, parse

TRIES = 4
BACKOFF_SECONDS = 0.5
"""Before the second try; twice as long before each further one."""
MOST_SECONDS = 60.0
"""Longest wait before a try, whatever the server asks for."""

_CONNECT_SECONDS = 10.0
_ERROR_BYTES = 1 << 16
_LIST_BYTES = 1 << 20
_PASSING = frozenset({429, 500, 502, 503, 504})


class _Passing(Exception):
    """A failure that time may mend: what to say when it does not, and the wait that the server asks for."""

    def __init__(self, error: ModelError, seconds: float = 0.0) -> None:
        super().__init__(error.message)
        self.error = error
        self.seconds = seconds


class Api:
    """A connection to a server on behalf of one section of the settings. Any number of threads may use it.

    One that is `slow` by nature is not asked again when its time is up.
    """

    def __init__(
        self,
        server: Server,
        asking: failures.Asking,
        timeout: float,
        announce: Callable[[str], None],
        *,
        slow: bool = False,
    ) -> None:
        self.server, self._asking, self._timeout, self._announce = server, asking, timeout, announce
        # What needs minutes for an answer would need them again.
        self._final: tuple[type[httpx.HTTPError], ...] = (httpx.UnsupportedProtocol,)
        if slow:
            self._final += (httpx.ReadTimeout,)
        self._said: set[str] = set()
        self._reached = False
        headers = {"User-Agent": f"ragx/{__version__}", "Content-Type": "application/json"}
        if server.key:
            headers["Authorization"] = f"Bearer {server.key}"
        secure = server.base_url.startswith("https:")
        self._client = httpx.Client(
            headers=headers,
            timeout=httpx.Timeout(timeout, connect=min(timeout, _CONNECT_SECONDS), pool=None),
            limits=httpx.Limits(max_connections=None),
            # Whoever is redirected with a key in the hand should know it; and a POST rarely survives it.
            follow_redirects=False,
            # Reading the certificates takes 20 ms, and http has none to check.
            verify=secure,
            # A proxy has no way to what listens on this machine.
            trust_env=not is_local(server.base_url),
        )
        weakref.finalize(self, self._client.close)

    def post(self, path: str, body: dict[str, Any], *, most_bytes: int, stop: Event) -> Any:
        """The JSON that the server answers; ModelError after the last try, or as soon as `stop` is set."""
        data = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
        pause = BACKOFF_SECONDS
        for _ in range(TRIES - 1):
            try:
                return self._once(path, data, most_bytes)
            except _Passing as passing:
                if stop.is_set():
                    raise passing.error from passing.__cause__
                self._say(f"{passing.error.message}: trying again")
                # Requests that failed together should not come back together.
                stop.wait(min(max(pause, passing.seconds) * random.uniform(1, 1.5), MOST_SECONDS))
                pause *= 2
        try:
            return self._once(path, data, most_bytes)
        except _Passing as passing:
            raise passing.error from passing.__cause__

    def _once(self, path: str, data: bytes, most_bytes: int) -> Any:
        until = time.monotonic() + self._timeout
        try:
            with self._client.stream("POST", self.server.base_url + path, content=data) as response:
                self._reached = True
                good = response.status_code == 200
                content = _read(response, most_bytes if good else _ERROR_BYTES, until)
        except httpx.HTTPError as error:
            failure = failures.unreachable(self.server, self._asking, error, self._timeout)
            # What never listened will not do so in a second.
            if failures.is_refusal(error) and not self._reached:
                raise failure from error
            if isinstance(error, httpx.TransportError) and not isinstance(error, self._final):
                raise _Passing(failure) from error
            raise failure from error
        if good and len(content) > most_bytes:
            raise failures.unusable(self.server, f"sent more than {most_bytes:,} bytes")
        html = "html" in response.headers.get("content-type", "") or content.lstrip()[:1] == b"<"
        if good and not html:
            try:
                value = parse(content)
            except Refused as error:
                raise failures.unusable(self.server, str(error)) from error
            # Some servers report an error with status 200.
            if not (isinstance(value, dict) and value.keys() <= {"error", "code", "message"}):
                return value
        answer = failures.Answer(
            status=response.status_code,
            said="" if html else failures.said(content, self.server.key),
            html=html,
            location=str(response.headers.get("location", "")),
            has=self._models if response.status_code in (400, 404) else tuple,
        )
        failure = failures.refused(self.server, self._asking, answer)
        if response.status_code in _PASSING and not failures.is_too_long(answer):
            raise _Passing(failure, _retry_after(response))
        raise failure

    def _models(self) -> tuple[str, ...]:
        """What the server says it has; nothing where it does not say."""
        with contextlib.suppress(httpx.HTTPError, Refused, AttributeError, TypeError):
            until = time.monotonic() + _CONNECT_SECONDS
            url = self.server.base_url + "/models"
            with self._client.stream("GET", url, timeout=min(self._timeout, _CONNECT_SECONDS)) as response:
                listed = parse(_read(response, _LIST_BYTES, until)).get("data")
            return tuple(entry["id"] for entry in listed if isinstance(entry.get("id"), str))
        return ()

    def _say(self, message: str) -> None:
        if message not in self._said:
            self._said.add(message)
            self._announce(message)


def _read(response: httpx.Response, most: int, until: float) -> bytes:
    """The body, or its beginning of a little more than `most` bytes."""
    content = bytearray()
    for part in response.iter_bytes():
        content += part
        if len(content) > most:
            break
        # The client's own timeout begins anew with every byte.
        if time.monotonic() > until:
            raise httpx.ReadTimeout("the answer does not end")
    return bytes(content)


def _retry_after(response: httpx.Response) -> float:
    """The seconds that the server asks to be left alone; it may give a date."""
    text = response.headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d{1,9}(\.\d*)?", text):
        return float(text)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return 0.0
