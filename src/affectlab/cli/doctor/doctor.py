"""``affectlab doctor``: what is installed, and what would be possible with more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from affectlab.cli._output import Output
    from affectlab.cli.doctor.libraries import Library


def doctor(out: Output, *, full: bool = False, database: str | None = None) -> None:
    """Say what is installed, which verbs wait for more, and what the machine has.

    The exit code is 1 when a needed library is missing or, with --full, broken. An address of a
    database is tried where one is given.

    Parameters
    ----------
    full
        Also import every library, in a process of its own, write to a database and ask for GPUs:
        minutes.
    database
        Address of a database: postgresql://user@host/name.
    """
    import platform

    from affectlab._version import __version__
    from affectlab.cli._extras import FOR_DEVELOPERS, required
    from affectlab.cli.doctor.accelerator import accelerator
    from affectlab.cli.doctor.database import database as databases
    from affectlab.cli.doctor.libraries import import_all, look_up, with_problems
    from affectlab.cli.doctor.machine import browsers, disks, machine, threads
    from affectlab.cli.doctor.show import show

    wanted, brought = required()
    core = look_up(wanted)
    extras = {name: look_up(one) for name, one in brought.items() if name not in FOR_DEVELOPERS}
    problems: dict[str, str] = {}
    with out.progress("looking") as say:
        if full:
            every = {
                one.name: one for one in (*core, *(x for some in extras.values() for x in some))
            }
            problems = import_all(every.values(), say)
        say("asking for devices and databases", 0, 1)
        found: dict[str, Any] = {
            "affectlab": __version__,
            "python": platform.python_version(),
            **machine(),
            "imported": full,
            "accelerator": accelerator(look=full),
            "database": databases(database, look=full),
            "browsers": browsers(),
            "disks": disks(),
            "threads": threads(),
        }
    core = with_problems(core, problems)
    extras = {name: with_problems(some, problems) for name, some in extras.items()}
    show(out, found, core, extras)
    out.finish(found | _libraries(core, extras))
    if not core or any(one.state in ("missing", "broken") for one in core):
        raise SystemExit(1)


def _libraries(core: list[Library], extras: dict[str, list[Library]]) -> dict[str, Any]:
    """Give what is known of libraries and extras as plain values."""
    from affectlab.cli._extras import EXTRAS

    return {
        "libraries": {one.name: one.version for one in core},
        **_states(core),
        "extras": {
            name: {
                "complete": all(one.state == "here" for one in some),
                "libraries": {one.name: one.version for one in some},
                **_states(some),
                "verbs": list(EXTRAS[name].verbs) if name in EXTRAS else [],
                "partly": dict(EXTRAS[name].partly) if name in EXTRAS else {},
                "install": f'pip install "affectlab[{name}]"',
            }
            for name, some in extras.items()
        },
    }


def _states(libraries: list[Library]) -> dict[str, Any]:
    return {
        "missing": [one.name for one in libraries if one.state == "missing"],
        "old": {
            one.name: f"{one.version} < {one.wanted}" for one in libraries if one.state == "old"
        },
        "broken": {one.name: one.problem for one in libraries if one.state == "broken"},
    }
