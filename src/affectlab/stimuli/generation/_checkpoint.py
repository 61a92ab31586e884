"""Checkpoints that bring code along are refused before any library looks at them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from affectlab.errors import InputError

__all__ = ["refuse_own_code"]

_INDEX = "model_index.json"


def refuse_own_code(folder: Path, name: str) -> None:
    """Refuse a checkpoint that has code, or names code, of its own.

    Libraries have run such code even where they were told not to, so that none of them is asked.

    Parameters
    ----------
    folder
        The checkpoint.
    name
        Generator that it is for; the sentence names it.

    Raises
    ------
    InputError
        When there is a ``.py`` file in the folder, or its ``model_index.json`` cannot be read,
        names a pipeline by a list, or takes a component from a library that is in the folder.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "pipeline.py").write_text("print('run')")
    >>> refuse_own_code(folder, "diffusers:mine")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    affectlab.errors.InputError: image generator 'diffusers:mine': the checkpoint brings code ...
    """
    where = f"image generator {name!r}"
    for found in _own_code(folder):
        raise InputError(
            f"{where}: the checkpoint brings code of its own, {found}, which is never run; "
            "expected one whose parts are all in diffusers or transformers"
        )
    for component, told in _index(folder, where).items():
        if component.startswith("_") or not isinstance(told, list):
            continue
        library = told[0] if told else None
        # A library of the folder would be imported from there.
        if isinstance(library, str) and library and (folder / library).is_file():
            raise InputError(
                f"{where}: its part {component!r} is code of the checkpoint, {library}, which is "
                "never run; expected a part of diffusers or transformers"
            )


def _own_code(folder: Path) -> Iterator[str]:
    for place, _, files in os.walk(folder):
        for file in sorted(files):
            if file.lower().endswith((".py", ".pyc", ".pyw")):
                yield (Path(place) / file).relative_to(folder).as_posix()


def _index(folder: Path, where: str) -> dict[str, Any]:
    """Read what the parts of a checkpoint are; a folder without it is refused by its library."""
    file = folder / _INDEX
    if not file.is_file():
        return {}
    try:
        told = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, OSError) as problem:
        raise InputError(f"{where}: its {_INDEX} cannot be read ({problem})") from None
    if not isinstance(told, dict):
        raise InputError(f"{where}: its {_INDEX} is no table of parts; expected one of a pipeline")
    kind = told.get("_class_name")
    if not isinstance(kind, str):
        raise InputError(
            f"{where}: its {_INDEX} names no pipeline of diffusers but {kind!r}, and code of a "
            "checkpoint is never run; expected the name of a pipeline"
        )
    return told
