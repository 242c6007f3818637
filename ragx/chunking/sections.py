"""The one shape that every sectioner returns: contiguous sections of a text whose line ends are all `\\n`."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from string import whitespace

TITLE_CHARS = 300
"""A longer title is cut: a paragraph over `---` is a heading too, and each of its chunks carries the heading path."""

_RULES = "-*_" + whitespace


@dataclass(frozen=True, slots=True)
class Section:
    """Characters `[start, end)` that belong together, with the headings above them, outermost first.

    Kinds: "section" (prose), "code", "front_matter". The section's own title ends at `title_end` (0: it has none).
    `fences` are ascending ranges that stay whole where one fits in a chunk; a chunk within one is of kind "code".
    """

    start: int
    end: int
    kind: str
    headings: tuple[str, ...] = ()
    title_end: int = 0
    fences: tuple[tuple[int, int], ...] = ()


Sectioner = Callable[[str], list[Section]]


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading that fills the characters `[start, end)`, level 1 being the outermost; `text` is what it says."""

    start: int
    end: int
    level: int
    text: str


def prose(text: str) -> list[Section]:
    """The whole text as one section."""
    return [Section(0, len(text), "section")]


def code(text: str) -> list[Section]:
    """The whole text as one section of code."""
    return [Section(0, len(text), "code")]


def join_titles(text: str, sections: Sequence[Section]) -> list[Section]:
    """Gives each title with nothing under it but rules to the section that follows: no chunk is only a title.

    The joined section is named after the one whose body it carries.
    """
    joined: list[Section] = []
    start: int | None = None
    for nth, section in enumerate(sections, 1):
        start = section.start if start is None else start
        body = text[max(section.start, section.title_end) : section.end]
        if section.kind != "section" or nth == len(sections) or body.strip(_RULES):
            joined.append(section if start == section.start else replace(section, start=start))
            start = None
    return joined


def by_headings(
    start: int,
    end: int,
    headings: Iterable[Heading],
    fences: Sequence[tuple[int, int]] = (),
    title: str = "",
) -> list[Section]:
    """What stands before the first heading, named `title`, and each heading with all up to the next."""
    sections: list[Section] = []
    stack: list[tuple[int, str]] = []
    path: tuple[str, ...] = (title,) if title else ()
    title_end = taken = 0
    for heading in (*headings, Heading(end, end, 1, "")):
        first = taken
        while taken < len(fences) and fences[taken][0] < heading.start:
            taken += 1
        if heading.start > start:
            sections.append(Section(start, heading.start, "section", path, title_end, tuple(fences[first:taken])))
        path = headings_path(stack, heading.level, heading.text)
        title_end, start = heading.end, heading.start
    return sections


def lines_with_start(text: str) -> Iterator[tuple[int, str]]:
    """Each line and where it starts."""
    start = 0
    for line in text.split("\n"):
        yield start, line
        start += len(line) + 1


def headings_path(stack: list[tuple[int, str]], level: int, title: str) -> tuple[str, ...]:
    """Puts a heading onto the stack of those above it and returns the path to it, without those that have no text."""
    while stack and stack[-1][0] >= level:
        stack.pop()
    stack.append((level, title))
    return tuple(text for _, text in stack if text)


def clean_title(text: str) -> str:
    """The text on one line, at most TITLE_CHARS long."""
    return " ".join(text.split())[:TITLE_CHARS].rstrip()
