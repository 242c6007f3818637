"""Reads the statements of a program off its indentation, with the comments and decorators that belong to each."""

import re
from dataclasses import dataclass

from ragx.chunking.grammar import Grammar
from ragx.chunking.lexing import COMMENT, lines_of
from ragx.chunking.sections import clean_title

_LONG_LINE = 80
_HEAD_CHARS = 400
_QUOTES = "\"'`[] "
_QUOTED_DOT = re.compile(r"[\"`\]]\s*\.\s*[\"`\[]")
_TYPEDEF_NAME = re.compile(r"\}\s*\**(\w+)[^;{}]*;\s*$")

_BLANK, _INSIDE, _COMMENT, _LOOSE, _LEAD, _GOES_ON, _CODE = range(7)


@dataclass(frozen=True, slots=True)
class Statement:
    """The lines `[start, end)`: comments and decorators, and from `head` on what they are about."""

    start: int
    head: int
    end: int


@dataclass(frozen=True, slots=True)
class Definition:
    """What a statement defines; `path` is its name, if it has one, after that of the type which it belongs to."""

    path: tuple[str, ...]
    is_type: bool


class Outline:
    """The statements of a text, each level of its indentation read when it is asked for."""

    def __init__(self, text: str, grammar: Grammar) -> None:
        tokens = re.compile(grammar.tokens, re.MULTILINE) if grammar.tokens else None
        self._text = text
        self._masked, self.lines = lines_of(text, tokens)
        self._headers = grammar.headers
        self._types, self._functions, self._members, self._unfinished, self._starts = map(
            re.compile, (grammar.types, grammar.functions, grammar.members, grammar.unfinished, grammar.starts)
        )
        kinds = [(_LOOSE, grammar.loose), (_LEAD, grammar.lead), (_GOES_ON, grammar.goes_on)]
        patterns = [(kind, re.compile(pattern).match) for kind, pattern in kinds if pattern]
        self._kinds: list[int] = []
        self._depths: list[int] = []
        self._weights = [0]
        carried_on = False  # a macro goes on after a backslash
        for line in self.lines:
            code = line.code
            if line.inside or (carried_on and code):
                kind = _INSIDE
            elif not code:
                kind = _BLANK
            elif code == COMMENT:
                kind = _COMMENT
            else:
                kind = next((kind for kind, matches in patterns if matches(code)), _CODE)
            carried_on = (carried_on or kind == _LOOSE) and code.endswith("\\")
            self._kinds.append(kind)
            self._depths.append(2 * line.indent + (grammar.dashes and code[:1] == "-" and code[1:2] in ("", " ")))
            blank = line.start == line.end or text[line.start : line.end].isspace()
            self._weights.append(self._weights[-1] + (0 if blank else 1 + (line.end - line.start) // _LONG_LINE))

    def weight(self, start: int, end: int) -> int:
        """How many lines `[start, end)` hold that are not blank, a long one being several."""
        return self._weights[end] - self._weights[start]

    def level(self, start: int, end: int, above: int) -> int | None:
        """The level of the statements in these lines that are deeper than the level `above`."""
        depths = (self._depths[at] for at in range(start, end) if self._kinds[at] in (_CODE, _LEAD))
        return min((depth for depth in depths if depth > above), default=None)

    def statements(self, start: int, end: int, level: int) -> list[Statement]:
        """The statements at `level` in these lines, ascending, each up to the next; what stands before them is none."""
        found: list[tuple[int, int]] = []
        pending: int | None = None  # where the comments and decorators begin that wait for what they belong to
        decorated = gap = False
        last = 0  # the last line of code
        for at in range(start, end):
            kind = self._kinds[at]
            if kind in (_BLANK, _INSIDE):
                gap = kind == _BLANK
                continue
            ends_lead, gap = gap and not decorated, False
            depth = self._depths[at]
            if depth <= level and kind in (_COMMENT, _LOOSE, _LEAD):
                if pending is not None and ends_lead:
                    found.append((pending, pending))
                    pending = None
                if pending is None:
                    pending, decorated = at, False
                decorated = decorated or kind == _LEAD
            elif depth != level or kind == _GOES_ON or (found and self._goes_on(found[-1][1], last, at, ends_lead)):
                if not decorated:
                    pending = None
                last = at
            else:
                if pending is not None and ends_lead:
                    found.append((pending, pending))
                    pending = None
                found.append((at if pending is None else pending, at))
                pending, decorated, last = None, False, at
        if pending is not None:
            found.append((pending, pending))
        ends = [begin for begin, _ in found[1:]] + [end]
        return [Statement(begin, head, stop) for (begin, head), stop in zip(found, ends, strict=True)]

    def definition(self, statement: Statement, *, within_type: bool) -> Definition | None:
        """What the statement defines, if anything."""
        line = self.lines[statement.head]
        end = min(line.start + _HEAD_CHARS, self.lines[statement.end - 1].end)
        head = self._masked[line.start : end].replace(COMMENT, " ")
        at = len(head) - len(head.lstrip())
        found = self._types.match(head, at)
        is_type = found is not None
        found = found or self._functions.match(head, at) or (self._members.match(head, at) if within_type else None)
        if not found:
            return None
        names = [name for name, value in found.groupdict().items() if value and name.startswith(("owner", "name"))]
        places = sorted(found.span(name) for name in names)
        path = [_name(self._text[line.start + a : line.start + b]) for a, b in places]
        if not path and head.startswith("typedef", at):
            tail = _TYPEDEF_NAME.search(self._masked[max(line.start, end - _HEAD_CHARS) : end])
            path = [tail[1]] if tail else []
        return Definition(tuple(name for name in path if name), is_type)

    def _goes_on(self, head: int, last: int, at: int, gap: bool) -> bool:
        """Whether the line, at the level of the statement that begins at `head`, belongs to it all the same."""
        code = self.lines[at].code
        if self._headers and self.lines[head].code.startswith("["):
            return not code.startswith("[")
        if not self._unfinished.match(self.lines[last].code):
            return False
        return not (gap and self._starts.match(code))


def _name(written: str) -> str:
    return clean_title(_QUOTED_DOT.sub(".", written).strip(_QUOTES))
