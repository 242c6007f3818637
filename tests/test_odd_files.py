"""The program on odd files, names and trees: what is indexed, under which lines and headings, and how it is found."""

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragx.search import Options, Searcher
from tests import unprivileged
from tests.cases import FILES, LARGE, NAMES, WORDS_ALONE, alike, grow_tree, numbered, spoil
from tests.corpora import build, corpus, searcher_of, write
from tests.misbehaving import MODEL, Server
from tests.rendered import valid
from tests.test_cli_query import Corpus

linux = pytest.mark.skipif(sys.platform != "linux", reason="other file systems fold or refuse such names")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    made = Corpus(tmp_path_factory.mktemp("files"))
    write(made.root, {"ragx.toml": "", **FILES})
    report = made.json("index")[1]
    assert report["files_added"] == len(FILES) - 1 and report["skipped"]["binary"] == 1
    assert report["warnings"] == [
        "latin.md: read as Latin-1: 5 bytes are not UTF-8, the first in line 1",
        "one bad byte.md: read as Latin-1: 1 byte is not UTF-8, the first in line 3",
    ]
    return made


@pytest.fixture(scope="module")
def on_files(files: Corpus) -> Iterator[Searcher]:
    yield from searcher_of(files.root)


@pytest.mark.parametrize(
    ("animal", "path", "lines", "headings"),
    [
        ("marmot", "marked.md", (5, 7), ("Heading",)),
        ("walrus", "utf16 le.md", (1, 3), ("Wide",)),
        ("wombat", "utf16 be.md", (1, 3), ("Wide",)),
        ("Dachs", "latin.md", (1, 3), ("Straße",)),
        ("badger", "one bad byte.md", (1, 3), ("Café",)),
        ("crane", "cr.md", (1, 3), ("Old Mac",)),
        ("cobra", "crlf.md", (1, 3), ("DOS",)),
        ("macaw", "mixed ends.md", (1, 5), ("All",)),
        ("newt", "no end.md", (1, 3), ("End",)),
        ("ferret", "fence open.md", (1, 5), ("Real",)),
        ("gecko", "fences nested.md", (1, 8), ("Outer",)),
        ("gibbon", "fences nested.md", (10, 12), ("Outer", "Inner")),
        ("stork", "setext.md", (1, 4), ("Above",)),
        ("swan", "setext.md", (6, 9), ("Above", "Below")),
        ("lemur", "seven.md", (1, 3), ("One",)),
        ("raven", "rule first.md", (1, 5), ("Rule",)),
        ("yak", "bad yaml.md", (6, 8), ("Still",)),
        ("clam", "colon title.md", (5, 7), ("Heading",)),
        ("dingo", "date title.md", (5, 7), ("Heading",)),
        ("okapi", "front only.md", (1, 3), ()),
        ("lynx", "crlf front.md", (5, 7), ("Heading",)),
        ("heron", "url.md", (1, 1), ()),
        ("panda", "magic.md", (1, 1), ()),
        ("gnu", "gif.txt", (1, 1), ()),
        ("parrot", "zip.txt", (1, 1), ()),
        ("tapir", "special.md", (1, 3), ("Tokens",)),
        ("endoftext", "special.md", (1, 3), ("Tokens",)),
        ("penguin", "emoji.md", (3, 3), ("Emoji",)),
        ("puffin", "combining.md", (3, 3), ("Marks",)),
    ],
)
def test_what_an_odd_file_says_is_found_in_its_lines_under_its_headings(
    on_files: Searcher, animal: str, path: str, lines: tuple[int, int], headings: tuple[str, ...]
) -> None:
    hit = on_files.search(animal, Options(top=1)).hits[0]
    assert (hit.file, (hit.line_start, hit.line_end), hit.headings) == (path, lines, headings)
    encoding = {"utf16 le.md": "utf-16-le", "utf16 be.md": "utf-16-be"}.get(path, "utf-8")
    assert animal in FILES[path][hit.byte_start : hit.byte_end].decode(encoding, "replace")


def test_two_identical_files_are_both_named(on_files: Searcher) -> None:
    found = on_files.search("toad under the stone", Options())
    assert [file.file for file in found.files[:2]] == ["twin a.md", "twin b.md"]
    assert found.hits[0].file == "twin a.md"


def test_titles_are_the_text_that_was_written(on_files: Searcher) -> None:
    titles = dict(on_files.store.connection.execute("SELECT path, title FROM files").fetchall())
    expected = {
        "date title.md": "2026-03-31",
        "colon title.md": "Ships: a history: of sorts",
        "crlf front.md": "Carriage",
    }
    assert titles | expected == titles


def test_a_chunk_begins_with_a_whole_emoji(on_files: Searcher) -> None:
    starts = on_files.store.connection.execute(
        "SELECT path, byte_start FROM v_chunks WHERE path IN ('emoji.md', 'combining.md')"
    ).fetchall()
    sizes = {
        "emoji.md": (len("# Emoji\n\n"), len("👩\u200d👩\u200d👧\u200d👦".encode())),
        "combining.md": (len("# Marks\n\n"), 5),
    }
    assert len(starts) == 4
    for path, start in starts:
        head, size = sizes[path]
        assert start == 0 or (start - head) % size == 0


