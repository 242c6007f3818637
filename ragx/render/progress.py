"""How a run shows on stderr: a bar on a terminal, a line a stage elsewhere, nothing when it is to be quiet."""

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, TextIO

from ragx.render.terminal import visible
from ragx.types import Progress

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import Task


@contextlib.contextmanager
def watch(*, quiet: bool, stream: TextIO | None = None) -> Iterator[Progress]:
    """The progress that suits `stream` (stderr), for the time of a run."""
    stream = sys.stderr if stream is None else stream
    if quiet:
        yield Silent()
    elif stream.isatty() and os.environ.get("TERM") != "dumb":
        with _bars(stream) as bars:
            yield Bar(bars)
    else:
        yield Lines(stream)


class Silent:
    """Says nothing."""

    def stage(self, name: str, total: int | None, unit: str) -> None:
        pass

    def advance(self, amount: int) -> None:
        pass

    def warn(self, message: str) -> None:
        pass


class Lines:
    """A line for each stage that has something to do, at its beginning. A reader that went away ends no run."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def stage(self, name: str, total: int | None, unit: str) -> None:
        if total != 0:
            self._say(name if total is None else f"{name}: {total:,} {unit if total != 1 else _one(unit)}")

    def advance(self, amount: int) -> None:
        pass

    def warn(self, message: str) -> None:
        self._say(f"warning: {message}")

    def _say(self, message: str) -> None:
        with contextlib.suppress(OSError):
            print(visible(message), file=self._stream, flush=True)


class Bar:
    """The stage at work with its rate and the time left; gone when the run is over."""

    def __init__(self, bars: "Bars") -> None:
        self._bars = bars

    def stage(self, name: str, total: int | None, unit: str) -> None:
        for task in self._bars.task_ids:
            self._bars.remove_task(task)
        if total != 0:
            self._bars.add_task(visible(name), total=total, unit=unit)

    def advance(self, amount: int) -> None:
        for task in self._bars.task_ids:
            self._bars.advance(task, amount)

    def warn(self, message: str) -> None:
        self._bars.console.print(f"warning: {visible(message)}", markup=False, highlight=False, soft_wrap=True)


def _bars(stream: TextIO) -> "Bars":
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        """How much is done, of how much, and how fast."""

        def render(self, task: "Task") -> Text:
            return Text(rate(int(task.completed), task.total, task.speed, task.fields["unit"]))

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        Rate(),
        TimeRemainingColumn(compact=True),
        console=Console(file=stream),
        transient=True,
    )


def rate(done: int, total: float | None, speed: float | None, unit: str) -> str:
    """`120/1,186 texts, 24.1/s`; the parts that are not known are left out."""
    if total is None:
        return ""
    shown = f"{done:,}/{int(total):,} {unit}"
    return f"{shown}, {speed:.1f}/s" if speed else shown


def _one(unit: str) -> str:
    """files: file; queries: query."""
    return f"{unit[:-3]}y" if unit.endswith("ies") else unit.removesuffix("s")
