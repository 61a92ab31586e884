from __future__ import annotations

from math import nan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affectlab.errors import InputError
from affectlab.reliability import (
    fleiss_kappa,
    gwet_ac,
    intraclass_correlation,
    krippendorff_alpha,
    percent_agreement,
)

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
    found = function(RAW4, weights, scale="1-5", standard_error="gwet")["rating"]
    assert round(found.value, digits) == value
    assert round(found.se, digits) == se
    assert found.high == 1
    assert found.n_items == 11
    assert found.n_ratings == 41


def test_published_intervals() -> None:
    options = {"scale": "1-5", "standard_error": "gwet"}
    assert round(fleiss_kappa(RAW4, **options)["rating"].low, 3) == 0.424
    assert round(gwet_ac(RAW4, **options)["rating"].low, 3) == 0.461
    assert round(gwet_ac(RAW4, "quadratic", **options)["rating"].low, 3) == 0.685


def test_published_values_without_gaps() -> None:
    data = from_distribution(DISTRIBUTION)
    kappa, ac = (function(data, scale="0-4")["rating"] for function in (fleiss_kappa, gwet_ac))
    assert kappa.value == pytest.approx(0.4139265, abs=5e-8)
    assert kappa.se == pytest.approx(0.08119291, abs=5e-9)
    assert ac.value == pytest.approx(0.4448007, abs=5e-8)
    assert ac.se == pytest.approx(0.08418757, abs=5e-9)
    assert percent_agreement(data)["rating"].value == pytest.approx(0.5511111, abs=5e-8)


def test_prevalence_paradox() -> None:
    a = [0] * 95 + [1, 1, 0, 0, 0]
    b = [0] * 95 + [0, 0, 1, 1, 0]
    assert fleiss_kappa([a, b], scale="binary")["rating"].value < 0
    assert gwet_ac([a, b], scale="binary")["rating"].value > 0.9


def test_declared_levels_change_gwet_and_not_fleiss() -> None:
    data = [[1, 2, 1, 2, 1], [1, 2, 2, 2, 1]]
    assert (
        fleiss_kappa(data, scale="1-2")["rating"].value
        == fleiss_kappa(data, scale="1-7")["rating"].value
    )
    assert gwet_ac(data, scale="1-2")["rating"].value < gwet_ac(data, scale="1-7")["rating"].value


def test_what_is_not_defined() -> None:
    assert fleiss_kappa([[1, 1], [1, 1]], scale="1-3")["rating"].status == "undefined: one category"
    assert gwet_ac([[1, 1], [1, 1]], scale="1-3")["rating"].value == 1
    lonely = [[1, nan], [nan, 2]]
    for function in (fleiss_kappa, gwet_ac):
        assert function(lonely, scale="1-3")["rating"].status == (
            "undefined: no unit with two ratings"
        )
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
    found = {f: f(data, weights, scale="0-3")["rating"] for f in (fleiss_kappa, gwet_ac)}
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
        shuffled = function(data[rng.permutation(4)][:, rng.permutation(12)], weights, scale="0-3")
        assert shuffled["rating"].value == pytest.approx(estimate.value, abs=1e-10, nan_ok=True)


@pytest.mark.parametrize("gaps", [0.0, 0.3, 0.75])
def test_standard_error_is_that_of_resampled_units(gaps: float) -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 3, 600)
    exact = rng.random((5, 600)) < 0.95
    data = np.where(exact, truth, rng.integers(0, 3, (5, 600))).astype(float)
    data[rng.random(data.shape) < gaps] = nan
    for function in (fleiss_kappa, gwet_ac):
        drawn = [
            function(data[:, rng.integers(0, 600, 600)], scale="0-2")["rating"].value
            for _ in range(400)
        ]
        linearised, gwet = (
            function(data, scale="0-2", standard_error=kind)["rating"].se
            for kind in ("linearised", "gwet")
        )
        assert linearised == pytest.approx(np.std(drawn), rel=0.15)
        if gaps == 0.0:
            assert gwet == pytest.approx(linearised, rel=1e-12)
        elif gaps == 0.75:
            # Most units have one rating or none.
            assert gwet > 2 * linearised


def test_shrout_and_fleiss() -> None:
    for missing in ("complete", "available"):
        table = intraclass_correlation(SHROUT_FLEISS, missing=missing)
        values = [round(estimate.value, 2) for _, estimate in table]
        assert values == [0.17, 0.29, 0.71, 0.44, 0.62, 0.91]
    complete = intraclass_correlation(SHROUT_FLEISS)
    # The intervals that R's psych::ICC prints for the same table.
    printed = {
        "1,1": (-0.133, 0.723),
        "2,1": (0.019, 0.761),
        "3,1": (0.342, 0.946),
        "1,k": (-0.884, 0.912),
        "2,k": (0.071, 0.927),
        "3,k": (0.676, 0.986),
    }
    for form, (low, high) in printed.items():
        assert complete["rating", form].low == pytest.approx(low, abs=6e-4)
        assert complete["rating", form].high == pytest.approx(high, abs=6e-4)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(3, 9), st.integers(2, 6))
def test_both_ways_agree_without_gaps(seed: int, n: int, k: int) -> None:
    data = np.random.default_rng(seed).normal(size=(k, n)) + np.arange(n)
    complete, available = (
        intraclass_correlation(data, missing=missing).frame["value"].to_numpy()
        for missing in ("complete", "available")
    )
    np.testing.assert_allclose(complete, available, atol=1e-9)


