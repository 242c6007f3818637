"""The tokeniser: what a text holds is found by typing it, whatever it is."""

import random
from base64 import b64encode

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragx.text import is_stop_word, query_terms, terms
from ragx.text.terms import LONGEST, _cache

LANGUAGES = ("", "en", "de", "fr", "ru", "uk", "tr", "el", "ar", "hi", "ja")

QUERIES = [
    "to be or not to be", "IT", "'unbalanced", '"open quote', "foo:bar", "-leading", "AND", "OR NOT", "_", "snake_case",
    "camelCase", "v2.10.3", "2.10.3", "2026-03-31", "C++", "C#", ".env", "::", "&&", "猫", "検索", "機械学習",
    "한국어", "집", "ภาษา", "Привет мир", "Pythonで書く", "http.sslVerify", "PASS_REGULAR_EXPRESSION", "std::vector",
    "receive.denyCurrentBranch", "node.js", "--no-graph", "@decorator", "$PATH", "a/b/c.py", "CMP0077", "🎉", "100 €",
    "SELECT path FROM files WHERE path LIKE '%x%'; DROP TABLE files; --", "don't", "l'été", "हिन्दी", "שלום", "__init__",
]  # fmt: skip

CHARACTERS = st.characters(exclude_categories=())
PIECES = st.one_of(
    st.text(CHARACTERS, max_size=12),
    st.sampled_from([*QUERIES, " ", "\n", ".", "-", "_", "'", "::", "+", "#", "++", "\u0301", "\u00ad", "İ", "ß", "é"]),
    st.text("aAbB1_.-/:'+#@& ", max_size=12),
)
TEXTS = st.lists(PIECES, max_size=8).map("".join)


def found(text: str, language: str = "") -> set[str]:
    return {term.term for term in terms(text, language)}


def forms(text: str) -> list[str]:
    return [term.form for term in terms(text, "en")]


def finds(query: str, text: str, language: str = "") -> bool:
    """Whether every token of the query is in the text."""
    tokens = query_terms(query, [language])
    return bool(tokens) and all(found(text, language) & {variant.term for variant in token} for token in tokens)


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_finds_the_text_that_holds_it(query: str) -> None:
    assert finds(query, f"Some words before, {query} and some after.")


@pytest.mark.parametrize("query", ["", "  \n\t", "%", "?!", "...", "---", "\x00", "\ud800", "____________"])
def test_a_query_of_nothing_to_find_is_an_empty_list(query: str) -> None:
    assert query_terms(query, ["en"]) == []
    assert terms(query, "en") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("PASS_REGULAR_EXPRESSION", ["pass_regular_expression", "pass", "regular", "expression"]),
        ("http.sslVerify", ["http.sslverify", "http", "sslverify", "ssl", "verify"]),
        ("std::vector", ["std::vector", "::", "std", "vector"]),
        ("a/b/c.py", ["a/b/c.py", "a", "b", "c.py", "c", "py"]),
        ("v2.10.3", ["v2.10.3", "2.10.3", "2.10"]),
        ("2026-03-31", ["2026-03-31", "2026-03", "2026", "03", "31"]),
        ("python-3.11.4.tar.gz", ["python-3.11.4.tar.gz", "3.11.4", "3.11", "python", "tar.gz", "tar", "gz"]),
        ("CMP0077", ["cmp0077", "cmp", "0077"]),
        ("UTF-8", ["utf-8", "utf", "8"]),
        ("UTF8", ["utf8", "utf", "8"]),
        ("sha256sum", ["sha256sum", "sha256", "sha", "256", "sum"]),
        ("C++", ["c++"]),
        ("C/C++17", ["c/c++17", "c", "c++17", "c++"]),
        ("i++", ["i"]),
        (".env", [".env", "env"]),
        ("call().env", ["call", "env"]),
        ("__init__.py", ["__init__.py", "__init__", "init", "py"]),
        ("_emphasis_", ["emphasis"]),
        ("URLs", ["urls"]),
        ("U.S.A.", ["u.s.a", "usa"]),
        ("AT&T", ["at&t", "at", "t"]),
        ("me@example.com", ["me@example.com", "me", "example.com", "example", "com"]),
        ("it's l'homme don’t", ["it", "homme", "dont"]),
        ("Pythonで書く", ["python", "で", "書", "く", "で書", "書く"]),
        ("👩\u200d💻🇩🇪", ["👩", "💻", "🇩🇪"]),
        ("9fbb372a", ["9fbb372a"]),
    ],
)
def test_an_identifier_is_a_whole_and_its_parts(text: str, expected: list[str]) -> None:
    assert forms(text) == expected


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Universität Łódź, Café, Straße, Ærø", "universitat lodz cafe strasse aero"),
        ("ＦＵＬＬ　ｗｉｄｔｈ ﬁle", "full width file"),
        ("co\u00adop\u00ader\u00ada\u00adtion", "cooperation"),
        ("cafe\u0301", "café"),
        ("İSTANBUL", "istanbul"),
        ("ёлка", "елка"),
        ("שָׁלוֹם", "שלום"),
        ("مُحَمَّد", "محمد"),
        ("state‑of‑the‑art", "state-of-the-art"),
    ],
)
def test_spelling_variants_find_each_other(text: str, query: str) -> None:
    assert finds(query, text)
    assert finds(text, query)


