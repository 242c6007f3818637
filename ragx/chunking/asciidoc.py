"""Cuts AsciiDoc at its section titles, of one line or two, and at none that stands in a delimited block."""

import re
from collections import Counter

from ragx.chunking.sections import TITLE_CHARS, Heading, Section, by_headings, clean_title, lines_with_start

_TITLE = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*)")
_UNDERLINE = re.compile(r"=+$|-+$|~+$|\^+$|\++$")
_LEVELS = "=-~^+"
_NO_TITLE = re.compile(r"\[.*\]$|\.\S|//|:[\w-]+!?:|[-*.]+[ \t]")
_LEAD = re.compile(r"\[.*\]$|\.[^\s.]|//(?!/)")
_DELIMITER = re.compile(r"-{4,}$|\.{4,}$|={4,}$|\*{4,}$|_{4,}$|\+{4,}$|/{4,}$|--$|`{3,}|[|,:!]={3,}$")
_VERBATIM = frozenset("-.+`")

_MARKUP = (
    (re.compile(r"<<[^<>,]*,([^<>]*)>>"), r"\1"),
    (re.compile(r"<<([^<>,]*)>>"), r"\1"),
    (re.compile(r"(?:xref|link|https?|mailto):[^\s\[\]]*\[([^\[\]]+)\]"), r"\1"),
    (re.compile(r"\[\[[^\[\]]*\]\]|\[#[^\[\]]*\]"), ""),
    (re.compile(r"(?<!\w)([*_`+#]{1,2})(?=\S)(.+?)(?<=\S)\1(?!\w)"), r"\2"),
)


def asciidoc(text: str) -> list[Section]:
    """What stands before the first title, and each section with the anchor and attributes directly above its title.

    A listing or literal block is a fence. A delimiter that nothing closes opens no block.
    """
    lines = [(start, line.rstrip()) for start, line in lines_with_start(text)]
    open_delimiters = Counter(_name(line) for _, line in lines if _DELIMITER.match(line))
    headings: list[Heading] = []
    fences: list[tuple[int, int]] = []
    block, block_start = "", 0
    lead: int | None = None
    after_block = True
    at = 0
    while at < len(lines):
        start, line = lines[at]
        at += 1
        delimiter = _name(line) if _DELIMITER.match(line) else ""
        open_delimiters[delimiter] -= 1
        if block:
            if delimiter == block:
                if block[0] in _VERBATIM and block != "--":
                    fences.append((block_start, start + len(line)))
                block, after_block = "", True
            continue
        underline = lines[at][1] if at < len(lines) else ""
        title = _TITLE.match(line) if after_block else None
        first = start if lead is None else lead
        titled = title is not None
        if title:
            headings.append(
                Heading(first, start + len(line), len(title[1]), plain(title[2].removesuffix(" " + title[1])))
            )
        elif after_block and _is_title(line, underline):
            level = _LEVELS.index(underline[0]) + 1
            headings.append(Heading(first, lines[at][0] + len(underline), level, plain(line)))
            open_delimiters[_name(underline)] -= 1
            at, titled = at + 1, True
        elif delimiter and open_delimiters[delimiter] > 0:
            block, block_start = delimiter, start
        elif _LEAD.match(line) and after_block:
            lead = first
            continue
        after_block = not line or titled
        lead = None
    return by_headings(0, len(text), headings, fences)


def plain(markup: str) -> str:
    """The text of a title as a reader sees it."""
    text = clean_title(markup[: 2 * TITLE_CHARS])
    for pattern, replacement in _MARKUP:
        text = pattern.sub(replacement, text)
    return clean_title(text)


def _is_title(line: str, underline: str) -> bool:
    """Whether a title of two lines stands here; the second is as long as the first, give or take one."""
    return (
        bool(_UNDERLINE.match(underline))
        and abs(len(line) - len(underline)) <= 1
        and len(underline) > 1
        and line[:1].strip() != ""
        and any(char.isalnum() for char in line[: 2 * TITLE_CHARS])
        and not _NO_TITLE.match(line)
    )


def _name(delimiter: str) -> str:
    """What a line must be to close the block: a fence of backticks is opened with its language."""
    return delimiter[: len(delimiter) - len(delimiter.lstrip("`"))] or delimiter
