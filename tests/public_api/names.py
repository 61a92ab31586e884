"""Names that are public without being Python: entry points, formats of files, built-in files."""

from __future__ import annotations

import re

from tests.public_api.source import REPOSITORY

__all__ = ["entry_point_groups", "name_entries"]

_FILES = {
    "policy": "reliability/screening/data",
    "protocol": "protocols/data",
    "taxonomy": "taxonomy/data",
    "template": "study/design/templates",
    "published": "recipes/published",
}


def name_entries() -> dict[str, str]:
    """Give groups of entry points, versions of formats, and names of built-in files."""
    entries = dict.fromkeys(sorted(entry_point_groups()), "group of entry points")
    entries |= dict.fromkeys(sorted(_formats()), "format of a file")
    package = REPOSITORY / "src" / "affectlab"
    for kind, folder in _FILES.items():
        for path in sorted((package / folder).glob("*.toml")):
            entries[f"{kind} {path.stem}"] = "built-in"
    return entries


def entry_point_groups() -> set[str]:
    """Give the groups under which other packages can offer something."""
    return _written(r'\b_?(?:GROUP|ENTRY_POINTS|group) ?= ?"(affectlab\.\w+)"')


def _formats() -> set[str]:
    return {name for name in _written(r'"(affectlab/[a-z-]+/\d+)"') if "-ledger/" not in name}


def _written(pattern: str) -> set[str]:
    files = (REPOSITORY / "src" / "affectlab").rglob("*.py")
    return {name for path in files for name in re.findall(pattern, path.read_text("utf-8"))}
