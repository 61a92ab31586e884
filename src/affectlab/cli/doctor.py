"""``affectlab doctor``: what is installed, and what would be possible with more."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rich.text import Text

from affectlab._version import __version__
from affectlab.cli._extras import EXTRAS, FOR_DEVELOPERS
from affectlab.core.environment.installing import install_line
from affectlab.core.environment.libraries import Library, import_problem, look_up, required
from affectlab.core.render.grid import Table
from affectlab.core.words import joined, plural, shown

if TYPE_CHECKING:
    from affectlab.cli._output import Output

_THREADS = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS")
_DEVICES = """\
import json, torch
cuda = [torch.cuda.get_device_properties(k) for k in range(torch.cuda.device_count())]
found = [f"cuda:{k}: {one.name}, {one.total_memory / 2**30:.1f} GiB" for k, one in enumerate(cuda)]
found += ["mps: Apple GPU"] * torch.backends.mps.is_available()
built = torch.version.cuda or getattr(torch.version, "hip", None)
print(json.dumps({"torch": torch.__version__, "built_for": built or "CPU", "devices": found}))
"""
"""Asks torch in a process of its own: a driver may end it."""


def doctor(out: Output, *, full: bool = False, database: str | None = None) -> None:
    """Say what is installed, which verbs wait for more, and what the machine has.

    The exit code is 1 when a needed library is missing or, with --full, broken.

    Parameters
    ----------
    full
        Also import every library, in a process of its own, and ask torch for devices: minutes.
    database
        Address of a database of studies, to be tried: postgresql://user@host/name.
    """
    wanted, brought = required()
    with out.progress("looking") as say:
        say("libraries", 0, 1)
        core = look_up(wanted, imported=full)
        extras = {
            name: look_up(some, imported=full)
            for name, some in brought.items()
            if name not in FOR_DEVELOPERS
        }
        found: dict[str, Any] = {
            "affectlab": __version__,
            "python": platform.python_version(),
            "system": f"{platform.platform(terse=True)} ({platform.machine()})",
            "processors": len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else os.cpu_count(),
            "threads": {name: os.environ[name] for name in _THREADS if os.environ.get(name)},
            "accelerator": _accelerator() if full else None,
            "database": None if database is None else _tried(database),
        }
    _show(out, found, core, extras)
    every = {
        "libraries": {one.name: one.version for one in core},
        **_states(core),
        "extras": {name: _extra(name, some) for name, some in extras.items()},
    }
    out.finish(found | every)
    if not core or any(one.state in ("missing", "broken") for one in core):
        raise SystemExit(1)


def _accelerator() -> dict[str, Any]:
    """Ask torch what it was built for, and which devices it finds."""
    if problem := import_problem("torch"):
        return {"problem": problem}
    asked = subprocess.run(
        [sys.executable, "-P", "-c", _DEVICES],
        check=False,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=180,
    )
    try:
        answer: dict[str, Any] = json.loads(asked.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        return {"problem": "torch ended the process when it was asked for devices"}
    return answer


def _tried(url: str) -> dict[str, Any]:
    from affectlab.study import try_address

    # How long to wait for a server that does not answer, where the address does not say it.
    os.environ.setdefault("PGCONNECT_TIMEOUT", "10")
    return try_address(url)


def _extra(name: str, some: list[Library]) -> dict[str, Any]:
    """Give what is known of an extra as plain values."""
    use = EXTRAS.get(name)
    return {
        "complete": all(one.state == "here" for one in some),
        "libraries": {one.name: one.version for one in some},
        **_states(some),
        "verbs": list(use.verbs) if use else [],
        "partly": dict(use.partly) if use else {},
        "install": install_line(name),
    }


def _states(libraries: Iterable[Library]) -> dict[str, Any]:
    every = list(libraries)
    return {
        "missing": [one.name for one in every if one.state == "missing"],
        "old": {one.name: f"{one.version}, not {one.wanted}" for one in every if one.is_old},
        "broken": {one.name: one.problem for one in every if one.state == "broken"},
    }


Row = tuple[str, str]


def _show(
    out: Output, found: dict[str, Any], core: list[Library], extras: dict[str, list[Library]]
) -> None:
    """Print what was found, what is needed first, in lines that fit 80 columns."""
    out.show(f"affectlab {found['affectlab']}, Python {found['python']} on {found['system']}")
    here = [f"{one.name} {one.version}" for one in core if one.state == "here"]
    needed = [("here", joined(here))] if here else []
    _section(out, "Needed", [*needed, *((one.name, _state(one)) for one in core if _state(one))])
    _section(out, "Extras", [row for name, some in extras.items() for row in _rows(name, some)])
    machine = [("processors", plural(found["processors"], "processor"))]
    if found["threads"]:
        machine.append(("threads", joined([f"{k}={v}" for k, v in found["threads"].items()])))
    if (asked := found["accelerator"]) is not None:
        built = f"torch {asked.get('torch')}, built for {asked.get('built_for')}"
        machine.append(("networks", asked.get("problem") or built))
        machine += [("", device) for device in asked.get("devices", ())]
    if (tried := found["database"]) is not None:
        holds = "holds a study" if tried["has_study"] else "holds no study yet"
        said = f"not reached: {tried['problem']}" if tried["problem"] else ""
        machine += [("database", tried["address"]), ("", said or f"{tried['version']}, {holds}")]
    _section(out, "Machine", machine)
    out.show("")
    out.show(_verdict(core))


def _section(out: Output, head: str, rows: list[Row]) -> None:
    if not rows:
        return
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in rows:
        style = "red" if text.startswith(("missing", "broken", "too old")) else ""
        table.add_row(Text(f"  {shown(name)}"), Text(shown(text), style=style))
    out.show("")
    out.head(head)
    out.show(table)


def _state(library: Library) -> str:
    return {
        "here": "",
        "missing": "missing",
        "old": f"too old: {library.version}; expected {library.wanted}",
        "broken": f"broken: {library.version} is installed, importing it says: {library.problem}",
    }[library.state]


def _rows(name: str, some: list[Library]) -> list[Row]:
    """Say whether an extra is complete, else what waits for it and how it is installed."""
    use = EXTRAS.get(name)
    if all(one.state == "here" for one in some):
        return [(name, f"here, for {use.purpose}" if use else "here")]
    missing = [one.name for one in some if one.state == "missing"]
    said = "missing" if len(missing) == len(some) else f"missing {joined(missing)}"
    parts = [said] if missing else []
    parts += [f"{one.name}: {_state(one)}" for one in some if one.state in ("old", "broken")]
    rows = [(name, "; ".join(parts))]
    if use:
        verbs = [*use.verbs, *(f"{verb} ({what})" for verb, what in use.partly.items())]
        rows += [("", f"waiting: {', '.join(verbs)}"), ("", install_line(name))]
    return rows


def _verdict(core: list[Library]) -> str:
    if not core:
        return "affectlab itself is not installed: its metadata was not found."
    lacking = [one.name for one in core if one.state in ("missing", "broken")]
    if lacking:
        verb = "are" if len(lacking) > 1 else "is"
        again = f"{install_line()} --force-reinstall"
        return f"{joined(lacking)} {verb} needed. Install affectlab again: {again}"
    if old := [one.name for one in core if one.is_old]:
        return f"Older than affectlab expects: {joined(old)}. {install_line()} --upgrade"
    return "Everything that affectlab needs is here."
