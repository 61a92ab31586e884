"""Files of the repository as they were at a commit."""

from __future__ import annotations

import io
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def at_commit(file: Path, commit: str | None) -> Path | io.BytesIO:
    """Give what a file holds in the working tree, or held at a commit."""
    if commit is None:
        return file
    path = file.relative_to(ROOT).as_posix()
    shown = subprocess.run(
        ["git", "show", f"{commit}:{path}"], cwd=ROOT, capture_output=True, check=False
    )
    if shown.returncode:
        raise SystemExit(shown.stderr.decode().strip())
    return io.BytesIO(shown.stdout)
