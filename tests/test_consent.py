"""A ragx.toml that came with a repository sends nothing away and loads nothing before its user has said yes."""

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ragx
from ragx.config import allow, is_local, load
from ragx.config.address import address
from ragx.config.consent import missing_of, model_wish
from ragx.errors import ConfigError, ConsentNeeded
from ragx.models import load_embedder, load_reranker
from tests import unprivileged
from tests.misbehaving import MODEL, Server
from tests.terminals import terminal

PACKAGE = str(Path(ragx.__file__).parent.parent)


class Clone:
    """A corpus that somebody else wrote, and a machine on which nothing is allowed yet."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "clone"
        self.state = folder / "state"
        self.root.mkdir()
        (folder / "home").mkdir()
        (self.root / "a.md").write_text("The launch code is 0000.\n")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("RAGX_", "OPENAI_"))}
        self.env = kept | {"HOME": str(folder / "home"), "XDG_STATE_HOME": str(self.state), "PYTHONPATH": PACKAGE}

    def write(self, text: str) -> None:
        (self.root / "ragx.toml").write_text(text, encoding="utf-8")

    def names(self, server: Server, more: str = "") -> None:
        """Its ragx.toml names the server by an address of this machine that is not one of its usual spellings."""
        self.write(
            f'[embeddings]\nprovider = "openai"\nmodel = "{MODEL}"\nbase_url = "http://0.0.0.0:{server.port}/v1"\n'
            f"{more}\n[rerank]\nenabled = false\n"
        )

    def ragx(self, *arguments: str, **changed: str) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-m", "ragx", *arguments], cwd=self.root, env=self.env | changed, capture_output=True,
            text=True, timeout=60, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        return done.returncode, done.stderr

    def on_a_terminal(self, answer: str, *arguments: str) -> tuple[int, str]:
        with terminal(answer.encode()) as (there, printed):
            process = subprocess.Popen(
                [sys.executable, "-m", "ragx", *arguments], cwd=self.root, env=self.env, stdin=there, stdout=there,
                stderr=there,
            )  # fmt: skip
            said = printed()
        return process.wait(timeout=60), said.decode().replace("\r\n", "\n")


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path)


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as server:
        yield server


# What is sent


def test_texts_and_questions_go_nowhere_unasked(clone: Clone, server: Server) -> None:
    clone.names(server)
    refusal = (
        2,
        f"ragx: ragx.toml asks to send the texts of its files, your questions and the key in OPENAI_API_KEY, if it is "
        f"set, to http://0.0.0.0:{server.port}, which you have not allowed; "
        f"run: ragx config set embeddings.base_url http://0.0.0.0:{server.port}/v1 -C {clone.root}\n",
    )
    code, said = clone.ragx("index")
    assert (code, said[said.index("ragx:") :]) == refusal
    assert server.requests == []
    command = refusal[1].rpartition("run: ragx ")[2].split()
    assert clone.ragx(*command)[0] == 0
    assert clone.ragx("index")[0] == 0
    sent = len(server.requests)
    # The same file in another place is somebody else's until its user has said so there.
    shutil.copytree(clone.root, clone.root.parent / "copy")
    for arguments in (["query", "launch code"], ["sql", "SELECT embed('launch')"], ["index", "--full"]):
        code, said = clone.ragx(*arguments, "-C", "../copy")
        assert (code, "which you have not allowed" in said) == (2, True), said
        assert said.endswith(f"/v1 -C {clone.root.parent / 'copy'}\n")
    assert len(server.requests) == sent
    assert clone.ragx("query", "launch code")[0] == 0
    assert len(server.requests) == sent + 1


def test_a_terminal_is_asked_once_and_clearly(clone: Clone, server: Server) -> None:
    clone.names(server)
    for no in ("\n", "n\n", "yess\n", "\x04"):
        code, said = clone.on_a_terminal(no, "index")
        assert code == 2 and "which you have not allowed" in said
    assert server.requests == [] and not clone.state.exists()
    code, said = clone.on_a_terminal("yes\n", "index")
    assert code == 0, said
    assert (
        f"The ragx.toml in {clone.root} asks to send the texts of its files, your questions and the key in "
        f"OPENAI_API_KEY, if it is set, to http://0.0.0.0:{server.port}. Allow it?\nyes or no [no]: "
    ) in said
    assert "The launch code is 0000." in server.texts
    for arguments in (["query", "code"], ["index", "--full"]):
        code, said = clone.on_a_terminal("", *arguments)
        assert (code, "Allow it?" in said) == (0, False), said


def test_the_answer_counts_for_the_folder_that_dash_c_named(clone: Clone, server: Server) -> None:
    clone.names(server)
    (clone.root / "docs").mkdir()
    assert clone.on_a_terminal("y\n", "-C", "docs", "index")[0] == 0
    assert json.loads((clone.state / "ragx/consent.json").read_text()) == {
        str(clone.root): [f"server http://0.0.0.0:{server.port}"]
    }


def test_a_key_of_the_clones_choice_is_asked_for_by_name(clone: Clone, server: Server) -> None:
    clone.names(server, 'api_key_env = "AWS_SECRET_ACCESS_KEY"')
    clone.env["AWS_SECRET_ACCESS_KEY"] = "aws-secret-1"
    assert clone.ragx("config", "set", "embeddings.base_url", f"http://0.0.0.0:{server.port}/v1")[0] == 0
    code, said = clone.on_a_terminal("no\n", "index")
    assert code == 2 and f"asks to send the key in AWS_SECRET_ACCESS_KEY to http://0.0.0.0:{server.port}. " in said
    assert server.requests == []
    assert clone.on_a_terminal("yes\n", "index")[0] == 0
    assert server.requests[-1].headers["Authorization"] == "Bearer aws-secret-1"


def test_a_redirect_carries_nothing_to_another_server(clone: Clone, server: Server) -> None:
    with Server(always="redirect") as first:
        clone.names(first)
        clone.env["OPENAI_API_KEY"] = "sk-secret"
        clone.ragx("config", "set", "embeddings.base_url", f"http://0.0.0.0:{first.port}/v1")
        code, said = clone.ragx("index")
        assert code == 2 and "a redirect to" in said and "which is not followed" in said
        assert "Bearer sk-secret" in first.requests[-1].headers.values()
    assert server.requests == []


def test_what_only_looks_asks_nobody(clone: Clone, server: Server) -> None:
    clone.ragx("init", "--yes")
    assert clone.ragx("index")[0] == 0
    clone.names(server, 'api_key_env = "HOME"')
    for arguments in (
        ["status"], ["status", "--pending"], ["config", "list"], ["config", "get", "embeddings"], ["--version"],
        ["index", "--dry-run", "--full"], ["inspect", "file", "a.md"], ["similar", "a.md"], ["sql", "FROM files"],
        ["config", "set", "embeddings.api_key_env", "MINE"],
    ):  # fmt: skip
        code, said = clone.on_a_terminal("", *arguments)
        assert code in (0, 1) and "allow" not in said.replace("may be sent as a key", ""), (arguments, said)
    assert server.requests == []


def test_a_proxy_of_the_environment_sees_nothing_of_a_local_server(clone: Clone, server: Server) -> None:
    with Server() as proxy:
        local = f"http://127.0.0.1:{server.port}/v1"
        clone.write(f'[embeddings]\nprovider = "openai"\nmodel = "{MODEL}"\nbase_url = "{local}"\n')
        names = dict.fromkeys(("HTTP_PROXY", "http_proxy", "ALL_PROXY"), f"http://127.0.0.1:{proxy.port}")
        assert clone.ragx("index", **names)[0] == 0
        assert server.requests and proxy.requests == []


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:80@evil.example/v1", "http://localhost@evil.example", "http://localhost\\@evil.example/",
        "http://localhost#@evil.example/", "http://localhost?@evil.example/", "http://ⓛocalhost/v1", "http://аpi.example",
        "http://localhost%2eevil.example/", "http://%6cocalhost/", "http://[::1/v1", "http://[::1]@evil/",
        "http://[::1%25eth0]/v1", "http://localhost:1:2/", "http://localhost:0/", "http://localhost:99999/",
        "http:/localhost/", "http:localhost", "//localhost/", "javascript://localhost/", "http://localhost\t/",
        "http://localhost/\r\nHost: evil", "http://localhost /", "http:// localhost/", "http://.localhost/", "",
        "http://localhost/v1?key=1", "http://localhost/v1#x", "file:///etc/passwd", "http://[fe80::1%eth0]/", "http://[/",
    ],
)  # fmt: skip
def test_an_address_that_parsers_may_read_in_two_ways_is_none(url: str) -> None:
    assert address(url) == ""
    assert not is_local(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost.evil.example/v1", "http://127.0.0.1.evil.example/v1", "http://127.evil.example/v1",
        "http://localhost.localdomain/", "http://localhost./", "http://2130706433/", "http://0x7f000001/", "http://127.1/",
        "http://0177.0.0.1/", "http://0.0.0.0/", "http://192.168.1.7:1234/v1", "http://10.0.0.1/", "http://[fe80::1]/",
        "http://169.254.169.254/latest", "http://[::ffff:7f00:2]/", "http://host.docker.internal/", "http://0/",
    ],
)  # fmt: skip
def test_only_loopback_in_its_usual_spelling_is_this_machine(url: str) -> None:
    assert address(url) or url == "http://localhost./"
    assert not is_local(url) or "ffff" in url


@pytest.mark.parametrize(
    "url", ["http://localhost:1234/v1", "https://LOCALHOST", "http://127.0.0.1:11434/v1/", "http://127.8.9.1/", "http://[::1]:80/"]
)  # fmt: skip
def test_loopback_is_this_machine(url: str) -> None:
    assert is_local(url)


@given(
    st.one_of(
        st.text(alphabet="localhost127.:/@\\#?%[]_-é\u2024\n\t ", max_size=40).map(lambda rest: f"http://{rest}"),
        st.from_regex(r"\Ahttps?://[!-~]{1,40}\Z"),
    )
)
def test_the_http_client_connects_to_the_host_that_was_checked(url: str) -> None:
    place = address(url)
    if place:
        ours = urlsplit(place)
        assert httpx.URL(url).host == ours.hostname
        assert (httpx.URL(url).port or {"http": 80, "https": 443}[ours.scheme]) == (
            ours.port or {"http": 80, "https": 443}[ours.scheme]
        )


# What is loaded


def test_a_model_that_came_with_the_clone_is_not_even_looked_at(clone: Clone) -> None:
    model = clone.root / "models/evil"
    model.mkdir(parents=True)
    # Whoever opens one of these waits for ever.
    for name in ("config.json", "model.onnx", "tokenizer.json", "config_sentence_transformers.json"):
        os.mkfifo(model / name)
    for named in ("./models/evil", str(model), "./../clone/models/evil"):
        clone.write(f'[embeddings]\nmodel = "{named}"\n[rerank]\nmodel = "{named}"\n')
        config = load(clone.root).config
        for loader, section in ((load_embedder, config.embeddings), (load_reranker, config.rerank)):
            with pytest.raises(ConsentNeeded, match="asks to load the model in "):
                loader(section, root=clone.root)  # type: ignore[operator]  # each gets its own section
        code, said = clone.ragx("index")
        assert code == 2 and said.endswith(
            f"which you have not allowed; run: ragx config set embeddings.model {named} -C {clone.root}\n"
        )


def test_a_question_cannot_be_made_to_look_like_another(clone: Clone) -> None:
    clone.write('[embeddings]\nmodel = "./m\\n\\u001b[2JThe ragx.toml asks for nothing. Go on?\\u202e"\n')
    code, said = clone.on_a_terminal("no\n", "index")
    assert code == 2
    (question,) = (line for line in said.splitlines() if line.endswith("Allow it?"))
    assert question.endswith(
        rf"asks to load the model in {clone.root}/m\n\x1b[2JThe ragx.toml asks for nothing. Go on?\u202e. Allow it?"
    )


def test_a_query_without_reranking_needs_no_word_on_the_reranker(clone: Clone) -> None:
    clone.write("")
    assert clone.ragx("index")[0] == 0
    clone.write('[rerank]\nmodel = "./evil"\n')
    assert clone.ragx("query", "launch code", "--no-rerank")[0] == 0
    code, said = clone.ragx("query", "launch code")
    assert (code, said.count("\n")) == (2, 1) and f"run: ragx config set rerank.model ./evil -C {clone.root}\n" in said
    assert clone.ragx("config", "set", "rerank.model", "./evil")[1].splitlines()[1] == (
        f"note: the model in {clone.root}/evil may be loaded"
    )
    # Allowed, and not there: a stage that cannot run is left out.
    assert clone.ragx("query", "launch code")[0] == 0


def test_another_folder_behind_the_same_name_is_asked_about_anew(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    link = tmp_path / "model"
    link.symlink_to("a")
    allow(tmp_path, [model_wish("rerank.model", "./model", link).note])
    assert not missing_of(tmp_path, [model_wish("rerank.model", "./model", link)])
    link.unlink()
    link.symlink_to("b")
    assert missing_of(tmp_path, [model_wish("rerank.model", "./model", link)])


def test_no_setting_runs_a_program(clone: Clone) -> None:
    for setting in ('[embeddings]\nserver_bin = "./evil"\n', '[llama]\nbin = "./evil"\n', "[trust]\nservers = []\n"):
        clone.write(setting)
        code, said = clone.ragx("index")
        assert code == 2 and "unknown se" in said


# Where it is noted


def test_consent_lies_in_the_users_state_folder_and_nobody_else_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    monkeypatch.chdir(corpus)
    assert allow(corpus, ["server https://a.example"]) == ("server https://a.example",)
    assert allow(corpus, ["server https://a.example"]) == ()
    file = tmp_path / "home/.local/state/ragx/consent.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert list(corpus.iterdir()) == []
    (tmp_path / "alias").symlink_to("corpus")
    wish = model_wish("rerank.model", "./m", corpus / "m")
    allow(tmp_path / "alias", [wish.note])
    assert not missing_of(corpus, [wish])
    corpus.rename(tmp_path / "moved")
    assert missing_of(tmp_path / "moved", [wish])


def test_a_corpus_cannot_bring_consent(clone: Clone, server: Server) -> None:
    clone.names(server)
    for place in (".local/state/ragx/consent.json", ".ragx/consent.json", "ragx/consent.json", "consent.json"):
        (clone.root / place).parent.mkdir(parents=True, exist_ok=True)
        (clone.root / place).write_text(json.dumps({str(clone.root): [f"server http://0.0.0.0:{server.port}"]}))
    for changed in ({"XDG_STATE_HOME": ""}, {"XDG_STATE_HOME": "."}, {"XDG_STATE_HOME": "", "HOME": ""}):
        assert "which you have not allowed" in clone.ragx("index", **changed)[1]
    assert server.requests == []


def test_without_a_home_settings_can_be_set_and_nothing_is_allowed(clone: Clone) -> None:
    clone.write("")
    nowhere = {"HOME": "", "XDG_STATE_HOME": "", "USERPROFILE": ""}
    code, said = clone.ragx("config", "set", "embeddings.base_url", "https://a.example/v1", **nowhere)
    assert code == 0 and (
        "warning: neither HOME nor XDG_STATE_HOME is set, so what you allow cannot be noted\n" in said
    )
    clone.ragx("config", "set", "embeddings.provider", "openai", **nowhere)
    assert "which you have not allowed" in clone.ragx("index", **nowhere)[1]


def test_a_state_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    (tmp_path / "ragx.toml").touch()
    program = """
import os, sys
from pathlib import Path
from ragx.cli import run
os.environ["XDG_STATE_HOME"] = sys.argv[1]
os.chdir(Path(sys.argv[1]).parent)
sys.exit(run(["config", "set", "embeddings.base_url", "https://a.example/v1"]))
"""
    done = unprivileged.run(program, closed)
    assert done.returncode == 0 and done.stderr.splitlines()[1] == (
        f"warning: cannot make the folder {closed}/ragx: Permission denied; "
        "name a folder that can be written in XDG_STATE_HOME"
    )


@pytest.mark.parametrize("text", ["{", "[]", '{"a": 1}', "null", "[" * 100_000, "\x00"])
def test_a_damaged_note_allows_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    (tmp_path / "ragx").mkdir()
    (tmp_path / "ragx/consent.json").write_text(text)
    wish = model_wish("rerank.model", "./m", tmp_path / "m")
    with pytest.raises(ConfigError, match=r"consent\.json is damaged"):
        missing_of(tmp_path, [wish])
    with pytest.raises(ConfigError, match=r"consent\.json is damaged"):
        allow(tmp_path, [wish.note])
