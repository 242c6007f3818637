"""Reads HTML as its text, in linear time and whatever is wrong with it: no tags, scripts, styles and comments."""

import html
import re
from dataclasses import replace

from ragx.chunking.extract import Extract, Runs
from ragx.chunking.sections import Heading, Section, by_headings, clean_title

LARGE_GAP = 2_000
"""A section ends at so much markup, so that no chunk holds it between its first and last word."""

# What is never closed is taken too: looking for the end again and again would take quadratic time.
_TOKEN = re.compile(
    r"""<!--[\s\S]*?(?:-->|\Z) | <[!?][^>]*>?
      | <(?P<close>/?)(?P<name>[a-zA-Z][a-zA-Z0-9:-]*+)(?:[^>=]++|=\s*+(?:"[^"]*+"?|'[^']*+'?)?)*+>?
      | &(?P<entity>\#[0-9]{1,7}|\#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});?
      | (?P<blank>\s+)
      | (?P<text>[^<&\s]++(?:[ ][^<&\s]++)*+|[<&])""",
    re.VERBOSE,
)
_RAW = frozenset({"script", "style", "template", "svg", "iframe"})
_RAW_END = {name: re.compile(rf"</{name}\b[^>]*>?", re.IGNORECASE) for name in _RAW}
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_BLOCKS = _HEADINGS | {
    "address", "article", "aside", "blockquote", "body", "dd", "details", "dialog", "div", "dl", "fieldset",
    "figcaption", "figure", "footer", "form", "head", "header", "hr", "html", "legend", "main", "nav", "ol", "p", "pre",
    "search", "section", "summary", "table", "tbody", "tfoot", "thead", "title", "ul",
}  # fmt: skip
_LINES = frozenset({"br", "caption", "dt", "li", "option", "tr"})
_CELLS = frozenset({"td", "th"})
_PERMALINK = "¶§ \n"


def webpage(text: str) -> Extract:
    """The text of a page and its sections: its title, and each heading with all up to the next."""
    page = _Page(text)
    page.read()
    headings = page.headings if page.title is None else sorted([page.title, *page.headings], key=lambda one: one.start)
    body = "".join(page.runs.pieces)
    sections = _cut(by_headings(0, len(body), headings, page.fences), page.gaps)
    return Extract(body, sections, page.runs)


def webpage_text(part: str) -> str:
    """The text of a part of a page that begins and ends with text."""
    page = _Page(part)
    page.in_pre = 0 <= part.find("</pre") < (part.find("<pre") if "<pre" in part else len(part))
    page.read()
    return "".join(page.runs.pieces).strip("\n").rstrip()


class _Page:
    """The text read so far, and what is open."""

    def __init__(self, text: str) -> None:
        self.runs = Runs()
        self.headings: list[Heading] = []
        self.fences: list[tuple[int, int]] = []
        self.gaps: list[int] = []
        self.title: Heading | None = None
        self.in_pre = False
        self._text = text
        self._line_ends = 2  # at the end of what was read, two for none at all
        self._spaced = False
        self._heading = ("", 0)  # the name of the heading that is open, and where its text starts
        self._fence = 0

    def read(self) -> None:
        at = 0
        while match := _TOKEN.match(self._text, at):
            start, at = match.span()
            kind = match.lastgroup
            if kind == "text":
                self._copy(match["text"], start)
            elif kind == "blank":
                self._blank(match["blank"], start, at)
            elif kind == "entity":
                self._entity(match[0], start)
            elif kind == "name":
                at = self._tag(match["name"].lower(), bool(match["close"]), start, at)
            if kind in ("name", None) and at - start >= LARGE_GAP:
                self.gaps.append(self.runs.length)

    def _copy(self, text: str, source: int) -> None:
        self.runs.copy(text, source)
        self._line_ends, self._spaced = 0, False

    def _blank(self, blank: str, start: int, end: int) -> None:
        if self.in_pre:
            self._copy(blank, start)
        elif "\n" in blank:
            self._break(1, start, end)
        elif self._line_ends == 0 and not self._spaced:
            self.runs.stand_in(" ", start, end)
            self._spaced = True

    def _break(self, most: int, start: int, end: int) -> None:
        while self._line_ends < most:
            self.runs.stand_in("\n", start, end)
            self._line_ends += 1
            self._spaced = True
            start = end

    def _entity(self, entity: str, start: int) -> None:
        char = html.unescape(entity)
        if len(char) == 1 and char not in "\r\ufeff":
            self.runs.stand_in(char, start, start + len(entity))
            self._line_ends, self._spaced = 0, False
        else:
            self._copy(entity, start)

    def _tag(self, name: str, closes: bool, start: int, end: int) -> int:
        """Takes in a tag, of a script and its like all up to the end; returns where that is."""
        if name in _RAW and not closes and not self._text.endswith("/>", start, end):
            close = _RAW_END[name].search(self._text, end)
            return close.end() if close else len(self._text)
        if name in _BLOCKS:
            if closes:
                self._close(name)
            self._break(2, start, start)
            if not closes:
                self._open(name)
        elif name in _LINES:
            self._break(1, start, start)
        elif name in _CELLS and not closes:
            self._blank(" ", start, start)
        return end

    def _open(self, name: str) -> None:
        if name in _HEADINGS or (name == "title" and self.title is None):
            self._heading = (name, self.runs.length)
        elif name == "pre":
            self.in_pre, self._fence = True, self.runs.length

    def _close(self, name: str) -> None:
        opened, start = self._heading
        end = self.runs.length
        if name == "pre" and self.in_pre:
            self.in_pre = False
            if end > self._fence:
                self.fences.append((self._fence, end))
        elif opened and name == opened:
            self._heading = ("", 0)
            text = clean_title("".join(self.runs.pieces_from(start)).strip(_PERMALINK))
            if name == "title":
                self.title = Heading(start, end, 1, text)
            else:
                self.headings.append(Heading(start, end, int(name[1]), text))


def _cut(sections: list[Section], places: list[int]) -> list[Section]:
    """The sections, cut at places, ascending."""
    cut: list[Section] = []
    waiting = iter([*places, -1])
    place = next(waiting)
    for section in sections:
        while 0 <= place <= section.start:
            place = next(waiting)
        while section.start < place < section.end:
            first = tuple(fence for fence in section.fences if fence[0] < place)
            cut.append(replace(section, end=place, fences=first))
            section = replace(section, start=place, fences=section.fences[len(first) :])
            place = next(waiting)
        cut.append(section)
    return cut
