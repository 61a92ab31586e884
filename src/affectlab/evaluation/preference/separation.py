"""Does a metric see what people prefer?"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.estimates import Estimates
from affectlab.core.inference import Uncertainty, check_confidence, draw_weights, summarise
from affectlab.core.tables import Interval, PValue, Value
from affectlab.core.types import Bools, Floats
from affectlab.core.words import joined, number, option
from affectlab.evaluation.differences import labels_as_metrics
from affectlab.evaluation.preference.areas import (
    area,
    delong_errors,
    logit_interval,
    replicated_areas,
)
from affectlab.evaluation.preference.choices import is_both, is_system
from affectlab.evaluation.preference.preferences import Preferences, preferences
from affectlab.evaluation.preference.tally import Rule
from affectlab.ratings import Ratings
from affectlab.ratings.order import canonical

__all__ = ["metric_sees_preference"]

STATISTICS = ("auc", "auc_delong", "mean_good", "mean_poor", "difference")
_AT_ONCE = 256


@dataclass(frozen=True, eq=False)
class _Judged:
    """Values of metrics on items that are good or poor."""

    metrics: tuple[str, ...]
    values: Floats
    """Shape (metrics, n), ``nan`` where a metric says nothing."""
    good: Bools
    left_out: int
    what: str
    """Good and poor in words."""


def metric_sees_preference(
    ratings: Preferences | Ratings | Sequence[str],
    models: Ratings | ArrayLike | None = None,
    *,
    systems: Sequence[str] | None = None,
    rule: Rule = "majority",
    system: str | None = None,
    good: Collection[str] | None = None,
    poor: Collection[str] | None = None,
    names: Sequence[str] | None = None,
    n_boot: int = 1000,
    n_permutations: int = 9999,
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
) -> Estimates:
    r"""Ask whether a metric scores what people accept above what they reject.

    The metric scores what one system made, a machine's captions for example. An item is *good*
    where people choose that system or both, *poor* where they choose the other, and left out
    otherwise: an item of which people accept neither says nothing about the metric. The area under
    the curve is the chance that the metric is higher on a good item than on a poor one, ties
    counting half; 0.5 is blind.

    Parameters
    ----------
    ratings
        As for :func:`preferences`, or its result; or what people chose on each item, n names.
    models
        Ratings of which each rater (or label) is a metric, and stimuli are the items; or, beside
        names, an array of shape (n,) or (metrics, n), ``nan`` where a metric says nothing.
    systems
        The two systems, where others are compared, too.
    rule
        What makes the verdict of an item with several votes: more than half of them, or more than
        any other choice.
    system
        The system whose output the metric scores; by default the one called model or machine.
    good
        Verdicts that count as good, in place of what follows from the system.
    poor
        Verdicts that count as poor, in place of what follows from the system.

        With ``poor=["human", "neither"]`` items on which both are bad count, too.
    names
        Names of the metrics, with an array.
    n_boot
        Bootstrap replicates over items; 0 for no interval.

        ``auc_delong`` has one anyway.
    n_permutations
        Random relabellings of good and poor for the p-values; 0 for none.
    confidence
        Coverage of the intervals, in (0, 1).
    seed
        Seed or generator; the same seed gives the same bytes.

    Returns
    -------
    Estimates by ``metric`` and ``statistic``: ``auc``; ``auc_delong``, the same with the error of
    DeLong (1988) as a check; ``mean_good`` and ``mean_poor``; and their ``difference``. Intervals
    of the area are made on the scale of log odds, the others of percentiles. Extra columns ``p``
    (two-sided permutation test, for ``auc`` and ``difference``), ``n_good``, ``n_poor`` and
    ``n_left_out``.

    Raises
    ------
    InputError
        If verdicts and values do not fit each other, or none is good or poor.

    References
    ----------
    Socratis (2023), section 4, which compares group means; the area does not depend on the scale
    of a metric and comes with an interval.

    Examples
    --------
    >>> verdicts = ["model", "both", "human", "human", "neither", "model"]
    >>> found = metric_sees_preference(verdicts, [0.9, 0.7, 0.4, 0.8, 0.1, 0.6], seed=0)
    >>> found["0", "auc"]
    Estimate(0.667, chance that a good item (model, both) scores above a poor one (human), ...)
    """
    if models is None:
        given = option("models", "clipscore.csv")
        raise InputError(f"the values of a metric are missing; expected {given}")
    verdicts = ratings
    if isinstance(verdicts, Ratings):
        verdicts = preferences(verdicts, systems=systems, rule=rule)
    values = canonical(models, listed="raters")
    check_confidence(confidence)
    for name, n in (("n_boot", n_boot), ("n_permutations", n_permutations)):
        if n < 0:
            raise InputError(f"{name} {n}: expected 0 or a number of draws")
    judged = _judged(values, verdicts, system, good, poor, names)
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 2**63, size=2)
    tables = [
        _one(judged, m, n_boot, n_permutations, confidence, [int(bit) for bit in bits])
        for m in range(len(judged.metrics))
    ]
    frame = pl.concat([table.frame for table in tables])
    made = Estimates.of(frame, ("metric", "statistic"), sentences=_sentences(frame))
    what = frame["method"][0].partition(", area")[0]
    one = frame.row(0, named=True)
    return made.laid_out(
        Value(),
        Interval(),
        PValue("p", "p"),
        name="separation",
        caption="Does the metric see it?",
        notes=(
            f"auc: {what}; 0.5 is blind",
            f"{one['n_good']:,} good items, {one['n_poor']:,} poor, {one['n_left_out']:,} left out",
        ),
    )


def _sentences(frame: pl.DataFrame) -> tuple[str, ...]:
    said = []
    for row in frame.filter(statistic="auc").iter_rows(named=True):
        ends = ""
        if row["low"] == row["low"]:
            ends = f" ({number(row['low'])} to {number(row['high'])})"
        if not ends:
            verdict = "there is no interval"
        elif row["low"] > 0.5:
            verdict = "it scores what people accept higher"
        elif row["high"] < 0.5:
            verdict = "it scores what people accept lower"
        else:
            verdict = "it is not shown to tell what people accept from what they reject"
        said.append(f"{row['metric']}: AUC {number(row['value'])}{ends}; {verdict}.")
    return tuple(said)


def _judged(
    values: Ratings | ArrayLike,
    verdicts: Preferences | Sequence[str],
    system: str | None,
    good: Collection[str] | None,
    poor: Collection[str] | None,
    names: Sequence[str] | None,
) -> _Judged:
    if isinstance(values, Ratings):
        if not isinstance(verdicts, Preferences):
            raise InputError("values are ratings; expected verdicts from preferences")
        if names is not None:
            raise InputError("names goes with an array; ratings name their raters themselves")
        metrics, matrix, said = _by_name(values, verdicts)
    else:
        metrics, matrix = _array(values, names)
        said = _names_of(verdicts)
    if len(said) != matrix.shape[1]:
        raise InputError(f"{matrix.shape[1]} values and {len(said)} verdicts; expected as many")
    pair = verdicts.systems if isinstance(verdicts, Preferences) else None
    roles = _roles(sorted(set(said)), pair, system, good, poor)
    role = np.array([roles.get(name, "") for name in said])
    kept = role != ""
    for wanted in ("good", "poor"):
        if not (role == wanted).any():
            these = [name for name, of in roles.items() if of == wanted]
            raise InputError(
                f"no verdict is {wanted} ({joined(map(repr, these)) if these else 'none named'}); "
                f"the verdicts are {', '.join(sorted(set(said))[:8])}"
            )
    what = {
        of: ", ".join(name for name in roles if roles[name] == of and name in said)
        for of in ("good", "poor")
    }
    return _Judged(
        metrics=metrics,
        values=matrix[:, kept],
        good=role[kept] == "good",
        left_out=int((~kept).sum()),
        what=f"chance that a good item ({what['good']}) scores above a poor one ({what['poor']})",
    )


def _roles(
    said: Sequence[str],
    pair: tuple[str, str] | None,
    system: str | None,
    good: Collection[str] | None,
    poor: Collection[str] | None,
) -> dict[str, str]:
    """Which verdicts are good and which poor; those that are neither are not there."""
    if good is not None and poor is not None:
        both = set(good) & set(poor)
        if both:
            raise InputError(f"verdict {min(both)!r} is both good and poor; expected one")
        return dict.fromkeys(good, "good") | dict.fromkeys(poor, "poor")
    systems = list(pair) if pair is not None else [name for name in said if is_system(name)]
    if system is None:
        likely = [name for name in systems if any(w in name.casefold() for w in _MACHINES)]
        if len(likely) != 1:
            raise InputError(
                f"whose output the metric scores is not told by {', '.join(systems) or 'nothing'}; "
                "expected system to name it, or good and poor the verdicts"
            )
        system = likely[0]
    if system not in systems:
        raise unknown_name("system", system, systems)
    accepted = {system, *(name for name in said if is_both(name))} if good is None else set(good)
    rejected = set(systems) - {system} if poor is None else set(poor)
    return dict.fromkeys(sorted(rejected - accepted), "poor") | dict.fromkeys(
        [name for name in (system, *sorted(accepted - {system})) if name in accepted], "good"
    )


_MACHINES = ("model", "machine")


def _array(values: ArrayLike, names: Sequence[str] | None) -> tuple[tuple[str, ...], Floats]:
    try:
        matrix = np.atleast_2d(np.asarray(values, dtype=np.float64))
    except (TypeError, ValueError):
        raise InputError("values: expected an array of numbers") from None
    if matrix.ndim != 2:
        raise InputError(f"values of shape {matrix.shape}: expected (n,) or (metrics, n)")
    if np.isinf(matrix).any():
        raise InputError("a value is infinite; expected numbers, or nan where there is none")
    found = tuple(map(str, range(matrix.shape[0]) if names is None else names))
    if len(found) != matrix.shape[0] or len(set(found)) != len(found):
        raise InputError(f"names {list(found)!r}: expected {matrix.shape[0]} different names")
    return found, matrix


def _names_of(verdicts: Preferences | Sequence[str]) -> list[str]:
    if isinstance(verdicts, Preferences):
        return [str(name) for name in verdicts.verdicts()["verdict"].to_list()]
    if isinstance(verdicts, str):
        raise InputError("verdicts is one word; expected one for each item")
    return ["" if name is None else str(name) for name in verdicts]


def _by_name(values: Ratings, verdicts: Preferences) -> tuple[tuple[str, ...], Floats, list[str]]:
    """Align metrics with verdicts by the names of items."""
    from affectlab.ratings.arrays import answers_of, require_order

    require_order(values, "the area under the curve")
    frame = verdicts.verdicts()
    place = {name: k for k, name in enumerate(frame["item"].to_list())}
    answers = answers_of(labels_as_metrics(values) if values.has_labels else values)
    at = np.array([place.get(name, -1) for name in answers.units], dtype=np.int64)[answers.unit]
    if not (at >= 0).any():
        raise InputError("the values and the verdicts share no item; expected the same names")
    matrix = np.full((len(answers.raters), len(place)), np.nan)
    matrix[answers.rater[at >= 0], at[at >= 0]] = answers.value[at >= 0]
    return answers.raters, matrix, frame["verdict"].to_list()


def _one(
    judged: _Judged, m: int, n_boot: int, n_permutations: int, confidence: float, bits: list[int]
) -> Estimates:
    """Everything about one metric; metrics that score the same items share their draws."""
    known = ~np.isnan(judged.values[m])
    x, good = judged.values[m, known], judged.good[known]
    n_good, n_poor = int(good.sum()), int((~good).sum())
    point = np.array([area(x, good), *_means(x, good, np.ones((1, x.size)))[0]])
    spread = Uncertainty.none(4)
    method = [f"{judged.what}, area under the curve"] + [f"{name} of the metric" for name in _MEANS]
    if n_boot:
        drawn = _replicates(x, good, n_boot, np.random.default_rng(bits[0]))
        spread = summarise(point, drawn, confidence)
        # The percentiles of an area near 1 are too high with few items; see logit_interval.
        spread.low[0], spread.high[0] = logit_interval(point[0], spread.se[0], confidence)
        kinds = ["logit interval, bootstrap", *["percentile bootstrap"] * 3]
        method = [
            f"{text}; {kind}, {n_boot} replicates" + (f"; {why}" if why else "")
            for text, kind, why in zip(method, kinds, spread.missing, strict=True)
        ]
    p_area, p_means = _permuted(x, good, n_permutations, np.random.default_rng(bits[1]))
    error = delong_errors(x, good)[1]
    if error == 0:
        error = np.nan
    check = float(point[0])
    low, high = logit_interval(check, error, confidence)
    enough = n_good > 0 and n_poor > 0
    status = np.where(np.isnan(point), "undefined: no good or no poor item with a value", "ok")
    table = Estimates.build(
        {"metric": [judged.metrics[m]] * 5, "statistic": list(STATISTICS)},
        value=_beside(point, check),
        se=_beside(spread.se, error),
        low=_beside(spread.low, low),
        high=_beside(spread.high, high),
        method=[
            method[0],
            f"{judged.what}, area under the curve; DeLong"
            + ("" if error == error else ", no interval: no item varies"),
            *method[1:],
        ],
        resampled=["units" if n_boot and name != "auc_delong" else "none" for name in STATISTICS],
        n_items=n_good + n_poor,
        n_raters=0,
        n_ratings=n_good + n_poor,
        status=[status[0], "ok" if enough else status[0], *status[1:]],
    )
    extra = [
        pl.Series("p", [p_area, np.nan, np.nan, np.nan, p_means]),
        pl.Series("n_good", [n_good] * 5, dtype=pl.Int64),
        pl.Series("n_poor", [n_poor] * 5, dtype=pl.Int64),
        pl.Series("n_left_out", [judged.left_out] * 5, dtype=pl.Int64),
    ]
    return table.with_columns(extra)


_MEANS = ("mean over good items", "mean over poor items", "difference of the means")


def _beside(values: Floats, second: float) -> list[float]:
    """Put DeLong's number behind the first one."""
    return [float(values[0]), float(second), *map(float, values[1:])]


