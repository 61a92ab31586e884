"""Alpha and omega: values from print and R, equal to ICC(3,k), and how often intervals cover."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from tests.cli.command import run_here

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause
from affectlab.core.inference import Interval
from affectlab.core.words import option
from affectlab.ratings import Ratings
from affectlab.reliability import internal_consistency, intraclass_correlation
from affectlab.reliability.internal_consistency import one_factor
from affectlab.reliability.wording import SEVERAL_STIMULI_EACH, incomplete_text, reversed_items

NAMES = ("rating", "complaints", "privileges", "learning", "raises", "critical", "advance")
ATTITUDE = """
43 51 30 39 61 92 45  63 64 51 54 63 73 47  71 70 68 69 76 86 48  61 63 45 47 54 84 35
81 78 56 66 71 83 47  43 55 49 44 54 49 34  58 67 42 56 66 68 35  71 75 50 55 70 66 41
72 82 72 67 71 83 31  67 61 45 47 62 80 41  64 53 53 58 58 67 34  67 60 47 39 59 74 41
69 62 57 42 55 63 25  68 83 83 45 59 77 35  77 77 54 72 79 77 46  81 90 50 72 60 54 36
74 85 64 69 79 79 63  65 60 65 75 55 80 60  65 70 46 57 75 85 46  50 58 68 54 64 78 52
50 40 33 34 43 64 33  64 61 52 62 66 80 41  53 66 52 50 63 80 37  40 37 42 58 50 57 49
63 54 42 48 66 75 33  66 77 66 63 88 76 72  78 75 58 74 80 78 49  48 57 44 45 51 83 38
85 85 71 71 77 74 55  82 82 39 59 64 78 39
"""
"""The data set ``attitude`` of R: 30 departments, 7 items."""


def attitude() -> np.ndarray:
    return np.array(ATTITUDE.split(), dtype=np.float64).reshape(30, 7)


def questionnaire(
    value: np.ndarray, names: tuple[str, ...] = NAMES, scale: str = "interval"
) -> Ratings:
    who, item = (part.ravel() for part in np.indices(value.shape))
    return Ratings(
        {
            "stimulus": ["once"] * who.size,
            "rater": [f"r{k:03}" for k in who],
            "label": [names[k] for k in item],
            "value": value.ravel(),
        },
        scale=scale,
    )


def test_alpha_as_psych_prints_it() -> None:
    """``psych::alpha(attitude)``: raw alpha .84, and alpha without each item."""
    result = internal_consistency(questionnaire(attitude()), items=NAMES)
    alpha = result.to_frame().row(0, named=True)
    assert round(alpha["value"], 2) == 0.84
    assert alpha["target"] == "raters"
    items = result.to_frame("items")
    assert items["alpha_without"].round(2).to_list() == [0.81, 0.80, 0.83, 0.80, 0.80, 0.86, 0.84]
    assert items["r_rest"].round(2).to_list() == [0.67, 0.74, 0.56, 0.71, 0.79, 0.27, 0.46]
    assert items["item"].to_list() == list(NAMES)


def test_the_factor_of_factanal() -> None:
    """``factanal(attitude, 1)`` of R 4.2: uniquenesses, loadings and the omega that follows."""
    loading = one_factor(np.corrcoef(attitude().T))
    wanted = [0.8524782, 0.9022414, 0.5927052, 0.7306959, 0.7649939, 0.2460928, 0.3778441]
    assert loading == pytest.approx(wanted, abs=2e-5)
    unique = [0.27327937, 0.18596059, 0.64869949, 0.46608510, 0.41478318, 0.93942684, 0.85723851]
    assert 1 - loading**2 == pytest.approx(unique, abs=2e-5)
    result = internal_consistency(questionnaire(attitude()), standardized=True)
    omega = result.to_frame().row(1, named=True)["value"]
    common = sum(wanted) ** 2
    assert omega == pytest.approx(common / (common + sum(unique)), abs=2e-5)
    # Of the items as they are, loadings and uniquenesses are in their units.
    sd = attitude().std(axis=0, ddof=1)
    common = float(sd @ wanted) ** 2
    raw = internal_consistency(questionnaire(attitude())).to_frame().row(1, named=True)["value"]
    assert raw == pytest.approx(common / (common + float(sd**2 @ unique)), abs=2e-5)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.integers(4, 30))
def test_alpha_is_consistency_of_the_mean(seed: int, k: int, n: int) -> None:
    """Alpha is ICC(3,k) of questionnaires and items, and Feldt's interval is its F interval."""
    rng = np.random.default_rng(seed)
    value = rng.normal(0, 2, (n, 1)) + rng.normal(0, 1, (n, k))
    names = tuple(f"i{j}" for j in range(k))
    found = internal_consistency(questionnaire(value, names), interval="analytic").to_frame()
    who, item = (part.ravel() for part in np.indices(value.shape))
    turned = Ratings({"stimulus": who, "rater": item, "value": value.ravel()}, scale="interval")
    peer = intraclass_correlation(turned, forms=["3,k"], interval="analytic")["rating", "3,k"]
    if peer.ok:
        row = found.row(0, named=True)
        assert row["value"] == pytest.approx(peer.value, abs=1e-9)
        assert (row["low"], row["high"]) == pytest.approx((peer.low, peer.high), abs=1e-9)
    assert np.isnan(found["low"][1])


