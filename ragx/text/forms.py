"""Analyses a surface token, whatever its language: the forms under which people type it."""

import re
from collections.abc import Iterator
from itertools import chain
from operator import add

from ragx.text.surfaces import fold, is_run, lower

LONGEST = 64
"""Most characters of a term: a SHA-256 in hex is kept, lines of base64 do not flood the dictionary."""

_RANDOM = 20
"""From this length on, what reads like base64 is indexed as a whole or not at all, never in parts."""

Form = tuple[str, bool]
"""A form, and whether it is a plain word, whose stem is indexed."""

_LONE_HAN = re.compile(r"(?<![\u3400-\u9fff])[\u3400-\u9fff](?![\u3400-\u9fff])")
_WORD = re.compile(r"[\w.]")
_OPERATOR_TABLE = (
    "===", "!==", "::", "&&", "||", "=>", "->", "<-", "==", "!=", "<=", ">=", ":=", "++", "+=", "-=", "|>", "=~", "??",
    "<<", ">>",
)  # fmt: skip
"""Not `**`, `--` and `//`, which prose, tables and comments are full of."""

_OPERATORS = re.compile(
    "|".join(rf"(?<!{re.escape(op[0])}){re.escape(op)}(?!{re.escape(op[-1])})" for op in _OPERATOR_TABLE)
)
_JOINS = (re.compile(r"::|[/@&]|(?<!\+)\+(?!\+)"), re.compile(r"\."), re.compile("-"))
_JOINER = re.compile(r"[-./@&]|::|(?<!\+)\+(?!\+)")
_JOINERS = "-./:@+&'#"
_NUMBER = re.compile(r"(?<![\w.])[vV]?\d+(?:\.\d+)+(?!\w)|(?<![\w-])\d{4}-\d\d-\d\d(?!\d)")
_INITIALS = re.compile(r"(?:[A-Z]\.)+[A-Z]")
_SHARP = re.compile(r"(?:c|g|clang|libc|libstdc|notepad)\+\+(?:\d\d)?|[cfjq]#", re.IGNORECASE)
_SUFFIX = re.compile(r"(?:\+\+(?:\d\d)?|#)+$")
_CLITICS = frozenset(("s", "m", "d", "re", "ve", "ll"))
_ELISIONS = frozenset("cdjlmnstv")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+")
_PLURAL = re.compile("[A-Z]{2,}s")
_DIGIT = re.compile(r"\d")
_HEX = re.compile("[0-9a-fA-F]{6,}")
_LETTERS_AND_NUMBER = re.compile(r"([A-Za-z]{2,})(\d+)|(\d+)([A-Za-z]{2,})")


def grams(run: str) -> Iterator[str]:
    """Each sign of a run, so that a query of one sign finds it, then each overlapping pair."""
    return chain(run, map(add, run, run[1:]))


def analyse(surface: str) -> list[Form]:
    """What is indexed for a surface token that is no run; a form analysed again gives itself."""
    if surface.isascii() and surface.isalpha() and (surface.islower() or surface.istitle()):
        return [(surface.lower(), True)] if len(surface) <= LONGEST else []
    folded = fold(surface)
    forms: list[Form] = []
    if not _WORD.search(folded):
        forms += [(form, False) for form in _OPERATORS.findall(surface) or (() if surface.isascii() else (folded,))]
    elif len(folded) < _RANDOM or not _is_random(folded):
        _add_names(folded, forms)
    elif len(folded) <= LONGEST and "'" not in folded:
        forms.append((lower(folded).strip(_JOINERS + "_"), False))
    return forms


def analyse_query(surface: str) -> list[Form]:
    """Without what nearly every text in that script has: signs that a pair holds already, the `::` inside a name."""
    if is_run(surface):
        # A lone Han sign among kana is a word: 猫は is also to find 猫が.
        lone = (surface,) if len(surface) == 1 else _LONE_HAN.findall(surface)
        return [(form, False) for form in chain(lone, map(add, surface, surface[1:]))]
    return [form for form in analyse(surface) if form[0] != "::" or surface == "::"]


