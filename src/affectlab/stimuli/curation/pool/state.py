"""What a run has finished, on disk, so that an interrupted one goes on where it stopped."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

__all__ = ["Stage", "changed", "read_stage", "signature", "write_stage"]

_DONE = "done.json"
_HASH = re.compile(r"[0-9a-f]{16,}")
"""What stands in settings for things that are too long to be written there."""


@dataclass(frozen=True)
class Stage:
    """One finished piece of work: where it is, what it depended on, and what it found."""

    folder: Path
    signature: str
    """Hash of everything that the result depends on, the earlier stages included."""
    settings: dict[str, Any]
    """What this stage itself depended on."""
    result: dict[str, Any]
    """What it found, as plain values."""


def signature(before: str, name: str, settings: Mapping[str, Any]) -> str:
    """Hash a stage's name and settings together with the stage before it.

    Examples
    --------
    >>> signature("", "length", {"least": 3}) == signature("", "length", {"least": 4})
    False
    """
    told = json.dumps([before, name, settings], sort_keys=True, ensure_ascii=False)
    return sha256(told.encode()).hexdigest()[:32]


def read_stage(folder: Path) -> Stage | None:
    """Read what a finished stage found; None where the folder holds no finished one."""
    try:
        told = json.loads((folder / _DONE).read_text(encoding="utf-8"))
        return Stage(folder, told["signature"], told["settings"], told["result"])
    except (FileNotFoundError, json.JSONDecodeError, KeyError):
        return None


def write_stage(stage: Stage) -> Stage:
    """Mark a stage as finished; the mark appears at once, or not at all."""
    told = {
        "signature": stage.signature,
        "settings": stage.settings,
        "result": stage.result,
    }
    written = stage.folder / f"{_DONE}.new"
    written.write_text(json.dumps(told, ensure_ascii=False, indent=1), encoding="utf-8")
    written.replace(stage.folder / _DONE)
    return stage


def begin_stage(folder: Path) -> None:
    """Make an empty folder for a stage; what an interrupted run left there goes."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def changed(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Say in words which settings differ.

    Examples
    --------
    >>> changed({"least": 3, "most": 30}, {"least": 4, "most": 30})
    'least is 4 and was 3'
    """
    names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    return ", ".join(_difference(name, old.get(name), new.get(name)) for name in names)


def _difference(name: str, old: Any, new: Any) -> str:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return changed(old, new)
    if any(isinstance(one, str) and _HASH.fullmatch(one) for one in (old, new)):
        return f"other {name} than before"
    return f"{name} is {_shown(new)} and was {_shown(old)}"


def _shown(value: Any) -> str:
    if value is None:
        return "not given"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}…"
