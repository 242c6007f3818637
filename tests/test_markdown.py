"""Markdown is cut at the headings that CommonMark sees, and at no others."""

import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ragx.chunking import chunk, front_matter_value, title_of
from ragx.chunking.blocks import blocks
from ragx.chunking.markdown import plain
from tests.counters import WORDS, cut


def headings(text: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.text.strip()) for heading in blocks(text).headings]


def sections(text: str, size: int = 1000) -> list[tuple[str, tuple[str, ...], str]]:
    return [(s.kind, s.headings, text[s.start : s.end]) for s in chunk(text, "markdown", WORDS, size, 0.0)]


def test_a_section_is_a_heading_and_all_that_is_under_it_up_to_the_next() -> None:
    text = "before\n\n# A\n\na\n\n### B ###\nb\n\n## C\nc\n# D\nd\n"
    assert sections(text) == [
        ("section", (), "before"),
        ("section", ("A",), "# A\n\na"),
        ("section", ("A", "B"), "### B ###\nb"),
        ("section", ("A", "C"), "## C\nc"),
        ("section", ("D",), "# D\nd"),
    ]


def test_a_heading_without_text_of_its_own_goes_with_the_section_that_follows() -> None:
    assert sections("# A\n\n## B\n\n### C\nc\n## D\n## E\n") == [
        ("section", ("A", "B", "C"), "# A\n\n## B\n\n### C\nc"),
        ("section", ("A", "E"), "## D\n## E"),
    ]
    assert sections("---\n# A\n***\n## B\nb") == [("section", ("A", "B"), "---\n# A\n***\n## B\nb")]
    assert sections("#\n\n## B\nb") == [("section", ("B",), "#\n\n## B\nb")]


def test_a_long_section_does_not_leave_its_title_alone() -> None:
    text = "# Title\n\none two three four. five six seven eight\n\n" + "w " * 9
    assert cut(text, 10, kind="markdown")[0] == "# Title\n\none two three four."
    fence = "```\n" + "a " * 7 + "\n```"
    assert cut(f"# Title\n\n{fence}\n", 13, kind="markdown") == ["# Title", fence]


def test_the_heading_path_stays_on_every_part() -> None:
    assert {path for _, path, _ in sections("# A\n## B\n" + "word " * 90, 10)} == {("A", "B")}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# A", [(1, "A")]),
        ("   ###### A", [(6, "A")]),
        ("#\tA", [(1, "A")]),
        ("#", [(1, "")]),
        ("## A ## ", [(2, "A")]),
        ("# A#", [(1, "A#")]),
        ("# ##", [(1, "")]),
        ("####### A", []),
        ("#A", []),
        ("\\# A", []),
        ("    # A", []),
        ("a\n    # A", []),
        ("\t# A", []),
        ("A\n===", [(1, "A")]),
        ("A\n  -  \nb", [(2, "A")]),
        ("A\nB\n---", [(2, "A\nB")]),
        ("A\n= =", []),
        ("A\n\n---", []),
        ("\n===", []),
        ("- A\n---", []),
        ("1. A\n===", []),
        ("> A\n---", []),
        ("| A | B |\n|---|---|\n| c | d |\n---", []),
        ("A | B\n--|--\n---", []),
        ("# A\n---", [(1, "A")]),
        ("[a]: /url\n---", []),
        ("```\n# A\n```\n# B", [(1, "B")]),
        ("``` py\n# A\n ```\n# B", [(1, "B")]),
        ("```\n# A\n~~~\n# B\n``\n# C\n    ```\n# D", []),
        ("````\n```\n# A\n```\n````\n# B", [(1, "B")]),
        ("~~~ `x`\n# A\n~~~~\n# B", [(1, "B")]),
        ("``` x`\n# A", [(1, "A")]),
        ("    ```\n# A", [(1, "A")]),
        ("- a\n\n  ```\n  # A\n  ```\n# B", [(1, "B")]),
        ("- ```\n  # A\n# B", [(1, "B")]),
        ("> ```\n> # A\n# B", [(1, "B")]),
        ("- # A\n\n  # B\n# C", [(1, "C")]),
        ("> # A\n# B", [(1, "B")]),
        ("<!-- a\n\n# A\n\nA\n===\n-->\n# B", [(1, "B")]),
        ("<!-- a -->\n# A", [(1, "A")]),
        ("<pre>\n\n# A\n</pre>\n# B", [(1, "B")]),
        ("<details>\n# A\n\n# B", [(1, "B")]),
        ("<my-tag a='1'>\n# A\n\n# B", [(1, "B")]),
        ("a\n<my-tag>\n# A", [(1, "A")]),
        ("a <!-- b\n# A", [(1, "A")]),
    ],
)
def test_a_heading_is_what_commonmark_calls_one(text: str, expected: list[tuple[int, str]]) -> None:
    assert headings(text) == expected


