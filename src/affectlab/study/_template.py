"""Study files to start from."""

from __future__ import annotations

import re
from pathlib import Path

from affectlab.errors import InputError, unknown_name

__all__ = ["study_name", "template_text", "write_template"]

_FOLDER = Path(__file__).parent / "templates"
_PICTURES = tuple(f"pictures/{name}.png" for name in ("balloon", "cake", "lighthouse", "swing"))
_BESIDE: dict[str, tuple[str, ...]] = {
    "intensity": (),
    "verification": (),
    "multilabel": ("texts.csv",),
    "difference": (),
    "staircase": (),
    "reaction": ("captions.csv", *_PICTURES),
    "preference": ("pairs.csv", *_PICTURES),
    "preference_errors": ("errors.csv", *_PICTURES),
    "jspsych": ("words.csv", "timeline/timeline.js", "timeline/timeline.css"),
}
"""Built-in protocols, and the files that a study with each needs beside its own."""


def write_template(path: str | Path, protocol: str = "intensity") -> tuple[Path, ...]:
    """Write a study file that works as it is, and what it needs beside it.

    Parameters
    ----------
    path
        File to write, which must not exist. Its name becomes the name of the study.
    protocol
        Name of a built-in protocol, such as ``multilabel``; see
        :func:`affectlab.protocols.list_protocols`.

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
    if protocol not in _BESIDE:
        raise unknown_name("protocol", protocol, tuple(_BESIDE))
    path = Path(path)
    if path.suffix != ".toml":
        raise InputError(f"{path}: expected a name that ends in .toml")
    name = study_name(path)
    files = {path: template_text(protocol, path).encode()}
    for beside in _BESIDE[protocol]:
        files[path.parent / f"{name}-{beside}"] = (_FOLDER / beside).read_bytes()
    for file in files:
        if file.exists():
            raise InputError(f"{file} is there already; expected a new name")
    for file, content in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return tuple(files)


def study_name(path: Path) -> str:
    """Name a study by its file.

    Examples
    --------
    >>> study_name(Path("My study.toml"))
    'my-study'
    """
    return re.sub(r"[^a-z0-9_-]+", "-", path.stem.lower()).strip("-_") or "study"


def template_text(protocol: str, path: Path) -> str:
    """Give the study file that a built-in protocol starts from, under the name of a file."""
    text = (_FOLDER / f"{protocol}.toml").read_text(encoding="utf-8")
    return text.replace("STUDY-NAME", study_name(path)).replace("STUDY-FILE", path.name)
