"""The frame of the command line, `init` and `config`, as processes: stdout, stderr and exit code."""

import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import ragx
from ragx.config import initial_toml
from tests.terminals import terminal

PACKAGE = str(Path(ragx.__file__).parent.parent)
HEAVY = ("duckdb", "numpy", "pyarrow", "onnxruntime", "httpx", "tokenizers", "huggingface_hub", "rich", "tomlkit")


class Shell:
    """A folder to start ragx in, with a home of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "corpus"
        self.home = folder / "home"
        self.folder.mkdir()
        self.home.mkdir()
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("RAGX_", "PYTHON"))}
        self.env = kept | {"HOME": str(self.home), "PYTHONPATH": PACKAGE}

    def start(self, *command: str, **options: object) -> "subprocess.Popen[bytes]":
        options = {"cwd": self.folder, "env": self.env, "stdin": subprocess.DEVNULL} | options
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        popen: Any = subprocess.Popen  # its overloads do not see through a dict of options
        process: subprocess.Popen[bytes] = popen([sys.executable, *command], **(pipes | options))
        return process

    def ragx(self, *arguments: str, **options: object) -> tuple[int, str, str]:
        process = self.start("-m", "ragx", *arguments, **options)
        out, err = process.communicate(timeout=60)
        return process.returncode, (out or b"").decode(), (err or b"").decode()

    def write(self, text: str) -> Path:
        path = self.folder / "ragx.toml"
        path.write_text(text, encoding="utf-8")
        return path


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_version_names_the_models_in_force_and_their_source(shell: Shell) -> None:
    assert shell.ragx("--version") == (
        0,
        f"ragx {ragx.__version__}\n"
        "embeddings: bge-small-en-v1.5 (default)\n"
        "reranker: ms-marco-MiniLM-L-12-v2 (default)\n"
        "config: defaults\n",
        "",
    )
    path = shell.write('[embeddings]\nmodel = "a"\n')
    (shell.home / ".ragxrc").write_text('[embeddings]\nmodel = "b"\n[rerank]\nenabled = false\n')
    assert shell.ragx("--version") == (
        0,
        f"ragx {ragx.__version__}\nembeddings: b (~/.ragxrc)\nreranker: off\nconfig: {path}, ~/.ragxrc\n",
        'warning: ~/.ragxrc sets embeddings.model = "b", which overrides "a" in ragx.toml\n',
    )
    assert shell.ragx("--quiet", "--version")[2] == ""


def test_version_is_printed_even_where_the_config_is_broken(shell: Shell) -> None:
    path = shell.write("[graph]\nk = 'eight'\n")
    code, out, err = shell.ragx("--version")
    assert (code, out) == (2, f"ragx {ragx.__version__}\n")
    assert err == f'ragx: {path}: graph.k = "eight": expected a whole number from 1 to 100\n'


def test_help_and_version_load_no_heavy_library(shell: Shell) -> None:
    program = f"""
import sys, typer
from ragx.cli import app, run
names = list(typer.main.get_command(app).commands)
for arguments in (["--version"], ["--help"], *([name, "--help"] for name in names)):
    assert run(arguments) == 0, arguments
    loaded = sorted(set({HEAVY!r}) & set(sys.modules))
    assert not loaded, (arguments, loaded)
"""
    process = shell.start("-c", program)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err.decode()
    assert b"Usage: ragx config" in out


def test_no_command_is_an_error_that_shows_the_help(shell: Shell) -> None:
    for arguments in ([], ["config"]):
        code, out, err = shell.ragx(*arguments)
        assert (code, out) == (2, "")
        assert err.startswith(" ".join(["Usage: ragx", *arguments]))
    code, out, err = shell.ragx("--help")
    assert (code, err) == (0, "") and out.startswith("Usage: ragx")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--foo"], "ragx: no such option --foo; run: ragx --help"),
        (["inti"], "ragx: no such command 'inti'. Did you mean 'init'?; run: ragx --help"),
        (["init", "--foo"], "ragx init: no such option --foo; run: ragx init --help"),
        (["config", "get"], "ragx config get: missing argument 'KEY'; run: ragx config get --help"),
        (
            ["config", "get", "a", "b"],
            "ragx config get: got unexpected extra argument(s) (b); run: ragx config get --help",
        ),
        (["config", "list", "-C"], "ragx config list: option '-C' requires an argument; run: ragx config list --help"),
        (["config", "list", "-C", "no\nwhere"], "ragx: cannot enter no where: No such file or directory"),
        (["config", "get", "graph.kk"], "ragx: unknown setting graph.kk; did you mean graph.k?"),
    ],
)
def test_an_error_is_one_line(shell: Shell, arguments: list[str], line: str) -> None:
    assert shell.ragx(*arguments) == (2, "", line + "\n")


def test_a_usage_error_with_json_is_one_document_as_well(shell: Shell) -> None:
    code, out, err = shell.ragx("config", "get", "x", "--nope", "--json")
    assert (code, err) == (2, "ragx config get: no such option --nope; run: ragx config get --help\n")
    assert json.loads(out) == {
        "schema": "ragx.error.v1",
        "code": "usage",
        "message": "no such option --nope",
        "hint": "ragx config get --help",
    }
    code, out, err = shell.ragx("config", "get", "graph.kk", "--json")
    assert (code, err) == (2, "ragx: unknown setting graph.kk; did you mean graph.k?\n")
    assert json.loads(out) == {
        "schema": "ragx.error.v1",
        "code": "config",
        "message": "unknown setting graph.kk",
        "hint": "did you mean graph.k?",
    }


def test_json_after_a_double_dash_is_an_argument(shell: Shell) -> None:
    code, out, err = shell.ragx("config", "get", "--", "--json")
    assert (code, out) == (2, "")
    assert err == "ragx: unknown setting --json; run: ragx config list\n"


BOOM = """
import sys
from ragx.cli import app, run
@app.command()
def boom(json: bool = False) -> None:
    {}
