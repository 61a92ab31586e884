"""What affectlab needs, and what each extra is for, as its own metadata says."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from affectlab.core.environment.installing import install_line
from affectlab.core.environment.libraries import module_of, required


@dataclass(frozen=True)
class Use:
    """What an extra is for."""

    purpose: str
    """What it brings, in a few words."""
    verbs: tuple[str, ...] = ()
    """Verbs, or groups of verbs, that do nothing without it."""
    partly: Mapping[str, str] = field(default_factory=dict)
    """Of verbs that do less without it: what they cannot do."""


def _read_extras() -> Iterator[tuple[str, Use]]:
    told = tomllib.loads(Path(__file__).with_name("extras.toml").read_text(encoding="utf-8"))
    for name, one in told.items():
        verbs = tuple(one.get("verbs", ()))
        yield name, Use(one["purpose"], verbs, MappingProxyType(one.get("partly", {})))


EXTRAS: Mapping[str, Use] = MappingProxyType(dict(_read_extras()))
"""Every extra that users install, by name."""

FOR_DEVELOPERS = ("dev", "docs")

"""Extras that no verb needs."""


def extra_of(module: str) -> str | None:
    """Find what to install for a module: an extra, "" for affectlab itself, None: neither.

    Of several extras that bring a library, the one of its own is named: torch is of ``models``,
    although ``images`` brings it as well.
    """
    core, extras = required()
    if any(module_of(one.name) == module for one in core):
        return ""
    holding = [
        extra
        for extra, libraries in extras.items()
        if extra not in FOR_DEVELOPERS and any(module_of(one.name) == module for one in libraries)
    ]
    return min(holding, key=lambda extra: len(extras[extra]), default=None)


def missing_library(error: ImportError) -> str | None:
    """Say in one sentence which library is missing or broken; None where it is a part of ours.

    Parameters
    ----------
    error
        What an import raised.
    """
    module = (error.name or "").partition(".")[0]
    if not module or module == "affectlab":
        return None
    extra = extra_of(module)
    if isinstance(error, ModuleNotFoundError) and error.name == module:
        what = f"this needs {module}, which is not installed"
    else:
        what = f"this needs {module}, which cannot be imported ({_first_line(error)})"
    if extra is None:
        return f"{what}; affectlab doctor says what is missing"
    return f"{what}; install it with: {install_line(extra)}"


def _first_line(error: ImportError) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
