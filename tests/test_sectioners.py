"""Whatever a file of whatever kind holds: its chunks cover it in order, whatever its line ends, in linear time."""

import re
import time
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ragx.chunking import READERS, SECTIONERS, chunk, normalise
from tests.counters import WORDS

PIECES = (
    "word ", "\n", "\n\n", "\r\n", "\r", "\t", "    ", "  ", "def f():\n", "class A:\n", "@a\n", "# c\n", "// c\n",
    "/* ", " */", "-- c\n", '"""', "'''", "`", '"', "'", "\\", "{\n", "}\n", "(\n", ")\n", "[\n", "]\n", "#[a]\n",
    "function f() {\n", "fn f() {\n", "func f() {\n", "impl A for B {\n", "public class A {\n", "int f(\n", "#if a\n",
    "public:\n", "template <a>\n", "<<EOF\n", "EOF\n", "f() {\n", "end\n", "create table a (\n", ";\n", "$$",
    "=begin\n", "a: b\n", "- a\n", "---\n", "[a]\n", "a = 1\n", '"a": {\n', "a,b\n", "===\n", "A\n", ".. a::\n", "::\n",
    "= A\n", "----\n", "|===\n", "* A\n", "#+begin_src\n", "#+end_src\n", "x" * 90, "x = 1\n" * 9, "    y\n" * 9,
    "        z\n" * 30, "é", "\u2028", "\x0c", "\ufeff",
)  # fmt: skip
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=60).map("".join)
kinds = st.sampled_from(sorted(SECTIONERS.keys() - READERS.keys()))


@settings(max_examples=300)
@given(texts, kinds, st.integers(1, 60), st.sampled_from([0.0, 0.15]))
def test_chunks_of_every_kind_cover_the_text_in_order(text: str, kind: str, size: int, overlap: float) -> None:
    spans = chunk(text, kind, WORDS, size, overlap)
    solid = {at for at, char in enumerate(text) if not char.isspace() and char != "\ufeff"}
    assert solid <= {at for span in spans for at in range(span.start, span.end)}
    for one, two in pairwise(spans):
        assert one.start < two.start and one.end < two.end
        assert one.end <= two.start or (overlap > 0 and one.headings == two.headings)
    for span in spans:
        assert span.headings == tuple(heading for heading in span.headings if heading.strip())
        assert len(text[span.start : span.end]) == 1 or WORDS.count(normalise(text[span.start : span.end])) <= size


@settings(max_examples=300)
@given(texts, kinds)
def test_sections_of_every_kind_are_contiguous(text: str, kind: str) -> None:
    plain = normalise(text)
    sections = SECTIONERS[kind](plain)
    assert [section.start for section in sections] == [0, *(section.end for section in sections)][: len(sections)]
    assert not sections or sections[-1].end == len(plain)
    for section in sections:
        assert all(section.start <= start < end <= section.end for start, end in section.fences)


@settings(max_examples=200)
@given(texts, kinds)
@example("word " * 8 + "#[a]\nfunction f() {\n::\n0:    y\n" + "    y\n" * 9 + "\ufeff", "")
def test_a_crlf_conversion_changes_no_chunk_of_any_kind(text: str, kind: str) -> None:
    plain = normalise(text)
    expected = [(normalise(plain[span.start : span.end]), span.headings) for span in chunk(plain, kind, WORDS, 30, 0.0)]
    for other in (plain.replace("\n", "\r\n"), plain.replace("\n", "\r")):
        found = chunk(other, kind, WORDS, 30, 0.0)
        assert [(normalise(other[span.start : span.end]), span.headings) for span in found] == expected


HUGE = 2_000_000
HARD = (
    "{", "{\n", '"', '"\n', "'", "`", '"""\n', "<", "<a ", "<a b=\"", "</", "<!--", "&", "&a", "/*", "//", "#\n",
    "def f():\n", "class A:\n  def f():\n    x\n", "(", "[", "@a(\n", "#[\n", "<<A\n", "$a$", "\\", "impl <", "a::",
    "a b ", "template <\n", "- a\n", "a: ", "a: b\n", 'r#"', "if (a) {\n", " ", "\t", "\n", '"a": {\n', "[a]\n",
    "A\n=\n", "a::\n\n  b\n\n", "= A\n\n", "----\n", "* A\n", "#+begin_a\n", "a,b\n", '"a\n', "<p>a</p>", "<script>",
    "<h1>", "<pre>", "\\u0041", '{"cells":[{"source":["a', '"source":"',
)  # fmt: skip


@pytest.mark.parametrize(
    "kind", ["python", "javascript", "cpp", "ruby", "rst", "asciidoc", "org", "csv", "html", "notebook"]
)
def test_a_huge_file_of_one_thing_takes_linear_time(kind: str) -> None:
    sections = READERS[kind][0] if kind in READERS else SECTIONERS[kind]
    slowest = 0.0
    for piece in HARD:
        text = piece * (40_000 // len(piece))
        begin = time.process_time()
        sections(text)
        slowest = max(slowest, time.process_time() - begin)
    # Quadratic time would be minutes.
    assert slowest < 6


@pytest.mark.parametrize(
    ("kind", "piece"), [("python", "def f():\n"), ("json", "{"), ("html", "<"), ("html", "<a>"), ("yaml", '"')]
)
def test_two_megabytes_of_one_thing_take_seconds(kind: str, piece: str) -> None:
    begin = time.process_time()
    spans = chunk(piece * (HUGE // len(piece)), kind, WORDS, 500, 0.15)
    assert time.process_time() - begin < 30
    assert spans or kind == "html"


def test_a_function_of_300_kilobytes_is_cut_between_lines() -> None:
    text = "def f():\n" + "    call(a, b)  # c\n" * 15_000
    spans = chunk(text, "python", WORDS, 500, 0.1)
    assert len(spans) > 100 and {span.headings for span in spans} == {("f",)}
    assert all(re.fullmatch(r"(?:def f\(\):\n)?(?:    call\(a, b\)  # c\n?)+", text[s.start : s.end]) for s in spans)
