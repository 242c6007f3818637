"""Cuts a section into spans of at most `size_tokens`, whatever the counter says, in time linear in its length."""

import re
import unicodedata
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator

from ragx.chunking.sections import Section
from ragx.types import Span, TokenCounter

CHARS_PER_TOKEN = 16
"""Most characters of a span for each token of its size: a megabyte without blanks may be one unknown token."""

FOLD_CHARS = 40
"""A last part with fewer characters that are not blank belongs to the one before."""

_MARKS = r"!-/:-@\[-^`{-~、，；："
_LINE = re.compile(r"\n\s*")
_SENTENCE = re.compile(
    # Not after a digit: `1.` begins a list item more often than it ends a sentence.
    r"""(?:(?<=[^\d\s][.!?…])|(?<=[.!?…]["')\]”’»]))(?=\s)|(?<=[。！？])(?![。！？」』”’）])|(?<=[。！？][」』”’）])"""
)
_WORD = re.compile(r"\s+")
_CODE_WORD = re.compile(rf"(?<=[{_MARKS}])(?![{_MARKS}\s])")
_CUTS = (re.compile(r"\n[^\S\n]*\n\s*"), _LINE, _SENTENCE, _WORD, _CODE_WORD)
"""Where a text may be cut: at paragraphs, lines, and so on, the best first. A match starts at the cut."""

_STARTS = ((_LINE, _SENTENCE), (_WORD,), (_CODE_WORD,))
"""Where what a part repeats may start, the best first."""

_NOT_BLANK = re.compile(r"[^\s\ufeff]")
"""What makes a span: a byte order mark in the middle of a file, where two were joined, is no text."""

_ZERO_WIDTH_JOINER = "\u200d"
_FLAG_LETTERS = "".join(map(chr, range(0x1F1E6, 0x1F200)))


def split(text: str, section: Section, counter: TokenCounter, size_tokens: int, overlap: float) -> list[Span]:
    """The section's spans, ascending: one, or parts that each repeat about `overlap * size_tokens` tokens of the last.

    A span begins with its first line's indentation and ends with a character that is not blank. Only a span of one
    character can have more than `size_tokens`.
    """
    found = _NOT_BLANK.search(text, section.start, section.end)
    if not found:
        return []
    start = _line_start(text, section.start, found.start())
    end = section.start + len(text[section.start : section.end].rstrip())
    body = _Body(text[start:end], counter, size_tokens, int(overlap * size_tokens))
    parts = [(0, end - start)]
    if not body.fits(*parts[0]):
        body.keep((max(a - start, 0), b - start) for a, b in section.fences)
        parts = body.parts(section.title_end - start)
    return [Span(start + a, start + b, _kind(section, start + a, start + b), section.headings) for a, b in parts]


def _kind(section: Section, start: int, end: int) -> str:
    at = bisect_right(section.fences, start, key=lambda fence: fence[0]) - 1
    return "code" if at >= 0 and end <= section.fences[at][1] else section.kind


