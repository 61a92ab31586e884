"""Rules that hold a rater against the panel, such as severity, inconsistency and drift."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from affectlab.core.arrays import ratio, with_few_gaps
from affectlab.core.types import Floats, Ints
from affectlab.core.words import joined
from affectlab.reliability.rank_correlation import sums_of_others
from affectlab.reliability.screening.attention import (
    FEWEST,
    LIMIT,
    LIMIT_OF_FEW,
    Attention,
    attention,
    biases,
)
from affectlab.reliability.screening.outliers import equal_trials, outward, predicted
from affectlab.reliability.screening.rules import Judgement, Rule, judged, not_applicable
from affectlab.reliability.screening.trials import Mask, Trials
from affectlab.reliability.screening.wording import (
    NO_MORE_EQUAL_LABELS,
    Gap,
    Unjudged,
    careless_text,
    equal_labels_text,
    panel_text,
)

_SMALL = 1e-9
_FEWEST = 20
"""Answers shared with others below which nothing is judged, unless a policy says otherwise."""
_MOST = 1 / 3
"""Share of raters who can be apart: more would be the panel itself."""


@dataclass(frozen=True, eq=False)
class ComparisonRule:
    """Main answers to what others answered, too, beside the mean of these others.

    The means are of answers without the bias of who gave them, so that it does not matter which
    others answered.
    """

    unit: Ints
    own: Floats
    others: Floats
    position: Floats
    """Place among the main answers of the unit, from 0 (first) to 1 (last)."""
    n: Ints
    """Answers of each unit, shape (units,)."""

    @classmethod
    def of(cls, trials: Trials, panel: Mask) -> ComparisonRule:
        """Take what the rules need from the answers; the others are those raters of the panel."""
        rows = np.flatnonzero(trials.main)
        cell = trials.cell[rows]
        cell = with_few_gaps(cell, int(cell.max(initial=-1)) + 1)
        rater, unit, value = trials.rater[rows], trials.unit[rows], trials.value[rows]
        counts = panel[rater].astype(np.float64)
        unbiased = value - biases(cell, rater, value, panel)[rater]
        n_others, total = sums_of_others(cell, rater, unbiased, counts)
        shared = n_others > 0.5
        order = np.argsort(unit, kind="stable")
        n_of_unit = np.bincount(unit, minlength=trials.n_units)
        start = np.cumsum(n_of_unit) - n_of_unit
        place = np.empty(unit.size)
        place[order] = np.arange(unit.size) - start[unit[order]]
        place /= np.maximum(n_of_unit[unit] - 1, 1)
        return cls(
            unit=unit[shared],
            own=value[shared],
            others=total[shared] / n_others[shared],
            position=place[shared],
            n=np.bincount(unit[shared], minlength=trials.n_units),
        )

    def mean(self, values: Floats) -> Floats:
        """Mean of each unit, shape (units,)."""
        total = np.bincount(self.unit, values, self.n.size)
        return ratio(total, self.n)

    def line(self, x: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
        """Regress y on x in each unit: slopes, their standard errors, and what is left of y."""
        x, y = x - self.mean(x)[self.unit], y - self.mean(y)[self.unit]
        sums = (np.bincount(self.unit, part, self.n.size) for part in (x * x, x * y))
        xx, xy = sums
        known = xx > _SMALL
        slope = np.divide(xy, xx, out=np.full(xx.size, np.nan), where=known)
        left = y - slope[self.unit] * x
        squares = np.bincount(self.unit, left**2, self.n.size)
        with np.errstate(invalid="ignore", divide="ignore"):
            error = np.sqrt(squares / np.maximum(self.n - 2, 1) / np.where(known, xx, np.nan))
        return slope, error, left


def attention_of(trials: Trials) -> Attention:
    """Give what is known of the attention of each rater, from all main answers."""
    return trials.once(Attention, lambda: _attention_of(trials))


def _attention_of(trials: Trials) -> Attention:
    rows: slice | Ints = slice(None) if trials.main.all() else np.flatnonzero(trials.main)
    return attention(
        *np.divmod(trials.cell[rows], trials.ratings.n_labels),
        trials.rater[rows],
        trials.value[rows],
        len(trials.raters),
        nominal=trials.ratings.scale.kind == "nominal",
    )


class Careless(Rule):
    """Answers that do not depend on what was shown, go against it, or are always the same.

    The measure is the probability that the rater is careless, given the answers of the panel
    (:func:`~affectlab.reliability.screening.attention.attention`). Sessions are judged as their
    rater is.
    """

    check: Literal["careless"]
    above: float = Field(default=LIMIT, gt=0, lt=1)
    """Probability above which the rule is violated."""
    above_of_few: float = Field(default=LIMIT_OF_FEW, gt=0, lt=1)
    """The same for raters with fewer than 25 answers."""

    def judge(self, trials: Trials) -> Judgement:
        """Judge raters by all of their main answers."""
        found, owner = attention_of(trials), trials.rater_of_unit
        if found.missing is not None:
            return not_applicable(trials, found.missing)

        def words(unit: int) -> str:
            who = owner[unit]
            return careless_text(
                found.careless[who],
                found.n[who],
                found.slope[who],
                constant=bool(found.constant[who]),
                is_reversed=bool(found.reversed[who]),
            )

        careless, n = found.careless[owner], found.n[owner]
        violated = found.named(self.above, self.above_of_few)[owner]
        missing = Unjudged(Gap.FEW_OR_SPARSE, least=FEWEST)
        return judged(careless, n, np.isfinite(careless), violated, words, missing)


class EqualLabels(Rule):
    """All labels of a trial get the same answer, in far more trials than with others.

    See :func:`~affectlab.reliability.screening.equal_trials`. Sessions are judged as their rater
    is.
    """

    check: Literal["equal_labels"]

    def judge(self, trials: Trials) -> Judgement:
        """Judge raters by all of their answers."""
        ratings = trials.ratings
        if not ratings.has_labels or ratings.scale.kind == "nominal":
            return not_applicable(trials, Gap.NOT_BY_LABEL)
        out = {trials.raters[k] for k in np.flatnonzero(attention_of(trials).constant)}
        found = {one.rater: one for one in equal_trials(ratings, without=out)}
        who = [trials.raters[code] for code in trials.rater_of_unit.tolist()]
        violated = np.array([name in found for name in who], dtype=bool)

        def words(unit: int) -> str:
            one = found.get(who[unit])
            if one is None:
                return NO_MORE_EQUAL_LABELS
            return equal_labels_text(one.equal, one.trials, one.others_equal, one.others_trials)

        share = np.array([found[n].equal / found[n].trials if n in found else np.nan for n in who])
        everyone = np.ones(violated.size, dtype=bool)
        n = np.array([found[n].trials if n in found else 0 for n in who], dtype=np.int64)
        return judged(share, n, everyone, violated, words)


@dataclass(frozen=True, eq=False)
class ConsensusPanel:
    """Measures of all units beside those raters who are like each other by every measure."""

    n: Ints
    measures: dict[str, tuple[Floats, Floats]]
    """What is compared, and its standard errors, by check."""
    known: Mask
    """Units with enough answers."""
    alike: Mask
    """Units of these raters."""
    raters: Mask
    """Raters who are alike, shape (raters,)."""


def consensus_panel(trials: Trials, min_answers: int = _FEWEST) -> ConsensusPanel:
    """Take away raters who are apart by any measure, until the rest are alike.

    Who is apart by one measure must not widen what is expected by the others, and who is careless
    not by any.
    """
    return trials.once((ConsensusPanel, min_answers), lambda: _consensus_panel(trials, min_answers))


def _consensus_panel(trials: Trials, min_answers: int) -> ConsensusPanel:
    panel = ~attention_of(trials).named()
    rules = [kind(name=kind.__name__, check=kind.__name__.lower()) for kind in _MEASURES]
    while True:
        beside = ComparisonRule.of(trials, panel)
        measures = {str(rule.check): rule.measured(beside) for rule in rules}
        known, alike = beside.n >= min_answers, panel[trials.rater_of_unit]
        found = ConsensusPanel(beside.n, measures, known, alike, panel)
        more = {unit for rule in rules for unit in rule.outliers(found)}
        left = panel.copy()
        left[trials.rater_of_unit[list(more)]] = False
        if not more or left.sum() < max(3, len(panel) * (1 - _MOST)):
            return found
        panel = left


class PanelRule(Rule):
    """A measure of each rater that is further out than one more rater of the panel could be.

    The measure is held against the prediction interval from all others, with their differences and
    their standard errors (Higgins, Thompson and Spiegelhalter 2009); outliers do not hide each
    other.
    """

    check: str
    level: float = Field(default=0.01, gt=0, lt=1)
    """Chance that the rule names anybody in a panel of raters who are alike."""
    min_answers: int = Field(default=_FEWEST, ge=5)
    """Answers shared with others below which nothing is judged."""
    _below: ClassVar[bool] = True
    _above: ClassVar[bool] = True
    """Whether low, and high, measures speak against a rater."""

    @abstractmethod
    def measured(self, beside: ComparisonRule) -> tuple[Floats, Floats]:
        """Give the measure of each unit, as it is compared, and its standard error."""

    def shown(self, compared: Floats) -> Floats:
        """Give the measure as it is said from how it is compared."""
        return compared

    def gap(self, trials: Trials) -> Unjudged | None:
        """Say why the rule does not apply; None where it does."""
        unordered = trials.ratings.scale.kind in ("nominal", "text")
        return Unjudged(Gap.NO_ORDER) if unordered else None

    def judge(self, trials: Trials) -> Judgement:
        """Hold each unit against the others."""
        gap = self.gap(trials)
        if gap is not None:
            return not_applicable(trials, gap)
        panel = consensus_panel(trials, self.min_answers)
        compared, error = panel.measures[self.check]
        known = panel.known & np.isfinite(compared) & np.isfinite(error)
        alike = np.flatnonzero(known & panel.alike)
        if alike.size < 3:
            few = Unjudged(Gap.FEW_RATERS, least=self.min_answers, n=3)
            return not_applicable(trials, few)
        low, high, p = np.full((3, compared.size), np.nan)
        for one in np.flatnonzero(known):
            rest = np.append(one, alike[alike != one])
            low[one], high[one], p[one] = self._expected(compared[rest], error[rest])
        with np.errstate(invalid="ignore"):
            violated = p * np.count_nonzero(known) < self.level
        measure, low, high = (self.shown(part) for part in (compared, low, high))

        def words(unit: int) -> str:
            n = int(panel.n[unit])
            return panel_text(self.check, measure[unit], n, low[unit], high[unit])

        missing = Unjudged(Gap.FEW, "shared answers", self.min_answers)
        return judged(measure, panel.n, known, violated, words, missing)

    def outliers(self, panel: ConsensusPanel) -> list[int]:
        """Find the units of the panel that are apart by this measure."""
        compared, error = panel.measures[self.check]
        usable = panel.known & panel.alike & np.isfinite(compared) & np.isfinite(error)

        def p_values(left: Ints) -> Floats:
            mean, spread, degrees = predicted(compared[left], error[left])
            with np.errstate(invalid="ignore", divide="ignore"):
                return self._p((compared[left] - mean) / spread, degrees)

        return outward(np.flatnonzero(usable), p_values, level=self.level)

    def _p(self, t: Floats, degrees: int) -> Floats:
        from scipy.special import stdtr

        if self._below and self._above:
            return np.asarray(2 * stdtr(degrees, -np.abs(t)))
        return np.asarray(stdtr(degrees, t if self._below else -t))

    def _expected(self, compared: Floats, error: Floats) -> tuple[float, float, float]:
        """Ends of what is expected of the first from all others, and its p value."""
        from scipy.special import stdtrit

        mean, spread, degrees = predicted(compared, error)
        tail = self.level / (self._below + self._above) / compared.size
        reach = float(stdtrit(degrees, 1 - tail) * spread[0])
        with np.errstate(invalid="ignore", divide="ignore"):
            p = self._p((compared[:1] - mean[0]) / spread[0], degrees)
        return (
            float(mean[0]) - reach if self._below else -np.inf,
            float(mean[0]) + reach if self._above else np.inf,
            float(p[0]),
        )


class Severity(PanelRule):
    """Answers that are higher or lower than the others': mean difference, in points."""

    check: Literal["severity"]

    def measured(self, beside: ComparisonRule) -> tuple[Floats, Floats]:
        """Average over the answers of each unit."""
        apart = beside.own - beside.others
        mean = beside.mean(apart)
        variance = beside.mean((apart - mean[beside.unit]) ** 2)
        return mean, np.sqrt(variance / np.maximum(beside.n - 1, 1))


