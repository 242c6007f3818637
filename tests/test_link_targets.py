"""Which file a reference means, and that a link found out later is the one a full build finds."""

import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ragx.config import index_dir
from ragx.files import kind_of
from ragx.links import Corpus, Named
from ragx.store import open_index
from tests.corpora import build, corpus, dump, index_elsewhere, settings_of, write


def resolved(
    paths: Sequence[str], source: str, kind: str, target: str, names: dict[str, tuple[str, ...]] | None = None
) -> str | None:
    """The path that the reference means; `names` are the title and the aliases of files."""
    files = []
    for number, path in enumerate(paths):
        title, *aliases = (names or {}).get(path, ("",))
        files.append(Named(number, path, kind_of(path), title, tuple(aliases)))
    found = Corpus(files).resolve(source, kind, target)
    assert found == Corpus(files[::-1]).resolve(source, kind, target)
    return None if found is None else paths[found]


PAGES = [
    "README.md",
    "a.md",
    "docs/README.md",
    "docs/a.md",
    "docs/b.rst",
    "docs/deep/a.md",
    "docs/deep/c d.md",
    "src/x.py",
    "www/index.html",
    "www/p.html",
]


@pytest.mark.parametrize(
    ("source", "target", "meant"),
    [
        ("docs/a.md", "b.rst", "docs/b.rst"),
        ("docs/a.md", "./b.rst", "docs/b.rst"),
        ("docs/a.md", "../a.md", "a.md"),
        ("docs/a.md", "deep/../deep/a.md", "docs/deep/a.md"),
        ("docs/deep/a.md", "/a.md", "a.md"),
        ("docs/deep/a.md", "/docs/b.rst", "docs/b.rst"),
        ("docs/deep/a.md", "../../src/x.py", "src/x.py"),
        ("a.md", "docs/b", "docs/b.rst"),
        ("a.md", "docs", "docs/README.md"),
        ("a.md", "docs/", "docs/README.md"),
        ("a.md", "www", "www/index.html"),
        ("docs/a.md", ".", "docs/README.md"),
        ("docs/a.md", "..", "README.md"),
        ("docs/a.md", "B.RST", "docs/b.rst"),
        ("a.md", "docs/a.html", "docs/a.md"),
        ("www/index.html", "p.html", "www/p.html"),
        ("a.md", "docs/deep/c d.md", "docs/deep/c d.md"),
        ("a.md", "", "a.md"),
        ("a.md", "docs/a.md/", None),
        ("a.md", "nowhere.md", None),
        ("docs/a.md", "a", "docs/a.md"),
        ("docs/a.md", "deep/b", None),
        ("docs/a.md", "../../a.md", None),
        ("a.md", "../../../etc/passwd", None),
        ("a.md", "../corpus/a.md", None),
    ],
)
def test_a_path_is_one_from_the_folder_of_the_file(source: str, target: str, meant: str | None) -> None:
    assert resolved(PAGES, source, "link", target) == meant


@pytest.mark.parametrize(
    ("source", "target", "meant"),
    [
        ("a.md", "b", "docs/b.rst"),
        ("README.md", "a", "a.md"),
        ("docs/b.rst", "a", "docs/a.md"),
        ("docs/deep/c d.md", "a", "docs/deep/a.md"),
        ("src/x.py", "a", "a.md"),
        ("a.md", "deep/a", "docs/deep/a.md"),
        ("a.md", "docs/a", "docs/a.md"),
        ("a.md", "ocs/a", None),
        ("a.md", "C D", "docs/deep/c d.md"),
        ("a.md", "c d.md", "docs/deep/c d.md"),
        ("a.md", "x.py", "src/x.py"),
        ("a.md", "x", None),
        ("a.md", "", "a.md"),
        ("a.md", "nowhere", None),
    ],
)
def test_a_name_means_the_nearest_note(source: str, target: str, meant: str | None) -> None:
    assert resolved(PAGES, source, "wikilink", target) == meant


