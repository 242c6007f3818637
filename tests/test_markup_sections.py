"""reStructuredText, AsciiDoc and Org are cut at their headings, and data files at their top-level keys."""

import pytest

from ragx.chunking import chunk, title_of
from tests.counters import WORDS, cut

Cut = tuple[tuple[str, ...], str]


def sections(text: str, kind: str, size: int = 1000) -> list[Cut]:
    return [(span.headings, text[span.start : span.end]) for span in chunk(text, kind, WORDS, size, 0.0)]


def paths(text: str, kind: str) -> list[str]:
    return ["/".join(headings) for headings, _ in sections(text, kind)]


def test_the_levels_of_rst_titles_are_in_the_order_in_which_their_underlines_appear() -> None:
    text = "before\n\n===\nTop\n===\n\na\n\nOne\n---\nb\n\nTwo\n~~~\nc\n\nThree\n-----\nd\n\nOther\n=====\ne\n"
    assert sections(text, "rst") == [
        ((), "before"),
        (("Top",), "===\nTop\n===\n\na"),
        (("Top", "One"), "One\n---\nb"),
        (("Top", "One", "Two"), "Two\n~~~\nc"),
        (("Top", "Three"), "Three\n-----\nd"),
        (("Top", "Three", "Other"), "Other\n=====\ne"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A\n=\na", ["A"]),
        ("A title\n======\na", ["A title"]),
        ("A title\n===\na", [""]),
        ("a\nb\n===\nc", [""]),
        (":mod:`a.b` --- *c*\n==================\nd", ["a.b --- c"]),
        ("``f()`` and `text <url>`_\n=========================\nd", ["f() and text"]),
        (":field: a\n=========\nb", [""]),
        ("- a\n---\nb", [""]),
        ("a\n\n----\n\nb", [""]),
        ("a::\n\n  A\n  ===\n\nB\n=\nb", ["", "B"]),
        (".. code-block:: rst\n\n   A\n   ===\n\nB\n=\nb", ["", "B"]),
        ("== =\nA B\n== =\n1 2\n== =\n", [""]),
        ("+---+\n| A |\n+===+\n| 1 |\n+---+\n", [""]),
        (".. _target:\n\nA\n===\na", ["A"]),
        ("A\n===\n\nB\n---\nb\n", ["A/B"]),
    ],
)
def test_an_rst_title_is_what_docutils_calls_one(text: str, expected: list[str]) -> None:
    assert paths(text, "rst") == expected


def test_the_link_target_above_an_rst_title_belongs_to_its_section() -> None:
    assert [text for _, text in sections("A\n===\na\n\n.. _b:\n\nB\n===\nb\n", "rst")] == [
        "A\n===\na",
        ".. _b:\n\nB\n===\nb",
    ]


def test_an_rst_literal_block_that_fits_is_not_split() -> None:
    block = "  one two\n\n  three four\n\n    five six"
    assert cut(f"A b c d::\n\n{block}\n\nE f g h.", 6, kind="rst") == ["A b c d::", block, "E f g h."]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("= D\n:toc:\n\na\n\n== One\nb\n\n=== Two ===\nc\n\n## Three\nd", ["D", "D/One", "D/One/Two", "D/Three"]),
        ("Doc\n===\n\na\n\nOne\n---\n\nb\n\nTwo\n~~~\nc", ["Doc", "Doc/One", "Doc/One/Two"]),
        ("----\n== No\n----\n\n== A\na", ["", "A"]),
        ("....\n== No\n----\n....\n\n[source,ruby]\n====\n== No\n====\n\n== A\na", ["", "A"]),
        ("|===\n|a\n\n== No\n|===\n\n== A\na", ["", "A"]),
        ("```ruby\n== No\n```\n\n== A\na", ["", "A"]),
        ("----\nnever closed\n\n== A\na", ["", "A"]),
        ("a\n== No\nb", [""]),
        ("==No\n\n======= No\n", [""]),
        ("a line of text\n----\nno\n----\n\n== A\na", ["", "A"]),
        ("== *A* `b` <<x,c>> link:u[d] [[e]]\na", ["A b c d"]),
    ],
)  # fmt: skip
def test_an_asciidoc_title_stands_in_no_block(text: str, expected: list[str]) -> None:
    assert paths(text, "asciidoc") == expected