_PREFIXES = ("", "", "", " ", "   ", "    ", "\t", "> ", ">", "- ", "  ", "1. ", "10) ", "-\t", "> - ")
_BODIES = (
    "", "", "a", "b c", "# A", "## B ##", "####### C", "#", "#d", "===", "---", "=", "-", "***", "- - -", "```", "````",
    "``` py", "~~~", "`", "<!--", "-->", "<!-- c -->", "<div>", "</div>", "<b>", "<b c='d' >", "<script>", "</script>",
    "<?", "?>", "e\\",
)  # fmt: skip
_COMMONMARK = MarkdownIt("commonmark", {"maxNesting": 100})
_COMMONMARK.core.ruler.enableOnly(["normalize", "block"])


@settings(max_examples=300)
@given(
    st.lists(st.tuples(st.sampled_from(_PREFIXES), st.sampled_from(_BODIES)).map("".join), max_size=12).map("\n".join)
)
def test_headings_and_fences_are_those_of_a_commonmark_parser(text: str) -> None:
    # That parser lets a quote go on at a mark which is indented code.
    assume(not re.search(r"(    |\t)>", text))
    tokens = _COMMONMARK.parse(text)
    expected = [token for token in tokens if token.type == "heading_open" and token.level == 0]
    found = blocks(text)
    lines = [
        (text.count("\n", 0, one.start), text.count("\n", 0, one.end) + 1, f"h{one.level}") for one in found.headings
    ]
    assert lines == [(*(token.map or ()), token.tag) for token in expected]
    fences = [text.count("\n", 0, start) for start, _ in found.fences]
    assert fences == [token.map[0] for token in tokens if token.type == "fence" and token.map]


def test_a_fence_is_never_split_unless_it_is_too_large_alone() -> None:
    fence = "```\na b\n\nc d\n```"
    assert cut(f"one two three.\n\n{fence}\n\nfour.", 11, kind="markdown") == ["one two three.", fence, "four."]
    assert sections(f"{fence}\n", 6) == [("code", (), "```\na b"), ("code", (), "c d\n```")]
    assert sections("```\n# a b\n# c d", 6) == [("code", (), "```\n# a b"), ("code", (), "# c d")]
    listed = "10. one two three\n\n    ```\n    a\n\n    b\n    ```"
    assert cut(listed, 10, kind="markdown") == ["10. one two three", "    ```\n    a\n\n    b\n    ```"]


def test_a_table_of_2000_rows_is_cut_between_rows() -> None:
    table = "| a | b |\n|---|---|\n" + "".join(f"| {row} | text |\n" for row in range(2000))
    parts = cut(table, 100, 0.15, "markdown")
    assert len(parts) > 100
    assert all(re.fullmatch(r"(\|[^\n]*\|\n?)+", part) for part in parts)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_front_matter_belongs_to_the_file(mark: str, end: str) -> None:
    text = mark + "---\ntitle: A\ntags:\n- b\n\n# comment\nc: 'd\n---\nAbove\n\n# B\nb".replace("\n", end)
    front, *rest = chunk(text, "markdown", WORDS, 100, 0.0)
    assert (front.kind, front.headings, front.start) == ("front_matter", (), len(mark))
    assert text[front.start : front.end].endswith("'d" + end + "---")
    assert [text[span.start : span.end] for span in rest] == ["Above", f"# B{end}b"]
    assert title_of(text, "markdown") == "A"


