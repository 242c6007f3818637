"""Passages within a budget: what is chosen, what is joined, and that no byte is spent twice."""

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragx.render.passages import passages_document, passages_text
from ragx.render.terminal import View
from ragx.search.passages import Measured, Passage, fill
from ragx.types import Hit
from tests.rendered import ANSWER, golden, valid

FILE = "# One\n\nFirst part, naïve.\n\n## Two\n\nSecond part.\nMore of it.\n\n## Three\n\nThird part.\n"


def measured(
    text: str, start: int, end: int, *, score: float = 0.5, tokens: int = 0, file: str = "a.md", encoding: str = "utf-8"
) -> Measured:
    """The bytes `[start, end)` of a file that holds `text`, as a chunk."""
    codec = "utf-8" if encoding == "utf-8+latin-1" else encoding
    data = text.encode(codec)
    before, own = data[:start].decode(codec), data[start:end].decode(codec)
    line = before.count("\n") + 1
    hit = Hit(
        chunk_id=start,
        file=file,
        score=score,
        parts=ANSWER.hits[0].parts,
        kind="section",
        headings=(f"from {start}",),
        language="en",
        byte_start=start,
        byte_end=end,
        line_start=line,
        line_end=line + own.rstrip("\n").count("\n"),
        text=own,
    )
    return Measured(hit, tokens or end - start, encoding)


def span(part: str, text: str = FILE) -> tuple[int, int]:
    start = text.encode().index(part.encode())
    return start, start + len(part.encode())


ONE = span("# One\n\nFirst part, naïve.")
TWO = span("## Two\n\nSecond part.\nMore of it.")
THREE = span("## Three\n\nThird part.")


def test_neighbors_in_a_file_are_one_passage_with_the_blank_lines_between_them() -> None:
    (passage,) = fill([measured(FILE, *TWO, score=0.9), measured(FILE, *ONE, score=0.3)], 1000)
    assert passage.text.encode() == FILE.encode()[ONE[0] : TWO[1]]
    assert (passage.line_start, passage.line_end, passage.byte_start, passage.byte_end) == (1, 8, ONE[0], TWO[1])
    assert (passage.score, passage.headings, passage.chunk_ids) == (0.9, ("from 0",), (ONE[0], TWO[0]))
    assert passage.tokens == ONE[1] - ONE[0] + TWO[1] - TWO[0]


def test_what_is_not_adjacent_stays_apart_best_first() -> None:
    found = fill([measured(FILE, *THREE, score=0.9), measured(FILE, *ONE, score=0.3)], 1000)
    assert [passage.byte_start for passage in found] == [THREE[0], ONE[0]]


def test_crlf_files_are_joined_with_their_own_line_ends() -> None:
    text = FILE.replace("\n", "\r\n")
    parts = [span(part.replace("\n", "\r\n"), text) for part in ("# One\n\nFirst part, naïve.", "## Two\n\nSecond")]
    (passage,) = fill([measured(text, *part) for part in parts], 1000)
    assert passage.text.encode() == text.encode()[parts[0][0] : parts[1][1]]


