"""What an indexing run has to do: the tree on disk against the files in the index."""

import os
from dataclasses import dataclass
from pathlib import Path

from ragx.config.settings import Corpus
from ragx.files import FileUnreadable, discover, same_bytes
from ragx.files.reading import UNREADABLE
from ragx.store import Store, statements
from ragx.types import FileStat, Skipped

_INDEX = statements("index")


@dataclass(frozen=True)
class KnownFile:
    """A file as the index knows it."""

    stat: FileStat
    content_hash: str
    skipped: str
    """Why it was not indexed; empty: it was."""


@dataclass(frozen=True)
class Plan:
    """The files of the corpus by what has to be done with them; each list is sorted by path."""

    added: tuple[FileStat, ...]
    changed: tuple[FileStat, ...]
    touched: tuple[FileStat, ...]
    removed: tuple[str, ...]
    unchanged: int
    skipped: tuple[Skipped, ...]

    @property
    def empty(self) -> bool:
        """Whether the index already is as a full build would make it."""
        return not (self.added or self.changed or self.touched or self.removed)


def known_files(store: Store) -> dict[str, KnownFile]:
    """The files of an index by path."""
    return {
        path: KnownFile(FileStat(path, size, mtime_ns, ctime_ns, inode), digest, skipped)
        for path, size, mtime_ns, ctime_ns, inode, digest, skipped in store.rows(_INDEX.read_files)
    }


def make_plan(
    root: Path, corpus: Corpus, folder: Path, known: dict[str, KnownFile], scanned_ns: int, *, reread: bool = False
) -> Plan:
    """Compares; a file whose stat says that nothing happened since the scan at `scanned_ns` is not read.

    `reread` counts every known file as changed: other rules of cutting and tokenising are in force.
    """
    discovery = discover(root, corpus, folder)
    added, changed, touched = [], [], []
    skipped = list(discovery.skipped)
    found = set()
    unchanged = 0
    for stat in discovery.files:
        before = known.get(stat.path)
        try:
            if before is None:
                if not os.access(root / stat.path, os.R_OK):
                    raise FileUnreadable(UNREADABLE)
                added.append(stat)
                continue
            same = same_bytes(root, stat, before.stat, before.content_hash, scanned_ns)
        except FileUnreadable as error:
            skipped.append(Skipped(stat.path, str(error)))
            continue
        found.add(stat.path)
        if reread or not same:
            changed.append(stat)
            continue
        if before.stat != stat:
            touched.append(stat)
        if before.skipped:
            skipped.append(Skipped(stat.path, before.skipped))
        else:
            unchanged += 1
    return Plan(
        added=tuple(added),
        changed=tuple(changed),
        touched=tuple(touched),
        removed=tuple(sorted(known.keys() - found)),
        unchanged=unchanged,
        skipped=tuple(skipped),
    )
