"""The machine: processors, memory, disk, threads, and browsers that are installed."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from affectlab.core.environment.processes import output_of

_THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "POLARS_MAX_THREADS",
)
_BROWSERS = (
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"),
    *("microsoft-edge", "firefox"),
)
_APPLICATIONS = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Firefox.app/Contents/MacOS/firefox",
)
_UNLIMITED = 2**60
"""Limits of a container from here on are none."""


@dataclass(frozen=True)
class Disk:
    """A folder, and how much can still be written to it."""

    what: str
    path: str
    free_bytes: int | None
    """None: the folder cannot be looked at."""


def machine() -> dict[str, Any]:
    """Look at the processors and the memory, and what of them may be used."""
    total, limit = _memory(), _memory_limit()
    return {
        "system": platform.platform(terse=True),
        "machine": platform.machine(),
        "processors": os.cpu_count() or 1,
        "usable_processors": _usable_processors(),
        "memory_bytes": total,
        "memory_limit_bytes": limit if limit is not None and limit < (total or limit + 1) else None,
    }


def disks() -> list[Disk]:
    """Look at the free space here, where temporary files go, and where models are kept."""
    places = {
        "here": Path.cwd,
        "temporary files": lambda: Path(tempfile.gettempdir()),
        "home": Path.home,
    }
    found = []
    for what, place in places.items():
        try:
            path = place()
            found.append(Disk(what, str(path), shutil.disk_usage(path).free))
        except (OSError, RuntimeError) as error:
            found.append(Disk(what, str(error), None))
    return found


def threads() -> dict[str, str]:
    """Give the settings of the environment that say how many threads libraries start."""
    return {name: os.environ[name] for name in _THREADS if os.environ.get(name)}


def browsers() -> list[dict[str, str]]:
    """Find browsers, and ask each which version it is."""
    found = [place for place in map(shutil.which, _BROWSERS) if place is not None]
    found += [place for place in _APPLICATIONS if Path(place).exists()]
    seen: dict[str, dict[str, str]] = {}
    for place in found:
        # "" where a browser does not say its version.
        said = output_of(place, "--version").partition("\n")[0].strip()
        seen.setdefault(os.path.realpath(place), {"path": place, "version": said})
    return list(seen.values())


def _usable_processors() -> int:
    """Count the processors that this process may run on, as a container rations them too."""
    try:
        here = len(os.sched_getaffinity(0))
    except AttributeError:
        here = os.cpu_count() or 1
    quota, _, period = (_text("/sys/fs/cgroup/cpu.max") or "max 1").partition(" ")
    if quota.isdigit() and period.strip().isdigit() and int(period):
        here = min(here, max(1, round(int(quota) / int(period))))
    return here


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return _windows_memory() if sys.platform == "win32" else None


def _windows_memory() -> int | None:
    import ctypes

    class Status(ctypes.Structure):
        _fields_ = [
            ("length", ctypes.c_ulong),
            ("load", ctypes.c_ulong),
            *((name, ctypes.c_ulonglong) for name in ("total", "free", "a", "b", "c", "d", "e")),
        ]

    status = Status(length=ctypes.sizeof(Status))
    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009
    return int(status.total) if kernel.GlobalMemoryStatusEx(ctypes.byref(status)) else None


def _memory_limit() -> int | None:
    """Read what a container may use; None: there is no limit."""
    for place in ("memory.max", "memory/memory.limit_in_bytes"):
        said = (_text(f"/sys/fs/cgroup/{place}") or "").strip()
        if said.isdigit() and int(said) < _UNLIMITED:
            return int(said)
    return None


def _text(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
