"""Raters beside the panel: measures by hand, planted raters, false alarms in simulated panels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from affectlab.core.errors import InputError
from affectlab.ratings import Ratings, read_ratings
from affectlab.reliability import screen
from affectlab.reliability.screening.attention import biases
from affectlab.reliability.screening.false_alarms import PanelModel
from affectlab.reliability.screening.screen import Screening
from affectlab.reliability.screening.trials import trials_of
from affectlab.reliability.screening.wording import Gap

HONEST = {"severity": 0.0, "slope": 1.0, "error": 1.0, "drift": 0.0, "random": False}


def panel(
    seed: int,
    planted: dict[str, dict[str, Any]] | None = None,
    *,
    n_raters: int = 24,
    n_stimuli: int = 80,
    order: bool = True,
) -> Ratings:
    """Raters who differ a little, and some who differ as is planted."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, 1.8, n_stimuli)
    rows = []
    for k in range(n_raters):
        name = f"r{k:02d}"
        own = HONEST | (planted or {}).get(name, {})
        bias, slope = own["severity"] + rng.normal(0, 0.5), own["slope"] + rng.normal(0, 0.08)
        error = own["error"] * np.exp(rng.normal(0, 0.12))
        for trial, stimulus in enumerate(rng.permutation(n_stimuli).tolist()):
            if rng.random() < 0.3:
                continue
            value = 4 + slope * truth[stimulus] + bias + rng.normal(0, error)
            value += own["drift"] * (trial / n_stimuli - 0.5)
            value = rng.uniform(0, 8) if own["random"] else value
            rows.append((f"s{stimulus:03d}", name, float(np.clip(np.rint(value), 0, 8)), trial))
    frame = pl.DataFrame(rows, schema=["stimulus", "rater", "value", "trial"], orient="row")
    return Ratings(frame if order else frame.drop("trial"), scale="0-8")


def violated(result: Any) -> set[tuple[str, str]]:
    return set(result.evidence.filter(pl.col("violated")).select("rule", "rater").rows())


def gaps(result: Screening) -> dict[str, str | None]:
    """Why each rule did not judge."""
    return dict(result.evidence.select("rule", "gap").rows())


def test_planted_raters_are_named_for_what_they_do() -> None:
    planted: dict[str, dict[str, Any]] = {
        "r00": {"severity": 3.5},
        "r01": {"slope": 0.1},
        "r02": {"error": 3.0},
        "r03": {"random": True},
        "r04": {"drift": 4.0},
    }
    result = screen(panel(1, planted), policy="panel")
    found = violated(result)
    for rule, rater in (
        ("severity", "r00"),
        ("centrality", "r01"),
        ("agreement", "r01"),
        ("inconsistency", "r02"),
        ("agreement", "r03"),
        ("drift", "r04"),
    ):
        assert (rule, rater) in found
    assert {rater for _, rater in found} == set(planted)
    # Who scatters but follows what is shown may be right; a tenth of the others' slope is none.
    assert set(result.raters_to_drop()) == {"r01", "r03"}
    looks = result.to_frame().filter("look")["rater"].to_list()
    assert set(looks) == {"r00", "r02", "r04"}
    measures = {row["rater"]: row for row in result.to_frame("measures").to_dicts()}
    assert measures["r01"]["centrality"] < 0.3
    assert measures["r04"]["drift"] == pytest.approx(4, abs=1.2)
    assert measures["r10"]["agreement"] > 0.7
    severe = result.evidence.filter(pl.col("violated"), pl.col("rule") == "severity")
    assert "r00" in severe["rater"].to_list()


