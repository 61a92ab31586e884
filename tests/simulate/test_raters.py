from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from affectlab.core.errors import InputError
from affectlab.ratings import Scale
from affectlab.simulate import panel, simulate_raters, simulate_truth
from affectlab.simulate.raters import PRESETS, RaterProfile, Simulation, Truth, rater_profile


def wide_truth(n: int = 400) -> Truth:
    """A truth far from the ends of a wide scale, where answers are not cut off."""
    inner = simulate_truth(n, "mikels", "0-100 interval", seed=0)
    return Truth(300.0 + inner.value, inner.stimuli, inner.labels, Scale.parse("0-700 interval"))


def errors(simulation: Simulation, rater: str) -> NDArray[np.float64]:
    """Answer minus truth of one rater, main trials."""
    rows = simulation.ratings.select(raters=[rater], trial_kind="main").frame
    known = simulation.truth.to_frame().rename({"value": "true"})
    joined = rows.with_columns(pl.col("stimulus", "label").cast(pl.String)).join(
        known, on=["stimulus", "label"]
    )
    return np.asarray(joined["value"] - joined["true"])


def test_bias_and_inconsistency_are_what_was_asked_for() -> None:
    raters = [RaterProfile("a", bias=12.0, inconsistency=5.0), RaterProfile("b", bias=-3.0)]
    simulation = simulate_raters(wide_truth(), raters, seed=1)
    a, b = errors(simulation, "a"), errors(simulation, "b")
    assert a.mean() == pytest.approx(12.0, abs=4 * 5.0 / np.sqrt(len(a)))
    assert a.std() == pytest.approx(5.0, rel=0.06)
    np.testing.assert_allclose(b, -3.0)


def test_reversed_rater_is_the_mirror_image() -> None:
    truth = wide_truth(50)
    simulation = simulate_raters(
        truth, [RaterProfile("up"), RaterProfile("down", reversed=True)], seed=0
    )
    up, down = simulation.ratings.matrix("fear")
    np.testing.assert_allclose(up + down, 700.0)
    assert np.corrcoef(up, down)[0, 1] == pytest.approx(-1.0)


def test_straight_liner_never_moves_and_lazy_trials_are_all_low() -> None:
    truth = simulate_truth(200, seed=0)
    raters = [rater_profile("straight_liner", "flat"), RaterProfile("lazy", laziness=0.4, bias=3.0)]
    ratings = simulate_raters(truth, raters, seed=0).ratings
    assert np.unique(ratings.select(raters=["flat"]).value).size == 1
    lazy = (
        ratings.select(raters=["lazy"])
        .frame.group_by("trial")
        .agg((pl.col("value") == 0.0).all().alias("blank"), pl.col("rt_ms").first())
    )
    assert lazy["blank"].mean() == pytest.approx(0.4, abs=0.1)
    slow, quick = (lazy.filter(pl.col("blank") == flag)["rt_ms"].median() for flag in (False, True))
    assert quick < 0.5 * slow  # type: ignore[operator]


def test_scale_use_draws_answers_to_the_middle() -> None:
    truth = simulate_truth(200, seed=0, scale="0-7 interval")
    raters = [RaterProfile("full"), RaterProfile("half", scale_use=0.5)]
    ratings = simulate_raters(truth, raters, seed=0).ratings
    assert np.ptp(ratings.select(raters=["half"]).value) == pytest.approx(
        0.5 * np.ptp(ratings.select(raters=["full"]).value)
    )


def test_label_bias_and_confusion_act_on_their_labels_only() -> None:
    truth = simulate_truth(
        2, "mikels", "0-100 interval", seed=0, spread=0.0, tau=0.01,
        expressions=["fear", "disgust"], intensities=[1.0, 1.0],
    )  # fmt: skip
    rater = RaterProfile(
        "m", kind="model", confusions={"fear": ("awe", 0.75)}, label_bias={"anger": 9.0}
    )
    frame = simulate_raters(truth, [rater], seed=0).ratings.pivot(columns="label")
    first = frame.filter(pl.col("stimulus").cast(pl.String) == "s0001").row(0, named=True)
    second = frame.filter(pl.col("stimulus").cast(pl.String) == "s0002").row(0, named=True)
    assert (first["fear"], first["awe"], first["anger"]) == pytest.approx((25.0, 75.0, 9.0))
    assert (second["disgust"], second["awe"], second["anger"]) == pytest.approx((100.0, 0.0, 9.0))


