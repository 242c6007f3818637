"""Whatever a corpus holds, no command prints what a terminal obeys or what hides text from its reader."""

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from ragx.cli import app, run

EVIL = "\x1b]0;owned\x07\x1b[2J\x9b2J\x7f\r\u202egnp\u2066\u2028\u200f\x85"
HARMFUL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
OURS = re.compile(r"\x1b\[(?:1|2|22|35|39)m")
NOTE = f"bees{EVIL}.md"
OTHER = f"sub{EVIL}/bees{EVIL}\n too.md"
ESCAPED = EVIL.encode("unicode_escape").decode()


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile") / f"corpus{EVIL}"
    folder.mkdir()
    text = f"---\ntitle: Bees{EVIL}\n---\n# Bees{EVIL}\n\nBees make honey{EVIL} all day. [[Wax{EVIL}]] #tag{EVIL}\n"
    for name in (NOTE, OTHER, "same.md", "again.md"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text + (f"\n## Wax{EVIL}\n\nWax is a building material.\n" if name == NOTE else ""))
    (folder / f"bees{EVIL}.py").write_text(f"def bees{ESCAPED}():\n    '''{EVIL}'''\n" + "    x = 1\n" * 40)
    (folder / f"binary{EVIL}.md").write_bytes(b"\x00\x01")
    (folder / f"dangling{EVIL}.md").symlink_to(f"nowhere{EVIL}")
    settings = {"doc_prefix": EVIL, "base_url": f"http://{EVIL}/"}
    lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in settings.items())
    (folder / "ragx.toml").write_text(f"[embeddings]\n{lines}[expansion]\nmodel = {json.dumps(EVIL)}\n")
    queries = [{"query": f"honey {EVIL}", "relevant": [NOTE, f"gone{EVIL}.md"]}, {"query": "x", "relevant": ["no\x1b"]}]
    (folder / "queries.jsonl").write_text("".join(json.dumps(query) + "\n" for query in queries))
    return folder


