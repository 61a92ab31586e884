r"""Agreement of pairs beyond chance, :math:`(p_a - p_e) / (1 - p_e)`, for any agreement by chance.

Every such coefficient follows from four sums over units: the share of pairs that agree, the number
of units with a pair, the shares of the levels, and the number of units. So they share one standard
error, and replicates over units, raters or both; each says its :math:`p_e` alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from affectlab.core.errors import InputError, check_choice
from affectlab.core.facts import Cause, Reason
from affectlab.core.inference import Interval
from affectlab.core.statistic import Design, Draws, Statistic, Sums, from_sums
from affectlab.core.types import Floats, Ints
from affectlab.core.words import option
from affectlab.ratings import Answers, Scale
from affectlab.reliability.agreement.chance_corrected.kappa import (
    Weights,
    declared_scales,
    disagreement_weights,
    levels_of,
    positions_of,
    scale_text,
)
from affectlab.reliability.agreement.coefficient import interval_reasons, least_agreement
from affectlab.reliability.agreement.wording import PAIRED_UNIT

StandardError: TypeAlias = Literal["linearised", "gwet"]
Chance: TypeAlias = Callable[[Any, Floats], Any]
"""From the shares of levels, shape (rows, q), and weights of agreement of two levels, shape (q, q),
to the agreement by chance, shape (rows,) or one number; plain arithmetic."""

_NONE = np.zeros(0, dtype=np.int64)
_NO_PAIRS = Reason(Cause.NONE, of=PAIRED_UNIT)
_ALL = 1 - 1e-12
"""Agreement by chance above which there is no other to be had."""
_BLOCK = 1 << 22
"""Counts of levels in units that are held at once."""


@dataclass(frozen=True, eq=False)
class BeyondChance:
    r"""A statistic of answers that follows from the agreement by chance.

    With :math:`r_{uk}` ratings of level k in unit u, :math:`m_u` in all, agreement weights
    :math:`w_{kl} = 1 - d_{kl} / \max d`, and :math:`r^*_{uk} = \sum_l w_{kl} r_{ul}`,

    .. math::

        p_a = \frac{1}{n_2} \sum_{u: m_u \ge 2} \sum_k
            \frac{r_{uk} (r^*_{uk} - 1)}{m_u (m_u - 1)}, \quad
        \pi_k = \frac{1}{n} \sum_u \frac{r_{uk}}{m_u}.

    Where raters count :math:`v_i` times, :math:`r_{uk}` and :math:`m_u` are sums of these, and a
    unit has :math:`m_u^2 - \sum_i v_i^2` ordered pairs: nobody is paired with themselves.

    Examples
    --------
    >>> from affectlab.reliability.agreement import Coefficient
    >>> mode = BeyondChance(lambda shares, agreement: shares.max(axis=1), "mode coefficient")
    >>> coefficient = Coefficient("mode_coefficient", "mode coefficient", mode)
    >>> round(coefficient([[1, 1, 2], [1, 2, 2]], scale="1-2").value, 3)
    0.333
    """

    chance: Chance
    name: str | Callable[[Weights], str]
    """What its method is called, or a function of the weights that gives it."""
    by_margins: bool = False
    """Whether a rare answer is hardly agreed on by chance, so that the coefficient depends on how
    often two raters share it."""

    def __call__(
        self,
        answers: Answers,
        *,
        weights: Weights = "nominal",
        scale: Scale | str | ArrayLike | None = None,
        standard_error: StandardError = "linearised",
        interval: Interval = "analytic",
    ) -> Statistic:
        """Make the statistic of each label; options are those of :func:`fleiss_kappa`."""
        if standard_error != "linearised" and interval != "analytic":
            raise InputError(
                f"{option('standard_error', standard_error)}: expected with "
                f"{option('interval', 'analytic')}, which alone has a formula"
            )
        name = self.name(weights) if callable(self.name) else self.name
        made = _statistic(answers, self.chance, name, weights, scale, standard_error)
        if not self.by_margins:
            return made
        cells = ((part.unit, part.value) for part in answers.by_label())
        return replace(made, no_interval=interval_reasons(cells))


def _statistic(
    answers: Answers,
    chance: Chance,
    name: str,
    weights: Weights,
    scale: Scale | str | ArrayLike | None,
    standard_error: StandardError,
) -> Statistic:
    """Make the statistic of each label."""
    check_choice("standard_error", standard_error, ("linearised", "gwet"))
    scales = declared_scales(answers, scale)
    how = () if weights == "nominal" else (f"{weights} weights",)
    parts: list[_Pairs | None] = []
    for part, declared in zip(answers.by_label(), scales, strict=True):
        levels = levels_of(declared)
        at = positions_of(part, levels, truncate=False)
        disagreement = disagreement_weights(weights, levels.size)
        # With one category nobody can disagree.
        agreement = 1 - disagreement / (disagreement.max() or 1.0)
        parts.append(_pairs(part, at, agreement, chance, standard_error))
    design = Design.of(
        [_NONE if part is None else part.unit for part in parts],
        len(answers.units),
        [_NONE if part is None else part.rater for part in parts],
        len(answers.raters),
    )
    n_items = [0 if part is None else int(part.sums[:, 1].sum()) for part in parts]
    n_ratings = [0 if part is None else part.rater.size for part in parts]
    return from_sums(
        parts,
        design,
        keys={"label": answers.labels},
        method=[(name, *how, scale_text(declared)) for declared in scales],
        n_items=n_items,
        n_raters=design.rater.sum(axis=1),
        n_ratings=n_ratings,
        log_odds_from=least_agreement(n_items, n_ratings),
        undefined=[_NO_PAIRS if part is None else Reason(Cause.ONE_CATEGORY) for part in parts],
    )


@dataclass(frozen=True, eq=False)
class _Pairs(Sums):
    """Sums of one label: agreeing pairs, units with a pair, shares of levels, units."""

    row: Ints
    """Row of ``sums`` that each answer belongs to."""
    rater: Ints
    level: Ints
    agreement: Floats
    standard_error: StandardError

    def rater_totals(self, draws: Draws) -> Floats:
        n_rows = max(1, _BLOCK // self.sums.size)
        return np.concatenate([self._of_raters(part) for _, part in draws.blocks(n_rows)])

    def _of_raters(self, draws: Draws) -> Floats:
        """Compute the totals where raters have weights, from counts of levels in each row."""
        assert draws.rater is not None
        n, q = len(self.sums), self.agreement.shape[0]
        shape = (n * q, draws.rater.shape[1])
        ones = np.ones(self.rater.size)
        levels = csr_array((ones, (self.row * q + self.level, self.rater)), shape=shape)
        units = csr_array((ones, (self.row, self.rater)), shape=(n, shape[1]))
        counts = (levels @ draws.rater.T).T.reshape(-1, n, q)
        m, squares = (units @ draws.rater.T).T, (units @ draws.rater.T**2).T
        sums = _sums(counts, m, squares, self.agreement)
        if draws.stimulus is None:
            return np.asarray(sums.sum(axis=1))
        totals: Floats = np.einsum("bu,buk->bk", draws.stimulus[:, self.unit], sums)
        return totals

    def influence(self) -> Floats:
        pull: Floats = super().influence()
        if self.standard_error == "linearised":
            return pull
        paired = self.sums[:, 1]
        value = float(self.of_totals(self.sums.sum(axis=0, keepdims=True))[0])
        return np.asarray(pull + value * (paired / paired.sum() - 1 / paired.size))


def _sums(counts: Floats, m: Floats, squares: Floats, agreement: Floats) -> Floats:
    """What each unit adds, shape (..., units, q + 3), from counts of levels, (..., units, q)."""
    pairs = m**2 - squares
    paired = pairs > 0
    agreeing = (counts * (counts @ agreement)).sum(axis=-1) - squares
    sums = np.empty((counts.shape[-1] + 3, *m.shape))
    np.divide(agreeing, pairs, out=sums[0], where=paired)
    sums[0][~paired] = 0
    sums[1] = paired
    sums[2:-1] = np.moveaxis(counts / np.maximum(m, 1)[..., None], -1, 0)
    sums[-1] = m > 0
    return np.moveaxis(sums, 0, -1)


def _pairs(
    part: Answers,
    level: Ints,
    agreement: Floats,
    chance: Chance,
    standard_error: StandardError,
) -> _Pairs | None:
    """Sum the answers to one label; ``None`` where no unit has two."""
    if not part.value.size:
        return None
    q = agreement.shape[0]
    new = np.diff(part.unit, prepend=-1) != 0
    unit, row = part.unit[new], np.cumsum(new) - 1
    cells = np.bincount(row * q + level, minlength=unit.size * q)
    counts: Floats = cells.reshape(unit.size, q).astype(np.float64)
    m = counts.sum(axis=1)
    if not (m >= 2).any():
        return None

    def value(totals: Any) -> Any:
        observed = totals[:, 0] / totals[:, 1]
        by_chance = chance(totals[:, 2:-1] / totals[:, -1:], agreement)
        beyond = (observed - by_chance) / (1 - by_chance)
        return np.where(np.real(by_chance) > _ALL, np.nan, beyond)

    sums = _sums(counts, m, m, agreement)
    return _Pairs(sums, value, unit, row, part.rater, level, agreement, standard_error)
