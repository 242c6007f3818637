"""What every command shares: the options, the talk on stderr, the one JSON document on stdout, the open corpus."""

import contextlib
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from ragx.config import PROJECT_FILE, Loaded, find_root, index_dir, load
from ragx.errors import UsageError
from ragx.render.terminal import json_line, visible

if TYPE_CHECKING:
    from ragx.store import Store

_quiet = False


def set_quiet(quiet: bool) -> None:
    """Silences `talk` from here on, or lets it be heard again."""
    global _quiet
    _quiet = quiet


def is_quiet() -> bool:
    """Whether the user wants nothing on stderr but errors: no progress either."""
    return _quiet


def enter(directory: Path | None) -> Path | None:
    """Goes to the folder that a command is to run in."""
    # Paths among the other arguments are relative to DIR as well, so the process itself goes there.
    if directory is None:
        return None
    try:
        os.chdir(directory)
    except OSError as error:
        raise UsageError(f"cannot enter {directory}: {error.strerror}") from error
    return Path.cwd()


def _hush(quiet: bool) -> bool:
    if quiet:
        set_quiet(True)
    return quiet


Directory = Annotated[
    Path | None, typer.Option("-C", metavar="DIR", help="Run as if started in DIR.", callback=enter, is_eager=True)
]
Queries = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", show_default=False, help='JSON lines: {"query": TEXT, "relevant": [PATH or PATH:LINE, ...]}'
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print exactly one JSON document.")]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Only errors on stderr.", callback=_hush, is_eager=True, show_default=False),
]


@dataclass(frozen=True)
class OpenCorpus(Loaded):
    """The settings of a corpus that is there, and the folder of its index."""

    root: Path
    index_dir: Path


def open_corpus(directory: Path | None) -> OpenCorpus:
    """The corpus of `directory` (None: the current one) or of a folder above it; says its warnings on stderr."""
    loaded = settings_in_force(directory)
    if loaded.root is None:
        raise no_corpus()
    return OpenCorpus(
        config=loaded.config,
        root=loaded.root,
        warnings=loaded.warnings,
        sources=loaded.sources,
        index_dir=index_dir(loaded.root, loaded.config),
    )


def settings_in_force(directory: Path | None) -> Loaded:
    """The settings that hold in `directory`, corpus or not; says their warnings on stderr."""
    loaded = load(find_root(here(directory)))
    for warning in loaded.warnings:
        talk(f"warning: {warning}")
    return loaded


def no_corpus() -> UsageError:
    """The error of a command that was started outside of any corpus."""
    return UsageError(f"no {PROJECT_FILE} here or in a parent folder", "ragx init")


def inside(root: Path, start: Path, given: str) -> str:
    """A path or glob as the index spells it, relative to `root`; given as such, absolute, or relative to `start`."""
    if given.startswith(("./", "../", "/")) or given in (".", "..") or (start / given).exists():
        spelled = os.path.relpath(os.path.normpath(start / given), root).replace(os.sep, "/")
        if spelled.startswith("../") or spelled == "..":
            raise UsageError(f"{given} lies outside the corpus {root}")
        return "**" if spelled == "." else spelled
    return given


def here(directory: Path | None) -> Path:
    """The folder that the command was started in, or sent to by `-C`."""
    try:
        return directory or Path.cwd()
    except FileNotFoundError as error:
        raise UsageError("the current folder does not exist any more") from error


def talk(message: str) -> None:
    """A line on stderr for whoever watches; nothing with `--quiet`."""
    if not _quiet:
        say(visible(message))


def warn_unindexed(items: int) -> None:
    """Says how many relevant items of judged queries are not in the index, beside a document that lists them."""
    from ragx.render.text import counted

    if items:
        talk(f"warning: not in the index, and so not counted: {counted(items, 'relevant item')}")


def warn_incomplete(store: "Store") -> None:
    """Says on stderr if the index has no vectors and no graph yet."""
    from ragx.store import FINISH, INCOMPLETE, is_complete

    if not is_complete(store):
        talk(f"warning: {INCOMPLETE}; {FINISH}")


def say(message: str) -> None:
    """Lines on stderr, `--quiet` or not. A reader of stderr that went away ends no run."""
    with contextlib.suppress(OSError):
        print("\n".join(map(visible, message.split("\n"))), file=sys.stderr, flush=True)


def one_line(text: str) -> str:
    """The text on a single line."""
    return " ".join(line for part in text.splitlines() if (line := part.strip()))


def emit_json(document: Mapping[str, Any], to: TextIO | None = None) -> None:
    """Prints the command's one JSON document, in the order given, to stdout if nowhere else."""
    stream = to or sys.stdout
    # A backslash escape for what an ASCII stdout cannot carry would not be JSON.
    narrow = "utf" not in (stream.encoding or "").lower()
    print(json_line(document, ascii_only=narrow), file=stream)


def show_help(context: typer.Context) -> None:
    """Ends a group that was called without a command: its help on stderr, exit 2."""
    say(context.get_help())
    raise typer.Exit(2)
