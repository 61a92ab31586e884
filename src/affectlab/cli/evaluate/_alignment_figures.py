"""Figures of ``affectlab evaluate alignment``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from affectlab.core.words import number, percent

if TYPE_CHECKING:
    import polars as pl

    from affectlab.core.estimates import Estimates
    from affectlab.evaluation import AlignmentResult, PublishedTables

__all__ = ["save_figures"]


def save_figures(
    found: AlignmentResult,
    tables: PublishedTables,
    folder: Path,
    *,
    families: Mapping[str, str],
    grouped: Mapping[str, np.ndarray],
) -> None:
    """Draw what the comparison found, and save each figure as PNG and SVG."""
    _range(found, folder)
    _equivalence(found, folder)
    if tables.kappa is not None:
        _kinds(found, tables, folder)
        _heatmap(found, tables, folder)
    if grouped and tables.groups is not None:
        _groups(found, grouped, tables.groups, folder)
    if tables.with_median is not None:
        _bars(tables.with_median, families, folder)
    if tables.discrepancy is not None:
        _discrepancy(tables.discrepancy, folder)
    _alpha(tables.alpha, folder)


def _column(frame: pl.DataFrame, name: str) -> np.ndarray:
    return frame[name].fill_null(np.nan).to_numpy()


def _range(found: AlignmentResult, folder: Path) -> None:
    from affectlab.report import fig_people_range, save_figure

    people, models = found.people_frame(), found.models_frame()
    words = {"spearman": "Spearman with the median"}
    names = [name for name in people.columns if name != "rater"]
    of_first = found.measure_words if found.pooled else f"mean {found.measure_words}"
    panels = {words.get(name, of_first): name for name in names}
    figure = fig_people_range(
        {title: _column(people, name) for title, name in panels.items()},
        {title: _column(models, name) for title, name in panels.items()},
        models["rater"].to_list(),
    )
    save_figure(
        figure,
        folder,
        "people_range",
        title="Models on the range of people",
        description="Each person against the other people, and each model against people.",
    )


def _equivalence(found: AlignmentResult, folder: Path) -> None:
    from affectlab.report import fig_equivalence, save_figure

    frame = found.to_frame()
    figure = fig_equivalence(
        frame["rater"].to_list(),
        _column(frame, "difference"),
        _column(frame, "low"),
        _column(frame, "high"),
        frame["verdict"].to_list(),
        margin=found.margin,
        inner_low=_column(frame, "test_low"),
        inner_high=_column(frame, "test_high"),
        inner_name=f"{percent(1 - 2 * found.alpha)} interval, which decides",
        value_name=f"{found.measure_words}: model with people less people with one another",
    )
    save_figure(
        figure,
        folder,
        "equivalence",
        title="Difference of models from people, with intervals and margin",
        description="; ".join(f"{name}: {verdict}" for name, verdict in found.verdicts.items()),
    )


def _kinds(found: AlignmentResult, tables: PublishedTables, folder: Path) -> None:
    import polars as pl

    from affectlab.report import fig_groups_compared, fig_kinds_by_label, save_figure

    if tables.kappa is None or tables.kind_groups is None or tables.kinds_by_label is None:
        return
    kinds = tables.kappa.pair_kind.unique(maintain_order=True).to_list()
    order = [kind for kind in ("human-human", "human-model", "model-model") if kind in kinds]
    values = {
        kind: tables.kappa.of_kind(kind).filter(pl.col("status") == "ok")["value"].to_numpy()
        for kind in order
    }
    figure = fig_groups_compared(values, _brackets(tables.kind_groups), value_name=found.pair_words)
    save_figure(
        figure,
        folder,
        "kinds_of_pairs",
        title="Agreement by kind of pair",
        description="As published: p-values take pairs and labels as independent.",
    )
    by_label = tables.kinds_by_label
    labels = by_label["label"].unique(maintain_order=True).to_list()
    means = {
        kind: _column(
            by_label.filter(pl.col("pair_kind") == kind).sort(
                pl.col("label").cast(pl.Enum(labels))
            ),
            "mean",
        )
        for kind in order
    }
    save_figure(
        fig_kinds_by_label(labels, means, value_name=f"mean {found.pair_words}"),
        folder,
        "kinds_by_label",
        title="Agreement by kind of pair, per label",
        description=f"{len(labels)} labels.",
    )


def _groups(
    found: AlignmentResult, grouped: Mapping[str, np.ndarray], compared: Estimates, folder: Path
) -> None:
    """Draw the agreement of each group of models with people beside that among people."""
    from affectlab.report import fig_groups_compared, save_figure

    medians = (
        f"{name} {number(float(np.median(values)))}"
        for name, values in grouped.items()
        if values.size
    )
    save_figure(
        fig_groups_compared(grouped, _brackets(compared, "people"), value_name=found.pair_words),
        folder,
        "groups",
        title="Agreement with people, by group of models",
        description=f"Medians: {', '.join(medians)}. As published: p-values take raters and labels "
        "as independent.",
    )


def _brackets(groups: Estimates, first: str | None = None) -> list[tuple[str, str, str]]:
    """Write the difference, its interval and p of every comparison, or of those with one group."""
    found = []
    for row in groups.frame.iter_rows(named=True):
        if row["p"] != row["p"] or first not in (None, row["group_a"]):
            continue
        p = "p < 0.001" if row["p"] < 0.001 else f"p = {number(row['p'], 3)}"
        text = f"Δ {number(row['value'], 3)}"
        if row["low"] == row["low"]:
            text += f"\n[{number(row['low'], 3)}, {number(row['high'], 3)}]"
        found.append((row["group_a"], row["group_b"], f"{text}\n{p}"))
    return found


def _heatmap(found: AlignmentResult, tables: PublishedTables, folder: Path) -> None:
    from affectlab.reliability import kappa_matrix
    from affectlab.report import fig_pair_heatmap, save_figure

    if tables.kappa is None:
        return
    matrix = kappa_matrix(tables.kappa)
    figure = fig_pair_heatmap(
        matrix.values, matrix.raters, matrix.rater_kinds, value_name=found.pair_words
    )
    save_figure(
        figure,
        folder,
        "heatmap",
        title="Agreement of every pair of raters, mean over labels",
        description=f"{len(matrix.raters)} raters, people first.",
    )


def _bars(with_median: Estimates, families: Mapping[str, str], folder: Path) -> None:
    from affectlab.report import fig_agreement_bars, save_figure

    frame = with_median.to_frame()
    figure = fig_agreement_bars(
        frame["rater"].to_list(),
        *(_column(frame, name) for name in ("value", "low", "high")),
        value_name="Spearman with the median of people, mean over labels",
        families=[families.get(name, "none") for name in frame["rater"]] if families else None,
    )
    save_figure(
        figure,
        folder,
        "spearman",
        title="Spearman correlation of models with the median of people",
        description=_best(frame),
    )


def _best(frame: pl.DataFrame) -> str:
    value = _column(frame, "value")
    if np.isnan(value).all():
        return "No model has a defined correlation."
    k = int(np.nanargmax(value))
    return f"Highest for {frame['rater'][k]} ({number(value[k])})."


def _discrepancy(table: Estimates, folder: Path) -> None:
    from affectlab.report import fig_discrepancy, save_figure

    frame = table.to_frame()
    models = frame["rater"].unique(maintain_order=True).to_list()
    labels = frame["label"].unique(maintain_order=True).to_list()
    shape = (len(models), len(labels))
    value, low, high = (_column(frame, name).reshape(shape) for name in ("value", "low", "high"))
    save_figure(
        fig_discrepancy(labels, models, value, low, high, value_name="mean of people less model"),
        folder,
        "discrepancy",
        title="By how much people rate higher than models, per label",
        description=f"{len(labels)} labels, {len(models)} models.",
    )


def _alpha(alpha: Estimates, folder: Path) -> None:
    import polars as pl

    from affectlab.report import fig_alpha, save_figure

    frame = alpha.to_frame().filter(pl.col("side") == "human")
    if _column(frame, "value").size == 0 or np.isnan(_column(frame, "value")).all():
        return
    columns: list[Any] = [_column(frame, name) for name in ("value", "low", "high")]
    save_figure(
        fig_alpha(frame["label"].to_list(), *columns),
        folder,
        "alpha",
        title="Krippendorff's alpha of people per label",
        description="Lines at 0.67 and 0.80, the customary marks.",
    )
