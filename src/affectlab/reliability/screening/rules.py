"""What every rule has: a name, the unit of its limits, and a judgement with evidence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from affectlab.core.arrays import ratio
from affectlab.core.types import Floats, Ints
from affectlab.reliability.duplicates import duplicate_raters
from affectlab.reliability.rank_correlation import (
    grouped_pearson,
    grouped_spearman,
    sums_of_others,
)
from affectlab.reliability.screening.attention import SPARSE, same_as_others
from affectlab.reliability.screening.trials import Mask, Trials
from affectlab.reliability.screening.wording import (
    Gap,
    Unjudged,
    correlation_text,
    equal_answers_text,
    far_text,
    golden_off,
    nobody_rejected,
    outliers_text,
    repeats_apart,
    run_text,
    seen_before_text,
    session_text,
    speed_text,
    spread_text,
    unlike_text,
    violations_text,
)


class TomlTable(BaseModel):
    """A table of a policy file: fixed once read, no unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


@dataclass(frozen=True, eq=False)
class Judgement:
    """What a rule found about every unit."""

    measure: Floats
    """The number that is held against the limit; ``nan`` without one."""
    n: Ints
    """Answers, or trials, that it comes from."""
    known: Mask
    """Whether there was enough to judge."""
    violated: Mask
    evidence: tuple[str, ...]
    """In words, for every unit."""
    missing: Unjudged | None = None
    """Why units were not judged, where some may not be."""


class Rule(TomlTable):
    """A rule of a policy."""

    name: str = Field(min_length=1)
    """What the rule is called in results, and in the verdicts of the policy."""


class ScaleRule(Rule):
    """A rule whose limits are measured on the scale."""

    units: Literal["points", "percent"] = "percent"
    """Limits are points of the scale, or percent of its width (points on a slider of 0 to 100)."""

    def points(self, limit: float, trials: Trials) -> float | None:
        """Give a limit in points; ``None`` in percent of a scale without two ends."""
        if not trials.decimal_points:
            return limit if self.units == "percent" else None
        if self.units == "points":
            return limit
        return None if trials.width is None else limit * trials.width / 100


def judged(
    measure: Floats,
    n: Ints,
    known: Mask,
    violated: Mask,
    words: Callable[[int], str],
    missing: Unjudged | None = None,
) -> Judgement:
    """Put a judgement together; ``words`` says it for a unit, ``missing`` where it is unknown."""
    evidence = tuple(
        words(unit) if there else str(missing) for unit, there in enumerate(known.tolist())
    )
    measure = np.where(known, measure, np.nan)
    return Judgement(measure, n, known, violated & known, evidence, missing)


def not_applicable(trials: Trials, gap: Gap | Unjudged) -> Judgement:
    """Judge nobody, since the rule does not apply."""
    why = Unjudged(gap) if isinstance(gap, Gap) else gap
    none = np.zeros(trials.n_units, dtype=bool)
    nothing = np.zeros(trials.n_units, dtype=np.int64)
    words = (str(why),) * trials.n_units
    return Judgement(np.full(trials.n_units, np.nan), nothing, none, none, words, why)


# Rules about how a session was worked through: spread, runs, movement, speed, number.


def _no_limit(trials: Trials, what: str = "limit") -> Unjudged:
    return Unjudged(Gap.LIMIT_IN_PERCENT if trials.decimal_points else Gap.LIMIT_IN_POINTS, what)


def _far(limit: float, trials: Trials) -> str:
    return far_text(limit, percent_of_scale=not trials.decimal_points)


class Spread(ScaleRule):
    """Straight-lining: the ratings of main trials hardly differ (population SD)."""

    check: Literal["spread"]
    below: float = Field(gt=0)
    min_answers: int = Field(default=5, ge=2)

    def judge(self, trials: Trials) -> Judgement:
        """Compare the SD with the limit."""
        return _spread(self, trials, trials.value, "ratings", self.below, self.min_answers)


