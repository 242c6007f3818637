"""Cuts a text into chunks: spans of bounded size that cover, in order, every character that is not blank."""

import re
from bisect import bisect_left

from ragx.chunking.frontmatter import front_matter_value
from ragx.chunking.markdown import markdown
from ragx.chunking.sections import Section, Sectioner, code, join_titles, prose
from ragx.chunking.split import split
from ragx.types import Span, TokenCounter

__all__ = ["SECTIONERS", "VERSION", "Section", "Sectioner", "chunk", "front_matter_value", "normalise", "title_of"]

SECTIONERS: dict[str, Sectioner] = {
    "markdown": markdown,
    **dict.fromkeys(("", "text", "rst", "asciidoc", "org", "html", "notebook", "latex", "csv"), prose),
}
"""What finds the sections of a kind of file; any other kind is code."""

VERSION = 1
"""Changes whenever the same text could get other spans."""

_BOM = "\ufeff"


def chunk(text: str, kind: str, counter: TokenCounter, size_tokens: int, overlap: float) -> list[Span]:
    """The text's chunks, ascending, each of at most `size_tokens` as `counter` counts its normalised text.

    Kinds: "section", "code" (of a program, or within a fence) and "front_matter". Only the parts of one split section
    overlap. The same text with other line ends has the same chunks.
    """
    plain = normalise(text)
    spans = [
        span
        for section in join_titles(plain, SECTIONERS.get(kind, code)(plain))
        for span in split(plain, section, counter, size_tokens, overlap)
    ]
    dropped = len(text) - len(text.lstrip(_BOM))
    # The normalised offsets of those line ends that have a second character in the text.
    pairs = [match.start() - dropped - nth for nth, match in enumerate(re.finditer("\r\n", text))]
    if not dropped and not pairs:
        return spans

    def original(offset: int) -> int:
        return offset + dropped + bisect_left(pairs, offset)

    return [Span(original(span.start), original(span.end), span.kind, span.headings) for span in spans]


def normalise(text: str) -> str:
    """The text with `\\n` for each line end and no leading byte order mark: what is hashed, counted and embedded."""
    return text.lstrip(_BOM).replace("\r\n", "\n").replace("\r", "\n")


def title_of(text: str, kind: str) -> str:
    """The front matter's `title`, else the first heading, else ""."""
    plain = normalise(text)
    sections = SECTIONERS.get(kind, code)(plain)
    title = front_matter_value(plain, "title") if sections and sections[0].kind == "front_matter" else ""
    return title or next((section.headings[-1] for section in sections if section.headings), "")
