"""``affectlab evaluate difference``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from affectlab.cli._options import SeedOption, reads_ratings
from affectlab.cli._output import write_csv
from affectlab.cli.evaluate._classes import slug
from affectlab.cli.parameters import Option

if TYPE_CHECKING:
    from affectlab.cli._output import Output
    from affectlab.core.estimates import Estimates
    from affectlab.core.terminal import Table
    from affectlab.evaluation import Differences
    from affectlab.ratings import Ratings
    from affectlab.report import Scatter

__all__ = ["difference"]

_COLUMNS = {
    "srocc": "SROCC",
    "plcc": "PLCC",
    "plcc_fit": "PLCC fit",
    "kendall": "Kendall",
    "rmse": "RMSE",
    "rmse_fit": "RMSE fit",
}
_MOST_ROWS = 60
_MOST_SAID = 6
_MOST_PANELS = 9


@reads_ratings("evaluate difference", models=True)
def difference(
    ratings: Ratings,
    models: Ratings | None,
    out: Output,
    by: Annotated[
        str | None,
        Option(help="Stimulus attributes to look into, such as kind,actor.", show_default=False),
    ] = None,
    cluster: Annotated[
        str | None,
        Option(
            help="Stimulus attribute whose stimuli are drawn together, such as actor: intervals "
            "are then about others of its kind.",
            show_default=False,
        ),
    ] = None,
    score: Annotated[
        Literal["mean", "reml", "p910", "mle"],
        Option(help="How ratings become scores: mean, or a subject model."),
    ] = "mean",
    label: Annotated[
        str | None,
        Option(help="Label that is scored, where there are several.", show_default=False),
    ] = None,
    n_boot: Annotated[int, Option(help="Bootstrap replicates for intervals.", min=0)] = 1000,
    ceiling: Annotated[
        bool,
        Option("--ceiling", help="Also how well two halves of the people agree."),
    ] = False,
    splits: Annotated[int, Option(help="Random halves for the ceiling.", min=1)] = 50,
    to: Annotated[
        Path | None,
        Option("--out", help="Write all figures of merit to this CSV file."),
    ] = None,
    figures: Annotated[
        Path | None,
        Option(help="Folder for scatter plots (PNG, SVG).", show_default=False),
    ] = None,
    seed: SeedOption = 0,
) -> None:
    """Say how well metrics predict scores of people: rank and linear correlation, and errors.

    Metrics are raters of FILE that are models, or of the files given with --models, where a column
    per metric will do. PLCC fit and RMSE fit come after a monotone logistic curve.

    Example: affectlab evaluate difference ratings.csv --models metrics.csv --by kind
    """
    from affectlab.evaluation import difference_metrics

    with out.progress("correlations and errors"):
        found = difference_metrics(
            ratings,
            models,
            by=[] if by is None else [name.strip() for name in by.split(",") if name.strip()],
            clusters=cluster,
            score=score,
            label=label,
            ceiling=ceiling,
            n_splits=splits,
            n_boot=n_boot,
            seed=seed,
        )
        apart = None
        if n_boot and len(found.raters) > 1:
            apart = found.compare(absolute=True)
    if to is not None:
        write_csv(found.to_frame(), to)
    if figures is not None:
        _figures(found, figures)
    out.head(f"How well {found.pairs.score_name} of {len(found.stimuli):,} stimuli is predicted")
    out.show(_table(found))
    rows = len(found.raters) * len(found.groups)
    if rows > _MOST_ROWS:
        out.show(f"… and {rows - _MOST_ROWS:,} more rows; --out writes all of them to a file.")
    out.show(*(f"- {text}" for text in _sentences(found, apart)))
    if to is not None:
        out.show("", f"figures of merit written to {to}")
    if figures is not None:
        out.show("", f"figures: {figures}")
    out.finish(
        {
            "score": found.pairs.score_name,
            "n_stimuli": len(found.stimuli),
            "raters": found.raters,
            "groups": found.groups,
            "metrics": found.to_frame(),
            "comparisons": None if apart is None else apart.to_frame(),
            "curves": [
                {"rater": rater, "group": group, "curve": fit}
                for (rater, group), fit in found.fits.items()
            ],
            "ceiling": None if found.ceiling is None else found.ceiling.to_frame(),
        },
        (*found.notes, *ratings.warnings),
    )


def _table(found: Differences) -> Table:
    """One row per metric and group, with the interval of SROCC."""
    from rich.text import Text

    from affectlab.core.terminal import Table
    from affectlab.core.words import number, shown

    grouped = len(found.groups) > 1
    table = Table(box=None, header_style="bold")
    for name in ("metric", *(["group"] if grouped else [])):
        table.add_column(name, no_wrap=True)
    one_attribute = len({group.attribute for group in found.pairs.groups}) <= 2
    titles = {
        group.name: group.level or group.name if one_attribute else group.name
        for group in found.pairs.groups
    }
    table.add_column("n", justify="right")
    for name, title in _COLUMNS.items():
        table.add_column(title, justify="right", no_wrap=True)
        if name == "srocc":
            table.add_column("interval", justify="right", no_wrap=True)
    rows = [(rater, group) for group in found.groups for rater in found.raters]
    for rater, group in rows[:_MOST_ROWS]:
        cells = []
        for name in _COLUMNS:
            one = found[rater, group, name]
            digits = 3 if name in ("srocc", "plcc", "plcc_fit", "kendall") else 2
            cells.append(number(one.value, digits))
            if name == "srocc":
                known = one.low == one.low
                cells.append(f"{number(one.low, 3)} – {number(one.high, 3)}" if known else "–")
        n = found[rater, group, "srocc"].n_items
        names = [shown(rater, 24), *([shown(titles[group], 16)] if grouped else [])]
        table.add_row(*(Text(name) for name in names), f"{n:,}", *cells)
    return table


def _sentences(found: Differences, apart: Estimates | None) -> list[str]:
    """Say which metric ranks best and by how much, and what people reach."""
    from affectlab.core.words import number, plural

    said = []
    rank = {rater: abs(found[rater, "all", "srocc"].value) for rater in found.raters}
    known = [rater for rater in found.raters if rank[rater] == rank[rater]]
    best = max(known, key=lambda rater: rank[rater], default=None)
    if best is not None and apart is not None:
        others = sorted((rater for rater in known if rater != best), key=lambda r: -rank[r])
        for other in others[:_MOST_SAID]:
            pair = (best, other) if (best, other, "all", "srocc") in _keys(apart) else (other, best)
            one = apart[*pair, "all", "srocc"]
            sign = 1 if pair[0] == best else -1
            ends = sorted((sign * one.low, sign * one.high))
            clear = ends[0] > 0
            said.append(
                f"{best} ranks {'better' if clear else 'not clearly better'} than {other}: SROCC "
                f"apart by {number(sign * one.value, 3)} ({number(ends[0], 3)} to "
                f"{number(ends[1], 3)})."
            )
        if len(others) > _MOST_SAID:
            said.append(f"{plural(len(others) - _MOST_SAID, 'more comparison')}: see --json.")
    if found.ceiling is not None:
        said.append(_about_ceiling(found.ceiling))
    return said


def _about_ceiling(ceiling: Estimates) -> str:
    from affectlab.core.words import number

    rows = ceiling.frame.to_dicts()
    if rows[0]["status"] != "ok":
        return f"Ceiling: {rows[0]['status']}."
    groups = [
        f"{row['group']} {number(row['value'], 3) if row['status'] == 'ok' else row['status']}"
        for row in rows[1 : 1 + _MOST_SAID]
    ]
    inside = (
        f" ({', '.join(groups)}{', …' if len(rows) > 1 + _MOST_SAID else ''})" if groups else ""
    )
    return (
        f"Ceiling: two halves of the people agree with a SROCC of {number(rows[0]['value'], 3)}"
        f"{inside}; a prediction without errors would reach about {number(rows[0]['ceiling'], 3)}."
    )


def _keys(table: Estimates) -> set[tuple[str, ...]]:
    return set(table.frame.select(table.keys).rows())


def _figures(found: Differences, folder: Path) -> None:
    """Scatter plots with the fitted curve for each metric, and SROCC beside the ceiling."""
    from affectlab.core.words import number
    from affectlab.report import fig_intervals, fig_scatter_fit, save_figure

    shown = found.raters[:_MOST_PANELS]
    save_figure(
        fig_scatter_fit([_panel(found, rater, "all", rater) for rater in shown]),
        folder,
        "scatter",
        title="Scores beside predictions",
        description="; ".join(
            f"{rater}: SROCC {number(found[rater, 'all', 'srocc'].value, 3)}" for rater in shown
        ),
    )
    taken: set[str] = set()
    for attribute in dict.fromkeys(group.attribute for group in found.pairs.groups[1:]):
        groups = [group for group in found.pairs.groups if group.attribute == attribute]
        for rater in shown:
            panels = [_panel(found, rater, group.name, group.level) for group in groups]
            save_figure(
                fig_scatter_fit(panels[:_MOST_PANELS], x_name=rater, share_x=True),
                folder,
                slug(f"scatter_{rater}_by_{attribute}", taken),
                title=f"Scores beside predictions of {rater} by {attribute}",
                description="; ".join(f"{panel.title}: {panel.note}" for panel in panels),
            )
    frame = found.to_frame()
    frame = frame.filter((frame["metric"] == "srocc") & (frame["group"] == "all"))
    ceiling = found.ceiling
    top = [] if ceiling is None else [(ceiling["all"].value, "two halves of people")]
    save_figure(
        fig_intervals(
            *(frame[name].to_list() for name in ("rater", "value", "low", "high")),
            value_name="SROCC",
            lines=[line for line in top if line[0] == line[0]],
        ),
        folder,
        "srocc",
        title="Rank correlation with the scores",
        description="; ".join(
            f"{rater} {number(value, 3)}"
            for rater, value in zip(frame["rater"], frame["value"], strict=True)
        ),
    )


def _panel(found: Differences, rater: str, group: str, title: str) -> Scatter:
    import numpy as np

    from affectlab.core.words import number
    from affectlab.report import Scatter

    items = found.items_of(group)
    x = found.predictions[found.raters.index(rater), items]
    fit = found.fits.get((rater, group))
    curve = None
    if fit is not None and fit.ok:
        at = np.linspace(np.nanmin(x), np.nanmax(x), 200)
        curve = (at, fit.predict(at))
    note = f"SROCC {number(found[rater, group, 'srocc'].value)}"
    return Scatter(title, x, found.scores[items], curve=curve, note=note)
