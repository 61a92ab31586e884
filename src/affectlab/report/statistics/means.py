"""What is used of ratings: means of raters, or the choice of most, and how reliable they are."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import polars as pl

from affectlab.core.arrays import counted, distinct
from affectlab.core.errors import InputError
from affectlab.core.estimates import Estimates
from affectlab.core.facts import Cause, reason_type
from affectlab.core.inference import holm, wilson_interval
from affectlab.ratings import ClusterLike, Ratings, answers_of, stimulus_clusters
from affectlab.reliability import (
    intraclass_correlation,
    krippendorff_alpha,
    mean_opinion_scores,
    mixed_model,
    spearman_brown,
)
from affectlab.report import wording

WANTED = 0.8
"""Reliability from which on scores serve comparisons of groups and correlations."""
STEPS = (0.7, WANTED, 0.9)
"""Reliabilities of scores that are asked for: for a first look, for comparisons of groups and
correlations, and for decisions about single stimuli (Nunnally and Bernstein 1994)."""
SCHEMA = {
    "label": pl.String,
    "coefficient": pl.String,
    **dict.fromkeys(("single", "single_low", "single_high", "k"), pl.Float64),
    **dict.fromkeys(("value", "low", "high"), pl.Float64),
    **dict.fromkeys(("raters_wanted", "raters_wanted_low", "raters_wanted_high"), pl.Float64),
    **dict.fromkeys(("n_items", "n_raters", "n_ratings"), pl.Int64),
    **dict.fromkeys(("rare", "of_raters"), pl.Float64),
    "of_shares": pl.Boolean,
    "status": pl.String,
    "reason": reason_type(),
}
_RATERS_APART = (Cause.CONFOUNDED_RATERS.value, Cause.TOO_LARGE.value)
"""Reasons for which raters cannot be told from noise."""


def raters_for(wanted: float, single: float) -> float:
    """Give how many raters' mean is as reliable as wanted; infinite where one tells nothing.

    Examples
    --------
    >>> raters_for(0.8, 0.5)
    4.0
    """
    if not single > 0:
        return math.inf if single == single else math.nan
    # Rounding must not ask for one more.
    return max(1.0, float(np.ceil(wanted * (1 - single) / (single * (1 - wanted)) - 1e-9)))


def reliability_of_means(
    panel: Ratings, *, intervals: bool, cluster: ClusterLike = None
) -> pl.DataFrame:
    """Reliability of one rater and of the mean of as many as rated a stimulus, by label.

    Of categories without an order it is that of shares of answers, which follows from
    Krippendorff's alpha as that of means does from the intraclass correlation.

    Parameters
    ----------
    panel
        Answers on one scale.
    intervals
        Whether intervals are asked for.
    cluster
        What stimuli belong to; see :func:`~affectlab.ratings.answers.clusters.stimulus_clusters`.

    Returns
    -------
    By ``label``: ``single``, ``k`` (raters per stimulus), ``value`` (of the mean of k), each with
    ends of its interval, ``raters_wanted``, whose mean reaches 0.80, ``rare``, the share of
    answers other than the most frequent, ``of_raters``, the share of the variance behind the
    interval that is due to the choice of raters, and ``of_shares``, whether it is of shares.
    """
    rows = []
    rare = {
        label: 1
        - float(np.unique(part.value, return_counts=True)[1].max(initial=0))
        / max(part.value.size, 1)
        for part in answers_of(panel).by_label()
        for label in [part.labels[int(part.label[0])] if part.label.size else ""]
    }
    about = "both" if panel.raters_known else "stimuli"
    options: dict[str, Any] = {"cluster": cluster, "target": about if intervals else "sample"}
    # Where nobody knows who answered, what raters differ in is part of the noise, as in alpha.
    nominal = panel.scale.kind == "nominal" or not panel.raters_known
    for row in _nominal(panel, options) if nominal else _graded(panel, options):
        ends = (("", "single"), ("_low", "single_high"), ("_high", "single_low"))
        row |= {f"raters_wanted{end}": raters_for(WANTED, row[of]) for end, of in ends}
        row |= {"rare": rare.get(row["label"], math.nan), "of_shares": nominal}
        rows.append(row)
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _graded(panel: Ratings, options: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Agreement of means with those of other raters, by intraclass correlations."""
    frame = _with_share(intraclass_correlation(panel, forms=("2,1", "2,k"), **options))
    cause = pl.col("reason").struct.field("cause")
    confounded = frame.filter(form="2,1").filter(cause.is_in(_RATERS_APART))
    if confounded.height:
        # Where each stimulus has raters of its own, what raters differ in is part of the noise.
        chosen = confounded["label"].to_list()
        part = panel.select(labels=chosen) if panel.has_labels else panel
        other = _with_share(intraclass_correlation(part, forms=("1,1", "1,k"), **options))
        frame = pl.concat([frame.filter(~pl.col("label").is_in(chosen)), other])
    for (label,), rows in frame.group_by(["label"], maintain_order=True):
        one, mean = rows.rows(named=True)
        if one["value"] <= 0:
            # Nothing is shown in which stimuli differ, and means have no value below 0.
            mean |= _of_mean(one, mean["k"])
        yield {
            "label": label,
            "coefficient": f"intraclass correlation ({one['form']} and {mean['form']})",
            **_ends(one, "single", "single_"),
            **_ends(mean, "value", ""),
            "k": mean["k"],
            **_counts(one),
        }


def _with_share(found: Estimates) -> pl.DataFrame:
    """Add to a table how much of each error is due to the choice of raters."""
    jackknife = found.jackknife
    share = np.full(len(found), np.nan) if jackknife is None else jackknife.share("raters")
    return found.frame.with_columns(of_raters=pl.Series(share, dtype=pl.Float64))


def _nominal(panel: Ratings, options: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Reliability of the shares of answers."""
    for part, row in zip(
        answers_of(panel).by_label(),
        _with_share(krippendorff_alpha(panel, **options)).iter_rows(named=True),
        strict=True,
    ):
        raters = np.bincount(part.unit)
        raters = raters[raters > 1]
        k = raters.size / float((1 / raters).sum()) if raters.size else math.nan
        yield {
            "label": row["label"],
            "coefficient": wording.ALPHA_OF_SHARES,
            **_ends(row, "single", "single_"),
            **_of_mean(row, k),
            "k": k,
            **_counts(row),
        }


def _of_mean(one: dict[str, Any], k: float) -> dict[str, float]:
    """Reliability of the mean of k raters, with its interval, from that of one, not below 0."""
    ends = ("value", "low", "high")
    of_mean = spearman_brown(np.clip([one[end] for end in ends], 0.0, None), k)
    return dict(zip(ends, of_mean.tolist(), strict=True))


def _ends(row: dict[str, Any], value: str, prefix: str) -> dict[str, float]:
    return {value: row["value"], f"{prefix}low": row["low"], f"{prefix}high": row["high"]}


def _counts(row: dict[str, Any]) -> dict[str, Any]:
    names = ("n_items", "n_raters", "n_ratings", "of_raters", "status", "reason")
    return {name: row[name] for name in names}


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
