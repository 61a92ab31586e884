"""What a run was computed with: versions, seeds, the machine, and hashes of its inputs."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from affectlab._version import __version__
from affectlab.recipes.recipe import PartFailure

__all__ = ["digest", "provenance_of"]

_LIBRARIES = (
    "numpy",
    "scipy",
    "polars",
    "numba",
    "scikit-learn",
    "pillow",
    "matplotlib",
    "scikit-image",
    "av",
    "torch",
    "transformers",
    "tokenizers",
    "torchmetrics",
    "pyspellchecker",
    "rapidfuzz",
    "phonenumbers",
)
"""Libraries on whose version a value, or a picture, can depend; those that are not installed are
left out."""


def provenance_of(
    recipe: str,
    *,
    inputs: Sequence[Path],
    seed: int,
    seeds: Sequence[int],
    quick: bool,
    simulated: bool,
    failures: Sequence[PartFailure] = (),
) -> dict[str, Any]:
    """Say what a run was computed with; the same run on the same machine says the same.

    Parameters
    ----------
    recipe
        Name of the recipe.
    inputs
        Files that were read.
    seed
        Seed that was given.
    seeds
        Seeds that were used.
    quick, simulated
        What was asked for.
    failures
        Parts that failed.
    """
    return {
        "recipe": recipe,
        "affectlab": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "machine": platform.machine(),
        "libraries": _versions(),
        "data": "simulated" if simulated else "given",
        "seed": seed,
        "seeds": list(seeds),
        "quick": quick,
        "inputs": [{"file": path.name, "sha256": digest(path)} for path in inputs],
        "failures": [
            {"part": one.part, "reason": one.reason}
            | ({"traceback": one.traceback} if one.traceback else {})
            for one in failures
        ],
    }


def _versions() -> Mapping[str, str]:
    found = {}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def digest(path: Path) -> str:
    """Hash a file, SHA-256 in hexadecimal digits.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     place = Path(folder) / "a"
    ...     _ = place.write_bytes(b"a")
    ...     digest(place)[:8]
    'ca978112'
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
