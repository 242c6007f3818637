"""`ragx init`: makes a folder a corpus, and never touches a ragx.toml that is there."""

import os
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ragx.cli.common import Directory, Quiet, here, say, talk
from ragx.config import PROJECT_FILE, SETTINGS, find_root, initial_toml, parse_value
from ragx.config.edit import write
from ragx.errors import ConfigError, UsageError

_QUESTIONS = {
    "corpus.include": "Files to index, as comma-separated globs [Enter: documents and source code]",
    "corpus.exclude": "Files to leave out, as comma-separated globs [Enter: lock files, licences, build output]",
    "rerank.enabled": "Rerank the best hits with a cross-encoder? [Y/n]",
}
_YES_NO = {"y": "true", "yes": "true", "n": "false", "no": "false"}


def init(
    path: Annotated[Path, typer.Argument(metavar="[PATH]", help="Folder of the files to be searched.")] = Path("."),
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing, take the defaults.")] = False,
    interactive: Annotated[
        bool | None, typer.Option("--interactive/--no-interactive", help="Ask, or not; default: ask on a terminal.")
    ] = None,
    directory: Directory = None,
    quiet: Quiet = False,
) -> None:
    """Write ragx.toml, which makes a folder a corpus."""
    if yes and interactive:
        raise UsageError("--yes and --interactive exclude each other")
    root = Path(os.path.abspath(here(directory) / path))
    if not root.is_dir():
        raise UsageError(f"{path} is not a folder")
    target = root / PROJECT_FILE
    if os.path.lexists(target):
        raise UsageError(f"{target} is there already", "ragx config list")
    if (parent := find_root(root.parent)) is not None and parent != root:
        talk(f"note: {parent} is a corpus too; commands started inside {root} will use the new one")
    if interactive is None:
        interactive = not yes and sys.stdin.isatty() and sys.stderr.isatty()
    write(target, initial_toml(_ask() if interactive else {}))
    there = "" if root == here(directory) else f" -C {shlex.quote(str(root))}"
    talk(f"wrote {target}; now run: ragx index{there}")


def _ask() -> dict[str, Any]:
    """The answers that differ from the defaults, by setting."""
    answers = {}
    for name, question in _QUESTIONS.items():
        while text := _answer(question):
            try:
                answers[name] = parse_value(name, _YES_NO.get(text.lower(), text) if "[Y/n]" in question else text)
                break
            except ConfigError as error:
                say(error.message)
    return {name: value for name, value in answers.items() if value != SETTINGS[name].default}


def _answer(question: str) -> str:
    # typer's prompts, and Python's, leave something on stdout even where they ask on stderr.
    print(f"{question}: ", end="", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    if not line:
        say("")
        raise UsageError("the input ended before the last question", "ragx init --yes")
    return line.strip()


def register(app: typer.Typer) -> None:
    """Adds `init` to the command line."""
    app.command("init")(init)
