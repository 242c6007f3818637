"""Small real trees, and the walk over them in the forms that tests compare."""

from pathlib import Path

from ragx.config.settings import Corpus
from ragx.files import Discovery, discover

ALL = Corpus(include=("*",), exclude=())


def grow(root: Path, tree: dict[str, str]) -> Path:
    """Writes files below `root` by path and text, folders as needed."""
    for path, text in tree.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
    return root


def walk(root: Path, corpus: Corpus = ALL) -> Discovery:
    return discover(root, corpus, root / ".ragx")


def paths(root: Path, corpus: Corpus = ALL) -> list[str]:
    return [file.path for file in walk(root, corpus).files]


def reasons(root: Path, corpus: Corpus = ALL) -> dict[str, str]:
    return {skipped.path: skipped.reason for skipped in walk(root, corpus).skipped}
