"""Run cases on one side, in a process of its own, and write their leaves as JSON.

``python -m tests.golden.worker CASES OUT SOURCE [PATTERN ...]``. The package is the one under
SOURCE; CASES is a folder with the files of cases, in the spelling of that side.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import re
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.golden.case import Case
from tests.golden.tree import Leaves, leaves

ROOMS = ("analysis", "evaluation", "ratings", "reliability", "simulate", "taxonomy")
"""Of these, every public name of the base is to be reached by a case."""
_PASSING = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)
"""Warnings about libraries and their versions, not about results."""


def load(folder: Path) -> dict[str, ModuleType]:
    """Import the files of a folder as modules of a package of their own."""
    spec = importlib.util.spec_from_loader("golden_cases", loader=None, is_package=True)
    assert spec is not None
    package = importlib.util.module_from_spec(spec)
    package.__path__ = [str(folder)]
    sys.modules["golden_cases"] = package
    return {
        file.stem: importlib.import_module(f"golden_cases.{file.stem}")
        for file in sorted(folder.glob("*.py"))
        if file.stem != "__init__"
    }


def cases(modules: dict[str, ModuleType]) -> dict[str, tuple[Case, str | None]]:
    """Name every case and the table it runs on: ``file.function@table``."""
    return {
        f"{stem}.{name}" + (f"@{table}" if table else ""): (found, table)
        for stem, module in modules.items()
        for name, found in vars(module).items()
        if isinstance(found, Case)
        if all(importlib.util.find_spec(library) for library in found.needs)
        for table in found.tables or (None,)
    }


def run(
    al: ModuleType, found: Case, arguments: Sequence[Any], seen: set[str], public: set[str]
) -> Any:
    """Run one case in an empty folder.

    What a case returns may hold calls, so that an error of one of them does not hide the others.
    """

    def outcome(call: Callable[[], Any]) -> Any:
        try:
            value = call()
        except al.AffectlabError as error:
            return {"error": {"kind": type(error).__name__, "text": str(error)}}
        if not isinstance(value, dict):
            return value
        return {key: outcome(item) if callable(item) else item for key, item in value.items()}

    begun, before = time.perf_counter(), Path.cwd()
    told: Leaves = {}
    crash = ""
    with tempfile.TemporaryDirectory(prefix="golden-") as folder:
        os.chdir(folder)
        try:
            with warnings.catch_warnings(record=True) as noted:
                warnings.simplefilter("always")
                value = outcome(lambda: found.run(al, *(make() for make in arguments)))
                told = leaves(value, "", seen, public)
            texts = dict.fromkeys(
                f"{warning.category.__name__}: {warning.message}"
                for warning in noted
                if not issubclass(warning.category, _PASSING)
            )
            told |= leaves(list(texts), "warnings")
        except Exception:  # noqa: BLE001 (whatever it is, the other cases are worth running)
            crash = traceback.format_exc()
        finally:
            os.chdir(before)
    return {
        "leaves": told,
        "tolerance": found.tolerance,
        "crash": crash,
        "seconds": round(time.perf_counter() - begun, 2),
    }


def main(folder: str, out: str, source: str, *patterns: str) -> None:
    # Before whatever else the interpreter was told to look into.
    sys.path.insert(0, source)
    import affectlab

    at = Path(str(affectlab.__file__)).resolve()
    if not at.is_relative_to(Path(source).resolve()):
        sys.exit(f"affectlab was loaded from {at.parent}, not from {source}")
    modules = load(Path(folder))
    seen: set[str] = set()
    names = {room: list(getattr(affectlab, room).__all__) for room in ROOMS}
    # A class stays a part of what a result says where the package does not hand it out any more.
    listed = Path(__file__).with_name("inventory.txt").read_text("utf-8")
    classes = re.findall(r"^affectlab(?:\.\w+)*\.([A-Z]\w*)$", listed, re.MULTILINE)
    public = set().union(*names.values(), affectlab.__all__, classes)

    def arguments(table: str | None) -> list[Callable[[], Any]]:
        return [] if table is None else [lambda: modules["tables"].make(affectlab, table)]

    results = {
        name: run(affectlab, found, arguments(table), seen, public)
        for name, (found, table) in cases(modules).items()
        if (found.quick and not patterns) or any(fnmatchcase(name, p) for p in patterns)
    }
    report = {"cases": results, "classes": sorted(seen), "public": names}
    Path(out).write_text(json.dumps(report), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