class Movement(ScaleRule):
    """The slider hardly moved: SD of the column ``movement`` over main trials."""

    check: Literal["movement"]
    below: float = Field(gt=0)
    min_answers: int = Field(default=5, ge=2)

    def judge(self, trials: Trials) -> Judgement:
        """Compare the SD with the limit."""
        if trials.movement is None:
            return not_applicable(trials, Unjudged(Gap.NO_COLUMN, "movement"))
        what = "slider movements"
        return _spread(self, trials, trials.movement, what, self.below, self.min_answers)


def _spread(
    rule: ScaleRule, trials: Trials, values: Floats, what: str, below: float, min_answers: int
) -> Judgement:
    limit = rule.points(below, trials)
    if limit is None:
        return not_applicable(trials, _no_limit(trials))
    chosen = trials.main & ~np.isnan(values)
    n, sd = trials.count(chosen), trials.sd(values, chosen)

    def words(unit: int) -> str:
        return spread_text(n[unit], what, sd[unit], limit)

    missing = Unjudged(Gap.FEW, what, min_answers)
    return judged(sd, n, n >= min_answers, sd < limit, words, missing)


class Run(Rule):
    """Straight-lining: the same answer many times in a row, in main trials."""

    check: Literal["run"]
    at_least: int = Field(ge=2)
    """Length of the longest run of equal answers."""
    share: float = Field(default=0.0, ge=0, le=1)
    """Share of all answers that the run must be as well."""

    def judge(self, trials: Trials) -> Judgement:
        """Find the longest run of each unit."""
        rows = np.flatnonzero(trials.main)
        rows = rows[np.argsort(trials.unit[rows], kind="stable")]
        unit, value = trials.unit[rows], trials.value[rows]
        longest = np.zeros(trials.n_units)
        n = trials.count(trials.main)
        if rows.size:
            new = np.concatenate([[True], (np.diff(unit) != 0) | (np.diff(value) != 0)])
            start = np.flatnonzero(new)
            np.maximum.at(longest, unit[start], np.diff(np.append(start, rows.size)))
        violated = (longest >= self.at_least) & (longest >= self.share * n)

        def words(index: int) -> str:
            limit = max(self.at_least, int(np.ceil(self.share * n[index])))
            return run_text(longest[index], n[index], limit)

        return judged(longest, n, n > 0, violated, words, Unjudged(Gap.NONE, "answers"))


class Speed(Rule):
    """Too fast: median response time of main trials."""

    check: Literal["speed"]
    below: float = Field(gt=0)
    """Milliseconds."""
    min_answers: int = Field(default=5, ge=1)

    def judge(self, trials: Trials) -> Judgement:
        """Compare the median with the limit."""
        if trials.rt_ms is None:
            return not_applicable(trials, Unjudged(Gap.NO_COLUMN, "rt_ms"))
        rows = np.flatnonzero(trials.main & ~np.isnan(trials.rt_ms))
        rows = rows[np.lexsort((trials.rt_ms[rows], trials.unit[rows]))]
        unit, times = trials.unit[rows], trials.rt_ms[rows]
        n = np.bincount(unit, minlength=trials.n_units)
        start = np.searchsorted(unit, np.arange(trials.n_units))
        median: Floats = np.full(trials.n_units, np.nan)
        some = n > 0
        lower, upper = start[some] + (n[some] - 1) // 2, start[some] + n[some] // 2
        median[some] = (times[lower] + times[upper]) / 2

        def words(index: int) -> str:
            return speed_text(n[index], median[index], self.below)

        missing = Unjudged(Gap.FEW, "response times", self.min_answers)
        return judged(median, n, n >= self.min_answers, median < self.below, words, missing)


class SessionNumber(Rule):
    """A rater has had more sessions than allowed; those beyond are judged."""

    check: Literal["session_number"]
    over: int = Field(ge=1)

    def judge(self, trials: Trials) -> Judgement:
        """Number the sessions of each rater in their order."""
        if trials.session is None:
            return not_applicable(trials, Gap.NOT_BY_SESSION)
        owner = trials.rater_of_unit
        number = (np.arange(owner.size) - np.searchsorted(owner, owner) + 1).astype(np.float64)

        def words(index: int) -> str:
            return session_text(number[index], self.over)

        everyone = np.ones(owner.size, dtype=bool)
        n = trials.count(np.ones(trials.unit.size, dtype=bool))
        return judged(number, n, everyone, number > self.over, words)


