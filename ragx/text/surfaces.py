"""Cuts text into surface tokens: words with what joins them, runs without spaces, operators and signs, in order."""

import re
import unicodedata
from functools import lru_cache

_UNSPACED = (
    r"\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u1000-\u103f\u1050-\u109f\u1100-\u11ff\u1780-\u17d3"
    r"\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f"
    r"\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua48c\ua960-\ua97f\uac00-\ud7fb\uf900-\ufaff"
    r"\U00016fe0-\U00018cff\U0001b000-\U0001b16f\U00020000-\U000323af"
)
"""Thai, Lao, Burmese, Khmer, Han, kana and their like, and Hangul, whose particles are glued to the noun."""

# `\w` lacks combining marks, but these belong to the word: accents without a composed letter, vowel signs.
_MARKS = (
    r"\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    r"\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0711\u0730-\u074a\u07a6-\u07b0\u07eb-\u07f3\u0816-\u082d\u0859-\u085b"
    r"\u08d3-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963\u0981-\u0983\u09bc-\u09d7\u0a01-\u0a03\u0a3c-\u0a51"
    r"\u0a70-\u0a75\u0a81-\u0a83\u0abc-\u0acd\u0b01-\u0b03\u0b3c-\u0b57\u0b82\u0bbe-\u0bd7\u0c00-\u0c04\u0c3e-\u0c56"
    r"\u0c81-\u0c83\u0cbc-\u0cd6\u0d00-\u0d03\u0d3b-\u0d57\u0d81-\u0d83\u0dca-\u0df3\u0f18\u0f19\u0f35-\u0f39"
    r"\u0f71-\u0f84\u0f86-\u0fbc\u135d-\u135f"
)
# Not box drawing, blocks and bullets: they decorate.
_SIGNS = r"¢-¥§°±×÷\u20a0-\u20c0\u2190-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001f1e5\U0001f200-\U0001faff"
_OPERATOR_SIGNS = r"!&*+\-/:<=>?|~"
# AT&T and R&D, not an address's `a=1&b=2` nor `&nbsp;`.
_AMPERSAND = r"&(?:(?<=\b[A-Za-z]&)|(?<=\b[A-Za-z]{2}&))(?=[A-Za-z]{1,2}\b)"


def _pattern(word: str, before: str = "") -> re.Pattern[str]:
    word = f"[{word}]"
    # Every branch starts with a literal or a set and repeats possessively, which is more than twice as fast as not.
    rest = rf"(?:(?:[-./@']|(?<!\+)\+|::|{_AMPERSAND}){word}++|\+\+(?:\d\d)?(?!\w)|#(?!\w))*+"
    dot_name = rf"\.(?<![\w.)\]]\.)(?=[A-Za-z_]){word}++{rest}"
    return re.compile(f"{before}{word}++{rest}|[{_OPERATOR_SIGNS}][{_OPERATOR_SIGNS}]++|{dot_name}")


_ASCII = _pattern("A-Za-z0-9_")


# Compiled when the first text needs them: a query in ASCII is spared the 10 ms.
@lru_cache
def _unicode() -> re.Pattern[str]:
    return _pattern(rf"\w{_MARKS}", f"[{_UNSPACED}]++|[\U0001f1e6-\U0001f1ff]{{1,2}}+|[{_SIGNS}]|")


@lru_cache
def _runs() -> re.Pattern[str]:
    return re.compile(f"[{_UNSPACED}]+")


def is_run(surface: str) -> bool:
    """Whether it is a run of a script without spaces."""
    return not surface.isascii() and _runs().match(surface) is not None


# Not typed into a query: soft hyphen, joiners, byte order mark, variation selectors, skin tones; the vowel points of
# Hebrew and Arabic, and the tatweel, which only stretches a line.
_UNTYPED = re.compile(
    "[\u00ad\u200c\u200d\u2060\ufe00-\ufe0f\ufeff\U0001f3fb-\U0001f3ff"
    r"\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u0652\u0670]+"
)
_TYPED = {"‘": "'", "’": "'", "ʼ": "'", "‐": "-", "‑": "-"}


def cut(text: str) -> list[str]:
    """The surface tokens of any string, NFKC, case and accents kept."""
    if text.isascii():
        return _ASCII.findall(text)
    text = _nfkc(_UNTYPED.sub("", _nfkc(text)))
    for printed, typed in _TYPED.items():
        text = text.replace(printed, typed)
    return _unicode().findall(_runs().sub(r" \g<0> ", text))


def _nfkc(text: str) -> str:
    return text if unicodedata.is_normalized("NFKC", text) else unicodedata.normalize("NFKC", text)


# Accents of Latin and Greek letters; on Cyrillic only the stress mark and the dots of ё: й, ї and ў are other letters.
_ACCENTS = re.compile(
    r"(?<=[a-zA-Z\u00c6-\u024f\u0250-\u02af\u0370-\u03ff])[\u0300-\u036f]+|(?<=[аеиоуыэюяіАЕИОУЫЭЮЯІ])[\u0300\u0301]"
    r"|(?<=[еЕ])\u0308"
)
_UNDECOMPOSED = str.maketrans(
    {"ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ð": "d", "Ð": "D", "ħ": "h", "Ħ": "H", "ŧ": "t",
     "Ŧ": "T", "ı": "i", "ß": "ss", "ẞ": "SS", "æ": "ae", "Æ": "Ae", "œ": "oe", "Œ": "Oe", "þ": "th", "Þ": "Th"}
)  # fmt: skip


def fold(surface: str) -> str:
    """The surface without accents, case kept: camelCase still shows."""
    if surface.isascii():
        return surface
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", surface)).translate(_UNDECOMPOSED)
    return _nfkc(bare)


def lower(folded: str) -> str:
    """The lower-case form of what `fold` returned."""
    return folded.lower() if folded.isascii() else _nfkc(folded.casefold())
