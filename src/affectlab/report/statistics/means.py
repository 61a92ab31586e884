"""What is used of ratings: means of raters, or the choice of most, and differences of groups."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from affectlab.core.arrays import counted, distinct
from affectlab.core.errors import InputError
from affectlab.core.inference import holm, wilson_interval
from affectlab.ratings import ClusterLike, Ratings, answers_of, stimulus_clusters
from affectlab.reliability import mean_opinion_scores, mixed_model

# Scores of stimuli.


_MOST_ANSWERS = 6
"""Different answers to a stimulus that are listed; of more, the ends."""


def scores_of(answers: Ratings) -> pl.DataFrame:
    """Score every stimulus on every label of one scale.

    Means of raters, as :func:`affectlab.reliability.mean_opinion_scores` has them (of yes/no the
    share of yes); of categories the one that most chose, with its share and Wilson's interval.

    Returns
    -------
    By ``label`` and ``stimulus``: ``value``, ``low``, ``high``, ``sd`` (of means), ``answer`` (of
    categories), ``n_ratings``, ``answers`` (how often which one was given, the most frequent first)
    and ``middle``: the mean over the stimuli of a label, of shares one half.
    """
    kind = answers.scale.kind
    is_share = kind in ("nominal", "binary")
    cells = _cells(answers)
    if kind == "nominal":
        low, high = wilson_interval(cells["most"].to_numpy(), cells["n_ratings"].to_numpy())
        found = cells.with_columns(
            value=pl.col("most") / pl.col("n_ratings"),
            low=pl.Series(low),
            high=pl.Series(high),
            sd=pl.lit(None, pl.Float64),
        )
    else:
        means = mean_opinion_scores(answers).to_frame()
        found = means.select(
            *("label", "stimulus", "value", "low", "high"),
            sd=pl.lit(None, pl.Float64) if is_share else pl.col("sd"),
        ).join(cells, on=["label", "stimulus"], how="left", maintain_order="left")
    middle = pl.lit(0.5) if is_share else pl.col("value").mean().over("label")
    answer = pl.col("answer") if kind == "nominal" else pl.lit(None, pl.String).alias("answer")
    return found.select(
        *("label", "stimulus", "value", "low", "high", "sd"),
        answer,
        *("n_ratings", "answers"),
        middle=middle,
    )


def _cells(ratings: Ratings) -> pl.DataFrame:
    """Count the answers to each stimulus on each label."""
    answers = answers_of(ratings)
    values, level = distinct(answers.value)
    key, n_keys = answers.cell * values.size + level, answers.cell.max(initial=-1) + 1
    key, n = counted(key, int(n_keys) * values.size)
    cell, level = np.divmod(key, values.size)
    # The most frequent answers of a cell come first, of equally frequent ones the smaller.
    order = np.lexsort((level, -n, cell))
    said = pl.Series(map(_answer(ratings), values), dtype=pl.String)
    counts = pl.DataFrame({"cell": cell[order], "level": level[order], "n": n[order]}).with_columns(
        answer=said.gather(level[order])
    )
    repeated = pl.when(pl.col("n") > 1).then(pl.format("{} ×{}", "answer", "n"))
    cells = (
        counts.with_columns(said=repeated.otherwise("answer"))
        .group_by("cell", maintain_order=True)
        .agg(
            pl.col("answer").first(),
            pl.col("said").str.join(", "),
            least=pl.col("level").min(),
            largest=pl.col("level").max(),
            several=pl.len() > _MOST_ANSWERS,
            most=pl.col("n").first(),
            n_ratings=pl.col("n").sum(),
        )
    )
    label, unit = np.divmod(cells["cell"].to_numpy(), len(answers.units))
    ends = (said.gather(cells[end]) for end in ("least", "largest"))
    return cells.with_columns(
        pl.Series("label", answers.labels, dtype=pl.String).gather(label),
        pl.Series("stimulus", answers.units, dtype=pl.String).gather(unit),
        answers=pl.when("several").then(pl.format("{} to {}", *ends)).otherwise("said"),
    ).select("label", "stimulus", "answer", "most", "n_ratings", "answers")


def _answer(ratings: Ratings) -> Callable[[float], str]:
    """Say what an answer is called."""
    scale = ratings.scale
    if scale.categories:
        return lambda value: scale.categories[int(value)]
    if scale.kind == "binary":
        return lambda value: "yes" if value == 1 else "no"
    # What is rounded to 0 from below has no sign.
    return lambda value: f"{value + 0:.3g}".replace("-", "−")


# Differences between groups of stimuli, and of raters.


MOST_GROUPS, FEWEST_IN_GROUP = 8, 5
"""Groups that an attribute makes at most, and stimuli, or people, that each needs."""
NO_GROUPS = ("file", "image", "path", "url", "src", "filename", "control", "of")
"""Attributes that lead to a stimulus, or say which other one it controls."""
_MOST_ATTRIBUTES = 4


def grouping(table: pl.DataFrame) -> list[str]:
    """Name attributes that are known of all and make two to eight groups of five.

    Parameters
    ----------
    table
        Stimuli, or raters, in its first column, and their attributes.
    """
    found = []
    for column in table.drop("rater_kind", strict=False).get_columns()[1:]:
        if column.name.casefold() in NO_GROUPS or column.dtype not in (pl.String, pl.Boolean):
            continue
        sizes = column.value_counts()["count"].to_list()
        known = column.null_count() == 0
        if known and 2 <= len(sizes) <= MOST_GROUPS and min(sizes) >= FEWEST_IN_GROUP:
            found.append(column.name)
    return found[:_MOST_ATTRIBUTES]


def differences(answers: Ratings, cluster: ClusterLike = None) -> tuple[pl.DataFrame, ...]:
    """Compare pairs of groups of stimuli, then of raters, for each attribute by itself.

    Stimuli and raters are random, and so is what raters make of groups of stimuli, where each of
    them rated several, and how stimuli differ between groups of raters, where several rated each.
    What stimuli were drawn with, such as actors, is random, too, in comparisons of stimuli.
    Where the answers are too many for that model, or too few, there is no comparison.

    Returns
    -------
    The contrasts of :func:`affectlab.reliability.mixed_model`, with ``attribute``, ``of`` (stimuli
    or raters), and ``p_holm`` over all pairs and labels.
    """
    found = []
    drawn = stimulus_clusters(answers, cluster).column
    carriers = (("stimulus", "rater", answers.stimuli), ("rater", "stimulus", answers.raters))
    compared = [
        (own, other, table.select(own, name), name)
        for own, other, table in (carriers if answers.scale.kind != "nominal" else ())
        for name in grouping(table)
    ]
    if not compared:
        return ()
    pairs = answers.coded_frame.select("stimulus", "rater").unique()
    rated = pairs.with_columns(pl.col("stimulus", "rater").cast(pl.String))
    for own, other, table, name in compared:
        groups = rated.join(table, on=own)
        within = groups.select(other, name).n_unique() > groups[other].n_unique()
        factors = ["stimulus", "rater", *([f"{other}:{name}"] if within else [])]
        if drawn and own == "stimulus" and name != drawn:
            factors += _of_clusters(answers.stimuli, drawn, name)
        try:
            result = mixed_model(answers, fixed=[name], factors=factors)
        except InputError:
            continue
        contrasts = result.to_frame("contrasts")
        if contrasts.is_empty():
            continue
        corrected = pl.Series("p_holm", holm(contrasts["p"].to_numpy()))
        of = "stimuli" if own == "stimulus" else "raters"
        found.append(contrasts.with_columns(corrected, attribute=pl.lit(name), of=pl.lit(of)))
    return tuple(found)


def _of_clusters(stimuli: pl.DataFrame, drawn: str, name: str) -> list[str]:
    """Random factors of clusters, and of what differs between their parts in several groups."""
    clusters, parts = stimuli[drawn].n_unique(), stimuli.select(drawn, name).n_unique()
    return [drawn, *([f"{drawn}:{name}"] if clusters < parts < stimuli.height else [])]
