"""Variance components against lme4, the analysis of variance, and simulated truth."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from scipy.special import chdtri

from affectlab import InputError, Ratings
from affectlab.core.facts import Cause
from affectlab.reliability import intraclass_correlation, variance_components
from affectlab.reliability.components.designs import crossed
from affectlab.reliability.components.restricted_likelihood import (
    Factor,
    MixedModel,
    Solution,
    fit,
    of_ratio,
    of_variance,
    profile_interval,
)

# lmer of lme4 1.1 (R), REML, optimizer bobyqa with rhoend 1e-9, on the answers of `made`:
# components in the order of factors with the residual last, -2 log-likelihood, mean, its error.
LME4 = {
    ("stimulus", "rater"): (
        (1.9715473636, 0.2384709799, 1.0223080650),
        (1254.18082866, 1.954226437, 0.3547585862),
    ),
    ("stimulus", "rater", "session"): (
        (1.97682055700, 0.23991574390, 0.04033068008, 0.98714392296),
        (1247.1982339, 1.954219601, 0.3665521561),
    ),
    ("stimulus", "rater", "stimulus:rater"): (
        (1.8806268881, 0.2308166410, 0.3230707807, 0.7815523538),
        (1229.63854574, 1.950197892, 0.3507795486),
    ),
}


def made() -> dict[str, NDArray[np.float64]]:
    """Answers with gaps and repeats, by formula."""
    i = np.arange(400)
    s, r, t = (i * 7) % 31, (i * i + 3 * i) % 9, (i // 8) % 5
    y = np.sin(s * 2.1) * 2 + np.cos(r * 1.7) + ((i * 37) % 17) / 6
    y = y + 0.3 * np.sin(t * 9.0 + 0.3) + np.where((s * 9 + r) % 2, 0.5, -0.5)
    return {"stimulus": s, "rater": r, "session": t, "value": y, "trial": i}


def fitted(names: tuple[str, ...]) -> Solution:
    table = made()
    own = [n for n in names if n != "stimulus:rater"]
    factors = [Factor(n, table[n].astype(np.int64), int(table[n].max()) + 1) for n in own]
    cells = "stimulus:rater" if "stimulus:rater" in names else None
    return fit(MixedModel.of(table["value"], factors, cells=cells))


@pytest.mark.parametrize("names", LME4, ids=" ".join)
def test_lme4(names: tuple[str, ...]) -> None:
    variances, (deviance, mean, error) = LME4[names]
    found = fitted(names)
    own = dict(zip(found.model.names, found.theta * found.residual, strict=True))
    assert [*(own[name] for name in names), found.residual] == pytest.approx(variances, rel=2e-4)
    assert found.deviance() == pytest.approx(deviance, abs=1e-6)
    effects, covariance = found.fixed()
    assert effects[0] == pytest.approx(mean, rel=1e-6)
    assert np.sqrt(covariance[0, 0] * found.residual) == pytest.approx(error, rel=1e-4)


def many_raters() -> Solution:
    """Fit enough raters for the ends of intervals to follow from the curvature."""
    rng = np.random.default_rng(4)
    s, r = np.nonzero(rng.random((200, 70)) < 0.15)
    value = rng.normal(0, 1, 200)[s] + rng.normal(0, 0.7, 70)[r] + rng.normal(0, 1, s.size)
    return fit(crossed(value, stimulus=s, rater=r))


def test_slopes_are_those_of_differences() -> None:
    model, root, step = many_raters().model, np.array([0.9, 0.4]), 1e-5
    slopes = model.solve(root**2, slopes=True).slopes
    assert slopes is not None
    for k, move in enumerate(step * np.eye(2)):
        above, below = model.solve((root + move) ** 2), model.solve((root - move) ** 2)
        change = np.array([above.logs - below.logs, above.rest - below.rest]) / (2 * step)
        assert slopes[:, k] == pytest.approx(change, rel=1e-5)


def test_ends_from_the_curvature_are_those_of_a_search() -> None:
    found = many_raters()
    cut, least = float(chdtri(1, 0.05)), found.deviance()
    for name in ("stimulus", "rater", "residual"):
        searched = profile_interval(of_variance(found, name), found.variance(name), least, cut)
        assert found.variance_interval(name, 0.95) == pytest.approx(searched, rel=1e-6)
    for weights in ({}, {"rater": 1.0}, {"rater": 5.0}):
        ratio = found.ratio("stimulus", weights)
        searched = profile_interval(of_ratio(found, "stimulus", weights), ratio, least, cut)
        assert found.ratio_interval("stimulus", weights, 0.95) == pytest.approx(searched, rel=1e-6)


def test_the_verb_gives_what_the_fit_gives() -> None:
    table = pl.DataFrame(made()).with_columns(pl.col("session").cast(pl.String))
    ratings = Ratings(table, scale="interval")
    names = ("stimulus", "rater", "session")
    found = variance_components(ratings, factors=names)
    assert found.to_frame()["factor"].to_list() == [*names, "residual"]
    assert found.to_frame()["value"].to_list() == pytest.approx(LME4[names][0], rel=2e-4)
    assert found.to_frame()["share"].sum() == pytest.approx(1)
    assert (found.to_frame()["low"] <= found.to_frame()["value"]).all()
    assert (found.to_frame()["value"] <= found.to_frame()["high"]).all()
    reliability = found.to_frame("reliability")
    assert reliability["sessions"].unique().to_list() == ["1"]
    # Nothing is said of reliability without stimuli.
    alone = variance_components(ratings, factors=("rater", "session"))
    assert alone.to_frame("reliability").is_empty()


def test_models_are_raters_only_where_asked_for() -> None:
    rng = np.random.default_rng(2)
    s, r = (part.ravel() for part in np.indices((20, 5)))
    kinds = pl.DataFrame({"rater": list("01234"), "rater_kind": ["human"] * 4 + ["model"]})
    table = {"stimulus": s, "rater": r, "value": rng.normal(0, 1, 20)[s] + rng.normal(0, 1, 100)}
    ratings = Ratings(table, scale="interval", raters=kinds)
    for everyone, n in ((False, 4), (True, 5)):
        found = variance_components(ratings, everyone=everyone)
        assert found.to_frame()["n_raters"].unique().to_list() == [n]


def test_complete_data_are_the_analysis_of_variance() -> None:
    rng = np.random.default_rng(3)
    table = rng.normal(0, 1, (25, 1)) + rng.normal(0, 0.6, (1, 6)) + rng.normal(0, 1, (25, 6))
    s, r = (part.ravel() for part in np.indices(table.shape))
    ratings = Ratings({"stimulus": s, "rater": r, "value": table.ravel()}, scale="interval")
    found = variance_components(ratings, k=(1, 6)).to_frame("reliability")
    wanted = intraclass_correlation(ratings, forms=("2,1", "2,k", "3,1", "3,k"))
    assert found["value"].to_list() == pytest.approx(wanted.frame["value"].to_list(), abs=1e-5)


def test_order_of_rows_and_names_of_levels_change_nothing() -> None:
    table = pl.DataFrame(made()).with_columns(pl.col("session").cast(pl.String))
    other = table.sample(fraction=1.0, shuffle=True, seed=5)
    one, two = (
        variance_components(Ratings(frame, scale="interval"), k=(1,)).to_frame()
        for frame in (table, other)
    )
    assert one["value"].to_list() == two["value"].to_list()
    assert one["high"].to_list() == two["high"].to_list()


def test_a_factor_without_variance_has_an_interval_from_zero() -> None:
    rng = np.random.default_rng(1)
    s, r = (part.ravel() for part in np.indices((30, 5)))
    value = rng.normal(0, 1, 30)[s] + rng.normal(0, 1, 150)
    # Means of raters are equal: less than chance would make of no variance at all.
    for rater in range(5):
        value[r == rater] -= value[r == rater].mean()
    ratings = Ratings({"stimulus": s, "rater": r, "value": value}, scale="interval")
    row = variance_components(ratings).to_frame().row(1, named=True)
    assert (row["factor"], row["value"], row["low"]) == ("rater", 0.0, 0.0)
    assert row["high"] > 0


def test_what_cannot_be_told() -> None:
    def cause(**columns: list[object]) -> str:
        table = pl.DataFrame(columns, strict=False)
        ratings = Ratings(table, scale="interval")
        return str(variance_components(ratings).to_frame()["reason"][0])

    one = cause(stimulus=list("abc"), rater=list("rrr"), value=[1.0, 2.0, 4.0])
    assert one == Cause.FEWER
    alone = cause(stimulus=list("abc"), rater=list("rst"), value=[1.0, 2.0, 4.0])
    assert alone == Cause.INSEPARABLE_FACTORS
    same = cause(stimulus=list("aabb"), rater=list("rsrs"), value=[1.0] * 4)
    assert same == Cause.NONE
    unanimous = cause(stimulus=list("aabb"), rater=list("rsrs"), value=[1.0, 1.0, 2.0, 2.0])
    assert unanimous == Cause.NO_RESIDUAL_WITHIN


def test_bad_input_is_one_sentence() -> None:
    table = pl.DataFrame(made()).with_columns(pl.col("session").cast(pl.String))
    ratings = Ratings(table, scale="interval")
    with pytest.raises(InputError, match=r"unknown factor 'sesion'.*session"):
        variance_components(ratings, factors=("stimulus", "sesion"))
    with pytest.raises(InputError, match="stimulus:rater needs both stimulus and rater"):
        variance_components(ratings, factors=("stimulus", "stimulus:rater"))
    with pytest.raises(InputError, match="expected numbers of raters, 1 or more"):
        variance_components(ratings, k=(0,))


@pytest.mark.long
@pytest.mark.parametrize(("n_stimuli", "n_raters", "share"), [(30, 4, 1.0), (60, 8, 0.5)])
def test_intervals_hold_for_other_raters(n_stimuli: int, n_raters: int, share: float) -> None:
    """Where resampling stimuli covers .48 to .84: rater SD .7 of that of stimuli, with gaps."""
    runs, truth, hits = 60, 1 / (1 + 0.49 + 1), 0
    for run in range(runs):
        rng = np.random.default_rng(run)
        s, r = np.nonzero(rng.random((n_stimuli, n_raters)) < share)
        value = rng.normal(0, 1, n_stimuli)[s] + rng.normal(0, 0.7, n_raters)[r]
        value += rng.normal(0, 1, s.size)
        ratings = Ratings({"stimulus": s, "rater": r, "value": value}, scale="interval")
        row = variance_components(ratings, k=(1,)).to_frame("reliability").row(0, named=True)
        hits += row["low"] <= truth <= row["high"]
    # One of 95 % fails this once in 10,000 times.
    assert hits >= 49
