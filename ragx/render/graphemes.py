"""Where text may be cut without tearing what a reader sees as one sign apart."""

import unicodedata

_JOINER = "\u200d"
_EMOJI_MODIFIERS = ("\U0001f3fb", "\U0001f3ff")
_TAGS = ("\U000e0020", "\U000e007f")
_REGIONAL = ("\U0001f1e6", "\U0001f1ff")
_JAMO_TAIL = ("\u1160", "\u11ff")


def boundary(text: str, at: int) -> int:
    """The last place at or before `at` where no grapheme is cut (a subset of the rules of Unicode's UAX 29)."""
    at = min(at, len(text))
    while 0 < at < len(text) and _joined(text, at):
        at -= 1
    return at


def clusters(text: str) -> list[str]:
    """The text as a list of graphemes; joined, they are the text."""
    if text.isascii() and "\r\n" not in text:
        return list(text)
    cuts = [at for at in range(len(text)) if at == 0 or not _joined(text, at)]
    return [text[start:end] for start, end in zip(cuts, [*cuts[1:], len(text)], strict=True)]


def _joined(text: str, at: int) -> bool:
    """Whether the characters before and after `at` belong together."""
    before, after = text[at - 1], text[at]
    if after.isascii():
        return before == "\r" and after == "\n"
    return before == _JOINER or _extends(after) or (_within(after, _REGIONAL) and _regional_before(text, at) % 2 == 1)


def _extends(sign: str) -> bool:
    return (
        sign == _JOINER
        or unicodedata.category(sign) in ("Mn", "Mc", "Me")
        or any(_within(sign, bounds) for bounds in (_EMOJI_MODIFIERS, _TAGS, _JAMO_TAIL))
    )


def _regional_before(text: str, at: int) -> int:
    """How many regional indicators stand right before `at`: two make a flag."""
    start = at
    while start > 0 and _within(text[start - 1], _REGIONAL):
        start -= 1
    return at - start


def _within(sign: str, bounds: tuple[str, str]) -> bool:
    return bounds[0] <= sign <= bounds[1]
