"""Stale is what has other bytes than the index says, and a context is the lines on disk or nothing."""

import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragx.files import content_hash, stat_of
from ragx.search.freshness import Files, compare
from ragx.store import Store, create_building
from ragx.types import Answer, Context, FileHit, Hit, Lines, Parts

NOTE = "# Bees\n\nA hive swarms in May.\n\n# Sheep\n\nShorn in June.\n"
NO_PARTS = Parts(None, None, None, None, 0.0, None, None, None, None, None)


class Corpus:
    """A folder and an index that knows its files."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "corpus"
        self.root.mkdir()
        self.store: Store = create_building(folder / "index.duckdb", 3)
        self.files = Files(self.store, self.root, time.time_ns(), 1000)

    def write(self, path: str, data: bytes) -> None:
        """A file that is indexed as it is."""
        (self.root / path).write_bytes(data)
        stat = stat_of(self.root, path)
        self.store.connection.execute("DELETE FROM files WHERE path = $1", [path])
        self.store.connection.execute(
            "INSERT INTO files VALUES (1, '', $1, $2, $3, $4, $5, $6, '', '', '', '', '', [])",
            [path, stat.size, stat.mtime_ns, stat.ctime_ns, stat.inode, content_hash(data)],
        )

    def see(self, hit: Hit, before: int = 0, after: int = 0) -> Hit:
        found = compare(answer(hit), self.files, 8, before, after)
        assert found.files[0].stale == found.hits[0].stale
        return found.hits[0]


def answer(*hits: Hit) -> Answer:
    files = tuple(FileHit(hit.file, 1.0, (hit.chunk_id,)) for hit in hits)
    return Answer("query", hits, files, (), {}, True, frozenset())


def hit_on(lines: list[str], first: int, last: int, *, skip: int = 0, codec: str = "utf-8", mark: bytes = b"") -> Hit:
    """The hit on lines `first` to `last` of a file but for the first `skip` characters."""
    before, text = "".join(lines[: first - 1]), "".join(lines[first - 1 : last])
    start = len(mark) + len((before + text[:skip]).encode(codec))
    end = start + len(text[skip:].encode(codec))
    return Hit(1, "a.md", 1.0, NO_PARTS, "section", (), "en", start, end, first, last, text[skip:])


@pytest.fixture
def corpus(tmp_path: Path) -> Iterator[Corpus]:
    corpus = Corpus(tmp_path)
    corpus.write("a.md", NOTE.encode())
    yield corpus
    corpus.store.close()


LINES = NOTE.splitlines(keepends=True)
BEES, SHEEP = hit_on(LINES, 1, 3), hit_on(LINES, 5, 7)


def test_what_touch_chmod_and_a_checkout_of_the_same_bytes_do_is_not_stale(corpus: Corpus) -> None:
    note = corpus.root / "a.md"
    os.utime(note, ns=(0, 0))
    assert not corpus.see(SHEEP).stale
    note.chmod(0o640)
    assert not corpus.see(SHEEP).stale
    note.unlink()
    note.write_bytes(NOTE.encode())
    assert not corpus.see(SHEEP).stale
    assert not corpus.see(SHEEP, 1, 1).stale


@pytest.mark.parametrize("lines", [0, 2])
def test_an_edit_is_stale_even_of_the_same_size_and_time(corpus: Corpus, lines: int) -> None:
    note = corpus.root / "a.md"
    before = note.stat()
    note.write_bytes(NOTE.replace("June", "July").encode())
    os.utime(note, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert corpus.see(SHEEP, lines, lines).stale
    note.write_bytes(NOTE.encode() + b"More.\n")
    assert corpus.see(SHEEP, lines, lines).stale


def test_an_edit_in_the_tick_of_the_scan_is_stale(corpus: Corpus) -> None:
    note = corpus.root / "a.md"
    note.write_bytes(NOTE.replace("June", "July").encode())
    now = stat_of(corpus.root, "a.md")
    corpus.store.connection.execute("UPDATE files SET mtime_ns = $1, ctime_ns = $2", [now.mtime_ns, now.ctime_ns])
    assert corpus.see(SHEEP).stale
    corpus.files = replace(corpus.files, scanned_ns=now.ctime_ns + 10**10)
    assert not corpus.see(SHEEP).stale, "it was read although its stat says that nothing happened"


@pytest.mark.parametrize("lines", [0, 2])
@pytest.mark.parametrize("end", ["vanished", "folder", "link", "parent"])
def test_a_file_that_is_gone_or_no_file_any_more_is_stale(corpus: Corpus, end: str, lines: int) -> None:
    (corpus.root / "sub").mkdir()
    corpus.write("sub/b.md", NOTE.encode())
    note = corpus.root / "sub" / "b.md"
    if end == "parent":
        note.parent.rename(corpus.root / "other")
        note.parent.symlink_to(corpus.root / "other")
    else:
        note.unlink()
    if end == "folder":
        note.mkdir()
    elif end == "link":
        note.symlink_to(corpus.root / "a.md")
    found = corpus.see(replace(SHEEP, file="sub/b.md"), lines, lines)
    assert found.stale
    assert found.context == (Context(None, None) if lines else None)


def test_files_beyond_the_best_are_not_looked_at(corpus: Corpus) -> None:
    corpus.write("b.md", NOTE.encode())
    (corpus.root / "b.md").unlink()
    both = answer(SHEEP, replace(SHEEP, file="b.md"))
    found = compare(replace(both, hits=both.hits[:1]), corpus.files, 1, 0, 0)
    assert [file.stale for file in found.files] == [False, None]


def test_the_context_ends_where_the_file_does(corpus: Corpus) -> None:
    assert corpus.see(SHEEP, 2, 2).context == Context(Lines(3, 4, "A hive swarms in May.\n\n"), None)
    assert corpus.see(BEES, 9, 2).context == Context(None, Lines(4, 5, "\n# Sheep\n"))
    assert corpus.see(SHEEP, 200, 0).context == Context(Lines(1, 4, "# Bees\n\nA hive swarms in May.\n\n"), None)
    assert corpus.see(BEES, 0, 200).context == Context(None, Lines(4, 7, "\n# Sheep\n\nShorn in June.\n"))
    assert corpus.see(BEES).context is None


def test_a_chunk_that_moved_has_no_lines_around_it(corpus: Corpus) -> None:
    note = corpus.root / "a.md"
    for moved in ("One more line.\n" + NOTE, NOTE.replace("hive", "colony"), NOTE[:20], ""):
        note.write_bytes(moved.encode())
        found = corpus.see(SHEEP, 2, 2)
        assert (found.stale, found.context) == (True, Context(None, None))
    note.write_bytes(b"\0" + NOTE.encode())
    assert corpus.see(SHEEP, 2, 2).context == Context(None, None)


def test_a_chunk_at_the_same_bytes_in_another_line_has_no_lines_around_it(corpus: Corpus) -> None:
    (corpus.root / "a.md").write_bytes(NOTE.replace("A hive", "A\nhive").encode())
    found = corpus.see(SHEEP, 2, 2)
    assert (found.stale, found.context) == (True, Context(None, None))


def test_a_chunk_before_the_edit_keeps_its_context_as_it_is_now(corpus: Corpus) -> None:
    (corpus.root / "a.md").write_bytes(NOTE.replace("# Sheep", "# Goats and sheep").encode())
    found = corpus.see(BEES, 0, 2)
    assert (found.stale, found.context) == (True, Context(None, Lines(4, 5, "\n# Goats and sheep\n")))


def test_a_file_that_grew_beyond_the_limit_is_not_read(corpus: Corpus) -> None:
    (corpus.root / "a.md").write_bytes(NOTE.encode() + b"x" * 1000)
    found = corpus.see(BEES, 0, 2)
    assert (found.stale, found.context) == (True, Context(None, None))


ENDS = (("\n", "\r\n"), ("\r",))
ENCODINGS = (("utf-8", b""), ("utf-8", b"\xef\xbb\xbf"), ("utf-16-le", b"\xff\xfe"), ("utf-16-be", b"\xfe\xff"))


@st.composite
def files(draw: st.DrawFn) -> tuple[list[str], int, int, int]:
    """The lines of a file, the first and the last of a chunk, and how many characters of the first it leaves out."""
    line = st.tuples(st.text("ab é\u2028\x0b日👍", max_size=5), st.sampled_from(draw(st.sampled_from(ENDS))))
    lines = draw(st.lists(line.map("".join), min_size=1, max_size=8))
    if draw(st.booleans()):
        lines[-1] = lines[-1].rstrip("\r\n") + "end"
    first = draw(st.integers(1, len(lines)))
    last = draw(st.integers(first, len(lines)))
    return lines, first, last, draw(st.integers(0, len(lines[first - 1].rstrip("\r\n"))))


@settings(max_examples=100)
@given(files(), st.sampled_from(ENCODINGS), st.integers(0, 3), st.integers(0, 3))
def test_the_context_is_whole_lines_in_every_encoding_and_with_every_line_end(
    file: tuple[list[str], int, int, int], encoding: tuple[str, bytes], before: int, after: int
) -> None:
    lines, first, last, skip = file
    codec, mark = encoding
    with tempfile.TemporaryDirectory() as folder:
        corpus = Corpus(Path(folder))
        corpus.write("a.md", mark + "".join(lines).encode(codec))
        found = corpus.see(hit_on(lines, first, last, skip=skip, codec=codec, mark=mark), before, after)
        corpus.store.close()
    above, below = lines[max(0, first - 1 - before) : first - 1], lines[last : last + after]
    expected = Context(
        Lines(first - len(above), first - 1, "".join(above)) if above else None,
        Lines(last + 1, last + len(below), "".join(below)) if below else None,
    )
    assert (found.stale, found.context) == (False, expected if before or after else None)


def test_the_second_of_two_equal_chunks_in_one_line_has_its_context(corpus: Corpus) -> None:
    lines = ["é one\n", "same same\n", "three\n"]
    corpus.write("a.md", "".join(lines).encode())
    found = corpus.see(replace(hit_on(lines, 2, 2, skip=5), text="same\n"), 1, 1)
    assert found.context == Context(Lines(1, 1, "é one\n"), Lines(3, 3, "three\n"))


def test_bytes_that_are_no_utf_8_do_not_shift_the_lines(corpus: Corpus) -> None:
    corpus.write("a.md", b"caf\xe9\nsecond\nthird\n")
    hit = replace(SHEEP, line_start=2, line_end=2, byte_start=5, byte_end=12, text="second\n")
    assert corpus.see(hit, 1, 1).context == Context(Lines(1, 1, "café\n"), Lines(3, 3, "third\n"))
