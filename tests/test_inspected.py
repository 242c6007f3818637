"""What `inspect` and `similar` print: golden files, schemas, and names that would drive a terminal."""

import json
from dataclasses import replace
from typing import Any

import pytest

from ragx.inspection import Community, Edge, End, Entry, FileLinks, FileView, GraphPath, Likeness, Link, Pair, Target
from ragx.render import inspected as text
from ragx.render import inspection_documents as documents
from ragx.render.terminal import View
from tests.rendered import HASH, RESTORE, golden, valid

RESTORED = Entry(
    chunk_id=5233657954427259,
    file="docs/backup guide.md",
    ordinal=2,
    kind="section",
    headings=("Operations", "Restore"),
    language="en",
    byte_start=120,
    byte_end=481,
    line_start=12,
    line_end=19,
    token_count=98,
    community=0,
    text=RESTORE,
)
VAULT = replace(
    RESTORED,
    chunk_id=8051341570342942,
    file="src/vault.py",
    ordinal=0,
    kind="code",
    headings=(),
    language="",
    line_start=1,
    line_end=2,
    byte_start=0,
    byte_end=60,
    token_count=1,
    community=None,
    text="\nclass Vault:\n\tdoor = 1 \x1b[2J\n",
)
EVIL = replace(VAULT, chunk_id=3, file="notes/two\nlines \x1b[2J.md", headings=("\x1b]0;title\x07" + "x" * 80,))
EDGES = (Edge(VAULT, "link", 1, True), Edge(VAULT, "similar", 0.8312345678, True), Edge(EVIL, "link", 1, False))
FILE = FileView(
    path="docs/backup guide.md",
    size=48122,
    content_hash="99aa06d3014798d86001c324468d497f",
    kind="markdown",
    language="en",
    title="Backups",
    encoding="utf-8",
    skipped="",
    chunks=(replace(RESTORED, ordinal=0), RESTORED),
)
BACKUP = ("backup", "restore", "dump", "night")
COMMUNITIES = (
    Community(
        0,
        1204,
        "backup, restore, dump",
        "Backups \x1b[2J",
        "How dumps are made.",
        BACKUP,
        RESTORED,
        HASH,
        6,
        (("docs/backup guide.md", 700), (VAULT.file, 3)),
    ),
    Community(1, 1, "", "", "", (), EVIL, HASH, 1, ((EVIL.file, 1),)),
)
WAY = GraphPath(0.665, RESTORED, (Edge(VAULT, "similar", 0.665, True), EDGES[0], EDGES[2]))
LINKS = FileLinks(
    RESTORED.file,
    (
        Link(RESTORED.file, 1, 17, "tag", "disks", "", False, None),
        Link(RESTORED.file, 14, 17, "link", "../src/vault.py", "L1", False, End(VAULT.file, VAULT.chunk_id, 1, 2)),
        Link(RESTORED.file, 15, 17, "wikilink", "Cellar \x1b[2J", "", True, None),
        Link(RESTORED.file, 16, 17, "import", "json", "", False, None),
        Link(RESTORED.file, 17, 17, "import", "src", "", False, End("src/__init__.py", None, None, None)),
    ),
    (Link(EVIL.file, 3, 3, "mention", "Backups", "", False, End(RESTORED.file, 17, 12, 19)),),
)
LIKE = (Likeness(RESTORED, VAULT, 0.98765432), Likeness(EVIL, VAULT, -0.25))
PAIRS = (Pair(RESTORED, EVIL, 1.0, True), Pair(VAULT, RESTORED, 0.951, False))
WHOLE, PART = Target(RESTORED.file, None, (1, 2)), Target(VAULT.file, VAULT.chunk_id, (VAULT.chunk_id,))
PLAIN = View()


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("inspect_chunk.json", documents.chunk_document(RESTORED, EDGES)),
        ("inspect_file.json", documents.file_document(FILE)),
        ("inspect_links.json", documents.links_document(LINKS)),
        ("inspect_neighbors.json", documents.neighbors_document(RESTORED, EDGES)),
        ("inspect_communities.json", documents.communities_document(COMMUNITIES)),
        ("inspect_community.json", documents.community_document(COMMUNITIES[0], (RESTORED, VAULT))),
        ("inspect_path.json", documents.path_document(WHOLE, PART, WAY)),
        ("similar.json", documents.similar_document(PART, LIKE)),
        ("similar_files.json", documents.similar_files_document(WHOLE, LIKE)),
        ("similar_duplicates.json", documents.duplicates_document(PAIRS)),
    ],
)
def test_each_document_is_what_its_golden_file_says_and_valid(name: str, document: dict[str, Any]) -> None:
    assert valid(document) == json.loads(golden(name))


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("inspect_chunk.txt", text.chunk_text(RESTORED, EDGES, PLAIN)),
        ("inspect_chunk_alone.txt", text.chunk_text(VAULT, (), PLAIN)),
        ("inspect_file.txt", text.file_text(FILE, PLAIN)),
        ("inspect_file_skipped.txt", text.file_text(replace(FILE, skipped="binary", chunks=(), title=""), PLAIN)),
        ("inspect_links.txt", text.links_text(LINKS, PLAIN)),
        ("inspect_links_none.txt", text.links_text(FileLinks(EVIL.file, (), ()), PLAIN)),
        ("inspect_neighbors.txt", text.neighbors_text(EDGES, PLAIN)),
        ("inspect_communities.txt", text.communities_text(COMMUNITIES, PLAIN)),
        ("inspect_community.txt", text.community_text(COMMUNITIES[0], (RESTORED, VAULT), PLAIN)),
        ("inspect_path.txt", text.path_text(WAY, PLAIN)),
        ("similar.txt", text.similar_text(LIKE, PLAIN)),
        ("similar_files.txt", text.similar_files_text(LIKE, PLAIN)),
        ("similar_files_terminal.txt", text.similar_files_text(LIKE, View(terminal=True, color=True))),
        ("similar_duplicates.txt", text.duplicates_text(PAIRS, PLAIN)),
    ],
)
def test_each_text_is_what_its_golden_file_says(name: str, shown: str) -> None:
    assert shown + "\n" == golden(name)
    if "terminal" not in name:
        assert "\x1b" not in shown


def test_no_path_and_no_member_are_valid_documents() -> None:
    document = valid(documents.path_document(WHOLE, PART, None))
    assert (document["strength"], document["steps"]) == (None, [])
    assert valid(documents.similar_document(PART, ()))["results"] == []
    assert valid(documents.communities_document(()))["count"] == 0
