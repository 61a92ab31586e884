"""``affectlab evaluate preference``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from affectlab.cli._options import AllOption, SeedOption, reads_ratings
from affectlab.cli._output import Output, write_csv
from affectlab.cli.evaluate._preference_show import (
    show_scale,
    show_seen,
    show_shares,
    values_of,
    write_shares,
)
from affectlab.cli.parameters import Argument, Option

if TYPE_CHECKING:
    from affectlab.evaluation import MetricPreferences, Preferences
    from affectlab.ratings import Ratings

__all__ = ["preference"]

_VERB = "evaluate preference"
_UNNAMED = ("A", "B", "undecided")
"""Names of counts that have none."""

CountsOption = Annotated[
    str | None,
    Option(
        "--counts",
        help="Counts in place of FILE, such as published ones: human=707,model=292.",
        show_default=False,
    ),
]
_METRICS = "Metrics"


def _or_counts(verb: Callable[..., None]) -> Callable[..., None]:
    """Let a verb that reads FILE take counts in its place."""

    @wraps(verb)
    def run(**given: Any) -> None:
        from affectlab.core.errors import InputError

        counts = given.pop("counts")
        if counts is None and given["file"] is None:
            raise InputError("FILE is missing; expected one, or --counts human=707,model=292")
        if counts is None:
            verb(**given)
            return
        if given["file"] is not None:
            raise InputError("expected FILE or --counts, got both")
        for name in ("metric", "scores"):
            if given[name]:
                raise InputError(f"--{name} needs the verdict of every item; expected FILE")
        out = Output(_VERB, as_json=given["as_json"], quiet=given["quiet"])
        _from_counts(
            counts,
            out,
            given["systems"],
            given["to"],
            given["figures"],
            system=given["system"],
            sampled=given["sampled"],
        )

    parameters = list(inspect.signature(verb).parameters.values())
    file = parameters[0].replace(
        annotation=Annotated[
            Path | None,
            Argument(
                help="Judgements: CSV, TSV, Parquet or JSON Lines; judges are raters.",
                metavar="FILE",
            ),
        ],
        default=None,
    )
    counts = inspect.Parameter(
        "counts", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=CountsOption
    )
    parameters = [file, counts, *parameters[1:]]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


@_or_counts
@reads_ratings(_VERB)
def preference(
    ratings: Ratings,
    out: Output,
    systems: Annotated[
        str | None,
        Option(
            help="The two that are compared, where there are more: human,model.", show_default=False
        ),
    ] = None,
    rule: Annotated[
        Literal["majority", "plurality"],
        Option(help="What makes the verdict of an item with several votes."),
    ] = "majority",
    strength: Annotated[
        Literal["bradley-terry", "thurstone"],
        Option("--strength", help="Scale of strengths, where more than two are compared."),
    ] = "bradley-terry",
    prior: Annotated[
        float,
        Option(
            help="For the scale: wins each is given over each beforehand; 0.5 makes it finite "
            "where one never lost.",
            min=0,
        ),
    ] = 0.0,
    metric: Annotated[
        list[Path] | None,
        Option(
            "--metric",
            help="Values of a metric for the items: does it see what people prefer? May be given "
            "again.",
            metavar="FILE",
            show_default=False,
        ),
    ] = None,
    system: Annotated[
        str | None,
        Option(
            help="The one whose texts are good or poor, and are scored; by default the model.",
            show_default=False,
        ),
    ] = None,
    sampled: Annotated[
        int | None,
        Option(
            help="Items that were judged, where only those with a verdict are known; says that "
            "--counts are of items and not of votes.",
            min=1,
            show_default=False,
        ),
    ] = None,
    scores: Annotated[
        Path | None,
        Option(
            "--scores",
            help="Scores of metrics (item, metric, score), as affectlab evaluate text --out writes "
            "them: which one sees what people prefer?",
            metavar="FILE",
            group=_METRICS,
            show_default=False,
        ),
    ] = None,
    by: Annotated[
        str | None,
        Option(
            "--by",
            help="Columns by whose values --scores are looked at, too: emotion,source.",
            group=_METRICS,
            show_default=False,
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        Option(
            help="Column that says which items belong together; by default pair, if there.",
            group=_METRICS,
            show_default=False,
        ),
    ] = None,
    unit: Annotated[
        Literal["item", "vote"],
        Option(
            help="What --scores are held against: verdicts of items, or each judge's vote.",
            group=_METRICS,
        ),
    ] = "item",
    margin: Annotated[
        float | None,
        Option(
            help="Distance of an area from 0.5 that would not matter, such as 0.05.",
            group=_METRICS,
            show_default=False,
        ),
    ] = None,
    min_size: Annotated[
        int,
        Option(
            help="Fewest good and fewest poor items of a group of --by.",
            min=1,
            group=_METRICS,
        ),
    ] = 10,
    areas: Annotated[
        Path | None,
        Option(
            "--areas",
            help="Write the areas of --scores, all groups included, to this CSV file.",
            metavar="FILE",
            group=_METRICS,
            show_default=False,
        ),
    ] = None,
    n_boot: Annotated[
        int | None,
        Option(
            help="Bootstrap replicates. Not needed for shares, which have clustered intervals; "
            "1,000 for the scale, --metric and --scores.",
            min=0,
            show_default=False,
        ),
    ] = None,
    to: Annotated[
        Path | None,
        Option("--out", help="Write the table of shares, or the scale, to this CSV file."),
    ] = None,
    figures: Annotated[
        Path | None,
        Option(help="Folder for figures (PNG, SVG).", show_default=False),
    ] = None,
    everyone: AllOption = False,
    seed: SeedOption = 0,
) -> None:
    """Say which of two people prefer when they do not know which is whose, and how surely.

    Stimuli are items. Their columns A and B name what stood there, or the choices themselves do; a
    column left names the option on the left.

    Example: affectlab evaluate preference judgements.csv --scale nominal:A,B,both,neither
    """
    from affectlab.cli.evaluate._preference_metrics import (
        cluster_of,
        columns_said,
        item_table,
        show_metrics,
        show_verdicts,
        verdict_table,
    )
    from affectlab.core.errors import InputError
    from affectlab.evaluation import (
        evaluate_preference_metrics,
        metric_scores,
        preference_scale,
        preferences,
    )

    judged = ratings if everyone else out.panel(ratings)
    pair = _pair(systems)
    if pair is None and _n_systems(judged) > 2:
        if metric or scores:
            name = "--metric" if metric else "--scores"
            raise InputError(f"{name}: more than two are compared; expected --systems to name two")
        with out.progress("strengths"):
            scale = preference_scale(
                judged,
                model=strength,
                prior=prior,
                n_boot=1000 if n_boot is None else n_boot,
                seed=seed,
            )
        show_scale(scale, out, to, figures)
        tables = {"scale": scale.to_frame(), "pairs": scale.pairs().to_frame()}
        out.finish(tables, (*scale.notes, *ratings.warnings))
        return
    if scores is None:
        _only_with_scores(by=by, margin=margin, areas=areas, votes=unit == "vote")
    with out.progress("shares"):
        found = preferences(judged, systems=pair, rule=rule, n_boot=n_boot or 0, seed=seed)
        often = 1000 if n_boot is None else n_boot
        seen = values_of(metric, judged, found, system, often, seed) if metric else None
        items = item_table(judged)
        read = None if scores is None else metric_scores(scores, system=_scored(found, system))
        together = cluster_of(items, read, cluster)
        verdicts = verdict_table(
            found,
            items,
            together,
            system=system,
            sampled=sampled,
            # Items that belong together need draws of what they belong to.
            n_boot=often if together is not None else n_boot or 0,
            seed=seed,
        )
        told = None
        if read is not None:
            told = evaluate_preference_metrics(
                found,
                read,
                system=system,
                items=items,
                by=columns_said(by),
                cluster=together,
                unit=unit,
                margin=margin,
                min_size=min_size,
                n_boot=often,
                seed=seed,
            )
    write_shares(found, to, figures)
    show_shares(found, out)
    if verdicts is not None:
        show_verdicts(verdicts, out, rule)
    if seen is not None:
        show_seen(seen, out)
    if told is not None:
        if areas is not None:
            write_csv(told.areas, areas)
        if figures is not None:
            from affectlab.report.pictures import pictures_of_areas, save_pictures

            save_pictures(pictures_of_areas(told), figures)
        show_metrics(told, out)
    _say_where(out, to, figures)
    if areas is not None:
        out.show(f"areas written to {areas}")
    content = {
        **_content(found),
        "verdict_shares": None if verdicts is None else verdicts.to_frame(),
        "metric": None if seen is None else seen.to_frame(),
        "metrics": None if told is None else _metrics_content(told),
    }
    out.finish(content, (*found.notes, *ratings.warnings))


def _only_with_scores(**given: Any) -> None:
    from affectlab.core.errors import InputError

    names = {"votes": "--unit vote"}
    for name, value in given.items():
        if value:
            raise InputError(f"{names.get(name, f'--{name}')} is about --scores; expected it, too")


def _scored(found: Preferences, system: str | None) -> str:
    """Name the system whose scores are taken from a table that holds those of both."""
    from affectlab.evaluation.preference import machine_of

    return machine_of(found.systems, system)


def _metrics_content(told: MetricPreferences) -> dict[str, Any]:
    judged = told.judged
    return {
        "system": judged.system,
        "unit": judged.unit,
        "n_good": judged.n_good,
        "n_poor": judged.n_poor,
        "set_aside": judged.aside,
        "n_without_scores": told.n_without,
        "cluster": told.cluster,
        "n_clusters": told.n_clusters,
        "areas": told.areas,
        "means": told.means,
        "differences": told.differences,
        "sentences": told.sentences,
    }


def _from_counts(
    text: str,
    out: Output,
    systems: str | None,
    to: Path | None,
    figures: Path | None,
    *,
    system: str | None,
    sampled: int | None,
) -> None:
    from affectlab.cli.evaluate._preference_metrics import show_verdicts, verdict_table
    from affectlab.core.errors import InputError
    from affectlab.evaluation import preferences

    counts: dict[str, int] = {}
    for place, part in enumerate(text.split(",")):
        name, equals, number = part.rpartition("=")
        name = name.strip() if equals else _UNNAMED[min(place, 2)]
        if not number.strip().isdecimal() or not name or name in counts:
            raise InputError(
                f"--counts: {part!r} is not understood; expected name=number, such as "
                "human=707,model=292"
            )
        counts[name] = int(number)
    found = preferences(counts, systems=_pair(systems))
    verdicts = None
    if sampled is not None:
        # Counts may be of votes, many to an item; only --sampled says that they are of items.
        verdicts = verdict_table(
            found, None, None, system=system, sampled=sampled, n_boot=0, seed=0
        )
    elif system is not None:
        raise InputError("--system with --counts is about verdicts of items; expected --sampled")
    write_shares(found, to, figures)
    show_shares(found, out)
    if verdicts is not None:
        show_verdicts(verdicts, out, "majority")
    _say_where(out, to, figures)
    shares = None if verdicts is None else verdicts.to_frame()
    out.finish({**_content(found), "verdict_shares": shares}, found.notes)


def _pair(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",")]


def _n_systems(ratings: Ratings) -> int:
    """How many systems the stimulus table names; 0 where it names none."""
    columns = [name for name in ratings.scale.categories if name in ratings.stimuli.columns]
    named = {value for name in columns for value in ratings.stimuli[name].drop_nulls().to_list()}
    return len(named)


def _content(found: Preferences) -> dict[str, Any]:
    return {
        "systems": found.systems,
        "sentences": found.sentences,
        "shares": found.to_frame(),
        "agreement": found.agreement,
        "verdicts": found.verdicts(),
    }


def _say_where(out: Output, to: Path | None, figures: Path | None) -> None:
    if to is not None:
        out.show("", f"shares written to {to}")
    if figures is not None:
        out.show("", f"figures: {figures}")
