"""One tokeniser for text and query, so that whatever a text holds is found by typing it.

running         run                                   a plain word: its Snowball stem, accents folded first
HTTPServer      httpserver http server                an identifier: as a whole and in its parts
src/a-b.py      src/a-b.py src a-b.py a-b a b py      joined names: each level as a whole, and the words
v2.10.3         v2.10.3 2.10.3 2.10                   a version and its shorter forms; dates likewise
検索器          検 索 器 検索 索器                    each sign and each pair; a query of several signs: the pairs
:: € 🎉         :: € 🎉                               operators of two signs or more, currency, emoji
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

import Stemmer

from ragx.text.forms import LONGEST, analyse, analyse_query, grams
from ragx.text.language import stemmer_name
from ragx.text.stopwords import STOP_WORDS
from ragx.text.surfaces import cut, fold, is_run, lower


class Term(NamedTuple):
    """`form`: as a person types it, lower case, accents folded; `term`: what is indexed for it."""

    form: str
    term: str


VERSION = f"1/snowball-{Stemmer.version()}"
"""Changes whenever the same text could get other terms."""

_CACHED = 100_000
"""Surface tokens remembered per language, some 40 MB."""


def terms(text: str, language: str) -> list[Term]:
    """Every term of a text, in order, with duplicates; `language` ("" unknown) picks the stemmer. Never raises."""
    return list(chain.from_iterable(map(_cache(language).__getitem__, cut(text))))


def query_terms(text: str, languages: Sequence[str]) -> list[list[Term]]:
    """Per distinct form of a query the terms under which texts in these languages have it. Never raises."""
    stems = [_stemmer(language) for language in dict.fromkeys(languages or ("",))]
    forms = chain.from_iterable(map(analyse_query, dict.fromkeys(cut(text))))
    return [
        [Term(form, term) for term in dict.fromkeys(stem(form) for stem in stems)] if plain else [Term(form, form)]
        for form, plain in dict(forms).items()
    ]


def is_stop_word(form: str, languages: Sequence[str]) -> bool:
    """Whether a form is a function word in one of these languages; an unknown one ("") counts as English."""
    return any(form in _stop_forms(language or "en") for language in languages or ("",))


def stop_terms(languages: Sequence[str]) -> frozenset[str]:
    """The terms under which texts in these languages have any of their function words."""
    words = " ".join(sorted(form for language in languages for form in _stop_forms(language or "en")))
    return frozenset(term.term for language in languages for term in terms(words, language))


@lru_cache
def _stop_forms(language: str) -> frozenset[str]:
    return frozenset(lower(fold(word)) for word in STOP_WORDS.get(language, ()))


class _Cache(dict[str, tuple[Term, ...]]):
    """The terms of a surface token in one language. Forgets everything when full: what is frequent is soon back."""

    def __init__(self, language: str) -> None:
        self._stem = _stemmer(language)
        self._terms: dict[str, Term] = {}

    def __missing__(self, surface: str) -> tuple[Term, ...]:
        if is_run(surface):
            return tuple(map(_GRAMS.__getitem__, grams(surface)))
        # One object a form: identifiers share their parts, and the garbage collector has a quarter to walk.
        known = self._terms
        if max(len(self), len(known)) >= _CACHED:
            self.clear()
            known.clear()
        for form, plain in (forms := analyse(surface)):
            if form not in known:
                known[form] = Term(form, self._stem(form) if plain else form)
        found = tuple([known[form] for form, _ in forms])
        if len(surface) <= LONGEST:
            self[surface] = found
        return found


class _Grams(dict[str, Term]):
    def __missing__(self, gram: str) -> Term:
        if len(self) >= _CACHED:
            self.clear()
        return self.setdefault(gram, Term(gram, gram))


_GRAMS = _Grams()


@lru_cache
def _cache(language: str) -> _Cache:
    return _Cache(language)


def _stemmer(language: str) -> Callable[[str], str]:
    latin = _snowball(stemmer_name(language, "a"))

    def stem(word: str) -> str:
        # An Arabic word of nothing but affixes has an empty stem.
        return (latin if word.isascii() else _snowball(stemmer_name(language, word)))(word) or word

    return stem


@lru_cache
def _snowball(name: str) -> Callable[[str], str]:
    # Its own cache would only repeat ours.
    stem: Callable[[str], str] = Stemmer.Stemmer(name, 0).stemWord if name else str
    return stem