def _add_names(text: str, forms: list[Form]) -> None:
    """A chain as a whole, then what it joins, level by level: versions and dates, `:: / @ + &`, dots, hyphens."""
    if not _JOINER.search(text):
        _add_words(text, forms)
        return
    parts = _NUMBER.findall(text)
    if parts == [text]:
        _add_number(lower(text), forms)
        return
    if parts:
        parts += [part.strip(_JOINERS) for part in _NUMBER.split(text)]
    else:
        parts = next(parts for join in _JOINS if len(parts := join.split(text)) > 1)
    if len(text) <= LONGEST:
        forms.append((lower(text), False))
    if _INITIALS.fullmatch(text):
        forms.append((lower(text).replace(".", ""), True))
        return
    if "::" in text:
        forms.append(("::", False))
    for part in parts:
        if part:
            _add_names(part, forms)


def _add_number(form: str, forms: list[Form]) -> None:
    if "-" in form:
        shorter = [form[:7], *form.split("-")]
    else:
        bare = form.lstrip("v")
        parts = bare.split(".")
        shorter = [".".join(parts[:n]) for n in range(len(parts) - 1, 1, -1)]
        shorter += [part for part in parts if len(part) == 4]
        if bare != form:
            shorter.insert(0, bare)
    forms += [(part, False) for part in (form, *shorter)]


def _add_words(text: str, forms: list[Form]) -> None:
    """Words between joiners, which may still hold apostrophes: 's and the like are dropped, and l' and its kin."""
    parts = text.split("'")
    if len(parts) > 1:
        parts = [_SUFFIX.sub("", part) if not _SHARP.fullmatch(part) else part for part in parts]
        if not text.isascii() or (parts[-1] in "tT" and parts[0][-1:] in "nN"):
            parts = [fold("".join(parts))]
        if len(parts) > 1 and lower(parts[-1]) in _CLITICS:
            parts.pop()
        if len(parts) > 1 and lower(parts[0]) in _ELISIONS:
            parts.pop(0)
    for part in parts:
        if _SHARP.fullmatch(part):
            forms += [(form, False) for form in dict.fromkeys((lower(part), lower(part).rstrip("0123456789")))]
        elif "_" in part:
            _add_underscored(_SUFFIX.sub("", part), forms)
        else:
            _add_word(_SUFFIX.sub("", part), forms)


def _add_underscored(text: str, forms: list[Form]) -> None:
    parts = [part for part in text.split("_") if part]
    # `_word_` is emphasis in Markdown; a longer row of underscores is the blank of a form.
    emphasis = len(parts) == 1 and text == f"_{parts[0]}_"
    if len(text) <= (LONGEST if parts else 3) and not emphasis:
        forms.append((lower(text), False))
    for part in parts:
        _add_word(part, forms)


def _add_word(text: str, forms: list[Form]) -> None:
    form = lower(text)
    if not form or len(form) > LONGEST:
        return
    number = _DIGIT.search(text) is not None
    forms.append((form, not number))
    if (form == text and not number) or not text.isascii() or text.isdigit() or _PLURAL.fullmatch(text):
        return
    if match := _LETTERS_AND_NUMBER.fullmatch(text):
        forms += [(lower(part), part.isalpha()) for part in match.groups() if part]
        return
    parts = _CAMEL.findall(text)
    if len(parts) > 1 and len(parts) * (3 if number else 2) <= len(text) and not (number and _HEX.fullmatch(text)):
        for part in parts:
            _add_word(part, forms)


def _is_random(text: str) -> bool:
    """Whether it reads like base64: digits and both cases, in pieces of under three characters."""
    return (
        _DIGIT.search(text) is not None
        and text.lower() != text != text.upper()
        and len(_CAMEL.findall(text)) * 3 > len(text)
    )
