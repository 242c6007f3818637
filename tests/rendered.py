"""Literal values to render, and the golden files that say how they look."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from ragx.diagnosis import Drift, LastRun, Status
from ragx.types import (
    Answer,
    CommunityHit,
    Context,
    Copy,
    FileChanges,
    FileHit,
    Hit,
    IndexReport,
    Lines,
    Parts,
    Skipped,
    Source,
    Stage,
    Step,
    Trace,
    Written,
)

HASH = "bd36ca8bf7ef9f5aecd6e89ac8b18c6b"
GOLDEN = Path(__file__).parent / "golden"

RESTORE = """\
## Restore

Every night a dump is written to the second disk and kept for thirty days. To restore a backup, stop the server \
first and hand the newest dump to `pg_restore --clean`; restoring takes ten minutes. The log says when it is done.

- Dumps of a month ago are in the cellar.
- Nobody has the key.
- Ask the night shift.
"""

CODE = '''\
class Vault:
    def open(self):
        return self.door

    def restore_backup(self, dump):
        """Puts a dump back in its place."""
        self.server.stop()
        return self.run("pg_restore", dump)
'''

ANSWER = Answer(
    query="how are backups restored?",
    hits=(
        Hit(
            chunk_id=5233657954427259,
            file="docs/backup guide.md",
            score=0.98123456789,
            parts=Parts(0.8123456789, 11.25, 1.0, 0.9, 0.96, 1.0, 1.0, 1.0, 1.0, 4.2109375),
            kind="section",
            headings=("Operations", "Backups", "Restore"),
            language="en",
            byte_start=120,
            byte_end=481,
            line_start=12,
            line_end=19,
            text=RESTORE,
            also_in=(
                Copy(11, "docs/old/backup guide.md", 3, 10, 1.0),
                Copy(12, "notes/two\nlines \x1b[2J.md", 5, 12, 0.99123456789),
                Copy(13, "a.md", 1, 8, 0.98),
                Copy(14, "b.md", 1, 8, 0.97),
            ),
        ),
        Hit(
            chunk_id=8051341570342942,
            file="src/vault.py",
            score=0.5,
            parts=Parts(0.61, 3.5, 0.8, 1.0, 0.9, 1.0, 0.25, 0.5, None, None),
            kind="code",
            headings=(),
            language="",
            byte_start=0,
            byte_end=229,
            line_start=1,
            line_end=8,
            text=CODE,
            traces=(
                Trace(
                    "heat",
                    0.6212345678,
                    (
                        Step(5233657954427259, "docs/backup guide.md", 12, 19, None, None),
                        Step(8051341570342942, "src/vault.py", 1, 8, "similar", 0.8312345678),
                    ),
                ),
                Trace(
                    "link",
                    1.0,
                    (
                        Step(17, "docs/old.md", 1, 4, None, None),
                        Step(8051341570342942, "src/vault.py", 1, 8, "link", 1.0),
                    ),
                ),
                Trace(
                    "second",
                    1.0,
                    (
                        Step(17, "docs/old.md", 1, 4, None, None),
                        Step(8051341570342942, "src/vault.py", 1, 8, "second", None),
                    ),
                ),
            ),
            stale=True,
        ),
        Hit(
            chunk_id=3,
            file="notes/two\nlines \x1b[2J.md",
            score=-0.0,
            parts=Parts(None, None, None, None, 0.0, None, None, None, None, None),
            kind="section",
            headings=("Evil \x1b]0;title\x07",),
            language="en",
            byte_start=3,
            byte_end=40,
            line_start=1,
            line_end=1,
            text="\x1b[31mred\x1b[0m and a bell \x07, \u202eturned round\r\n",
        ),
    ),
    files=(
        FileHit("docs/backup guide.md", 0.93, (5233657954427259, 17), stale=False),
        FileHit("src/vault.py", 0.5, (8051341570342942,), stale=True),
        FileHit("notes/two\nlines \x1b[2J.md", 0.0, (3,)),
    ),
    stages=(
        Stage("expansion", False, "off"),
        Stage("vector", True, "exact scan"),
        Stage("keyword", True, "BM25"),
        Stage("fusion", True, "convex"),
        Stage("graph", True, "additive"),
        Stage("second", True, "the 10 strongest terms of docs/old.md"),
        Stage("rerank", True, "ms-marco-MiniLM-L-12-v2, 20 passages"),
    ),
    weights={"rerank": 0.2, "heat": 0.1, "link": 0.1, "second": 0.1, "fused": 0.5},
    relevant=True,
    terms=frozenset({"how", "are", "backup", "restor"}),
)

COMMUNITIES = (
    CommunityHit(
        3,
        1204,
        "backup, restore, dump",
        "Backups and dumps",
        "How dumps are made. How they are restored.",
        HASH,
        ("backup", "restore", "dump", "night"),
        1.48123456,
        ANSWER.hits[:2],
    ),
    CommunityHit(0, 1, "", "", "", HASH, (), 0.0, ANSWER.hits[2:]),
)

WRITTEN = replace(
    ANSWER,
    written=Written(
        "A dump is written each night [1].\nTo restore it, stop the server first [1, 2].\x1b[2J",
        (
            Source(1, 5233657954427259, "docs/backup guide.md", 12, 19),
            Source(2, 8051341570342942, "src/vault.py", 1, 8),
        ),
    ),
)

WITH_CONTEXT = replace(
    ANSWER,
    hits=(
        replace(
            ANSWER.hits[0],
            line_end=18,
            context=Context(
                before=Lines(9, 11, "\n## Making\r\n\tThe script `dump` \x1b[2J is run each night.\n"),
                after=Lines(19, 20, "## Testing a backup\n" + "x" * 500),
            ),
        ),
        replace(ANSWER.hits[1], context=Context(None, None)),
        replace(ANSWER.hits[2], context=Context(None, Lines(2, 2, "last line"))),
    ),
)

REPORT = IndexReport(
    path="/corpus/.ragx/index.duckdb",
    changed=True,
    dry_run=False,
    full=False,
    files=FileChanges(
        added=("docs/backup guide.md", "src/vault.py"),
        changed=("notes/two\nlines.md",),
        removed=(),
        unchanged=1240,
        skipped=(
            Skipped(".git/", "hidden"),
            Skipped(".ragx/", "belongs to ragx"),
            Skipped(".vscode/", "hidden"),
            Skipped("logo.png", "not in corpus.include"),
        ),
    ),
    chunks_added=48,
    chunks_removed=12,
    chunks_total=3186,
    texts_embedded=40,
    texts_reused=8,
    edges_total=11869,
    communities_total=1,
    warnings=("old.txt: not UTF-8, read as Latin-1",),
    seconds={"discover": 0.012, "read": 0.81, "embed": 12.34, "publish": 0.2},
)

STATUS = Status(
    root=Path("/corpus"),
    index=Path("/corpus/.ragx/index.duckdb"),
    ragx_version="0.1.0",
    complete=True,
    embedding_model="bge-small-en-v1.5",
    dimension=384,
    rerank_model=None,
    files=1243,
    chunks=3186,
    texts=3100,
    links=1203,
    unresolved_links=14,
    edges=11869,
    communities=23,
    languages={"en": 3000, "": 180, "de": 6},
    size_bytes=31_460_000,
    last_run=LastRun(
        datetime(2026, 3, 31, 23, 59, 58, tzinfo=UTC),
        {"discover": 0.012, "embed": 12.34},
        REPORT.counts(),
    ),
    skipped=REPORT.files.skipped,
    drift=Drift(new=("a.md",), changed=("docs/b.md", "docs/c.md"), deleted=()),
    warnings=("the model is new to this corpus",),
)


@cache
def _validator(schema: str) -> Draft202012Validator:
    text = (files("ragx") / "schemas" / f"{schema}.json").read_text(encoding="utf-8")
    return Draft202012Validator(json.loads(text))


def valid(document: dict[str, Any]) -> dict[str, Any]:
    """The document as a reader of its JSON gets it, valid under the schema that it names."""
    read: dict[str, Any] = json.loads(json.dumps(document, allow_nan=False))
    _validator(read["schema"]).validate(read)
    return read


def golden(name: str) -> str:
    return (GOLDEN / name).read_text(encoding="utf-8")