def test_available_cases_recover_the_variances() -> None:
    rng = np.random.default_rng(2)
    values = []
    for _ in range(30):
        data = (
            rng.normal(0, 2, (1, 150)) + rng.normal(0, 1, (12, 1)) + rng.normal(0, 1.5, (12, 150))
        )
        data[np.argsort(rng.random(data.shape), axis=0) >= 4] = nan
        table = intraclass_correlation(data, missing="available")
        values.append(table.frame["value"].to_numpy())
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


def test_jackknife_equals_leaving_units_out_by_hand() -> None:
    rng = np.random.default_rng(3)
    data = rng.normal(size=(5, 12)) + np.arange(12)
    data[rng.random(data.shape) < 0.3] = nan
    data[0, 0] = data[1, 0] = 1.0
    keep = (~np.isnan(data)).sum(axis=0) >= 2
    data = data[:, keep]
    n = data.shape[1]
    found = intraclass_correlation(data, missing="available").frame
    left_out = np.array(
        [
            intraclass_correlation(np.delete(data, u, axis=1), missing="available").frame["value"]
            for u in range(n)
        ]
    )
    expected = np.sqrt((n - 1) / n * ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0))
    np.testing.assert_allclose(found["se"].to_numpy(), expected, rtol=1e-8)


def test_gaps_leave_units_out_or_say_so() -> None:
    data = np.array(SHROUT_FLEISS, dtype=float)
    data[0, 0] = nan
    assert intraclass_correlation(data)["rating", "2,1"].n_items == 5
    assert intraclass_correlation(data, missing="available")["rating", "2,1"].n_items == 6
    sparse = [[1, 2, nan, nan], [1, nan, 3, nan], [nan, 2, 3, 4]]
    assert "missing='available'" in intraclass_correlation(sparse)["rating", "2,1"].status
    assert intraclass_correlation([[1, 2, 3]])["rating", "1,1"].status.startswith("undefined")
    flat = intraclass_correlation(np.ones((3, 5)))
    assert flat["rating", "2,1"].status == "undefined: no variance"
    with pytest.raises(InputError, match="form"):
        intraclass_correlation(data, ["4,1"])
    with pytest.raises(InputError, match="missing"):
        intraclass_correlation(data, missing="drop")


def test_bca_equals_the_formula_by_hand() -> None:
    from scipy.stats import norm

    from affectlab.reliability._bca import bca_interval

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
    from affectlab.ratings.arrays import answers_of
    from affectlab.reliability._alpha import _pairable
    from affectlab.reliability._alpha_choice import level_maker
    from affectlab.reliability._bca import acceleration

    rng = np.random.default_rng(5)
    data = np.clip(rng.integers(0, 5, (1, 25)) + rng.integers(0, 3, (5, 25)), 0, 7).astype(float)
    data[rng.random(data.shape) < 0.25] = nan
    data = data[:, (~np.isnan(data)).sum(axis=0) >= 2]
    answers = answers_of(data)
    _, make = level_maker(level, None, None)
    parts, _, n_raters = _pairable(answers, pooled=True)
    without = {
        "units": [
            krippendorff_alpha(np.delete(data, u, axis=1), level).value
            for u in range(data.shape[1])
        ],
        "raters": [krippendorff_alpha(np.delete(data, r, axis=0), level).value for r in range(5)],
    }
    pulls = {}
    for name, values in without.items():
        array = np.array(values)
        pulls[name] = (array.mean() - array) * (array.size - 1) / array.size
    pulls["both"] = np.concatenate([pulls["units"], pulls["raters"]])
    for resample, pull in pulls.items():
        found = acceleration([make(parts[0])], n_raters, resample)[0]
        if resample == "units":
            expected = (pull**3).sum() / (6 * (pull**2).sum() ** 1.5)
            assert found == pytest.approx(expected, rel=1e-8)
        else:
            # Without a rater a unit may keep one rating only: its pairs are gone either way.
            expected = (pull**3).sum() / (6 * (pull**2).sum() ** 1.5)
            assert found == pytest.approx(expected, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("resample", ["units", "raters", "both"])
def test_bca_of_alpha(resample: str) -> None:
    rng = np.random.default_rng(6)
    truth = rng.normal(size=(1, 60))
    data = np.rint(3 + 2 * truth + rng.normal(0, 0.6, (6, 60)))
    options = {"n_boot": 400, "resample": resample, "seed": 1}
    percentile, bca = (
        krippendorff_alpha(data, "interval", interval=kind, **options)
        for kind in ("percentile", "bca")
    )
    assert bca.low < bca.value < bca.high
    assert bca.se == percentile.se
    if resample == "units":
        assert (bca.low, bca.high) != (percentile.low, percentile.high)
    assert "bca bootstrap" in bca.method
    with pytest.raises(InputError, match="interval"):
        krippendorff_alpha(data, "interval", interval="basic", n_boot=10)


def test_bca_covers_better_on_small_samples() -> None:
    """Alpha near 1 of few units is skewed: the percentile interval lies too low."""
    rng = np.random.default_rng(7)
    target = krippendorff_alpha(
        rng.normal(size=(1, 200_000)) * 2 + rng.normal(0, 0.7, (3, 200_000)), "interval"
    ).value
    hits = {"percentile": 0, "bca": 0}
    for trial in range(120):
        data = rng.normal(size=(1, 20)) * 2 + rng.normal(0, 0.7, (3, 20))
        for kind in hits:
            found = krippendorff_alpha(data, "interval", n_boot=400, interval=kind, seed=trial)
            hits[kind] += found.low <= target <= found.high
    assert hits["bca"] / 120 > 0.84
    assert hits["bca"] >= hits["percentile"]