def test_titles_and_aliases_are_names_after_those_of_files() -> None:
    titles = {"docs/a.md": ("The Great Plan", "Plan B"), "docs/b.rst": ("a",)}
    assert resolved(PAGES, "a.md", "wikilink", "the great plan", titles) == "docs/a.md"
    assert resolved(PAGES, "a.md", "wikilink", "Plan b", titles) == "docs/a.md"
    assert resolved(PAGES, "docs/deep/a.md", "wikilink", "a", titles) == "docs/deep/a.md"


def test_either_normal_form_names_a_file() -> None:
    composed, apart = unicodedata.normalize("NFC", "Café"), unicodedata.normalize("NFD", "Café")
    for there, written in ((composed, apart), (apart, composed)):
        paths = ["a.md", f"notes/{there}.md"]
        assert resolved(paths, "a.md", "wikilink", written.lower()) == paths[1]
        assert resolved(paths, "a.md", "link", f"notes/{written}.md") == paths[1]


def test_a_file_of_the_very_spelling_comes_first() -> None:
    paths = ["Notes.md", "notes.md", "x.md"]
    assert [resolved(paths, "x.md", "link", name) for name in ("notes.md", "Notes.md")] == ["notes.md", "Notes.md"]


PYTHON = [
    "app/__init__.py",
    "app/main.py",
    "app/db/__init__.py",
    "app/db/rows.py",
    "app/json.py",
    "src/lib/__init__.py",
    "src/lib/core.py",
    "tests/test_rows.py",
    "setup.py",
    "tools/one.py",
]


@pytest.mark.parametrize(
    ("source", "target", "meant"),
    [
        ("app/main.py", ".db", "app/db/__init__.py"),
        ("app/main.py", ".db.rows", "app/db/rows.py"),
        ("app/main.py", ".db.Row", "app/db/__init__.py"),
        ("app/db/rows.py", "..main.run", "app/main.py"),
        ("app/db/rows.py", ".", "app/db/__init__.py"),
        ("app/db/rows.py", "..missing", "app/__init__.py"),
        ("app/db/rows.py", "....escaped", None),
        ("tests/test_rows.py", "app.db.rows.Row", "app/db/rows.py"),
        ("tests/test_rows.py", "app", "app/__init__.py"),
        ("tests/test_rows.py", "lib.core", "src/lib/core.py"),
        ("tests/test_rows.py", "lib", "src/lib/__init__.py"),
        ("tests/test_rows.py", "setup", "setup.py"),
        ("app/db/rows.py", "os.path", None),
        ("tests/test_rows.py", "json", None),
        ("tests/test_rows.py", "one", None),
        ("tests/test_rows.py", "numpy.core", None),
    ],
)
def test_modules_of_python(source: str, target: str, meant: str | None) -> None:
    assert resolved(PYTHON, source, "import", target) == meant


SCRIPTS = [
    "web/src/main.ts",
    "web/src/app.tsx",
    "web/src/lib/index.ts",
    "web/src/lib/util.js",
    "web/src/data.json",
    "web/src/View.vue",
    "web/test/a.test.ts",
    "types.d.ts",
]


@pytest.mark.parametrize(
    ("source", "target", "meant"),
    [
        ("web/src/main.ts", "./app", "web/src/app.tsx"),
        ("web/src/main.ts", "./app.js", "web/src/app.tsx"),
        ("web/src/main.ts", "./lib", "web/src/lib/index.ts"),
        ("web/src/main.ts", "./lib/", "web/src/lib/index.ts"),
        ("web/src/main.ts", "./lib/util.js", "web/src/lib/util.js"),
        ("web/src/main.ts", "./lib/util", "web/src/lib/util.js"),
        ("web/src/main.ts", "./data.json", "web/src/data.json"),
        ("web/src/main.ts", "./View.vue", "web/src/View.vue"),
        ("web/src/lib/util.js", ".", "web/src/lib/index.ts"),
        ("web/src/lib/util.js", "..", None),
        ("web/test/a.test.ts", "@/lib/util", "web/src/lib/util.js"),
        ("web/test/a.test.ts", "~/app", "web/src/app.tsx"),
        ("web/src/main.ts", "../../types", "types.d.ts"),
        ("web/src/main.ts", "../../../types", None),
        ("web/src/main.ts", "./missing", None),
    ],
)
def test_modules_of_javascript(source: str, target: str, meant: str | None) -> None:
    assert resolved(SCRIPTS, source, "import", target) == meant


