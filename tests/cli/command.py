"""The command line, run in this process: one of its own takes longer to start than most verbs."""

from __future__ import annotations

import io
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass

import pytest

from affectlab.cli import main


@dataclass(frozen=True)
class Done:
    """What a command printed."""

    stdout: str
    stderr: str


def run_here(*arguments: object, code: int = 0, width: int = 100, **environment: str) -> Done:
    """Run ``affectlab`` in this process, in a terminal so wide, and check how it ends."""
    # With bytes below the text, as the streams of a process have.
    out, error = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2))
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(error):
        for name, value in {"COLUMNS": str(width), **environment}.items():
            patch.setenv(name, value)
        for name in ("FORCE_COLOR", "TTY_COMPATIBLE"):
            patch.delenv(name, raising=False)
        with pytest.raises(SystemExit) as ended:
            main([str(one) for one in arguments])
    done = Done(*(_said(stream) for stream in (out, error)))
    assert (ended.value.code or 0) == code, done.stderr
    return done


def run_apart(*arguments: object, code: int = 0, width: int = 100) -> Done:
    """Run ``affectlab`` in a process of its own, with as good as no environment."""
    done = subprocess.run(
        [sys.executable, "-c", "from affectlab.cli import main; main()", *map(str, arguments)],
        check=False,
        capture_output=True,
        text=True,
        env={
            "PATH": "",
            "COLUMNS": str(width),
            "PYTHONIOENCODING": "utf-8",
            "HOME": "/nonexistent",
        },
    )
    assert done.returncode == code, done.stderr
    return Done(done.stdout, done.stderr)


def _said(stream: io.TextIOWrapper) -> str:
    stream.flush()
    stream.seek(0)
    return stream.read()
