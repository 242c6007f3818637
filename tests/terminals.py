"""A terminal for a program under test: what it prints there, until it lets go of it."""

import os
import pty
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def terminal(typed: bytes = b"") -> Iterator[tuple[int, Callable[[], bytes]]]:
    """A descriptor to start a program on, with `typed` waiting there, and what reads all that it prints."""
    controller, descriptor = pty.openpty()
    os.write(controller, typed)

    def printed() -> bytes:
        os.close(descriptor)  # the program has it now, and its end is the end of what there is to read
        said = b""
        while True:
            try:
                part = os.read(controller, 65536)
            except OSError:  # how Linux reports that the terminal has no user left
                return said
            if not part:
                return said
            said += part

    try:
        yield descriptor, printed
    finally:
        os.close(controller)
