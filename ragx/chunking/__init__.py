"""Cuts a text into chunks: spans of bounded size that cover, in order, every character that is not blank."""

import re
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import replace

from ragx.chunking import dataformats, languages
from ragx.chunking.asciidoc import asciidoc
from ragx.chunking.code import code_sectioner
from ragx.chunking.extract import Extract
from ragx.chunking.frontmatter import front_matter_value
from ragx.chunking.markdown import markdown
from ragx.chunking.notebook import notebook, notebook_text
from ragx.chunking.org import org
from ragx.chunking.restructuredtext import restructuredtext
from ragx.chunking.sections import Section, Sectioner, code, join_titles, prose
from ragx.chunking.split import split
from ragx.chunking.tables import table
from ragx.chunking.webpage import webpage, webpage_text
from ragx.types import Span, TokenCounter

__all__ = [
    "READERS", "SECTIONERS", "VERSION", "Section", "Sectioner", "chunk", "front_matter_value", "normalise",
    "original_offset", "readable", "title_of", "windows",
]  # fmt: skip

SECTIONERS: dict[str, Sectioner] = {
    "markdown": markdown,
    "rst": restructuredtext,
    "asciidoc": asciidoc,
    "org": org,
    "csv": table,
    **dict.fromkeys(("", "text", "latex"), prose),
    **{kind: code_sectioner(grammar) for kind, grammar in (languages.GRAMMARS | dataformats.GRAMMARS).items()},
}
"""What finds the sections of a kind of file; a kind that is in no table is one section of code."""

READERS: dict[str, tuple[Callable[[str], Extract], Callable[[str], str]]] = {
    "html": (webpage, webpage_text),
    "notebook": (notebook, notebook_text),
}
"""What reads the text of a whole file, and of a chunk of it, for the kinds whose files are markup around a text."""

VERSION = 4
"""Changes whenever the same text could get other spans."""

_BOM = "\ufeff"


def chunk(text: str, kind: str, counter: TokenCounter, size_tokens: int, overlap: float) -> list[Span]:
    """The text's chunks, ascending, each of at most `size_tokens` as `counter` counts what is `readable` of it.

    Kinds: "section", "code" (of a program, or within a fence) and "front_matter". Only the parts of one split section
    overlap. The same text with other line ends has the same chunks.
    """
    plain = normalise(text)
    extract, sections = _read(plain, kind)
    body = extract.text if extract else plain
    spans = [
        span for section in join_titles(body, sections) for span in split(body, section, counter, size_tokens, overlap)
    ]
    if extract:
        runs = extract.runs
        spans = [replace(span, start=runs.source_start(span.start), end=runs.source_end(span.end)) for span in spans]
    if len(plain) == len(text):
        return spans
    original = original_offset(text)
    return [replace(span, start=original(span.start), end=original(span.end)) for span in spans]


def windows(text: str, counter: TokenCounter, size_tokens: int) -> list[str]:
    """The normalised text, whole if it fits into `size_tokens`, else in parts of so many, cut between sentences."""
    parts = [text[span.start : span.end] for one in prose(text) for span in split(text, one, counter, size_tokens, 0)]
    return parts if len(parts) > 1 else [text]


def original_offset(text: str) -> Callable[[int], int]:
    """From an offset in the normalised text to the one in `text` itself."""
    dropped = len(text) - len(text.lstrip(_BOM))
    # The normalised offsets of those line ends that have a second character in the text.
    pairs = [match.start() - dropped - nth for nth, match in enumerate(re.finditer("\r\n", text))]
    return lambda offset: offset + dropped + bisect_left(pairs, offset)


def readable(text: str, kind: str) -> str:
    """What a reader, a model and the keyword index see of a chunk: its text without the markup of its file.

    Only HTML and notebooks have such markup; of them, a part of a file that is no chunk may come back as it is.
    """
    reader = READERS.get(kind)
    if not reader:
        return text
    read = reader[1](normalise(text))
    return read if read.strip() else text


def normalise(text: str) -> str:
    """The text with `\\n` for each line end and no leading byte order mark: what is hashed, counted and embedded."""
    return text.lstrip(_BOM).replace("\r\n", "\n").replace("\r", "\n")


def title_of(text: str, kind: str) -> str:
    """The front matter's `title`, else the first heading of prose, else ""."""
    plain = normalise(text)
    _, sections = _read(plain, kind)
    title = front_matter_value(plain, "title") if sections and sections[0].kind == "front_matter" else ""
    return title or next((one.headings[-1] for one in sections if one.headings and one.kind == "section"), "")


def _read(plain: str, kind: str) -> tuple[Extract | None, list[Section]]:
    """The sections of a text, and the text that they are of where it is not the file's own."""
    reader = READERS.get(kind)
    if not reader:
        return None, SECTIONERS.get(kind, code)(plain)
    extract = reader[0](plain)
    return extract, extract.sections
