"""What a running study knows about each rater: spread, agreement with the others, and checks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import Any

import polars as pl

from affectlab.core.errors import InputError
from affectlab.ratings import Scale
from affectlab.reliability.live.sums import Cell, exact

__all__ = ["Checked", "OneRater", "RaterChecks", "RaterSums", "flag_table"]

_PLACES = 6


@dataclass(frozen=True)
class RaterChecks:
    """Limits of the flags of raters; points are those of the scale.

    The defaults are those of FaceExpressions-70k (section 3.4.5) per session of five golden and
    five repeated trials, with points as shares of the scale: 5 and 25 of 100. Counts must be
    reached, and as a share too, so that a rater of many sessions is not flagged for a few slips.
    ``None`` turns a check off, except for the tolerances.

    Examples
    --------
    >>> from affectlab.ratings import Scale
    >>> RaterChecks.of_scale(Scale.parse("0-100 interval")).straight_sd
    5.0
    """

    golden_tolerance: float
    """A golden answer this far from the reference, or farther, is a violation."""
    repeat_tolerance: float
    """A repeat this far from the first answer, or farther, is a violation."""
    straight_sd: float | None
    """Raters whose main answers have a population SD below it are straight-lining."""
    min_correlation: float | None = 0.2
    """Raters whose correlation with the others is below it are flagged."""
    golden_violations: int | None = 3
    repeat_violations: int | None = 3
    violations: int | None = 4
    """Golden and repeat violations together."""
    violation_share: float = 0.6
    """Share of the golden trials, or of the repeats, that must be violations as well."""
    total_violation_share: float = 0.4
    """Share of both together that must be violations as well."""
    min_answers: int = 10
    """Main answers, or shared questions, below which spread and correlation raise no flag."""

    def __post_init__(self) -> None:
        for name in ("golden_tolerance", "repeat_tolerance"):
            if not getattr(self, name) > 0:
                raise InputError(f"{name} {getattr(self, name)!r}: expected a number above 0")

    @classmethod
    def of_scale(cls, scale: Scale) -> RaterChecks:
        """Give the defaults for a scale.

        On a scale without two ends straight-lining is an SD of 0 and tolerances are infinite: say
        them to check golden trials and repeats.
        """
        if scale.kind in ("binary", "nominal"):
            correlation = None if scale.kind == "nominal" else 0.2
            return cls(0.5, 0.5, 1e-9, correlation)
        if scale.low is None or scale.high is None:
            return cls(math.inf, math.inf, 1e-9)
        width = scale.high - scale.low
        return cls(0.25 * width, 0.25 * width, 0.05 * width)

    def to_dict(self) -> dict[str, float | int | None]:
        """Give the limits as a plain dictionary."""
        return asdict(self)


@dataclass
class _Shared:
    """Sums of a rater over questions with m answers; t is the total of the others' answers."""

    n: int = 0
    x: int = 0
    xx: int = 0
    t: int = 0
    xt: int = 0
    tt: int = 0


@dataclass
class OneRater:
    """Sums of one rater over main answers."""

    n: int = 0
    s1: int = 0
    s2: int = 0
    shared: dict[int, _Shared] = field(default_factory=dict)

    def mean(self, shift: int) -> float:
        return self.s1 / (self.n << shift) if self.n else math.nan

    def sd(self, shift: int) -> float:
        """Population standard deviation."""
        if not self.n:
            return math.nan
        return math.sqrt((self.n * self.s2 - self.s1**2) / (self.n**2 << 2 * shift))

    @property
    def n_shared(self) -> int:
        return sum(part.n for part in self.shared.values())

    def correlation(self) -> float:
        """Pearson's correlation with the mean of the others over shared questions."""
        n = self.n_shared
        parts = self.shared.items()
        x = sum(part.x for _, part in parts)
        xx = sum(part.xx for _, part in parts)
        y = sum((Fraction(part.t, m - 1) for m, part in parts), start=Fraction(0))
        xy = sum((Fraction(part.xt, m - 1) for m, part in parts), start=Fraction(0))
        yy = sum((Fraction(part.tt, (m - 1) ** 2) for m, part in parts), start=Fraction(0))
        covariance = n * xy - x * y
        variances = (n * xx - x * x) * (n * yy - y * y)
        if variances == 0:
            return math.nan
        return math.copysign(math.sqrt(covariance**2 / variances), covariance)