def test_packages_of_go_are_folders() -> None:
    paths = ["main.go", "store/a_test.go", "store/b.go", "store/c.go", "web/store/x.go"]
    assert resolved(paths, "main.go", "import", "example.com/me/app/store") == "store/b.go"
    assert resolved(paths, "main.go", "import", "example.com/me/app/web/store") == "web/store/x.go"
    assert resolved(paths, "store/c.go", "import", "github.com/other/missing") is None


RUST = ["Cargo.toml", "src/lib.rs", "src/main.rs", "src/net.rs", "src/net/http.rs", "src/db/mod.rs", "src/db/rows.rs"]


@pytest.mark.parametrize(
    ("source", "target", "meant"),
    [
        ("src/lib.rs", "mod net", "src/net.rs"),
        ("src/lib.rs", "mod db", "src/db/mod.rs"),
        ("src/net.rs", "mod http", "src/net/http.rs"),
        ("src/db/mod.rs", "mod rows", "src/db/rows.rs"),
        ("src/db/rows.rs", "crate::net::http::Client", "src/net/http.rs"),
        ("src/db/rows.rs", "crate::net", "src/net.rs"),
        ("src/db/rows.rs", "crate::Config", "src/lib.rs"),
        ("src/db/rows.rs", "super::Pool", "src/db/mod.rs"),
        ("src/db/rows.rs", "super", "src/db/mod.rs"),
        ("src/db/rows.rs", "super::super::net", "src/net.rs"),
        ("src/net/http.rs", "super::Error", "src/net.rs"),
        ("src/net.rs", "self::http", "src/net/http.rs"),
        ("src/net.rs", "super::db::rows", "src/db/rows.rs"),
        ("src/lib.rs", "mod missing", None),
    ],
)
def test_modules_of_rust(source: str, target: str, meant: str | None) -> None:
    assert resolved(RUST, source, "import", target) == meant


def links(root: Path) -> list[tuple[Any, ...]]:
    """Path and line of each link, its kind, target and heading, and the path and first line of where it leads."""
    with open_index(index_dir(root, settings_of(root))) as store:
        return store.connection.execute(
            "SELECT path, line, kind, target, heading, target_path, target_line_start FROM v_links ORDER BY ALL"
        ).fetchall()


def test_headings_anchors_and_blocks_lead_to_their_chunk(tmp_path: Path) -> None:
    long = "\n\n".join(
        f"Sentence {number} is one of those that make a section too long for one chunk." for number in range(60)
    )
    root = corpus(
        tmp_path,
        {
            "a.md": f"# Top\n\nIntro.\n\n## Why & How\n\n{long}\n\n## Naïve café\n\nLast words. ^end\n",
            "b.md": "[w](a.md#why--how)\n[[a#Why & How]]\n[[a#^end]]\n[[a#Gone]]\n[n](a.md#na%C3%AFve-caf%C3%A9)\n"
            "[[#Nothing]]\n",
        },
    )
    build(root)
    lines = {target[:2]: target[2] for target in ((row[3] or row[0], row[4], row[6]) for row in links(root))}
    assert lines == {
        ("a.md", "why--how"): 5,
        ("a", "Why & How"): 5,
        ("a", "^end"): 127,
        ("a", "Gone"): 1,
        ("a.md", "naïve-café"): 127,
        ("b.md", "Nothing"): 1,
    }


EDITS: list[tuple[dict[str, str | bytes], list[str]]] = [
    ({"c.md": "# Cellar\n\nCold.\n"}, []),
    ({"c.md": "# Cellar\n\nCold.\n\n# Sun\n\nWarm.\n"}, []),
    ({"sub/d.md": "# D\n\nSee [[c]].\n"}, ["c.md"]),
    ({"sub/c.md": "---\naliases: [The Vault]\n---\n# Sun\n\nWarm.\n", "e.md": "The vault, and The Vault.\n"}, []),
    ({"c.md": "# Other\n"}, ["sub/c.md"]),
    ({}, ["c.md", "e.md"]),
]


