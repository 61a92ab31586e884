from __future__ import annotations

import math
import warnings
from math import nan

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import optimize, stats

from affectlab import Ratings
from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Formula, Reason
from affectlab.ratings.answers.arrays import answers_of
from affectlab.reliability import (
    brennan_prediger,
    fleiss_kappa,
    gwet_ac,
    intraclass_correlation,
    krippendorff_alpha,
    percent_agreement,
    variance_components,
)
from affectlab.reliability.agreement.wording import COMPLETE_UNITS, PAIRED_UNIT, listwise

RAW4 = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, nan, nan, nan],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, nan, nan],
    [nan, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 3],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, nan],
]
"""The data set cac.raw4raters of the R package irrCAC (Gwet 2014), raters in rows."""

DISTRIBUTION = [
    [0, 0, 0, 6, 0],
    [0, 3, 0, 0, 3],
    [0, 1, 4, 0, 1],
    [0, 0, 0, 0, 6],
    [0, 3, 0, 3, 0],
    [2, 0, 4, 0, 0],
    [0, 0, 4, 0, 2],
    [2, 0, 3, 1, 0],
    [2, 0, 0, 4, 0],
    [0, 0, 0, 0, 6],
    [1, 0, 0, 5, 0],
    [1, 1, 0, 4, 0],
    [0, 3, 3, 0, 0],
    [1, 0, 0, 5, 0],
    [0, 2, 0, 3, 1],
]
"""Diagnoses of 15 patients by 6 psychiatrists: distrib.6raters of irrCAC, after Fleiss (1971)."""

SHROUT_FLEISS = [
    [9, 6, 8, 7, 10, 6],
    [2, 1, 4, 1, 5, 2],
    [5, 3, 6, 2, 6, 4],
    [8, 2, 8, 6, 9, 7],
]


def from_distribution(counts: list[list[int]]) -> np.ndarray:
    rows = [np.repeat(np.arange(len(row)), row) for row in counts]
    return np.array(rows, dtype=float).T


@pytest.mark.parametrize(
    ("function", "weights", "value", "se", "digits"),
    [
        (fleiss_kappa, "nominal", 0.76117, 0.15302, 5),
        (gwet_ac, "nominal", 0.77544, 0.14295, 5),
        (fleiss_kappa, "linear", 0.818, 0.149, 3),
        (fleiss_kappa, "quadratic", 0.865, 0.146, 3),
        (gwet_ac, "linear", 0.859, 0.117, 3),
        (gwet_ac, "quadratic", 0.914, 0.104, 3),
    ],
)
def test_published_values_with_gaps(function, weights, value, se, digits) -> None:
    found = function(
        RAW4,
        weights=weights,
        scale="1-5",
        interval="analytic",
        target="stimuli",
        standard_error="gwet",
    )
    assert round(found.value, digits) == value
    assert round(found.se, digits) == se
    assert found.high == 1
    assert found.n_items == 11
    assert found.n_ratings == 41


def test_published_intervals() -> None:
    options = {
        "scale": "1-5",
        "standard_error": "gwet",
        "interval": "analytic",
        "target": "stimuli",
    }
    assert round(fleiss_kappa(RAW4, **options).low, 3) == 0.424
    assert round(gwet_ac(RAW4, **options).low, 3) == 0.461
    assert round(gwet_ac(RAW4, weights="quadratic", **options).low, 3) == 0.685


def test_published_values_without_gaps() -> None:
    data = from_distribution(DISTRIBUTION)
    kappa, ac = (
        function(data, scale="0-4", interval="analytic", target="stimuli")
        for function in (fleiss_kappa, gwet_ac)
    )
    assert kappa.value == pytest.approx(0.4139265, abs=5e-8)
    assert kappa.se == pytest.approx(0.08119291, abs=5e-9)
    assert ac.value == pytest.approx(0.4448007, abs=5e-8)
    assert ac.se == pytest.approx(0.08418757, abs=5e-9)
    assert percent_agreement(data).value == pytest.approx(0.5511111, abs=5e-8)


def test_prevalence_paradox() -> None:
    a = [0] * 95 + [1, 1, 0, 0, 0]
    b = [0] * 95 + [0, 0, 1, 1, 0]
    assert fleiss_kappa([a, b], scale="binary").value < 0
    assert gwet_ac([a, b], scale="binary").value > 0.9


