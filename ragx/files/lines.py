"""Lines as an editor counts them, whichever way they end: LF, CRLF or CR."""

import re
from itertools import pairwise

_LINE_END = re.compile(r"\r\n|\r|\n")


def line_starts(text: str) -> list[int]:
    """Where each line starts; behind a line end at the end of the text, an empty one."""
    return [0, *(match.end() for match in _LINE_END.finditer(text))]


def lines_of(text: str) -> list[str]:
    """The lines of a text with their ends; joined, they are the text, and none is empty."""
    return [text[start:end] for start, end in pairwise([*line_starts(text), len(text)]) if start < end]
