"""Files of every kind are indexed by their readable text, and their rows lead back to the bytes of the file."""

import json
from pathlib import Path

from ragx.chunking import READERS
from ragx.config import index_dir
from ragx.files.kinds import MARKUP_KINDS
from ragx.store import open_index
from tests.corpora import ask, build, corpus, settings_of

TEXT = "The quick brown fox jumps over the lazy dog & sleeps."
FILES: dict[str, str | bytes] = {
    "plain.txt": TEXT,
    "page.html": f"<html><script>var zebra;</script><p class='walrus'>{TEXT.replace('&', '&amp;')}</p></html>",
    "book.ipynb": json.dumps(
        {"cells": [{"cell_type": "markdown", "outputs": ["zebra"], "source": ["# Foxes\n", TEXT]}]}, indent=1
    ),
    "app.py": "class Heron:\n" + "".join(f"    def wade{n}(self):\n" + "        x = 1\n" * 12 for n in range(6)),
    "data.yaml": "otter:\n  holt: river\n",
}


def test_what_is_markup_has_a_reader() -> None:
    assert READERS.keys() == MARKUP_KINDS


def test_a_page_a_notebook_and_a_text_are_embedded_alike(tmp_path: Path) -> None:
    root = corpus(tmp_path, FILES)
    build(root)
    with open_index(index_dir(root, settings_of(root))) as store:
        rows = store.connection.execute(
            "SELECT path, c.text, c.byte_start, c.byte_end, c.line_start, c.headings, c.embedding_id, c.language"
            " FROM chunks c JOIN files f ON f.id = c.file_id ORDER BY path, ordinal"
        ).fetchall()
        terms = {row[0] for row in store.connection.execute("SELECT term FROM terms").fetchall()}
    for path, text, start, end, line, *_ in rows:
        data = (root / path).read_bytes()
        assert data[start:end].decode() == text
        assert data[:start].count(b"\n") + 1 == line
    by_path = {row[0]: row for row in rows}
    assert by_path["plain.txt"][6] == by_path["page.html"][6]
    assert by_path["page.html"][1] == TEXT.replace("&", "&amp;")
    assert by_path["book.ipynb"][5] == ["Foxes"] and "\\n" in by_path["book.ipynb"][1]
    assert {by_path[path][7] for path in ("plain.txt", "page.html", "book.ipynb")} == {"en"}
    assert "fox" in terms and "otter" in terms
    assert not {"zebra", "walrus", "amp", "nthe", "cell_type"} & terms
    assert [row[5] for row in rows if row[0] == "app.py"] == [["Heron", f"wade{n}"] for n in range(6)]
    page = ask(root, "brown fox")
    assert {hit.shown.removeprefix("# Foxes\n") for hit in page.hits if hit.file != "app.py"} >= {TEXT}
    assert page.hits[0].text != page.hits[0].shown or page.hits[0].file == "plain.txt"
    best = ask(root, "wade3").hits[0]
    assert (best.file, best.headings) == ("app.py", ("Heron", "wade3"))
