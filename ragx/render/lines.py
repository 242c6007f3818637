"""A chunk's own lines in full and the lines around it, numbered as grep does: `12:` is its own, `12-` is not."""

from collections.abc import Iterator, Set
from dataclasses import dataclass

from ragx.files import lines_of
from ragx.render.snippet import Piece, clipped, marked
from ragx.render.terminal import View, visible
from ragx.types import Context, Hit, Lines

# A line of a notebook may be a picture.
_LONGEST_AROUND = 400
_ENOUGH = 4 * _LONGEST_AROUND


@dataclass(frozen=True)
class _Line:
    number: int
    own: bool
    text: str


def numbered(hit: Hit, around: Context, wanted: Set[str], view: View) -> list[str]:
    """The rows of a hit with its context; blank ones at both ends are left out."""
    lines = [
        *_around(around.before),
        *(_Line(hit.line_start + at, True, line) for at, line in enumerate(lines_of(hit.text))),
        *_around(around.after),
    ]
    filled = [at for at, line in enumerate(lines) if line.text.strip()]
    shown = lines[filled[0] : filled[-1] + 1] if filled else []
    width = max((len(str(line.number)) for line in shown), default=0)
    return [_row(line, hit.language, wanted, width, view) for line in shown]


def bold(piece: Piece, view: View) -> str:
    """A part of a row as the reader sees it."""
    return view.bold(piece.text) if piece.marked else piece.text


def _around(lines: Lines | None) -> Iterator[_Line]:
    if lines is not None:
        for at, line in enumerate(lines_of(lines.text)):
            yield _Line(lines.line_start + at, False, line[:_ENOUGH])


def _row(line: _Line, language: str, wanted: Set[str], width: int, view: View) -> str:
    text = visible(line.text.rstrip().expandtabs(4))
    if not line.own:
        return view.dim(f"{line.number:>{width}}- {clipped(text, _LONGEST_AROUND)}".rstrip())
    shown = "".join(bold(piece, view) for piece in marked(text, language, wanted))
    return f"{view.dim(f'{line.number:>{width}}:')} {shown}".rstrip()
