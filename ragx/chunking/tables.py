"""Cuts CSV and TSV between rows, a few at a time, each under the names of the columns."""

import csv
import re

from ragx.chunking.code import GROUP_LINES
from ragx.chunking.sections import Section, clean_title, lines_with_start

_LONG_LINE = 80
_DELIMITERS = ",\t;|"
_NUMBER = re.compile(r"[\d\s.,:/%+-]*$|0[xX][\da-fA-F]+$")


def table(text: str) -> list[Section]:
    """Groups of rows, named "a, b, c" after the columns if the first row names them."""
    starts = [0]
    lines = 0
    quotes = 0
    header = ""
    for start, line in lines_with_start(text):
        if quotes % 2 == 0 and lines >= GROUP_LINES:
            starts.append(start)
            lines = 0
        quotes += line.count('"')
        lines += 1 + len(line) // _LONG_LINE
        if not header and quotes % 2 == 0:
            header = text[: start + len(line)].strip()
    columns = _columns(header)
    headings = (columns,) if columns else ()
    return [Section(start, end, "code", headings) for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]


def _columns(header: str) -> str:
    delimiter = max(_DELIMITERS, key=header.count)
    try:
        names = next(csv.reader([header.replace("\n", " ")], delimiter=delimiter), [])
    except csv.Error:  # a field beyond the module's limit
        return ""
    names = [clean_title(name) for name in names]
    if len(names) < 2 or len(set(names)) < len(names) or any(_NUMBER.match(name) for name in names):
        return ""
    return clean_title(", ".join(names))