def test_a_link_that_resolves_later_is_the_one_of_a_full_build(tmp_path: Path) -> None:
    root = corpus(tmp_path / "corpus", {"a.md": "[[c#Sun]] and [c](c.md) and [d](sub/d.md), The Vault.\n"})
    build(root)
    assert [row[5] for row in links(root)] == [None, None, None]
    led = []
    for written, removed in EDITS:
        write(root, written)
        for name in removed:
            (root / name).unlink()
        build(root)
        led.append([row[5:] for row in links(root) if row[:4] == ("a.md", 1, "wikilink", "c")])
        rows = dump(root)
        with index_elsewhere(tmp_path / "full"):
            build(root, full=True)
            assert dump(root) == rows
    assert led == [[("c.md", 1)], [("c.md", 5)], [(None, None)], [("sub/c.md", 4)], [("c.md", 1)], [(None, None)]]


def mentions(tmp_path: Path, files: dict[str, str | bytes]) -> set[tuple[str, int, str, str | None]]:
    root = corpus(tmp_path, files)
    build(root)
    return {(path, line, target, to) for path, line, kind, target, _, to, _ in links(root) if kind == "mention"}


def test_titles_and_aliases_in_the_text_of_others_are_mentions(tmp_path: Path) -> None:
    found = mentions(
        tmp_path,
        {
            "plan.md": "---\naliases: [Roadmap, 未来計画]\n---\n# Great Plan (draft)\n\nThe Great Plan itself.\n",
            "salt.md": "# Salt\n\nWhite.\n",
            "one.md": "First.\n\nThe GREAT-plan is the Great plan, says the roadmap.\n",
            "two.md": "First.\n\n\nOur Roadmap needs salt.\n",
            "three.md": "Salted Roadmaps, and a great  deal of plans. 弊社の未来計画について。\n",
            "four.md": "`code` and\n\n```\nGreat Plan, Salt\n```\n\n<!-- Salt -->\n",
            "five.py": "# The Great Plan for Salt\n",
            "six.txt": "Salt, on its own.\n",
        },
    )
    assert found == {
        ("one.md", 3, "Great Plan", "plan.md"),
        ("two.md", 4, "Roadmap", "plan.md"),
        ("three.md", 1, "未来計画", "plan.md"),
        ("six.txt", 1, "Salt", "salt.md"),
    }


def test_a_name_of_several_files_or_in_too_many_names_none(tmp_path: Path) -> None:
    notes: dict[str, str | bytes] = {f"{number}.md": f"Note {number} is on the Moon.\n" for number in range(51)}
    names = {
        "moon.md": "# Moon\n",
        "x.md": "# Twin Star\n",
        "y.md": "# Twin Star\n",
        "z.md": "Twin Star, Ab.\n",
        "w.md": "# Ab\n",
    }
    assert mentions(tmp_path / "many", notes | names) == set()
    del notes["50.md"]
    found = mentions(tmp_path / "few", notes | names)
    assert len(found) == 50 and {row[2:] for row in found} == {("Moon", "moon.md")}


def test_a_tag_of_few_files_joins_them(tmp_path: Path) -> None:
    tagged: dict[str, str | bytes] = {
        f"{number}.md": f"---\ntags: [Common]\n---\nNote {number}.\n" for number in range(21)
    }
    tagged |= {"a.md": "---\ntags: [rare, Common]\n---\nA.\n", "b.md": "---\ntags: ['#Rare']\n---\nB.\n"}
    root = corpus(tmp_path, tagged)
    build(root)
    with open_index(index_dir(root, settings_of(root))) as store:
        rows = store.connection.execute(
            "SELECT src_path, dst_path, weight, outward FROM v_edges WHERE kind = 'tag' ORDER BY ALL"
        ).fetchall()
    assert rows == [("a.md", "b.md", 1.0, True), ("b.md", "a.md", 1.0, True)]
