"""After any edits an incremental index is the full one, and the same input gives the same index."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from ragx.errors import ConfigError
from ragx.indexing import run
from tests.corpora import Silent, ask, build, corpus, dump, index_elsewhere, settings_of, write

NAMES = ("a.md", "b.md", "c.txt", "sub/a.md", "sub/d.py", "e.rst")
PARAGRAPHS = (
    "# Backups\n\nEvery night the server copies its disks to the vault.\n",
    "# Restoring\n\nA restored disk is checked against its sums.\n",
    "The vault holds copies of the last thirty nights.\n",
    "## Zonnepanelen\n\nDe offerte voor de panelen is van de buurman en dat is niet duur.\n",
    "def restore(disk):\n    return vault.read(disk)\n",
    "Cats sleep through most of the day.\n",
    "Kittens sleep even more, and dream.\n",
    "# Garden\n\nTomatoes want sun, water and patience.\n",
    "",
    "---\ntags: [disks]\naliases: [Vault]\nrelated: '[[c]]'\n---\n",
    "See [the notes](sub/d.md#backups), [[a]], [c](./c.txt) and [[Garden#Sun|the sun]].\n",
    "from sub import d\nimport sub.d\n",
    "The garden, and Zonnepanelen above it; Restoring takes a day.\n",
)
IGNORED = ("", "*.md\n!a.md\n", "sub/\n", "/e.rst\nother/*\n", "sub/*\n!sub/d.py\n")
SUBCHUNKS = '[graph]\nedge_source = "subchunk"\nsubchunk_size_tokens = 16\nnear_dup_sim = 0.99\n'
SETTINGS = (
    "", "[graph]\nk = 1\n", "[graph]\nk = 2\n[communities]\nresolution = 2.0\n", '[vectors]\nhnsw = "always"\n',
    '[corpus]\ninclude = ["*.md", "*.txt"]\n', '[corpus]\nexclude = ["sub/", "b.*"]\nmax_file_bytes = 150\n',
    "[corpus]\nrespect_gitignore = false\n", "[chunking]\nsize_tokens = 32\n", SUBCHUNKS,
)  # fmt: skip
MOST_EVENTS = 25

contents = st.lists(st.sampled_from(PARAGRAPHS), max_size=4).map("\n".join)
edits = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(NAMES), contents),
    st.tuples(st.just("delete"), st.sampled_from(NAMES), st.just("")),
    st.tuples(st.just("move"), st.sampled_from(NAMES), st.sampled_from(NAMES)),
    st.tuples(st.just("copy"), st.sampled_from(NAMES), st.sampled_from(NAMES)),
    st.tuples(st.just("crlf"), st.sampled_from(NAMES), st.just("")),
    st.tuples(st.just("touch"), st.sampled_from(NAMES), st.just("")),
    st.tuples(st.just("binary"), st.sampled_from(NAMES), st.just("")),
    st.tuples(st.just("chmod"), st.sampled_from(NAMES), st.sampled_from(("600", "755"))),
    st.tuples(st.just("rename folder"), st.just("sub"), st.just("other")),
    st.tuples(st.just("rename folder"), st.just("other"), st.just("sub")),
    st.tuples(st.just("write"), st.just(".gitignore"), st.sampled_from(IGNORED)),
    st.tuples(st.just("write"), st.just("ragx.toml"), st.sampled_from(SETTINGS)),
    st.tuples(st.just("index"), st.just(""), st.just("")),
    st.tuples(st.just("fail"), st.just(""), st.integers(1, MOST_EVENTS).map(str)),
    st.tuples(st.just("fail"), st.just(""), st.integers(1, MOST_EVENTS).map(str)),
)


class Failure(Exception):
    """What ends a run that is to fail."""


class Failing(Silent):
    """Lets a run fail when so many stages have begun or steps been done."""

    def __init__(self, events: int) -> None:
        super().__init__()
        self.events = events

    def stage(self, name: str, total: int | None, unit: str) -> None:
        self.advance(1)

    def advance(self, amount: int) -> None:
        self.events -= 1
        if self.events == 0:
            raise Failure


def bring_up_to_date(root: Path, progress: Silent) -> None:
    """A run, as its user would have it: a full build where the settings ask for one."""
    try:
        run.index(root, settings_of(root), run.Options(), progress)
    except ConfigError:
        run.index(root, settings_of(root), run.Options(full=True, keep_vectors=True), progress)


def apply(root: Path, action: str, name: str, argument: str) -> None:
    path = root / name
    if action == "write":
        write(root, {name: argument})
    elif action == "index":
        bring_up_to_date(root, Silent())
    elif action == "fail":
        with suppress(Failure):
            bring_up_to_date(root, Failing(int(argument)))
    elif action == "rename folder":
        if path.is_dir() and not (root / argument).exists():
            path.rename(root / argument)
    elif not path.is_file():
        return
    elif action == "delete":
        path.unlink()
    elif action == "move":
        (root / argument).parent.mkdir(exist_ok=True)
        path.rename(root / argument)
    elif action == "copy":
        write(root, {argument: path.read_bytes()})
    elif action == "crlf":
        path.write_bytes(path.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
    elif action == "chmod":
        path.chmod(int(argument, 8))
    elif action == "touch":
        os.utime(path, ns=(0, 0))
    elif action == "binary":
        path.write_bytes(b"\0" * 10)


@pytest.mark.parametrize("toml", ["", SUBCHUNKS], ids=["chunk", "subchunk"])
@settings(max_examples=15, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(
    first=st.dictionaries(st.sampled_from(NAMES), contents, min_size=1),
    then=st.lists(edits, max_size=8),
    early_texts=st.sampled_from((1, run.EARLY_TEXTS)),
)
def test_incremental_equals_full(
    first: dict[str, str], then: list[tuple[str, str, str]], early_texts: int, toml: str
) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "EARLY_TEXTS", early_texts)
        files = {"kept.txt": "Without any file there is no index.\n", "ragx.toml": toml, **first}
        root = corpus(Path(folder) / "corpus", files)
        build(root)
        for edit in then:
            apply(root, *edit)
        bring_up_to_date(root, Silent())
        rows, answer = dump(root), ask(root, "how long do cats sleep?")
        assert not build(root).changed
        with index_elsewhere(Path(folder) / "full"):
            build(root, full=True)
            assert dump(root) == rows
            assert ask(root, "how long do cats sleep?") == answer


def test_two_full_builds_are_the_same(tmp_path: Path) -> None:
    root = corpus(tmp_path / "corpus", {f"{number}.md": text * 3 for number, text in enumerate(PARAGRAPHS)})
    with index_elsewhere(tmp_path / "one"):
        build(root)
        first, answer = dump(root), ask(root, "copies of disks")
    with index_elsewhere(tmp_path / "two"):
        build(root, full=True)
        assert dump(root) == first
        assert ask(root, "copies of disks") == answer


def test_moving_reordering_and_line_ends_embed_nothing(tmp_path: Path) -> None:
    root = corpus(tmp_path, {"a.md": "\n".join(PARAGRAPHS[:2]), "b.txt": PARAGRAPHS[2]})
    assert build(root).texts_embedded == 3
    (root / "a.md").rename(root / "moved.md")
    assert build(root).texts_embedded == 0
    write(root, {"moved.md": "\n".join(reversed(PARAGRAPHS[:2]))})
    assert build(root).texts_embedded == 0
    write(root, {"b.txt": PARAGRAPHS[2].replace("\n", "\r\n")})
    assert build(root).texts_embedded == 0


def test_deleting_and_moving_in_a_larger_corpus_embeds_nothing(tmp_path: Path) -> None:
    # The sample of sentences that tells what is relevant moved to other chunks, and with it came work for the model.
    root = corpus(
        tmp_path, {f"{number}.md": f"Note {number} tells of the {number}th night.\n" for number in range(250)}
    )
    build(root)
    for number in range(30):
        (root / f"{number}.md").unlink()
    (root / "sub").mkdir()
    for number in range(30, 60):
        (root / f"{number}.md").rename(root / "sub" / f"{number}.md")
    assert build(root).texts_embedded == 0


def test_one_edited_paragraph_embeds_one_text(tmp_path: Path) -> None:
    root = corpus(tmp_path, {"a.md": "\n".join([*PARAGRAPHS[:2], PARAGRAPHS[7]])})
    build(root)
    write(root, {"a.md": "\n".join([PARAGRAPHS[0], PARAGRAPHS[1] + "Twice.\n", PARAGRAPHS[7]])})
    report = build(root)
    assert (report.texts_embedded, report.texts_reused) == (1, 2)


def test_an_edit_that_keeps_size_and_mtime_is_seen(tmp_path: Path) -> None:
    root = corpus(tmp_path, {"a.md": "cats sleep\n"})
    before = (root / "a.md").stat()
    build(root)
    (root / "a.md").write_text("cats dream\n")
    os.utime(root / "a.md", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert build(root).files.changed == ("a.md",)


def test_ten_copies_of_a_note_do_not_fill_each_others_lists(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {f"copy{number}.md": PARAGRAPHS[5] for number in range(12)}
    files |= {f"other{number}.md": text for number, text in enumerate(PARAGRAPHS[:5])}
    root = corpus(tmp_path, files)
    build(root)
    rows = dump(root)
    texts = {row[0]: row[5] for row in rows["chunks"]}
    first = min(chunk for chunk, text in texts.items() if "Cats" in text)
    neighbors = {texts[dst] for src, dst, _, weight, _ in rows["edges"] if src == first and "Cats" not in texts[dst]}
    assert len(neighbors) == 5


def test_a_community_is_named_by_words_as_its_texts_spell_them_now(tmp_path: Path) -> None:
    # The keyword index keeps a spelling that is gone as long as its term is there.
    root = corpus(tmp_path, {"a.md": "Kitten sleep.\n", "b.md": "A kitten dreams.\n"})
    build(root)
    write(root, {"a.md": "Kittens sleep.\n", "b.md": "Kittens dream.\n"})
    build(root)
    ((_, size, name, *_),) = dump(root)["community_labels"]
    assert size == 2
    assert "kittens" in name.split(", ") and "kitten" not in name.split(", ")


def test_the_hash_of_a_community_tells_whether_its_texts_are_the_same(tmp_path: Path) -> None:
    root = corpus(tmp_path, {"a.md": PARAGRAPHS[5], "b.md": PARAGRAPHS[6]})
    build(root)
    before = dump(root)["community_labels"][0][-1]
    (root / "a.md").rename(root / "moved.md")
    build(root)
    assert dump(root)["community_labels"][0][-1] == before
    write(root, {"b.md": PARAGRAPHS[6] + "Twice.\n"})
    build(root)
    assert dump(root)["community_labels"][0][-1] != before
