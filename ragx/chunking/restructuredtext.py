"""Cuts reStructuredText at its section titles, told from tables, transitions and literal blocks as docutils does."""

import re

from ragx.chunking.sections import TITLE_CHARS, Heading, Section, by_headings, clean_title, lines_with_start

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*$")
# What stands at the left margin and is no paragraph: lists, explicit markup, fields, doctests, line blocks.
_NO_TITLE = re.compile(r"[-+*•‣⁃] |\.\.(?: |$)|:(?![: ])(?:[^:\\`]|\\.)*:(?: |$)|>>> |__ |\| ")
_TARGET = re.compile(r"\.\. _[^\n]*:[ \t]*$|\.\. index::")
_DIRECTIVE = re.compile(r"[ \t]*\.\. ")
_CODE = re.compile(
    r"[ \t]*\.\. (?:code|code-block|sourcecode|parsed-literal|testcode|doctest|math|graphviz|productionlist)::"
)
_SURE_LENGTH = 4

_MARKUP = (
    (re.compile(r"``(.+?)``"), r"\1"),
    (re.compile(r"(?::[\w.+-]+)*:?`([^`<>]+?)\s*<[^`<>]*>`(?:__?)?"), r"\1"),
    (re.compile(r"(?::[\w.+-]+)*:`[~!]?([^`]+)`"), r"\1"),
    (re.compile(r"`([^`]+)`(?:__?)?"), r"\1"),
    (re.compile(r"(\*{1,2})(?=\S)(.+?)(?<=\S)\1"), r"\2"),
    (re.compile(r"\\(.)"), r"\1"),
)


def restructuredtext(text: str) -> list[Section]:
    """What stands before the first title, and each section with the link targets directly above it.

    A literal block is a fence. Levels are in the order in which the underlines appear.
    """
    lines = [(start, line.rstrip()) for start, line in lines_with_start(text)]
    styles: dict[tuple[str, bool], int] = {}
    headings: list[Heading] = []
    fences = _Fences()
    targets: int | None = None  # where the link targets begin that nothing but blanks follows
    after_block = True  # whether a paragraph may start here
    at = 0
    while at < len(lines):
        start, line = lines[at]
        fences.line(start, line)
        height = _title_height(lines, at) if after_block and line else 0
        if height:
            over = height == 3
            style = (lines[at + height - 1][1][0], over)
            level = styles.setdefault(style, len(styles) + 1)
            last, underline = lines[at + height - 1]
            first = start if targets is None else targets
            headings.append(Heading(first, last + len(underline), level, plain(lines[at + over][1])))
            at += height
            targets, after_block = None, True
            continue
        if _TARGET.match(line):
            targets = start if targets is None else targets
        elif line:
            targets = None
        after_block = not line or line[0] in " \t" or bool(_DIRECTIVE.match(line))
        at += 1
    fences.line(len(text), ".")
    return by_headings(0, len(text), headings, fences.found)


def plain(markup: str) -> str:
    """The text of a title as a reader sees it."""
    text = clean_title(markup[: 2 * TITLE_CHARS])
    for pattern, replacement in _MARKUP:
        text = pattern.sub(replacement, text)
    return clean_title(text)


def _title_height(lines: list[tuple[int, str]], at: int) -> int:
    """How many lines the title has that starts on this line: 2, 3 with a line above it, 0 if none starts."""
    line = lines[at][1]
    following = [other for _, other in lines[at + 1 : at + 3]]
    if not following or not following[0]:
        return 0
    if _ADORNMENT.match(line):
        title = following[0].strip()
        is_title = len(following) == 2 and following[1] == line and not _ADORNMENT.match(title)
        return 3 if is_title and len(line) >= min(len(title), _SURE_LENGTH) else 0
    underline = following[0]
    if line[0] in " \t" or not _ADORNMENT.match(underline) or _NO_TITLE.match(line):
        return 0
    return 2 if len(underline) >= min(len(line), _SURE_LENGTH) else 0


class _Fences:
    """Finds literal blocks: what is indented deeper than the line that announces it."""

    def __init__(self) -> None:
        self.found: list[tuple[int, int]] = []
        self._indent = -1  # of the line that announced a block, -1 where none did
        self._start: int | None = None
        self._end = 0

    def line(self, start: int, line: str) -> None:
        if not line:
            return
        indent = len(line) - len(line.lstrip())
        if self._indent >= 0:
            if indent > self._indent:
                self._start = start if self._start is None else self._start
                self._end = start + len(line)
                return
            if self._start is not None:
                self.found.append((self._start, self._end))
            self._indent, self._start = -1, None
        if _CODE.match(line):
            self._indent, self._start, self._end = indent, start, start + len(line)
        elif line.endswith("::") and not _DIRECTIVE.match(line):
            self._indent = indent
