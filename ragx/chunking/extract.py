"""The readable text of a file that is markup around it, and where in the file each character of it stands."""

from array import array
from bisect import bisect_right
from dataclasses import dataclass, field

from ragx.chunking.sections import Section


@dataclass(frozen=True)
class Extract:
    """Readable text and its sections; `runs` leads back to the file."""

    text: str
    sections: list[Section]
    runs: "Runs"


@dataclass
class Runs:
    """A text in the making: stretches copied from a source, and characters that stand for more of it or for nothing."""

    pieces: list[str] = field(default_factory=list)
    length: int = 0
    _ats: "array[int]" = field(default_factory=lambda: array("q"))
    _sources: "array[int]" = field(default_factory=lambda: array("q"))
    _ends: "array[int]" = field(default_factory=lambda: array("q"))

    def copy(self, text: str, source: int) -> None:
        """Adds what stands at `source`, character by character."""
        self._add(text, source, -1)

    def stand_in(self, char: str, source: int, end: int) -> None:
        """Adds one character in place of `[source, end)`."""
        self._add(char, source, end)

    def pieces_from(self, start: int) -> list[str]:
        """The pieces that were added since the text was as long as `start`."""
        length, first = self.length, len(self.pieces)
        while length > start:
            first -= 1
            length -= len(self.pieces[first])
        return self.pieces[first:]

    def source_start(self, at: int) -> int:
        """Where the character at `at` starts in the source."""
        run = bisect_right(self._ats, at) - 1
        return self._sources[run] + (at - self._ats[run] if self._ends[run] < 0 else 0)

    def source_end(self, at: int) -> int:
        """Where the character before `at` ends in the source."""
        run = bisect_right(self._ats, at - 1) - 1
        return self._sources[run] + at - self._ats[run] if self._ends[run] < 0 else self._ends[run]

    def _add(self, text: str, source: int, end: int) -> None:
        self._ats.append(self.length)
        self._sources.append(source)
        self._ends.append(end)
        self.pieces.append(text)
        self.length += len(text)
