"""Runs a program to which the modes of files apply, even where root runs the tests."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
_PR_CAPBSET_DROP = 24
_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH = 1, 2


def run(program: str, *arguments: object) -> "subprocess.CompletedProcess[str]":
    """Runs a Python program with `sys.argv[1:] = arguments`."""
    command = [sys.executable, "-m", "tests.unprivileged", sys.executable, "-W", "error", "-c", program]
    return subprocess.run(
        [*command, *map(str, arguments)], cwd=REPOSITORY, capture_output=True, text=True, timeout=60
    )  # fmt: skip


if __name__ == "__main__":
    if os.getuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        for capability in (_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH):
            # What a process may not have at all, root does not get from exec either.
            if libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0):
                raise OSError(ctypes.get_errno(), "capabilities cannot be dropped")
    os.execv(sys.argv[1], sys.argv[1:])
