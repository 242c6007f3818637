"""Cuts Markdown into its front matter and its heading sections."""

import html
import re

from ragx.chunking.blocks import blocks
from ragx.chunking.frontmatter import front_matter_end
from ragx.chunking.sections import TITLE_CHARS, Heading, Section, by_headings, clean_title

_VERBATIM = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)|\\([!-/:-@\[-`{-~])")
_MARKUP = (
    (re.compile(r"[ \t]*\{[:#.][^{}]*\}$"), ""),
    (re.compile(r"!\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])"), r"\1"),
    (re.compile(r"\[([^\[\]]*)\](?:\([^()]*(?:\([^()]*\)[^()]*)?\)|\[[^\[\]]*\])"), r"\1"),
    (re.compile(r"<([a-z][a-z0-9+.-]{1,31}:[^<>\s]*)>", re.IGNORECASE), r"\1"),
    (re.compile(r"<!--.*?-->|</?[a-z][^<>]*>", re.IGNORECASE), ""),
    (re.compile(r"(\*{1,3}|~~)(?=\S)(.+?)(?<=\S)\1"), r"\2"),
    (re.compile(r"(?<!\w)(_{1,3})(?=\S)(.+?)(?<=\S)\1(?!\w)"), r"\2"),
)
_ANY_MARKUP = re.compile(r"[\\`*_~\[\]<>{}&]")
_PRIVATE = 0xF0000
_STASHED = re.compile("[\U000f0000-\U000fffff]")


def markdown(text: str) -> list[Section]:
    """Front matter, what stands before the first heading, and each heading with all that is under it up to the next."""
    body = front_matter_end(text)
    found = blocks(text[body:])
    fences = [(start + body, end + body) for start, end in found.fences]
    headings = (
        Heading(heading.start + body, heading.end + body, heading.level, plain(heading.text))
        for heading in found.headings
    )
    front = [Section(0, body, "front_matter")] if body else []
    return front + by_headings(body, len(text), headings, fences)


def plain(markup: str) -> str:
    """The text of a heading as a reader sees it: links keep their label, emphasis and code lose their marks."""
    kept: list[str] = []

    def stash(match: re.Match[str]) -> str:
        kept.append((match[2] or match[3]).strip())
        return chr(_PRIVATE + len(kept) - 1)

    def unstash(match: re.Match[str]) -> str:
        at = ord(match[0]) - _PRIVATE
        return kept[at] if at < len(kept) else match[0]

    # Bounded, since a pattern may look for its closing mark from each opening one.
    text = clean_title(markup[: 2 * TITLE_CHARS])
    if not _ANY_MARKUP.search(text):
        return text
    text = _VERBATIM.sub(stash, text)
    for pattern, replacement in _MARKUP:
        text = pattern.sub(replacement, text)
    return clean_title(_STASHED.sub(unstash, html.unescape(text)))
