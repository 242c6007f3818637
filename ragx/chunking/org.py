"""Cuts Org at its headlines, but for what looks like one within a block."""

import re

from ragx.chunking.sections import TITLE_CHARS, Heading, Section, by_headings, clean_title, lines_with_start

_HEADLINE = re.compile(r"(\*+)[ \t]+(\S.*)")
_BLOCK = re.compile(r"[ \t]*#\+(begin|end)_(\S+)", re.IGNORECASE)
_DOCUMENT_TITLE = re.compile(r"#\+title:[ \t]*(\S.*)", re.IGNORECASE)
_CODE = frozenset({"src", "example", "export"})
# Org writes the state of a task before its headline: a reader of the heading path wants the words after it.
_KEYWORD = re.compile(r"(?:TODO|NEXT|DONE|WAITING|HOLD|CANCELL?ED|STARTED|IN-PROGRESS)(?=\s)[ \t]*|\[#\w\][ \t]*")
_TAGS = re.compile(r"[ \t]+:(?:[\w@#%]+:)+[ \t]*$")
_MARKUP = (
    (re.compile(r"\[\[[^\[\]]*\]\[([^\[\]]*)\]\]"), r"\1"),
    (re.compile(r"\[\[([^\[\]]*)\]\]"), r"\1"),
    (re.compile(r"(?<!\w)([*/_=~+])(?=\S)(.+?)(?<=\S)\1(?!\w)"), r"\2"),
)


def org(text: str) -> list[Section]:
    """What stands before the first headline, named after the document, and each headline with all up to the next."""
    lines = list(lines_with_start(text))
    ends: dict[str, int] = {}  # the last line that ends a block of this name
    for start, line in lines:
        if (mark := _BLOCK.match(line)) and mark[1].lower() == "end":
            ends[mark[2].lower()] = start
    headings: list[Heading] = []
    fences: list[tuple[int, int]] = []
    block, block_start, title = "", 0, ""
    for start, line in lines:
        mark = _BLOCK.match(line) if "#+" in line else None
        if block:
            if mark and mark[1].lower() == "end" and mark[2].lower() == block:
                if block in _CODE:
                    fences.append((block_start, start + len(line.rstrip())))
                block = ""
        elif mark and mark[1].lower() == "begin" and ends.get(mark[2].lower(), -1) > start:
            block, block_start = mark[2].lower(), start
        elif headline := _HEADLINE.match(line):
            headings.append(Heading(start, start + len(line), len(headline[1]), plain(headline[2])))
        elif not title and (document := _DOCUMENT_TITLE.match(line)):
            title = plain(document[1])
    return by_headings(0, len(text), headings, fences, title)


def plain(markup: str) -> str:
    """The text of a headline as a reader sees it: without its state, priority, tags and marks."""
    text = _TAGS.sub("", clean_title(markup[: 2 * TITLE_CHARS]))
    while (keyword := _KEYWORD.match(text)) and keyword.end() < len(text):
        text = text[keyword.end() :]
    for pattern, replacement in _MARKUP:
        text = pattern.sub(replacement, text)
    return clean_title(text)