@pytest.mark.parametrize(
    "text", ["---\na: b\n---", "---\na: b\n...\n", "--- \n# c\na: b\n---\n", "+++\na = 1\n+++", "+++\n[a]\n+++\n"]
)
def test_front_matter_may_end_the_file(text: str) -> None:
    assert [kind for kind, _, _ in sections(text)] == ["front_matter"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---\n\nSome prose: it goes on.\n\nMore.\n\n---\n\n# A\na", ["section"] * 2),
        ("---\nProse, with a line\n---\n", ["section"]),
        ("---\nNote: one.\n\nAnd prose.\n---\n", ["section"] * 2),
        ("---\na: b\n\n# A\na", ["section"] * 2),
        ("---\n---\n", ["section"]),
        ("----\na: b\n---\n", ["section"]),
        ("\n---\na: b\n---\n", ["section"]),
        ("---", ["section"]),
    ],
)
def test_a_thematic_break_on_the_first_line_is_no_front_matter(text: str, expected: list[str]) -> None:
    assert [kind for kind, _, _ in sections(text)] == expected


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("title: A plain: one", "A plain: one"),
        ("title: 2026-03-31", "2026-03-31"),
        ("title: A # comment", "A"),
        ("title: C# in depth", "C# in depth"),
        ("title: 'it''s: so' # c", "it's: so"),
        (r'title: "a \"b\" \u00e9 \ud800"', 'a "b" é ?'),
        (r'title: "C:\dir"', r"C:\dir"),
        ('title: "never closed', "never closed"),
        ("title: >-\n  folded\n  text\nb: c", "folded text"),
        ("title:\n  below", "below"),
        ("title: [a, {b", "[a, {b"),
        ("Title:   spaced   out", "spaced out"),
        ('"title": quoted key', "quoted key"),
        ("title:", "Heading"),
        ("title: null", "Heading"),
        ("title:\n- a", "Heading"),
        ("title:\n  - a", "Heading"),
        ("nested:\n  title: not this", "Heading"),
        ("\ttitle: : - [", "Heading"),
    ],
)
def test_a_title_is_read_from_any_yaml_without_failing(line: str, title: str) -> None:
    assert title_of(f"---\nfirst: 1\n{line}\n---\n# Heading\n", "markdown") == title


def test_toml_front_matter_has_a_title() -> None:
    text = '+++\ndate = 2026-03-31\ntitle = "A = B"\n[params]\ndraft = true\n+++\n'
    assert title_of(text, "markdown") == "A = B"
    assert front_matter_value(text, "date") == "2026-03-31"
    assert front_matter_value(text, "draft") == ""


def test_without_front_matter_the_first_heading_is_the_title() -> None:
    assert title_of("text\n\n## A `b`\n# C", "markdown") == "A b"
    assert title_of("#\n# B\n", "markdown") == "B"
    assert title_of("# not a heading", "python") == title_of("", "markdown") == title_of("", "text") == ""


@given(st.text(alphabet="ab:'\"\\|>[]{}#-~u0d \n\t=+", max_size=60))
def test_no_front_matter_makes_the_title_fail(text: str) -> None:
    for mark in ("---", "+++"):
        title_of(f"{mark}\nkey: 1\nkey = 1\ntitle: {text}\n{mark}\n", "markdown").encode()


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("A [link](http://x.y 'z') and [ref][a]", "A link and ref"),
        ("[![alt](a.png)](b) C", "alt C"),
        ("**Bold** *it* _it_ ~~gone~~ ***both***", "Bold it it gone both"),
        ("The `__init__` of snake_case_name", "The __init__ of snake_case_name"),
        (r"2 * 3 \* 4 \_a\_", "2 * 3 * 4 _a_"),
        ("**`code`**", "code"),
        ("<a name='x'></a>Title &amp; more <https://x.y>", "Title & more https://x.y"),
        ("Install {#install}", "Install"),
        ("a < b and c > d", "a < b and c > d"),
        ("two\nlines  here", "two lines here"),
        ("x" * 1000, "x" * 300),
    ],
)
def test_a_heading_path_holds_clean_text(markup: str, text: str) -> None:
    assert plain(markup) == text