@dataclass
class RaterSums:
    """Sums over main answers for every rater."""

    raters: dict[str, OneRater] = field(default_factory=dict)

    def add(self, cell: Cell, shift: int, sign: int) -> None:
        """Put a question in, or take it out with sign -1."""
        m = len(cell)
        numbers = {rater: exact(value, shift) for rater, value in cell.items()}
        total = sum(numbers.values())
        for rater, x in numbers.items():
            one = self.raters.setdefault(rater, OneRater())
            one.n += sign
            one.s1 += sign * x
            one.s2 += sign * x * x
            if m > 1:
                part = one.shared.setdefault(m, _Shared())
                t = total - x
                part.n += sign
                part.x += sign * x
                part.xx += sign * x * x
                part.t += sign * t
                part.xt += sign * x * t
                part.tt += sign * t * t
                if not part.n:
                    del one.shared[m]
            if not one.n:
                del self.raters[rater]


@dataclass
class Checked:
    """Golden and repeated trials of one rater: how many, and how many violations."""

    golden: int = 0
    golden_violations: int = 0
    repeats: int = 0
    repeat_violations: int = 0


def _flag_words(
    checks: RaterChecks, sd: float, n: int, correlation: float, n_shared: int, checked: Checked
) -> list[str]:
    """Say in words what is wrong with a rater; an empty list when nothing is."""
    words = []
    if checks.straight_sd is not None and n >= checks.min_answers and sd < checks.straight_sd:
        words.append(f"straight-lining: SD {sd:.3g} of {n} answers, below {checks.straight_sd:g}")
    least = checks.min_correlation
    if least is not None and n_shared >= checks.min_answers and correlation < least:
        words.append(
            f"correlation {correlation:.2f} with the others on {n_shared} questions, "
            f"below {least:g}"
        )
    both = checked.golden + checked.repeats, checked.golden_violations + checked.repeat_violations
    for name, total, wrong, limit, share in (
        (
            "golden",
            checked.golden,
            checked.golden_violations,
            checks.golden_violations,
            checks.violation_share,
        ),
        (
            "repeat",
            checked.repeats,
            checked.repeat_violations,
            checks.repeat_violations,
            checks.violation_share,
        ),
        ("golden and repeat", *both, checks.violations, checks.total_violation_share),
    ):
        enough = total and round(wrong / total, _PLACES) >= share
        if limit is not None and wrong >= limit and enough:
            words.append(f"{name} violations: {wrong} of {total}, {limit} or more")
    return words


def flag_table(
    rows: Iterable[tuple[str, OneRater, Checked]], checks: RaterChecks, shift: int
) -> pl.DataFrame:
    """One row per rater; see :meth:`RunningReliability.flags`."""
    table: list[dict[str, Any]] = []
    for rater, one, checked in rows:
        sd, correlation = one.sd(shift), one.correlation()
        table.append(
            {
                "rater": rater,
                "n": one.n,
                "mean": one.mean(shift),
                "sd": sd,
                "correlation": correlation,
                "n_shared": one.n_shared,
                **asdict(checked),
                "flags": _flag_words(checks, sd, one.n, correlation, one.n_shared, checked),
            }
        )
    return pl.DataFrame(
        table,
        schema={
            "rater": pl.String,
            "n": pl.Int64,
            "mean": pl.Float64,
            "sd": pl.Float64,
            "correlation": pl.Float64,
            "n_shared": pl.Int64,
            **dict.fromkeys(asdict(Checked()), pl.Int64),
            "flags": pl.List(pl.String),
        },
    )
