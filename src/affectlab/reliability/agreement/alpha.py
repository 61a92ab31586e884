"""Krippendorff's alpha."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.compiled import in_threads
from affectlab.core.errors import InputError
from affectlab.core.estimates import Estimate, Estimates
from affectlab.core.facts import Cause, Reason
from affectlab.core.inference import Interval, Target
from affectlab.core.statistic import STIMULI_AND_RATERS, Design, Draws, Statistic
from affectlab.core.types import Floats, Ints
from affectlab.ratings import Answers, ClusterLike, Ratings
from affectlab.reliability.agreement.alpha_levels import (
    EITHER,
    Distance,
    DistanceLevel,
    Level,
    LevelName,
    Pairable,
    UnitSums,
    level_maker,
)
from affectlab.reliability.agreement.coefficient import (
    coefficient,
    interval_reasons,
    least_agreement,
)
from affectlab.reliability.agreement.label_sets import as_label_sets
from affectlab.reliability.agreement.moments import renumbered
from affectlab.reliability.agreement.wording import PAIRED_UNIT

_NONE = np.zeros(0, dtype=np.int64)
_BLOCK = 1 << 18
"""Numbers that are held at once, so that they stay in the cache."""
_STACK = 1 << 23


def _alpha(
    answers: Answers,
    *,
    level: LevelName | None = None,
    distance: ArrayLike | Distance | None = None,
    by_label: bool = True,
) -> Statistic:
    """Give alpha as a statistic of answers."""
    pooled = not by_label
    if level in ("masi", "jaccard"):
        if distance is not None:
            raise InputError(EITHER.format(level=level))
        answers, options, maker = as_label_sets(answers, level)
        pooled, makers, names = False, [maker], [options]
    else:
        scales = (answers.scale,) if pooled or answers.scales is None else answers.scales
        pooling = ("pooled over labels",) if pooled and len(answers.labels) > 1 else ()
        named = [level_maker(level, distance, scale) for scale in scales]
        makers, names = [maker for _, maker in named], [(name, *pooling) for name, _ in named]
    parts, places, n_raters = _pairable(answers, pooled=pooled)
    n_units = places.size
    levels = [
        None if part is None else make(part) for part, make in zip(parts, makers, strict=True)
    ]
    units = [_NONE if part is None else part.unit for part in parts]
    raters = [_NONE if part is None else part.rater for part in parts]
    n_items, n_ratings = [unit.size for unit in units], [rater.size for rater in raters]
    design = Design.of(units, n_units, raters, n_raters)
    return Statistic(
        keys={"label": ("pooled",) if pooled else answers.labels},
        design=design,
        evaluate=_Alphas(levels, n_units),
        method=[("Krippendorff's alpha", *name) for name in names],
        n_items=n_items,
        n_raters=design.rater.sum(axis=1),
        n_ratings=n_ratings,
        undefined=[_reason(part) for part in parts],
        bounds=(-np.inf, 1.0),
        targets=STIMULI_AND_RATERS,
        log_odds_from=least_agreement(n_items, n_ratings),
        no_interval=interval_reasons(
            (_NONE, np.zeros(0)) if part is None else (part.cell, part.value) for part in parts
        ),
        places=places,
    )


@coefficient(
    _alpha, title="Krippendorff's alpha", suits=lambda scale: scale.numeric, lines=(0.67, 0.8)
)
def krippendorff_alpha(
    ratings: Ratings | ArrayLike,
    *,
    level: LevelName | None = None,
    distance: ArrayLike | Distance | None = None,
    by_label: bool = True,
    interval: Interval = "jackknife",
    target: Target | None = None,
    n_boot: int = 1000,
    joint: bool = True,
    confidence: float = 0.95,
    cluster: ClusterLike = None,
    seed: int | np.random.Generator | None = 0,
) -> Estimate | Estimates:
    r"""Compute Krippendorff's alpha, the agreement of any number of raters beyond chance.

    With :math:`n_{uc}` ratings of value c in unit u, :math:`m_u \ge 2` ratings in all,

    .. math::

        o_{ck} = \sum_u \frac{n_{uc}(n_{uk} - [c = k])}{m_u - 1}, \quad
        n_c = \sum_k o_{ck}, \quad n = \sum_c n_c, \quad
        \alpha = 1 - (n - 1) \frac{\sum_{ck} o_{ck} d_{ck}}{\sum_{ck} n_c n_k d_{ck}}.

    The distance :math:`d_{ck}` is :math:`[c \ne k]` (nominal), :math:`(c - k)^2` (interval),
    :math:`((c - k) / (c + k))^2` with 0 for c + k = 0 (ratio), or
    :math:`(\sum_{g=c}^{k} n_g - (n_c + n_k)/2)^2` (ordinal, from the margins of each replicate).
    Of sets A and B of labels it is 1 - J with :math:`J = |A \cap B| / |A \cup B|` (Jaccard), or
    1 - J M (MASI), M being 1 for equal sets, 2/3 where one holds the other, and 1/3 where they
    overlap otherwise; two empty sets are equal.

    Parameters
    ----------
    ratings
        Ratings (main trials with a valid answer; the first answer where a rater repeats), or an
        array of shape (raters, units) with ``nan`` where there is no rating. Every other number is
        a value, -1 too.
    level
        ``"nominal"``, ``"ordinal"``, ``"interval"`` or ``"ratio"``. By default the level of the
        scale, with binary as nominal; an array needs it said. ``"masi"`` and ``"jaccard"`` compare
        whole sets of labels where answers are yes or no to several: one coefficient, whose values
        are what a rater chose of a stimulus.
    distance
        A distance of your own in place of a level: a square array over the values of the scale
        (for an array of data: over 0, 1, 2, …), zero on the diagonal, or a vectorised function of
        two arrays of values. It is used as it stands, not squared.
    by_label
        One coefficient per label, over stimuli. Otherwise one pooled coefficient, whose units are
        (stimulus, label) and whose replicates draw whole stimuli.
    interval
        ``"jackknife"``: Student's interval from leaving out one stimulus, one rater, or either at a
        time. ``"percentile"`` or ``"bca"`` (bias-corrected and accelerated, Efron 1987): from
        bootstrap replicates. ``"analytic"``: by a formula for other stimuli.
    target
        What the interval is about: other ``"stimuli"``, other ``"raters"`` or ``"both"``, or
        ``"sample"``, these alone, without an interval. By default the widest for which the data and
        the coefficient allow an interval. A rater drawn twice is not paired with itself; two raters
        say nothing about others, so that an interval for both is then about these two.
    n_boot
        Bootstrap replicates, where the interval comes from these; 0 for no interval.
    joint
        One resample for all labels, so that the replicates of labels belong together.
    confidence
        Coverage of the interval, in (0, 1).
    cluster
        What stimuli belong to, and are resampled with: a column of the stimulus table, a mapping
        from stimulus to cluster, or the cluster of each unit of an array. By default a column like
        ``actor``, ``identity``, ``speaker``, ``film`` or ``author`` that several stimuli share;
        ``"none"`` resamples single stimuli.
    seed
        Seed or generator of the replicates.

    Returns
    -------
    An :class:`~affectlab.core.estimates.Estimate` for an array, otherwise estimates by ``label``,
    which is ``"pooled"`` over labels and ``"label sets"`` of sets; :func:`over_labels` gives the
    average of labels. Values are at most 1. Items, raters and ratings are those of units with at
    least two ratings. Alpha is ``nan`` with a status where no unit has two ratings or only one
    category occurs.

    Raises
    ------
    InputError
        If level, distance, target or confidence cannot be used.

    Notes
    -----
    Replicates over units cost one product of multinomial weights with sums per unit (on an ordinal
    scale of more than 15 values, one pass over the ratings each). No level needs memory for units
    times values times values. Replicates in which alpha is not defined are left out of the
    interval and counted in ``method``.

    References
    ----------
    Krippendorff (2011), Computing Krippendorff's Alpha-Reliability. Hayes and Krippendorff (2007),
    Communication Methods and Measures 1, for bootstrapping units. Passonneau (2006), Measuring
    Agreement on Set-valued Items, for MASI.

    Examples
    --------
    The example with four raters, twelve units and gaps:

    >>> from math import nan
    >>> ratings = [[1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
    ...            [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, 3],
    ...            [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, nan],
    ...            [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan]]
    >>> round(krippendorff_alpha(ratings, level="nominal").value, 6)
    0.743421
    >>> round(krippendorff_alpha(ratings, level="ordinal").value, 6)
    0.815388
    >>> krippendorff_alpha(ratings, level="interval")
    Estimate(0.849 [0.291, 0.990], Krippendorff's alpha, interval; jackknife over stimuli and
    raters; 11 items, 4 raters, 40 ratings)
    >>> krippendorff_alpha([[1, 1], [1, 1]], level="nominal").status
    <Status.UNDEFINED: 'undefined'>

    Sets of labels, of which two raters share one, all, or none:

    >>> from affectlab.ratings import Ratings
    >>> chosen = {"stimulus": list("aaaabbbbcccc"), "rater": list("rrss") * 3,
    ...           "label": ["joy", "awe"] * 6, "value": [1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 0, 1]}
    >>> found = krippendorff_alpha(Ratings(chosen, scale="binary"), level="masi")
    >>> round(found["label sets"].value, 3)
    0.643
    """
    return krippendorff_alpha.coefficient(
        ratings,
        level=level,
        distance=distance,
        by_label=by_label,
        interval=interval,
        target=target,
        n_boot=n_boot,
        joint=joint,
        confidence=confidence,
        cluster=cluster,
        seed=seed,
    )


def _pairable(answers: Answers, *, pooled: bool) -> tuple[list[Pairable | None], Ints, int]:
    """Keep units with two ratings, per label (or all as one), and number units and raters anew.

    Returns
    -------
    The parts; where their units stand among those of the answers; and the number of raters.
    """
    kept = answers.take(answers.cell_sizes() >= 2)
    places = np.flatnonzero(np.bincount(kept.unit))
    unit, rater = renumbered(kept.unit), renumbered(kept.rater)
    n_units, n_raters = places.size, int(rater.max(initial=-1)) + 1
    kept = replace(kept, unit=unit, rater=rater)
    slices: Sequence[Answers] = [kept] if pooled else list(kept.by_label())
    parts = [_part(part, n_units, n_raters) if part.value.size else None for part in slices]
    return parts, places, n_raters


def _part(answers: Answers, n_units: int, n_raters: int) -> Pairable:
    new = np.ones(answers.unit.size, dtype=bool)
    new[1:] = (np.diff(answers.label) != 0) | (np.diff(answers.unit) != 0)
    return Pairable(
        cell=np.cumsum(new) - 1,
        rater=answers.rater,
        value=answers.value,
        unit=answers.unit[new],
        n_units=n_units,
        n_raters=n_raters,
    )


def _reason(part: Pairable | None) -> Reason:
    """Why alpha is not defined, where it is not."""
    if part is None:
        return Reason(Cause.NONE, of=PAIRED_UNIT)
    if part.value.min() == part.value.max():
        return Reason(Cause.ONE_CATEGORY)
    return Reason(Cause.NONE, of="expected disagreement")


@dataclass(frozen=True, eq=False)
class _Alphas:
    """Alpha of every label from rows of weights; ``None`` is a label without a pair of ratings."""

    levels: Sequence[Level | None]
    n_units: int
    sums: dict[int, UnitSums | None] = field(default_factory=dict)
    """Sums over units of the labels, once they are needed."""

    def __call__(self, draws: Draws) -> Floats:
        columns = range(len(self.levels)) if draws.columns is None else draws.columns.tolist()
        out = np.full((draws.n_rows, len(columns)), np.nan)
        waiting = [place for place, k in enumerate(columns) if self.levels[k] is not None]
        if draws.rater is None and draws.stimulus is not None and draws.columns is None:
            for places, sums in self._stacks:
                totals = draws.totals(sums)
                left = 0
                for k, width in places:
                    out[:, k] = self._level(k).from_totals(totals[:, left : left + width])
                    left += width
                    waiting.remove(k)

        def one_label(place: int) -> None:
            out[:, place] = self._alone(columns[place], draws)

        in_threads(one_label, waiting)
        return out

    def _level(self, k: int) -> Level:
        level = self.levels[k]
        assert level is not None
        return level

    def _sums(self, k: int) -> UnitSums | None:
        if k not in self.sums:
            self.sums[k] = self._level(k).statistics()
        return self.sums[k]

    @cached_property
    def _stacks(self) -> list[tuple[list[tuple[int, int]], Floats]]:
        """Narrow sums side by side, for few large products."""
        known = (k for k, level in enumerate(self.levels) if level is not None)
        sums = {k: self._sums(k) for k in known}
        return list(_stack({k: of for k, of in sums.items() if isinstance(of, np.ndarray)}))

    def _alone(self, k: int, draws: Draws) -> Floats:
        """Alpha of one label, in blocks of rows."""
        level = self._level(k)
        sums = self._sums(k) if draws.rater is None else None
        if sums is not None and draws.is_point:
            return level.from_totals(draws.totals(sums))
        if isinstance(level, DistanceLevel) and sums is not None and draws.without is not None:
            left_out = level.left_out(sums, draws.without)
            if left_out is not None:
                return left_out
        width = level.data.code.size if sums is None else sums.shape[1]
        return np.concatenate(
            [
                level.weighted(block.rater, block.weights(self.n_units))
                if sums is None
                else level.from_totals(block.totals(sums))
                for _, block in draws.blocks(max(1, _BLOCK // width))
            ]
        )


def _stack(tables: Mapping[int, Floats]) -> Iterator[tuple[list[tuple[int, int]], Floats]]:
    """Put tables side by side up to a size; give (column, width) of each, and the whole."""
    waiting: dict[int, Floats] = {}
    for column, table in tables.items():
        waiting[column] = table
        if sum(held.size for held in waiting.values()) >= _STACK or column == max(tables):
            widths = [(k, held.shape[1]) for k, held in waiting.items()]
            yield widths, np.hstack(list(waiting.values()))
            waiting = {}
