"""What a text refers to, in every notation that is read: literal texts and what was written in them."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragx.links import READERS, aliases, references

Seen = list[tuple[str, str, str]]


def seen(text: str, kind: str = "markdown") -> Seen:
    """Kind, target and heading of each reference, ascending."""
    return [(one.kind, one.target, one.heading) for one in references(text, kind)]


def targets(text: str, kind: str = "markdown") -> list[str]:
    return [one.target for one in references(text, kind)]


@pytest.mark.parametrize(
    ("text", "target", "heading"),
    [
        ("[a](b.md)", "b.md", ""),
        ("[a](<b c.md>)", "b c.md", ""),
        ("[a](<>)", None, ""),
        ('[a](b.md "title")', "b.md", ""),
        ("[a](b.md 'title')", "b.md", ""),
        ("[a](b.md (title))", "b.md", ""),
        ('[a](b.md\n"title")', "b.md", ""),
        ("[a](\nb.md\n)", "b.md", ""),
        ("[a](b(1).md)", "b(1).md", ""),
        (r"[a](b\(1.md)", "b(1.md", ""),
        (r"[a](b\).md 'title')", "b).md", ""),
        (r"[a](b(\)).md)", "b()).md", ""),
        (r"[a](my\_notes.md#c\_d)", "my_notes.md", "c_d"),
        (r"[a](<b \[c\].md>)", "b [c].md", ""),
        (r"[a](b\c.md)", r"b\c.md", ""),
        (r"[a](b.md\)", None, ""),
        (r"[a](\\server\b.md)", None, ""),
        ("[a](b%20c.md#d%20e)", "b c.md", "d e"),
        ("[a](b&amp;c.md)", "b&c.md", ""),
        ("[a](b.md#c)", "b.md", "c"),
        ("[a](#c)", "", "c"),
        ("[a](b.md?raw=1#c)", "b.md", "c"),
        ("[a](sub/)", "sub/", ""),
        ("[a](/b.md)", "/b.md", ""),
        ("[two\nlines](b.md)", "b.md", ""),
        ("[![badge](x.png)](b.md)", "b.md", ""),
        ("> [a](b.md)", "b.md", ""),
        ("Tick ` [a](b.md)", "b.md", ""),
        ("[a]()", None, ""),
        ("[a](#)", None, ""),
        ("[a](b c.md)", None, ""),
        (r"\[a\](b.md)", None, ""),
        (r"[a\](b.md)", None, ""),
        ("![a](b.png)", None, ""),
        ("![a](b.SVG#x)", None, ""),
        ("[a](https://x.org/b.md)", None, ""),
        ("[a](//x.org/b.md)", None, ""),
        ("[a](mailto:b@c.md)", None, ""),
        ("[a](C:\\b.md)", None, ""),
        ("<https://x.org/b.md>", None, ""),
    ],
)
def test_inline_links(text: str, target: str | None, heading: str) -> None:
    assert seen(text) == ([] if target is None else [("link", target, heading)])


def test_a_footnote_of_one_word_is_no_link() -> None:
    assert targets("Said[^1] and [again][^b].\n\n[^1]: Doe\n[^b]: b.md\n") == []


def test_links_by_reference_count_where_their_label_is_used() -> None:
    text = (
        "[full][one], [two][], [three] and [Two  Words], not [four][five] and not [six].\n\n"
        "[one]: a.md\n[two]: <b c.md> 'T'\n[three]: c.md#d\n[two words]:\n  d.md\n[one]: never.md\n[web]: https://x.org\n"
    )
    assert seen(text) == [("link", "a.md", ""), ("link", "b c.md", ""), ("link", "c.md", "d"), ("link", "d.md", "")]
    assert references(text, "markdown")[1].start == text.index("[two]")
    assert seen("[a]: b.md\n") == []
    assert seen("Said[^1].\n\n[^1]: see [x](y.md)\n") == [("link", "y.md", "")]


@pytest.mark.parametrize(
    ("text", "target", "heading"),
    [
        ("[[a]]", "a", ""),
        ("[[a|shown]]", "a", ""),
        (r"| [[a\|shown]] |", "a", ""),
        ("[[a#b]]", "a", "b"),
        ("[[a#b#c|shown]]", "a", "c"),
        ("[[a#^b1]]", "a", "^b1"),
        ("![[a]]", "a", ""),
        ("![[a#b]]", "a", "b"),
        ("[[#b]]", "", "b"),
        ("[[sub/a.md]]", "sub/a.md", ""),
        ("[[ C++ ]]", "C++", ""),
        ("[[2026-01-02]]", "2026-01-02", ""),
        ("![[a.png]]", None, ""),
        ("[[]]", None, ""),
        ("[[|a]]", None, ""),
        (r"\[[a]]", None, ""),
        ("[[a\nb]]", None, ""),
    ],
)
def test_wikilinks(text: str, target: str | None, heading: str) -> None:
    assert seen(text) == ([] if target is None else [("wikilink", target, heading)])


@pytest.mark.parametrize(
    "text",
    [
        "`[a](b.md)`",
        "``[[a]] ` [[b]]``",
        "```\n[a](b.md)\n[[c]]\n```\n",
        "~~~ md\n[[c]]\n~~~\n",
        "- item\n\n  ```\n  [a](b.md)\n  ```\n",
        "```\n[[never closed]]\n",
        "<!-- [a](b.md)\n[[c]] -->",
        "<!-- never closed [a](b.md)",
        "%% [[a]] %%",
        '`<a href="b.md">`',
    ],
)
def test_code_and_comments_hold_no_link(text: str) -> None:
    assert seen(text) == []
    assert seen(f"{text}\n\n[[after]]\n")[-1:] in ([("wikilink", "after", "")], [])


def test_html_links() -> None:
    page = (
        "<a href=\"a.md\">A</a> <A class=x HREF='b.md#c'>B</A> <a\nhref=d.html>D</a> <a href='e%20f.md?g'>E</a>"
        "<a name='h'>H</a> <a data-href='no.md'>I</a> <a href='https://x.org'>J</a> <img src='k.md'>"
        "<a href='l&amp;m.md'>"
    )
    found = [("a.md", ""), ("b.md", "c"), ("d.html", ""), ("e f.md", ""), ("l&m.md", "")]
    assert seen(page) == seen(page, "html") == [("link", *one) for one in found]
    hidden = "<!-- <a href='a.md'> --><script>'<a href=b.md>'</script><style><a href='c.md'></style><link href='d.css'>"
    assert seen(hidden, "html") == []


@pytest.mark.parametrize(
    ("matter", "tags"),
    [
        ("---\ntags: [a, 'b c', \"d, e\"]\n---\n", ["a", "b c", "d, e"]),
        ("---\ntags:\n  - a\n  - '#b'  # c\n---\n", ["a", "b"]),
        ("---\ntags:\n- a\n- b/c\n---\n", ["a", "b/c"]),
        ("---\ntags: [a,\n  b]\n---\n", ["a", "b"]),
        ("---\ntags: a, b\n---\n", ["a", "b"]),
        ("---\nTags: a\n---\n", ["a"]),
        ("---\r\ntags: [a]\r\n---\r\n", ["a"]),
        ("+++\ntags = [\"a\", 'b']\n+++\n", ["a", "b"]),
        ("+++\ntags = [\n  'a',\n  'b',\n]\n+++\n", ["a", "b"]),
        ("---\ntags: []\n---\n", []),
        ("---\ntags:\n---\n", []),
        ("---\ntags: [a\n\nNever closed.\n", []),
        ("tags: [a]\n", []),
    ],
)
def test_tags_of_the_front_matter(matter: str, tags: list[str]) -> None:
    assert seen(f"{matter}Text.\n") == [("tag", tag, "") for tag in tags]


@pytest.mark.parametrize(
    ("related", "found"),
    [
        ("[[a]]", [("wikilink", "a", "")]),
        ("[[a]], [[b|c]]", [("wikilink", "a", ""), ("wikilink", "b", "")]),
        ("'[[a#b]]'", [("wikilink", "a", "b")]),
        ("[x.md, sub/y]", [("link", "x.md", ""), ("link", "sub/y", "")]),
        ("\n  - '[x](x.md#y)'\n  - A Note", [("link", "x.md", "y"), ("wikilink", "A Note", "")]),
        ("https://x.org/a", []),
    ],
)
def test_related_of_the_front_matter(related: str, found: Seen) -> None:
    assert seen(f"---\nrelated: {related}\n---\n[[body]]\n") == [*found, ("wikilink", "body", "")]


def test_aliases_of_the_front_matter() -> None:
    assert aliases("---\naliases: [One, 'Two, too']\nalias: Three\n---\n") == ["One", "Two, too", "Three"]
    assert aliases("+++\naliases = ['One']\n+++\n") == ["One"]
    assert aliases("aliases: One\n") == []


@pytest.mark.parametrize("eol", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_offsets_are_those_of_the_text_as_it_is(eol: str, mark: str) -> None:
    text = mark + eol.join(["# Head", "", "A [[b]] and", "[c](d.md) then", "", "[e][]", "", "[e]: f.md"])
    starts = [text[one.start :][: len(one.target) + 2] for one in references(text, "markdown")]
    assert starts == ["[[b", "](d.md", "[e][]" + eol[:1]]
    code = mark + eol.join(["import a", "", "if x:", "    from .b import c"])
    assert [code[: one.start].count(eol) for one in references(code, "python")] == [0, 3]


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("import a\n", ["a"]),
        ("import a.b as c, d\n", ["a.b", "d"]),
        ("from a import b, c as d\n", ["a.b", "a.c"]),
        ("from . import a\n", [".a"]),
        ("from .. import a, b\n", ["..a", "..b"]),
        ("from .a import *\n", [".a"]),
        ("from ..a.b import (\n    c,  # d\n    e as f,\n)\n", ["..a.b.c", "..a.b.e"]),
        ("import a; import b\n", ["a", "b"]),
        ("try: import a\nexcept ImportError: from b import c\n", ["a", "b.c"]),
        ("def f():\n    import a\n", ["a"]),
        ('\'import a\'\n# import b\n"""\nimport c\n"""\n', []),
        ("important = 1\nfrom_ = imports\n", []),
    ],
)
def test_imports_of_python(code: str, found: list[str]) -> None:
    assert targets(code, "python") == found


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("import a from './a'", ["./a"]),
        ("import './a.css'", ["./a.css"]),
        ('import {\n  a,\n  b,\n} from "../c.js"', ["../c.js"]),
        ("import * as a from './a'", ["./a"]),
        ("import type { A } from './a'", ["./a"]),
        ("export * from './a'", ["./a"]),
        ("export { a } from './a'\nexport { b } from './b'", ["./a", "./b"]),
        ("const a = require('./a')", ["./a"]),
        ("const a = await import('./a')", ["./a"]),
        ("import a from '@/b'\nimport c from '~/d'", ["@/b", "~/d"]),
        ("import a from 'react'\nimport b from '@scope/b'", []),
        ("// import a from './a'\n/* import './b' */\nconst c = \"import './d'\"", []),
        ("export const a = 1\nconst from = './b'", []),
    ],
)
@pytest.mark.parametrize("kind", ["javascript", "typescript"])
def test_imports_of_javascript(code: str, found: list[str], kind: str) -> None:
    assert targets(code, kind) == found


def test_a_file_of_exports_only_is_read() -> None:
    # Whether a file is worth reading was told by the word `import` alone.
    assert targets("export * from './a'\n", "typescript") == ["./a"]


def test_imports_of_vue() -> None:
    assert targets("<script setup>\nimport A from './A.vue'\n</script>\n<template><A /></template>\n", "vue") == [
        "./A.vue"
    ]


def test_imports_of_go_leave_the_standard_library_out() -> None:
    code = (
        'import "fmt"\nimport (\n\t"os"\n\tx "example.com/a/b"\n\t_ "example.com/c"\n\t// "example.com/d"\n)\n'
        'var s = "example.com/e"\n'
    )
    assert targets(code, "go") == ["example.com/a/b", "example.com/c"]
    assert targets('import . "example.com/a"\n', "go") == ["example.com/a"]


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("mod a;\npub mod b;\npub(crate) mod c;\nmod d {}\n", ["mod a", "mod b", "mod c"]),
        ("use crate::a::B;\nuse super::c;\nuse self::d;\n", ["crate::a::B", "super::c", "self::d"]),
        ("use crate::{a::{self, b}, c as d, e::*};\n", ["crate::a", "crate::a::b", "crate::c", "crate::e"]),
        ("pub use crate::a;\n", ["crate::a"]),
        ("use std::io;\nuse serde::Serialize;\n", []),
        ('// mod a;\n/* use crate::b; */\nconst S: &str = "mod c;";\n', []),
        ("mod tests {\n    use super::*;\n    use crate::a;\n}\n", ["crate::a"]),
    ],
)
def test_modules_of_rust(code: str, found: list[str]) -> None:
    assert targets(code, "rust") == found


def test_links_of_restructuredtext() -> None:
    text = (
        ":doc:`a`, :doc:`B <sub/b>`, `C <c.rst#d>`_ and `E <https://x.org>`_\n\n.. include:: f.txt\n\n"
        ".. code-block:: rst\n\n   :doc:`no`\n\n``:doc:`no` ``\n"
    )
    found = [("a", ""), ("sub/b", ""), ("c.rst", "d"), ("f.txt", "")]
    assert seen(text, "rst") == [("link", *one) for one in found]


def test_links_of_asciidoc() -> None:
    text = (
        "xref:a.adoc[A] xref:b.adoc#c[B] link:d.html[] <<e.adoc#f,E>> <<local>> link:https://x.org[w]\n\n"
        "include::g.adoc[]\n\n----\nxref:no.adoc[]\n----\n// xref:no.adoc[]\n"
    )
    found = [("a.adoc", ""), ("b.adoc", "c"), ("d.html", ""), ("e.adoc", "f"), ("g.adoc", "")]
    assert seen(text, "asciidoc") == [("link", *one) for one in found]


def test_links_of_org() -> None:
    text = (
        "[[file:a.org][A]] [[file:b.org::*Head]] [[./c.org]] [[../d.org][D]] [[https://x.org]] [[id:1]] [[*Head]]\n"
        "#+begin_src sh\n[[file:no.org]]\n#+end_src\n# [[file:no.org]]\n"
    )
    assert targets(text, "org") == ["a.org", "b.org", "./c.org", "../d.org"]


def test_other_kinds_have_no_references() -> None:
    assert references("[a](b.md) [[c]] import d", "text") == references("import a", "java") == []


TRAPS = {
    "markdown": [
        "[[", "](", "](a", "]( ", "](a \"", "](<", "](a(", "`", "` `` ", "<a ", "<a href=", "<a href='", "<!--", "[[a|",
        "[[a#", "[a]:", "[a]: b\n", "[a]: <b\n", "[a][b\n", "[a]: b (\n", "%%", "> ", "- ", "](\n",
    ],
    "html": ["<a ", "<a href='", "<!--", "<script>", "<script></", "<style>\n"],
    "rst": [":doc:`", "`a <", ".. code::\n", "``", "``a\n", ".. include::\n", " \n"],
    "asciidoc": ["xref:", "<<", "<<a.adoc", "----\n", "////\n", "link:a\n", "include::a\n"],
    "org": ["[[file:", "[[./", "#+begin_src\n"],
    "python": ["import ", "from a import (", "from a import b, ", "import a,\n", ";from a import\n"],
    "typescript": ["import ", "export {", "import from ", "require(", "require ", "import('", "import {a,"],
    "go": ["import (\n", 'import "', "import (\n\""],
    "rust": ["use a{", "use a::{\n", "use a\n", "pub(\n", "use crate::{a,"],
}  # fmt: skip


@pytest.mark.parametrize(("kind", "part"), [(kind, part) for kind, parts in TRAPS.items() for part in parts])
def test_no_text_takes_quadratic_time(kind: str, part: str) -> None:
    # `](` before 100,000 blanks took 50 seconds, and as many `import`s 10.
    for before, after in (("", ""), ("[[a]] [b](c)\n", ""), ("import x;\n", ";")):
        started = time.process_time()
        references(before + part * (100_000 // len(part)) + after, kind)
        references(before + part + " " * 100_000 + after, kind)
        assert time.process_time() - started < 8


PIECES = [
    "[", "]", "(", ")", "[[", "]]", "](", "]:", "<", ">", "<a href=", "`", "tags: ", "related: ", "|", "#", "\\",
    "a.md", "é", "\ufeff", "import ", "from ", "export ", "use ", "mod ", "crate::", "{", "}", ";", "'", '"', ".",
    "%20", "%ff", "&#0;", "&#xd800;", "&amp;", ":doc:`", "xref:", "[[file:", "::", "<!--", "-->", "\0", "x", "```\n",
    "---\n", "+++\n", "\n", "\r\n", "\r", " ",
]  # fmt: skip


@given(
    text=st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=3)), max_size=30).map("".join),
    kind=st.sampled_from(sorted(READERS)),
)
def test_any_text_has_references_that_lie_within_it(text: str, kind: str) -> None:
    found = references(text, kind)
    starts = [one.start for one in found]
    assert starts == sorted(starts) and all(0 <= start < len(text) for start in starts)
    assert all(one.target or one.heading for one in found)
    for one in found:
        (one.target + one.heading).encode()  # no half of a surrogate pair, which no table holds
    aliases(text)