@pytest.mark.parametrize("missing", [0.0, 0.25, 0.9])
def test_share_of_missing_answers(missing: float) -> None:
    truth = simulate_truth(300, seed=0)
    simulation = simulate_raters(truth, [RaterProfile("a", missing=missing)], seed=0)
    share = 1.0 - simulation.ratings.n_ratings / (300 * 8)
    assert share == pytest.approx(missing, abs=4 * np.sqrt(missing * (1 - missing) / 2400))


@given(
    st.integers(1, 12),
    st.integers(1, 5),
    st.sampled_from(["0-7", "1..5", "-3..3", "0-1 step 0.25", "0-100 interval", "binary"]),
    st.floats(-20, 20),
    st.integers(0, 2**32),
)
def test_answers_are_on_the_scale(
    n_stimuli: int, n_raters: int, scale: str, bias: float, seed: int
) -> None:
    truth = simulate_truth(n_stimuli, "ekman", scale, seed=seed)
    raters = panel(n_raters, seed, scale=scale, careless=0.5, missing=0.0)
    odd = RaterProfile("odd", bias=bias, inconsistency=abs(bias))
    ratings = simulate_raters(truth, [*raters, odd], seed=seed).ratings
    assert ratings.scale.contains(ratings.value).all()
    assert ratings.n_ratings == n_stimuli * (n_raters + 1) * len(truth.labels)


def test_trial_kinds_and_their_order() -> None:
    truth = simulate_truth(40, seed=0)
    people = panel(4, seed=0, missing=0.0)
    model = RaterProfile("m", kind="model")
    simulation = simulate_raters(truth, [*people, model], seed=0, golden=3, repeats=5)
    trials = simulation.ratings.frame.select("rater", "stimulus", "trial", "trial_kind").unique()
    counts = trials.group_by("rater", "trial_kind").len()
    for person in people:
        own = counts.filter(pl.col("rater") == person.name)
        assert dict(own.select("trial_kind", "len").iter_rows()) == {
            "main": 40,
            "golden": 3,
            "repeat": 5,
        }
        numbers = trials.filter(pl.col("rater") == person.name)["trial"].sort()
        assert numbers.to_list() == list(range(1, 49))
    assert counts.filter(pl.col("rater") == "m")["len"].to_list() == [40]
    main = trials.filter(pl.col("trial_kind") == "main")
    repeated = trials.filter(pl.col("trial_kind") == "repeat").join(main, on=["rater", "stimulus"])
    assert repeated.height == 20
    assert (repeated["trial"] > repeated["trial_right"]).all()
    shown = set(trials.filter(pl.col("trial_kind") == "golden")["stimulus"])
    assert shown == set(simulation.golden["stimulus"])
    assert len(shown) == 3
    assert simulation.ratings.answers().n_ratings == 5 * 40 * 8


def test_people_see_stimuli_in_different_orders() -> None:
    ratings = simulate_raters(simulate_truth(30, seed=0), panel(2, seed=0), seed=0).ratings
    orders = [
        ratings.select(raters=[name]).frame.sort("trial")["stimulus"].unique(maintain_order=True)
        for name in ratings.rater_names
    ]
    assert orders[0].to_list() != orders[1].to_list()


def test_sparse_design_gives_every_stimulus_its_number_of_people() -> None:
    truth = simulate_truth(60, seed=0)
    raters = [*panel(20, seed=0, missing=0.0), RaterProfile("m", kind="model")]
    simulation = simulate_raters(truth, raters, seed=0, raters_per_stimulus=5, repeats=3)
    main = simulation.ratings.answers().humans().frame
    seen = main.group_by("stimulus").agg(pl.col("rater").n_unique())
    assert seen.height == 60
    assert seen["rater"].unique().to_list() == [5]
    assert simulation.ratings.answers().models().n_stimuli == 60