class SeenBefore(Rule):
    """A rater rates the same stimuli in a second session."""

    check: Literal["seen_before"]
    at_least: float = Field(default=0.5, gt=0, le=1)
    """Share of the session's main answers whose stimulus the rater had in an earlier session."""

    def judge(self, trials: Trials) -> Judgement:
        """Look every answer up among the earlier sessions of its rater."""
        if trials.session is None:
            return not_applicable(trials, Gap.NOT_BY_SESSION)
        rows = np.flatnonzero(trials.main)
        key = trials.cell[rows] * (trials.rater.max(initial=0) + 1) + trials.rater[rows]
        _, code = np.unique(key, return_inverse=True)
        first = np.full(code.max(initial=-1) + 1, trials.n_units)
        np.minimum.at(first, code, trials.unit[rows])
        again = np.bincount(trials.unit[rows], first[code] < trials.unit[rows], trials.n_units)
        n = trials.count(trials.main)
        share = ratio(again, n, 0.0)

        def words(index: int) -> str:
            return seen_before_text(share[index], n[index], self.at_least)

        missing = Unjudged(Gap.NONE, "answers")
        return judged(share, n, n > 0, share >= self.at_least, words, missing)


# Rules about trials that check the rater: golden trials, repeats, and both together.


class _Counted(ScaleRule):
    """Violations among check trials: as many as said, and as large a share as said."""

    tolerance: float = Field(gt=0)
    """A difference this large, or larger, is a violation."""
    at_least: int = Field(ge=1)
    """Violations of the session."""
    of: int = Field(ge=1)
    """Trials that ``at_least`` is meant for; with more or fewer, the same share is asked."""

    @model_validator(mode="after")
    def _fits(self) -> _Counted:
        if self.at_least > self.of:
            raise ValueError(f"at_least {self.at_least} can never be reached of {self.of}")
        return self

    def _judge(self, trials: Trials, bad: Mask, chosen: Mask, what: str) -> Judgement:
        return _counts(
            trials.count(chosen & bad), trials.count(chosen), self.at_least, self.of, what
        )


def _counts(count: Ints, n: Ints, at_least: int, of: int, what: str) -> Judgement:
    # Of fewer trials than planned the share decides; of more, both do.
    needed = np.maximum(np.minimum(at_least, n), np.ceil(n * at_least / of - 1e-9))
    violated = count >= needed

    def words(unit: int) -> str:
        bad, limit = bool(violated[unit]), needed[unit]
        return violations_text(count[unit], n[unit], what, limit, violated=bad)

    return judged(count.astype(float), n, n > 0, violated, words, Unjudged(Gap.NONE, what))


class Golden(_Counted):
    """Answers far from known ones."""

    check: Literal["golden"]

    def judge(self, trials: Trials) -> Judgement:
        """Count violations over golden trials, or over all trials with a known answer."""
        limit = self.points(self.tolerance, trials)
        if limit is None:
            return not_applicable(trials, _no_limit(trials, "tolerance"))
        known = ~np.isnan(trials.expected)
        if not known.any():
            return not_applicable(trials, Gap.NO_KNOWN_ANSWERS)
        golden = known & trials.golden
        chosen = golden if golden.any() else known
        bad = np.abs(trials.value - trials.expected) >= limit
        return self._judge(trials, bad, chosen, golden_off(_far(limit, trials)))


class Repeats(_Counted):
    """Different answers to a trial shown again."""

    check: Literal["repeats"]

    def judge(self, trials: Trials) -> Judgement:
        """Compare repeat trials with the main answer of the session, else of the rater."""
        limit = self.points(self.tolerance, trials)
        if limit is None:
            return not_applicable(trials, _no_limit(trials, "tolerance"))
        if not trials.repeat.any():
            return not_applicable(trials, Gap.NO_REPEATS)
        before = _main_answer(trials, trials.unit)
        before = np.where(np.isnan(before), _main_answer(trials, trials.rater), before)
        chosen = trials.repeat & ~np.isnan(before)
        with np.errstate(invalid="ignore"):
            bad = np.abs(trials.value - before) >= limit
        return self._judge(trials, bad, chosen, repeats_apart(_far(limit, trials)))


