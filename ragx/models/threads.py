"""A few threads that wait for a server: results in order, items read only a little ahead."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Thread
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_order(call: Callable[[Item], Result], items: Iterable[Item], threads: int) -> Iterator[Result]:
    """`map` on at most `threads` threads that reads at most two items a thread ahead.

    They are daemons: whoever interrupts a run does not wait for a server that hangs.
    """
    todo: SimpleQueue[tuple[Future[Result], Item] | None] = SimpleQueue()
    pending: deque[Future[Result]] = deque()
    started = 0

    def work() -> None:
        while (job := todo.get()) is not None:
            future, item = job
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(call(item))
                except BaseException as error:
                    future.set_exception(error)

    try:
        for item in items:
            if started < threads:
                Thread(target=work, name="ragx-http", daemon=True).start()
                started += 1
            future: Future[Result] = Future()
            pending.append(future)
            todo.put((future, item))
            if len(pending) >= 2 * threads:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    finally:
        for future in pending:
            future.cancel()
        for _ in range(started):
            todo.put(None)
