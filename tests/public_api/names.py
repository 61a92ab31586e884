"""Names that are public without being Python: entry points, files, what is chosen by its name."""

from __future__ import annotations

import re
from importlib import import_module

from tests.public_api.source import REPOSITORY, listed_in_all, public_modules

from affectlab.core.errors import MissingDependencyError

__all__ = ["entry_point_groups", "name_entries", "registered_names"]

_FILES = {
    "policy": "reliability/screening/data",
    "protocol": "protocols/data",
    "taxonomy": "taxonomy/data",
    "template": "study/design/templates",
    "published": "recipes/published",
}
_NO_REGISTRY = {"list_accounts", "list_mle"}
"""Public functions called ``list_…`` that list nothing which a user could choose by name."""


def name_entries() -> dict[str, str]:
    """Give groups of entry points, versions of formats, and names of built-in files."""
    entries = dict.fromkeys(sorted(entry_point_groups()), "group of entry points")
    entries |= dict.fromkeys(sorted(_formats()), "format of a file")
    package = REPOSITORY / "src" / "affectlab"
    for kind, folder in _FILES.items():
        for path in sorted((package / folder).glob("*.toml")):
            entries[f"{kind} {path.stem}"] = "built-in"
    return entries


def registered_names(known: dict[str, str]) -> dict[str, str]:
    """Give what public functions ``list_…`` list, from which users choose by name.

    Where one cannot be called for want of an optional library, what is `known` of it stays.
    """
    entries: dict[str, str] = {}
    for module in public_modules():
        for name in listed_in_all(module):
            if name.startswith("list_") and name not in _NO_REGISTRY:
                try:
                    found = getattr(import_module(module), name)()
                except (MissingDependencyError, ModuleNotFoundError):
                    entries[name] = known.get(name, "")
                    continue
                entries[name] = ", ".join(sorted(getattr(one, "name", one) for one in found))
    return entries


def entry_point_groups() -> set[str]:
    """Give the groups under which other packages can offer something."""
    return _written(r'\b_?(?:GROUP|ENTRY_POINTS|group) ?= ?"(affectlab\.\w+)"')


def _formats() -> set[str]:
    return {name for name in _written(r'"(affectlab/[a-z-]+/\d+)"') if "-ledger/" not in name}


def _written(pattern: str) -> set[str]:
    files = (REPOSITORY / "src" / "affectlab").rglob("*.py")
    return {name for path in files for name in re.findall(pattern, path.read_text("utf-8"))}