def test_folding_keeps_letters_that_only_look_accented() -> None:
    assert not finds("йод", "иод", "ru")
    assert forms("हिन्दी") == ["हिन्दी"]
    assert "한" in forms("한국어")


def test_c_plus_plus_is_not_c() -> None:
    assert not finds("C++", "Written in C and C#.")
    assert not finds("C", "Written in C++.")


@pytest.mark.parametrize(
    ("language", "text", "query"),
    [
        ("en", "the running shoes", "run shoe"),
        ("", "several indexes of files", "index file"),
        ("de", "die Häuser", "Haus"),
        ("es", "las canciones", "canción"),
        ("ru", "все функции", "функция"),
        ("ru", "несколько commits", "commit"),
        ("en", "the word книги", "книга"),
    ],
)
def test_a_word_is_found_by_its_other_forms(language: str, text: str, query: str) -> None:
    assert all(found(text, language) & {variant.term for variant in token} for token in query_terms(query, [language]))


def test_a_query_has_a_stem_for_each_language() -> None:
    assert query_terms("Kinder", ["en", "de", "en"]) == [[("kinder", "kinder"), ("kinder", "kind")]]
    assert query_terms("file File FILE", ["en"]) == [[("file", "file")]]


def test_a_name_in_a_query_does_not_look_for_its_double_colon() -> None:
    assert [token[0].form for token in query_terms("std::vector", ["en"])] == ["std::vector", "std", "vector"]


@pytest.mark.parametrize("width", [76, 10**6])
def test_base64_does_not_flood_the_dictionary(width: int) -> None:
    blob = b64encode(random.Random(7).randbytes(60_000)).decode()
    text = "\n".join(blob[start : start + width] for start in range(0, len(blob), width))
    assert len(found(text)) < len(text) / 80
    assert found("before " + blob + " after") >= {"befor", "after"}


def test_a_hash_is_found_as_a_whole() -> None:
    digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    assert forms(f"sha256:{digest}") == ["sha256", "sha", "256", digest]


def test_ten_kilobytes_of_query() -> None:
    assert len(query_terms("quick brown fox " * 640, ["en", "de"])) == 3
    assert query_terms("x" * 10_240, ["en"]) == []


def test_stop_words_by_language() -> None:
    assert is_stop_word("the", [])
    assert is_stop_word("the", [""])
    assert is_stop_word("fur", ["en", "de"])
    assert not is_stop_word("fur", ["en"])
    assert not is_stop_word("index", ["en", "de", "zh"])


@given(TEXTS, st.sampled_from(LANGUAGES))
def test_any_word_of_any_text_finds_it(text: str, language: str) -> None:
    indexed = found(text, language)
    for word in text.split():
        for token in query_terms(word, [language]):
            assert indexed & {variant.term for variant in token}, (word, token)


@example("0#'0", "")
@example("A&A", "")
@example("A'\u0300", "")
@example("0+++_", "")
@example("\u064b-a", "")
@example("00A000A00A'a00000A0A", "")
@given(TEXTS, st.sampled_from(LANGUAGES))
def test_a_form_typed_again_gives_its_term(text: str, language: str) -> None:
    for form, term in terms(text, language):
        assert term in found(form, language), (form, term)
        assert 0 < len(form) <= LONGEST


@given(TEXTS, st.sampled_from(LANGUAGES))
def test_terms_do_not_depend_on_what_was_cached(text: str, language: str) -> None:
    warm = terms(text, language)
    _cache.cache_clear()
    assert terms(text, language) == warm


@given(TEXTS, st.lists(st.sampled_from(LANGUAGES)))
def test_tokens_of_a_query_are_distinct(text: str, languages: list[str]) -> None:
    tokens = query_terms(text, languages)
    typed = [token[0].form for token in tokens]
    assert len(typed) == len(set(typed))
    assert all(len(token) == len(set(token)) and {form for form, _ in token} == {token[0].form} for token in tokens)


@given(st.text("日本語検索かなカナ漢字한국어", min_size=1, max_size=20))
def test_every_part_of_a_text_without_spaces_finds_it(text: str) -> None:
    for length in (1, 2, 4):
        for start in range(len(text) - length + 1):
            part = text[start : start + length]
            assert all(found(text) & {variant.term for variant in token} for token in query_terms(part, []))
            assert query_terms(part, [])