def test_nothing_is_too_large_to_be_cut_for_the_model(tmp_path: Path) -> None:
    with Server() as server:
        root = corpus(tmp_path, LARGE | {"ragx.toml": (
            f'[corpus]\nmax_file_bytes = 10_000_000\nmax_data_bytes = 10_000_000\n[embeddings]\nprovider = "openai"\n'
            f'model = "{MODEL}"\nbase_url = "{server.url}"\nbatch_size = 256\n'
        ).encode()})  # fmt: skip
        began = time.monotonic()
        build(root)
        assert time.monotonic() - began < 120
        assert max(len(text.encode()) for request in server.requests for text in request.texts) < 4000
    for searcher in searcher_of(root):
        rows = searcher.store.connection.execute(
            "SELECT path, max(byte_end), max(token_count) FROM v_chunks GROUP BY path ORDER BY path"
        ).fetchall()
    text = {path: data.rstrip() for path, data in LARGE.items() if b"\0" not in data}
    assert {path: end for path, end, _ in rows} == {path: len(data) for path, data in text.items()}
    assert all(tokens <= 800 for _, _, tokens in rows)


def test_one_of_three_hundred_notes_that_are_much_alike_is_found(tmp_path: Path) -> None:
    root = corpus(tmp_path, alike())
    build(root)
    for searcher in searcher_of(root):
        for day in (7, 64, 217):
            for stages in (WORDS_ALONE, {"rerank": False}):
                answer = searcher.search(f"what was logged on day {day}?", Options(top=1, **stages))
                assert (answer.relevant, answer.hits[0].file) == (True, f"{day}.md")


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    made = Corpus(tmp_path_factory.mktemp("names"))
    write(made.root, {"ragx.toml": "", **numbered()})
    assert made.json("index")[1]["files_added"] == len(NAMES)
    return made


@linux
def test_a_path_filter_takes_any_name_as_it_is(names: Corpus) -> None:
    for searcher in searcher_of(names.root):
        for number, name in enumerate(NAMES):
            answer = searcher.search("number of them", Options(top=50, rerank=False, paths=(name,)))
            assert [file.file for file in answer.files] == [name]
            answer = searcher.search(f"number{number}", Options(top=50, rerank=False))
            assert answer.files[0].file == name
        answer = searcher.search("number of them", Options(top=50, rerank=False, paths=("notes",)))
        assert [file.file for file in answer.files] == ["notes/in.md"]


@linux
@pytest.mark.parametrize("name", ["-rf.md", "new\nline.md", "[brackets].md", "100%.md", "back\\slash.md", "a b.md"])
def test_the_command_line_names_a_file_as_the_tree_does(names: Corpus, name: str) -> None:
    found = names.json("query", "number of them", "--path", name)[1]
    assert [hit["file"] for hit in found["results"]] == [name]
    code, out, _ = names.ragx("inspect", "file", "--json", "--", name)
    assert (code, valid(json.loads(out))["path"]) == (0, name)


@linux
def test_links_pipes_rights_and_ignore_files_decide_what_is_seen(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write(root, {"ragx.toml": ""})
    grow_tree(root)
    program = "import sys; from ragx.cli import run; sys.exit(run(sys.argv[1:]))"
    done = unprivileged.run(program, "index", "--json", "-v", "-C", root)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    report = json.loads(done.stdout)
    assert report["skipped"] == {
        "hidden": 5, "ignored by git": 7, "belongs to ragx": 2, "unreadable": 2, "no regular file": 1,
        "symbolic link out of the corpus": 2, "symbolic link to a file or folder inside the corpus": 2,
        "symbolic link in a loop": 1, "symbolic link to nothing": 1,
    }  # fmt: skip
    for searcher in searcher_of(root):
        seen = searcher.store.connection.execute("SELECT path FROM files ORDER BY path").fetchall()
    assert [path for (path,) in seen] == [
        "below/anchored-seen.md", "below/seen.txt", "nested/seen.md", "seen.log.md", "seen.md"
    ]  # fmt: skip


@linux
def test_what_only_moves_is_found_in_its_new_place_and_embeds_nothing(tmp_path: Path) -> None:
    notes: dict[str, str | bytes] = {
        "old/a.md": "Bees swarm in May.\n",
        "note.md": "Snow closes the pass.\n",
        "b.md": "Salt.\n",
    }
    root = corpus(tmp_path, notes)
    build(root)
    (root / "old").rename(root / "new")
    (root / "note.md").rename(root / "NOTE.md")
    os.utime(root / "b.md", ns=(0, 0))
    report = build(root)
    assert report.texts_embedded == 0
    assert (report.files.added, report.files.removed) == (("NOTE.md", "new/a.md"), ("note.md", "old/a.md"))
    os.utime(root / "b.md", ns=(2**32 * 10**9, 2**32 * 10**9))
    report = build(root)
    assert not (report.files.added or report.files.changed or report.files.removed)
    for searcher in searcher_of(root):
        answer = searcher.search("bees in May", Options(top=1))
        assert [(hit.file, hit.stale) for hit in answer.hits] == [("new/a.md", False)]


def test_a_spoilt_index_is_one_line_that_names_the_remedy(files: Corpus, tmp_path: Path) -> None:
    spoil(files.root / ".ragx" / "index.duckdb", tmp_path)
    states = sorted(path.name for path in tmp_path.iterdir())
    assert states == ["foreign", "header", "stale log", "truncated", "zero"]
    for state in states:
        code, out, err = files.ragx("query", "marmot", env=files.env | {"RAGX_DIR": str(tmp_path / state)})
        remedy = "ragx index" if state == "stale log" else "ragx index --full"
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.endswith(f"; run: {remedy}\n")
