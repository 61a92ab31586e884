"""Agreement of pairs of raters, within the number of pairs that a report can hold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from affectlab.core.types import Ints
from affectlab.evaluation.rater_comparison import spearman_of_sides
from affectlab.ratings import HUMAN_KINDS, Ratings, answers_of, ballots_of
from affectlab.reliability import pairwise_kappa
from affectlab.reliability.agreement import KappaResult, RaterMatrix, kappa_matrix

_MOST_ROWS = 120_000
_MOST_LEVELS = 21


def is_person(rater_kind: str) -> bool:
    """Say whether a kind of rater stands for people; simulated raters do."""
    return rater_kind in HUMAN_KINDS


@dataclass(frozen=True)
class PairAgreement:
    """Agreement of every pair of raters on every label."""

    result: KappaResult
    measure: str
    """Name of the coefficient, as the axis of a figure says it."""
    n_left_out: int
    """Raters left out because there are too many pairs."""
    common: Ints
    """Stimuli that both answered on the same label, for raters in the order of `result.raters`."""
    of_ranks: bool = False
    """Whether it is a correlation of ranks, as on fine scales, in place of kappa."""

    @property
    def frame(self) -> pl.DataFrame:
        """One row per label and pair."""
        return self.result.frame

    @property
    def matrix(self) -> RaterMatrix:
        """Mean over labels for every pair, people first."""
        return kappa_matrix(self.result)

    def with_people(self) -> pl.DataFrame:
        """Mean agreement of each rater with the (other) people, over people and labels.

        Columns ``rater`` and ``with_people``, for raters of whom any pair with people is defined.
        """
        groups = self.result.with_people().group_by("rater", maintain_order=True)
        return groups.agg(with_people=pl.col("value").mean())


def pair_agreement(ratings: Ratings, models: Ratings | None = None) -> PairAgreement | None:
    """Compute the agreement of pairs of raters.

    `models` has the answers of models of `ratings` before they were rounded, for correlations.

    Quadratic weighted kappa on scales with up to 21 levels, unweighted kappa on nominal ones, and
    Spearman's correlation on finer ones; None where models answered no label of people. Models come
    first, then people in the order of how much they answered, up to 120,000 pairs by labels.
    """
    kind = ratings.scale.kind
    kept = busiest(ratings, _raters_that_fit(ratings.n_labels))
    left_out = ratings.n_raters - kept.n_raters
    if kind == "nominal" or _n_levels(ratings) <= _MOST_LEVELS:
        result = pairwise_kappa(
            kept, weights="nominal" if kind == "nominal" else "quadratic", cluster="none"
        )
        measure = "kappa" if kind in ("nominal", "binary") else "quadratic weighted kappa"
        return PairAgreement(result, measure, left_out, common_stimuli(kept, result.raters))
    sides = [kept]
    if models is not None:
        # Models keep their fractions: ranks must not tie where answers did not.
        names = [name for name in models.rater_names if name in kept.rater_names]
        kinds = kept.models().raters.select("rater", "rater_kind")
        sides = [kept.humans(), models.select(raters=names).with_raters(kinds)]
    found = spearman_of_sides([answers_of(side) for side in sides])
    if found is None:
        return None
    common = common_stimuli(kept, found.raters)
    return PairAgreement(found, "Spearman's correlation", left_out, common, of_ranks=True)


def _n_levels(ratings: Ratings) -> float:
    scale = ratings.scale
    if scale.low is None or scale.high is None or scale.step is None:
        return math.inf
    return (scale.high - scale.low) / scale.step + 1


def _raters_that_fit(n_labels: int) -> int:
    return max(2, int((1 + math.sqrt(1 + 8 * _MOST_ROWS / n_labels)) / 2))


def busiest(ratings: Ratings, most: int) -> Ratings:
    """Keep models first, then the people who answered most."""
    if ratings.n_raters <= most:
        return ratings
    answers = np.bincount(ratings.rater_code, minlength=ratings.n_raters)
    person = np.array([is_person(kind) for kind in ratings.rater_kinds])
    order = np.lexsort((-answers, person))[:most]
    return ratings.select(raters=[ratings.rater_names[k] for k in sorted(order)])


def common_stimuli(ratings: Ratings, raters: Sequence[str]) -> Ints:
    """Count the stimuli that two raters have in common, shape (raters, raters).

    A stimulus is common where both answered it on one label at least: labels that hold different
    stimuli of the same pair add up, and no stimulus counts twice.
    """
    ballots = ballots_of(ratings)
    # Whether a label was answered is a bit.
    answered = np.packbits(~np.isnan(ballots.value), axis=1)
    unit, rater = ballots.unit, ballots.rater
    counts = np.empty((ratings.n_raters, ratings.n_raters), dtype=np.int64)
    for one in range(ratings.n_raters):
        own = np.zeros((ratings.n_stimuli, answered.shape[1]), dtype=np.uint8)
        own[unit[rater == one]] = answered[rater == one]
        shared = (own[unit] & answered).any(axis=1)
        counts[one] = np.bincount(rater[shared], minlength=ratings.n_raters)
    place = {name: code for code, name in enumerate(ratings.rater_names)}
    order = [place[name] for name in raters]
    return counts[np.ix_(order, order)]
