"""Which language a text is in, from its script and its stop words, and which stemmer reads it."""

import math
import re
from collections import Counter
from functools import lru_cache

from ragx.text.stopwords import CODE_WORDS, STOP_WORDS

STEMMERS: dict[str, dict[str, str]] = {
    "latin": {
        "en": "english", "de": "german", "nl": "dutch", "fr": "french", "es": "spanish", "it": "italian",
        "pt": "portuguese", "ca": "catalan", "sv": "swedish", "da": "danish", "no": "norwegian", "fi": "finnish",
        "pl": "polish", "cs": "czech", "hu": "hungarian", "ro": "romanian", "tr": "turkish",
    },
    "cyrillic": {"ru": "russian", "uk": "", "bg": ""},
    "greek": {"el": "greek"},
    "armenian": {"hy": "armenian"},
    "arabic": {"ar": "arabic", "fa": "persian", "ur": ""},
    "devanagari": {"hi": "hindi"},
    "tamil": {"ta": "tamil"},
}  # fmt: skip
"""Per script the Snowball algorithm of a language; the first one also reads that script's words in any other text."""

_RANGES: dict[str, str] = {
    "latin": r"a-zA-Z\u00c0-\u024f\u1e00-\u1eff",
    "greek": r"\u0370-\u03ff\u1f00-\u1fff",
    "cyrillic": r"\u0400-\u052f",
    "armenian": r"\u0531-\u0587",
    "hebrew": r"\u05d0-\u05ea",
    "arabic": r"\u0620-\u06ff",
    "devanagari": r"\u0900-\u0963\u0966-\u097f",
    "bengali": r"\u0980-\u09ff",
    "tamil": r"\u0b80-\u0bff",
    "thai": r"\u0e01-\u0e4e",
    "georgian": r"\u10d0-\u10ff",
    "kana": r"\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff",
    "hangul": r"\u1100-\u11ff\uac00-\ud7a3",
    "han": r"\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af",
}
_ONE_LANGUAGE = {
    "greek": "el", "armenian": "hy", "hebrew": "he", "devanagari": "hi", "bengali": "bn", "tamil": "ta", "thai": "th",
    "georgian": "ka", "kana": "ja", "hangul": "ko", "han": "zh",
}  # fmt: skip
_WORDS_PER_LETTER = {"han": 3, "kana": 2, "hangul": 2}
"""A sign of these scripts says as much as that many letters, so English terms do not outvote the text around them."""

_OF_ARABIC_SCRIPT = {"ur": re.compile("[ٹڈڑںےہ]"), "fa": re.compile("[پچژگکی]")}
"""Letters that Arabic lacks. An Arabic text has them in foreign names only."""
_WORD = re.compile(r"\b[^\W\d_]{2,}\b")
_SIGNS = {
    "ß": "de", "ñ": "es", "¿": "es", "¡": "es", "ã": "pt", "õ": "pt", "ø": "da no", "æ": "da no", "å": "da no sv",
    "ą": "pl", "ę": "pl", "ł": "pl", "ń": "pl", "ś": "pl", "ź": "pl", "ż": "pl", "ě": "cs", "ř": "cs", "ů": "cs",
    "ő": "hu", "ű": "hu", "ă": "ro", "ș": "ro", "ț": "ro", "ğ": "tr", "ı": "tr", "ş": "tr ro", "ы": "ru", "э": "ru",
    "і": "uk", "ї": "uk", "є": "uk", "ґ": "uk",
}  # fmt: skip
"""Letters that few languages use, each worth half a stop word: they settle short texts and near relatives."""
_SIGN = re.compile(f"[{''.join(_SIGNS)}]")

_SAMPLE = 4000
_MIN_SHARE = 0.05
"""Least share of stop words in a text with a language. Paragraphs of six languages: 99 in 100 have .07 or more; of
chunks of Python sources those with .05 or more have docstrings or comments in that language."""
_MIN_DISTINCT, _MIN_DISTINCT_SHORT, _SHORT = 3, 2, 25


@lru_cache
def _letters(script: str) -> re.Pattern[str]:
    return re.compile(f"[{_RANGES[script]}]")


@lru_cache
def _evidence(script: str) -> dict[str, dict[str, float]]:
    """Stop word -> {language: weight}; a word that several languages have counts the less for each."""
    owners: dict[str, list[str]] = {}
    for language in STEMMERS[script]:
        for word in STOP_WORDS[language] - CODE_WORDS:
            if len(word) > 1:
                owners.setdefault(word, []).append(language)
    weights = {word: dict.fromkeys(languages, 1 / len(languages)) for word, languages in owners.items()}
    for sign, owned_by in _SIGNS.items():
        if languages := [language for language in owned_by.split() if language in STEMMERS[script]]:
            weights[sign] = dict.fromkeys(languages, 0.5 / len(languages))
    return weights


def detect(text: str) -> str:
    """The ISO 639-1 code of the text's main language; "" where it has too little prose to tell, as source code has."""
    sample = _sample(text)
    script = _script(sample)
    if script == "arabic":
        few = len(_letters("arabic").findall(sample)) / 50
        return next((code for code, own in _OF_ARABIC_SCRIPT.items() if len(own.findall(sample)) > few), "ar")
    if script == "han" and _letters("kana").search(sample):
        return "ja"
    if script not in ("latin", "cyrillic"):
        return _ONE_LANGUAGE.get(script, "")
    return _by_stop_words(sample, script)


def _sample(text: str) -> str:
    """At most 4,000 characters from four places, so that an English heading or licence does not hide German prose."""
    if len(text) <= _SAMPLE:
        return text
    part = _SAMPLE // 4
    return "\n".join(text[start : start + part] for start in range(0, len(text) - part + 1, (len(text) - part) // 3))


def _script(sample: str) -> str:
    if sample.isascii():
        return "latin"
    counts = {s: len(_letters(s).findall(sample)) * _WORDS_PER_LETTER.get(s, 1) for s in _RANGES}
    best = max(counts, key=counts.__getitem__)
    return best if counts[best] else ""


def _by_stop_words(sample: str, script: str) -> str:
    languages = STEMMERS[script]
    sample = sample.lower()
    words = Counter(_WORD.findall(sample))
    rank = dict.fromkeys(languages, 0.0)
    mass = dict.fromkeys(languages, 0.0)
    distinct = dict.fromkeys(languages, 0)
    for word, count in (words + Counter(_SIGN.findall(sample))).items():
        for language, weight in _evidence(script).get(word, {}).items():
            # The root keeps a variable's name, repeated all over a file, from outvoting many different stop words.
            rank[language] += weight * math.sqrt(count)
            mass[language] += weight * count
            distinct[language] += 1
    best = max(languages, key=rank.__getitem__)
    total = words.total()
    enough = distinct[best] >= (_MIN_DISTINCT_SHORT if total <= _SHORT else _MIN_DISTINCT)
    return best if enough and mass[best] >= _MIN_SHARE * total else ""


def stemmer_name(language: str, word: str) -> str:
    """The Snowball algorithm for a word in a text of this language, "" for none.

    A word in a foreign script gets the first stemmer of its script, so that English terms in Russian text, or in a text
    of unknown language, are found by their plurals.
    """
    script = "latin" if word.isascii() else next((s for s in STEMMERS if _letters(s).search(word)), "")
    names = STEMMERS.get(script, {})
    return names.get(language, next(iter(names.values()), ""))
