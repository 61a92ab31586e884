"""The posterior of variances against the closed form of complete data, and simulated panels."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from affectlab import InputError, Ratings
from affectlab.core.types import Floats
from affectlab.reliability import variance_components
from affectlab.reliability.components.posterior import posterior
from affectlab.reliability.components.restricted_likelihood import Factor, MixedModel


def panel(n: int, k: int, deviation: float, seed: int) -> Floats:
    rng = np.random.default_rng(seed)
    own = rng.normal(0, 1, (n, 1)) + deviation * rng.normal(0, 1, (1, k))
    return own + rng.normal(0, 1, (n, k))


def model(table: Floats) -> MixedModel:
    s, r = (part.ravel() for part in np.indices(table.shape))
    n, k = table.shape
    return MixedModel.of(table.ravel(), [Factor("stimulus", s, n), Factor("rater", r, k)])


def plain(table: Floats) -> tuple[dict[str, Floats], Floats]:
    """Integrate over the mean squares of an analysis of variance, whose likelihood is known."""
    n, k = table.shape
    of_stimuli, of_raters = table.mean(axis=1), table.mean(axis=0)
    rest = table - of_stimuli[:, None] - of_raters + table.mean()
    squares = (
        k * ((of_stimuli - table.mean()) ** 2).sum(),
        n * ((of_raters - table.mean()) ** 2).sum(),
        (rest**2).sum(),
    )
    freedoms = (n - 1, k - 1, (n - 1) * (k - 1))
    wide, narrow = np.linspace(np.log(0.005), np.log(9), 130), np.linspace(-0.7, 0.7, 70)
    s, r, e = np.meshgrid(wide, wide, narrow, indexing="ij")
    own = {"stimulus": np.exp(2 * s), "rater": np.exp(2 * r), "residual": np.exp(2 * e)}
    expected = (
        own["residual"] + k * own["stimulus"],
        own["residual"] + n * own["rater"],
        own["residual"],
    )
    log = sum(
        -freedom / 2 * np.log(mean) - square / (2 * mean)
        for freedom, square, mean in zip(freedoms, squares, expected, strict=True)
    )
    scale = table.std(ddof=1) / 2
    for logarithm in (s, r, e):
        log += logarithm - np.log1p((np.exp(logarithm) / scale) ** 2)
    weight = np.exp(log - log.max())
    return own, weight / weight.sum()


@pytest.mark.parametrize("seed", [1, 2])
def test_complete_data(seed: int) -> None:
    table = panel(20, 3, 0.7, seed)
    ours = posterior(model(table))
    own, weight = plain(table)
    for axis, name in enumerate(("stimulus", "rater", "residual")):
        others = tuple(one for one in range(3) if one != axis)
        of_values = weight.sum(axis=others)
        values = np.moveaxis(own[name], axis, 0)[:, 0, 0]
        share = np.cumsum(of_values) - of_values / 2
        wanted = np.exp(np.interp([0.5, 0.025, 0.975], share, np.log(values)))
        found = [ours.variance(name), *ours.variance_interval(name, 0.95)]
        assert found == pytest.approx(wanted.tolist(), rel=0.02, abs=0.003)
    ratio = (own["stimulus"] / (own["rater"] + own["residual"])).ravel()
    order = np.argsort(ratio)
    share = np.cumsum(weight.ravel()[order])
    wanted = np.interp([0.5, 0.025, 0.975], share, ratio[order])
    found = np.array(
        [ours.ratio("stimulus", {"rater": 1}), *ours.ratio_interval("stimulus", {"rater": 1}, 0.95)]
    )
    assert found / (1 + found) == pytest.approx(wanted / (1 + wanted), abs=0.005)


def test_many_raters_leave_little_to_the_prior() -> None:
    table = panel(80, 40, 0.7, 3)
    s, r = (part.ravel() for part in np.indices(table.shape))
    ratings = Ratings({"stimulus": s, "rater": r, "value": table.ravel()}, scale="interval")
    one, other = (
        variance_components(ratings, estimator=name).to_frame() for name in ("reml", "posterior")
    )
    assert other["value"].to_list() == pytest.approx(one["value"].to_list(), rel=0.05)
    assert other["high"].to_list() == pytest.approx(one["high"].to_list(), rel=0.08)


def test_raters_never_differ_by_nothing() -> None:
    table = panel(30, 3, 0.0, 2)
    table -= table.mean(axis=0)
    ours = posterior(model(table))
    assert 0 < ours.variance("rater") < 0.05
    low, high = ours.variance_interval("rater", 0.95)
    assert 0 < low < ours.variance("rater") < high


def test_units_change_nothing() -> None:
    table = panel(15, 4, 0.5, 4)
    one, other = posterior(model(table)), posterior(model(1000 * table + 7))
    assert other.variance("rater") == pytest.approx(1e6 * one.variance("rater"), rel=1e-6)


def test_three_factors_and_no_more() -> None:
    rng = np.random.default_rng(8)
    s, r, t = (part.ravel() for part in np.indices((12, 4, 2)))
    value = rng.normal(0, 1, 12)[s] + rng.normal(0, 1, 48)[s * 4 + r] + rng.normal(0, 1, s.size)
    kind = np.where(t == 0, "main", "repeat")
    table = {"stimulus": s, "rater": r, "value": value, "trial": t, "trial_kind": kind}
    ratings = Ratings(table, scale="interval")
    names = ("stimulus", "rater", "stimulus:rater")
    rows = variance_components(ratings, factors=names, estimator="posterior").to_frame().to_dicts()
    assert [row["factor"] for row in rows] == [*names, "residual"]
    assert rows[2]["low"] < 1 < rows[2]["high"]
    with pytest.raises(InputError, match="at most 3 factors"):
        variance_components(ratings, factors=(*names, "trial"), estimator="posterior")
    with pytest.raises(InputError, match="takes the link identity"):
        variance_components(ratings, link="probit", estimator="posterior")
    with pytest.raises(InputError, match="unknown estimator"):
        variance_components(ratings, estimator="bayes")


def test_reliability_grows_with_raters() -> None:
    table = panel(30, 3, 0.7, 6)
    s, r = (part.ravel() for part in np.indices(table.shape))
    ratings = Ratings({"stimulus": s, "rater": r, "value": table.ravel()}, scale="interval")
    result = variance_components(ratings, estimator="posterior").to_frame("reliability")
    agreement = result.filter(coefficient="agreement")
    assert all(a < b for a, b in pairwise(agreement["value"]))
    assert (agreement["low"] < agreement["value"]).all()


@pytest.mark.long
@pytest.mark.parametrize("deviation", [0.4, 1.0])
def test_intervals_of_small_panels_hold(deviation: float) -> None:
    runs, hits = 60, np.zeros(2)
    for run in range(runs):
        ours = posterior(model(panel(30, 4, deviation, run)))
        low, high = ours.variance_interval("rater", 0.95)
        hits[0] += low <= deviation**2 <= high
        low, high = ours.ratio_interval("stimulus", {"rater": 1}, 0.95)
        hits[1] += low <= 1 / (1 + deviation**2) <= high
    # One of 95 % fails this once in 10,000 times.
    assert (hits >= 49).all()
