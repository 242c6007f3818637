"""Inputs that broke tools of this kind: `python -m tests.cases DIR` writes them all, to be tried by hand."""

import os
import shutil
import subprocess
import sys
import unicodedata
from pathlib import Path

from tests.corpora import write

FRONT = "---\ntitle: {title}\n---\n\n# Heading\n\n{body}\n"
TABLE = "| number | ship |\n|---|---|\n" + "".join(f"| {row} | ship of row {row} |\n" for row in range(2000))

FILES: dict[str, bytes] = {
    "empty.md": b"",
    "mark only.md": b"\xef\xbb\xbf",
    "blank.md": b" \n\t\r\n",
    "marked.md": b"\xef\xbb\xbf" + FRONT.format(title="Marked", body="The marmot sleeps.").encode(),
    "utf16 le.md": "\ufeff# Wide\n\nThe walrus swims 😀.\n".encode("utf-16-le"),
    "utf16 be.md": "\ufeff# Wide\r\n\r\nThe wombat digs.\r\n".encode("utf-16-be"),
    "latin.md": "# Straße\n\nDer Dachs gräbt Höhlen für den Frühling.\n".encode("latin-1"),
    "one bad byte.md": b"# Caf\xc3\xa9\n\nThe badger \xff digs in the na\xc3\xafve caf\xc3\xa9.\n",
    "nul late.md": b"The narwhal dives. " * 500 + b"\0 and comes up again.\n",
    "cr.md": b"# Old Mac\r\rThe crane flies.\r",
    "crlf.md": b"# DOS\r\n\r\nThe cobra sleeps.\r\n",
    "mixed ends.md": b"# All\r\n\rThe macaw calls.\n\r\nThen it is quiet.\r",
    "no end.md": b"# End\n\nThe newt hides.",
    "fence open.md": b"# Real\n\n```sh\n# not a heading: ferret\necho\n",
    "fences nested.md": b"# Outer\n\n````md\n```sh\n# not one: gecko\n```\n# nor this\n````\n\n"
    b"## Inner\n\nThe gibbon sings.\n",
    "setext.md": b"Above\n=====\n\nThe stork nests.\n\nBelow\n-----\n\nThe swan glides.\n",
    "seven.md": b"# One\n\n####### seven hashes make no heading, said the lemur\n",
    "rule first.md": b"---\n\n# Rule\n\nThe raven steals.\n",
    "bad yaml.md": b"---\ntitle: [unclosed\n  : - ? {\n---\n\n# Still\n\nThe yak climbs.\n",
    "colon title.md": FRONT.format(title="Ships: a history: of sorts", body="The clam shuts.").encode(),
    "date title.md": FRONT.format(title="2026-03-31", body="The dingo howls.").encode(),
    "front only.md": b"---\ntitle: Only front matter, and an okapi\n---",
    "crlf front.md": FRONT.format(title="Carriage", body="The lynx waits.").replace("\n", "\r\n").encode(),
    "url.md": b"https://example.com/heron?page=1 is where the heron was seen.\n",
    "magic.md": b"%PDF-1.7 is how such a file begins, said the panda.\n",
    "gif.txt": b"GIF89a is no picture here, said the gnu.\n",
    "zip.txt": b"PK says the parrot, and no archive follows.\n",
    "special.md": b"# Tokens\n\nThe <|endoftext|> sign, [SEP], [MASK], [CLS], </s> and <unk> are text to a tapir.\n",
    "emoji.md": ("# Emoji\n\n" + "👩\u200d👩\u200d👧\u200d👦" * 1200 + " penguin\n").encode(),
    "combining.md": ("# Marks\n\n" + "e\u0301\u0323" * 3000 + " puffin\n").encode(),
    "twin a.md": b"# Twin\n\nThe toad waits under the stone for the rain.\n",
    "twin b.md": b"# Twin\n\nThe toad waits under the stone for the rain.\n",
}
"""What a file may hold. Each that can be found holds the name of an animal that no other file has."""

LARGE: dict[str, bytes] = {
    "minified.json": b"[" + b",".join(b'{"id":%d,"name":"item %d"}' % (i, i) for i in range(150_000)) + b"]",
    "one line.txt": b"the quick brown fox jumps over the lazy dog " * 25_000,
    "no space.txt": b"abcdefghij" * 20_000,
    "function.py": b"def f(x):\n" + b"    x = x + 1  # and so on, for many lines\n" * 6700 + b"    return x\n",
    "table.md": b"# Ships\n\n" + TABLE.encode(),
    "binary late.txt": b"x" * 3_000_000 + b"\0",
    "deep.json": b"[" * 60_000 + b"]" * 60_000,
}
"""More than a model reads at once, up to five megabytes on a line."""

NAMES: tuple[str, ...] = (
    "with space.md", "quo'te \".md", "[brackets].md", "hash#1.md", "per%20cent.md", "{braces}.md", "new\nline.md",
    "-rf.md", "a" * 252 + ".md", unicodedata.normalize("NFC", "café.md"), unicodedata.normalize("NFD", "café.md"),
    "case.md", "CASE.md", "a_b.md", "a-b.md", "a b.md", "aXb.md", "100%.md", "100x.md", "notes/in.md",
    "notes-old/out.md", "notes.md", "back\\slash.md", "star*.md", "tab\there.md", "semi;colon.md", "$HOME.md", "~.md",
)  # fmt: skip
"""What a file may be called on Linux. Each holds its own number as a word: see `numbered`."""

