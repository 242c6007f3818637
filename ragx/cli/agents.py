"""`ragx agents` and `ragx schema`: what a program needs to be told, and the form of every document that it reads."""

import difflib
from importlib.resources import files
from typing import Annotated

import typer

from ragx.errors import UsageError

BLOCK = """\
## Searching this repository with ragx

The files here are indexed with ragx (`.ragx/`), by meaning and by word. Ask it first when you look for where something
is explained, decided or implemented. grep stays the tool for every occurrence of an exact string.

- Read what answers a question, in one call: `ragx query "how are sessions revoked?" --budget 3000` prints whole
  passages, best first, each as a line `path:START-END` and its text, 3000 tokens at most.
- Only find the files: `ragx query "..." --files-only`
- What is there at all about something broad: `ragx query --global "..."` names its topics, each with its best passages.
- Find places: `ragx query "..." --json --top 8`. Every result has `file`, `line_start`, `line_end`, `byte_start` and
  `byte_end`; its `text` may be cut (`truncated`), so read those lines of the file before you edit or quote them.
  `also_in` lists where nearly the same stands, which an edit may have to reach too.
- Narrow it down: `--path 'docs/**'`, `--kind python`. Faster, a little less precise: `--no-rerank`.
- After you changed files, add `--refresh` to the query, or run `ragx index`: only what changed is read again. What
  comes from a file that changed since is marked `stale`; `ragx status --json` counts such files under `drift`.
- What else is like this place: `ragx similar src/session.py:40`. How two files hang together:
  `ragx inspect path A B`. Why a result is there: `ragx query "..." --explain`.

stdout is data: with `--json` exactly one document, whose form `ragx schema NAME` prints. stderr is talk.
Exit codes: 0 there are results; 1 all went well, but nothing here is about the question (`--all` shows the nearest
anyway); 2 an error, in one line that names the command that mends it.
"""


def agents() -> None:
    """Print the paragraph on ragx for AGENTS.md or CLAUDE.md."""
    print(BLOCK, end="")


def schema(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="A document, such as ragx.query.v1.  [default: list them]")
    ] = None,
) -> None:
    """Print the JSON Schema of a document, or the names of all."""
    folder = files("ragx") / "schemas"
    names = sorted(entry.name.removesuffix(".json") for entry in folder.iterdir() if entry.name.endswith(".json"))
    if name is None:
        print("\n".join(names))
    elif name in names:
        print((folder / f"{name}.json").read_text(encoding="utf-8"), end="")
    else:
        # `query` and `query.v1` are near enough to be told what they would be.
        near = [full for full in names if name in full] or difflib.get_close_matches(name, names, 1)
        raise UsageError(f"no schema {name}", f"ragx schema {near[0]}" if near else "ragx schema")


def register(app: typer.Typer) -> None:
    """Adds `agents` and `schema` to the command line."""
    app.command("agents")(agents)
    app.command("schema")(schema)
