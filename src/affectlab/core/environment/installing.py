"""How what is missing is installed, here and now."""

from __future__ import annotations

import json
import shlex
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path


def install_line(extra: str = "") -> str:
    """Give the command that installs this package with an extra, from where it was installed.

    That is the index, a repository, or the folder of a clone that is run.

    Parameters
    ----------
    extra
        Name of the extra; none: the package alone.

    Examples
    --------
    >>> install_line("files").startswith("pip install ")
    True
    """
    wanted = f"[{extra}]" if extra else ""
    clone = _clone()
    if clone is not None:
        here = Path.cwd() == clone
        pinned = "constraints.txt" if here else shlex.quote(str(clone / "constraints.txt"))
        return f'pip install -c {pinned} -e "{"." if here else clone}{wanted}"'
    address = _address()
    return f'pip install "affectlab{wanted}{f" @ {address}" if address else ""}"'


@cache
def _clone() -> Path | None:
    """Give the folder of the clone that is run; None where the package is installed."""
    folder = Path(__file__).resolve().parents[4]
    try:
        text = (folder / "pyproject.toml").read_text(encoding="utf-8")
    except OSError:
        return None
    return folder if 'name = "affectlab"' in text else None


@cache
def _address() -> str:
    """Give the repository or the file that the package was installed from; none: the index."""
    try:
        said = distribution("affectlab").read_text("direct_url.json")
        found = json.loads(said or "{}")
    except (PackageNotFoundError, ValueError):
        return ""
    url, system = found.get("url", ""), found.get("vcs_info", {}).get("vcs")
    return f"{system}+{url}" if system else str(url)
