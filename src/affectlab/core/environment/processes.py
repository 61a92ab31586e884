"""Processes of their own for what may hang, crash or print: imports, drivers, databases."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from threading import Timer
from typing import Any

_BEGIN = """\
import os, sys
_lines = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)
def say(text):
    print(text, file=_lines, flush=True)
"""
"""What libraries print when they are imported goes nowhere; only what is said comes back."""


def stream(program: str, given: Any, line: Callable[[str], None], *, seconds: float) -> str:
    """Run a program of Python in a process; hand on its lines; say how it ended.

    Parameters
    ----------
    program
        Source code, which hands back lines by ``say(text)``. It finds `given` as JSON on its
        standard input, so that nothing of it can be read in a list of processes: an address may
        hold a password.
    given
        What the program is given.
    line
        Called with each line that it says.
    seconds
        How long it may say nothing; then it is stopped.

    Returns
    -------
    str
        "" when it ended by itself with status 0, else how it ended, to follow a subject.
    """
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", _BEGIN + program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
    except OSError as error:
        return f"could not begin: no process of Python can be started ({error.strerror})"
    late: list[bool] = []

    def stop() -> None:
        late.append(True)
        process.kill()

    timer = _started(seconds, stop)
    try:
        for text in _talk(process, json.dumps(given)):
            timer.cancel()
            line(text.rstrip("\n"))
            timer = _started(seconds, stop)
        status = process.wait()
    finally:
        timer.cancel()
        process.kill()
        process.wait()
    if late:
        return f"took more than {seconds:g} s and was stopped"
    if status < 0:
        return f"ended the process by {_signal(-status)}"
    return f"ended the process with status {status}" if status else ""


def _started(seconds: float, stop: Callable[[], None]) -> Timer:
    timer = Timer(seconds, stop)
    timer.daemon = True
    timer.start()
    return timer


def _talk(process: subprocess.Popen[str], given: str) -> Iterator[str]:
    """Write what a process is given, and read its lines until it has ended."""
    with process:
        if process.stdin is None or process.stdout is None:
            return
        # One that has ended before it read everything is told apart by how it ended.
        with suppress(BrokenPipeError):
            process.stdin.write(given)
            process.stdin.close()
        yield from process.stdout


def ask(program: str, given: Any, *, seconds: float) -> dict[str, Any]:
    """Run a program that says one JSON object; give it, or ``{"problem": …}``."""
    found: list[dict[str, Any]] = []

    def line(text: str) -> None:
        found.append(json.loads(text))

    ended = stream(program, given, line, seconds=seconds)
    if found:
        return found[-1]
    return {"problem": f"looking for it {ended or 'gave no answer'}"}


def output_of(program: str, *arguments: str) -> str:
    """Run a program, and give what it prints; "" when it fails, or takes more than 20 s."""
    try:
        done = subprocess.run(
            [program, *arguments],
            check=False,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=20,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return "" if done.returncode else done.stdout.strip()


def _signal(number: int) -> str:
    from signal import Signals

    try:
        return Signals(number).name
    except ValueError:
        return f"signal {number}"
