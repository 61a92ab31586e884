"""Environments that lack libraries, or hold other ones, made of this one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Python reads this file at its start: what is hidden is neither found nor known to be installed.
_SITE = """\
import os, sys
from importlib.metadata import MetadataPathFinder

_modules = set(os.environ["HIDDEN_MODULES"].split())
_libraries = set(os.environ["HIDDEN_LIBRARIES"].split())
_find = MetadataPathFinder.find_distributions


class _Hide:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in _modules:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


def _find_shown(*given, **options):
    for found in _find(*given, **options):
        if found.metadata["Name"].lower().replace("_", "-") not in _libraries:
            yield found


sys.meta_path.insert(0, _Hide)
MetadataPathFinder.find_distributions = staticmethod(_find_shown)
"""


@dataclass
class Environment:
    """This environment, without some libraries, and with those of a folder before it."""

    folder: Path
    hidden: Iterable[str] = ()
    """Libraries that are hidden, by the names that they are installed by."""

    def put(self, library: str, source: str, version: str = "99.0") -> None:
        """Put in a library of this source."""
        from affectlab.cli._extras import module_of

        package = self.folder / module_of(library)
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(source, encoding="utf-8")
        info = self.folder / f"{library.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {library}\nVersion: {version}\n", encoding="utf-8"
        )

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run ``affectlab`` there."""
        from affectlab.cli._extras import module_of

        self.folder.mkdir(exist_ok=True)
        (self.folder / "sitecustomize.py").write_text(_SITE, encoding="utf-8")
        told = {
            "PATH": "",
            "PYTHONPATH": str(self.folder),
            "HIDDEN_LIBRARIES": " ".join(self.hidden),
            "HIDDEN_MODULES": " ".join(map(module_of, self.hidden)),
            "COLUMNS": "80",
            "PYTHONIOENCODING": "utf-8",
            "HOME": os.environ.get("HOME", "/"),
        }
        return subprocess.run(
            [sys.executable, "-c", "from affectlab.cli import main; main()", *arguments],
            check=False,
            capture_output=True,
            text=True,
            env=told | environment,
            cwd=self.folder,
        )

    def doctor(self, *arguments: str, code: int = 0, **environment: str) -> dict[str, Any]:
        """Run ``affectlab doctor --json`` there, and give its result."""
        done = self.run("doctor", "--json", *arguments, **environment)
        assert done.returncode == code, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)["result"]
        return found
