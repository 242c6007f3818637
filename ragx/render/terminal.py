"""What stdout can show: its width, whether escapes are welcome, and nothing that could drive a terminal by itself."""

import json
import os
import posixpath
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

PLAIN_WIDTH = 80
_LEAST_WIDTH = 20

# Control characters, lone surrogates, and what turns the direction of writing or ends a line unseen.
_HARMFUL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


@dataclass(frozen=True)
class View:
    """Who reads: a terminal or a pipe, with or without colour, `width` cells wide, from `folder` below the root."""

    terminal: bool = False
    color: bool = False
    width: int = PLAIN_WIDTH
    folder: str = ""

    def bold(self, text: str) -> str:
        return f"\x1b[1m{text}\x1b[22m" if self.color and text else text

    def dim(self, text: str) -> str:
        return f"\x1b[2m{text}\x1b[22m" if self.color and text else text

    def place(self, path: str) -> str:
        """A path of the corpus as the reader can open it from where they are."""
        shown = path
        if self.folder:
            shown = posixpath.relpath(f"/{path}", f"/{self.folder}") + "/" * path.endswith("/")
        shown = visible(shown)
        return f"\x1b[35m{shown}\x1b[39m" if self.color else shown


def view(stream: TextIO, root: Path, here: Path) -> View:
    """The view of whoever reads `stream` from the folder `here`."""
    terminal = stream.isatty()
    dumb = os.environ.get("TERM") == "dumb"
    below = os.path.relpath(os.path.realpath(here), os.path.realpath(root))
    return View(
        terminal=terminal,
        color=terminal and not dumb and not os.environ.get("NO_COLOR"),
        width=max(_LEAST_WIDTH, shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns) if terminal else PLAIN_WIDTH,
        folder="" if below == "." or below.startswith("..") else below.replace(os.sep, "/"),
    )


def json_line(value: Any, *, ascii_only: bool = False) -> str:
    """JSON on one line that is harmless where a terminal shows it: what it would obey is written as an escape."""
    text = json.dumps(value, ensure_ascii=ascii_only, allow_nan=False)
    return _HARMFUL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def visible(text: str) -> str:
    """The text with everything that a terminal obeys, or a reader cannot see, written as an escape; on one line."""
    return _HARMFUL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)