def test_measures_by_hand() -> None:
    """Six raters on forty stimuli, none of whom is so unlike the others as to leave the panel."""
    rng = np.random.default_rng(2)
    truth = rng.normal(50, 15, 40)
    values = truth + rng.normal(0, 6, (6, 40))
    values[4] += 2
    stimulus, rater = (part.ravel() for part in np.indices((40, 6)))
    table = {"stimulus": stimulus, "rater": rater, "value": values.T.ravel()}
    result = screen(Ratings(table, scale="interval"), policy="panel")
    assert not violated(result)
    frame = result.to_frame("measures").sort("rater")
    names = dict(zip(frame["rater"], range(6), strict=True))
    unbiased = values - values.mean(axis=1, keepdims=True)
    for name, row in names.items():
        k = int(name)
        others = np.delete(unbiased, k, axis=0).mean(axis=0)
        slope, start = np.polyfit(others, values[k], 1)
        left = values[k] - slope * others - start
        one = frame.row(row, named=True)
        assert one["centrality"] == pytest.approx(slope, rel=1e-6)
        assert one["inconsistency"] == pytest.approx(np.sqrt((left**2).sum() / 38), rel=1e-6)
        assert one["agreement"] == pytest.approx(np.corrcoef(others, values[k])[0, 1], rel=1e-6)
        difference = values[k].mean() - np.delete(values, k, axis=0).mean()
        # The others' mean is that of all raters, whose biases are 0 on average.
        assert one["severity"] == pytest.approx(difference * 5 / 6, rel=1e-6)
    assert np.isnan(frame["drift"].to_numpy()).all()
    assert gaps(result)["drift"] == Gap.NO_ORDER_COLUMN


def test_one_other_rater_of_a_stimulus_is_enough() -> None:
    rng = np.random.default_rng(4)
    truth = rng.normal(50, 15, 90)
    pairs = np.array([rng.choice(4, 2, replace=False) for _ in truth])
    values = truth[:, None] + rng.normal(0, 6, pairs.shape)
    stimulus = np.repeat(np.arange(90), 2)
    table = {"stimulus": stimulus, "rater": pairs.ravel(), "value": values.ravel()}
    frame = screen(Ratings(table, scale="interval"), policy="panel").to_frame("measures")
    for name in ("severity", "centrality", "inconsistency", "agreement"):
        assert np.isfinite(frame[name].to_numpy()).all(), name


def test_biases_of_raters_who_saw_other_stimuli() -> None:
    """The bias of a rater does not depend on how high the stimuli are that they saw."""
    rng = np.random.default_rng(0)
    truth, bias = rng.normal(0, 3, 200), np.array([-1.0, 0.0, 0.0, 1.0])
    cell, rater = (part.ravel() for part in np.indices((200, 4)))
    seen = (rng.random(800) < np.where((truth[cell] > 0) == (rater < 2), 0.9, 0.4)) | (rater == 1)
    cell, rater = cell[seen], rater[seen]
    found = biases(cell, rater, truth[cell] + bias[rater], np.ones(4, dtype=bool))
    assert found == pytest.approx(bias, abs=1e-6)


@pytest.mark.long
def test_attentive_raters_are_seldom_named_and_simulations_say_so() -> None:
    panels = 80
    named = {"severity": 0, "centrality": 0, "inconsistency": 0, "agreement": 0, "drift": 0}
    for seed in range(panels):
        for rule in {rule for rule, _ in violated(screen(panel(seed), policy="panel"))}:
            named[rule] = named.get(rule, 0) + 1
    assert max(named.values()) / panels <= 0.06
    result = screen(panel(0), policy="panel", n_simulations=100)
    alarms = {row["rule"]: row for row in result.to_frame("false_alarms").to_dicts()}
    assert set(named) <= set(alarms)
    for rule, count in named.items():
        assert abs(alarms[rule]["panels"] - count / panels) <= 0.06


def test_a_simulated_panel_is_like_the_one_it_is_fitted_to() -> None:
    trials = trials_of(panel(3, {"r00": {"random": True}}), per_session=False, golden=None)
    model = PanelModel.fit(trials)
    assert model.sd[0] == pytest.approx(0.5, abs=0.2)
    assert model.sd[2] == pytest.approx(0.12, abs=0.08)
    assert np.exp(model.log_error) == pytest.approx(1.0, abs=0.15)
    again = model.simulate(trials, np.random.default_rng(1))
    assert set(np.unique(again.value)) <= set(range(9))
    assert again.value.std() == pytest.approx(trials.value.std(), rel=0.15)
    assert again.ratings.value.tolist() != trials.ratings.value.tolist()


