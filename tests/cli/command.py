"""The command line, run in this process: one of its own takes longer to start than most verbs."""

from __future__ import annotations

import io
import runpy
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

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


def run_as_shown(*words: str) -> str:
    """Run a command that a page shows, a verb or a script, in this process; give what it prints."""
    if words[0] == "affectlab":
        return run_here(*words[1:]).stdout
    assert words[0] == "python"
    out, folder, loaded = io.StringIO(), Path(words[1]).resolve().parent, set(sys.modules)
    code: object = 0
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out):
        patch.setattr(sys, "argv", list(words[1:]))
        patch.syspath_prepend(folder)
        try:
            runpy.run_path(words[1], run_name="__main__")
        except SystemExit as ended:
            code = ended.code
    assert not code, code
    # Another example may have a module of the same name.
    for name in set(sys.modules) - loaded:
        file = getattr(sys.modules[name], "__file__", None)
        if file and Path(file).parent == folder:
            del sys.modules[name]
    return out.getvalue()


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
