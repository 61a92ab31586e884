"""``affectlab analyze correlations``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from affectlab.cli._options import SeedOption, reads_ratings
from affectlab.cli._output import write_csv
from affectlab.cli.parameters import Option

if TYPE_CHECKING:
    from affectlab.analysis import LabelClusters, LabelCorrelations
    from affectlab.cli._output import Output
    from affectlab.ratings import Ratings

__all__ = ["correlations"]

_CLEAR = 0.25
"""Mean silhouette from which on clusters stand apart at all (Kaufman and Rousseeuw 1990)."""


@reads_ratings("analyze correlations")
def correlations(
    ratings: Ratings,
    out: Output,
    method: Annotated[
        Literal["pearson", "spearman"], Option(help="Kind of correlation.")
    ] = "pearson",
    n_boot: Annotated[int, Option(help="Bootstrap replicates for intervals.", min=0)] = 1000,
    clusters: Annotated[
        str,
        Option(
            help="Clusters: a number, or how it is found ('silhouette', 'elbow').",
            metavar="N|silhouette|elbow",
        ),
    ] = "silhouette",
    neutral: Annotated[bool, Option("--neutral", help="Take the neutral label in, too.")] = False,
    to: Annotated[
        Path | None,
        Option("--out", help="Write all pairs to this CSV file.", show_default=False),
    ] = None,
    figures: Annotated[
        Path | None,
        Option(help="Folder for the heatmap (PNG, SVG).", show_default=False),
    ] = None,
    seed: SeedOption = 0,
) -> None:
    """Correlate labels over stimuli, and cluster those that people use alike.

    Example: affectlab analyze correlations ratings.csv --figures figures
    """
    from affectlab.analysis import cluster_labels, label_correlations
    from affectlab.core.render.terminal import table_lines
    from affectlab.core.words import joined, plural

    k = _number(clusters)
    panel = out.panel(ratings)
    with out.progress("correlations"):
        found = label_correlations(
            panel, method=method, exclude_neutral=not neutral, n_boot=n_boot, seed=seed
        )
        tree = cluster_labels(found, k=k)
    frame = found.to_frame()
    known = int((frame["status"] == "ok").sum())
    # Files first: who reads the output may leave early, as in `… | head`.
    if to is not None:
        write_csv(frame, to)
    if figures is not None:
        _figure(found, tree, figures)
    out.head(f"{method.capitalize()} correlations of {plural(len(found.labels), 'label')}")
    if frame["value"].is_not_nan().any():
        out.show("Highest and lowest:", table_lines(found.table("strongest")))
    if known < frame.height:
        reasons = sorted(set(frame.filter(frame["status"] != "ok")["status"].to_list()))
        out.show(f"{frame.height - known:,} of {frame.height:,} pairs: {joined(reasons)}.")
    if found.excluded:
        out.show(f"Left out: {joined(found.excluded)}.")
    _show_tree(out, tree)
    if to is not None:
        out.show(f"\ncorrelations written to {to}")
    if figures is not None:
        out.show(f"\nfigures: {figures}")
    out.finish(
        {
            "panel": out.who,
            "correlations": frame,
            "excluded": found.excluded,
            "clusters": tree.to_frame(),
            "chosen": tree.chosen,
            "silhouettes": tree.scores,
            "left_out": tree.left_out,
            "status": tree.status,
        },
        ratings.warnings,
    )


def _number(text: str) -> int | Literal["silhouette", "elbow"]:
    from affectlab.core.errors import InputError

    if text == "silhouette":
        return "silhouette"
    if text == "elbow":
        return "elbow"
    if text.isdecimal():
        return int(text)
    raise InputError(f"--clusters: {text!r} is not understood; expected a number or 'silhouette'")


def _show_tree(out: Output, tree: LabelClusters) -> None:
    from affectlab.core.render.terminal import table_lines
    from affectlab.core.words import joined, plural

    out.head("\nClusters" + ("" if tree.status != "ok" else f": {tree.method}"))
    if tree.status != "ok":
        out.show(f"None: {tree.status}.")
        return
    out.show(table_lines(tree.table("clusters")))
    score = tree.scores.get(tree.k)
    weight = "" if score is None else f" of {score:.2f}"
    if score is not None and "silhouette" not in tree.chosen:
        weight = f"; mean silhouette {score:.2f}"
    out.show(f"{plural(tree.k, 'cluster')} ({tree.chosen}{weight}).")
    if score is not None and score < _CLEAR:
        out.show(
            f"A mean silhouette below {_CLEAR} means that labels shade into each other: read the "
            "tree and the heatmap, and take the clusters as a summary only."
        )
    if tree.n_boot:
        out.show(
            "Stability: share of bootstrap samples of the stimuli in which two labels of the "
            "cluster stay together."
        )
    if tree.left_out:
        out.show(f"Not in the tree, for want of correlations: {joined(tree.left_out)}.")


def _figure(found: LabelCorrelations, tree: LabelClusters, folder: Path) -> None:
    from affectlab.core.words import plural
    from affectlab.report import fig_label_clusters, save_figure

    ok = tree.status == "ok"
    # Labels that are not in the tree come last, without one there is only the heatmap.
    at = [found.labels.index(name) for name in (tree.labels if ok else found.labels)]
    figure = fig_label_clusters(
        found.matrix[at][:, at],
        [found.labels[k] for k in at],
        tree.linkage if ok else None,
        cluster=tree.cluster.tolist() if ok else None,
        groups=None if found.groups is None else [found.groups[k] for k in at],
    )
    parts = "; ".join(", ".join(names) for names in tree.members().values()) if ok else tree.status
    save_figure(
        figure,
        folder,
        "label_correlations",
        title="Correlations of labels",
        description=f"{plural(len(at), 'label')}. Clusters: {parts}.",
    )
