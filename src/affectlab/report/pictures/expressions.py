"""Pictures of how different expressions look."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from affectlab.core.words import number, plural
from affectlab.report.figures import (
    HistogramPanel,
    fig_expression_elbow,
    fig_expression_heatmap,
    fig_expression_histograms,
    fig_expression_priority,
    fig_transition_ranges,
)
from affectlab.report.pictures.picture import Picture

if TYPE_CHECKING:
    from affectlab.analysis import AsymmetryTests, ExpressionDifferences, ScoreHistograms

__all__ = ["pictures_of_expressions", "pictures_of_spread"]


def pictures_of_expressions(
    found: ExpressionDifferences, tests: AsymmetryTests | None
) -> tuple[Picture, ...]:
    """Draw mean differences in the order of their tree, its heights, priorities and sides."""
    tree = found.clusters
    ok = tree.status == "ok"
    # Expressions that are not in the tree stand behind it.
    names = [*tree.labels, *tree.left_out] if ok else list(found.expressions)
    at = [found.expressions.index(name) for name in names]
    of_cluster = (
        dict(zip(tree.labels, tree.cluster.tolist(), strict=True)) if ok else dict[str, int]()
    )
    parts = "; ".join(", ".join(own) for own in tree.members().values()) if ok else tree.status
    drawn = [
        Picture(
            "expression_differences",
            "Mean differences of expressions",
            f"{plural(len(names), 'expression')}. Clusters: {parts}.",
            partial(
                fig_expression_heatmap,
                found.matrix[at][:, at],
                names,
                tree.linkage if ok else None,
                cluster=[of_cluster.get(name) for name in names],
                value_name=f"mean difference ({found.unit})",
            ),
        )
    ]
    if ok:
        drawn.append(
            Picture(
                "expression_elbow",
                "Heights of the tree of expressions",
                f"{plural(tree.k, 'cluster')} ({tree.chosen}).",
                partial(
                    fig_expression_elbow,
                    found.elbow["n_clusters"].to_numpy(),
                    found.elbow["height"].to_numpy(),
                    tree.k,
                    value_name=f"mean difference ({found.unit})",
                ),
            )
        )
    rows = found.priority
    centre = (rows["value"] - rows["relative"]).to_numpy()
    drawn.append(
        Picture(
            "rendering_priority",
            "Rendering priority",
            f"Needs most care: {rows['expression'][0]}. Least: {rows['expression'][-1]}.",
            partial(
                fig_expression_priority,
                rows["expression"].to_list(),
                rows["value"].to_numpy(),
                centre + rows["relative_low"].to_numpy(),
                centre + rows["relative_high"].to_numpy(),
                cluster=[of_cluster.get(name) for name in rows["expression"]] if ok else None,
                value_name=f"mean difference from the other expressions ({found.unit})",
                interval_name="95 % interval of the place among them",
            ),
        )
    )
    return (*drawn, *(() if tests is None else _of_sides(tests)))


def _of_sides(tests: AsymmetryTests) -> list[Picture]:
    """Draw how much higher right is than left, for each actor and mirrored expression."""
    drawn = []
    for kind in ("intra", "inter"):
        own = tests.points.filter(pl.col("kind") == kind)
        if not own.height:
            continue
        names = own["right"].unique(maintain_order=True).to_list()
        apart = own.with_columns((pl.col("mean_right") - pl.col("mean_left")).alias("apart"))
        drawn.append(
            Picture(
                f"asymmetry_{kind}",
                f"Right less left expressions, {kind} pairs",
                "One mark for each actor, on what both sides were shown with.",
                partial(
                    fig_transition_ranges,
                    names,
                    [apart.filter(right=name)["apart"].to_numpy() for name in names],
                    value_name=f"right – left, mean over {kind} pairs ({tests.unit})",
                    line=0.0,
                ),
            )
        )
    return drawn


def pictures_of_spread(spread: ScoreHistograms) -> tuple[Picture, ...]:
    """Draw histograms of scores and of their errors."""
    summary = {
        (row["histogram"], row["group"]): row for row in spread.summary.iter_rows(named=True)
    }
    names = {
        "scores": f"score ({spread.unit})" if spread.unit != "score" else "score",
        "errors": "standard error of the score",
        "scores by error": "score",
        "scores by actor": "score",
    }
    drawn = []
    for histogram, value_name in names.items():
        panels = []
        for group, bins in spread.of(histogram).items():
            row = summary[histogram, group]
            note = f"{plural(row['n'], 'pair')}, mean {number(row['mean'], 1)}"
            role = group if group in ("intra", "inter") else "all"
            low, high, share = (bins[name].to_numpy() for name in ("low", "high", "share"))
            panels.append(HistogramPanel(group, low, high, share, note=note, role=role))
        if panels:
            drawn.append(
                Picture(
                    histogram.replace(" ", "_"),
                    f"Histograms of {histogram}",
                    "; ".join(f"{panel.title}: {panel.note}" for panel in panels),
                    partial(fig_expression_histograms, panels, value_name=value_name),
                )
            )
    return tuple(drawn)