def test_declared_levels_change_gwet_and_not_fleiss() -> None:
    data = [[1, 2, 1, 2, 1], [1, 2, 2, 2, 1]]
    assert fleiss_kappa(data, scale="1-2").value == fleiss_kappa(data, scale="1-7").value
    assert gwet_ac(data, scale="1-2").value < gwet_ac(data, scale="1-7").value


def test_what_is_not_defined() -> None:
    assert fleiss_kappa([[1, 1], [1, 1]], scale="1-3").reason == Reason(Cause.ONE_CATEGORY)
    assert gwet_ac([[1, 1], [1, 1]], scale="1-3").value == 1
    lonely = [[1, nan], [nan, 2]]
    for function in (fleiss_kappa, gwet_ac):
        assert function(lonely, scale="1-3").reason == Reason(Cause.NONE, of=PAIRED_UNIT)
        with pytest.raises(InputError, match="off"):
            function([[1, 9], [1, 2]], scale="1-3")
        with pytest.raises(InputError, match="scale"):
            function([[1, 2], [1, 2]])


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["nominal", "linear", "quadratic"]))
def test_plain_twin_and_symmetries(seed: int, weights: str) -> None:
    rng = np.random.default_rng(seed)
    data = rng.integers(0, 4, (4, 12)).astype(float)
    data[rng.random(data.shape) < 0.3] = nan
    steps = np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
    d = {"nominal": (steps > 0) * 1.0, "linear": steps / 3, "quadratic": (steps / 3) ** 2}[weights]
    columns = [column[~np.isnan(column)].astype(int) for column in data.T]
    columns = [column for column in columns if column.size]
    pairs = [
        np.mean([1 - d[a, b] for i, a in enumerate(c) for j, b in enumerate(c) if i != j])
        for c in columns
        if c.size > 1
    ]
    pi = np.mean([np.bincount(c, minlength=4) / c.size for c in columns], axis=0)
    found = {f: f(data, weights=weights, scale="0-3") for f in (fleiss_kappa, gwet_ac)}
    if not pairs:
        assert all(np.isnan(one.value) for one in found.values())
        return
    chance = {
        fleiss_kappa: pi @ (1 - d) @ pi,
        gwet_ac: (1 - d).sum() / 12 * (pi @ (1 - pi)),
    }
    for function, estimate in found.items():
        if chance[function] < 1 - 1e-9:
            expected = (np.mean(pairs) - chance[function]) / (1 - chance[function])
            assert estimate.value == pytest.approx(expected, abs=1e-10)
        shuffled = function(
            data[rng.permutation(4)][:, rng.permutation(12)], weights=weights, scale="0-3"
        )
        assert shuffled.value == pytest.approx(estimate.value, abs=1e-10, nan_ok=True)


@pytest.mark.parametrize("gaps", [0.0, 0.3, 0.75])
def test_standard_error_is_that_of_resampled_units(gaps: float) -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, 600)
    exact = rng.random((5, 600)) < 0.95
    data = np.where(exact, truth, rng.integers(0, 3, (5, 600))).astype(float)
    data[rng.random(data.shape) < gaps] = nan
    for function in (fleiss_kappa, gwet_ac):
        drawn = [
            function(data[:, rng.integers(0, 600, 600)], scale="0-2").value for _ in range(400)
        ]
        linearised, gwet = (
            function(
                data, scale="0-2", interval="analytic", target="stimuli", standard_error=kind
            ).se
            for kind in ("linearised", "gwet")
        )
        assert linearised == pytest.approx(np.std(drawn), rel=0.15)
        if gaps == 0.0:
            assert gwet == pytest.approx(linearised, rel=1e-12)
        elif gaps == 0.75:
            # Most units have one rating or none.
            assert gwet > 2 * linearised


def test_shrout_and_fleiss() -> None:
    for missing in ("available", "listwise"):
        table = intraclass_correlation(SHROUT_FLEISS, missing=missing, interval="analytic")
        values = [round(estimate.value, 2) for _, estimate in table]
        assert values == [0.17, 0.29, 0.71, 0.44, 0.62, 0.91]
        # The intervals that R's psych::ICC prints for the same table, but for form 2, whose F
        # interval it prints: (0.019, 0.761).
        printed = {
            "1,1": (-0.133, 0.723),
            "2,1": (0.029, 0.759),
            "3,1": (0.342, 0.946),
            "1,k": (-0.884, 0.912),
            "2,k": (0.105, 0.926),
            "3,k": (0.676, 0.986),
        }
        for form, (low, high) in printed.items():
            assert table["rating", form].low == pytest.approx(low, abs=6e-4)
            assert table["rating", form].high == pytest.approx(high, abs=6e-4)
            assert table["rating", form].target == ("stimuli" if form[0] == "3" else "both")


