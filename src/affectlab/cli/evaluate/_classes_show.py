"""What the verb on classification prints and draws."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from affectlab.cli.evaluate._classes import slug

if TYPE_CHECKING:
    import polars as pl

    from affectlab.cli._output import Output
    from affectlab.core.estimates import Estimates
    from affectlab.evaluation import ClassificationResult

__all__ = ["draw_figures", "flat", "show_result", "show_soft_labels"]

_OF_CLASSES = {
    "accuracy": "accuracy",
    "acc2": "ACC2",
    "ecc": "ECC",
    "emc": "EMC",
    "macro_f1": "macro F1",
}
_OF_SETS = {"exact_match": "exactly right", "macro_f1": "macro F1", "micro_f1": "micro F1"}
_NARROW = ("acc2", "macro_f1")
"""Metrics printed without their interval, which --json and --out hold."""
_WIDE = 98
"""Columns from which on values and intervals stand on one line."""
_APART = 0.12
"""Distance from which on two lines of a figure have room for their names."""
_MOST_CLASSES = 10
"""Classes up to which a confusion matrix fits on a screen."""
_MOST_MODELS = 3
"""Models whose confusions are printed."""
_MOST_PEOPLE = 12
"""People who have a row of their own, in the table and in figures."""


def show_result(found: ClassificationResult, out: Output) -> None:
    from affectlab.core.words import plural

    made = found.classes
    judged = found.costs is not None and not made.multilabel
    costs = "" if not judged or found.costs is None else f"; costs of mistakes: {found.costs.kind}"
    out.show(
        f"Truth: {made.truth_said}. {plural(made.n_stimuli, 'stimulus', 'stimuli')}, "
        f"{plural(len(made.labels), 'class', 'classes')}{costs}.\n"
    )
    out.show(_metrics_table(found))
    if not made.multilabel:
        for model in [name for name in found.models if name in found.confusions][:_MOST_MODELS]:
            _show_confusion(found, model, out)
    if found.sentences:
        out.show("", *(f"- {sentence}" for sentence in found.sentences))


def _metrics_table(found: ClassificationResult) -> Any:
    """Models, people and baselines with the metrics that fit on a screen."""
    from rich.text import Text

    from affectlab.core.terminal import Table
    from affectlab.core.words import shown

    sets = found.classes.multilabel
    wanted = _OF_SETS if sets else _OF_CLASSES
    frame = found.to_frame()
    present = [name for name in wanted if name in frame["metric"]]
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 1))
    table.add_column("rater", overflow="fold", min_width=16)
    table.add_column("n", justify="right", no_wrap=True)
    for name in present:
        table.add_column(wanted[name], justify="right", no_wrap=True)
    for role in ("model", "people", "person", "baseline"):
        rows = frame.filter(frame["role"] == role)
        raters = rows["rater"].unique(maintain_order=True).to_list()
        most = _MOST_PEOPLE if role == "person" else len(raters)
        for rater in raters[:most]:
            own = rows.filter(rows["rater"] == rater)
            cells = {row["metric"]: row for row in own.iter_rows(named=True)}
            name = {"people": "people, together", "person": f"  {rater}"}.get(role, rater)
            values = [
                _with_interval(cells[metric], not sets and metric in _NARROW) for metric in present
            ]
            table.add_row(Text(shown(name)), f"{own['n_items'][0]:,}", *values)
        if len(raters) > most:
            table.add_row(f"  and {len(raters) - most} more people")
        if raters and role != "people":
            table.add_section()
    return table


def _with_interval(row: dict[str, Any], narrow: bool) -> str:
    """Write a value and its interval, which goes to a line of its own on a narrow screen."""
    from rich.console import Console

    if row["value"] is None or row["value"] != row["value"]:
        return "–"
    if narrow or row["low"] is None or row["low"] != row["low"]:
        wide = not narrow and Console().width >= _WIDE
        return f"{row['value']:.2f}" + (" " * len(" (0.00–0.00)") if wide else "")
    gap = " " if Console().width >= _WIDE else "\n"
    return f"{row['value']:.2f}{gap}({row['low']:.2f}–{row['high']:.2f})"


def _show_confusion(found: ClassificationResult, model: str, out: Output) -> None:
    from rich.text import Text

    from affectlab.core.terminal import Table
    from affectlab.core.words import shown

    seen = found.confusions[model]
    if len(seen.labels) > _MOST_CLASSES:
        mistakes = seen.mistakes().drop("share")  # type: ignore[union-attr]
        if mistakes.height:
            out.head(f"\n{model}: what is taken for what, the most costly first")
            out.show_frame(
                mistakes, mistakes.columns, most=10, more="--json and --figures have all"
            )
        return
    out.head(f"\n{model}: what is taken for what (true class in rows)")
    rows = found.per_class.filter(found.per_class["rater"] == model)
    recall = dict(zip(rows["label"].to_list(), rows["recall"].to_list(), strict=True))
    precision = dict(zip(rows["label"].to_list(), rows["precision"].to_list(), strict=True))
    table = Table(box=None, header_style="bold", padding=(0, 1))
    table.add_column("", no_wrap=True)
    for label in seen.labels:
        # Without a row of its own this is no class, but the lack of an answer.
        header = shown(label, 12) if label in recall else "none"
        table.add_column(Text(header), justify="right")
    table.add_column("recall", justify="right")
    for place, label in enumerate(seen.labels):
        if label not in recall:
            continue
        cells = [
            Text(f"{count:,}" if count else "·", style="bold" if column == place else "")
            for column, count in enumerate(seen.counts[place].tolist())
        ]
        table.add_row(Text(shown(label, 20)), *cells, _short(recall[label]))
    table.add_row("precision", *(_short(precision.get(label)) for label in seen.labels))
    out.show(table)


def _short(value: float | None) -> str:
    return "–" if value is None or value != value else f"{value:.2f}"


def flat(frame: pl.DataFrame) -> pl.DataFrame:
    """Write sets of classes as text, which a CSV file can hold."""
    import polars as pl

    return frame.with_columns(
        pl.col(name).list.join("; ") for name, kind in frame.schema.items() if kind == pl.List
    )


def draw_figures(found: ClassificationResult, folder: Path) -> None:
    """Accuracy and severity of everyone, and the confusions of each model."""
    from affectlab.report import fig_confusion, fig_intervals, save_figure

    frame = found.to_frame()
    roles = {"model": "model", "people": "people", "person": "person"}
    titles = {
        "accuracy": "accuracy (share of right answers)",
        "exact_match": "share of exactly right sets",
        "macro_f1": "macro F1",
        "ecc": "ECC",
        "emc": "EMC (mildness of mistakes)",
    }
    for metric, title in titles.items():
        rows = frame.filter((frame["metric"] == metric) & frame["role"].is_in(list(roles)))
        if (rows["role"] == "person").sum() > _MOST_PEOPLE:
            rows = rows.filter(rows["role"] != "person")
        if rows.is_empty() or (not found.classes.multilabel and metric == "macro_f1"):
            continue
        lines = [
            (row["value"], row["rater"])
            for row in frame.filter(
                (frame["metric"] == metric) & (frame["role"] == "baseline")
            ).iter_rows(named=True)
            if row["value"] == row["value"]
        ]
        if len(lines) == 2 and abs(lines[0][0] - lines[1][0]) < _APART:
            # Their names would stand on top of each other; the higher one is the one to beat.
            lines = [max(lines)]
        names = [
            "people, together" if role == "people" else name
            for name, role in zip(rows["rater"], rows["role"], strict=True)
        ]
        figure = fig_intervals(
            names,
            *(rows[name].to_numpy() for name in ("value", "low", "high")),
            value_name=title,
            lines=lines,
            groups=rows["role"].to_list(),
        )
        best = rows.sort("value", descending=True, nulls_last=True).row(0, named=True)
        save_figure(
            figure,
            folder,
            f"classification_{metric}",
            title=f"{title[0].upper()}{title[1:]} of models and people",
            description=f"Highest for {best['rater']} ({best['value']:.2f}).",
        )
    polarity = found.classes.taxonomy.polarity
    taken: set[str] = set()
    for rater in [name for name in (*found.models, "people") if name in found.confusions]:
        seen = found.confusions[rater]
        sides = [polarity.get(label) or "" for label in seen.labels]
        figure = fig_confusion(seen.counts, seen.labels, groups=sides if any(sides) else None)
        save_figure(
            figure,
            folder,
            f"confusion_{slug(rater, taken)}",
            title=f"Confusion of {rater}",
            description="Share of answers to each true class.",
        )


def show_soft_labels(soft: Estimates, out: Output) -> None:
    """Print how far answers are from the distribution of people's answers."""
    from rich.text import Text

    from affectlab.core.terminal import Table
    from affectlab.core.words import shown

    frame = soft.to_frame()
    titles = {
        "jensen_shannon": "Jensen-Shannon",
        "earth_movers_distance": "earth mover's",
        "brier": "Brier",
    }
    present = [name for name in titles if name in frame["metric"]]
    out.head("\nDistance from the distribution of people's answers (0: the same)")
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("rater", overflow="fold", min_width=16)
    table.add_column("n", justify="right", no_wrap=True)
    for name in present:
        table.add_column(titles[name], justify="right", no_wrap=True)
    for (rater,), rows in frame.group_by("rater", maintain_order=True):
        cells = {row["metric"]: row for row in rows.iter_rows(named=True)}
        values = [_with_interval(cells[name], False) for name in present]
        table.add_row(Text(shown(rater)), f"{rows['n_items'][0]:,}", *values)
    out.show(table)