class Terminal(io.StringIO):
    """A stream that says of itself that it is a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def cases(root: Path) -> list[list[str]]:
    chunk = f"{NOTE}:5"
    return [
        ["--version"],
        ["index", "--dry-run", "-v"],
        ["index", "-v"],
        ["index", "--full", "--keep-vectors", "-v"],
        ["index", "--describe"],
        ["doctor"],
        ["init"],
        ["init", f"no{EVIL}"],
        ["query", "honey"],
        ["query", "honey", "--explain", "--all"],
        ["query", "honey", "--expand"],
        ["query", "honey", "--global", "--answer"],
        ["query", "honey", "--files-only"],
        ["query", "honey", "-C", "2"],
        ["query", "honey", "--budget", "500"],
        ["query", f"zzz{EVIL}", "--path", f"no{EVIL}"],
        ["query", "honey", "--path", f"/no{EVIL}"],
        ["query", "honey", "--kind", EVIL],
        ["query", "honey", "-C", EVIL],
        ["query", "honey", EVIL],
        ["similar", NOTE],
        ["similar", f"no{EVIL}"],
        ["similar", "--duplicates"],
        ["similar", NOTE, "--files-only"],
        ["status"],
        ["status", "--pending"],
        ["inspect", "chunk", chunk],
        ["inspect", "chunk", f"no{EVIL}:1"],
        ["inspect", "file", NOTE],
        ["inspect", "file", f"binary{EVIL}.md"],
        ["inspect", "neighbors", chunk],
        ["inspect", "links", NOTE],
        ["inspect", "communities"],
        ["inspect", "community", "0"],
        ["inspect", "path", NOTE, OTHER],
        ["sql", "FROM chunks"],
        ["sql", "FROM files", "--format", "markdown"],
        ["sql", "FROM files", "--format", "jsonl"],
        ["sql", f"SELECT 1 AS \"a{EVIL}\", '{EVIL}' AS b"],
        ["sql", f"EXPLAIN SELECT * FROM files WHERE path = '{EVIL}'"],
        ["sql", f"SELECT {EVIL}"],
        ["sql", f"@{EVIL}"],
        ["sql", "--show", EVIL],
        ["sql", "--list"],
        ["export", "out"],
        ["export", f"a/b{EVIL}/c"],
        ["export", "out2", "--only", EVIL],
        ["eval", "queries.jsonl", "--per-query"],
        ["eval", f"no{EVIL}"],
        ["tune", "queries.jsonl"],
        ["tune", "queries.jsonl", "--metric", EVIL],
        ["config", "list"],
        ["config", "get", "embeddings.doc_prefix"],
        ["config", "get", "embeddings"],
        ["config", "get", EVIL],
        ["config", "set", "query.top", EVIL],
        ["config", "set", "expansion.model", EVIL],
        ["agents"],
        ["schema"],
        ["schema", EVIL],
        [EVIL],
    ]


def leaves(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if not hasattr(command, "commands"):
        yield path
    for name, sub in getattr(command, "commands", {}).items():
        yield from leaves(sub, (*path, name))


def test_every_command_is_among_the_cases(tmp_path: Path) -> None:
    known = {tuple(case[:length]) for case in cases(tmp_path) for length in (1, 2)}
    assert [leaf for leaf in leaves(typer.main.get_command(app)) if leaf not in known] == []


def printed(
    monkeypatch: pytest.MonkeyPatch, folder: Path, arguments: list[str], *, terminal: bool
) -> tuple[int, str, str]:
    out, err = Terminal() if terminal else io.StringIO(), io.StringIO()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(folder.parent))
    monkeypatch.setattr("sys.stdout", out)
    monkeypatch.setattr("sys.stderr", err)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    return run(arguments), out.getvalue(), err.getvalue()


@pytest.mark.parametrize("terminal", [False, True], ids=["pipe", "terminal"])
def test_no_command_prints_what_a_terminal_obeys(corpus: Path, monkeypatch: pytest.MonkeyPatch, terminal: bool) -> None:
    seen = ""
    for arguments in cases(corpus):
        _, out, err = printed(monkeypatch, corpus, arguments, terminal=terminal)
        assert "Traceback" not in err, (arguments, err)
        left = OURS.sub("", out) if terminal else out
        assert not HARMFUL.search(left), (arguments, left)
        assert not HARMFUL.search(err), (arguments, err)
        seen += out
    # Not just because nothing was shown at all.
    assert seen.count(r"\x1b]0;owned\x07") > 50


def test_json_is_harmless_and_exact(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = ""
    for arguments in (
        ["index", "--json", "-v", "--full", "--keep-vectors"], ["query", "honey", "--json"], ["status", "--json"],
        ["inspect", "file", NOTE, "--json"], ["config", "list", "--json"], ["sql", "FROM files", "--json"],
        ["config", "get", EVIL, "--json"],
    ):  # fmt: skip
        _, out, _ = printed(monkeypatch, corpus, arguments, terminal=True)
        assert not HARMFUL.search(out), arguments
        found += repr(json.loads(out))
    assert repr(NOTE)[1:-1] in found and repr(OTHER)[1:-1] in found


def test_csv_is_exact_for_a_program_and_harmless_on_a_terminal(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    printed(monkeypatch, corpus, ["index"], terminal=False)
    arguments = ["sql", "SELECT path FROM files", "--format", "csv"]
    assert NOTE in printed(monkeypatch, corpus, arguments, terminal=False)[1]
    assert not HARMFUL.search(printed(monkeypatch, corpus, arguments, terminal=True)[1])


@pytest.mark.parametrize(
    "text", [f"[graph{ESCAPED[:10]}]", '["\\u001b]0;owned\\u0007\\u009b\\u202e"]', 'graph."\\u009b\\u202e" = 1',
             '[graph]\n"\\u009b\\u202e" = 1', '[graph]\nk = "\\u009b\\u202e\\u001b"', f"[graph]\nk = {EVIL}"]
)  # fmt: skip
def test_a_broken_ragx_toml_is_harmless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    (tmp_path / "ragx.toml").write_text(text)
    code, out, err = printed(monkeypatch, tmp_path, ["status"], terminal=True)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert not HARMFUL.search(err)
