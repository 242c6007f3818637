"""Chunks cover the text, in order, within their size, whatever the text, its line ends and the counter."""

import re
import time
from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragx.chunking import chunk, normalise
from ragx.chunking.blocks import blocks
from ragx.types import Span, TokenCounter
from tests.counters import WORDS, Blind, Bytes, Unknown, Wary, WordPiece, cut

PIECES = (
    "word ", "another one. ", "Right? ", "\n", "\n\n", "\r\n", "\r", "\t", "    ", "# Title\n", "## Two\n",
    "Set\n===\n", "---\n", "```\n", "~~~ py\n", "code()\n", "- item\n", "> quote\n", "| a | b |\n", "<!--", "-->",
    "e\u0301", "👩‍👩‍👧", "🇩🇪", "人工知能。", "x" * 60, "\ufeff", "\x0c", "\x85", "\u2028", "key: value\n",
)  # fmt: skip
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=40).map("".join)
kinds = st.sampled_from(["markdown", "text", "python"])
counters = st.sampled_from([WORDS, Bytes(), Unknown(), Blind()])
sizes = st.integers(1, 40)
overlaps = st.sampled_from([0.0, 0.15, 0.5])


def covered(spans: Iterable[Span]) -> set[int]:
    return {at for span in spans for at in range(span.start, span.end)}


@given(texts, kinds, counters, sizes, overlaps)
@example("one two\n\ufeff", "text", WORDS, 2, 0.0)
def test_chunks_cover_the_text_in_order_and_within_their_size(
    text: str, kind: str, counter: TokenCounter, size: int, overlap: float
) -> None:
    spans = chunk(text, kind, counter, size, overlap)
    assert {at for at, char in enumerate(text) if not char.isspace() and char != "\ufeff"} <= covered(spans)
    for span in spans:
        body = text[span.start : span.end]
        assert body == body.rstrip()
        assert normalise(body).strip()
        assert not re.search(r"[\r\n]", body[: len(body) - len(body.lstrip())])
        assert len(body) == 1 or counter.count(normalise(body)) <= size
    for one, two in pairwise(spans):
        assert one.start < two.start and one.end < two.end
        assert one.end <= two.start or (overlap > 0 and one.headings == two.headings)
    assert spans == chunk(text, kind, counter, size, overlap)


@given(texts, kinds, sizes, overlaps)
@example("a\r\n\r\nb\r\rc", "text", 1, 0.0)
@example("\ufeff\ufeff", "text", 1, 0.0)
def test_a_crlf_conversion_changes_no_chunk(text: str, kind: str, size: int, overlap: float) -> None:
    plain = normalise(text)
    spans = chunk(plain, kind, WORDS, size, overlap)
    expected = [(normalise(plain[s.start : s.end]), s.kind, s.headings) for s in spans]
    for other in (text, plain.replace("\n", "\r\n"), plain.replace("\n", "\r")):
        found = chunk(other, kind, WORDS, size, overlap)
        assert [(normalise(other[s.start : s.end]), s.kind, s.headings) for s in found] == expected


@given(texts.map(normalise), sizes, overlaps)
def test_a_fence_that_fits_is_never_split(text: str, size: int, overlap: float) -> None:
    spans = chunk(text, "markdown", WORDS, size, overlap)
    for start, end in blocks(text).fences:
        first = start + len(text[start:end]) - len(text[start:end].lstrip())
        if WORDS.count(text[start:end]) <= size and end - start <= 16 * size:
            assert not [span for span in spans if first < span.start < end or first < span.end < end]


@given(texts, texts, sizes)
def test_an_edit_in_one_section_leaves_the_chunks_of_another(before: str, after: str, size: int) -> None:
    section = "\n\n# Title\n\nOne two three. Four five six.\nSeven eight.\n\n```\nnine ten\n```\n"
    alone = set(cut(section, size, kind="markdown"))
    # Without what may run on into the section: a fence, an HTML block.
    text = re.sub(r"[`~<]", "", before) + "\n\n# Other\n\nWords.\n" + section + "# " + after
    assert alone <= set(cut(text, size, kind="markdown"))


def test_a_blank_document_has_no_chunks() -> None:
    for text in ("", "\ufeff", " \r\n\t\r \n", "\n" * 1000):
        assert chunk(text, "markdown", WORDS, 10, 0.1) == []


def test_a_part_ends_at_a_paragraph_then_at_a_line_then_at_a_sentence_then_at_a_word() -> None:
    assert cut("a b c\n\nd e f\ng h", 6) == ["a b c", "d e f\ng h"]
    assert cut("a b c\nd e f\ng h i", 7) == ["a b c\nd e f", "g h i"]
    assert cut("One two. Three four! Five six", 7) == ["One two. Three four!", "Five six"]
    assert cut("知る。人。工", 5, counter=Bytes()) == ["知", "る", "。", "人", "。", "工"]
    assert cut("知る。人。工", 9, counter=Bytes()) == ["知る。", "人。工"]
    assert cut("one two three four", 3) == ["one two three", "four"]
    assert cut('{"a":1,"b":22}', 8, counter=Bytes()) == ['{"a":1,"', 'b":22}']
    assert cut("abcdefgh", 3, counter=Bytes()) == ["abc", "def", "gh"]


