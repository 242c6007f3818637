"""Reads an index in a process of its own, over and over or with one connection; prints a line a reading."""

import sys
from hashlib import sha256
from pathlib import Path

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


if __name__ == "__main__":
    {"loop": loop, "hold": hold}[sys.argv[1]](Path(sys.argv[2]))
