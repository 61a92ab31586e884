"""Running to the end from where no event loop runs, or one runs already, as in a notebook."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, TypeVar

__all__ = ["Interrupt", "interruptible", "run_now"]

Result = TypeVar("Result")
_LOOK_EVERY = 0.1
"""Seconds after which Ctrl-C is seen at the latest."""


class Interrupt:
    """Takes Ctrl-C from the thread that gets it to the loop that asks."""

    def __init__(self) -> None:
        self._hits = 0
        self._lock = threading.Lock()
        self._listening: tuple[asyncio.AbstractEventLoop, Callable[[], None]] | None = None

    def listen(self, loop: asyncio.AbstractEventLoop, heard: Callable[[], None]) -> None:
        """Call `heard` in this loop for each interrupt, those before included."""
        with self._lock:
            self._listening = (loop, heard)
            before = self._hits
        for _ in range(before):
            heard()

    def hit(self) -> None:
        """Interrupt what is asked, from any thread."""
        with self._lock:
            self._hits += 1
            if self._listening is not None and not self._listening[0].is_closed():
                loop, heard = self._listening
                loop.call_soon_threadsafe(heard)


@contextmanager
def interruptible(interrupt: Interrupt | None, heard: Callable[[], None]) -> Iterator[None]:
    """Within it, call `heard` in the running loop for each Ctrl-C, instead of raising."""
    loop = asyncio.get_running_loop()
    if interrupt is not None:
        interrupt.listen(loop, heard)
    main = threading.current_thread() is threading.main_thread()
    try:
        handled = main and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
        if handled:
            loop.add_signal_handler(signal.SIGINT, heard)
    except NotImplementedError:
        # Windows: Ctrl-C cancels at once, and the ledger has all that was answered.
        handled = False
    try:
        yield
    finally:
        if handled:
            loop.remove_signal_handler(signal.SIGINT)


def run_now(make: Callable[[Interrupt], Coroutine[Any, Any, Result]]) -> Result:
    """Run a coroutine to its end.

    Where a loop runs already, it goes to a thread, which never sees Ctrl-C: it is passed on, what
    is under way is waited for, and a second Ctrl-C does not wait.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C in such a place.
    """
    interrupt = Interrupt()
    if not _is_running():
        return asyncio.run(make(interrupt))
    with ThreadPoolExecutor(max_workers=1) as pool:
        running = pool.submit(lambda: asyncio.run(make(interrupt)))
        interrupted = False
        while not running.done():
            try:
                # Not for ever: a signal that another thread got is only seen between two waits.
                wait([running], timeout=_LOOK_EVERY)
            except KeyboardInterrupt:
                interrupted = True
                interrupt.hit()
        if interrupted:
            raise KeyboardInterrupt
        return running.result()


def _is_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
