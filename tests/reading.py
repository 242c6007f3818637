"""Reads an index in a process of its own, over and over or with one connection; prints a line a reading."""

import re
import sys
from hashlib import sha256
from pathlib import Path

import ragx
from ragx.config import index_dir
from ragx.store import open_index
from tests.corpora import LAW_TABLES, ask, dump, settings_of

QUESTION = "how do cats sleep?"


def fingerprint(*values: object) -> str:
    """Tells values apart in any process."""
    return sha256(repr(values).encode()).hexdigest()


def rows(root: Path) -> str:
    return f"rows {fingerprint(dump(root))}"


def answer(root: Path) -> str:
    found = ask(root, QUESTION)
    return f"answer {fingerprint(found.hits, found.files)}"


def loop(root: Path) -> None:
    """Reads on and on, with a new connection each time."""
    while True:
        for _ in range(5):
            print(rows(root), flush=True)
        print(answer(root), flush=True)


def hold(root: Path) -> None:
    """Opens the index once and counts its rows for each line of stdin."""
    with open_index(index_dir(root, settings_of(root))) as store:
        while True:
            counts = [store.connection.execute(f"SELECT count(*) FROM {table}").fetchone() for table in LAW_TABLES]
            print(counts, flush=True)
            if not sys.stdin.readline():
                break


def search(root: Path) -> None:
    """Asks on and on in one process, models loaded and index open: which versions an answer is of."""
    while True:
        table = ragx.search(QUESTION, root, top=20, rerank=False)
        print(table.num_rows, *versions(table.column("text").to_pylist()), flush=True)


def connect(root: Path) -> None:
    """Connects on and on and reads by several statements: which versions these are of."""
    while True:
        with ragx.connect(root) as connection:
            texts = [row[0] for row in connection.execute("SELECT text FROM v_chunks").fetchall()]
            ends = connection.execute(
                "SELECT text FROM edges JOIN chunks ON chunks.id IN (edges.src, edges.dst)"
            ).fetchall()
            print(len(texts), *versions([*texts, *(row[0] for row in ends)]), flush=True)


def versions(texts: list[str]) -> list[int]:
    """What stands in the texts as "version N"."""
    return sorted({int(number) for text in texts for number in re.findall(r"version (\d+)", text)})


if __name__ == "__main__":
    {"loop": loop, "hold": hold, "search": search, "connect": connect}[sys.argv[1]](Path(sys.argv[2]))