sys.exit(run(["boom", *sys.argv[1:]]))
"""


def test_a_bug_keeps_its_plain_traceback_and_does_not_read_as_no_results(shell: Shell) -> None:
    process = shell.start("-c", BOOM.format("1 / 0"), "--json")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert err.startswith(b"Traceback (most recent call last):\n") and err.endswith(
        b"\nZeroDivisionError: division by zero\n"
    )
    assert json.loads(out)["code"] == "bug"


@pytest.mark.parametrize("size", [10, 1_000_000])
def test_a_reader_that_has_seen_enough_is_no_error(shell: Shell, size: int) -> None:
    read, write = os.pipe()
    os.close(read)
    process = shell.start("-c", BOOM.format(f"print('x' * {size})"), stdout=write)
    os.close(write)
    assert process.communicate(timeout=60)[1] == b""
    assert process.returncode == 0


def test_help_into_a_closed_pipe_is_no_error(shell: Shell) -> None:
    read, write = os.pipe()
    os.close(read)
    assert shell.ragx("--help", stdout=write) == (0, "", "")
    assert shell.ragx("nonsense", stderr=write) == (2, "", "")
    os.close(write)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
@pytest.mark.parametrize("size", [10, 1_000_000])
def test_a_full_disk_under_stdout_is_one_line(shell: Shell, size: int) -> None:
    with open("/dev/full", "wb") as full:
        process = shell.start("-c", BOOM.format(f"print('x' * {size})"), stdout=full)
    assert (
        process.communicate(timeout=60)[1]
        == b"ragx: cannot write stdout: No space left on device; free some space and run it again\n"
    )
    assert process.returncode == 2


def test_closed_standard_streams_do_no_harm(shell: Shell) -> None:
    shell.write("")
    line = f"{sys.executable} -m ragx config list"
    for closed in (">&-", "2>&-", ">&- 2>&-", "<&-"):
        process = subprocess.run(
            ["sh", "-c", f"{line} {closed}"], cwd=shell.folder, env=shell.env, capture_output=True, timeout=60
        )
        assert (process.returncode, process.stderr) == (0, b"")


def test_a_character_that_stdout_cannot_show_is_escaped(shell: Shell) -> None:
    shell.write('[embeddings]\ndoc_prefix = "é中🙂: "\n')
    shell.env |= {"PYTHONIOENCODING": "ascii"}
    assert shell.ragx("config", "get", "embeddings.doc_prefix") == (0, "\\xe9\\u4e2d\\U0001f642: \n", "")
    code, out, _ = shell.ragx("config", "get", "embeddings.doc_prefix", "--json")
    assert code == 0 and out.isascii()
    assert json.loads(out)["settings"]["embeddings.doc_prefix"]["value"] == "é中🙂: "
    assert shell.ragx("config", "get", "é")[2] == "ragx: unknown setting \\xe9; run: ragx config list\n"
    del shell.env["PYTHONIOENCODING"]
    shell.env |= {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    assert shell.ragx("config", "get", "embeddings.doc_prefix")[:2] == (0, "\\xe9\\u4e2d\\U0001f642: \n")


def test_control_characters_of_a_name_do_not_reach_the_terminal(shell: Shell) -> None:
    assert shell.ragx("config", "get", "\x1b[31mred\x07")[2] == (
        "ragx: unknown setting \\x1b[31mred\\x07; run: ragx config list\n"
    )


def test_ctrl_c_is_one_line_and_130(shell: Shell) -> None:
    process = shell.start("-c", BOOM.format("print(flush=True); import time; time.sleep(60)"))
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[1] == b"interrupted\n"
    assert process.returncode == 130


def test_ctrl_c_in_a_duckdb_query_is_no_bug(shell: Shell) -> None:
    query = "select sum(a.range * b.range) from range(1000000) a, range(1000000) b"
    body = f"import duckdb; print(flush=True); duckdb.connect(config={{'threads': 1}}).execute({query!r}).fetchall()"
    process = shell.start("-c", BOOM.format(body))
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60)[1] == b"interrupted\n"
    assert process.returncode == 130


def test_init_writes_the_defaults_and_never_overwrites(shell: Shell) -> None:
    path = shell.folder / "ragx.toml"
    assert shell.ragx("init") == (0, "", f"wrote {path}; now run: ragx index\n")
    assert path.read_text() == initial_toml()
    path.write_text("# mine\n")
    assert shell.ragx("init", "--yes") == (
        2,
        "",
        f"ragx: {path} is there already; run: ragx config list\n",
    )
    assert path.read_text() == "# mine\n"
    path.unlink()
    path.symlink_to("nowhere")
    assert shell.ragx("init")[0] == 2


def test_init_inside_a_corpus_says_so(shell: Shell) -> None:
    shell.write("")
    (shell.folder / "a b").mkdir()
    there = shell.folder / "a b"
    assert shell.ragx("init", "a b") == (
        0,
        "",
        f"note: {shell.folder} is a corpus too; commands started inside {there} will use the new one\n"
        f"wrote {there}/ragx.toml; now run: ragx index -C '{there}'\n",
    )
    assert shell.ragx("init", "-C", "a b", "nowhere")[2] == "ragx: nowhere is not a folder\n"


def test_init_asks_on_demand_and_writes_only_what_differs(shell: Shell) -> None:
    process = shell.start("-m", "ragx", "init", "--interactive", stdin=subprocess.PIPE)
    out, err = process.communicate(b"*.md, notes/*.txt\n\nmaybe\nn\n", timeout=60)
    assert (process.returncode, out) == (0, b"")
    assert b"Files to index" in err and b'rerank.enabled = "maybe": expected true or false' in err
    changed = [
        line
        for line in (shell.folder / "ragx.toml").read_text().splitlines()
        if line not in initial_toml().splitlines()
    ]
    assert changed == ['include = ["*.md", "notes/*.txt"]', "enabled = false"]


def test_init_without_answers_writes_nothing(shell: Shell) -> None:
    code, out, err = shell.ragx("init", "--interactive")
    assert (code, out) == (2, "")
    assert err.endswith("\nragx: the input ended before the last question; run: ragx init --yes\n")
    assert shell.ragx("init", "--interactive", "--yes")[0] == 2
    assert not (shell.folder / "ragx.toml").exists()


def test_init_asks_on_a_terminal_unless_told_not_to(shell: Shell) -> None:
    def answer(*arguments: str) -> bytes:
        with terminal(b"\n\n\n") as (there, printed):
            process = shell.start("-m", "ragx", "init", *arguments, stdin=there, stdout=there, stderr=there)
            said = printed()
        assert process.wait(timeout=60) == 0
        return said

    said = answer()
    assert b"Files to index" in said and b"\x1b" not in said
    assert (shell.folder / "ragx.toml").read_text() == initial_toml()
    (shell.folder / "ragx.toml").unlink()
    assert b"Files to index" not in answer("--no-interactive")


def test_get_prints_a_value_a_section_or_one_document(shell: Shell) -> None:
    shell.write('[graph]\nk = 9\n[corpus]\ninclude = ["*.md"]\n')
    assert shell.ragx("config", "get", "graph.k") == (0, "9\n", "")
    assert shell.ragx("config", "get", "embeddings.provider") == (0, "onnx\n", "")
    assert shell.ragx("config", "get", "rerank.depth") == (0, "auto\n", "")
    assert shell.ragx("config", "get", "corpus.include") == (0, '["*.md"]\n', "")
    assert shell.ragx("config", "get", "rerank.enabled") == (0, "true\n", "")
    assert shell.ragx("config", "get", "keyword") == (
        0,
        "keyword.k1 = 1.2  # default\nkeyword.b = 0.75  # default\n",
        "",
    )
    assert shell.ragx("config", "get", "graph.k", "--json") == (
        0,
        '{"schema": "ragx.config.v1", "settings": {"graph.k": {"value": 9, "source": "ragx.toml"}}}\n',
        "",
    )
    assert shell.ragx("config", "get", "grap")[0] == 2


def test_list_names_the_source_of_every_setting(shell: Shell) -> None:
    shell.write("[graph]\nk = 9\n")
    (shell.home / ".ragxrc").write_text('[index]\npath = "/somewhere"\n')
    code, out, err = shell.ragx("config", "list")
    assert (code, err) == (0, "")
    assert {"graph.k = 9  # ragx.toml", 'index.path = "/somewhere"  # ~/.ragxrc', "query.top = 8  # default"} <= set(
        out.splitlines()
    )
    settings = json.loads(shell.ragx("config", "list", "--json")[1])["settings"]
    assert len(settings) == len(out.splitlines())
    assert settings["index.path"] == {"value": "/somewhere", "source": "~/.ragxrc"}
    assert settings["rerank.depth"] == {"value": "auto", "source": "default"}


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("graph.k", "abc", 'graph.k = "abc": expected a whole number from 1 to 100'),
        ("graph.k", "-4", "graph.k = -4: expected a whole number from 1 to 100"),
        ("rerank.enabled", "maybe", 'rerank.enabled = "maybe": expected true or false'),
        ("fusion.method", "banana", 'fusion.method = "banana": expected one of convex, rrf'),
        ("graph.kkk", "1", "unknown setting graph.kkk; did you mean graph.k?"),
    ],
)
def test_set_refuses_what_the_table_does_not_allow_and_leaves_the_file(
    shell: Shell, name: str, value: str, line: str
) -> None:
    path = shell.write("# mine\n")
    assert shell.ragx("config", "set", name, value) == (2, "", f"ragx: {line}\n")
    assert path.read_text() == "# mine\n"


def test_set_from_a_subfolder_keeps_comments_and_says_what_makes_it_effective(shell: Shell) -> None:
    path = shell.write("# mine\n[graph]\nk = 8  # few\n")
    (shell.folder / "sub").mkdir()
    assert shell.ragx("config", "set", "graph.k", "9", cwd=shell.folder / "sub") == (
        0,
        "",
        f"graph.k = 9 in {path}\ntakes effect with: ragx index\n",
    )
    assert path.read_text() == "# mine\n[graph]\nk = 9  # few\n"
    assert shell.ragx("config", "set", "chunking.size_tokens", "400")[2].endswith(
        "takes effect with: ragx index --full\n"
    )
    assert shell.ragx("config", "set", "query.top", "5")[2] == f"query.top = 5 in {path}\n"
    assert shell.ragx("config", "set", "-q", "graph.min_edge_sim", "-0.25") == (0, "", "")
    assert shell.ragx("config", "get", "graph.min_edge_sim")[1] == "-0.25\n"


def test_dash_c_runs_as_if_started_there(shell: Shell) -> None:
    shell.write("[graph]\nk = 9\n")
    for arguments in (["config", "get", "graph.k", "-C", "corpus"], ["-C", "corpus", "config", "get", "graph.k"]):
        assert shell.ragx(*arguments, cwd=shell.folder.parent) == (0, "9\n", "")


def test_set_outside_of_a_corpus_names_init(shell: Shell) -> None:
    assert shell.ragx("config", "set", "graph.k", "9") == (
        2,
        "",
        "ragx: no ragx.toml here or in a parent folder; run: ragx init\n",
    )


def test_set_global_writes_only_settings_of_the_machine(shell: Shell) -> None:
    rc = shell.home / ".ragxrc"
    code, out, err = shell.ragx("config", "set", "--global", "graph.k", "9")
    assert (code, out, rc.exists()) == (2, "", False)
    assert err.startswith("ragx: graph.k belongs to a corpus: ~/.ragxrc holds only [embeddings],")
    assert shell.ragx("config", "set", "--global", "rerank.enabled", "false") == (
        0,
        "",
        f"rerank.enabled = false in {rc}\n",
    )
    assert stat.S_IMODE(rc.stat().st_mode) == 0o600
    shell.write("")
    assert shell.ragx("config", "set", "index.path", "/x")[0] == 2
    assert shell.ragx("config", "set", "rerank.enabled", "true")[2].splitlines()[1] == (
        "warning: ~/.ragxrc sets rerank.enabled = false, which overrides it"
    )
    del shell.env["HOME"]
    assert shell.ragx("config", "set", "--global", "rerank.enabled", "true")[2] == (
        "ragx: HOME is not set, so there is no ~/.ragxrc\n"
    )


def test_a_folder_that_is_gone_is_one_line(shell: Shell) -> None:
    line = f"mkdir x; cd x; rmdir ../x; {sys.executable} -m ragx config list"
    process = subprocess.run(["sh", "-c", line], cwd=shell.folder, env=shell.env, capture_output=True, timeout=60)
    assert (process.returncode, process.stderr) == (2, b"ragx: the current folder does not exist any more\n")
