"""Decides which server is asked, with which key: a ragx.toml that came with a repository sends nothing away by itself.

The address: `base_url` where a file sets it; with provider ollama, Ollama's; OPENAI_BASE_URL; LM Studio's. The key: the
variable that `api_key_env` names, which must be set; else OPENAI_API_KEY where that is set. Neither variable changes
the provider.

Texts and keys leave this machine only by its user's decision. Where ragx.toml alone names a server that is not on
this machine, or the variable of a key, ConsentNeeded says so before anything is sent. A server on this machine gets
texts, but no key before its user has allowed that: OPENAI_API_KEY is kept back.
"""

import os
from dataclasses import dataclass, field

from ragx.config.address import address, is_local
from ragx.config.consent import Wish, missing_of, require
from ragx.config.settings import DEFAULT_BASE_URL, OLLAMA_BASE_URL, Embeddings, Expansion
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
    """The server of a section, by the settings and the environment as they are now; ConsentNeeded as said above."""
    name = type(section).__name__.lower()
    base_url = _base_url(section, name)
    variable = section.api_key_env
    origin, place = section.origin, address(base_url)
    foreign = "base_url" in origin.foreign
    asked = Wish(f"server {place}", f"{name}.base_url", base_url)
    unasked = foreign and bool(missing_of(origin.corpus, [asked]))
    wishes = [asked] if foreign and (variable or not is_local(base_url)) else []
    if "api_key_env" in origin.foreign and variable not in ("", COMMON_KEY):
        wishes.append(Wish(f"variable {variable}", f"{name}.api_key_env", variable))
    key = f"the key in {variable}" if variable else f"the key in {COMMON_KEY}, if it is set,"
    what = f"the texts of its files, your questions and {key}" if unasked and not is_local(base_url) else key
    require(origin.corpus, wishes, f"send {what} to {place}")
    if not variable:
        key = _clean(COMMON_KEY, os.environ.get(COMMON_KEY, ""))
        return Server(base_url, "" if unasked else key, kept_back=unasked and bool(key))
    if not (key := _clean(variable, os.environ.get(variable, ""))):
        raise ConfigError(
            f"{name}.api_key_env names the environment variable {variable}, which is not set",
            f'set it, or: ragx config set {name}.api_key_env ""',
        )
    return Server(base_url, key)


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