def _main_answer(trials: Trials, owner: Ints) -> np.ndarray:
    """First main answer of the owner to the same cell, for every trial; ``nan`` without one."""
    key = owner * (trials.cell.max(initial=0) + 1) + trials.cell
    rows = np.flatnonzero(trials.main)
    known, first = np.unique(key[rows], return_index=True)
    answer = np.full(key.size, np.nan)
    if known.size:
        place = np.minimum(np.searchsorted(known, key), known.size - 1)
        found = known[place] == key
        answer[found] = trials.value[rows[first[place[found]]]]
    return answer


class Combined(Rule):
    """Violations of several counting rules taken together, or so many rules of several."""

    check: Literal["together"]
    rules: tuple[str, ...] = Field(min_length=2)
    """Names of rules above this one."""
    at_least: int = Field(ge=1)
    of: int | None = Field(default=None, ge=1)
    """Trials that ``at_least`` is meant for; without it rules are counted, not their trials."""

    def combine(self, trials: Trials, earlier: dict[str, Judgement]) -> Judgement:
        """Add up what the other rules found."""
        parts = [earlier[name] for name in self.rules]
        if not any(part.known.any() for part in parts):
            return not_applicable(trials, Unjudged(Gap.NO_RULE_APPLIES, ", ".join(self.rules)))
        if self.of is None:
            count = np.sum([part.violated for part in parts], axis=0)
            n = np.sum([part.known for part in parts], axis=0)

            def words(unit: int) -> str:
                bad = bool(violated[unit])
                what = "rules violated"
                return violations_text(count[unit], n[unit], what, self.at_least, violated=bad)

            violated = count >= self.at_least
            missing = Unjudged(Gap.NONE, "rule")
            return judged(count.astype(float), n, n > 0, violated, words, missing)
        count = np.sum([np.nan_to_num(part.measure) for part in parts], axis=0).astype(np.int64)
        n = np.sum([part.n for part in parts], axis=0)
        return _counts(count, n, self.at_least, self.of, f"check trials ({', '.join(self.rules)})")


# Rules that hold a rater against the others: correlation, outliers, duplicates.


