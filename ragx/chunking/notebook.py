"""Reads a Jupyter notebook as the source of its cells, without their outputs; what is no notebook is plain text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ragx.chunking.blocks import blocks
from ragx.chunking.extract import Extract, Runs
from ragx.chunking.markdown import plain
from ragx.chunking.sections import Section, headings_path
from ragx.parsing import from_json

LARGE_GAP = 2_000
"""A title that stands alone in its cell goes with the next cell unless there is so much between the two."""

_TOKEN = re.compile(r'"[^"\\]*+(?:\\[\s\S][^"\\]*+)*+"|[{}\[\],:]|[^\s{}\[\],:"]++')
_STRING_PART = re.compile(
    r"""(?P<text>[^"\\]+) | \\u(?P<pair>[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})
      | \\u(?P<code>[0-9a-fA-F]{4}) | (?P<line>\\r\\n) | \\(?P<escape>.) | (?P<close>")""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\n", "t": "\t"}
# Where a source is one string and no list of lines, the string that follows is the name of the cell's next member.
_NEXT_LINE = re.compile(r'\s*,\s*"(?![^"\\]*+(?:\\[\s\S][^"\\]*+)*+"\s*:)')
_NEXT_SOURCE = re.compile(r'"source"\s*:\s*(?:\[\s*)?"')


@dataclass
class _Cell:
    """The type of a cell, and where the strings of its source start and end in the file, quotes left out."""

    type: str
    strings: list[tuple[int, int]]


def notebook(text: str) -> Extract:
    """The source of all cells, a section each or, in Markdown, one for each heading, under the headings above them."""
    cells = list(_cells(text)) if _is_notebook(text) else []
    runs = Runs()
    if not cells:
        runs.copy(text, 0)
        return Extract(text, [Section(0, len(text), "section")], runs)
    sections: list[Section] = []
    stack: list[tuple[int, str]] = []
    path: tuple[str, ...] = ()
    for nth, cell in enumerate(cells):
        start = runs.length
        for first, last in cell.strings:
            _decode(text, first, last, runs)
        if runs.length == start:
            continue
        source = "".join(runs.pieces_from(start))
        end_of_cell = cell.strings[-1][1]
        runs.stand_in("\n", end_of_cell, end_of_cell)
        runs.stand_in("\n", end_of_cell, end_of_cell)
        if cell.type != "markdown":
            sections.append(Section(start, runs.length, "code" if cell.type == "code" else "section", path))
            continue
        found = blocks(source)
        fences = [(start + a, start + b) for a, b in found.fences]
        far = nth + 1 < len(cells) and bool(cells[nth + 1].strings)
        far = far and cells[nth + 1].strings[0][0] - end_of_cell >= LARGE_GAP
        bounds = [*(start + heading.start for heading in found.headings), runs.length]
        if bounds[0] > start:
            sections.append(Section(start, bounds[0], "section", path, 0, _within(fences, start, bounds[0])))
        for heading, end in zip(found.headings, bounds[1:], strict=True):
            path = headings_path(stack, heading.level, plain(heading.text))
            title_end = 0 if far and end == runs.length else start + heading.end
            first = start + heading.start
            sections.append(Section(first, end, "section", path, title_end, _within(fences, first, end)))
    body = "".join(runs.pieces)
    return Extract(body, sections, runs)


def notebook_text(part: str) -> str:
    """The text of a part of a notebook that begins and ends within the source of a cell; any other stays as it is."""
    runs = Runs()
    at = 0
    while True:
        at = _decode(part, at, len(part), runs)
        if at == len(part):
            return "".join(runs.pieces)
        if following := _NEXT_LINE.match(part, at):
            at = following.end()
        elif following := _NEXT_SOURCE.search(part, at):
            runs.copy("\n\n", 0)
            at = following.end()
        else:
            return part


def _is_notebook(text: str) -> bool:
    try:
        found = from_json(text)
    except ValueError:
        return False
    return isinstance(found, dict) and isinstance(found.get("cells"), list)


def _cells(text: str) -> Iterator[_Cell]:
    """The cells of a notebook that is valid JSON."""
    keys: list[str | None] = []  # of the objects and arrays that are open, the member that is being read
    cell = _Cell("", [])
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in "{[":
            keys.append(None if token == "{" else "")
        elif token in "}]":
            keys.pop()
            if token == "}" and len(keys) == 2 and keys[0] == '"cells"':
                yield cell
                cell = _Cell("", [])
        elif token == ",":
            keys[-1] = "" if keys[-1] == "" else None
        elif token == ":":
            continue
        elif keys and keys[-1] is None:
            keys[-1] = token
        elif token[0] == '"' and keys[:2] == ['"cells"', ""] and len(keys) > 2:
            if keys[2] == '"cell_type"' and len(keys) == 3:
                cell.type = token[1:-1]
            elif keys[2] == '"source"' and (len(keys) == 3 or keys[3:] == [""]):
                cell.strings.append((match.start() + 1, match.end() - 1))


def _decode(text: str, start: int, end: int, runs: Runs) -> int:
    """Adds what a JSON string says up to its closing quote; returns where that is passed, or the end."""
    at = start
    while at < end and (match := _STRING_PART.match(text, at, end)):
        first, at = match.span()
        kind = match.lastgroup
        if kind == "text":
            runs.copy(match["text"], first)
        elif kind == "close":
            return at
        else:
            runs.stand_in(_char(match), first, at)
    return end


def _char(match: re.Match[str]) -> str:
    if match["pair"]:
        high, low = match["pair"].split("\\u")
        return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00)
    if match["code"]:
        char = chr(int(match["code"], 16))
        # Half of a surrogate pair is no character.
        return "\ufffd" if "\ud800" <= char <= "\udfff" else char
    if match["line"]:
        return "\n"
    return _ESCAPES.get(match["escape"], match["escape"])


def _within(fences: list[tuple[int, int]], start: int, end: int) -> tuple[tuple[int, int], ...]:
    return tuple(fence for fence in fences if start <= fence[0] < end)
