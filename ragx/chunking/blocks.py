"""Finds the headings and fences of a Markdown text as CommonMark 0.31 (GFM for tables) reads it, in linear time."""

import re
from dataclasses import dataclass

from ragx.chunking.htmlblocks import BLANK, html_end
from ragx.chunking.sections import Heading

MAX_DEPTH = 32
"""Deeper quotes and lists are text: a line may nest as many as it has characters, and later lines enter them all."""

_QUOTE = 0
_NONE, _PARAGRAPH, _TABLE, _FENCE, _HTML = range(5)

# A line at top level that starts otherwise is text.
_MARKS = frozenset(" \t\v\f\x1c\x1d\x1e\x1f\x85\xa0#>`~<=-_*+|:0123456789")

_SPACES = re.compile(r" *")
_ATX = re.compile(r"(#{1,6})(?: |$)")
_FENCE_START = re.compile(r"(`{3,})[^`]*$|(~{3,})")
_ITEM = re.compile(r"([-+*]|([0-9]{1,9})[.)])( +|$)")
_DELIMITER_ROW = re.compile(r"\|?(?: *:?-+:? *\|)*(?: *:?-+:?)? *$")
_DEFINITION = re.compile(r"""\s*\[[^\]]+\]:\s*(?:<[^<>]*>|[^\s<]\S*)(?:\s+(?:"[^"]*"|'[^']*'|\([^()]*\)))?\s*$""")


@dataclass(frozen=True, slots=True)
class Blocks:
    """Headings outside of lists and quotes, with the markup in their text, and the lines of fences; each ascending."""

    headings: tuple[Heading, ...]
    fences: tuple[tuple[int, int], ...]


def blocks(text: str) -> Blocks:
    """The blocks of a text whose line ends are all `\\n`."""
    reader = _Reader(text)
    start = 0
    for line in text.split("\n"):
        end = start + len(line)
        reader.line(start, end, line.expandtabs(4) if "\t" in line else line)
        start = end + 1
    reader.close_fence(len(text))
    return Blocks(tuple(reader.headings), tuple(reader.fences))


