"""What a chat model's answer says, whatever form it has: JSON among other words, lists, plain lines; never an error."""

import json
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from ragx.parsing import unnested

_ITEM = re.compile(r"^\s*(?:[-*\u2022]|\(?\d{1,3}[.):])\s+(.*)$")
_MARKUP = re.compile(r"^[*_`\"'\u201c\u201d\s]+|[*_`\"'\u201c\u201d\s]+$")
_STARTS = 20


def json_in(text: str) -> Any:
    """The first JSON object in the text, else the first array that is not empty; None: there is neither."""
    decoder = json.JSONDecoder()
    end, arrays = 0, []
    # Each start may be read to the end of the text.
    for start in [match.start() for match in re.finditer(r"[{\[]", text)][:_STARTS]:
        if start < end:
            continue  # inside of what was read
        try:
            value, end = unnested(partial(decoder.raw_decode, text, start))
        except ValueError:
            continue
        if isinstance(value, dict):
            return value
        arrays += [value] * bool(value)
    return arrays[0] if arrays else None


def listed(text: str) -> Iterator[str]:
    """The items of a numbered or bulleted list, each one line; questions that stand alone on a line are items too."""
    for line in text.splitlines():
        if item := _ITEM.match(line):
            yield item[1]
        elif line.rstrip().endswith("?"):
            yield line


def plain(value: Any, most: int) -> str:
    """Text on one line, without control signs and the quotes or stars around it, at most `most` characters long.

    "" for what is no text, has no letter or digit, or is HTML.
    """
    if not isinstance(value, str):
        return ""
    # Escapes, bidirectional overrides and lone surrogates say nothing, and a terminal may obey them.
    text = _MARKUP.sub("", " ".join("".join(sign if sign.isprintable() else " " for sign in value).split()))
    if text.startswith("<") or not any(map(str.isalnum, text)):
        return ""
    return text if len(text) <= most else text[: most - 3].rsplit(" ", 1)[0] + "..."
