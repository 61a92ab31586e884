"""What the verb on soft labels prints and draws."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from affectlab.cli.evaluate._classes import slug

if TYPE_CHECKING:
    from affectlab.cli._output import Output
    from affectlab.evaluation import LabelDistributions, SoftLabels

__all__ = ["draw_figures", "show_people", "show_result"]

_TITLES = {
    "jensen_shannon": "Jensen-Shannon",
    "earth_movers_distance": "earth mover's",
    "cross_entropy": "cross-entropy",
    "kullback_leibler": "Kullback-Leibler",
    "jensen_shannon_distance": "Jensen-Shannon, root",
    "brier": "Brier",
    "mean_absolute_difference": "absolute difference",
}
_AXES = {
    "jensen_shannon": "Jensen-Shannon divergence",
    "earth_movers_distance": "earth mover's distance",
    "kullback_leibler": "Kullback-Leibler divergence",
    "jensen_shannon_distance": "Jensen-Shannon distance",
    "brier": "Brier score",
}
_CALIBRATION = {
    "ece": "ECE",
    "overconfidence": "surer than people",
    "mean_confidence": "confidence",
    "accuracy": "people agree",
}
_WIDE = 30
"""Columns that a metric with its interval on one line needs."""
_MOST_PEOPLE = 12
_FIRST = 10
"""Stimuli that are shown where there is no model."""


def show_people(people: LabelDistributions, out: Output) -> None:
    """Print the shares of the first stimuli, and how united people are."""
    import numpy as np

    from affectlab.core.words import number, percent, plural

    known = ~np.isnan(people.values).any(axis=1)
    out.head(f"What people say of {plural(len(people), 'stimulus', 'stimuli')}")
    out.show(f"Rule: {people.rule}.\n")
    frame = people.to_frame().filter(people.to_frame()["share"] > 0)
    frame = frame.sort("share", descending=True, maintain_order=True)
    order = {name: at for at, name in enumerate(people.stimuli)}
    rows = sorted(frame.iter_rows(named=True), key=lambda row: order[row["stimulus"]])
    shares: dict[str, list[str]] = {}
    for row in rows:
        shares.setdefault(row["stimulus"], []).append(f"{row['label']} {percent(row['share'])}")
    for name in list(shares)[:_FIRST]:
        out.show(f"{name}: {', '.join(shares[name][:5])}{', …' if len(shares[name]) > 5 else ''}")
    if len(shares) > _FIRST:
        out.show(f"… and {len(shares) - _FIRST:,} more; --shares-out writes all of them to a file.")
    if known.any():
        top = people.values[known].max(axis=1)
        out.show(
            "",
            f"The most frequent label has {percent(float(top.mean()))} of the answers on average; "
            f"people are all of one mind on {percent(float((top > 1 - 1e-9).mean()))} of the "
            f"stimuli. Entropy: {number(float(np.nanmean(people.entropy())))} of at most "
            f"{number(float(np.log(len(people.labels))))} nats.",
        )


def show_result(found: SoftLabels, out: Output) -> None:
    """Print distances, calibration and sentences."""
    import numpy as np

    from affectlab.core.words import number, plural

    people = found.people
    out.show(
        f"People's answers to {plural(len(people), 'stimulus', 'stimuli')}, "
        f"{plural(len(people.labels), 'label')}: {people.rule}."
    )
    out.head("\nDistance from people (less is nearer)")
    out.show(_distances(found))
    if "cross_entropy" in found.metrics.frame["metric"]:
        least = number(float(np.nanmean(people.entropy())))
        out.show(
            f"Cross-entropy in nats: at least {least}, the entropy of people's answers; shares "
            f"below {found.floor:g} are raised to it."
        )
    if found.costs and "earth_movers_distance" not in found.metrics.frame["metric"]:
        out.show(f"No earth mover's distance: {found.costs}.")
    if found.calibration:
        aim = {
            "distribution": "the share of people who say the same",
            "majority": "whether most people say the same",
        }[found.truth]
        out.head(f"\nCalibration: confidence beside {aim}")
        out.show(_calibration(found))
    out.show("", *(f"- {sentence}" for sentence in found.sentences))


def _distances(found: SoftLabels) -> Any:
    """One row per model, for what people reach, and for the baseline."""
    from rich.text import Text

    from affectlab.core.terminal import Table
    from affectlab.core.words import shown

    frame = found.metrics.to_frame()
    present = [name for name in _TITLES if name in frame["metric"]]
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 1))
    table.add_column("rater", overflow="fold", min_width=16)
    table.add_column("n", justify="right", no_wrap=True)
    for name in present:
        table.add_column(_TITLES[name], justify="right", no_wrap=True)
    wide = _is_wide(len(present))
    for role in ("model", "people", "person", "baseline"):
        rows = frame.filter(frame["role"] == role)
        raters = rows["rater"].unique(maintain_order=True).to_list()
        most = _MOST_PEOPLE if role == "person" else len(raters)
        for rater in raters[:most]:
            own = rows.filter(rows["rater"] == rater)
            cells = {row["metric"]: row for row in own.iter_rows(named=True)}
            name = f"  {rater}" if role == "person" else rater
            values = [_with_interval(cells[metric], wide) for metric in present]
            n = max(own["n_items"].to_list())
            table.add_row(Text(shown(name)), f"{n:,}", *values)
        if len(raters) > most:
            table.add_row(f"  and {len(raters) - most} more people")
        if raters and role == "model":
            table.add_section()
    return table


def _calibration(found: SoftLabels) -> Any:
    from rich.text import Text

    from affectlab.core.terminal import Table
    from affectlab.core.words import shown

    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 1))
    table.add_column("rater", overflow="fold", min_width=16)
    table.add_column("n", justify="right", no_wrap=True)
    titles = dict(_CALIBRATION)
    if found.truth == "majority":
        titles |= {"overconfidence": "surer than right", "accuracy": "right"}
    for title in titles.values():
        table.add_column(title, justify="right", no_wrap=True)
    wide = _is_wide(len(titles))
    for name, one in found.calibration.items():
        cells = {row["metric"]: row for row in one.to_frame().iter_rows(named=True)}
        values = [_with_interval(cells[metric], wide) for metric in titles]
        table.add_row(Text(shown(name)), f"{cells['ece']['n_items']:,}", *values)
    return table


def _is_wide(columns: int) -> bool:
    from rich.console import Console

    return Console().width >= 20 + _WIDE * columns


def _with_interval(row: dict[str, Any], wide: bool) -> str:
    """Write a value and its interval, which goes to a line of its own on a narrow screen."""
    from affectlab.core.words import number

    if row["status"].startswith("infinite"):
        return "infinite"
    if row["value"] is None or row["value"] != row["value"]:
        return "–"
    if row["low"] is None or row["low"] != row["low"]:
        return number(row["value"])
    gap = " " if wide else "\n"
    return f"{number(row['value'])}{gap}({number(row['low'])}–{number(row['high'])})"


def draw_figures(found: SoftLabels, folder: Path) -> None:
    """Distances of everyone, and a reliability diagram of each model that claims probabilities."""
    from affectlab.report import fig_intervals, fig_reliability_diagram, save_figure

    frame = found.metrics.to_frame()
    roles = {"model": "model", "people": "people", "person": "neutral"}
    for metric, title in _TITLES.items():
        rows = frame.filter((frame["metric"] == metric) & frame["role"].is_in(list(roles)))
        rows = rows.filter(rows["value"].is_finite())
        if (rows["role"] == "person").sum() > _MOST_PEOPLE:
            rows = rows.filter(rows["role"] != "person")
        if rows.is_empty():
            continue
        floor = frame.filter((frame["metric"] == metric) & (frame["role"] == "baseline"))
        lines = [(value, "same for all") for value in floor["value"].to_list() if value == value]
        figure = fig_intervals(
            rows["rater"].to_list(),
            *(rows[name].to_numpy() for name in ("value", "low", "high")),
            value_name=f"{_AXES.get(metric, title)} from people (less is nearer)",
            lines=lines,
            groups=rows["role"].to_list(),
            roles=roles,
            largest_first=False,
        )
        best = rows.sort("value").row(0, named=True)
        save_figure(
            figure,
            folder,
            f"soft_labels_{metric}",
            title=f"{_AXES.get(metric, title)} from people's answers",
            description=f"Least for {best['rater']} ({best['value']:.2f}).",
        )
    taken: set[str] = set()
    outcome = {"distribution": "share of people who agree", "majority": "share that is right"}
    for name, one in found.calibration.items():
        columns = ("low", "high", "n", "confidence", "share", "share_low", "share_high")
        ece = one["ece"].value
        save_figure(
            fig_reliability_diagram(
                *(one.bins[column].to_numpy() for column in columns),
                ece=ece,
                outcome_name=outcome[found.truth],
                title=name,
            ),
            folder,
            slug(f"reliability_{name}", taken),
            title=f"Reliability of {name}",
            description=f"Calibration error {ece:.3f} over {one['ece'].n_items:,} stimuli.",
        )
