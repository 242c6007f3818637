"""Decides which server is asked, and with which key: no ragx.toml that came with a repository sends a secret away.

The address: `base_url` where a file sets it; with provider ollama, Ollama's; OPENAI_BASE_URL; LM Studio's. The key: the
variable that `api_key_env` names, which must be set; else OPENAI_API_KEY where that is set. Neither variable changes
the provider.

A key leaves this machine only by its user's decision. What ragx.toml says of the server and of the variable counts once
its user has run `ragx config set` for it here, which notes it in ~/.ragxrc ([trust]): a clone brings the file, not the
note. Until then OPENAI_API_KEY is kept back, and a key that `api_key_env` asks for is refused with the command to run.
"""

import os
import re
import shlex
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from ragx.config.settings import DEFAULT_BASE_URL, OLLAMA_BASE_URL, Embeddings, Expansion, Trust
from ragx.errors import ConfigError

COMMON_KEY = "OPENAI_API_KEY"
COMMON_URL = "OPENAI_BASE_URL"


@dataclass(frozen=True)
class Server:
    """An OpenAI-compatible server. `key` is "" where none is sent, and is never shown."""

    base_url: str
    """Without a slash at the end."""
    key: str = field(default="", repr=False)
    kept_back: bool = False
    """Whether OPENAI_API_KEY is set, but ragx.toml alone answers for the server."""


def server(section: Embeddings | Expansion) -> Server:
    """The server of a section, by the settings and the environment as they are now."""
    name = type(section).__name__.lower()
    base_url = _base_url(section, name)
    foreign = "base_url" in section.origin.foreign
    variable = section.api_key_env
    if not variable:
        key = _clean(COMMON_KEY, os.environ.get(COMMON_KEY, ""))
        return Server(base_url, "" if foreign else key, kept_back=foreign and bool(key))
    if not re.fullmatch(r"[A-Za-z_]\w*", variable, re.ASCII):
        # Not shown: it may be the key itself.
        raise ConfigError(
            f"{name}.api_key_env is not the name of an environment variable; the key itself never stands in a file",
            f"ragx config set {name}.api_key_env NAME",
        )
    if foreign:
        raise ConfigError(
            f"no key is sent to {base_url}, which ragx.toml names, before you have said so yourself",
            f"ragx config set {name}.base_url {shlex.quote(base_url)}",
        )
    if "api_key_env" in section.origin.foreign:
        raise ConfigError(
            f"{variable}, which ragx.toml names, is not sent to {base_url} before you have said so yourself",
            f"ragx config set {name}.api_key_env {variable}",
        )
    if not (key := _clean(variable, os.environ.get(variable, ""))):
        raise ConfigError(
            f"{name}.api_key_env names the environment variable {variable}, which is not set",
            f'set it, or: ragx config set {name}.api_key_env ""',
        )
    return Server(base_url, key)


def address(base_url: str) -> str:
    """`scheme://host[:port]` of a base_url, in lower case; "" where it is not the address of a server."""
    try:
        parts = urlsplit(base_url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or not host or parts.username is not None or parts.query or parts.fragment:
        return ""
    if not base_url.isprintable() or " " in base_url:
        return ""
    host = f"[{host}]" if ":" in host else host
    usual = {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{host}" + (f":{port}" if port not in (None, usual) else "")


def vouched(key: str, value: str, trust: Trust) -> bool:
    """Whether ragx.toml may set `key` of a section to `value`, as far as keys are concerned."""
    if key == "base_url":
        return address(value) in trust.servers
    return key != "api_key_env" or value in ("", COMMON_KEY, *trust.variables)


def _base_url(section: Embeddings | Expansion, name: str) -> str:
    source, base_url = f"{name}.base_url", section.base_url
    # A file may set the default on purpose.
    if "base_url" not in section.origin.given and base_url == DEFAULT_BASE_URL:
        if section.provider == "ollama":
            base_url = OLLAMA_BASE_URL
        elif common := os.environ.get(COMMON_URL, "").strip():
            source, base_url = COMMON_URL, common
    if not address(base_url):
        # Not shown: a password may stand in it.
        raise ConfigError(
            f"{source} is not the address of a server: expected http://host:port/v1, without user name or query",
            f"ragx config set {name}.base_url {DEFAULT_BASE_URL}",
        )
    return base_url.rstrip("/")


def _clean(variable: str, key: str) -> str:
    key = key.strip()
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(f"the environment variable {variable} holds characters that no key has", "set it again")
    return key
