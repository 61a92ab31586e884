"""Rules that hold a rater against the others: correlation, outliers, duplicates."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from affectlab._types import Floats, Ints
from affectlab.reliability._duplicates import duplicate_raters
from affectlab.reliability._ranks import grouped_spearman
from affectlab.reliability._screening._rule import Judgement, Rule, judged
from affectlab.reliability._screening._trials import Trials

__all__ = ["Correlation", "Duplicates", "Outliers"]


class Correlation(Rule):
    """Correlation of a rater's main answers with the mean of the others' to the same questions."""

    check: Literal["correlation"]
    below: float = Field(ge=-1, le=1)
    kind: Literal["pearson", "spearman"] = "spearman"
    min_answers: int = Field(default=10, ge=3)
    """Questions shared with others below which nothing is judged."""

    def judge(self, trials: Trials) -> Judgement:
        """Correlate over the answers of each unit."""
        rows = np.flatnonzero(trials.main)
        _, cell = np.unique(trials.cell[rows], return_inverse=True)
        value, unit = trials.value[rows], trials.unit[rows]
        own, n_own = _of_rater(cell, trials.rater[rows], value)
        n_others = np.bincount(cell)[cell] - n_own
        shared = n_others > 0
        total = np.bincount(cell, value)[cell] - own
        others = np.asarray(np.round(total[shared] / n_others[shared], 10), dtype=np.float64)
        value, unit = value[shared], unit[shared]
        if self.kind == "spearman":
            r, n = grouped_spearman(value, others, unit, trials.n_units)
        else:
            r, n = _pearson(value, others, unit, trials.n_units)

        def words(index: int) -> str:
            if np.isnan(r[index]):
                return f"no correlation over {n[index]} answers: all equal"
            sign = "<" if r[index] < self.below else ">="
            return (
                f"correlation with the mean of the others over {n[index]} answers {r[index]:.2f} "
                f"{sign} {self.below:g}"
            )

        missing = f"not judged: fewer than {self.min_answers} answers shared with others"
        # Equal answers all over go with nobody.
        low = np.isnan(r) | (r < self.below)
        return judged(r, n, n >= self.min_answers, low, words, missing)


def _of_rater(cell: Ints, rater: Ints, value: Floats) -> tuple[Floats, Ints]:
    """Sum and number of the answers of the same rater to the same cell, for every answer."""
    _, code = np.unique(cell * (rater.max(initial=0) + 1) + rater, return_inverse=True)
    total = np.asarray(np.bincount(code, value), dtype=np.float64)
    return total[code], np.bincount(code)[code]


def _pearson(x: Floats, y: Floats, group: Ints, n_groups: int) -> tuple[Floats, Ints]:
    n = np.bincount(group, minlength=n_groups)
    size = np.maximum(n, 1)
    a = x - (np.bincount(group, x, n_groups) / size)[group]
    b = y - (np.bincount(group, y, n_groups) / size)[group]
    saa, sbb, sab = (np.bincount(group, p, n_groups) for p in (a * a, b * b, a * b))
    scale = np.sqrt(saa * sbb)
    r: Floats = np.divide(sab, scale, out=np.full(n_groups, np.nan), where=scale > 1e-12)
    return r, n


class Duplicates(Rule):
    """Answers like another rater's, beyond what their agreement with the others allows.

    The measure is the ratio of :func:`~affectlab.reliability.duplicate_raters`. It cannot be told
    who copied from whom, so that both raters of a pair violate the rule.
    """

    check: Literal["duplicates"]

    def judge(self, trials: Trials) -> Judgement:
        """Judge raters by all of their main answers; sessions are judged as their rater is."""
        alike = duplicate_raters(trials.ratings)
        evidence = alike.by_rater()
        who = [trials.raters[code] for code in trials.rater_of_unit.tolist()]
        closest = [alike.closest.get(name, ("", 0, np.nan)) for name in who]

        def words(unit: int) -> str:
            other, n, ratio = closest[unit]
            return evidence.get(
                who[unit],
                f"differences from the closest rater, {other!r}, over {n:,} common stimuli are "
                f"{ratio:.2f} of what their agreement with the others lets expect",
            )

        ratio = np.array([one[2] for one in closest])
        n = np.array([one[1] for one in closest], dtype=np.int64)
        violated = np.array([name in evidence for name in who], dtype=bool)
        missing = "not judged: too few stimuli in common with others, or all answers equal"
        return judged(ratio, n, np.isfinite(ratio), violated, words, missing)


class Outliers(Rule):
    """Far from the others too often, and to both sides: BT.500, and P.913 after taking bias off.

    A rating is an outlier when it is 2 SD or more from the mean of its stimulus (and label) where
    the kurtosis is from 2 to 4, and sqrt(20) SD elsewhere. As ITU-R BT.500 prints them, with N
    ratings of the stimulus, the SD is the root of sum (x - mean)^2 / (N - 1), while the kurtosis
    is m_4 / m_2^2 with m_k = sum (x - mean)^k / N (3 for a normal distribution). With P outliers
    above and Q below, a rater is rejected when (P + Q) / n > ``share`` and
    |P - Q| / (P + Q) < ``balance``.
    """

    check: Literal["outliers"]
    share: float = Field(default=0.05, ge=0, lt=1)
    balance: float = Field(default=0.3, gt=0)
    remove_bias: bool = False
    """Take the mean difference of each rater from the means off first (P.913, section 12.4)."""
    denominator: Literal["made", "all"] = "made"
    """n: the ratings that the rater made; or all stimuli times the most repetitions, as the
    package ``sureal`` has it, which never rejects a rater of few stimuli."""
    ddof: Literal[0, 1] = 1
    """The SD divides by N - ``ddof``: 1 as ITU prints it, 0 as ``sureal`` has it."""

    def judge(self, trials: Trials) -> Judgement:
        """Judge raters by all of their main answers; sessions are judged as their rater is."""
        n_raters = len(trials.raters)
        rows = np.flatnonzero(trials.main)
        cells, cell = np.unique(trials.cell[rows], return_inverse=True)
        rater, value = trials.rater[rows], trials.value[rows]
        made = np.bincount(rater, minlength=n_raters)
        size = np.bincount(cell)
        if self.remove_bias:
            mean = np.bincount(cell, value) / size
            bias = np.bincount(rater, value - mean[cell], n_raters) / np.maximum(made, 1)
            value = value - bias[rater]
        constant = self.denominator == "all"
        above, below = _outliers(cell, value, size, ddof=self.ddof, count_constant=constant)
        p = np.bincount(rater, above, n_raters)
        q = np.bincount(rater, below, n_raters)
        n = made.astype(float)
        if self.denominator == "all":
            _, times = np.unique(cell * n_raters + rater, return_counts=True)
            n = np.full(n_raters, float(cells.size * times.max(initial=0)))
        share = np.divide(p + q, n, out=np.zeros(n_raters), where=n > 0)
        balance = np.divide(np.abs(p - q), p + q, out=np.full(n_raters, np.inf), where=p + q > 0)
        rejected = (share > self.share) & (balance < self.balance)
        everyone = bool(rejected[made > 0].all())
        if everyone:
            # The recommendation leaves nobody then; upstream keeps all.
            rejected[:] = False
        owner = trials.rater_of_unit

        def words(unit: int) -> str:
            who = owner[unit]
            far = p[who] + q[who]
            sign = ">" if share[who] > self.share else "<="
            text = (
                f"{far:.0f} of {n[who]:.0f} ratings far from the others ({share[who]:.1%} {sign} "
                f"{self.share:.0%})"
            )
            if far and share[who] > self.share:
                sign = "<" if balance[who] < self.balance else ">="
                text += (
                    f", {p[who]:.0f} above and {q[who]:.0f} below "
                    f"(imbalance {balance[who]:.2f} {sign} {self.balance:g})"
                )
            return text + ("; kept, because all raters would be rejected" if everyone else "")

        known = made[owner] > 0
        return judged(
            share[owner], made[owner], known, rejected[owner], words, "not judged: no answers"
        )


def _outliers(
    cell: Ints, value: Floats, size: Ints, *, ddof: int, count_constant: bool
) -> tuple[Floats, Floats]:
    """Say for each rating whether it is an outlier above, and below (1.0 or 0.0)."""
    mean = np.bincount(cell, value) / size
    apart = value - mean[cell]
    second = np.bincount(cell, apart**2) / size
    fourth = np.bincount(cell, apart**4) / size
    # One rating alone has no spread, whatever its SD is divided by.
    sd = np.sqrt(second * (size / np.maximum(size - ddof, 1)))
    # Rounding must not make an SD of equal ratings.
    constant = sd <= 1e-12 * np.maximum(np.abs(mean), 1)
    kurtosis = np.divide(fourth, second**2, out=np.full(size.size, np.nan), where=~constant)
    wide = np.where((kurtosis >= 2 - 1e-12) & (kurtosis <= 4 + 1e-12), 2.0, np.sqrt(20.0))
    limit = np.where(constant, 0.0, (wide * sd) * (1 - 1e-12))[cell]
    counts = np.ones(cell.size, dtype=bool) if count_constant else ~constant[cell]
    apart = np.where(constant[cell], 0.0, apart)
    return ((apart >= limit) & counts).astype(float), ((apart <= -limit) & counts).astype(float)