def test_means_of_few_answers_are_drawn_to_the_middle() -> None:
    """A step of the model is a step of what is true; one of the means is less."""
    slopes = []
    for seed in range(3, 9):
        ratings = panel(seed, n_raters=4)
        trials = trials_of(ratings, per_session=False, golden=None)
        model = PanelModel.fit(trials)
        planted = np.random.default_rng(seed).normal(0, 1.8, 80)
        names = [int(name[1:]) for name in ratings.stimulus_names]
        truth = np.clip(4 + planted[names], 0, 8)[ratings.stimulus_code]
        mean = np.bincount(trials.cell, trials.value) / np.bincount(trials.cell)
        slopes.append([np.polyfit(x, truth, 1)[0] for x in (model.cell_mean, mean[trials.cell])])
        assert model.cell_mean.mean() == pytest.approx(trials.value.mean(), abs=0.3)
    of_model, of_means = np.mean(slopes, axis=0)
    assert of_model == pytest.approx(1, abs=0.07)
    assert of_means < of_model - 0.04


def test_false_alarms_of_any_policy() -> None:
    ratings = panel(4)
    result = screen(ratings, policy="correlation", n_simulations=10, seed=1)
    alarms = result.to_frame("false_alarms")
    assert alarms["rule"].to_list() == ["correlation", "duplicates", "not used"]
    assert alarms["n_panels"].unique().to_list() == [10]
    again = screen(ratings, policy="correlation", n_simulations=10, seed=1)
    assert again.to_frame("false_alarms").equals(alarms)
    assert "false_alarms" not in {table.name for table in screen(ratings).tables}


def test_what_cannot_be_judged_or_simulated() -> None:
    few = panel(5, n_raters=2)
    result = screen(few, policy="panel")
    assert not violated(result)
    assert gaps(result)["severity"] == Gap.FEW_RATERS
    with pytest.raises(InputError, match="no model of attentive raters"):
        screen(few, n_simulations=5)
    with pytest.raises(InputError, match="n_simulations = -1"):
        screen(few, n_simulations=-1)
    names = panel(6, n_raters=5)
    words = np.array(["joy", "fear"])[(names.value > 4).astype(int)]
    chosen = names.to_frame().select("stimulus", "rater").with_columns(value=pl.Series(words))
    nominal = screen(Ratings(chosen, scale="nominal:joy,fear"), policy="panel")
    assert gaps(nominal)["severity"] == Gap.NO_ORDER


def test_yes_and_no_stay_yes_and_no() -> None:
    rng = np.random.default_rng(7)
    chance = rng.beta(0.5, 1.0, 100)
    stimulus, rater = (part.ravel() for part in np.indices((100, 8)))
    value = (rng.random(800) < chance[stimulus]).astype(int)
    ratings = Ratings({"stimulus": stimulus, "rater": rater, "value": value}, scale="binary")
    trials = trials_of(ratings, per_session=False, golden=None)
    again = PanelModel.fit(trials).simulate(trials, np.random.default_rng(1))
    assert set(again.value.tolist()) == {0.0, 1.0}
    assert again.value.mean() == pytest.approx(value.mean(), abs=0.05)
    alarms = screen(ratings, policy="panel", n_simulations=20).to_frame("false_alarms")
    assert alarms["panels"].to_numpy().max() <= 0.2


@pytest.mark.data
def test_four_planted_outliers_of_a_published_panel(shared_data: Path) -> None:
    folder = shared_data / "subjective_quality"
    planted, clean = (
        screen(read_ratings(folder / f"netflix_public{name}.json"), policy="panel")
        for name in ("_4_outliers", "")
    )
    assert not violated(clean)
    assert len(planted.raters_to_drop()) == 4
    assert {rater for _, rater in violated(planted)} == set(planted.raters_to_drop())
