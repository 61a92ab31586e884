"""``affectlab evaluate preference``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from affectlab.cli._options import AllOption, SeedOption, reads_ratings
from affectlab.cli._output import Output, write_csv
from affectlab.cli.parameters import Argument, Option

if TYPE_CHECKING:
    import polars as pl

    from affectlab.core.estimates import Estimates
    from affectlab.core.result import Result
    from affectlab.evaluation import Preferences
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
    from affectlab.core.errors import InputError
    from affectlab.evaluation import (
        evaluate_preference_metrics,
        metric_scores,
        metric_sees_preference,
        preference_scale,
        preferences,
    )
    from affectlab.evaluation.preference import PAIR, item_table, machine_of
    from affectlab.ratings import read_models

    judged = ratings if everyone else out.panel(ratings)
    pair = _pair(systems)
    often = 1000 if n_boot is None else n_boot
    if pair is None and _n_systems(judged) > 2:
        if metric or scores:
            name = "--metric" if metric else "--scores"
            raise InputError(f"{name}: more than two are compared; expected --systems to name two")
        with out.progress("strengths"):
            scale = preference_scale(judged, model=strength, prior=prior, n_boot=often, seed=seed)
        _show(out, {"": scale}, to, figures, ratings.warnings)
        return
    if scores is None:
        _only_with_scores(by=by, margin=margin, areas=areas, votes=unit == "vote")
    found: dict[str, Result] = {}
    with out.progress("shares"):
        said = preferences(judged, systems=pair, rule=rule, n_boot=n_boot or 0, seed=seed)
        found[""] = said
        items = item_table(judged)
        together = cluster or (PAIR if PAIR in items.columns else None)
        verdicts = _verdicts(
            said,
            system,
            sampled,
            cluster=None if together is None else _of_items(items, together),
            # Items that belong together need draws of what they belong to.
            n_boot=often if together is not None else n_boot or 0,
            seed=seed,
        )
        if verdicts is not None:
            found["verdict_shares"] = verdicts
        if metric:
            values = read_models([*metric], judged, scale="interval")
            found["separation"] = metric_sees_preference(
                values, said, system=system, n_boot=often, seed=seed
            )
        if scores is not None:
            read = metric_scores(scores, system=machine_of(said.systems, system))
            found["metrics"] = evaluate_preference_metrics(
                said,
                read,
                system=system,
                items=judged,
                by=_columns_said(by),
                cluster=cluster or "auto",
                unit=unit,
                margin=margin,
                min_size=min_size,
                n_boot=often,
                seed=seed,
            )
    if areas is not None:
        write_csv(found["metrics"].to_frame(), areas)
    _show(out, found, to, figures, ratings.warnings)
    if areas is not None:
        out.show(f"areas written to {areas}")


def _verdicts(
    found: Preferences, system: str | None, sampled: int | None, **settings: Any
) -> Estimates | None:
    """Count the verdicts of items; None where there are none, or no choice but the two systems."""
    from affectlab.evaluation import preference_verdicts

    if sampled is None and len(found.choices) == len(found.systems):
        return None
    if found.items and not found.verdicts()["verdict"].is_in(list(found.choices)).any():
        # The table of shares says that no item has a verdict.
        return None
    return preference_verdicts(found, system=system, sampled=sampled, **settings)


def _of_items(items: pl.DataFrame, cluster: str) -> dict[str, str] | None:
    if cluster not in items.columns:
        return None
    columns = (items[name].cast(str).fill_null("").to_list() for name in ("item", cluster))
    return dict(zip(*columns, strict=True))


def _show(
    out: Output,
    found: dict[str, Result],
    to: Path | None,
    figures: Path | None,
    warnings: Sequence[str],
) -> None:
    """Write and show results; the first is what was asked for, and the others go with it."""
    from affectlab.report import save_figures

    first = found.pop("")
    if to is not None:
        write_csv(first.to_frame(), to)
    if figures is not None:
        for one in (first, *found.values()):
            # Numbers without a figure of their own stand in the tables alone here.
            if one.figures:
                save_figures(one, figures)
    out.show(first)
    for one in found.values():
        alone = [table.caption for table in one.tables if table.limit]
        out.head("\n" + alone[0].removesuffix(".") if len(alone) == 1 else "")
        out.show(one)
    if to is not None:
        out.show("", f"{first.table().name} written to {to}")
    if figures is not None:
        out.show("", f"figures: {figures}")
    content = first.to_dict() | {name: one.to_dict() for name, one in found.items()}
    out.finish(content, warnings)


def _only_with_scores(**given: Any) -> None:
    from affectlab.core.errors import InputError

    names = {"votes": "--unit vote"}
    for name, value in given.items():
        if value:
            raise InputError(f"{names.get(name, f'--{name}')} is about --scores; expected it, too")


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
    if sampled is None and system is not None:
        raise InputError("--system with --counts is about verdicts of items; expected --sampled")
    said = preferences(counts, systems=_pair(systems))
    found: dict[str, Result] = {"": said}
    # Counts may be of votes, many to an item; only --sampled says that they are of items.
    verdicts = None if sampled is None else _verdicts(said, system, sampled)
    if verdicts is not None:
        found["verdict_shares"] = verdicts
    _show(out, found, to, figures, ())


def _pair(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",")]


def _columns_said(text: str | None) -> tuple[str, ...]:
    """Read names between commas."""
    names = [] if text is None else [name.strip() for name in text.split(",")]
    return tuple(dict.fromkeys(name for name in names if name))


def _n_systems(ratings: Ratings) -> int:
    """How many systems the stimulus table names; 0 where it names none."""
    columns = [name for name in ratings.scale.categories if name in ratings.stimuli.columns]
    named = {value for name in columns for value in ratings.stimuli[name].drop_nulls().to_list()}
    return len(named)
