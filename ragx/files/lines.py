"""Lines as an editor counts them, whichever way they end: LF, CRLF or CR."""

import re

_LINE_END = re.compile(r"\r\n|\r|\n")


def line_starts(text: str) -> list[int]:
    """Where each line starts; behind a line end at the end of the text, an empty one."""
    return [0, *(match.end() for match in _LINE_END.finditer(text))]
