"""Programs are cut at definitions, each with its comments and decorators, and at nothing that only looks like one."""

import pytest

from ragx.chunking import chunk
from tests.counters import WORDS
from tests.programs import grown, programs

Cut = tuple[tuple[str, ...], str, str]


def cuts(text: str, kind: str) -> list[Cut]:
    """Headings, first and last line of each chunk."""
    found = []
    for span in chunk(text, kind, WORDS, 100_000, 0.0):
        lines = text[span.start : span.end].splitlines()
        found.append((span.headings, lines[0].strip(), lines[-1].strip()))
    return found


def paths(text: str, kind: str) -> list[tuple[str, ...]]:
    return [headings for headings, _, _ in cuts(text, kind)]


def test_decorators_and_comments_directly_above_belong_to_the_definition() -> None:
    text = """\
import os
import re
A = 1
B = 2
C = 3

# About f.
@one
@two(
    1,
)
async def f():
    ...9

# Not about g.

class G:
    ...9
"""
    assert cuts(grown(text), "python") == [
        ((), "import os", "C = 3"),
        (("f",), "# About f.", "x = 1;"),
        (("G",), "# Not about g.", "x = 1;"),
    ]


def test_small_statements_are_gathered_and_leftovers_join_a_neighbor() -> None:
    constants = "".join(f"C{number} = {number}\n" for number in range(60))
    assert [first for _, first, _ in cuts(constants, "python")] == ["C0 = 0", "C25 = 25", "C50 = 50"]
    text = grown("def f():\n    ...9\nX = 1\n\ndef g():\n    ...9\nif main:\n    f()\n")
    assert cuts(text, "python") == [(("f",), "def f():", "x = 1;"), (("g",), "X = 1", "f()")]


def test_a_small_class_stays_whole_and_a_large_one_is_cut_into_its_members() -> None:
    small = grown('class A:\n    """Doc.\n\n    def no(): pass\n    """\n\n    def f(self):\n        ...9\n')
    assert paths(small, "python") == [("A",)]
    large = """\
@dataclass
class B:
    a: int
    b: int
    c: int
    d: int

    @property
    def f(self):
        ...30

    class C:
        def g(self):
            ...60

    def h(self):
        ...9
"""
    assert cuts(grown(large), "python") == [
        (("B",), "@dataclass", "d: int"),
        (("B", "f"), "@property", "x = 1;"),
        (("B", "C", "g"), "class C:", "x = 1;"),
        (("B", "h"), "def h(self):", "x = 1;"),
    ]


def test_a_large_function_is_cut_only_at_functions_within_it() -> None:
    assert paths(grown("def f():\n    ...80\n"), "python") == [("f",)]
    nested = grown("def f():\n    a = 1\n    def g():\n        ...30\n    def h():\n        ...30\n    return g\n")
    assert paths(nested, "python") == [("f", "g"), ("f", "h")]


def test_what_only_looks_like_a_definition_is_none() -> None:
    text = grown('T = """\ndef no():\n    ...9\n"""\n# def no2():\ns = "def no3():"\n') + "y = 1\n" * 20
    assert paths(text, "python") == [(), ()]
    script = grown("const s = `\nfunction no() {\n  ...9\n}\n`;\nconst r = /[`\"']/;\nfunction f() {\n  ...9\n}\n")
    assert paths(script, "javascript") == [("s",), ("f",)]


def test_a_string_that_is_never_closed_harms_no_other_line_unless_it_may_span_them() -> None:
    text = grown("x = 'open\ny = \"open\n\ndef f():\n    ...9\ndef g():\n    ...9\n")
    assert paths(text, "python") == [("f",), ("g",)]
    assert paths(grown('x = """open\ndef f():\n    ...9\n'), "python") == [()]


@pytest.mark.parametrize(("kind", "text", "expected"), programs())
def test_definitions_are_found_in_the_forms_that_a_language_has(kind: str, text: str, expected: list[str]) -> None:
    assert ["/".join(path) for path in paths(text, kind)] == expected
    for other in (text.replace("\n", "\r\n"), text.replace("\n", "\r")):
        assert paths(other, kind) == paths(text, kind)


def test_an_edit_in_one_function_changes_no_other_chunk() -> None:
    functions = [grown(f"def f{number}(a):\n    # {number}\n    ...20\n\n") for number in range(20)]
    before = {text for text in _texts("".join(functions))}
    functions[7] = functions[7].replace("x = 1;", "if a:\n        y = (1,\n          2)", 2) + "z = 1\n"
    after = {text for text in _texts("".join(functions))}
    assert len(before - after) == len(after - before) == 2


def _texts(text: str) -> list[str]:
    return [text[span.start : span.end] for span in chunk(text, "python", WORDS, 1000, 0.0)]


def test_code_on_one_line_and_blank_code_are_one_section() -> None:
    assert len(paths("function f(){};" * 1000, "javascript")) == 1
    assert paths("# only\n# comments\n", "python") == [()]
    assert paths("\n\n", "go") == []