def test_anchors_above_an_asciidoc_title_belong_to_its_section() -> None:
    text = "== A\na\n\n[[b]]\n[role=x]\n== B\nb\n"
    assert sections(text, "asciidoc") == [(("A",), "== A\na"), (("B",), "[[b]]\n[role=x]\n== B\nb")]


def test_org_headlines_lose_state_priority_and_tags() -> None:
    text = (
        "#+TITLE: The /doc/\n\nintro\n* TODO [#A] One :tag:b:\n:PROPERTIES:\n:ID: x\n:END:\na\n"
        "*** Deep [[u][link]]\nb\n"
        "#+begin_src org\n* No\n#+END_SRC\n* *bold* no\n*no headline*\n#+BEGIN_QUOTE\n* Two\n"
    )
    assert paths(text, "org") == ["The doc", "One", "One/Deep link", "bold no", "Two"]
    assert title_of(text, "org") == "The doc"
    assert title_of("* A\n", "org") == title_of("A\n===\n", "rst") == title_of("= A\n", "asciidoc") == "A"


KEYS = "".join(f"  k{number}: v\n" for number in range(12))
TABLE = "b = 1\n# c\n" * 9
ARRAYS = "c = [\n  1,\n]\n" * 4
OBJECT = '    "a": 1,\n' * 30
ARRAY = '    "]",\n' * 30
DEEP = KEYS.replace("  ", "    ")


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("yaml", f"# Doc.\none:\n{KEYS}two: 2\n'the three':\n{KEYS}", ["one", "the three"]),
        ("yaml", f"jobs:\n  build:\n{DEEP * 3}  test: # c\n{DEEP * 3}", ["jobs/build", "jobs/test"]),
        ("yaml", "steps:\n" + "- a: 1\n  b: 2\n" * 50, ["steps"] * 4),
        ("yaml", "- a: 1\n  b: 2\n" * 50, [""] * 4),
        ("yaml", f"a: |\n  no:\n{KEYS}b: 'it''s'\n---\nc:\n{KEYS}", ["a", "c"]),
        ("toml", f"# Doc.\na = 1\n\n[one]\n{TABLE}\n# Two.\n[[two.x]]\n{ARRAYS}", ["one", "two.x"]),
        ("ini", "[a]\n" + "b = 1\n" * 9 + "; c\n[d e]\n" + "f: 2\n" * 9, ["a", "d e"]),
        ("json", f'{{\n  "small": 1,\n  "one": {{\n{OBJECT}  }},\n  "two": [\n{ARRAY}  ]\n}}\n', ["one", "two"]),
        ("json", "[\n" + '  {\n    "a": 1\n  },\n' * 30 + "]\n", [""] * 4),
        ("json", '{"a": 1}\n' * 60, [""] * 3),
        ("json", '{"a":[1,2],' * 900, [""] * 2),
        ("csv", "id,name\n1,\"a\nb\"\n2,c\n", ["id, name"]),
        ("csv", "id\tname\n" + "1\ta\n" * 30, ["id, name"] * 2),
        ("csv", "1,2\n3,4\n", [""]),
        ("csv", "id,id\n3,4\n", [""]),
        ("csv", 'a,b\n"never closed,\n' + "1,2\n" * 60, ["a, b"]),
    ],
)  # fmt: skip
def test_data_is_cut_at_its_keys_and_rows(kind: str, text: str, expected: list[str]) -> None:
    size = 6000
    found = ["/".join(span.headings) for span in chunk(text, kind, WORDS, size, 0.0)]
    assert found == expected
    assert title_of(text, kind) == ""


def test_a_csv_row_of_several_lines_stays_whole() -> None:
    text = "a,b\n" + '1,"x\ny\nz"\n' * 20
    for body in cut(text, 1000, kind="csv"):
        assert body.count('"') % 2 == 0
