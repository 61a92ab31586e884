"""``affectlab doctor``: what is installed, and what would be possible with more."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.text import Text

from affectlab._version import __version__
from affectlab.cli._extras import EXTRAS, FOR_DEVELOPERS
from affectlab.core.environment import (
    Library,
    accelerator,
    browsers,
    database as databases,
    disks,
    import_all,
    look_up,
    machine,
    required,
    threads,
    with_problems,
)
from affectlab.core.installing import install_line
from affectlab.core.render.grid import Table
from affectlab.core.words import joined, plural, shown

if TYPE_CHECKING:
    from affectlab.cli._output import Output


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
                "install": install_line(name),
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


Row = tuple[str, str]


def show(
    out: Output,
    found: Mapping[str, Any],
    core: Sequence[Library],
    extras: Mapping[str, Sequence[Library]],
) -> None:
    """Print what was found, what is needed first, in lines that fit 80 columns."""
    system = f"Python {found['python']} on {found['system']} ({found['machine']})"
    out.show(f"affectlab {found['affectlab']}, {system}")
    _section(out, "Needed", _core_rows(core))
    _section(out, "Extras", [_extra_row(name, some) for name, some in extras.items()])
    waiting = [row for name, some in extras.items() for row in _waiting_rows(name, some)]
    if waiting:
        _section(out, "What waits for them", waiting)
    _section(out, "Databases of studies", _database_rows(found))
    _section(out, "Machine", _machine_rows(found))
    out.show("")
    out.show(_verdict(core))


def _section(out: Output, head: str, rows: Sequence[Row]) -> None:
    if not rows:
        return
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in rows:
        table.add_row(Text(f"  {shown(name)}"), Text(shown(text), style=_style(text)))
    out.show("")
    out.head(head)
    out.show(table)


def _style(text: str) -> str:
    return "red" if text.startswith(("missing", "broken", "too old")) else ""


def _core_rows(core: Sequence[Library]) -> list[Row]:
    here = [f"{one.name} {one.version}" for one in core if one.state == "here"]
    rows = [("here", joined(here))] if here else []
    return rows + [(one.name, _state(one)) for one in core if one.state != "here"]


def _state(library: Library) -> str:
    if library.state == "missing":
        return "missing"
    if library.state == "old":
        return f"too old: {library.version}; expected {library.wanted} or newer"
    if library.state == "broken":
        return f"broken: {library.version} is installed, importing it says: {library.problem}"
    return str(library.version)


def _extra_row(name: str, libraries: Sequence[Library]) -> Row:
    if all(one.state == "here" for one in libraries):
        return name, f"here, for {EXTRAS[name].purpose}" if name in EXTRAS else "here"
    parts = []
    missing = [one.name for one in libraries if one.state == "missing"]
    if len(missing) == len(libraries):
        parts.append("missing")
    elif missing:
        parts.append(f"missing {joined(missing)}")
    parts += [f"{one.name}: {_state(one)}" for one in libraries if one.state in ("old", "broken")]
    return name, "; ".join(parts)


def _waiting_rows(name: str, libraries: Sequence[Library]) -> list[Row]:
    """Say what does not work without an extra, and how it is installed."""
    use = EXTRAS.get(name)
    if use is None or all(one.state == "here" for one in libraries):
        return []
    verbs = list(use.verbs) + [f"{verb} ({what})" for verb, what in use.partly.items()]
    return [(name, ", ".join(verbs)), ("", install_line(name))]


def _database_rows(found: Mapping[str, Any]) -> list[Row]:
    sqlite, driver = found["database"]["sqlite"], found["database"]["driver"]
    address = found["database"]["address"]
    works = "" if not found["imported"] else ", writes and reads back"
    problem = f"does not work: {sqlite['problem']}"
    rows = [("SQLite", problem if sqlite["problem"] else f"{sqlite['sqlite']}{works}")]
    if driver is not None:
        missing = f"no driver ({install_line('study')})"
        rows.append(("PostgreSQL", driver["problem"] or driver["driver"] or missing))
    if address is None and not found["imported"]:
        return rows
    if address is None:
        rows.append(("", "no address given (--database, or AFFECTLAB_DATABASE): none tried"))
        return rows
    rows.append(("address", address["address"]))
    if address["problem"]:
        rows.append(("", f"not reached: {address['problem']}"))
        return rows
    rows.append(
        (
            "",
            f"{address['kind']} {address['version']}, "
            + ("tables may be made" if address["may_create"] else "no tables may be made")
            + (", holds a study" if address["has_study"] else ", holds no study yet"),
        )
    )
    return rows


def _machine_rows(found: Mapping[str, Any]) -> list[Row]:
    usable, all_of_them = found["usable_processors"], found["processors"]
    processors = plural(usable, "processor")
    if usable != all_of_them:
        processors += f" of {all_of_them} may be used"
    memory = _size(found["memory_bytes"])
    if found["memory_limit_bytes"] is not None:
        memory = f"{_size(found['memory_limit_bytes'])} may be used, of {memory}"
    threads = [f"{name}={value}" for name, value in found["threads"].items()]
    rows = [
        ("processors", processors),
        ("memory", memory),
        *((_free(one.what), _disk(one)) for one in found["disks"]),
        ("threads", joined(threads) if threads else "as many as each library chooses"),
        *_accelerator_rows(found["accelerator"], looked=found["imported"]),
    ]
    browsers = [f"{one['version'] or 'a browser'} ({one['path']})" for one in found["browsers"]]
    none = "none found here; whoever takes part brings their own"
    rows.append(("browser", "; ".join(browsers) if browsers else none))
    return rows


def _accelerator_rows(found: Mapping[str, Any], *, looked: bool) -> list[Row]:
    if not looked:
        driver = found["driver"]
        return [] if driver is None else [("driver", f"NVIDIA {driver}".strip())]
    if found["problem"]:
        return [("networks", f"torch cannot be asked: {found['problem']}")]
    if found["torch"] is None:
        rows = [("networks", "torch is not installed")]
    else:
        built = f"torch {found['torch']}, built for {found['built_for']}"
        rows = [("networks", built + ("" if found["devices"] else "; computes on the CPU"))]
    for one in found["devices"]:
        free = "" if one["free_bytes"] is None else f", {_size(one['free_bytes'])} of it free"
        rows.append((one["device"], f"{one['name']}, {_size(one['memory_bytes'])}{free}"))
    if found["driver"]:
        rows.append(("driver", f"NVIDIA {found['driver']}"))
    if found["advice"]:
        rows.append(("", found["advice"]))
    return rows


def _free(what: str) -> str:
    return "disk" if what == "here" else f"disk, {what}"


def _disk(one: Any) -> str:
    if one.free_bytes is None:
        return f"cannot be looked at: {one.path}"
    return f"{_size(one.free_bytes)} free ({one.path})"


def _size(n_bytes: int | None) -> str:
    return "unknown" if n_bytes is None else f"{n_bytes / 2**30:,.1f} GiB"


def _verdict(core: Sequence[Library]) -> str:
    if not core:
        return "affectlab itself is not installed: its metadata was not found."
    lacking = [one.name for one in core if one.state in ("missing", "broken")]
    if lacking:
        verb = "are" if len(lacking) > 1 else "is"
        return (
            f"{joined(lacking)} {verb} needed. Install affectlab again: "
            f"{install_line()} --force-reinstall"
        )
    old = [one.name for one in core if one.state == "old"]
    if old:
        return f"Older than affectlab expects: {joined(old)}. {install_line()} --upgrade"
    return "Everything that affectlab needs is here."