class Correlation(Rule):
    """Correlation of a rater's main answers with the mean of the others' to the same questions.

    Violated where the upper end of its interval lies below the limit (Fisher's z; the error of
    Spearman's by Bonett and Wright 2000), and where all answers of a rater are equal, unless most
    of the others' answers are this answer, too.
    """

    check: Literal["correlation"]
    below: float = Field(ge=-1, le=1)
    kind: Literal["pearson", "spearman"] = "spearman"
    level: float = Field(default=0.05, gt=0, lt=1)
    """Chance that the rule names anybody in a panel of raters whose true correlation is at the
    limit: one-sided, divided by the number of raters."""
    min_answers: int = Field(default=10, ge=4)
    """Questions shared with others below which nothing is judged."""

    def judge(self, trials: Trials) -> Judgement:
        """Correlate over the answers of each unit."""
        rows = np.flatnonzero(trials.main)
        _, cell = np.unique(trials.cell[rows], return_inverse=True)
        value, unit = trials.value[rows], trials.unit[rows]
        n_others, total = sums_of_others(cell, trials.rater[rows], value, np.ones(value.size))
        shared = n_others > 0
        others = np.asarray(np.round(total[shared] / n_others[shared], 10), dtype=np.float64)
        correlate = grouped_spearman if self.kind == "spearman" else grouped_pearson
        r, n = correlate(value[shared], others, unit[shared], trials.n_units)
        enough = n >= self.min_answers
        equal, upper = self._equal(trials, rows, enough & np.isnan(r)), self._upper(r, n, enough)

        def words(index: int) -> str:
            if equal[index]:
                return equal_answers_text(n[index])
            return correlation_text(r[index], upper[index], n[index], self.below)

        missing = Unjudged(Gap.FEW_OR_EQUAL, least=self.min_answers)
        with np.errstate(invalid="ignore"):
            low = equal | (upper < self.below)
        return judged(r, n, enough & (equal | ~np.isnan(r)), low, words, missing)

    def _upper(self, r: Floats, n: Ints, judged: Mask) -> Floats:
        """Upper end of the interval of each correlation."""
        with np.errstate(invalid="ignore"):
            z = np.arctanh(np.clip(r, -1 + 1e-12, 1 - 1e-12))
            reach = self._quantile(judged) * self._error(r, n)
            return np.asarray(np.tanh(z + reach))

    def _quantile(self, judged: Mask) -> float:
        from scipy.special import ndtri

        return float(-ndtri(self.level / max(int(np.count_nonzero(judged)), 1)))

    def _error(self, r: Floats, n: Ints) -> Floats:
        """Error of Fisher's z."""
        rank = 1 + r**2 / 2 if self.kind == "spearman" else np.ones(r.size)
        return np.asarray(np.sqrt(rank / np.maximum(n - 3, 1)))

    def found_random(self, found: Judgement) -> float:
        """Chance that one who answers at random is named, over the raters that were judged."""
        from scipy.special import ndtr

        some = found.known & np.isfinite(found.measure)
        if not some.any():
            return np.nan
        n = found.n[some]
        zero = self._error(np.zeros(n.size), n)
        return float(ndtr(np.arctanh(self.below) / zero - self._quantile(found.known)).mean())

    @staticmethod
    def _equal(trials: Trials, rows: Ints, unknown: Mask) -> Mask:
        """Say which units always gave one answer to a label that most others do not give."""
        n_labels, unit, value = trials.ratings.n_labels, trials.unit[rows], trials.value[rows]
        label = trials.cell[rows] % n_labels
        spread = np.zeros(trials.n_units, dtype=bool)
        for one in np.flatnonzero(unknown):
            mine = value[unit == one]
            spread[one] = np.ptp(mine) == 0 and not (
                same_as_others(int(one), unknown, label, unit, value) >= SPARSE
            )
        return spread


class Duplicates(Rule):
    """Answers like another rater's, beyond what their agreement with the others allows.

    The measure is the ratio of :func:`~affectlab.reliability.duplicate_raters`. It does not
    show who copied from whom, so that both raters of a pair violate the rule.
    """

    check: Literal["duplicates"]

    def judge(self, trials: Trials) -> Judgement:
        """Judge raters by all of their main answers; sessions are judged as their rater is."""
        alike = duplicate_raters(trials.ratings)
        evidence = alike.by_rater()
        who = [trials.raters[code] for code in trials.rater_of_unit.tolist()]
        closest = [alike.closest.get(name, ("", 0, np.nan)) for name in who]

        def words(unit: int) -> str:
            return evidence.get(who[unit]) or unlike_text(*closest[unit])

        ratio = np.array([one[2] for one in closest])
        n = np.array([one[1] for one in closest], dtype=np.int64)
        violated = np.array([name in evidence for name in who], dtype=bool)
        missing = Unjudged(Gap.NO_PAIR)
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
        share = ratio(p + q, n, 0.0)
        balance = ratio(np.abs(p - q), p + q, np.inf)
        rejected = (share > self.share) & (balance < self.balance)
        everyone = bool(rejected[made > 0].all())
        if everyone:
            # The recommendation leaves nobody then; upstream keeps all.
            rejected[:] = False
        owner = trials.rater_of_unit

        def words(unit: int) -> str:
            who = owner[unit]
            shares, balances = (share[who], self.share), (balance[who], self.balance)
            text = outliers_text(p[who], q[who], n[who], shares, balances)
            return nobody_rejected(text) if everyone else text

        known = made[owner] > 0
        missing = Unjudged(Gap.NONE, "answers")
        return judged(share[owner], made[owner], known, rejected[owner], words, missing)


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
