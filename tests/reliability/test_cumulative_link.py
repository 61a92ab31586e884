"""Cumulative link mixed models against clmm of the R package ordinal, plain sums, and truth."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.special import expit, ndtr, stdtr, stdtrit
from tests.reliability.mixed_model_data import made

from affectlab import InputError, Ratings
from affectlab.core.facts import Cause
from affectlab.core.result import Result
from affectlab.reliability import mixed_model, variance_components
from affectlab.reliability.components.cumulative_link import CumulativeModel, fit_cumulative
from affectlab.reliability.components.restricted_likelihood import Factor

R = json.loads((Path(__file__).parent.parent / "data" / "mixed_models.json").read_text())
LINKS = ("probit", "logit")


def ratings() -> Ratings:
    table = made().with_columns(value=pl.col("answer")).drop("flat", "answer")
    return Ratings(table, scale="0-4")


def model(link: str) -> Result:
    return mixed_model(ratings(), fixed=["race*gender", "kind", "age"], link=link)


@pytest.mark.parametrize("link", LINKS)
def test_clmm(link: str) -> None:
    ours, theirs = model(link), R[link]
    components = {row["factor"]: row["value"] for row in ours.to_frame("components").to_dicts()}
    for factor, deviation in theirs["deviations"].items():
        assert components[factor] == pytest.approx(deviation**2, rel=1e-4)
    # Theirs are about 0 of the predictor, ours about their mean.
    thresholds = np.array(list(theirs["thresholds"].values()))
    own = ours.to_frame("thresholds")
    assert own["between"].to_list() == ["0 | 1", "1 | 2", "2 | 3", "3 | 4"]
    assert own["value"].to_list() == pytest.approx(thresholds - thresholds.mean(), abs=1e-4)
    effects = {(row["term"], row["level"]): row for row in ours.to_frame("effects").to_dicts()}
    assert effects["mean", ""]["value"] == pytest.approx(-thresholds.mean(), abs=1e-4)
    places = {
        "race1": ("race", "a"),
        "race2": ("race", "b"),
        "gender1": ("gender", "f"),
        "kind1": ("kind", "lay"),
        "age": ("age", ""),
        "race1:gender1": ("race:gender", "a, f"),
        "race2:gender1": ("race:gender", "b, f"),
    }
    for name, place in places.items():
        assert effects[place]["value"] == pytest.approx(theirs["effects"][name], rel=1e-4, abs=1e-5)
        # Their second derivatives are by differences of the likelihood, and their errors those of
        # maximum likelihood.
        levels, freedom = (10, 7) if place[0] in ("kind", "age") else (31, 25)
        error = theirs["errors"][name] * np.sqrt(levels / freedom)
        assert effects[place]["se"] == pytest.approx(error, rel=1e-2)
        assert effects[place]["df"] == freedom


@pytest.mark.parametrize("link", LINKS)
def test_emmeans_of_clmm(link: str) -> None:
    ours, theirs = model(link), R[link]
    means = {(row["term"], row["level"]): row for row in ours.to_frame("means").to_dicts()}
    for row in theirs["means"]:
        own = means["race", row["race"]]
        # Means are of stimuli and raters, who are fewer.
        error = row["SE"] * np.sqrt(10 / 7)
        half = stdtrit(7, 0.975) * error
        wanted = [row["emmean"], error, row["emmean"] - half, row["emmean"] + half]
        ends = [own[key] for key in ("value", "se", "low", "high")]
        assert ends == pytest.approx(wanted, rel=5e-3, abs=5e-3)
        assert own["df"] == 7
    contrasts = ours.to_frame("contrasts").filter(term="race").to_dicts()
    for own, row in zip(contrasts, theirs["contrasts"], strict=True):
        assert f"{own['a']} - {own['b']}" == row["contrast"]
        assert own["value"] == pytest.approx(row["estimate"], rel=1e-3)
        z = np.abs(row["estimate"] / row["SE"])
        assert own["p"] == pytest.approx(2 * stdtr(25, -z * np.sqrt(25 / 31)), rel=0.1)


@pytest.mark.parametrize("link", LINKS)
def test_log_likelihood_and_its_slopes(link: str) -> None:
    table = made()
    factors = [
        Factor("stimulus", table["stimulus"].to_numpy(), 31),
        Factor("rater", table["rater"].to_numpy(), 10),
    ]
    value = table["answer"].to_numpy().astype(float)
    plain = CumulativeModel.of(value, factors, np.asarray(table.select("age")) / 10.0, link)
    at = plain.start()
    at[-3:] = 0.2, 0.4, 0.7
    modes = np.zeros(41)
    loss, gradient = plain.evaluate(at, modes)
    for k in range(at.size):
        step = 1e-5 * np.eye(at.size)[k]
        slope = plain.evaluate(at + step, modes)[0] - plain.evaluate(at - step, modes)[0]
        assert gradient[k] == pytest.approx(slope / 2e-5, abs=1e-5)
    # The same sum, with the full matrix of second derivatives.
    eta = at[4] * plain.fixed[:, 0]
    eta = eta + at[5] * modes[factors[0].level] + at[6] * modes[31:][factors[1].level]
    cumulative = ndtr if link == "probit" else expit
    ends = np.concatenate([[-np.inf], at[:4], [np.inf]])
    code = value.astype(int)

    def losses(predictor: np.ndarray) -> np.ndarray:
        p = cumulative(ends[code + 1] - predictor) - cumulative(ends[code] - predictor)
        return -np.log(p)

    curvature = (losses(eta + 1e-4) + losses(eta - 1e-4) - 2 * losses(eta)) / 1e-8
    z = np.zeros((code.size, 41))
    z[np.arange(code.size), factors[0].level] = at[5]
    z[np.arange(code.size), 31 + factors[1].level] = at[6]
    whole = z.T @ (curvature[:, None] * z) + np.eye(41)
    wanted = losses(eta).sum() + modes @ modes / 2 + np.linalg.slogdet(whole)[1] / 2
    assert loss == pytest.approx(wanted, rel=1e-7)


def test_likelihood_of_clmm() -> None:
    factors = [
        Factor(one, made()[one].to_numpy(), n) for one, n in (("stimulus", 31), ("rater", 10))
    ]
    value = made()["answer"].to_numpy().astype(float)
    best = fit_cumulative(CumulativeModel.of(value, factors, None, "probit"))
    assert best is not None
    # Without attributes the likelihood is lower than that of their model.
    assert R["probit"]["log_likelihood"] > best.log_likelihood > -620


def test_reliability_on_the_latent_scale() -> None:
    """Variances 1, .5 and 1 (probit), cut into 5 answers, are found again."""
    rng = np.random.default_rng(7)
    s, r = (part.ravel() for part in np.indices((120, 40)))
    latent = rng.normal(0, 1, 120)[s] + rng.normal(0, 0.5**0.5, 40)[r] + rng.normal(0, 1, s.size)
    value = np.searchsorted([-2.0, -1.0, 0.5, 1.5], latent)
    table = Ratings({"stimulus": s, "rater": r, "value": value}, scale="0-4")
    result = variance_components(table, k=(1, 5), link="probit")
    for row, truth in zip(result.to_frame().to_dicts(), (1.0, 0.5, 1.0), strict=True):
        assert row["value"] == pytest.approx(truth, rel=0.35)
    reliability = result.to_frame("reliability").filter(coefficient="agreement")
    row = reliability.row(0, named=True)
    assert row["low"] < 1 / 2.5 < row["high"]
    assert row["high"] - row["low"] < 0.25
    assert reliability["value"][1] > reliability["value"][0]
    # Answers as quantities agree less: cutting takes away information.
    linear = variance_components(table, k=(1,)).to_frame("reliability")["value"][0]
    assert linear < row["value"]


@pytest.mark.long
def test_intervals_on_the_latent_scale_hold() -> None:
    runs, hits = 60, np.zeros(3)
    s, r = (part.ravel() for part in np.indices((60, 20)))
    for run in range(runs):
        rng = np.random.default_rng(run)
        latent = rng.normal(0, 1, 60)[s] + rng.normal(0, 0.7, 20)[r] + rng.normal(0, 1, s.size)
        value = np.searchsorted([-2.0, -1.0, 0.5, 1.5], latent)
        table = Ratings({"stimulus": s, "rater": r, "value": value}, scale="0-4")
        result = variance_components(table, k=(1,), link="probit")
        rows = [*result.to_frame().to_dicts()[:2], result.to_frame("reliability").to_dicts()[0]]
        truths = (1, 0.49, 1 / 2.49)
        hits += [row["low"] < truth < row["high"] for row, truth in zip(rows, truths, strict=True)]
    # One of 95 % fails this once in 10,000 times.
    assert (hits >= 49).all()


def test_two_answers_are_logistic_regression() -> None:
    rng = np.random.default_rng(3)
    s, r = (part.ravel() for part in np.indices((60, 12)))
    chance = expit(rng.normal(0, 1, 60)[s] + rng.normal(0, 1, 12)[r] + 1.5 * (s % 2) - 0.5)
    value = (rng.random(s.size) < chance).astype(int)
    table = {"stimulus": s, "rater": r, "value": value, "odd": s % 2 == 1}
    result = mixed_model(Ratings(table, scale="binary"), fixed=["odd"], link="logit")
    (row,) = result.to_frame("contrasts").to_dicts()
    assert row["low"] < -1.5 < row["high"]
    assert row["value"] == pytest.approx(-1.5, abs=0.8)
    assert result.to_frame("thresholds")["value"].to_list() == [0.0]


def test_names_of_categories_matter_only_by_their_order() -> None:
    first = variance_components(ratings(), link="logit").to_frame()
    table = made().with_columns(value=pl.col("answer") * 2).drop("flat", "answer")
    other = variance_components(Ratings(table, scale="0-8"), link="logit").to_frame()
    assert first["value"].to_list() == pytest.approx(other["value"].to_list(), rel=1e-9)


def test_a_factor_without_variance() -> None:
    s, r = (part.ravel() for part in np.indices((30, 6)))
    rng = np.random.default_rng(1)
    value = np.searchsorted([-1.0, 0.0, 1.0], rng.normal(0, 1, 30)[s] + rng.normal(0, 1, 180))
    # Every rater gives every answer as often as the others.
    for rater in range(6):
        order = np.argsort(value[r == rater], kind="stable")
        placed = np.empty(30, dtype=int)
        placed[order] = np.repeat([0, 1, 2, 3], [6, 9, 9, 6])
        value[r == rater] = placed
    table = Ratings({"stimulus": s, "rater": r, "value": value}, scale="0-3")
    row = variance_components(table, link="probit").to_frame().row(1, named=True)
    assert (row["factor"], row["value"]) == ("rater", 0.0)
    assert np.isnan(row["low"])


def test_cells_with_repeats() -> None:
    rng = np.random.default_rng(5)
    s, r, t = (part.ravel() for part in np.indices((50, 8, 5)))
    latent = rng.normal(0, 1, 50)[s] + rng.normal(0, 0.5, 8)[r] + rng.normal(0, 1, 400)[s * 8 + r]
    value = np.searchsorted([-1.5, 0.0, 1.5], latent + rng.normal(0, 1, s.size))
    kind = np.where(t == 0, "main", "repeat")
    table = {"stimulus": s, "rater": r, "value": value, "trial": t, "trial_kind": kind}
    names = ("stimulus", "rater", "stimulus:rater")
    result = variance_components(Ratings(table, scale="0-3"), factors=names, link="probit")
    own = {row["factor"]: row["value"] for row in result.to_frame().to_dicts()}
    assert own["stimulus:rater"] == pytest.approx(1, abs=0.3)


def test_what_cannot_be_fitted() -> None:
    with pytest.raises(InputError, match="unknown link 'cauchit'"):
        model("cauchit")
    fine = made().drop("flat", "answer")
    with pytest.raises(InputError, match="different answers; expected at most 50"):
        variance_components(Ratings(fine, scale="interval"), link="probit")
    # Everybody says 1 of one kind of stimuli, and 0 of others: no finite effect says that.
    s, r = (part.ravel() for part in np.indices((12, 4)))
    rng = np.random.default_rng(2)
    value = np.where(s % 3 == 0, 1, rng.integers(0, 2, 48))
    table = {"stimulus": s, "rater": r, "value": value, "third": s % 3 == 0}
    result = mixed_model(Ratings(table, scale="binary"), fixed=["third"], link="logit")
    assert result.to_frame()["reason"][0] == Cause.NO_MAXIMUM