def is_within_margins(squares: np.ndarray, n: int, k: int, x: float) -> bool:
    """Whether ICC(2,1) can be x by modified large samples (Cappelleri and Ting), in full."""
    upper = lambda d, e=1e12: stats.f.isf(0.025, d, e)  # noqa: E731
    lower = lambda d, e=1e12: stats.f.isf(0.975, d, e)  # noqa: E731
    free = (n - 1, k - 1, (n - 1) * (k - 1))
    unit, rater, rest = squares * ((1 - x) / k, x / n, (1 - x) / k + x * (1 - 1 / n))
    signal = unit - rater - rest
    g = [1 - 1 / upper(d) for d in free]
    h = [1 / lower(d) - 1 for d in free]
    below = (g[0] * unit) ** 2 + (h[1] * rater) ** 2 + (h[2] * rest) ** 2
    above = (h[0] * unit) ** 2 + (g[1] * rater) ** 2 + (g[2] * rest) ** 2
    for i, noise in ((1, rater), (2, rest)):
        f = upper(free[0], free[i])
        below += ((f - 1) ** 2 - (g[0] * f) ** 2 - h[i] ** 2) / f * unit * noise
        f = lower(free[0], free[i])
        above += ((1 - f) ** 2 - (h[0] * f) ** 2 - g[i] ** 2) / f * unit * noise
    a, b = free[1:]
    both = (1 - 1 / upper(a + b)) ** 2 * (a + b) ** 2 / (a * b)
    above += (both - g[1] ** 2 * a / b - g[2] ** 2 * b / a) * rater * rest
    return bool(-np.sqrt(max(above, 0)) <= signal <= np.sqrt(max(below, 0)))


@pytest.mark.parametrize(("n", "k", "spread"), [(30, 3, 0.7), (12, 5, 2.0), (200, 2, 0.3)])
def test_the_interval_of_form_2_has_the_values_within_its_margins(
    n: int, k: int, spread: float
) -> None:
    rng = np.random.default_rng(n)
    data = rng.normal(0, 1, (1, n)) + rng.normal(0, spread, (k, 1)) + rng.normal(0, 1, (k, n))
    found = intraclass_correlation(data, forms=["2,1"], interval="analytic")["rating", "2,1"]
    of_unit, of_rater = data.mean(0), data.mean(1)
    left = data - of_unit - of_rater[:, None] + data.mean()
    squares = np.array(
        [
            k * of_unit.var(ddof=1),
            n * of_rater.var(ddof=1),
            (left**2).sum() / ((n - 1) * (k - 1)),
        ]
    )
    for x in np.linspace(0.001, 0.999, 60):
        assert is_within_margins(squares, n, k, x) == (found.low <= x <= found.high)


@pytest.mark.parametrize(("n", "k", "spread"), [(300, 3, 0.7), (100, 3, 2.0), (30, 5, 0.7)])
def test_the_interval_of_form_2_holds_where_raters_differ(n: int, k: int, spread: float) -> None:
    """The F interval holds in 86, 84 and 94 % of such studies."""
    rng = np.random.default_rng(7)
    truth = 1 / (2 + spread**2)
    hits = 0
    for _ in range(300):
        data = rng.normal(0, 1, (1, n)) + rng.normal(0, spread, (k, 1)) + rng.normal(0, 1, (k, n))
        found = intraclass_correlation(data, forms=["2,1"], interval="analytic")["rating", "2,1"]
        hits += found.low <= truth <= found.high
    # Of 300 intervals that hold in 95 %, as few hold in one of 1,000 cases.
    assert hits >= 273


def test_no_interval_of_form_2_goes_below_0_from_above() -> None:
    rng = np.random.default_rng(5)
    for _ in range(50):
        found = intraclass_correlation(
            rng.normal(0, 1, (3, 8)), forms=["2,1"], interval="analytic"
        )["rating", "2,1"]
        assert found.low >= 0 if found.value > 0 else found.low == found.value
        assert found.value <= found.high <= 1