def test_golden_stimuli_are_clear() -> None:
    truth = simulate_truth(200, seed=0)
    simulation = simulate_raters(truth, panel(2, seed=0), seed=0, golden=10)
    top = simulation.golden.group_by("stimulus").agg(pl.col("value").max())["value"]
    assert top.min() >= np.quantile(truth.value.max(axis=1), 0.5)  # type: ignore[operator]


def test_same_seed_same_table() -> None:
    truth = simulate_truth(30, seed=0)

    def run(seed: int) -> Simulation:
        return simulate_raters(truth, panel(5, seed=1), seed=seed, golden=2, repeats=2)

    assert run(7).ratings.frame.equals(run(7).ratings.frame)
    assert run(7).golden.equals(run(7).golden)
    assert not run(7).ratings.frame.equals(run(8).ratings.frame)


def test_rater_table_marks_who_is_simulated() -> None:
    raters = [*panel(3, seed=0), RaterProfile("m", kind="model")]
    table = simulate_raters(simulate_truth(5, seed=0), raters, seed=0).ratings.raters
    assert table["rater_kind"].to_list() == ["simulated"] * 3 + ["model"]
    assert {"age", "gender", "location"} <= set(table.columns)


def test_presets_fit_any_scale_and_panels_are_plausible() -> None:
    for preset in PRESETS:
        assert rater_profile(preset, "r", scale="0-70").inconsistency == pytest.approx(
            10.0 * rater_profile(preset, "r").inconsistency
        )
    raters = panel(2_000, seed=0, careless=0.25)
    assert panel(2_000, seed=0, careless=0.25) == raters
    bias = np.array([rater.bias for rater in raters])
    assert bias.std() == pytest.approx(0.49, rel=0.1)
    odd = np.mean([not rater.attentive for rater in raters])
    assert odd == pytest.approx(0.25 * 0.75, abs=0.04)  # sloppy raters are still attentive


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"raters": []}, "no rater given"),
        ({"raters": [RaterProfile("a"), RaterProfile("a")]}, "rater 'a' stands twice"),
        ({"golden": 99}, "golden = 99"),
        ({"repeats": -1}, "repeats = -1"),
        ({"raters_per_stimulus": 0}, "raters_per_stimulus = 0"),
        ({"raters_per_stimulus": 3}, "raters_per_stimulus = 3"),
        ({"raters": [RaterProfile("a", missing=1.0)]}, "every simulated answer is missing"),
        ({"raters": [RaterProfile("a", label_bias={"feer": 1.0})]}, "did you mean 'fear'"),
        ({"raters": [RaterProfile("a", confusions={"fear": ("awee", 1.0)})]}, "did you mean 'awe'"),
    ],
)
def test_hostile_input(arguments: dict[str, object], message: str) -> None:
    given_arguments = {"raters": panel(2, seed=0), "seed": 0} | arguments
    with pytest.raises(InputError, match=message):
        simulate_raters(simulate_truth(10, seed=0), **given_arguments)  # type: ignore[arg-type]


def test_hostile_profiles() -> None:
    with pytest.raises(InputError, match=r"rater 'a': laziness = 1.5"):
        RaterProfile("a", laziness=1.5)
    with pytest.raises(InputError, match=r"rater 'a': bias = nan"):
        RaterProfile("a", bias=float("nan"))
    with pytest.raises(InputError, match="unknown rater kind 'robot'"):
        RaterProfile("a", kind="robot")
    with pytest.raises(InputError, match=r"= 2\.0: expected a number from 0 to 1"):
        RaterProfile("a", confusions={"fear": ("awe", 2.0)})
    with pytest.raises(InputError, match="did you mean 'careful'"):
        rater_profile("carefull", "a")
    with pytest.raises(InputError, match="did you mean 'bias'"):
        rater_profile("careful", "a", biass=1.0)
    with pytest.raises(InputError, match="n = 0: expected a whole number from 1 on"):
        panel(0, seed=0)
    with pytest.raises(InputError, match="careless = 2"):
        panel(3, seed=0, careless=2)