class _Body:
    """A section's text that is being cut: where its tokens start, and where it may be cut, found once."""

    def __init__(self, text: str, counter: TokenCounter, size: int, overlap: int) -> None:
        self._text, self._counter, self._size, self._overlap = text, counter, size, overlap
        self._starts: list[int] = []
        self._kept: list[tuple[int, int]] = []
        self._cuts: dict[re.Pattern[str], array[int]] = {}

    def fits(self, start: int, end: int) -> bool:
        return end - start <= CHARS_PER_TOKEN * self._size and self._count(start, end) <= self._size

    def keep(self, ranges: Iterable[tuple[int, int]]) -> None:
        """Lets nothing be cut within those of the ranges, ascending, that fit."""
        self._kept = [(start, end) for start, end in ranges if self.fits(start, end)]

    def parts(self, title_end: int) -> list[tuple[int, int]]:
        """Parts that hold all that is not blank; none is only the title, unless what follows it must stay whole."""
        self._starts = self._counter.starts(self._text).tolist()
        parts: list[tuple[int, int]] = []
        lines: list[int] = []
        end = new = 0
        while found := _NOT_BLANK.search(self._text, end):
            new, line = found.start(), _line_start(self._text, end, found.start())
            end = self._end(new, title_end, self._size - self._tokens(line, new), bool(parts))
            start = self._repeated(new, end, *parts[-1]) if parts else new
            if start == new and self.fits(line, end):
                start = line
            parts.append((start, end))
            lines.append(line)
        if len(parts) > 1 and len("".join(self._text[new:end].split())) < FOLD_CHARS:
            for start in (parts[-2][0], lines[-2]):
                if self.fits(start, end):
                    parts[-2:] = [(start, end)]
                    break
        return parts

    def _end(self, new: int, title_end: int, room: int, repeats: bool) -> int:
        """Where the part ends whose first character that is not blank is at `new`, at most `room` tokens on."""
        # An indentation that leaves no room is given up.
        most = room if 2 * room > self._size else self._size
        few = max(1, most - self._overlap) if repeats else most
        while True:
            end = self._solid_end(new, self._cut(new, title_end, most, min(few, most)))
            if self.fits(new, end):
                return end
            if most == 1:
                break
            most = max(1, min(most - 1, most * self._size // self._count(new, end)))
        while end > new + 1 and not self.fits(new, end):
            end = self._solid_end(new, self._character(new, (new + end) // 2))
        return end

    def _solid_end(self, start: int, end: int) -> int:
        return start + len(self._text[start:end].rstrip())

    def _cut(self, new: int, title_end: int, most: int, few: int) -> int:
        """The best place to end a part of `few` tokens, or of `most` where that saves a paragraph, line or sentence.

        What fits into a span of its own is not cut for filling up the one before.
        """
        limit, last = self._reach(new, few), self._reach(new, most)
        if kept := self._kept_at(new):
            limit, last = max(limit, kept[1]), max(last, kept[1])
        if last >= len(self._text):
            return len(self._text)
        best, least = 0, title_end if new < title_end < limit else new
        following = len(self._text)
        for pattern in _CUTS:
            cuts = self._places(pattern)
            at = bisect_right(cuts, limit)
            following = min(following, cuts[at]) if at < len(cuts) else following
            if at and cuts[at - 1] > least:
                best = least = cuts[at - 1]
            if best and following <= self._reach(best, self._size):
                return best
            if not best and following <= last:
                return following
        if best:
            return best
        kept = self._kept_at(limit)
        return kept[0] if kept and kept[0] > new else self._character(new, limit)

    def _repeated(self, new: int, end: int, last_start: int, last_end: int) -> int:
        """Where the part `[new, end)` starts if it repeats the end of the last one; `new` where it cannot."""
        room = min(self._overlap, self._size - self._tokens(new, end))
        while room > 0:
            first = max(bisect_left(self._starts, new) - room, 0)
            least = max(*self._starts[first : first + 1], new - CHARS_PER_TOKEN * room, last_start + 1)
            start = self._start(least, last_end)
            if last_start < start < last_end and self.fits(start, end):
                return start
            room //= 2
        return new

    def _start(self, least: int, stop: int) -> int:
        """The first good place to start a part in `[least, stop)`, else `stop` or more."""
        for patterns in _STARTS:
            start, cut = min(self._first_start(pattern, least) for pattern in patterns)
            if start < stop:
                return _line_start(self._text, cut, start)
        if kept := self._kept_at(least):
            return least if kept[0] == least else kept[1]
        while least < stop and _joined(self._text, least):
            least += 1
        return least

    def _first_start(self, pattern: re.Pattern[str], least: int) -> tuple[int, int]:
        """What is the first at `least` or after it to stand behind a place for a cut, and that place."""
        cuts = self._places(pattern)
        at = bisect_left(cuts, least)
        for cut in cuts[max(at - 1, 0) : at + 1]:
            found = _NOT_BLANK.search(self._text, cut)
            if found and found.start() >= least:
                return found.start(), cut
        return len(self._text), len(self._text)

    def _places(self, pattern: re.Pattern[str]) -> "array[int]":
        if pattern not in self._cuts:
            found = self._outside(match.start() for match in pattern.finditer(self._text))
            self._cuts[pattern] = array("q", (place for place in found if not _joined(self._text, place)))
        return self._cuts[pattern]

    def _outside(self, places: Iterable[int]) -> Iterator[int]:
        """Those of the ascending places that lie in no range that is kept whole."""
        kept = iter(self._kept)
        start, end = next(kept, (len(self._text), len(self._text)))
        for place in places:
            while end <= place < len(self._text):
                start, end = next(kept, (len(self._text), len(self._text)))
            if place <= start:
                yield place

    def _kept_at(self, place: int) -> tuple[int, int] | None:
        at = bisect_right(self._kept, place, key=lambda kept: kept[0]) - 1
        return self._kept[at] if at >= 0 and place < self._kept[at][1] else None

    def _character(self, start: int, end: int) -> int:
        """The last place in `(start, end]` that splits no character as a reader sees it; `end` where there is none."""
        place = end
        while place > start + 1 and _joined(self._text, place):
            place -= 1
        return end if _joined(self._text, place) else place

    def _reach(self, start: int, tokens: int) -> int:
        """The end of `tokens` tokens from `start`, at least one character on."""
        at = bisect_left(self._starts, start) + tokens
        end = self._starts[at] if at < len(self._starts) else len(self._text)
        return max(start + 1, min(end, start + CHARS_PER_TOKEN * tokens))

    def _tokens(self, start: int, end: int) -> int:
        return bisect_left(self._starts, end) - bisect_left(self._starts, start)

    def _count(self, start: int, end: int) -> int:
        # A mark in the middle of a file is a byte order mark to whoever reads only the span.
        return self._counter.count(self._text[start:end].lstrip("\ufeff"))


def _line_start(text: str, after: int, first: int) -> int:
    """Where the line of `first` starts, else `first`, if not only blanks stand before it; from `after` on all are."""
    newline = text.rfind("\n", after, first)
    if newline >= 0:
        return newline + 1
    return after if after == 0 or text[after - 1] == "\n" else first


def _joined(text: str, place: int) -> bool:
    """Whether a reader sees one character on both sides of the place: marks, joined emoji, flags, Hangul letters."""
    left, right = text[max(0, place - 1) : place], text[place : place + 1]
    if left == _ZERO_WIDTH_JOINER:
        return bool(right) and not right.isspace()
    if not left or right < "\u0300":
        return False
    if right in _FLAG_LETTERS:
        # Flags are pairs: the letters before this one are looked at, as far as a row of flags may go.
        before = text[max(0, place - 64) : place]
        return (len(before) - len(before.rstrip(_FLAG_LETTERS))) % 2 == 1
    return (
        right == _ZERO_WIDTH_JOINER
        or unicodedata.category(right) in ("Mn", "Mc", "Me")
        or "\u1160" <= right <= "\u11ff"
        or "\U0001f3fb" <= right <= "\U0001f3ff"
        or "\U000e0020" <= right <= "\U000e007f"
    )
