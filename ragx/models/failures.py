"""What is said when a server fails: which server, what was wrong, what to run; never a key."""

import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx

from ragx.config import Server
from ragx.errors import ModelError
from ragx.models.vectors import Refused, parse

_SAID_CHARACTERS = 200
_NAMED_MODELS = 8

_TOO_LONG = re.compile(
    r"context (length|size|window)|too (long|large)"
    r"|max\w* (\w+ )*(tokens?|length|context)|exceed\w* .*(token|length|context)",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"model.*(not found|not exist|no such|unknown|not loaded)|(no such|unknown) model", re.IGNORECASE
)


@dataclass(frozen=True)
class Asking:
    """On whose behalf a server is asked: the section of the settings, its provider, model and key's variable."""

    section: str
    provider: str
    model: str
    variable: str


@dataclass(frozen=True)
class Answer:
    """An answer without a result: `said` is the server's own message, `has` asks it for its models."""

    status: int
    said: str
    html: bool
    location: str
    has: Callable[[], tuple[str, ...]]


def is_refusal(error: BaseException) -> bool:
    """Whether nothing listened at the address."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ConnectionRefusedError):
            return True
        cause = cause.__cause__ or cause.__context__
    return False


def is_too_long(answer: Answer) -> bool:
    """Whether the server says that a text does not fit into its model."""
    return answer.status in (400, 413, 422, 500) and bool(_TOO_LONG.search(answer.said))


def said(content: bytes, key: str) -> str:
    """The message in the body of an error, on one line, without the key, should the server repeat it."""
    try:
        value = parse(content)
    except Refused:
        value = content.decode("utf-8", "replace")
    for name in ("error", "message", "detail"):
        if isinstance(value, dict) and name in value:
            value = value[name]
    text = _without(key, " ".join(str(value).split()))
    return text if len(text) <= _SAID_CHARACTERS else text[:_SAID_CHARACTERS] + "..."


def unreachable(server: Server, asking: Asking, error: httpx.HTTPError, timeout: float) -> ModelError:
    """For a request that got no answer."""
    elsewhere = f"ragx config set {asking.section}.base_url URL"
    if is_refusal(error):
        start = "start it: ollama serve" if asking.provider == "ollama" else "start the server"
        instead = "ragx config set embeddings.provider onnx" if asking.section == "embeddings" else elsewhere
        return ModelError(f"nothing listens at {server.base_url}", f"{start} or run: {instead}")
    if isinstance(error, httpx.ConnectTimeout):
        return ModelError(f"{server.base_url} cannot be reached: no connection in time", elsewhere)
    if isinstance(error, httpx.TimeoutException):
        return ModelError(
            f"{server.base_url} did not answer within {timeout:g} seconds",
            f"look at the server, or give it longer: ragx config set {asking.section}.timeout {timeout * 2:g}",
        )
    if isinstance(error, httpx.ConnectError | httpx.ProxyError):
        return ModelError(f"{server.base_url} cannot be reached: {_line(error)}", elsewhere)
    return ModelError(f"{server.base_url} broke off the connection", "look at the server, then run the command again")


def unusable(server: Server, reason: str) -> ModelError:
    """For an answer that is none."""
    return ModelError(
        f"{server.base_url} {_without(server.key, reason)}",
        "nothing of that answer was stored; look at the server and its model",
    )


def refused(server: Server, asking: Asking, answer: Answer) -> ModelError:
    """For an answer with another status than 200, or with HTML."""
    base, section, status = server.base_url, asking.section, answer.status
    message = f"{base} answered {status}" + (f": {answer.said}" if answer.said else "")
    if 300 <= status < 400:
        target = _without(server.key, _base_of(base, answer.location))
        return ModelError(
            f"{base} answered {status}, a redirect to {target or 'nowhere'}, which is not followed",
            f"if that is the server: ragx config set {section}.base_url {shlex.quote(target)}" if target else "",
        )
    if status in (401, 403):
        return ModelError(message, _key_hint(server, asking))
    if is_too_long(answer):
        smaller = "a smaller chunking.size_tokens: ragx config set chunking.size_tokens 256, then ragx index --full"
        return ModelError(message, smaller if section == "embeddings" else "ask for less")
    if status == 404 or (status == 400 and _NO_MODEL.search(answer.said)):
        if has := tuple(_without(server.key, name) for name in answer.has()):
            return _no_model(base, asking, has, message)
        if not answer.html or base.endswith("/v1"):
            usual = "" if base.endswith("/v1") else "base_url usually ends in /v1; "
            return ModelError(message, f"{usual}see {base}/models, then: ragx config set {section}.model NAME")
    if answer.html and (status == 200 or 400 <= status < 500):
        return ModelError(
            f"{base} answered with HTML, is this an OpenAI-compatible base_url?",
            f"it usually ends in /v1: ragx config set {section}.base_url URL",
        )
    if status == 429:
        return ModelError(message, "try again later" + _embeddings(asking, ", or ask more slowly: SET.concurrency 1"))
    if status == 413:
        return ModelError(message, "send less at once" + _embeddings(asking, ": SET.batch_size 8"))
    return ModelError(
        message, "look at the server, then run the command again" + _embeddings(asking, ": what was embedded is kept")
    )


def _no_model(base: str, asking: Asking, has: tuple[str, ...], message: str) -> ModelError:
    if asking.model in has:
        return ModelError(message, f"it has {asking.model!r}: is it a model of this kind?")
    fitting = [name for name in has if "embed" in name.lower()] if asking.section == "embeddings" else list(has)
    names = ", ".join(_cut(name) for name in has[:_NAMED_MODELS])
    more = f" and {len(has) - _NAMED_MODELS} more" if len(has) > _NAMED_MODELS else ""
    pull = f"ollama pull {shlex.quote(asking.model)}, or: " if asking.provider == "ollama" else ""
    choice = shlex.quote(_cut((fitting or has)[0]))
    return ModelError(
        f"{base} has no model {asking.model!r}; it has {names}{more}",
        f"{pull}ragx config set {asking.section}.model {choice}",
    )


def _key_hint(server: Server, asking: Asking) -> str:
    if server.kept_back:
        where = shlex.quote(server.base_url)
        return (
            "OPENAI_API_KEY was not sent, since only ragx.toml names this server; if you trust it: "
            f"ragx config set {asking.section}.base_url {where}"
        )
    if server.key:
        return f"is {asking.variable or 'OPENAI_API_KEY'} the key of this server?"
    return f"name the variable that holds its key: ragx config set {asking.section}.api_key_env NAME"


def _base_of(base: str, location: str) -> str:
    """The base_url that a redirect leads to; "" where it leads to none."""
    try:
        parts = urlsplit(urljoin(f"{base}/", location))
    except ValueError:
        return ""
    path = parts.path.rstrip("/").removesuffix("/embeddings").removesuffix("/chat/completions")
    return _cut(f"{parts.scheme}://{parts.netloc}{path}") if location and parts.netloc else ""


def _embeddings(asking: Asking, words: str) -> str:
    """The words, for the section that has such settings."""
    return words.replace("SET", f"ragx config set {asking.section}") if asking.section == "embeddings" else ""


def _without(key: str, text: str) -> str:
    """A server's words, should they repeat the key."""
    return text.replace(key, "***") if key else text


def _cut(name: str) -> str:
    return " ".join(name[:200].split())


def _line(error: Any) -> str:
    return str(error).partition("\n")[0] or type(error).__name__
