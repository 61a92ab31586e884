"""Study files to start from."""

from __future__ import annotations

import re
from pathlib import Path

from affectlab.errors import InputError, unknown_name

__all__ = ["write_template"]

_FOLDER = Path(__file__).parent / "templates"
_PROTOCOLS = ("intensity", "verification", "multilabel")


def write_template(path: str | Path, protocol: str = "intensity") -> tuple[Path, ...]:
    """Write a study file that works as it is, and what it needs beside it.

    Parameters
    ----------
    path
        File to write, which must not exist. Its name becomes the name of the study.
    protocol
        ``intensity``, ``verification`` or ``multilabel``.

    Returns
    -------
    The files written, the study file first.

    Raises
    ------
    InputError
        When a file is there already, or the protocol is not known.

    Examples
    --------
    >>> import tempfile
    >>> from affectlab.study import load_study
    >>> path, = write_template(Path(tempfile.mkdtemp()) / "My study.toml")
    >>> load_study(path).design.study.name
    'my-study'
    """
    if protocol not in _PROTOCOLS:
        raise unknown_name("protocol", protocol, _PROTOCOLS)
    path = Path(path)
    if path.suffix != ".toml":
        raise InputError(f"{path}: expected a name that ends in .toml")
    name = re.sub(r"[^a-z0-9_-]+", "-", path.stem.lower()).strip("-_") or "study"
    text = (_FOLDER / f"{protocol}.toml").read_text(encoding="utf-8")
    files = {path: text.replace("STUDY-NAME", name).replace("STUDY-FILE", path.name)}
    if protocol == "multilabel":
        texts = (_FOLDER / "texts.csv").read_text(encoding="utf-8")
        files[path.with_name(f"{name}-texts.csv")] = texts
    for file in files:
        if file.exists():
            raise InputError(f"{file} is there already; expected a new name")
    path.parent.mkdir(parents=True, exist_ok=True)
    for file, content in files.items():
        file.write_text(content, encoding="utf-8")
    return tuple(files)