QUERIES: tuple[str, ...] = (
    "snake_case_name", "camelCaseName", "v2.10.3", "2026-03-31", "C++", ".env", "::", "std::vector", "foo:bar", "AND",
    "OR NOT", "100 %", "_", "猫", "検索", "機械学習", "Привет", "функция", "Pythonで書く", "한국어", "'unbalanced",
    '"open quote', "'; DROP TABLE files; --", "-leading", "--no-graph", "http.sslVerify", "@decorator", "#hashtag",
    "a/b/c.py", "🎉", "\\d+\\s*", "<script>alert(1)</script>", "${PATH}", "NULL", "NaN", "l'été", "C#", "&&", "!=",
)  # fmt: skip
"""What people type. Each stands in one note of `asked`."""

WORDS_ALONE = {"vector": False, "graph": False, "rerank": False}
"""The options of a query that leave only the keyword leg."""

NOTHING: tuple[str, ...] = ("%", "?!", "...", "---", "(((", "_ _", "\u200b", "*", "\x00", "\ufffd")
"""Questions without a word."""


def numbered() -> dict[str, bytes]:
    """The files of `NAMES`, the first with the word `number0`."""
    return {name: f"# File\n\nThis is number{i} of them.\n".encode() for i, name in enumerate(NAMES)}


def asked() -> dict[str, bytes]:
    """A note for each of `QUERIES`, called by its place."""
    return {
        f"{i:02}.md": f"# Log {i}\n\nOn that day the log said {query} and then no more.\n".encode()
        for i, query in enumerate(QUERIES)
    }


def alike() -> dict[str, bytes]:
    """Notes that differ in their numbers alone."""
    return {
        f"{day}.md": f"# Day {day}\n\nLog of day {day}: all well on board, wind of {day % 9} knots.\n".encode()
        for day in range(1, 301)
    }


def grow_tree(root: Path) -> None:
    """Links, pipes, rights and ignore files; what may be indexed has `seen` in its name, and no other."""
    write(
        root,
        {
            "seen.md": "seen",
            ".gitignore": "*.log.md\n!seen.log.md\nhuge/\n/anchored.md\nfolder-or-file/\n",
            "seen.log.md": "negated",
            "ignored.log.md": "ignored",
            "anchored.md": "ignored at the root",
            "below/anchored-seen.md": "seen",
            "below/.gitignore": "*.txt\n!seen.txt\n",
            "below/other.txt": "ignored",
            "below/seen.txt": "seen",
            "folder-or-file/in.md": "ignored",
            "excluded.md": "ignored by .git/info/exclude",
            "nested/seen.md": "of a repository in the repository",
            "nested/.gitignore": "private.md\n",
            "nested/private.md": "ignored there",
            "locked/inside.md": "its folder cannot be listed",
            "unreadable-seen.md": "cannot be opened",
            "../outside.md": "outside of the root",
            "../outside/far.md": "outside of the root",
        },
    )
    for i in range(3000):
        write(root, {f"huge/{i % 50}/{i}.md": "ignored"})
    for folder in (root, root / "nested"):
        subprocess.run(["git", "init", "-q", str(folder)], check=True)
    write(root, {".git/info/exclude": "excluded.md\n"})
    os.symlink("seen.md", root / "link.md")
    os.symlink("below", root / "linked")
    os.symlink("../outside.md", root / "out.md")
    os.symlink("../outside", root / "out")
    os.symlink(".", root / "loop")
    os.symlink("nowhere.md", root / "dangling.md")
    os.mkfifo(root / "pipe.md")
    (root / "unreadable-seen.md").chmod(0)
    (root / "locked").chmod(0)


def spoil(published: Path, folder: Path) -> None:
    """Copies of an index in each state that no reader should trust."""
    whole = published.read_bytes()
    states = {
        "zero": b"",
        "truncated": whole[: len(whole) // 2],
        "header": whole[:4096],
        "foreign": b"SQLite format 3\0",
    }
    for state, data in states.items():
        write(folder, {f"{state}/index.duckdb": data})
    write(folder, {"stale log/index.duckdb": whole, "stale log/index.duckdb.wal": whole[: len(whole) // 3]})


def main(folder: Path) -> None:
    """Writes a corpus a section; with an index in `files`, also the spoilt copies of it."""
    groups = {"files": FILES, "large": LARGE, "alike": alike(), "names": numbered(), "queries": asked()}
    for name, files in groups.items():
        write(folder / name, {"ragx.toml": "", **files})
    if not (folder / "trees").exists():
        grow_tree(folder / "trees" / "root")
        write(folder / "trees" / "root", {"ragx.toml": ""})
    published = folder / "files" / ".ragx" / "index.duckdb"
    if published.exists():
        shutil.rmtree(folder / "indexes", ignore_errors=True)
        spoil(published, folder / "indexes")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
