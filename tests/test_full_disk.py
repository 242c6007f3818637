"""A full disk is one line that names what has no room: stdout, a file that was asked for, or the index."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.corpora import build, corpus

LIMITED = f"""
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1024, {resource.RLIM_INFINITY}))
from ragx.cli import run
sys.exit(run(sys.argv[1:]))
"""
MANY = "SELECT range AS n, hash(range) AS noise FROM range(20000)"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = corpus(tmp_path_factory.mktemp("full"), {"a.md": "Cats sleep.\n", "b.md": "Dogs bark.\n"})
    build(root)
    return root


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
@pytest.mark.parametrize(
    "command",
    [
        ["query", "cats", "--no-rerank"], ["query", "cats", "--no-rerank", "--json"], ["sql", "FROM files"],
        ["sql", MANY, "--format", "csv"], ["sql", MANY, "--format", "parquet"], ["inspect", "file", "a.md"],
    ],
)  # fmt: skip
def test_a_full_stdout_is_not_taken_for_a_full_index(root: Path, command: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "ragx", *command, "-C", str(root)], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 2
    assert done.stderr == "ragx: cannot write stdout: No space left on device; free some space and run it again\n"


@pytest.mark.parametrize(
    "command",
    [["export", "out", "--quiet"], ["sql", MANY, "-o", "out.csv"], ["sql", MANY, "-o", "out.parquet"]],
    ids=lambda command: f"{command[0]} {command[-1]}",
)
def test_a_file_that_has_no_room_is_named_by_its_folder_and_gone(
    root: Path, tmp_path: Path, command: list[str]
) -> None:
    command = [str(tmp_path / argument) if argument.startswith("out") else argument for argument in command]
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, *command, "-C", str(root)], capture_output=True, text=True, cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])},
    )  # fmt: skip
    message = f"ragx: the disk is full: no room in {tmp_path}; free some space and run it again\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", message)
    assert list(tmp_path.iterdir()) == []


def test_an_output_below_a_file_is_one_line(root: Path, tmp_path: Path) -> None:
    # The clean-up failed as well, and its traceback was all that one saw.
    (tmp_path / "file").touch()
    output = tmp_path / "file" / "out.csv"
    command = [sys.executable, "-m", "ragx", "sql", "FROM files", "-o", str(output), "-C", str(root)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, f"ragx: cannot write {output}: Not a directory\n")
