"""Tells YAML and TOML front matter from a thematic break, and reads single values out of it without ever failing."""

import json
import re
from itertools import takewhile

from ragx.chunking.sections import clean_title

_OPENING = re.compile(r"(---|\+\+\+)[ \t]*\n")
_CLOSING = {
    "---": re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE),
    "+++": re.compile(r"^\+\+\+[ \t]*$", re.MULTILINE),
}
_KEY = {
    "---": re.compile(r"""["']?[\w@$][\w ./@$-]{0,60}["']?[ \t]*:(?:[ \t]|$)"""),
    "+++": re.compile(r"""(?:["']?[\w.-]+["']?[ \t]*=|\[)"""),
}
_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)
_BLOCK_SCALAR = re.compile(r"[|>][+-]?[0-9]?[+-]?(?:[ \t]+#.*)?$")
_SINGLE_QUOTED = re.compile(r"'((?:[^']|'')*)'")
_DOUBLE_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_COMMENT = re.compile(r"(?:^|[ \t]+)#.*")
_QUOTES = "\"'"
_ITEM = re.compile(r"""\[\[[^\[\]\n]*\]\]|"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^,\[\]\n"'#]+""")
_FLOW = re.compile(rf"""\[((?:{_ITEM.pattern}|[,\s#])*+)\]""")
_DASHED = re.compile(r"[ \t]*-[ \t]+(\S.*)")


def front_matter_end(text: str) -> int:
    """Where the front matter ends that the text begins with; 0 where it begins with none.

    It is closed, its first line that is no comment names a key, and no prose follows a blank line in it.
    """
    opening = _OPENING.match(text)
    closing = _CLOSING[opening[1]].search(text, opening.end()) if opening else None
    if opening and closing and _names_keys(text[opening.end() : closing.start()], _KEY[opening[1]]):
        return closing.end()
    return 0


def front_matter_value(text: str, key: str) -> str:
    """A scalar of the top level of the front matter that the text begins with, on one line; "" where there is none."""
    value, below = _entry(text, key)
    return clean_title(_scalar(value.strip(), "\n" + below))


def front_matter_list(text: str, key: str) -> list[str]:
    """The items of a list of the top level: one in brackets, one with dashes, or a scalar with commas in it."""
    value, below = _entry(text, key)
    value = value.strip()
    if flow := _FLOW.match(value + "\n" + below):
        items = _ITEM.findall(flow[1])
    elif value:
        items = [value] if value[0] in _QUOTES else value.split(",")
    else:
        lines = takewhile(lambda line: not line.strip() or line[0] in " \t-", below.split("\n"))
        items = [match[1] for line in lines if (match := _DASHED.match(line))]
    return [item for written in items if (item := clean_title(_scalar(written.strip(), "")))]


def _entry(text: str, key: str) -> tuple[str, str]:
    """What stands behind a key of the top level on its line, and all lines below; nothing where the key is not."""
    end = front_matter_end(text)
    lines = text[:end].rpartition("\n")[0]
    if text.startswith("+"):
        table = _TABLE.search(lines)
        lines = lines[: table.start()] if table else lines
    found = re.search(rf"""^["']?{re.escape(key)}["']?[ \t]*[:=](?:[ \t]+|$)""", lines, re.MULTILINE | re.IGNORECASE)
    if not found:
        return "", ""
    value, _, below = lines[found.end() :].partition("\n")
    return value, below


def _names_keys(lines: str, key: re.Pattern[str]) -> bool:
    named = gap = False
    for line in lines.split("\n"):
        if not line.strip():
            gap = True
        elif key.match(line):
            named, gap = True, False
        elif line[0] not in "# \t" and (not named or (gap and line[0] not in "-]}")):
            return False
    return named


def _scalar(value: str, below: str) -> str:
    quote = value[:1]
    if quote == "'":
        single = _SINGLE_QUOTED.match(value)
        return single[1].replace("''", "'") if single else value[1:]
    if quote == '"':
        double = _DOUBLE_QUOTED.match(value)
        return _unescaped(double[1]) if double else value[1:]
    if _BLOCK_SCALAR.match(value) or not value:
        return _indented(below)
    plain = _COMMENT.sub("", value, count=1)
    return "" if plain in ("~", "null") else plain


def _indented(below: str) -> str:
    """The indented lines that follow, which a block scalar or a value on its own line consists of."""
    lines = []
    for line in below.split("\n")[1:]:
        if line.strip() and line[0] not in " \t":
            break
        lines.append(line.strip())
    joined = " ".join(lines).strip()
    return "" if joined.startswith(("- ", "#")) else joined


def _unescaped(value: str) -> str:
    try:
        value = str(json.loads(f'"{value}"', strict=False))
    except ValueError:
        value = value.replace('\\"', '"').replace("\\\\", "\\")
    # An escape may name half of a surrogate pair, which no file can hold.
    return value.encode("utf-8", "replace").decode()