def one_way_twin(data: np.ndarray) -> float:
    """ICC(1,1) of unequal groups by restricted maximum likelihood, with matrices in full."""
    r, u = np.nonzero(~np.isnan(data))
    same, n = u[:, None] == u, u.size
    y, ones = data[r, u], np.ones((n, 1))

    def deviance(icc: float) -> float:
        inverse = np.linalg.inv((1 - icc) * np.eye(n) + icc * same)
        weight = ones.T @ inverse @ ones
        left = y @ inverse @ y - (ones.T @ inverse @ y) ** 2 / weight[0]
        return float(
            np.log(weight[0, 0]) - np.linalg.slogdet(inverse)[1] + (n - 1) * np.log(left[0])
        )

    best = optimize.minimize_scalar(
        deviance, bounds=(0, 0.999), method="bounded", options={"xatol": 1e-9}
    )
    return float(best.x)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_all_ratings_enter_by_default(seed: int) -> None:
    """Units with one rating, too: they tell how units differ."""
    rng = np.random.default_rng(seed)
    data = rng.normal(size=(6, 25)) + 2 * rng.normal(size=25)
    m = rng.integers(1, 7, 25)
    data[np.argsort(np.argsort(rng.random(data.shape), axis=0), axis=0) >= m] = nan
    table = intraclass_correlation(data)
    single = one_way_twin(data)
    k = 25 / (1 / m).sum()
    assert table["rating", "1,1"].value == pytest.approx(single, abs=1e-5)
    assert table["rating", "1,k"].value == pytest.approx(
        k * single / (1 + (k - 1) * single), abs=1e-5
    )
    frame = table.frame
    assert set(frame["n_ratings"]) == {int(m.sum())}
    assert set(frame["n_items"]) == {25}
    assert set(frame["n_dropped"]) == {0}
    assert set(frame["target"]) <= {"both", "stimuli", "none"}
    of_means = frame.filter(frame["form"].str.ends_with("k"))
    assert of_means["k"].to_numpy() == pytest.approx(k)
    r, u = np.nonzero(~np.isnan(data))
    ratings = Ratings({"stimulus": u, "rater": r, "value": data[r, u]}, scale="interval")
    components = variance_components(ratings, k=[1]).to_frame("reliability")
    for form, row in zip(("2,1", "3,1"), components.iter_rows(named=True), strict=True):
        for end in ("value", "low", "high"):
            assert getattr(table["rating", form], end) == pytest.approx(row[end], abs=1e-6)


def test_all_ratings_recover_the_variances() -> None:
    rng = np.random.default_rng(2)
    values = []
    for _ in range(30):
        data = (
            rng.normal(0, 2, (1, 150)) + rng.normal(0, 1, (12, 1)) + rng.normal(0, 1.5, (12, 150))
        )
        data[np.argsort(rng.random(data.shape), axis=0) >= 4] = nan
        values.append(intraclass_correlation(data).frame["value"].to_numpy())
    single, consistent = 4 / (4 + 1 + 2.25), 4 / (4 + 2.25)
    expected = [
        single,
        single,
        consistent,
        4 / (4 + 3.25 / 4),
        4 / (4 + 3.25 / 4),
        4 / (4 + 2.25 / 4),
    ]
    np.testing.assert_allclose(np.mean(values, axis=0), expected, atol=0.03)


def test_reliability_of_means_where_their_number_varies() -> None:
    """ICC(1,k) is the squared correlation of means with what they estimate."""
    rng = np.random.default_rng(6)
    n = 20_000
    true = rng.normal(0, 1, n)
    m = rng.choice([1, 2, 8], n, p=[0.3, 0.4, 0.3])
    data = true + rng.normal(0, 1.5, (8, n))
    data[np.arange(8)[:, None] >= m] = nan
    found = intraclass_correlation(data, forms=["1,k"])["rating", "1,k"]
    assert found.value == pytest.approx(
        np.corrcoef(np.nanmean(data, axis=0), true)[0, 1] ** 2, abs=0.02
    )


def panel_with_gaps(rng: np.random.Generator) -> np.ndarray:
    """Raters whose SD is .7 of that of units, where leaving out units covered .48 to .84."""
    data = rng.normal(0, 1, 40) + rng.normal(0, 0.7, (5, 1)) + rng.normal(0, 1, (5, 40))
    data[rng.random(data.shape) < 0.4] = nan
    return data