def test_blank_lines_that_hold_spaces_are_not_made_up() -> None:
    text = "one\n \t\ntwo"
    assert [passage.text for passage in fill([measured(text, 0, 3), measured(text, 7, 10)], 99)] == ["one", "two"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be", "latin-1", "utf-8+latin-1"])
def test_an_overlap_is_printed_once_and_paid_once(encoding: str) -> None:
    text = "the first sentence. naïve and café. the last sentence."
    codec = "utf-8" if encoding == "utf-8+latin-1" else encoding
    width = len(" ".encode(codec))
    end = len(text.encode(codec))
    cut, start = len("the first sentence. naïve and café.".encode(codec)), 20 * width
    (passage,) = fill(
        [
            measured(text, 0, cut, encoding=encoding, tokens=100),
            measured(text, start, end, encoding=encoding, tokens=80),
        ],
        200,
    )
    assert passage.text == text
    assert passage.tokens == 100 + -(-80 * (end - cut) // (end - start))


def test_an_overlap_counts_so_that_both_fit() -> None:
    text = "".join(f"{number:04}" for number in range(25))
    assert len(fill([measured(text, 0, 60), measured(text, 40, 100)], 100)) == 1
    assert fill([measured(text, 0, 60), measured(text, 40, 100)], 100)[0].text == text


def test_a_copy_of_a_text_is_not_paid_twice() -> None:
    found = fill([measured(FILE, *ONE), measured(FILE, *ONE, file="copy.md"), measured(FILE, *THREE)], 1000)
    assert [(passage.file, passage.byte_start) for passage in found] == [("a.md", ONE[0]), ("a.md", THREE[0])]


def test_what_does_not_fit_is_passed_over_but_not_for_ever() -> None:
    small, large = "s" * 10, "L" * 90
    misfits = [measured(large + str(at) * 4, 0, 94, file=f"{at}.md") for at in range(4)]
    first, last = measured("f" * 50, 0, 50), measured(small, 0, 10, file="z.md")
    assert [passage.file for passage in fill([first, *misfits[:3], last], 100)] == ["a.md", "z.md"]
    assert [passage.file for passage in fill([first, *misfits, last], 100)] == ["a.md"]


def test_a_first_passage_beyond_the_budget_ends_at_a_line_end_and_says_so() -> None:
    (passage,) = fill([measured(FILE, *TWO), measured(FILE, *ONE)], 25)
    assert (passage.text, passage.truncated) == ("## Two\n\nSecond part.\n", True)
    assert (passage.line_start, passage.line_end) == (5, 7)
    assert FILE.encode()[passage.byte_start : passage.byte_end].decode() == passage.text
    assert passage.tokens <= 25


def test_a_first_line_beyond_the_budget_ends_at_a_word() -> None:
    text = "a line that goes on and on"
    (passage,) = fill([measured(text, 0, len(text))], 12)
    assert (passage.text, passage.line_end, passage.truncated) == ("a line that", 1, True)
    assert fill([measured("x" * 50, 0, 50)], 1)[0].text == "x"


def test_markup_is_printed_as_a_reader_sees_it_and_never_joined_by_its_bytes() -> None:
    page = "<p>one</p><p>two</p>"
    chunks = [
        replace(chunk, hit=replace(chunk.hit, readable=shown))
        for chunk, shown in ((measured(page, 0, 10), "one"), (measured(page, 10, 20), "two\n"))
    ]
    assert [passage.text for passage in fill(chunks, 99)] == ["one", "two\n"]
    (passage,) = fill(chunks[1:], 9)
    assert (passage.text, passage.truncated, passage.byte_start, passage.byte_end) == ("two", True, 10, 20)


def test_no_hit_is_no_passage() -> None:
    assert fill([], 100) == ()


@given(
    st.lists(st.sampled_from(["word ", "naïve ", "\n", "\n\n", "😀", "end."]), min_size=1, max_size=60).map("".join),
    st.lists(st.tuples(st.integers(0, 120), st.integers(1, 40), st.floats(0, 1)), min_size=1, max_size=8),
    st.integers(1, 200),
)
def test_any_passages_fit_the_budget_are_slices_and_never_overlap(
    text: str, spans: list[tuple[int, int, float]], budget: int
) -> None:
    offsets = [len(text[:at].encode()) for at in range(len(text) + 1)]
    chunks = {
        (offsets[min(start, len(text) - 1)], offsets[min(start + length, len(text))]): score
        for start, length, score in spans
    }
    ranked = [
        measured(text, *at, score=score)
        for at, score in sorted(chunks.items(), key=lambda item: (-item[1], item[0]))
        if at[0] < at[1]
    ]
    found = fill(ranked, budget)
    assert sum(passage.tokens for passage in found) <= budget
    assert [passage.score for passage in found] == sorted((passage.score for passage in found), reverse=True)
    places = sorted((passage.byte_start, passage.byte_end) for passage in found)
    assert all(before[1] <= after[0] for before, after in pairwise(places))
    for passage in found:
        assert text.encode()[passage.byte_start : passage.byte_end].decode() == passage.text


PASSAGES = (
    Passage(
        file="docs/backup guide.md",
        line_start=12,
        line_end=15,
        byte_start=120,
        byte_end=181,
        headings=("Operations", "Restore"),
        score=0.98123456789,
        tokens=14,
        text="## Restore\n\n\tStop the \x1b[2J server.\r\nHand over the dump.",
        stale=True,
        chunk_ids=(5233657954427259, 17),
    ),
    Passage("src/vault.py", 1, 1, 0, 12, (), -0.0, 5, "class Vault:\n", False, (3,), truncated=True),
)


def test_the_document_is_what_its_golden_file_says_and_valid() -> None:
    document: dict[str, Any] = passages_document(ANSWER, PASSAGES, 20)
    assert valid(document) == json.loads(golden("passages.json"))
    assert valid(passages_document(ANSWER, (), 20))["passages"] == []


def test_the_text_is_what_its_golden_file_says() -> None:
    assert passages_text(PASSAGES, View()) + "\n" == golden("passages.txt")