class Centrality(PanelRule):
    """Answers that keep to the middle, or to the ends: slope on the mean of the others."""

    check: Literal["centrality"]

    def measured(self, beside: ComparisonRule) -> tuple[Floats, Floats]:
        """Regress the answers of each unit."""
        return beside.line(beside.others, beside.own)[:2]


class Inconsistency(PanelRule):
    """Answers that scatter about what the others' mean predicts: SD of the rest, in points."""

    check: Literal["inconsistency"]
    _below: ClassVar[bool] = False

    def measured(self, beside: ComparisonRule) -> tuple[Floats, Floats]:
        """Give the logarithm of the SD."""
        left = beside.line(beside.others, beside.own)[2]
        second, fourth = beside.mean(left**2), beside.mean(left**4)
        with np.errstate(invalid="ignore", divide="ignore"):
            kurtosis = fourth / second**2
            log = np.log(second * beside.n / np.maximum(beside.n - 2, 1)) / 2
            return log, np.sqrt(np.maximum(kurtosis - 1, 1) / (4 * beside.n))

    def shown(self, compared: Floats) -> Floats:
        """Give the SD."""
        return np.asarray(np.exp(compared))


class Agreement(PanelRule):
    """Answers that go along with the others' less than can be expected: Pearson's correlation.

    It is 0 for answers that agree by chance alone.
    """

    check: Literal["agreement"]
    _above: ClassVar[bool] = False

    def measured(self, beside: ComparisonRule) -> tuple[Floats, Floats]:
        """Give the Fisher transform of the correlation; 0 where all answers are equal."""
        slope, _, _ = beside.line(beside.others, beside.own)
        spread = [
            np.sqrt(beside.mean((x - beside.mean(x)[beside.unit]) ** 2))
            for x in (beside.others, beside.own)
        ]
        with np.errstate(invalid="ignore", divide="ignore"):
            r = np.where(spread[1] > _SMALL, slope * spread[0] / spread[1], 0.0)
        z = np.arctanh(np.clip(r, -1 + _SMALL, 1 - _SMALL))
        return z, 1 / np.sqrt(np.maximum(beside.n - 3, 1.0))

    def shown(self, compared: Floats) -> Floats:
        """Give the correlation."""
        return np.asarray(np.tanh(compared))


class Drift(PanelRule):
    """Answers that rise or fall beside the others' from the first to the last, in points."""

    check: Literal["drift"]

    def gap(self, trials: Trials) -> Unjudged | None:
        """Ask for the order of answers, too."""
        frame = trials.ratings.coded_frame
        known = [name for name in ("session", "trial", "at") if name in frame.columns]
        if not {"at", "trial"}.intersection(known):
            return Unjudged(Gap.NO_ORDER_COLUMN)
        shown = frame.select("rater", "stimulus").n_unique()
        if frame.select("rater", *known).n_unique() < shown:
            return Unjudged(Gap.ORDER_AMBIGUOUS, joined(repr(name) for name in known))
        return super().gap(trials)

    def measured(self, beside: ComparisonRule) -> tuple[Floats, Floats]:
        """Regress the difference from the others on the place among the answers."""
        return beside.line(beside.position, beside.own - beside.others)[:2]


_MEASURES = (Severity, Centrality, Inconsistency, Agreement, Drift)