def other_raters_for_every_unit(rng: np.random.Generator) -> np.ndarray:
    data = rng.normal(0, 1, 40) + rng.normal(0, 1, (5, 40))
    data[np.arange(5)[:, None] >= rng.permutation(np.resize([1, 2, 3, 5], 40))] = nan
    return data


@pytest.mark.long
@pytest.mark.parametrize("interval", ["jackknife", "analytic"])
@pytest.mark.parametrize(
    ("study", "truth"),
    [
        (panel_with_gaps, {"2,1": 1 / 2.49, "3,1": 1 / 2}),
        (other_raters_for_every_unit, {"1,1": 1 / 2}),
    ],
)
def test_intervals_with_gaps_hold(study, truth, interval) -> None:
    hits = dict.fromkeys(truth, 0)
    for seed in range(200):
        table = intraclass_correlation(
            study(np.random.default_rng(seed)), forms=list(truth), interval=interval
        )
        for form, value in truth.items():
            hits[form] += table["rating", form].low <= value <= table["rating", form].high
    # One of 95 % fails this once in 10,000 times.
    assert min(hits.values()) >= 177


def crowd(n: int, seed: int) -> np.ndarray:
    """Five of six raters for all of ``n`` units but the first 9, which all six rated."""
    rng = np.random.default_rng(seed)
    data = rng.normal(0, 0.3, n) + rng.normal(0, 0.3, (6, 1)) + rng.normal(0, 0.9, (6, n))
    data = np.clip(np.round(data + 3), 1, 5)
    data[rng.integers(0, 6, n - 9), np.arange(9, n)] = nan
    return data


def test_nine_complete_units_of_a_crowd() -> None:
    """With this seed the nine give a variance between units below zero, and ICC(1,k) below -1."""
    data = crowd(2000, 7)
    table = intraclass_correlation(data)
    assert set(table.frame["n_items"]) == {2000}
    assert set(table.frame["status"]) == {"ok"}
    assert table["rating", "1,k"].value > 0.1
    complete = intraclass_correlation(data, missing="listwise")
    for (_, form), estimate in complete:
        assert listwise(1991) in estimate.options
        assert estimate.n_items == 9
        if form.endswith("k"):
            assert estimate.reason == Reason(Cause.NEGATIVE_VARIANCE)
            assert math.isnan(estimate.value)
            assert math.isnan(estimate.low)
        else:
            assert -0.2 < estimate.value < 0
            assert estimate.high > 0
    assert set(complete.frame["n_dropped"]) == {1991}


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["available", "listwise"]))
def test_values_are_those_of_correlations(seed: int, missing: str) -> None:
    """Of tiny tables: single forms in [-1, 1], reliabilities of means in [0, 1], or a reason."""
    rng = np.random.default_rng(seed)
    data = rng.integers(0, 4, (rng.integers(2, 5), rng.integers(2, 7))).astype(float)
    data[rng.random(data.shape) < 0.3] = nan
    if not (~np.isnan(data)).any():
        return
    for (_, form), estimate in intraclass_correlation(data, missing=missing):
        if estimate.ok:
            assert (0 if form.endswith("k") else -1) <= estimate.value <= 1
            assert not estimate.high > 1
        else:
            assert math.isnan(estimate.value)
            assert math.isnan(estimate.low)
            assert estimate.reason is not None


@pytest.mark.parametrize("apart", [0.0, 1e-7])
def test_units_alike_on_average_have_no_interval(apart: float) -> None:
    """What units differ in is what the interval has degrees of freedom and a width from.

    Mean squares of units 0, of raters 4 and of the residual 1/2: the coefficient is -1/9.
    """
    data = np.array([[0.0, 0, 1], [2, 3, 2], [3, 2, 2]]) + apart * np.arange(3)
    row = intraclass_correlation(data, forms=["2,1"], interval="analytic")["rating", "2,1"]
    assert row.value == pytest.approx(-1 / 9, abs=1e-6)
    assert row.reason == Reason(Cause.NO_VARIATION)


