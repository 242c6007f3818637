"""Tells which lines begin an HTML block in Markdown and what ends it, as CommonMark 0.31 lists them."""

import re

_TAG = re.compile(
    r"""</[a-z][a-z0-9-]*\s*+>
      | <[a-z][a-z0-9-]*+ (?:\s++[a-z_:][a-z0-9_.:-]*+ (?:\s*=\s*(?:[^\s"'=<>`]++|'[^']*'|"[^"]*"))?+)*+ \s*+/?>""",
    re.ASCII | re.IGNORECASE | re.VERBOSE,
)
_BLOCK = re.compile(
    r"</?(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt"
    r"|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu"
    r"|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr"
    r"|track|ul)(?:\s|/?>|$)",
    re.IGNORECASE,
)
BLANK = re.compile(r"^\s*$")
_RAW: tuple[tuple[re.Pattern[str], re.Pattern[str]], ...] = (
    (
        re.compile(r"<(?:script|pre|style|textarea)(?:[\s>]|$)", re.IGNORECASE),
        re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE),
    ),
    (re.compile(r"<!--"), re.compile(r"-->")),
    (re.compile(r"<\?"), re.compile(r"\?>")),
    (re.compile(r"<![a-z]", re.IGNORECASE), re.compile(r">")),
    (re.compile(r"<!\[CDATA\["), re.compile(r"\]\]>")),
)


def html_end(body: str, paragraph: bool) -> re.Pattern[str] | None:
    """What ends the HTML block that the line starts, None if it starts none."""
    for begin, end in _RAW:
        if begin.match(body):
            return end
    if _BLOCK.match(body):
        return BLANK
    tag = None if paragraph else _TAG.match(body)
    return BLANK if tag and not body[tag.end() :].strip() else None
