"""Pictures of FaceExpressions-70k: spreads, transitions, structure, JND times and metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.result import Result
from affectlab.core.types import Floats
from affectlab.core.words import joined, plural
from affectlab.recipes.recipe import RecipeFigure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from affectlab.analysis import PairScores
    from affectlab.recipes.face_expressions.films import Films

__all__ = ["in_paper", "metric_pictures", "score_pictures", "strip_picture"]

_TITLES = {
    "mse": "MSE",
    "mae": "MAE",
    "ssim": "SSIM, turned",
}
_PLACES = {
    "scores": "How different pairs of faces look (figures 5 and 13)",
    "errors": "Standard errors of the scores (figure 14)",
    "scores_by_error": "Scores of pairs, by their standard errors (figure 15)",
    "scores_by_actor": "Scores of intra pairs, by actor (figure 16)",
    "transition_ranges": "Difference between peak and neutral, over actors (figure 6)",
    "transition_curves_by_actor": "Return from peak to neutral, by actor (figure 9)",
    "transition_curves_by_expression": "Return from peak to neutral, by expression (figure 9)",
    "expression_differences": "Mean differences of expressions (figure 10)",
    "expression_elbow": "Heights at which clusters of expressions are joined",
    "rendering_priority": "Which expressions need most care (figure 21)",
    "asymmetry_intra": "Movements to the right less those to the left, intra pairs",
    "asymmetry_inter": "Movements to the right less those to the left, inter pairs",
    "jnd_times": "Time to 1 JND, by actor (figure 11, left)",
}
"""Where the paper shows the same."""
_STRIPS = 2
_SIDE = 160
"""Side of a drawn frame of a strip, in pixels."""


def in_paper(*results: Result) -> tuple[RecipeFigure, ...]:
    """Take the figures of results over, and say which figure of the paper shows the same."""
    return RecipeFigure.all_of(*results, titles=_PLACES)


def score_pictures(scores: PairScores, frames: pl.DataFrame | None) -> tuple[RecipeFigure, ...]:
    """Draw histograms (figures 5 and 13 to 16), and the way from peak to neutral (6, 9, 17 to 20).

    What the pairs do not allow is left out.
    """
    from affectlab.analysis import score_histograms, transition_curves, transition_ranges

    histograms = score_histograms(scores)
    try:
        ranges = transition_ranges(scores)
        curves = transition_curves(scores, frames=frames)
    except InputError:
        # Without pairs of peak and neutral there is nothing to follow; the table says the same.
        return in_paper(histograms)
    return in_paper(histograms, ranges, curves)


def strip_picture(scores: PairScores, films: Films, seed: int) -> RecipeFigure:
    """Draw the frames of the fastest transitions up to 1 JND (figure 11, right)."""
    return RecipeFigure(
        "jnd_strip",
        "Drawn frames up to 1 JND (figure 11, right)",
        f"The fastest transitions of {plural(_STRIPS, 'actor')}, frame by frame; the first frame "
        "at or after 1 JND is marked.",
        partial(_strip, scores, films, seed),
    )


def _strip(scores: PairScores, films: Films, seed: int) -> Figure:
    from affectlab.analysis import jnd_times
    from affectlab.analysis.jnd import jnd_score, jnd_strip, strip_choices
    from affectlab.core.render.figure import draw_figure

    times = jnd_times(scores, films.frames, jnd=jnd_score(scores, seed=seed))
    images, rows = [], []
    for row in strip_choices(times, _STRIPS).iter_rows(named=True):
        one = films.transitions.of(row["actor"], row["expression"])
        strip = jnd_strip(times, one.actor, one.expression, one.times_ms)
        images += [one.draw(frame, size=_SIDE) for frame in strip[0].tolist()]
        names = ("frame", "since_ms", "jnds")
        rows += [row | dict(zip(names, cell, strict=True)) for cell in zip(*strip, strict=True)]
    return draw_figure("jnd_strips", pl.DataFrame(rows), images=images)


def metric_pictures(
    score: Floats, values: Mapping[str, Floats], actors: Sequence[str], encoder: str
) -> tuple[RecipeFigure, ...]:
    """Draw scores beside metrics (figures 22 to 24), and SROCC by actor (figure 25).

    Parameters
    ----------
    score
        Scores of pairs, shape (n,).
    values
        Metric to its values, each of shape (n,).
    actors
        Actor of each pair.
    encoder
        Whose embeddings metrics by distance compare.
    """
    titles = {
        name: _TITLES.get(name, f"{encoder}, {name.rpartition(' ')[2].rpartition('=')[2]}")
        for name in values
    }
    about = f"{joined(titles.values())}, on {plural(score.size, 'pair')}"
    given = (score, values, list(actors), titles)
    return (
        RecipeFigure(
            "metrics_scatter",
            "Scores of pairs beside metrics (figures 22 to 24)",
            f"{about}, with a fitted curve.",
            partial(_scatter, *given),
        ),
        RecipeFigure(
            "metrics_by_actor",
            "Rank correlation of metrics with scores, by actor (figure 25)",
            f"{about}, of {plural(len(set(actors)), 'actor')}.",
            partial(_by_actor, *given),
        ),
    )


def _scatter(
    score: Floats, values: Mapping[str, Floats], _actors: list[str], titles: Mapping[str, str]
) -> Figure:
    from affectlab.core.render.figure import figure_of
    from affectlab.evaluation import difference_metrics

    names = [titles[name] for name in values]
    found = difference_metrics(
        score, [*values.values()], names=names, metrics=["srocc", "plcc_fit"], n_boot=0
    )
    figure = found.figures[0]
    named = replace(figure, options={**figure.options, "x_name": "metric"})
    return figure_of(named, found.table(figure.of))


def _by_actor(
    score: Floats, values: Mapping[str, Floats], actors: list[str], titles: Mapping[str, str]
) -> Figure:
    from affectlab.core.render.figure import draw_figure
    from affectlab.evaluation import difference_metrics

    found = difference_metrics(
        score,
        list(values.values()),
        names=list(values),
        metrics=["srocc"],
        by={"actor": actors},
        n_boot=0,
    )
    rows = [
        {"metric": title, "value": found[name, group, "srocc"].value}
        for name, title in titles.items()
        for group in found.settings["groups"]
        if group != "all"
    ]
    return draw_figure("ranges", pl.DataFrame(rows), by="metric", value_name="SROCC")