def test_raters_who_differ_in_level_alone() -> None:
    levels = np.array([3.0, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]) + 2 * np.arange(4)[:, None]
    table = intraclass_correlation(levels, interval="analytic")
    assert table["rating", "2,1"].reason == Reason(Cause.ONLY_LEVELS)
    assert table["rating", "2,1"].interval is None
    assert table["rating", "1,1"].interval.formula is Formula.F
    levels[1, 3] = nan
    gap = intraclass_correlation(levels, interval="analytic")
    for form in ("3,1", "3,k"):
        row = gap["rating", form]
        assert (row.value, row.ok, row.target) == (1.0, True, "none")
        assert row.reason == Reason(Cause.NO_VARIATION)
    assert gap["rating", "2,1"].reason == Reason(Cause.ONLY_LEVELS)
    assert gap["rating", "2,1"].value == pytest.approx(table["rating", "2,1"].value)
    flat = intraclass_correlation(np.full((3, 5), 0.1))["rating", "1,1"]
    assert flat.interval is None
    assert flat.reason == Reason(Cause.NONE, of="variance")


def test_units_alike_have_a_reliability_of_0() -> None:
    """Where mean squares would make the variance between units negative."""
    data = np.random.default_rng(0).normal(size=(4, 12))
    data -= data.mean(axis=0)
    data[0, 0] = nan
    table = intraclass_correlation(data, interval="analytic")
    for _, row in table:
        assert (row.value, row.low, row.ok) == (0, 0, True)
        assert row.high > 0


def test_means_that_are_all_the_same() -> None:
    """All that varies is within units."""
    data = [[nan, 2.0, 0.0], [0.0, nan, 2.0], [nan, 1.0, nan], [2.0, 0.0, nan]]
    row = intraclass_correlation(data, forms=["1,1"], interval="analytic")["rating", "1,1"]
    assert (row.value, row.low, row.ok) == (0, 0, True)


