"""``affectlab study simulate``."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from affectlab.cli._options import JsonOption, QuietOption, SeedOption
from affectlab.cli._output import Output
from affectlab.cli.parameters import Option
from affectlab.cli.study._common import DatabaseOption, StudyArgument, require_study_extra

if TYPE_CHECKING:
    from affectlab.protocols import Protocol

__all__ = ["simulate"]


def simulate(
    study: StudyArgument,
    people: Annotated[int, Option(help="Simulated people who take part.", min=1)] = 12,
    careless: Annotated[
        int, Option(help="Of these, people who do not look at what they rate.", min=0)
    ] = 2,
    url: Annotated[
        str | None,
        Option(
            help="Address of a running server of this study; one is started otherwise.",
            show_default=False,
        ),
    ] = None,
    pilot: Annotated[
        bool, Option("--pilot", help="They take part in the pilot, kept apart.")
    ] = False,
    database: DatabaseOption = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Rehearse a study: simulated people of known truth take part in it through the server.

    They are marked as simulated in all data. A study that real people have answered is refused.

    Example: affectlab study simulate examples/study-faces.toml
    """
    require_study_extra()
    from affectlab.core.words import count, plural
    from affectlab.study import load_study, simulate_study

    out = Output("study simulate", as_json=as_json, quiet=quiet)
    with out.progress("simulated people take part") as progress:
        found = simulate_study(
            study,
            people=people,
            careless=careless,
            url=url,
            database=database,
            pilot=pilot,
            seed=seed,
            progress=progress,
        )
    out.show(
        f"{plural(found.people, 'simulated person', 'simulated people')} came, "
        f"{count(found.took_part)} took part ({count(found.careless)} of them careless on "
        f"purpose), {count(found.completed)} completed; {plural(found.answers, 'trial')} answered."
    )
    if found.people > found.took_part:
        out.show(
            f"{plural(found.people - found.took_part, 'person', 'people')} found nothing left to "
            "do, or could not take part; study status says why."
        )
    out.show(f"A session would take a person about {found.minutes_per_person:.1f} minutes.")
    if found.pay is not None:
        out.show(f"The completed sessions would cost {found.pay:,.2f}, fees not counted.")
    if found.bonuses:
        out.show(f"Bonuses of {found.bonuses:,.2f} were earned.")
    out.show(f"The planted truth: {found.truth}")
    folder = study.with_suffix("").name
    if pilot:
        out.show("", f"Next: affectlab study golden {study} --out {folder}-golden.csv")
        out.finish(asdict(found))
        return
    out.show(
        "",
        f"Next: affectlab study export {study} --out {folder}-data",
        *_then(load_study(study).protocol, folder),
    )
    out.finish(asdict(found))


def _then(protocol: Protocol, folder: str) -> list[str]:
    """What to look at the exported answers with."""
    table = f"{folder}-data/ratings.parquet"
    if protocol.answer == "trials":
        return []
    if protocol.stimulus == "two options":
        return [f"      affectlab evaluate preference {table}"]
    return [f"      affectlab report {table} --out {folder}-report"]
