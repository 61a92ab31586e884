"""Where the variance of ratings lies, and how reliable one rating and the mean of several are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.estimates import NO_INTERVAL, Estimates
from affectlab.core.inference import check_confidence
from affectlab.core.result import Result
from affectlab.core.tables import Column, Count, Figure, Interval, Key, Share, Table, Value
from affectlab.core.types import Floats
from affectlab.core.words import joined, number, percent, plural, shown
from affectlab.ratings import Ratings, canonical, people_or_all, require_order, with_label
from affectlab.reliability.components.mixed_model import (
    RESIDUAL,
    Factor,
    MixedModel,
    Solution,
    fit,
    of_ratio,
    of_variance,
    one_core,
    profile_interval,
)

STIMULUS, RATER, CELL = "stimulus", "rater", "stimulus:rater"
_MOST_LEVELS = 4000
"""Levels of all factors but the largest, which share one dense matrix."""
_MOST_PROFILED = 3_000_000
"""Answers up to which intervals are by profile likelihood."""
_ROUNDING = 1e-12
_COLUMNS: tuple[Column, ...] = (
    Key("label"),
    Key("factor"),
    Value(head="variance"),
    Interval(),
    Share("share"),
    Count("n_levels", "levels"),
)
_RELIABILITY: tuple[Column, ...] = (
    Key("label"),
    Key("coefficient"),
    Key("raters"),
    Value(decimals=2),
    Interval(),
)
_COMPONENT, _RELIABLE = ("label", "factor"), ("label", "coefficient", "raters")
_MEAN = "Reliability of one rating, and of the mean of several raters."
_KINDS = (
    "agreement: of raters who stand for others, whose levels count as error; consistency: of "
    "raters whose levels are left out of account."
)
_NONE_APART = "undefined: the ratings do not tell the factors apart"


@dataclass(frozen=True, eq=False)
class _Label:
    """The fit of one label, or why there is none."""

    name: str
    counts: dict[str, int]
    levels: dict[str, int]
    solution: Solution | None
    status: str = "ok"


def variance_components(
    ratings: Ratings,
    *,
    factors: Sequence[str] = (STIMULUS, RATER),
    k: Sequence[int] = (1, 3, 5, 10),
    everyone: bool = False,
    confidence: float = 0.95,
) -> Result:
    r"""Split the variance of ratings into parts due to stimuli, raters and what is left.

    The model of each label is

    .. math:: y = \mu + u_\text{stimulus} + u_\text{rater} + \dots + e

    with independent normal effects, crossed, with any gaps, fitted by restricted maximum likelihood
    (REML). From the variances follow the reliability of one rating and of the mean of k raters:
    with :math:`\sigma^2_s` of stimuli, :math:`\sigma^2_r` of raters, and the rest
    :math:`\sigma^2_e` (with stimulus by rater, where that is a factor),

    .. math::

        \text{agreement}_k = \frac{\sigma^2_s}{\sigma^2_s + (\sigma^2_r + \sigma^2_e)/k}, \quad
        \text{consistency}_k = \frac{\sigma^2_s}{\sigma^2_s + \sigma^2_e/k},

    for k = 1 the intraclass correlations (2,1) and (3,1); in generalizability theory the absolute
    and the relative coefficient.

    Parameters
    ----------
    ratings
        Ratings on scales with an order. Main trials count; where ``stimulus:rater`` is a factor,
        repeats count, too.
    factors
        Random factors: ``stimulus``, ``rater``, ``session``, ``label`` or another column of the
        answers, raters or stimuli; and ``stimulus:rater``, which repeated answers tell from the
        residual. With ``label`` all labels are one analysis; else each has its own.
    k
        Numbers of raters whose mean is judged.
    everyone
        Take models in, too; without it only people where there are any.
    confidence
        Coverage of the intervals.

    Returns
    -------
    Result
        The table ``components``: by ``label`` and ``factor`` (the last is ``residual``), ``value``
        (variance, in squared units of the scale), ``low``, ``high``, ``share`` of the whole,
        ``n_levels``, counts and ``status``. The table ``reliability``: by ``label``,
        ``coefficient`` (``agreement``, ``consistency``) and number of ``raters``; empty where a
        factor is none of ``stimulus``, ``rater`` and ``stimulus:rater``.

    Intervals are by profile likelihood: where the restricted deviance, minimised over all other
    variances, exceeds its least value by less than the quantile of the chi-squared distribution.
    They are about other stimuli and other raters of the same populations. Above 3 million answers
    there are none.

    Raises
    ------
    InputError
        When a factor is unknown or has one level, the answers have no order, or the levels of all
        factors but the largest are more than 4,000 in all.

    References
    ----------
    Bates et al. (2015), Journal of Statistical Software 67. McGraw and Wong (1996), Psychological
    Methods 1. Brennan (2001), Generalizability Theory. Searle, Casella and McCulloch (1992),
    Variance Components.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> stimulus, rater = (part.ravel() for part in np.indices((40, 6)))
    >>> value = rng.normal(0, 2, 40)[stimulus] + rng.normal(0, 1, 6)[rater] + rng.normal(0, 1, 240)
    >>> r = Ratings({"stimulus": stimulus, "rater": rater, "value": value}, scale="interval")
    >>> found = variance_components(r)
    >>> found.to_frame().select("factor", "value").rows()[0][0]
    'stimulus'
    >>> round(found.to_frame("reliability")["value"][0], 1)
    0.8
    """
    check_confidence(confidence)
    if not k or min(k) < 1:
        raise InputError(f"k {list(k)}: expected numbers of raters, 1 or more")
    if len(set(factors)) < len(factors) or not factors:
        raise InputError(f"factors {list(factors)}: expected one or more, each once")
    ratings = canonical(ratings)
    if not everyone:
        ratings = people_or_all(ratings)
    require_order(ratings, "variance components")
    parts = [_fitted(name, frame, factors) for name, frame in _frames(ratings, factors)]
    rows = [row for part in parts for row in _component_rows(part, factors, confidence)]
    extra = {"share": pl.Float64, "n_levels": pl.Int64}
    components = _table("components", "Variance components.", rows, _COMPONENT, extra, _COLUMNS)
    applies = STIMULUS in factors and not set(factors) - {STIMULUS, RATER, CELL}
    judged = parts if applies else []
    means = [row for part in judged for row in _reliability_rows(part, factors, k, confidence)]
    reliability = _table("reliability", _MEAN, means, _RELIABLE, {}, _RELIABILITY, notes=(_KINDS,))
    return Result(
        (components, reliability),
        tuple(_sentences(components.frame, reliability.frame)),
        figures=(
            Figure(
                "variance_shares",
                "intervals",
                "components",
                "Where the variance lies",
                "Variance of each factor, with its interval.",
                options={"value_name": "variance", "limits": (0.0, None)},
            ),
        ),
        settings={"factors": list(factors), "k": list(k), "confidence": confidence},
    )


def _frames(ratings: Ratings, factors: Sequence[str]) -> Iterator[tuple[str, pl.DataFrame]]:
    """Give the usable answers of each label with the columns that factors need."""
    used = _with_repeats(ratings) if CELL in factors else ratings.answers().to_frame()
    frame = with_label(used, ratings)
    for key, table in (("rater", ratings.raters), ("stimulus", ratings.stimuli)):
        more = [name for name in table.columns if name not in frame.columns]
        frame = frame.join(table.select(key, *more), on=key, how="left", maintain_order="left")
    for name in factors:
        if name != CELL and name not in frame.columns:
            raise unknown_name("factor", name, (*frame.columns, CELL), "factors")
    if CELL in factors and not {STIMULUS, RATER} <= set(factors):
        raise InputError(f"factors: {CELL} needs both {STIMULUS} and {RATER} beside it")
    if "label" in factors:
        # Ratings on different scales are no one quantity.
        yield str(ratings.scale and "all"), frame
        return
    for name in ratings.label_names:
        yield name, frame.filter(pl.col("label") == name)


def _with_repeats(ratings: Ratings) -> pl.DataFrame:
    """Give the answers, with those to repeated trials: they tell views of raters from noise."""
    frame = ratings.to_frame().filter(pl.col("value").is_not_null())
    for name, wanted in (("trial_kind", ["main", "repeat"]), ("outcome", ["ok"])):
        if name in frame.columns:
            frame = frame.filter(pl.col(name).is_in(wanted))
    return frame


def _fitted(name: str, frame: pl.DataFrame, factors: Sequence[str]) -> _Label:
    counts = {
        "n_items": frame["stimulus"].n_unique(),
        "n_raters": frame["rater"].n_unique(),
        "n_ratings": frame.height,
    }
    coded = []
    for factor in factors:
        if factor == CELL:
            continue
        if frame[factor].null_count():
            raise InputError(f"factors: {factor} is empty for some answers of {shown(name)}")
        level = frame[factor].rank("dense").to_numpy().astype(np.int64) - 1
        coded.append(Factor(factor, level, int(level.max()) + 1 if level.size else 0))
    levels = {one.name: one.n_levels for one in coded}
    value = frame["value"].to_numpy().astype(np.float64)

    def undefined(why: str) -> _Label:
        return _Label(name, counts, levels, None, f"undefined: {why}")

    single = next((one for one in coded if one.n_levels < 2), None)
    if single is not None:
        return undefined(f"fewer than two levels of {single.name}")
    dense = sum(one.n_levels for one in coded) - max(one.n_levels for one in coded)
    if dense > _MOST_LEVELS:
        raise InputError(
            f"factors {joined(levels)} of {shown(name)}: all but the largest have {dense:,} levels "
            f"in all; expected at most {_MOST_LEVELS:,}"
        )
    cells = CELL if CELL in factors else None
    model = MixedModel.of(value, coded, cells=cells)
    if np.ptp(value) == 0:
        return undefined("no variance")
    alike = next((one for one in coded if _is_constant_within(one, value)), None)
    if alike is not None:
        return undefined(f"answers to one {alike.name} never differ, which leaves no residual")
    levels[CELL] = model.size.size
    if cells and model.size.size == value.size:
        return undefined("no rater answered anything twice")
    if _confounded(coded, value.size):
        return _Label(name, counts, levels, None, _NONE_APART)
    return _Label(name, counts, levels, fit(model))


def _is_constant_within(factor: Factor, value: Floats) -> bool:
    """Whether a factor with several answers to a level leaves nothing to explain."""
    if factor.n_levels == value.size:
        return False
    low, high = np.full((2, factor.n_levels), np.inf)
    np.minimum.at(low, factor.level, value)
    np.minimum.at(high, factor.level, -value)
    return bool((low == -high).all())


def _confounded(factors: Sequence[Factor], n: int) -> bool:
    """Whether a factor has a level of its own for each answer, or two have the same levels."""
    codes = [np.unique(one.level, return_index=True, return_inverse=True)[1:] for one in factors]
    # Levels numbered as they first occur are the same numbers for the same partition.
    same = {tuple(first[inverse].tolist()) for first, inverse in codes}
    return len(same) < len(factors) or any(one.n_levels == n for one in factors)


def _cut(confidence: float) -> float:
    from scipy.special import chdtri

    return float(chdtri(1, 1 - confidence))


def _component_rows(
    part: _Label, factors: Sequence[str], confidence: float
) -> Iterator[dict[str, Any]]:
    found = part.solution
    for factor in (*factors, RESIDUAL):
        row = {
            "label": part.name,
            "factor": factor,
            "value": np.nan,
            "low": np.nan,
            "high": np.nan,
            "share": np.nan,
            "method": _method(found),
            "n_levels": part.counts["n_ratings"] if factor == RESIDUAL else part.levels.get(factor),
            **part.counts,
            "status": part.status,
        }
        if found is not None:
            variances = _variances(found)
            value = variances[factor]
            row |= {"value": value, "share": value / sum(variances.values())}
            if found.model.n <= _MOST_PROFILED:
                with one_core(found.model):
                    row["low"], row["high"] = profile_interval(
                        of_variance(found, factor), value, found.deviance(), _cut(confidence)
                    )
        yield row


def _variances(found: Solution) -> dict[str, float]:
    names = found.model.names
    own = {name: float(t) * found.residual for name, t in zip(names, found.theta, strict=True)}
    return {**own, RESIDUAL: found.residual}


def _reliability_rows(
    part: _Label, factors: Sequence[str], k: Sequence[int], confidence: float
) -> Iterator[dict[str, Any]]:
    for kind in ("agreement", "consistency"):
        apart = {STIMULUS} if kind == "agreement" else {STIMULUS, RATER}
        one = _single(part.solution, [one for one in factors if one not in apart], confidence)
        for n in k:
            value, low, high = n * one / (1 + (n - 1) * one)
            yield {
                "label": part.name,
                "coefficient": kind,
                "raters": str(n),
                "value": value,
                "low": low,
                "high": high,
                "method": _method(part.solution),
                **part.counts,
                "status": part.status,
            }


def _single(found: Solution | None, noise: Sequence[str], confidence: float) -> Floats:
    """Reliability of one rating with the ends of its interval."""
    from scipy.special import expit, logit

    if found is None:
        return np.full(3, np.nan)
    variances = _variances(found)
    signal, rest = variances[STIMULUS], sum(variances[one] for one in (*noise, RESIDUAL))
    value = signal / (signal + rest)
    if found.model.n > _MOST_PROFILED or value >= 1 - _ROUNDING:
        return np.array([value, np.nan, np.nan])
    with one_core(found.model):
        low, high = profile_interval(
            of_ratio(found, STIMULUS, noise),
            value,
            found.deviance(),
            _cut(confidence),
            link=logit,
            inverse=expit,
        )
    return np.array([value, low, high])


def _method(found: Solution | None) -> str:
    if found is None or found.model.n <= _MOST_PROFILED:
        return "REML, interval by profile likelihood"
    return f"REML; {NO_INTERVAL}more than 3 million answers"


def _table(
    name: str,
    caption: str,
    rows: Sequence[dict[str, Any]],
    keys: Sequence[str],
    extra: dict[str, Any],
    columns: Sequence[Column],
    **more: Any,
) -> Table:
    none = Estimates.build({key: [] for key in keys}, value=[])
    made = Estimates.of_rows(rows, keys, extra) if rows else none
    return replace(made.tables[0], name=name, caption=caption, columns=tuple(columns), **more)


def _sentences(components: pl.DataFrame, reliability: pl.DataFrame) -> Iterator[str]:
    known = components.filter(pl.col("status") == "ok")
    n_labels = components["label"].n_unique()
    if known.is_empty():
        yield f"No variance can be split: {components['status'][0].removeprefix('undefined: ')}."
        return
    if n_labels == 1:
        shares = [f"{row['factor']} {percent(row['share'])}" for row in known.iter_rows(named=True)]
        yield f"Of the variance of the answers: {joined(shares)}."
    else:
        means = known.group_by("factor", maintain_order=True).agg(pl.col("share").mean())
        shares = [f"{factor} {percent(share)}" for factor, share in means.iter_rows()]
        labels = plural(n_labels, "label")
        yield f"Of the variance of the answers, on average over {labels}: {joined(shares)}."
    if n_labels > 1:
        return
    agreement = reliability.filter(coefficient="agreement", status="ok")
    for row in agreement.unique("raters", keep="first").sort("value").iter_rows(named=True):
        who = "one rating" if row["raters"] == "1" else f"the mean of {row['raters']} raters"
        low, high = number(row["low"]), number(row["high"])
        ends = f" ({low} to {high})" if row["low"] == row["low"] else ""
        yield f"The reliability of {who} is {number(row['value'])}{ends}."
