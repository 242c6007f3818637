"""Which server is asked and which key it gets: settings, environment, and what a ragx.toml alone may not decide."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragx.config import load, server, servers
from ragx.errors import ConfigError, ConsentNeeded
from ragx.models import load_embedder
from tests.misbehaving import MODEL, Server

LM_STUDIO = "http://localhost:1234/v1"
OLLAMA = "http://localhost:11434/v1"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "MINE"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "ragx.toml").touch()
    return folder


@pytest.fixture
def listening() -> Iterator[Server]:
    with Server() as listening:
        yield listening


def ragx(corpus: Path, *arguments: str) -> str:
    """What a command says on stderr."""
    done = subprocess.run(
        [sys.executable, "-m", "ragx", *arguments], cwd=corpus, capture_output=True, text=True, timeout=60,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stderr


def embeddings(corpus: Path, text: str) -> servers.Server:
    (corpus / "ragx.toml").write_text(f"[embeddings]\n{text}\n", encoding="utf-8")
    return server(load(corpus).config.embeddings)


def refusal(corpus: Path, text: str) -> str:
    with pytest.raises((ConfigError, ConsentNeeded)) as caught:
        embeddings(corpus, text)
    line = f"{caught.value.message}; {caught.value.hint}"
    assert "\n" not in line
    return line


# The address


def test_the_default_is_lm_studio_and_ollama_brings_its_own(corpus: Path) -> None:
    assert embeddings(corpus, 'provider = "openai"').base_url == LM_STUDIO
    assert embeddings(corpus, 'provider = "ollama"').base_url == OLLAMA


def test_an_address_in_a_file_wins_even_where_it_is_the_default(
    corpus: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "https://elsewhere.example/v1")
    assert embeddings(corpus, 'provider = "openai"\nbase_url = "http://[::1]:1/v1/"').base_url == "http://[::1]:1/v1"
    for provider in ("openai", "ollama"):
        assert embeddings(corpus, f'provider = "{provider}"\nbase_url = "{LM_STUDIO}"').base_url == LM_STUDIO
    (home / ".ragxrc").write_text('[embeddings]\nbase_url = "http://mine:2/v1"\n')
    assert embeddings(corpus, 'base_url = "http://127.0.0.1:1/v1"').base_url == "http://mine:2/v1"


def test_the_environment_replaces_the_default_address_and_nothing_else(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "https://api.example/v1/")
    assert embeddings(corpus, 'provider = "openai"').base_url == "https://api.example/v1"
    assert embeddings(corpus, 'provider = "ollama"').base_url == OLLAMA
    assert load(corpus).config.embeddings.provider == "ollama"
    monkeypatch.setenv("OPENAI_BASE_URL", " ")
    assert embeddings(corpus, 'provider = "openai"').base_url == LM_STUDIO


def test_the_environment_does_not_switch_the_provider(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "https://api.example/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    assert load(corpus).config.embeddings.provider == "onnx"


@pytest.mark.parametrize(
    "address",
    ["localhost:1234/v1", "", "ftp://x/v1", "http://", "http://u:pass@x/v1", "http://x:99999/v1", "http://x/v1?a=1",
     "http://[::1/v1", "http://x/v1\\n", "http://x y/v1"],
)  # fmt: skip
def test_what_is_no_address_is_refused_without_showing_it(corpus: Path, address: str) -> None:
    line = refusal(corpus, f'base_url = "{address}"')
    assert line.startswith("embeddings.base_url is not the address of a server: expected http://host:port/v1")
    assert "pass" not in line


def test_the_sections_are_independent(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINE", "sk-mine")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-common")
    ragx(corpus, "config", "set", "embeddings.provider", "ollama")
    ragx(corpus, "config", "set", "expansion.base_url", "https://openrouter.ai/api/v1")
    ragx(corpus, "config", "set", "expansion.api_key_env", "MINE")
    config = load(corpus).config
    assert server(config.embeddings) == servers.Server(OLLAMA, "sk-common")
    assert server(config.expansion) == servers.Server("https://openrouter.ai/api/v1", "sk-mine")


# The key


def test_the_common_key_is_used_where_none_is_named(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert embeddings(corpus, 'provider = "openai"').key == ""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-common")
    assert embeddings(corpus, 'provider = "openai"').key == "sk-common"
    monkeypatch.setenv("OPENAI_BASE_URL", "https://api.example/v1")
    assert embeddings(corpus, 'provider = "openai"') == servers.Server("https://api.example/v1", "sk-common")


def test_a_named_variable_that_is_not_set_fails_loudly(
    corpus: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-common")
    (home / ".ragxrc").write_text('[embeddings]\napi_key_env = "MINE"\n')
    assert refusal(corpus, "") == (
        "embeddings.api_key_env names the environment variable MINE, which is not set; "
        'set it, or: ragx config set embeddings.api_key_env ""'
    )
    monkeypatch.setenv("MINE", "sk-mine")
    assert embeddings(corpus, "").key == "sk-mine"


def test_a_key_where_the_name_of_its_variable_belongs_is_not_shown(corpus: Path) -> None:
    line = refusal(corpus, 'api_key_env = "sk-secret-1"')
    assert line.startswith(f"{corpus}/ragx.toml: embeddings.api_key_env is not the name of an environment variable")
    assert "secret" not in line


def test_a_key_is_never_shown(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    found = embeddings(corpus, "")
    assert found.key == "sk-secret"
    assert "secret" not in f"{found!r} {found} {load(corpus)!r}"


# What a clone brings


def test_a_clone_gets_no_key_out_of_the_machine(corpus: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-common")
    monkeypatch.setenv("MINE", "sk-mine")
    evil = 'provider = "openai"\nbase_url = "https://evil.example/v1"'
    asked = (
        "ragx.toml asks to send the texts of its files, your questions and the key in {} to https://evil.example, "
        f"which you have not allowed; ragx config set embeddings.base_url https://evil.example/v1 -C {corpus}"
    )
    assert refusal(corpus, evil) == asked.format("OPENAI_API_KEY, if it is set,")
    assert refusal(corpus, f'{evil}\napi_key_env = "OPENAI_API_KEY"') == asked.format("OPENAI_API_KEY")
    line = refusal(corpus, f'{evil}\napi_key_env = "MINE"')
    assert line == asked.format("MINE") + f" && ragx config set embeddings.api_key_env MINE -C {corpus}"
    # Nor does a variable that the machine names for its own server go to the clone's.
    (home / ".ragxrc").write_text('[embeddings]\napi_key_env = "MINE"\n')
    assert refusal(corpus, evil) == asked.format("MINE")


def test_a_server_on_this_machine_gets_texts_but_no_key_unasked(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-common")
    monkeypatch.setenv("MINE", "sk-mine")
    local = 'provider = "openai"\nbase_url = "http://127.0.0.1:9/v1"'
    assert embeddings(corpus, local) == servers.Server("http://127.0.0.1:9/v1", "", kept_back=True)
    assert refusal(corpus, f'{local}\napi_key_env = "MINE"').startswith(
        "ragx.toml asks to send the key in MINE to http://127.0.0.1:9, which you have not allowed; "
    )


def test_a_clone_does_not_choose_the_secret_that_the_users_server_gets(
    corpus: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "aws")
    (home / ".ragxrc").write_text('[embeddings]\nbase_url = "https://api.example/v1"\n')
    assert refusal(corpus, 'api_key_env = "AWS_SECRET_ACCESS_KEY"') == (
        "ragx.toml asks to send the key in AWS_SECRET_ACCESS_KEY to https://api.example, which you have not allowed; "
        f"ragx config set embeddings.api_key_env AWS_SECRET_ACCESS_KEY -C {corpus}"
    )


def test_setting_a_server_and_a_key_is_the_users_word_for_these_and_no_others(
    corpus: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINE", "sk-mine")
    said = ragx(corpus, "config", "set", "embeddings.base_url", "https://API.example:443/v1")
    assert "note: texts and keys may be sent to https://api.example\n" in said
    assert "note: MINE may be sent as a key\n" in ragx(corpus, "config", "set", "embeddings.api_key_env", "MINE")
    assert "note" not in ragx(corpus, "config", "set", "embeddings.base_url", "https://api.example/v2")
    assert server(load(corpus).config.embeddings) == servers.Server("https://api.example/v2", "sk-mine")
    assert not (home / ".ragxrc").exists()
    for other in ("http://api.example/v1", "https://api.example.evil.example/v1", "https://api.example:8443/v1"):
        assert "which you have not allowed" in refusal(corpus, f'base_url = "{other}"\napi_key_env = "MINE"')
    assert "the key in PATH to" in refusal(corpus, 'base_url = "https://api.example/v1"\napi_key_env = "PATH"')


def test_the_server_sees_the_key_only_after_the_users_word(
    corpus: Path, listening: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-common")
    monkeypatch.setenv("MINE", "sk-mine")

    def seen() -> str | None:
        load_embedder(load(corpus).config.embeddings)
        return listening.requests[-1].headers.get("Authorization")

    (corpus / "ragx.toml").write_text(
        f'[embeddings]\nprovider = "openai"\nmodel = "{MODEL}"\nbase_url = "{listening.url}"\n'
    )
    assert seen() is None
    ragx(corpus, "config", "set", "embeddings.base_url", listening.url)
    assert seen() == "Bearer sk-common"
    ragx(corpus, "config", "set", "embeddings.api_key_env", "MINE")
    assert seen() == "Bearer sk-mine"
    (corpus / "ragx.toml").write_text(f'[embeddings]\nprovider = "openai"\nmodel = "{MODEL}"\n')
    monkeypatch.setenv("OPENAI_BASE_URL", listening.url)
    assert seen() == "Bearer sk-common"


# The recipes


def test_the_recipe_for_lm_studio(corpus: Path) -> None:
    ragx(corpus, "config", "set", "embeddings.provider", "openai")
    ragx(corpus, "config", "set", "embeddings.model", "text-embedding-nomic-embed-text-v1.5")
    ragx(corpus, "config", "set", "expansion.model", "any-chat-model")
    ragx(corpus, "config", "set", "expansion.enabled", "false")
    config = load(corpus).config
    assert (server(config.embeddings).base_url, server(config.expansion).base_url) == (LM_STUDIO, LM_STUDIO)


def test_the_recipe_for_ollama(corpus: Path) -> None:
    ragx(corpus, "config", "set", "embeddings.provider", "ollama")
    ragx(corpus, "config", "set", "embeddings.model", "nomic-embed-text")
    ragx(corpus, "config", "set", "expansion.provider", "ollama")
    ragx(corpus, "config", "set", "expansion.model", "llama3.1")
    config = load(corpus).config
    assert (server(config.embeddings).base_url, server(config.expansion).base_url) == (OLLAMA, OLLAMA)


def test_the_recipe_for_an_online_server(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "https://api.openai.com/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    ragx(corpus, "config", "set", "embeddings.provider", "openai")
    ragx(corpus, "config", "set", "embeddings.model", "text-embedding-3-small")
    ragx(corpus, "config", "set", "embeddings.doc_prefix", "")
    ragx(corpus, "config", "set", "embeddings.query_prefix", "")
    ragx(corpus, "config", "set", "expansion.model", "gpt-5.2-mini")
    config = load(corpus).config
    online = servers.Server("https://api.openai.com/v1", "sk-1")
    assert (server(config.embeddings), server(config.expansion)) == (online, online)
    assert (config.embeddings.doc_prefix, config.embeddings.query_prefix) == ("", "")
