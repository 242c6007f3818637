"""Hides what strings and comments of a program hold, so that a definition in them is none, in linear time."""

import re
from bisect import bisect_right
from dataclasses import dataclass
from string import whitespace

COMMENT = "\x01"
"""Stands for the first character of a comment; the rest of it is blanks."""

_COMMENT_OR_BLANK = COMMENT + whitespace
_FILLER = "_"
_TAB = 8
_WORD_LINE = re.compile(r"^[ \t]*+(\w++)[ \t]*+;?[ \t]*+$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Line:
    """The line at `[start, end)`: the columns that it is indented by, and its masked code without blanks at its ends.

    `code` is COMMENT where there is nothing but comments. `inside`: the line begins within a string or comment.
    """

    start: int
    end: int
    indent: int
    code: str
    inside: bool


def lines_of(text: str, tokens: re.Pattern[str] | None) -> tuple[str, list[Line]]:
    """The text as long as before, strings and comments masked, and its lines.

    `tokens` matches what is hidden, in groups named `comment`, `string` and `heredoc` (the `<<` with its `tag`).
    It has to match also what is never closed, for looking for the end again and again takes quadratic time.
    """
    masked, inner = _mask(text, tokens) if tokens else (text, set())
    lines = []
    start = 0
    for line in masked.split("\n"):
        end = start + len(line)
        code = line.strip()
        if COMMENT in code:
            code = code.strip(_COMMENT_OR_BLANK) or COMMENT
        blanks = line[: len(line) - len(line.lstrip())]
        indent = len(blanks.expandtabs(_TAB)) if "\t" in blanks else len(blanks)
        lines.append(Line(start, end, indent, code, start in inner))
        start = end + 1
    return masked, lines


def _mask(text: str, tokens: re.Pattern[str]) -> tuple[str, set[int]]:
    """The masked text, and where those lines start that begin within a string or comment."""
    pieces: list[str] = []
    inner: set[int] = set()
    heredocs = _Heredocs(text)
    done = at = 0
    limit = len(text)  # the end of the line on which a heredoc was opened
    body_end = 0

    def hide(start: int, end: int, kind: str) -> None:
        nonlocal done
        pieces.append(text[done:start])
        pieces.append(_hidden(text[start:end], kind))
        newline = text.find("\n", start, end)
        while newline >= 0:
            inner.add(newline + 1)
            newline = text.find("\n", newline + 1, end)
        done = end

    while True:
        match = tokens.search(text, at, limit)
        if match is None and limit == len(text):
            break
        if match is None:
            inner.add(limit + 1)
            hide(limit + 1, body_end, "string")
            at, limit = body_end, len(text)
        elif match.lastgroup == "heredoc":
            at = match.end()
            line_end, after = (text.find("\n", at),) * 2 if limit == len(text) else (limit, body_end)
            closing = heredocs.closing(match["tag"], after)
            if line_end >= 0 and closing:
                limit, body_end = line_end, closing
        else:
            hide(match.start(), match.end(), match.lastgroup or "")
            at = match.end()
    pieces.append(text[done:])
    return "".join(pieces), inner


class _Heredocs:
    """Where the lines stand that hold one word and nothing else: they close a heredoc."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._closings: dict[str, list[tuple[int, int]]] | None = None

    def closing(self, tag: str, after: int) -> int:
        """The end of the first line behind `after` that closes the heredoc, 0 where there is none."""
        if self._closings is None:
            self._closings = {}
            for match in _WORD_LINE.finditer(self._text):
                self._closings.setdefault(match[1], []).append(match.span())
        closings = self._closings.get(tag, [])
        nth = bisect_right(closings, (after, len(self._text)))
        return closings[nth][1] if nth < len(closings) else 0


def _hidden(token: str, kind: str) -> str:
    """The token with its first and, of a string, last character and all line ends kept."""
    if kind == "comment":
        filled = "\n".join(" " * len(line) for line in token.split("\n"))
        return COMMENT + filled[1:]
    if len(token) < 2:
        return token
    return token[0] + "\n".join(_FILLER * len(line) for line in token[1:-1].split("\n")) + token[-1]
