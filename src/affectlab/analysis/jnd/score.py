"""One just noticeable difference in units of the score."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import polars as pl

from affectlab.analysis.jnd.wording import MEDIAN_SCORE, score_text, scores_caption, uncounted_pairs
from affectlab.analysis.pairs import PairScores, PairSource, pair_scores
from affectlab.core.arrays import weighted_quantile
from affectlab.core.errors import InputError, check_choice, check_number
from affectlab.core.estimates import Estimate, Estimates
from affectlab.core.facts import IntervalFact, Reason
from affectlab.core.inference import check_confidence, draw_weights, expanded, summarise_one
from affectlab.core.jackknife import too_few
from affectlab.core.statistic import FEWEST_CLUSTERS
from affectlab.core.tables import Count, Interval, Key, Value
from affectlab.core.types import Floats, Ints

Resample: TypeAlias = Literal["sequences", "actors", "scores"]
By: TypeAlias = Literal["end", "actor", "expression"]

_ENDS = {("near_peak", "peak"): "peak", ("near_neutral", "neutral"): "neutral"}
"""Roles of two frames that were sampled 1 JND apart, sorted, and the end that they lie at."""


def jnd_score(
    scores: PairSource,
    *,
    resample: Resample = "sequences",
    n_boot: int = 1000,
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
) -> Estimate:
    """Find what 1 just noticeable difference (JND) is in units of the score.

    The frames next to the ends of a transition were chosen to be 1 JND from them, so the score of
    1 JND is the median score of these pairs: peak and near_peak, near_neutral and neutral. Frames
    that could not be had 1 JND away have other roles (``step_2``, ``step_4``) and do not count:
    transitions of less than about 2 JNDs have no part in it.

    **It comes out somewhat too large where noise is.** Answers end at 0, so people who scatter
    around a small difference scatter upwards more than downwards, and no interval covers that. With
    ratings as noisy as those of the paper (about 18 points around a difference of 20) the median is
    1 point or 5 % too high: 95 % intervals of 24 sequences held in 87 % of simulated studies, those
    of 200 in 30 %. Times to 1 JND are too long by the same share, which is not the safe side
    (``benchmarks/_jnd_simulation.py``).

    Parameters
    ----------
    scores
        Ratings of the protocol ``difference``, or scores; see :func:`pair_scores`.
    resample
        What the interval is about. ``"sequences"``: other expressions of these people; both pairs
        of a sequence are drawn together. ``"actors"``: other people too, for which a handful of
        actors is few. ``"scores"``: these very pairs; only the error of the scores counts, which
        needs their standard errors. In the first two the error of the scores is inside already,
        as every score that is drawn has one.
    n_boot
        Bootstrap replicates, 0 for no interval. Fewer than five sequences, or actors, give none.
    confidence
        Coverage of the interval, in (0, 1). It is an expanded percentile bootstrap: its tails are
        as much smaller as those of Student's t, for the number of sequences or actors.
    seed
        Seed or generator.

    Returns
    -------
    Estimate
        In units of the score; items are pairs.

    Raises
    ------
    InputError
        When no pair is 1 JND apart, or an option is out of range.

    References
    ----------
    Saha et al. (2025), FaceExpressions-70k, section 5.2 (20.39 on a scale of 0 to 100). Hesterberg
    (2015), The American Statistician 69, for the expanded percentile interval.

    Examples
    --------
    >>> table = pl.DataFrame({
    ...     "actor": ["ann"] * 4, "expression_a": ["joy", "joy", "awe", "awe"],
    ...     "role_a": ["peak", "near_neutral"] * 2, "expression_b": ["joy", "joy", "awe", "awe"],
    ...     "role_b": ["near_peak", "neutral"] * 2, "value": [18.0, 21.0, 24.0, 20.0],
    ... })
    >>> jnd_score(table, n_boot=0)
    Estimate(20.500, median score of pairs 1 JND apart; 4 items, 0 raters, 0 ratings)
    """
    pairs = one_jnd_apart(scores)
    check_options(resample, n_boot, confidence)
    return _estimate(pairs, resample, n_boot, confidence, np.random.default_rng(seed))


def jnd_scores(
    scores: PairSource,
    by: By = "end",
    *,
    resample: Resample = "sequences",
    n_boot: int = 1000,
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
) -> Estimates:
    """Find what 1 just noticeable difference (JND) is in units of the score.

    Group by group, to see whether one number will do; :func:`jnd_score` gives that number.

    Parameters
    ----------
    scores
        As in :func:`jnd_score`.
    by
        Groups: the ends of the way from peak to neutral, actors, or expressions.
    resample
        What intervals are about: other sequences, other actors too, or these scores.
    n_boot
        Bootstrap replicates for intervals, 0 for none.
    confidence
        Coverage of the intervals.
    seed
        Same seed, same result.

    Returns
    -------
    Estimates
        By `by`, sorted; those of fewer than five sequences, or actors, have no interval where these
        are drawn.

    Raises
    ------
    InputError
        As in :func:`jnd_score`.

    Examples
    --------
    >>> table = pl.DataFrame({
    ...     "actor": ["ann"] * 4, "expression_a": ["joy", "joy", "awe", "awe"],
    ...     "role_a": ["peak", "near_neutral"] * 2, "expression_b": ["joy", "joy", "awe", "awe"],
    ...     "role_b": ["near_peak", "neutral"] * 2, "value": [18.0, 21.0, 24.0, 20.0],
    ... })
    >>> jnd_scores(table, "end", n_boot=0)["peak"].value
    21.0
    """
    check_choice("grouping", by, get_args(By))
    pairs = one_jnd_apart(scores)
    check_options(resample, n_boot, confidence)
    rng = np.random.default_rng(seed)
    parts = pairs.partition_by(by, as_dict=True)
    names = sorted(str(key[0]) for key in parts)
    found = [_estimate(parts[(name,)], resample, n_boot, confidence, rng) for name in names]
    whole = _estimate(pairs, resample, n_boot, confidence, np.random.default_rng(seed))
    table = Estimates.collect({by: names}, found)
    shown = (
        Key(by),
        Value(head="1 JND", decimals=2),
        Interval(decimals=2),
        Count("n_items", "pairs"),
    )
    caption = scores_caption(by)
    return replace(
        table,
        tables=(replace(table.tables[0], caption=caption, columns=shown),),
        sentences=(score_text(whole.value, whole.low, whole.high, whole.n_items),),
        notes=uncounted(pair_scores(scores)),
        settings={"jnd": whole, "resample": resample, "confidence": confidence},
    )


def uncounted(scores: PairScores) -> tuple[str, ...]:
    """Say how many pairs next to the ends do not count, as they are not 1 JND apart."""
    roles = pl.concat_list(pl.col("role_a", "role_b"))
    apart = pl.any_horizontal(
        roles.list.contains(end) & roles.list.contains(step)
        for end, step in (("peak", "step_2"), ("step_4", "neutral"))
    )
    n = scores.intra().frame.filter(apart).height
    if not n:
        return ()
    return (uncounted_pairs(n),)


def one_jnd_apart(scores: PairSource) -> pl.DataFrame:
    """Give the pairs that were sampled 1 JND apart.

    Returns
    -------
    ``actor``, ``expression``, ``end`` (peak, neutral), ``value`` and ``se``.

    Raises
    ------
    InputError
        When there is none.
    """
    frame = pair_scores(scores).intra().frame
    first, second = pl.min_horizontal("role_a", "role_b"), pl.max_horizontal("role_a", "role_b")
    end = pl.lit(None, dtype=pl.String)
    for (one, other), name in _ENDS.items():
        end = pl.when((first == one) & (second == other)).then(pl.lit(name)).otherwise(end)
    pairs = frame.with_columns(end.alias("end")).filter(pl.col("end").is_not_null())
    if not pairs.height:
        raise InputError(
            "no pair has the roles peak and near_peak, or near_neutral and neutral; expected pairs "
            "of frames that were sampled 1 JND apart, as affectlab stimuli frames names them"
        )
    return pairs.select("actor", pl.col("expression_a").alias("expression"), "end", "value", "se")


def clusters_of(frame: pl.DataFrame, resample: str) -> Ints:
    """Number the sequences, or the actors, that rows belong to, from 0 on."""
    keys = ["actor"] if resample == "actors" else ["actor", "expression"]
    code = frame.select(pl.struct(keys).rank("dense") - 1).to_series()
    return code.to_numpy().astype(np.int64)


def _estimate(
    pairs: pl.DataFrame,
    resample: Resample,
    n_boot: int,
    confidence: float,
    rng: np.random.Generator,
) -> Estimate:
    values = pairs["value"].to_numpy()
    replicates = _replicates(pairs, resample, n_boot, rng) if n_boot else None
    return bootstrapped(
        float(np.median(values)),
        replicates,
        confidence,
        MEDIAN_SCORE,
        resample,
        pairs,
        n_items=values.size,
    )


def bootstrapped(
    value: float,
    replicates: Floats | None,
    confidence: float,
    statistic: str,
    resample: str,
    frame: pl.DataFrame,
    **more: Any,
) -> Estimate:
    """Put an interval around a median from its replicates, ``None`` for none.

    Medians of few sequences, or actors, are hardly ever outside their own range, however far out
    the percentiles: from fewer than five there is no interval.

    Parameters
    ----------
    value, replicates
        The value, and those of the bootstrap, shape (n_boot,).
    confidence
        Coverage that is aimed at, in (0, 1).
    statistic
        Name of what the value is.
    resample, frame
        What was resampled, and of which rows.
    more
        Other fields of :class:`~affectlab.core.estimates.Estimate`.
    """
    if replicates is None:
        return Estimate(value, statistic, **more)
    few: Reason | None = None
    if resample != "scores":
        n = int(clusters_of(frame, resample).max()) + 1
        confidence = expanded(confidence, n)
        (few,) = too_few(np.array([n]), FEWEST_CLUSTERS, resample)
    found = summarise_one(value, replicates, confidence)
    ends = found.single | (dict.fromkeys(("low", "high"), math.nan) if few else {})
    kind = "percentile" if resample == "scores" else "expanded percentile"
    drawn = IntervalFact(kind, (resample,), replicates=len(replicates))
    given: dict[str, Any] = {"target": resample, "interval": drawn, **ends}
    given["reason"] = few or found.missing[0]
    return Estimate(value, statistic, **given | more)


def _replicates(
    pairs: pl.DataFrame, resample: Resample, n_boot: int, rng: np.random.Generator
) -> Floats:
    values = pairs["value"].to_numpy()
    if resample == "scores":
        se = pairs["se"].to_numpy()
        drawn = values + se * rng.standard_normal((n_boot, values.size))
        found: Floats = np.median(drawn, axis=1)
        return found
    cluster = clusters_of(pairs, resample)
    blocks = [
        weighted_quantile(values, weights[:, cluster], 0.5)
        for weights in draw_weights(rng, int(cluster.max()) + 1, n_boot)
    ]
    return np.concatenate(blocks)


def check_options(resample: str, n_boot: int, confidence: float) -> None:
    """Refuse what no bootstrap of sequences can do."""
    check_choice("resampling", resample, get_args(Resample))
    check_number("n_boot", n_boot, 0, whole=True)
    check_confidence(confidence)