def _means(x: Floats, good: Bools, weights: Floats) -> Floats:
    """Means over good and poor items and their difference, shape (replicates, 3)."""
    # Values are summed about their mean, so that far from 0 digits are kept.
    centre = float(x.mean()) if x.size else 0.0
    with np.errstate(invalid="ignore", divide="ignore"):
        high, low = (
            (weights[:, side] @ (x[side] - centre)) / weights[:, side].sum(axis=1)
            for side in (good, ~good)
        )
    return np.stack([high + centre, low + centre, high - low], axis=1)


def _replicates(x: Floats, good: Bools, n_boot: int, rng: np.random.Generator) -> Floats:
    out = []
    for start in range(0, n_boot, _AT_ONCE):
        weights = np.concatenate(list(draw_weights(rng, x.size, min(_AT_ONCE, n_boot - start))))
        areas = replicated_areas(x, good, weights)
        out.append(np.column_stack([areas, _means(x, good, weights)]))
    return np.concatenate(out)


def _permuted(x: Floats, good: Bools, n: int, rng: np.random.Generator) -> tuple[float, float]:
    """Two-sided p-values of the area and of the difference of means."""
    n_good = int(good.sum())
    if not n or not 0 < n_good < x.size:
        return float("nan"), float("nan")
    from scipy.stats import rankdata

    # Given the values, area and difference rise with the sums of ranks and values of good items.
    columns = np.column_stack([rankdata(x), x])
    columns = columns - columns.mean(axis=0)
    found = np.abs(columns[good].sum(axis=0))
    beyond = np.zeros(2)
    size = max(1, (1 << 22) // x.size)
    for start in range(0, n, size):
        drawn = _relabelled(good, min(size, n - start), rng)
        sums = np.abs(drawn @ columns)
        beyond += (sums >= found * (1 - 1e-12) - 1e-300).sum(axis=0)
    p = (beyond + 1) / (n + 1)
    return float(p[0]), float(p[1])


def _relabelled(good: Bools, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    labels = np.tile(good.astype(np.float64), (n, 1))
    shuffled: NDArray[np.float64] = rng.permuted(labels, axis=1)
    return shuffled
