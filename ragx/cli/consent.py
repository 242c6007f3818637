"""Asks the user on a terminal whether a corpus may do what its ragx.toml asks for; never anybody else."""

import sys

from ragx.cli.common import say, talk
from ragx.config import allow
from ragx.errors import ConsentNeeded
from ragx.render.terminal import visible


def is_given(needed: ConsentNeeded) -> bool:
    """Whether the user says yes, which is noted; False at once where nobody can be asked."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    say(visible(needed.question))
    # Python's own prompt may leave something on stdout.
    print("yes or no [no]: ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        return False
    allow(needed.corpus, needed.notes)
    return True


def report(notes: tuple[str, ...]) -> None:
    """Says what a setting has allowed besides."""
    for note in notes:
        kind, _, what = note.partition(" ")
        talk(f"note: {_ALLOWED[kind].format(what)}")


_ALLOWED = {
    "server": "texts and keys may be sent to {}",
    "variable": "{} may be sent as a key",
    "model": "the model in {} may be loaded",
}
