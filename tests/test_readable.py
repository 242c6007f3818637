"""HTML and notebooks are found by their text, whatever is wrong with them, and their chunks are slices of the file."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragx.chunking import READERS, chunk, normalise, readable, title_of
from tests.counters import WORDS

Cut = tuple[str, tuple[str, ...], str]


def sections(text: str, kind: str, size: int = 1000) -> list[Cut]:
    spans = chunk(text, kind, WORDS, size, 0.0)
    return [(span.kind, span.headings, readable(text[span.start : span.end], kind)) for span in spans]


PAGE = """\
<!DOCTYPE html>
<html><head><title>The &lt;page&gt;</title>
<style>h1 { color: red }</style><script>if (a < b) { "</h1>" }</script></head>
<body>
<nav><a href="x">Home</a></nav>
<h1 class='a > b'>One <b>bold</b>&nbsp;&amp; two<a href="#">¶</a></h1>
<p>Some <i>text</i> that
   goes on.<br>Next&#33;</p>
<!-- <h2>No</h2> -->
<ul><li>a</li>
<li>b</li></ul>
<h2>Sub</h2>
<table><tr><td>1</td><td>2</td></tr></table>
<pre><code>def f():
    return <span>1</span>
</code></pre>
<svg><text>no</text></svg>
</body></html>
"""


def test_a_page_is_its_text_under_its_headings() -> None:
    assert sections(PAGE, "html") == [
        ("section", ("The <page>",), "The <page>\n\nHome"),
        (
            "section",
            ("One bold & two",),
            "One bold\xa0& two¶\n\nSome text that\ngoes on.\nNext!\n\na\nb",
        ),
        ("section", ("One bold & two", "Sub"), "Sub\n\n1 2\n\ndef f():\n    return 1"),
    ]
    assert title_of(PAGE, "html") == "The <page>"


def test_a_chunk_of_a_page_is_the_slice_of_the_file() -> None:
    (first, *_), *_ = [chunk(PAGE, "html", WORDS, 1000, 0.0)]
    assert PAGE[first.start : first.end] == PAGE[PAGE.index("The &lt;") : PAGE.index("</a></nav>")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a < b and c > d & e", "a < b and c > d & e"),
        ("a <b <c>d</c> e", "a d e"),
        ("a<p>b</P><DIV>c", "a\n\nb\n\nc"),
        ("<p title='>'>a</p>", "a"),
        ("<a href=x>a</a", "a"),
        ("a <script>b", "a"),
        ("a <SCRIPT>b</Script >c", "a c"),
        ("a<!-- b", "a"),
        ("a<!-->b-->c", "ac"),
        ("<svg/>a", "a"),
        ("&copy;&copy &#x20AC;&#0;&nosuch;&", "©© €\ufffd&nosuch;&"),
        ("&#55357; &#13;", "\ufffd &#13;"),
        ("<p>a</p>" * 3, "a\n\na\n\na"),
        ("<![CDATA[x]]>a<?php b ?>", "a"),
    ],
)
def test_broken_html_is_read_as_a_browser_would(text: str, expected: str) -> None:
    assert readable(text, "html") == expected


def test_a_long_script_is_in_no_chunk_and_ends_the_section() -> None:
    text = f"<h1>A</h1><p>one</p><script>{'x = 1;' * 1000}</script><p>two</p>"
    spans = chunk(text, "html", WORDS, 1000, 0.0)
    assert [(span.headings, text[span.start : span.end]) for span in spans] == [
        (("A",), "A</h1><p>one"),
        (("A",), "two"),
    ]


def cell(kind: str, *lines: str) -> dict[str, object]:
    outputs = {"outputs": [{"text": ["no"], "data": {"image/png": "x" * 3000}}]} if kind == "code" else {}
    return {"cell_type": kind, "metadata": {"source": 1}, **outputs, "source": list(lines)}


NOTEBOOK = json.dumps(
    {
        "cells": [
            cell("markdown", "# Top\n", "\n", 'Some "text"\tand \\ é 😀.\n', "## Two\n", "more"),
            cell("markdown", "## Alone"),
            cell("markdown", "### Under"),
            cell("code", "import os\n", 'print("</h1>")'),
            cell("code"),
            {"cell_type": "code", "source": "one = '''string\r\n'''"},
        ],
        "metadata": {"title": "no"},
    },
    indent=1,
)


def test_a_notebook_is_the_source_of_its_cells_under_the_headings_above_them() -> None:
    assert sections(NOTEBOOK, "notebook") == [
        ("section", ("Top",), '# Top\n\nSome "text"\tand \\ é 😀.'),
        ("section", ("Top", "Two"), "## Two\nmore"),
        ("section", ("Top", "Alone", "Under"), "## Alone\n\n### Under"),
        ("code", ("Top", "Alone", "Under"), 'import os\nprint("</h1>")'),
        ("code", ("Top", "Alone", "Under"), "one = '''string\n'''"),
    ]
    assert title_of(NOTEBOOK, "notebook") == "Top"


def test_a_chunk_of_a_notebook_leads_back_to_the_lines_of_the_file() -> None:
    code = chunk(NOTEBOOK, "notebook", WORDS, 1000, 0.0)[3]
    assert NOTEBOOK[code.start : code.end] == 'import os\\n",\n    "print(\\"</h1>\\")'


def test_a_notebook_run_again_keeps_the_text_of_its_chunks() -> None:
    again = NOTEBOOK.replace('"no"', '"other"').replace('"x', '"y')
    assert sections(again, "notebook") == sections(NOTEBOOK, "notebook") and again != NOTEBOOK


@pytest.mark.parametrize(
    "text", ["", "{", '{"cells": 1}', '{"cells": [{"source": "a"', "[" * 100_000, '{"nbformat": 4, "x": ["a"]}', "a"]
)  # fmt: skip
def test_what_is_no_notebook_is_plain_text(text: str) -> None:
    spans = chunk(text, "notebook", WORDS, 99999, 0.0)
    assert "".join(text[span.start : span.end] for span in spans) == text
    assert all(readable(text[span.start : span.end], "notebook").strip() for span in spans)


HTML_PIECES = (
    "word ", "one. ", "\n", "\r\n", "  ", "<p>", "</p>", "<h1>", "</h1>", "<h2 a='>'>", "</h2>", "<pre>", "</pre>",
    "<br>", "<li>", "<td>", "<b>", "</b>", "<script>", "</script>", "<!--", "-->", "<", ">", "&", "&amp;", "&lt;b&gt;",
    "&#8364", "&nbsp;", "<title>", "</title>", "<svg>", "</svg>", "'", '"', "=", "é", "😀", "e\u0301", "\ufeff",
    '<a b="', "x" * 2100,
)  # fmt: skip
pages = st.lists(st.sampled_from(HTML_PIECES) | st.text(max_size=3), max_size=40).map("".join)
sources = st.lists(
    st.sampled_from(("a b", "# A\n", "\n", "\r\n", '"', "\\", "é", "\t", "😀", "\ud83d", "```\n", "],")), max_size=9
)
cells = st.builds(
    lambda kind, lines: {"cell_type": kind, "source": lines, "outputs": ["source", '"source": "'], "metadata": {}},
    st.sampled_from(["markdown", "code", "raw"]),
    sources | sources.map("".join),
)
notebooks = st.builds(
    lambda found, indent: json.dumps({"cells": found}, indent=indent),
    st.lists(cells, min_size=1, max_size=6),
    st.sampled_from([None, 1]),
)

# The title goes with the next cell, and the name of the member between them was taken for a line of it.
MEMBER_AFTER_A_SOURCE = json.dumps(
    {
        "cells": [
            {"cell_type": "markdown", "source": "# A\n", "outputs": ["source", '"source": "'], "metadata": {}},
            {"cell_type": "markdown", "source": ["a b"], "metadata": {}},
        ]
    }
)


@given(
    st.one_of(st.tuples(pages, st.just("html")), st.tuples(notebooks, st.just("notebook"))),
    st.integers(1, 30),
    st.sampled_from([0.0, 0.3]),
)
@example(("<pre>a\n  b\n  c</pre>", "html"), 2, 0.0)
@example((MEMBER_AFTER_A_SOURCE, "notebook"), 4, 0.0)
def test_the_readable_text_of_the_chunks_is_that_of_the_file(file: tuple[str, str], size: int, overlap: float) -> None:
    text, kind = file
    spans = chunk(text, kind, WORDS, size, overlap)
    whole = READERS[kind][0](normalise(text)).text
    solid = "".join(whole.split())
    shown = [readable(text[span.start : span.end], kind) for span in spans]
    assert all(part.strip() for part in shown)
    if overlap == 0.0:
        assert "".join("".join(shown).split()) == solid
    for span, part in zip(spans, shown, strict=True):
        assert WORDS.count(part) <= size or len(part.strip()) == 1
        assert 0 <= span.start < span.end <= len(text)
    assert [(one.start, one.end) for one in spans] == sorted((one.start, one.end) for one in spans)


@given(pages)
def test_other_line_ends_change_no_readable_text(text: str) -> None:
    plain = normalise(text)
    expected = sections(plain, "html", 10)
    for end in ("\r\n", "\r"):
        assert sections(plain.replace("\n", end), "html", 10) == expected
