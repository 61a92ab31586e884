"""Noticing that the server is about to stop."""

from __future__ import annotations

import signal
import threading
from types import FrameType

__all__ = ["watch_signals"]


def watch_signals(stopping: threading.Event) -> None:
    """Set an event with the signals that end the server, which gets them all the same.

    Streams end with it, instead of being waited for. To be called once the server listens to
    signals itself, in its main thread.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        before = signal.getsignal(number)

        def noticed(number: int, frame: FrameType | None, before: object = before) -> None:
            stopping.set()
            if callable(before):
                before(number, frame)

        signal.signal(number, noticed)