class _Reader:
    """Which quotes, list items and leaf are open after the lines read so far."""

    def __init__(self, text: str) -> None:
        self.headings: list[Heading] = []
        self.fences: list[tuple[int, int]] = []
        self._text = text
        self._containers: list[int] = []  # _QUOTE, or how many columns a list item's content is indented by
        self._bare_item = False  # the last line began a list item and nothing else
        self._leaf = _NONE
        self._leaf_start = 0
        self._row = ""  # the paragraph's last line
        self._fence = ""
        self._html_end = BLANK

    def line(self, start: int, end: int, line: str) -> None:
        """Reads the line at `[start, end)`, its tabs expanded."""
        if not self._containers and self._leaf <= _TABLE and line and line[0] not in _MARKS:
            self._add_text(start, line, 0, False)
            return
        rest, entered = self._enter(line)
        bare_item, self._bare_item = self._bare_item, False
        if self._leaf >= _FENCE and entered == len(self._containers):
            if self._leaf == _HTML:
                if self._html_end.search(rest):
                    self._leaf = _NONE
            elif self._ends_fence(rest):
                self.close_fence(end)
        elif rest.strip():
            if self._leaf >= _FENCE:
                self.close_fence(start)
            self._open(start, end, rest, entered)
        else:
            self.close_fence(start)
            # A list item may begin with one blank line, not with two.
            del self._containers[entered - 1 if bare_item and entered == len(self._containers) else entered :]

    def close_fence(self, end: int) -> None:
        """Ends whatever is open; a fence without its closing line ends at its last line that is not blank."""
        if self._leaf == _FENCE:
            self.fences.append((self._leaf_start, self._leaf_start + len(self._text[self._leaf_start : end].rstrip())))
        self._leaf = _NONE

    def _enter(self, line: str) -> tuple[str, int]:
        """What is left of the line within the containers that it continues, and how many those are."""
        at = 0
        for depth, width in enumerate(self._containers):
            content = _indent_end(line, at)
            if width == _QUOTE:
                if content - at > 3 or not line.startswith(">", content):
                    return line[at:], depth
                at = content + (2 if line.startswith(" ", content + 1) else 1)
            elif content - at >= width:
                at += width
            elif line[content:].strip():
                return line[at:], depth
        return line[at:], len(self._containers)

    def _open(self, start: int, end: int, rest: str, entered: int) -> None:
        """Opens the blocks that start on the line; what starts none is text."""
        new = False  # whether the line opened a container, which ends the paragraph before it
        while True:
            paragraph = self._leaf == _PARAGRAPH and not new
            directly = paragraph and entered == len(self._containers)
            indent = _indent_end(rest, 0)
            mark = rest[indent : indent + 1]
            if indent > 3:
                if not paragraph:  # indented code
                    self._close(entered)
                return
            body = rest[indent:]
            if mark == ">" and entered < MAX_DEPTH:
                self._close(entered)
                self._containers.append(_QUOTE)
                rest = body[2 if body.startswith("> ") else 1 :]
            elif directly and mark in "=-" and self._is_underline(body, start):
                self._add_heading(self._leaf_start, end, 1 if mark == "=" else 2, self._text[self._leaf_start : start])
                return
            elif directly and mark in "|:-" and "|" in self._row and _is_delimiter_row(body, self._row):
                self._leaf = _TABLE
                return
            elif _is_break(body):
                self._close(entered)
                return
            elif (item := _ITEM.match(body)) and entered < MAX_DEPTH and _may_start(item, body, directly):
                rest = self._open_item(item, indent, body, entered)
            elif self._open_leaf(start, end, body, entered, paragraph):
                return
            else:
                self._add_text(start, body, entered, new)
                return
            new = True
            entered += 1
            if not rest.strip():
                return

    def _open_item(self, item: re.Match[str], indent: int, body: str, entered: int) -> str:
        self._close(entered)
        self._bare_item = not body[item.end() :].strip()
        spaces = len(item[3])
        # Five spaces are one, and an indented code block.
        width = len(item[1]) + (1 if self._bare_item or spaces > 4 else spaces)
        self._containers.append(indent + width)
        return body[width:]

    def _open_leaf(self, start: int, end: int, body: str, entered: int, paragraph: bool) -> bool:
        """Opens a heading, fence or HTML block, if the line starts one."""
        if heading := _ATX.match(body):
            self._close(entered)
            self._add_heading(start, end, len(heading[1]), _without_closing(body[heading.end() :]))
        elif fence := _FENCE_START.match(body):
            self._close(entered)
            self._leaf, self._leaf_start, self._fence = _FENCE, start, fence[1] or fence[2]
        elif body[0] == "<" and (last := html_end(body, paragraph)):
            self._close(entered)
            self._leaf, self._html_end = _NONE if last.search(body) else _HTML, last
        else:
            return False
        return True

    def _add_text(self, start: int, body: str, entered: int, new: bool) -> None:
        if self._leaf == _PARAGRAPH and not new:  # also where a quote's or list item's text runs on without its mark
            self._row = body
        elif self._leaf != _TABLE or new or entered < len(self._containers):
            self._close(entered)
            self._leaf, self._leaf_start, self._row = _PARAGRAPH, start, body

    def _add_heading(self, start: int, end: int, level: int, text: str) -> None:
        self._leaf = _NONE
        if not self._containers:
            self.headings.append(Heading(start, end, level, text))

    def _close(self, entered: int) -> None:
        del self._containers[entered:]
        self._leaf = _NONE

    def _ends_fence(self, rest: str) -> bool:
        mark = rest.strip(" ")
        return len(mark) >= len(self._fence) and not mark.strip(self._fence[0]) and _indent_end(rest, 0) <= 3

    def _is_underline(self, body: str, start: int) -> bool:
        mark = body.rstrip()
        if mark.strip(mark[0]):
            return False
        # What holds only link definitions is no text, so it cannot be a heading.
        return bool(self._containers) or any(
            not _DEFINITION.match(line) for line in self._text[self._leaf_start : start].strip().split("\n")
        )


def _indent_end(line: str, at: int) -> int:
    match = _SPACES.match(line, at)
    assert match
    return match.end()


def _is_break(body: str) -> bool:
    mark = body.replace(" ", "")
    return mark[0] in "-_*" and len(mark) > 2 and not mark.strip(mark[0])


def _may_start(item: re.Match[str], body: str, directly: bool) -> bool:
    """Whether the mark starts a list item; within a paragraph only the first of a list can, and only with text."""
    return not directly or (item[2] in (None, "1") and bool(body[item.end() :].strip()))


def _is_delimiter_row(body: str, row: str) -> bool:
    return bool(_DELIMITER_ROW.match(body)) and "-" in body and _cells(body) == _cells(row)


def _cells(row: str) -> int:
    row = row.strip().removeprefix("|").removesuffix("|")
    return row.count("|") - row.count("\\|") + 1


def _without_closing(text: str) -> str:
    """The text of a heading without the `#`s that may close it."""
    text = text.strip()
    rest = text.rstrip("#")
    return rest.rstrip() if not rest or rest[-1] == " " else text