def test_what_intraclass_correlations_cannot_say() -> None:
    lonely = [[1, nan, 3], [nan, 2, nan]]
    for data, reason in (
        ([[1, 2, 3]], Reason(Cause.FEWER, least=2, of="raters")),
        (lonely, Reason(Cause.NONE, of=PAIRED_UNIT)),
        ([[1, nan], [2, nan]], Reason(Cause.FEWER, least=2, of=COMPLETE_UNITS)),
    ):
        assert intraclass_correlation(data)["rating", "1,1"].reason == reason
    for missing in ("available", "listwise"):
        flat = intraclass_correlation(np.full((3, 5), 0.1), missing=missing)
        assert flat["rating", "2,1"].reason == Reason(Cause.NONE, of="variance")
    # Every rater rated one unit.
    apart = np.full((6, 3), nan)
    apart[np.arange(6), np.arange(6) // 2] = [1, 2, 4, 4, 7, 9]
    table = intraclass_correlation(apart)
    assert table["rating", "1,1"].ok
    assert table["rating", "2,1"].reason == Reason(Cause.CONFOUNDED_RATERS)
    sparse = [[1, 2, nan, nan], [1, nan, 3, nan], [nan, 2, 3, 4]]
    listwise = intraclass_correlation(sparse, missing="listwise")
    assert listwise["rating", "2,1"].reason == Reason(Cause.FEWER, least=2, of=COMPLETE_UNITS)
    # One unit with two ratings says little of noise.
    lone = intraclass_correlation([[1, 2, 3, 4], [2, nan, nan, nan]], interval="analytic")[
        "rating", "1,1"
    ]
    assert lone.high - lone.low > 0.9
    with pytest.raises(InputError, match="form"):
        intraclass_correlation(SHROUT_FLEISS, forms=["4,1"])
    with pytest.raises(InputError, match="missing"):
        intraclass_correlation(SHROUT_FLEISS, missing="drop")


def test_bca_equals_the_formula_by_hand() -> None:
    from scipy.stats import norm

    from affectlab.core.inference import bca_interval

    replicates = np.random.default_rng(4).gamma(4, size=(2000, 1))
    point, a = np.array([3.5]), 0.07
    low, high = bca_interval(point, replicates, np.array([a]), 0.9)
    z0 = norm.ppf((replicates < 3.5).mean())
    for end, z in ((low, norm.ppf(0.05)), (high, norm.ppf(0.95))):
        tail = norm.cdf(z0 + (z0 + z) / (1 - a * (z0 + z)))
        assert end[0] == pytest.approx(np.quantile(replicates, tail))
    replicates[::7] = nan
    assert np.isfinite(bca_interval(point, replicates, np.array([a]), 0.9)).all()


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_acceleration_equals_leaving_out_by_hand(level: str) -> None:
    from affectlab.core.inference import _acceleration

    rng = np.random.default_rng(5)
    data = np.clip(rng.integers(0, 5, (1, 25)) + rng.integers(0, 3, (5, 25)), 0, 7).astype(float)
    data[rng.random(data.shape) < 0.25] = nan
    data = data[:, (~np.isnan(data)).sum(axis=0) >= 2]
    statistic = krippendorff_alpha.coefficient.statistic(
        answers_of(data), level=level, by_label=False
    )
    without = {
        "stimuli": [
            krippendorff_alpha(np.delete(data, u, axis=1), level=level).value
            for u in range(data.shape[1])
        ],
        "raters": [
            krippendorff_alpha(np.delete(data, r, axis=0), level=level).value for r in range(5)
        ],
    }
    pulls = {}
    for name, values in without.items():
        array = np.array(values)
        pulls[name] = (array.mean() - array) * (array.size - 1) / array.size
    pulls["both"] = np.concatenate([pulls["stimuli"], pulls["raters"]])
    for target, pull in pulls.items():
        found = _acceleration(statistic, target)[0]
        if target == "stimuli":
            expected = (pull**3).sum() / (6 * (pull**2).sum() ** 1.5)
            assert found == pytest.approx(expected, rel=1e-8)
        else:
            # Without a rater a unit may keep one rating only: its pairs are gone either way.
            expected = (pull**3).sum() / (6 * (pull**2).sum() ** 1.5)
            assert found == pytest.approx(expected, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("target", ["stimuli", "raters", "both"])
def test_bca_of_alpha(target: str) -> None:
    rng = np.random.default_rng(6)
    truth = rng.normal(size=(1, 60))
    data = np.rint(3 + 2 * truth + rng.normal(0, 0.6, (6, 60)))
    options = {"n_boot": 400, "target": target, "seed": 1}
    percentile, bca = (
        krippendorff_alpha(data, level="interval", interval=kind, **options)
        for kind in ("percentile", "bca")
    )
    assert bca.low < bca.value < bca.high
    assert bca.se == percentile.se
    if target == "stimuli":
        assert (bca.low, bca.high) != (percentile.low, percentile.high)
    assert (bca.interval.kind, bca.interval.replicates) == ("bca", 400)
    with pytest.raises(InputError, match="interval"):
        krippendorff_alpha(data, level="interval", interval="basic", n_boot=10, target="stimuli")


@pytest.mark.long
def test_bca_covers_better_on_small_samples() -> None:
    """Alpha near 1 of few units is skewed: the percentile interval lies too low."""
    rng = np.random.default_rng(7)
    target = krippendorff_alpha(
        rng.normal(size=(1, 200_000)) * 2 + rng.normal(0, 0.7, (3, 200_000)), level="interval"
    ).value
    hits = {"percentile": 0, "bca": 0}
    for trial in range(120):
        data = rng.normal(size=(1, 20)) * 2 + rng.normal(0, 0.7, (3, 20))
        for kind in hits:
            found = krippendorff_alpha(
                data, level="interval", n_boot=400, interval=kind, seed=trial, target="stimuli"
            )
            hits[kind] += found.low <= target <= found.high
    assert hits["bca"] / 120 > 0.84
    assert hits["bca"] >= hits["percentile"]


@pytest.mark.parametrize(
    "coefficient", [brennan_prediger, fleiss_kappa, gwet_ac, krippendorff_alpha, percent_agreement]
)
def test_one_category_is_said_without_a_warning_of_numpy(coefficient):
    table = {"stimulus": ["a", "a", "b", "b"] * 2, "rater": ["x", "y"] * 4}
    table |= {"label": ["l"] * 4 + ["m"] * 4, "value": ["k"] * 4 + ["u", "v", "v", "v"]}
    r = Ratings(table, scale={"l": "nominal:k", "m": "nominal:u,v"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = coefficient(r).to_frame()
    agreed = coefficient is percent_agreement
    assert found["status"].to_list() == ["ok" if agreed else "undefined", "ok"]
    assert agreed or found["reason"][0] == Cause.ONE_CATEGORY
