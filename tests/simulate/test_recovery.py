from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from scipy import stats

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause
from affectlab.simulate import panel, recovery, simulate_raters, simulate_truth
from affectlab.simulate.raters import RaterProfile, Simulation, rater_profile


@pytest.fixture(scope="module")
def simulation() -> Simulation:
    truth = simulate_truth(300, "mikels", "0-100 interval", seed=0)
    people = panel(12, seed=2, scale="0-100", careless=0.0, missing=0.1)
    odd = [
        rater_profile("reversed", "upside-down", scale="0-100"),
        rater_profile("straight_liner", "flat", scale="0-100"),
    ]
    model = RaterProfile("m", kind="model", inconsistency=5.0)
    return simulate_raters(truth, [*people, *odd, model], seed=3, golden=3, repeats=3)


def test_truth_comes_back(simulation: Simulation) -> None:
    found = recovery(simulation)
    assert found.to_frame()["spearman"].min() > 0.75  # type: ignore[operator]
    assert found.to_frame()["status"].unique().to_list() == ["ok"]
    # Answers cut off at the lower end of the scale hide a part of the bias.
    assert found.bias_r > 0.75
    assert found.inconsistency_r > 0.75


def test_agreement_is_low_for_careless_raters_and_no_other(simulation: Simulation) -> None:
    found = recovery(simulation)
    low = found.raters.filter(pl.col("agreement").fill_nan(-1) < 0.3)["rater"].to_list()
    assert set(low) == {"upside-down", "flat"}
    agreement = dict(found.raters.select("rater", "agreement").iter_rows())
    assert agreement["upside-down"] < -0.5
    assert math.isnan(agreement["flat"])


def test_spearman_and_rmse_agree_with_a_plain_computation(simulation: Simulation) -> None:
    means = simulation.ratings.answers().humans().select(labels=["fear"]).pivot(columns="label")
    truth = simulation.truth.to_frame().filter(pl.col("label") == "fear")
    joined = means.with_columns(pl.col("stimulus").cast(pl.String)).join(truth, on="stimulus")
    row = recovery(simulation).labels.filter(pl.col("label") == "fear").row(0, named=True)
    expected = stats.spearmanr(joined["fear"], joined["value"]).statistic
    assert row["spearman"] == pytest.approx(expected)
    assert row["rmse"] == pytest.approx(
        np.sqrt(np.mean((joined["fear"].to_numpy() - joined["value"].to_numpy()) ** 2))
    )


def test_inconsistency_is_recovered_without_shrinking() -> None:
    inner = simulate_truth(2_000, ["joy"], "0-100 interval", seed=0, expressions=["joy"] * 2_000,
                           intensities=np.linspace(0.3, 0.7, 2_000))  # fmt: skip
    raters = [RaterProfile(f"r{i}", bias=i - 1.5, inconsistency=5.0) for i in range(4)]
    found = recovery(simulate_raters(inner, raters, seed=1)).raters
    np.testing.assert_allclose(found["inconsistency"].to_numpy(), 5.0, rtol=0.05)
    np.testing.assert_allclose(found["bias"].to_numpy(), [-1.5, -0.5, 0.5, 1.5], atol=0.3)


def test_estimates_passed_in_are_used(simulation: Simulation) -> None:
    perfect = recovery(simulation, simulation.truth.to_frame())
    assert perfect.labels["rmse"].to_list() == [0.0] * 8
    assert perfect.labels["spearman"].min() == pytest.approx(1.0)
    half = recovery(simulation, simulation.truth.to_frame().filter(pl.col("label") == "awe"))
    undefined = half.labels.filter(pl.col("label") != "awe")
    assert set(undefined["reason"]) == {Cause.FEWER}
    assert undefined["spearman"].is_nan().all()


def test_one_rater_and_one_value_are_undefined_not_errors() -> None:
    truth = simulate_truth(5, "mikels", seed=0)
    alone = recovery(simulate_raters(truth, [RaterProfile("a", straight_lining=True)], seed=0))
    assert set(alone.labels["reason"]) == {Cause.CONSTANT}
    assert math.isnan(alone.bias_r)
    assert np.isnan(alone.raters["agreement"][0])


def test_hostile_estimates(simulation: Simulation) -> None:
    with pytest.raises(InputError, match="column 'label' is missing"):
        recovery(simulation, pl.DataFrame({"stimulus": ["a"], "value": [1.0]}))
    with pytest.raises(InputError, match="occur in the truth"):
        recovery(simulation, pl.DataFrame({"stimulus": ["x"], "label": ["fear"], "value": [1.0]}))
    models = simulate_raters(simulate_truth(5, seed=0), [RaterProfile("m", kind="model")], seed=0)
    with pytest.raises(InputError, match="no person among the raters"):
        recovery(models)
