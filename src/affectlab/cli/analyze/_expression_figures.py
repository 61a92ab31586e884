"""Figures of ``affectlab analyze expressions``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from affectlab.analysis import AsymmetryTests, ExpressionDifferences, ScoreHistograms

__all__ = ["draw_expressions"]


def draw_expressions(
    found: ExpressionDifferences,
    tests: AsymmetryTests | None,
    spread: ScoreHistograms,
    folder: Path,
) -> None:
    """Write every figure of expression differences to a folder."""
    from affectlab._words import plural
    from affectlab.report import (
        fig_expression_elbow,
        fig_expression_heatmap,
        fig_expression_priority,
        save_figure,
    )

    tree = found.clusters
    ok = tree.status == "ok"
    # Expressions that are not in the tree stand behind it.
    names = [*tree.labels, *tree.left_out] if ok else list(found.expressions)
    at = [found.expressions.index(name) for name in names]
    of_cluster = (
        dict(zip(tree.labels, tree.cluster.tolist(), strict=True)) if ok else dict[str, int]()
    )
    parts = "; ".join(", ".join(own) for own in tree.members().values()) if ok else tree.status
    save_figure(
        fig_expression_heatmap(
            found.matrix[at][:, at],
            names,
            tree.linkage if ok else None,
            cluster=[of_cluster.get(name) for name in names],
            value_name=f"mean difference ({found.unit})",
        ),
        folder,
        "expression_differences",
        title="Mean differences of expressions",
        description=f"{plural(len(names), 'expression')}. Clusters: {parts}.",
    )
    if ok:
        elbow = found.elbow
        save_figure(
            fig_expression_elbow(
                elbow["n_clusters"].to_numpy(),
                elbow["height"].to_numpy(),
                tree.k,
                value_name=f"mean difference ({found.unit})",
            ),
            folder,
            "expression_elbow",
            title="Heights of the tree of expressions",
            description=f"{plural(tree.k, 'cluster')} ({tree.chosen}).",
        )
    rows = found.priority
    centre = (rows["value"] - rows["relative"]).to_numpy()
    save_figure(
        fig_expression_priority(
            rows["expression"].to_list(),
            rows["value"].to_numpy(),
            centre + rows["relative_low"].to_numpy(),
            centre + rows["relative_high"].to_numpy(),
            cluster=[of_cluster.get(name) for name in rows["expression"]] if ok else None,
            value_name=f"mean difference from the other expressions ({found.unit})",
            interval_name="95 % interval of the place among them",
        ),
        folder,
        "rendering_priority",
        title="Rendering priority",
        description=f"Needs most care: {rows['expression'][0]}. Least: {rows['expression'][-1]}.",
    )
    if tests is not None:
        _figure_sides(tests, folder)
    _figure_spread(spread, folder)


def _figure_sides(tests: AsymmetryTests, folder: Path) -> None:
    """Draw how much higher right is than left, for each actor and mirrored expression."""
    import polars as pl

    from affectlab.report import fig_transition_ranges, save_figure

    for kind in ("intra", "inter"):
        own = tests.points.filter(pl.col("kind") == kind)
        if not own.height:
            continue
        names = own["right"].unique(maintain_order=True).to_list()
        apart = own.with_columns((pl.col("mean_right") - pl.col("mean_left")).alias("apart"))
        save_figure(
            fig_transition_ranges(
                names,
                [apart.filter(right=name)["apart"].to_numpy() for name in names],
                value_name=f"right – left, mean over {kind} pairs ({tests.unit})",
                line=0.0,
            ),
            folder,
            f"asymmetry_{kind}",
            title=f"Right less left expressions, {kind} pairs",
            description="One mark for each actor, on what both sides were shown with.",
        )


def _figure_spread(spread: ScoreHistograms, folder: Path) -> None:
    from affectlab._words import number, plural
    from affectlab.report import HistogramPanel, fig_expression_histograms, save_figure

    summary = {
        (row["histogram"], row["group"]): row for row in spread.summary.iter_rows(named=True)
    }
    names = {
        "scores": f"score ({spread.unit})" if spread.unit != "score" else "score",
        "errors": "standard error of the score",
        "scores by error": "score",
        "scores by actor": "score",
    }
    for histogram, value_name in names.items():
        panels = []
        for group, bins in spread.of(histogram).items():
            row = summary[histogram, group]
            note = f"{plural(row['n'], 'pair')}, mean {number(row['mean'], 1)}"
            role = group if group in ("intra", "inter") else "all"
            low, high, share = (bins[name].to_numpy() for name in ("low", "high", "share"))
            panels.append(HistogramPanel(group, low, high, share, note=note, role=role))
        if panels:
            save_figure(
                fig_expression_histograms(panels, value_name=value_name),
                folder,
                histogram.replace(" ", "_"),
                title=f"Histograms of {histogram}",
                description="; ".join(f"{panel.title}: {panel.note}" for panel in panels),
            )
