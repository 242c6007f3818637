"""References of HTML, reStructuredText, AsciiDoc and Org, read off their text by patterns."""

import re
from collections.abc import Callable

from ragx.links.markdown import HREF, blank, link
from ragx.links.reference import Reference


def _reader(hidden: str, *patterns: str) -> Callable[[str], list[Reference]]:
    """Reads what matches a pattern outside of what is hidden; the first group that took part is the destination."""
    hides = re.compile(hidden, re.MULTILINE | re.IGNORECASE)
    finds = [re.compile(pattern, re.MULTILINE | re.IGNORECASE) for pattern in patterns]

    def read(text: str) -> list[Reference]:
        shown = hides.sub(lambda match: blank(match[0]), text)
        return [
            reference
            for find in finds
            for match in find.finditer(shown)
            for reference in link(match.start(), next((group for group in match.groups() if group), ""))
        ]

    return read


# What is never closed is hidden to the end: looking for its end again and again would take quadratic time.
html = _reader(r"<!--[\s\S]*?(?:-->|\Z)|<(script|style|template)\b[\s\S]*?(?:</\1\b|\Z)", HREF)
restructuredtext = _reader(
    r"^([ ]*)\.\.[ ](?:code|code-block|sourcecode|literalinclude)::[^\n]*(?:\n(?:\1[ ]+[^\n]*|[ ]*$))*"
    r"|``(?:(?!``)[^\n])+``",
    r":doc:`(?:[^`<>\n]*<)?([^`<>\n]+)>?`",
    r"(?<!:)`[^`<>\n]*<([^`<>\s]+\.rst(?:#[^`<>\s]*)?)>`_",
    r"^[ ]*\.\.[ ]include::[ ]*(\S+)",
)
asciidoc = _reader(
    r"^(-{4,}|\.{4,}|/{4,})[ ]*\n[\s\S]*?(?:^\1[ ]*$|\Z)|^//[^\n]*",
    r"\b(?:xref|link):([^\s\[\]]{1,300})\[",
    r"<<([^<>,\s]+\.adoc(?:#[^<>,\n]*)?)(?:,[^<>\n]*)?>>",
    r"^include::([^\s\[\]]+)\[",
)
org = _reader(
    r"^[ \t]*#\+begin_(src|example|comment)\b[\s\S]*?(?:^[ \t]*#\+end_\1\b|\Z)|^#[ ][^\n]*",
    r"\[\[file:([^\[\]\n:]+)(?:::[^\[\]\n]*)?\]",
    r"\[\[(\.{0,2}/[^\[\]\n:]+)(?:::[^\[\]\n]*)?\]",
)