def test_tau_equivalent_items_have_equal_alpha_and_omega() -> None:
    shared = np.full((4, 4), 0.5) + np.eye(4) * 0.5
    assert one_factor(shared) == pytest.approx(np.sqrt([0.5] * 4), abs=1e-5)
    unequal = np.outer(loads := np.array([0.9, 0.8, 0.4, 0.3]), loads)
    np.fill_diagonal(unequal, 1.0)
    assert one_factor(unequal) == pytest.approx(loads, abs=1e-4)


def test_reversed_items() -> None:
    rng = np.random.default_rng(1)
    value = np.clip(np.rint(3 + rng.normal(0, 1, (80, 1)) + rng.normal(0, 0.8, (80, 4))), 1, 5)
    turned = value.copy()
    turned[:, 2] = 6 - turned[:, 2]
    names = ("calm", "relaxed", "tense", "easy")
    straight = internal_consistency(questionnaire(value, names, "1-5"))
    same = internal_consistency(questionnaire(turned, names, "1-5"), reverse=["tense"])
    assert same.to_frame()["value"].to_list() == straight.to_frame()["value"].to_list()
    assert same.to_frame("scores").equals(straight.to_frame("scores"))
    assert same.to_frame("items")["reversed"].to_list() == [False, False, True, False]
    forgotten = internal_consistency(questionnaire(turned, names, "1-5"))
    assert forgotten.notes[0] == reversed_items(["tense"], option("reverse", ["tense"]))
    with pytest.raises(InputError, match="without ends"):
        internal_consistency(questionnaire(turned, names), reverse=["tense"])


def test_what_cannot_be() -> None:
    table = questionnaire(attitude())
    with pytest.raises(InputError, match="two items or more"):
        internal_consistency(table, items=["rating"])
    with pytest.raises(InputError, match="unknown item 'joy'"):
        internal_consistency(table, reverse=["joy"])
    two = internal_consistency(table, items=["rating", "raises"]).to_frame()
    assert two["status"].to_list() == ["ok", "undefined"]
    assert two["reason"].to_list() == [None, Cause.UNIDENTIFIED_FACTOR]
    constant = attitude()
    constant[:, 0] = 5
    omega = internal_consistency(questionnaire(constant)).to_frame().row(1, named=True)
    assert omega["reason"] == Cause.DEPENDENT_ITEMS
    gaps = table.where(~((pl.col("value") == 43) & (pl.arange(pl.len()) < 7)))
    assert internal_consistency(gaps).notes[0] == incomplete_text(1, 30)


@pytest.mark.long
@pytest.mark.parametrize("interval", ["jackknife", "analytic"])
def test_coverage(interval: Interval) -> None:
    """Of 95 % intervals, about 95 % hold the alpha and omega of the population."""
    rng = np.random.default_rng(2)
    loads = np.array([0.8, 0.7, 0.6, 0.5])
    covariance = np.outer(loads, loads)
    np.fill_diagonal(covariance, 1.0)
    truth = {
        "alpha": 4 / 3 * (1 - 4 / covariance.sum()),
        "omega": loads.sum() ** 2 / (loads.sum() ** 2 + (1 - loads**2).sum()),
    }
    held = dict.fromkeys(truth, 0)
    trials = 200
    for _ in range(trials):
        value = rng.multivariate_normal(np.zeros(4), covariance, 60)
        names = ("a", "b", "c", "d")
        found = internal_consistency(questionnaire(value, names), interval=interval).to_frame()
        for row in found.to_dicts():
            held[row["coefficient"]] += row["low"] <= truth[row["coefficient"]] <= row["high"]
    assert 0.91 <= held["alpha"] / trials <= 0.99
    if interval == "jackknife":
        assert 0.91 <= held["omega"] / trials <= 0.99


def test_raters_who_answer_about_several_stimuli() -> None:
    rng = np.random.default_rng(3)
    rater, stimulus, item = (part.ravel() for part in np.indices((8, 12, 3)))
    value = rng.normal(0, 1, (1, 12, 1)) + rng.normal(0, 1, (8, 12, 3))
    ratings = Ratings(
        {
            "stimulus": stimulus,
            "rater": rater,
            "label": np.array(["a", "b", "c"])[item],
            "value": value.ravel(),
        },
        scale="interval",
    )
    result = internal_consistency(ratings)
    row = result.to_frame().row(0, named=True)
    assert (row["target"], row["n_questionnaires"], row["n_items"]) == ("both", 96, 12)
    assert SEVERAL_STIMULI_EACH in result.notes


def test_the_verb(tmp_path: Path) -> None:
    questionnaire(attitude()).write(tmp_path / "q.csv")
    done = run_here(
        "reliability",
        "internal-consistency",
        tmp_path / "q.csv",
        "--scale",
        "interval",
        "--items",
        "rating,complaints,raises",
        "--figures",
        tmp_path,
    )
    assert "0.872" in done.stdout  # Cronbach's alpha.
    assert (tmp_path / "items.svg").exists()
