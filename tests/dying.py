"""An indexing run in a process of its own, which a signal ends at a moment that the test names."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import duckdb

from tests.corpora import Silent, settings_of

REPOSITORY = Path(__file__).parents[1]
COMMIT_TEXTS = 2


class Dying(Silent):
    """Ends its process when a stage begins ("reading"), when it has done so much ("reading 3"), or at an audit event of
    Python on a path of that name ("os.rename building.duckdb"), before it happens."""

    def __init__(self, moment: str, number: int) -> None:
        super().__init__()
        self.moment = moment
        self.number = number
        sys.addaudithook(self._hear)

    def stage(self, name: str, total: int | None, unit: str) -> None:
        self.name, self.done = name, 0
        self._reach(name)

    def advance(self, amount: int) -> None:
        self.done += amount
        self._reach(f"{self.name} {self.done}")

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event.startswith(("os.", "open", "shutil.")) and arguments and isinstance(arguments[0], str | os.PathLike):
            self._reach(f"{event} {Path(arguments[0]).name}")

    def _reach(self, moment: str) -> None:
        if moment == self.moment:
            self.moment = ""
            os.kill(os.getpid(), self.number)


def start(root: Path, moment: str = "", number: int = signal.SIGKILL, **options: int) -> "subprocess.Popen[str]":
    """Starts a run that dies at `moment`; it prints "ready" when all is imported, and "done".

    `options` are those of the run, and `early_texts` in the place of EARLY_TEXTS.
    """
    command = [
        sys.executable,
        "-W",
        "error",
        "-m",
        "tests.dying",
        str(root),
        moment,
        str(int(number)),
        json.dumps(options),
    ]
    return subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def die(root: Path, moment: str, number: int = signal.SIGKILL, **options: int) -> None:
    """A run that dies at `moment`."""
    process = start(root, moment, number, **options)
    _, err = process.communicate(timeout=60)
    assert process.returncode == -number, err


def vectors(path: Path) -> set[int]:
    """The ids of the vectors in an index file, published or not; the file stays as it is."""
    with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
        for file in path.parent.glob(f"{path.name}*"):
            shutil.copyfile(file, Path(folder) / file.name)
        connection.execute(f"ATTACH '{folder}/{path.name}' AS it")
        segments = "SELECT id FROM it.embeddings_indexed UNION ALL SELECT id FROM it.embeddings_recent"
        return {row[0] for row in connection.execute(segments).fetchall()}


def committed(folder: Path) -> set[int]:
    """What interrupted runs embedded."""
    found = set()
    for path in folder.glob("building*.duckdb"):
        if path.stat().st_size >= 3 * 4096:  # else it has no header yet
            with suppress(duckdb.CatalogException):  # it has no tables yet
                found |= vectors(path)
    return found


if __name__ == "__main__":
    from ragx.indexing import embed, run

    embed._COMMIT_TEXTS = COMMIT_TEXTS
    root, moment, number, given = sys.argv[1:]
    options = json.loads(given)
    run.EARLY_TEXTS = options.pop("early_texts", run.EARLY_TEXTS)
    print("ready", flush=True)
    run.index(Path(root), settings_of(Path(root)), run.Options(**options), Dying(moment, int(number)))
    print("done", flush=True)
