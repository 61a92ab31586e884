"""``affectlab study status``."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from affectlab.cli._options import JsonOption, QuietOption
from affectlab.cli._output import Output
from affectlab.cli.study._common import DatabaseOption, StudyArgument, require_study_extra

if TYPE_CHECKING:
    from affectlab.study import StudyStatus

__all__ = ["status"]

_NAMED = 5
"""Stimuli of a kind that are named; `--json` has all of them."""


def status(
    study: StudyArgument,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Say how far a study is.

    Example: affectlab study status examples/study-faces.toml
    """
    require_study_extra()
    from affectlab.core.terminal import Table
    from affectlab.core.words import count, percent, plural
    from affectlab.study import load_study, open_store, study_status

    out = Output("study status", as_json=as_json, quiet=quiet)
    with open_store(load_study(study), database) as store:
        found = study_status(store)
    table = Table(box=None, show_header=False)
    share = found.valid / found.wanted if found.wanted else 0.0
    pace = "–" if found.seconds_per_trial is None else f"{found.seconds_per_trial:.1f} s"
    for name, value in (
        ("study", f"{found.name} ({found.status})"),
        (
            "visitors",
            f"{count(found.participants)}, of these {count(found.simulated)} simulated",
        ),
        ("took part", plural(found.consented, "person", "people")),
        ("sessions", ", ".join(f"{n} {stage}" for stage, n in sorted(found.sessions.items()))),
        ("ended, why", ", ".join(f"{n} {why}" for why, n in found.ended.items())),
        *([("withdrawn", plural(found.withdrawn, "session"))] if found.withdrawn else []),
        ("answers", f"{count(found.answers)}, of these {count(found.rejected)} rejected"),
        *([("trials left out", count(found.skipped))] if found.skipped else []),
        ("sessions rejected", _rejected(found)),
        ("valid", f"{count(found.valid)} of {count(found.wanted)} wanted ({percent(share)})"),
        *([("valid beyond these", count(found.surplus))] if found.surplus else []),
        *([("stimuli that lack some", _some(found.below))] if found.below else []),
        *([("of these, not on this machine", _some(found.unshown))] if found.unshown else []),
        ("tasks done", f"{count(found.tasks_done)} of {count(found.tasks)}"),
        *_batches(found),
        *(
            [("pilot", f"{count(found.pilot_valid)} of {count(found.pilot_wanted)} wanted")]
            if found.pilot_wanted
            else []
        ),
        ("tasks held now", count(found.leased)),
        ("time per trial", pace),
        *([("requests refused", count(found.refused))] if found.refused else []),
    ):
        table.add_row(name, value or "–")
    out.show(table)
    out.finish(asdict(found))


def _some(names: tuple[str, ...]) -> str:
    """Count stimuli, and name the first of them."""
    from affectlab.core.words import count

    more = ", …" if len(names) > _NAMED else ""
    return f"{count(len(names))} ({', '.join(names[:_NAMED])}{more})"


def _batches(found: StudyStatus) -> list[tuple[str, str]]:
    """Say how far the batches are, where they are kept whole."""
    from affectlab.core.words import count

    if found.batches is None:
        return []
    done = f"{count(found.batches.done)} of {count(found.batches.batches)}"
    sessions = f"{count(found.batches.sessions)} of {count(found.batches.wanted)}"
    return [("batches done", done), ("valid sessions", f"{sessions} wanted")]


def _rejected(found: StudyStatus) -> str:
    """Say how many sessions do not count, and what the policy held against them."""
    rules = ", ".join(f"{rule} {n}" for rule, n in found.reasons.items())
    text = f"{found.rejected_sessions}"
    if found.judged:
        text += f" of {found.judged} judged; not to be paid: {found.unpaid}"
    return f"{text} ({rules})" if rules else text