def test_what_fits_alone_is_not_cut_to_fill_up_the_part_before() -> None:
    assert cut("a b\n\nc d e f\ng h i j", 8) == ["a b", "c d e f\ng h i j"]
    assert cut("a b\n\nc d e f\ng h i j", 7) == ["a b\n\nc d e f", "g h i j"]


def test_a_part_repeats_the_end_of_the_one_before_from_a_sentence_or_line() -> None:
    text = "One two three four five six. Seven eight. Nine ten eleven twelve thirteen fourteen. Fifteen."
    assert cut(text, 12, 0.3) == [
        "One two three four five six. Seven eight.",
        "Seven eight. Nine ten eleven twelve thirteen fourteen. Fifteen.",
    ]
    assert cut("a b c d e f g h i j k", 4, 0.5) == ["a b c d", "c d e f", "e f g h", "h i j k"]
    assert cut("a b c\n\n```\nd e\n```\n\nf g h i", 12, 0.3, "markdown") == ["a b c\n\n```\nd e\n```", "f g h i"]


def test_the_repetition_never_stops_progress() -> None:
    assert cut("abcdef", 1, 0.5, counter=Bytes()) == list("abcdef")
    assert cut("abcdef", 2, 0.5, counter=Bytes()) == ["ab", "bc", "cd", "ef"]


def test_a_short_last_part_that_fits_folds_into_the_one_before() -> None:
    assert cut("a b c d e", 3, counter=Wary()) == ["a b", "c d e"]


@given(st.lists(st.sampled_from(["one", "two.", "\n", "\n\n"]), max_size=40).map(" ".join), sizes, overlaps)
def test_a_last_part_stands_alone_only_where_the_one_before_is_full(text: str, size: int, overlap: float) -> None:
    spans = chunk(text, "text", WORDS, size, overlap)
    assert len(spans) < 2 or WORDS.count(text[spans[-2].start : spans[-1].end]) > size


def test_a_chunk_keeps_the_indentation_of_its_first_line() -> None:
    assert cut("\n    if a:\n        b\n    c\n", 99, kind="python") == ["    if a:\n        b\n    c"]
    assert cut("  a b c\n\n  d e f", 4) == ["  a b c", "  d e f"]
    assert cut(" " * 5000 + "a", 4) == ["a"]


def test_a_character_of_several_code_points_is_not_cut() -> None:
    for character in ("e\u0301", "👩‍👩‍👧", "🇩🇪", "👍🏽", "1️⃣", "각", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "नि"):
        size = len(character.encode()) * 2 + 1
        assert set(cut(character * 20, size, counter=Bytes())) == {character * 2}
        assert "".join(cut(character, 4, counter=Bytes())) == character


def test_a_word_that_is_one_unknown_token_is_cut_by_its_length() -> None:
    parts = cut("x" * 100_000, 10, counter=Unknown())
    assert max(map(len, parts)) <= 160
    assert "".join(parts) == "x" * 100_000


def test_the_kind_of_a_chunk_is_what_its_file_holds() -> None:
    assert [span.kind for span in chunk("x = 1", "python", WORDS, 9, 0.0)] == ["code"]
    assert [span.kind for span in chunk("x = 1", "text", WORDS, 9, 0.0)] == ["section"]


HUGE = 200_000


@pytest.mark.parametrize(
    "line",
    [
        "# a\n", "#\n", "`", "`\n", "```\n", "- a\n", "- ", ">", "> ", "\n", "a b ", "a", " ", ". ", ".", "'.)",
        "\u0301", "🇩🇪", "人。", '{"k":1},', "| a | b |\n", "|-", "<a b=c ", "<!--\n", "[a](", "[a]: b\n", "a\n-\n",
        "*a _b ", "\t", "1. a\n\n",
    ],
)  # fmt: skip
def test_a_huge_file_of_one_thing_takes_linear_time(line: str) -> None:
    text = f"a{line * (HUGE // len(line))}b"
    begin = time.process_time()
    for kind in ("markdown", "text"):
        assert chunk(text, kind, WORDS, 500, 0.15)
    # Quadratic time would be minutes.
    assert time.process_time() - begin < 20


def test_the_models_own_tokeniser_bounds_the_chunks_of_a_line_of_a_megabyte() -> None:
    counter = WordPiece()
    text = '{"id": 12345, "name": "Ünïcode wörds", "url": "https://example.org/a/b?c=d"},' * 13_000
    spans = chunk(text, "text", counter, 510, 0.15)
    counts = [counter.count(text[span.start : span.end]) for span in spans]
    assert max(counts) <= 510
    assert min(counts[:-1]) > 400
    assert len(covered(spans)) == len(text)
    shared = [counter.count(text[two.start : one.end]) for one, two in pairwise(spans)]
    assert 60 <= sum(shared) / len(shared) <= 80
