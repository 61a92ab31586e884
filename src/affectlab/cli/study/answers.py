"""Verbs about what people have answered: ``status``, ``golden``, ``export`` and ``erase``."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from affectlab.cli._output import Output, write_csv
from affectlab.cli.study._common import open_study

if TYPE_CHECKING:
    from affectlab.core.types import Count
    from affectlab.study.store import Store
    from affectlab.study.watch.status import StudyStatus

__all__ = ["erase", "export", "golden", "status"]

_NAMED = 5
"""Stimuli of a kind that are named; `--json` has all of them."""


def status(out: Output, study: Path, *, database: str | None = None) -> None:
    """Say how far a study is."""
    from affectlab.core.terminal import Table
    from affectlab.core.words import count, percent, plural

    with open_study(study, database) as store:
        from affectlab.study import study_status

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


def golden(
    out: Output,
    study: Path,
    *,
    n: Count = 5,
    label: str | None = None,
    to: Path | None = None,
    database: str | None = None,
    seed: int = 0,
) -> None:
    """Propose golden items from the pilot: clear cases on which its raters agree.

    Parameters
    ----------
    n
        Golden items wanted.
    label
        Only for this label; all otherwise.
    to
        Write them to this CSV file, for stimuli.golden.
    """
    with open_study(study, database) as store:
        from affectlab.study import golden_from_pilot

        found = golden_from_pilot(store, n, label=label, seed=seed)
    columns = [name for name in ("stimulus", "label", "value", "evidence") if name in found.columns]
    out.show_frame(found, columns, most=max(n, 1))
    warnings = []
    if found.height < n:
        warnings.append(
            f"only {found.height} of {n} wanted: no other stimulus of the pilot qualifies"
        )
    if to is not None:
        write_csv(found, to)
        out.show("", f"written: {to}")
        out.show(f'Next: in {study.name}, set stimuli.golden = "{to.name}" (a file beside it).')
    out.finish({"golden": found, "file": to}, warnings)


def export(
    out: Output,
    study: Path,
    *,
    to: Path = Path("export"),
    dataset: bool = False,
    database: str | None = None,
) -> None:
    """Write the answers as ratings (Parquet and CSV); people appear under pseudonyms only.

    Beside them stand the sessions, what was rejected, and a codebook.

    Parameters
    ----------
    to
        Folder to write to; by default export.
    dataset
        Write a data set to publish: data card and Croissant metadata, too.
    """
    from affectlab.core.words import plural

    with open_study(study, database) as store:
        from affectlab.study import export

        if dataset:
            _dataset(store, to, out)
            return
        found = export(store, to)
    for file in found.files:
        out.show(f"written: {file}")
    people = plural(found.n_raters, "person", "people")
    rejected = f"; {plural(found.n_rejected, found.what)} rejected" if found.n_rejected else ""
    pilot = f"; {plural(found.n_pilot, found.what)} of the pilot, apart" if found.n_pilot else ""
    out.show(f"{plural(found.n_ratings, found.what)} of {people}{rejected}{pilot}")
    notes = [] if found.n_ratings else ["no answer of the main study counts yet"]
    out.finish(
        {
            "files": found.files,
            "n_ratings": found.n_ratings,
            "n_raters": found.n_raters,
            "n_rejected": found.n_rejected,
            "n_pilot": found.n_pilot,
        },
        notes,
    )


def _dataset(store: Store, to: Path, out: Output) -> None:
    """Write a data set, and say what the study file leaves open."""
    from affectlab.core.words import plural
    from affectlab.study import release

    found = release(store, to)
    shown = [file for file in found.files if file.parent == found.folder]
    for file in shown:
        out.show(f"written: {file}")
    if len(shown) < len(found.files):
        out.show(f"written: {plural(len(found.files) - len(shown), 'picture')}")
    people = plural(found.n_raters, "person", "people")
    stimuli = plural(found.n_stimuli, "stimulus", "stimuli")
    out.show(f"{plural(found.n_ratings, 'rating')} of {stimuli} by {people}")
    out.show("Read README.md before you publish: it says all that others will know.")
    out.finish(
        {
            "files": found.files,
            "n_ratings": found.n_ratings,
            "n_raters": found.n_raters,
            "n_stimuli": found.n_stimuli,
        },
        found.warnings,
    )


def erase(
    out: Output, study: Path, person: str, *, yes: bool = False, database: str | None = None
) -> None:
    """Erase what a study holds of a person; it cannot be taken back.

    Parameters
    ----------
    person
        Pseudonym of the export, or the platform's name of the person or the submission.
    yes
        Do not ask again.
    """
    from affectlab.core.words import plural

    if not yes and not _agreed(f"Erase all that {study} holds of {person}? [y/N]: "):
        raise SystemExit(1)
    with open_study(study, database) as store:
        from affectlab.study import erase_person

        found = erase_person(store, person)
    notes = ["files that were exported before, and backups, still hold this person"]
    if found.unpaid:
        notes.append(
            f"{plural(found.unpaid, 'complete session')} without a payment in the ledger; the "
            "platform's names are gone, so pay there"
        )
    out.show(
        f"erased: {plural(found.answers, 'answer')} of {plural(found.sessions, 'session')}, "
        f"{plural(found.events, 'entry', 'entries')} of the log emptied"
    )
    out.show("What they had answered is asked again of others; the same person cannot come back.")
    out.finish(asdict(found), notes)


def _agreed(question: str) -> bool:
    print(question, end="", file=sys.stderr, flush=True)  # noqa: T201
    return sys.stdin.readline().strip().lower() in ("y", "yes")
