"""``affectlab evaluate preference``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Optional

import typer

from affectlab.cli._options import AllOption, SeedOption, reads_ratings
from affectlab.cli._output import Output, write_csv

if TYPE_CHECKING:
    from affectlab.estimates import Estimates
    from affectlab.evaluation import Preferences, PreferenceScale
    from affectlab.ratings import Ratings

__all__ = ["preference"]

_VERB = "evaluate preference"
_UNNAMED = ("A", "B", "undecided")
"""Names of counts that have none."""

CountsOption = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        "--counts",
        help="Counts in place of FILE, such as published ones: human=707,model=292.",
        show_default=False,
    ),
]


def _or_counts(verb: Callable[..., None]) -> Callable[..., None]:
    """Let a verb that reads FILE take counts in its place."""

    @wraps(verb)
    def run(**given: Any) -> None:
        from affectlab.errors import InputError

        counts = given.pop("counts")
        if counts is None and given["file"] is None:
            raise InputError("FILE is missing; expected one, or --counts human=707,model=292")
        if counts is None:
            verb(**given)
            return
        if given["file"] is not None:
            raise InputError("expected FILE or --counts, got both")
        out = Output(_VERB, as_json=given["as_json"], quiet=given["quiet"])
        _from_counts(counts, out, given["systems"], given["to"], given["figures"])

    parameters = list(inspect.signature(verb).parameters.values())
    file = parameters[0].replace(
        annotation=Annotated[
            Optional[Path],  # noqa: UP045
            typer.Argument(
                help="Judgements: CSV, TSV, Parquet or JSON Lines; judges are raters.",
                metavar="FILE",
                show_default=False,
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
        Optional[str],  # noqa: UP045
        typer.Option(
            help="The two that are compared, where there are more: human,model.", show_default=False
        ),
    ] = None,
    rule: Annotated[
        Literal["majority", "plurality"],
        typer.Option(help="What makes the verdict of an item with several votes."),
    ] = "majority",
    strength: Annotated[
        Literal["bradley-terry", "thurstone"],
        typer.Option("--strength", help="Scale of strengths, where more than two are compared."),
    ] = "bradley-terry",
    prior: Annotated[
        float,
        typer.Option(
            help="For the scale: wins each is given over each beforehand; 0.5 makes it finite "
            "where one never lost.",
            min=0,
        ),
    ] = 0.0,
    metric: Annotated[
        Optional[list[Path]],  # noqa: UP045
        typer.Option(
            "--metric",
            help="Values of a metric for the items: does it see what people prefer? May be given "
            "again.",
            metavar="FILE",
            show_default=False,
        ),
    ] = None,
    system: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="With --metric: the one whose output it scores; by default the model.",
            show_default=False,
        ),
    ] = None,
    boot: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(
            help="Bootstrap replicates. Not needed for shares, which have clustered intervals; "
            "1,000 for the scale and for --metric.",
            min=0,
            show_default=False,
        ),
    ] = None,
    to: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option("--to", help="Write the table of shares, or the scale, to this CSV file."),
    ] = None,
    figures: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(help="Folder for figures (PNG, SVG).", show_default=False),
    ] = None,
    everyone: AllOption = False,
    seed: SeedOption = 0,
) -> None:
    """Say which of two people prefer when they do not know which is whose, and how surely.

    Stimuli are items. Their columns A and B name what stood there, or the choices themselves do; a
    column left names the option on the left.

    Example: affectlab evaluate preference judgements.csv --scale nominal:A,B,both,neither
    """
    from affectlab.errors import InputError
    from affectlab.evaluation import preference_scale, preferences

    judged = ratings if everyone else out.panel(ratings)
    pair = _pair(systems)
    if pair is None and _n_systems(judged) > 2:
        if metric:
            raise InputError("--metric: more than two are compared; expected --systems to name two")
        with out.progress("strengths"):
            scale = preference_scale(
                judged,
                model=strength,
                prior=prior,
                n_boot=1000 if boot is None else boot,
                seed=seed,
            )
        _show_scale(scale, out, to, figures)
        tables = {"scale": scale.to_frame(), "pairs": scale.pairs().to_frame()}
        out.finish(tables, (*scale.notes, *ratings.warnings))
        return
    with out.progress("shares"):
        found = preferences(judged, systems=pair, rule=rule, n_boot=boot or 0, seed=seed)
        seen = None
        if metric:
            seen = _seen(metric, judged, found, system, 1000 if boot is None else boot, seed)
    _write(found, to, figures)
    _show(found, out)
    if seen is not None:
        _show_seen(seen, out)
    _say_where(out, to, figures)
    content = {**_content(found), "metric": None if seen is None else seen.to_frame()}
    out.finish(content, (*found.notes, *ratings.warnings))


def _from_counts(
    text: str, out: Output, systems: str | None, to: Path | None, figures: Path | None
) -> None:
    from affectlab.errors import InputError
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
    _write(found, to, figures)
    _show(found, out)
    _say_where(out, to, figures)
    out.finish(_content(found), found.notes)


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
        "sentences": found.sentences(),
        "shares": found.to_frame(),
        "agreement": found.agreement,
        "verdicts": found.verdicts(),
    }


def _show(found: Preferences, out: Output) -> None:
    from rich.table import Table
    from rich.text import Text

    from affectlab._words import percent, shown

    out.head(f"{found.systems[0]} or {found.systems[1]}?")
    out.show(*found.sentences(), "")
    table = Table(box=None, header_style="bold")
    for name in ("of the", "choice"):
        table.add_column(name)
    for name in ("count", "of", "share", "interval", "p"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in found.to_frame().to_dicts():
        if row["about"].startswith("decided") and row["choice"] == found.systems[1]:
            # What is left to 100 %.
            continue
        p = row["p"]
        interval = "–"
        if row["low"] == row["low"]:
            interval = f"{percent(row['low'], 1)} – {percent(row['high'], 1)}"
        cells = (row["about"], shown(row["choice"], 40), f"{row['count']:,}", f"{row['of']:,}")
        tested = "" if p != p else "< 0.001" if p < 0.001 else f"{p:.3f}"
        table.add_row(*map(Text, cells), percent(row["value"], 1), interval, tested)
    out.show(table)
    how = dict(
        zip(*(found.to_frame()[name].to_list() for name in ("about", "method")), strict=True)
    )
    votes, two = (how[about].partition("; ")[2] for about in ("votes", "decided votes"))
    out.show("", f"Votes: {votes}{'' if votes == two else f'; share of two: {two}'}.")
    if "items" in how:
        out.show(
            "Items and verdicts: Wilson interval, and exact for the share of two; about other "
            "items, judged by the same judges."
        )


def _show_scale(scale: PreferenceScale, out: Output, to: Path | None, figures: Path | None) -> None:
    from affectlab._words import percent

    frame = scale.to_frame()
    if to is not None:
        write_csv(frame, to)
    if figures is not None:
        from affectlab.report import fig_intervals, save_figure

        columns_of = (frame[name].to_list() for name in ("system", "value", "low", "high"))
        save_figure(
            fig_intervals(*columns_of, value_name="strength", lines=((0.0, "mean"),)),
            figures,
            "preference_scale",
            title="Strength in pairwise choices",
            description=f"Strongest: {frame['system'][0]}.",
        )
    out.head(frame["method"][0].partition(";")[0])
    columns: list[str | tuple[str, str]] = ["system", "value", ("low", "high")]
    columns += ["wins", "losses", "ties", "first", "status"]
    out.show_frame(frame, columns)
    if scale[frame["system"][0]].ok:
        first = frame.row(0, named=True)
        sure = f", and is first in {percent(first['first'], 1)} of replicates"
        known = first["first"] == first["first"]
        out.show("", f"{first['system']} is strongest{sure if known else ''}.")
        out.head("\nChance that the first is chosen over the other")
        pairs = scale.pairs().to_frame()
        out.show_frame(pairs, ["system", "other", "value", ("low", "high"), "observed", "p"])
    if to is not None:
        out.show("", f"strengths written to {to}")
    if figures is not None:
        out.show("", f"figure: {figures}")


def _seen(
    files: list[Path], judged: Ratings, found: Preferences, system: str | None, boot: int, seed: int
) -> Estimates:
    """Read the values of metrics and compare them with the verdicts."""
    from affectlab.evaluation import metric_sees_preference
    from affectlab.ratings import read_models

    values = read_models([*files], judged, scale="interval")
    return metric_sees_preference(values, found, system=system, n_boot=boot, seed=seed)


def _show_seen(seen: Estimates, out: Output) -> None:
    from affectlab._words import number

    frame = seen.to_frame()
    one = frame.row(0, named=True)
    out.head("\nDoes the metric see it?")
    out.show(
        f"AUC: {one['method'].partition(', area')[0]}; 0.5 is blind. {one['n_good']:,} good items, "
        f"{one['n_poor']:,} poor, {one['n_left_out']:,} left out."
    )
    for row in frame.filter(frame["statistic"] == "auc").to_dicts():
        if row["low"] != row["low"]:
            verdict = "there is no interval"
        elif row["low"] > 0.5:
            verdict = "it scores what people accept higher"
        elif row["high"] < 0.5:
            verdict = "it scores what people accept lower"
        else:
            verdict = "it does not tell what people accept from what they reject"
        ends = (
            f" ({number(row['low'])} to {number(row['high'])})" if row["low"] == row["low"] else ""
        )
        out.show(f"- {row['metric']}: AUC {number(row['value'])}{ends}; {verdict}.")
    out.show_frame(frame, ["metric", "statistic", "value", ("low", "high"), "p", "status"])


def _say_where(out: Output, to: Path | None, figures: Path | None) -> None:
    if to is not None:
        out.show("", f"shares written to {to}")
    if figures is not None:
        out.show("", f"figures: {figures}")


def _write(found: Preferences, to: Path | None, figures: Path | None) -> None:
    if to is not None:
        write_csv(found.to_frame(), to)
    if figures is None:
        return
    from affectlab.report import fig_item_votes, fig_preferences, save_figure

    frame = found.to_frame()
    votes = frame.filter(frame["about"] == "votes")
    said = " ".join(found.sentences())
    save_figure(
        fig_preferences(
            votes["choice"].to_list(),
            *(votes[name].to_numpy() for name in ("value", "low", "high", "count")),
        ),
        figures,
        "preference",
        title=f"{found.systems[0]} or {found.systems[1]}",
        description=said,
    )
    if ("items", "tied") in {(row["about"], row["choice"]) for row in frame.to_dicts()}:
        save_figure(
            fig_item_votes(found.votes, found.choices, items=found.items),
            figures,
            "preference_by_item",
            title="Votes on every item",
            description=said,
        )
