"""Calibration: known answers, an independent library, bias and coverage, and bad input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.metrics import brier_score_loss

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason
from affectlab.core.inference import wilson_interval
from affectlab.evaluation import calibration
from affectlab.evaluation.soft_labels import model_calibration
from affectlab.ratings import Ratings

PARTS = ("reliability", "resolution", "uncertainty", "within_bins")


def drawn(n=2000, k=6, seed=1, heat=0.7):
    """Probabilities, and labels drawn from hotter or colder ones."""
    rng = np.random.default_rng(seed)
    scores = np.exp(2 * rng.normal(size=(n, k)))
    given_ = scores / scores.sum(axis=1, keepdims=True)
    true = scores**heat / (scores**heat).sum(axis=1, keepdims=True)
    label = (rng.random((n, 1)) > np.cumsum(true, axis=1)).sum(axis=1).clip(0, k - 1)
    return given_, label, true


def test_by_hand():
    found = calibration([0.9, 0.8, 0.8, 0.3], [1, 1, 0, 0], n_bins=2)
    # One item at 0.3 and none right; three at 0.833 on average and two of them right.
    assert found["ece"].value == pytest.approx(0.25 * 0.3 + 0.75 * (2.5 / 3 - 2 / 3))
    assert found["max_calibration_error"].value == pytest.approx(0.3)
    assert found["brier"].value == pytest.approx((0.01 + 0.04 + 0.64 + 0.09) / 4)
    assert found["overconfidence"].value == pytest.approx(0.7 - 0.5)
    low, high = wilson_interval(2, 3)
    assert found.bins.rows()[1][2:7] == pytest.approx((3, 2.5 / 3, 2 / 3, low, high))


def test_bins_are_closed_below_and_the_last_one_on_both_sides():
    found = calibration([0.0, 0.2, 0.6, 1.0], [0, 0, 1, 1], n_bins=5)
    assert found.bins["n"].to_list() == [1, 1, 0, 1, 1]
    assert found.bins["status"].to_list()[2] == "undefined"
    assert np.isnan(found.bins["share"].to_list()[2])


def test_equal_mass_bins_hold_equal_numbers_and_ties_together():
    rng = np.random.default_rng(0)
    found = calibration(rng.random(100), rng.random(100) < 0.5, n_bins=10)
    assert found.bins_equal_mass["n"].to_list() == [10] * 10
    tied = calibration([0.5] * 30 + [0.9] * 10, [1] * 40, n_bins=10)
    assert tied.bins_equal_mass["n"].to_list() == [30, 10]
    assert "2 bins of equal mass" in tied["ece_equal_mass"].statistic


@pytest.mark.parametrize(("norm", "name"), [("l1", "ece"), ("max", "max_calibration_error")])
def test_against_torchmetrics(norm, name):
    torch = pytest.importorskip("torch")
    peer = pytest.importorskip("torchmetrics.functional.classification")
    probabilities, label, _ = drawn()
    expected = peer.multiclass_calibration_error(
        torch.tensor(probabilities), torch.tensor(label), 6, 15, norm
    )
    found = calibration(probabilities, label)
    assert found[name].value == pytest.approx(expected.item(), abs=1e-5)
    hit = probabilities.argmax(axis=1) == label
    binary = calibration(probabilities.max(axis=1), hit)
    assert binary[name].value == pytest.approx(found[name].value)


def test_brier_is_that_of_scikit_learn_and_splits_exactly():
    probabilities, label, _ = drawn(k=2)
    found = calibration(probabilities[:, 1], label == 1)
    assert found["brier"].value == pytest.approx(brier_score_loss(label, probabilities[:, 1]))
    parts = {name: found[f"brier_{name}"].value for name in PARTS}
    total = parts["reliability"] - parts["resolution"] + parts["uncertainty"]
    assert found["brier"].value == pytest.approx(total + parts["within_bins"])
    assert parts["uncertainty"] == pytest.approx(np.var(label == 1))


@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.integers(1, 20))
def test_laws(seed, n, n_bins):
    rng = np.random.default_rng(seed)
    confidence, outcome = rng.random(n), rng.random(n)
    found = calibration(confidence, outcome, n_bins=n_bins)
    value = {name: found[name].value for (name,), _ in found}
    assert 0 <= value["ece"] <= value["max_calibration_error"] + 1e-12 <= 1 + 1e-12
    assert abs(value["overconfidence"]) <= value["ece"] + 1e-9
    assert value["rms_calibration_error_debiased"] <= value["rms_calibration_error"] + 1e-12
    parts = [value[f"brier_{name}"] for name in PARTS]
    assert value["brier"] == pytest.approx(parts[0] - parts[1] + parts[2] + parts[3])
    assert found.bins["n"].sum() == found.bins_equal_mass["n"].sum() == n


def test_soft_truth_wants_a_model_as_sure_as_people_are_united():
    rng = np.random.default_rng(2)
    people = rng.dirichlet(np.full(5, 0.5), 500)
    assert calibration(people, people)["ece"].value == pytest.approx(0, abs=1e-12)
    sharp = people**3 / (people**3).sum(axis=1, keepdims=True)
    found = calibration(sharp, people)
    assert found["overconfidence"].value > 0.05
    top = sharp.argmax(axis=1)
    assert found["accuracy"].value == pytest.approx(people[np.arange(500), top].mean())
    assert found["brier"].value == pytest.approx(((sharp - people) ** 2).sum(axis=1).mean())


def test_every_label_is_judged():
    probabilities, label, _ = drawn(n=500, k=4)
    names = ["joy", "awe", "fear", "anger"]
    found = calibration(probabilities, [names[at] for at in label], labels=names, n_bins=10)
    errors = []
    for at in range(4):
        one = calibration(probabilities[:, at], label == at, n_bins=10)
        errors.append(one["ece"].value)
    assert found.classes["ece"].to_list() == pytest.approx(errors)
    assert found["classwise_ece"].value == pytest.approx(np.mean(errors))
    assert found.classes["label"].to_list() == names


def test_debiased_error_is_unbiased_and_its_interval_covers():
    # Overconfident by 0.08 everywhere; noise alone lifts the plain error well above.
    truth, covered, plain, debiased = 0.08, 0, [], []
    for trial in range(80):
        rng = np.random.default_rng(trial)
        confidence = 0.3 + 0.7 * rng.beta(3, 1.5, 500)
        outcome = rng.random(500) < confidence - truth
        found = calibration(confidence, outcome, n_boot=200, seed=trial)
        one = found["rms_calibration_error_debiased"]
        covered += one.low <= truth <= one.high
        plain.append(found["rms_calibration_error"].value ** 2)
        debiased.append(one.value**2)
    assert np.mean(plain) > truth**2 + 0.004
    assert np.mean(debiased) == pytest.approx(truth**2, abs=0.0015)
    assert covered >= 70


def test_intervals():
    probabilities, label, _ = drawn(n=400)
    found = calibration(probabilities, label, n_boot=100, seed=3)
    again = calibration(probabilities, label, n_boot=100, seed=3)
    assert found.to_frame().equals(again.to_frame())
    for name in ("ece", "brier", "accuracy"):
        assert found[name].low < found[name].high
        assert found[name].target == "stimuli"
    assert found["max_calibration_error"].reason == Reason(Cause.LARGEST_ERROR)
    assert np.isnan(calibration(probabilities, label, n_boot=0)["ece"].low)


def test_models_beside_people():
    rows = {"stimulus": [], "rater": [], "label": [], "value": []}
    votes = {"a": (3, 1), "b": (2, 2), "c": (0, 4)}
    for stimulus, count in votes.items():
        for person in range(4):
            for at, label in enumerate(("joy", "fear")):
                chosen = person < count[0] if at == 0 else person >= 4 - count[1]
                for name, entry in zip(
                    rows, (stimulus, f"p{person}", label, int(chosen)), strict=True
                ):
                    rows[name].append(entry)
    people = Ratings(rows, scale="binary")
    scores = {
        "stimulus": [s for s in "abc" for _ in "12"],
        "rater": ["net"] * 6,
        "label": ["joy", "fear"] * 3,
        "value": [0.8, 0.2, 0.6, 0.4, 0.3, 0.7],
    }
    model = Ratings(scores, scale="0-1 interval")
    soft = model_calibration(people, model)["net"]
    assert soft["accuracy"].value == pytest.approx((0.75 + 0.5 + 1) / 3)
    assert soft["mean_confidence"].value == pytest.approx(0.7)
    hard = model_calibration(people, model, truth="majority")["net"]
    assert hard["accuracy"].value == 1
    assert hard["ece"].n_items == 2
    sure = model.with_values((model.value > 0.5).astype(float), step="one label")
    with pytest.raises(InputError, match="no model gives probabilities"):
        model_calibration(people, sure)
    with pytest.raises(InputError, match="unknown truth"):
        model_calibration(people, model, truth="median")


@pytest.mark.parametrize(
    ("probabilities", "truth", "options", "words"),
    [
        ([0.5, 1.2], [1, 0], {}, "item 1: 1.2; expected 0 to 1"),
        ([0.5, float("nan")], [1, 0], {}, "expected 0 to 1"),
        ([0.5], [1, 0], {}, "expected the same"),
        ([], [], {}, "nothing is given"),
        (["a"], [1], {}, "expected numbers"),
        ([[0.5, 0.6]], [0], {}, "sum to 1.1"),
        ([[0.5, 0.5]], [2], {}, "position 2; expected 0 to 1"),
        ([[0.5, 0.5]], ["joi"], {"labels": ["joy", "awe"]}, "did you mean 'joy'"),
        ([[0.5, 0.5]], [[0.7, 0.7]], {}, "truth, row 0: it sums to 1.4"),
        ([[0.5, 0.5]], [[1, 0, 0]], {}, r"expected \(1, 2\)"),
        ([[0.5, 0.5]], [0, 1], {}, "one label per item"),
        ([[0.5, 0.5]], [0], {"labels": ["joy"]}, "expected 2 different names, one per column"),
        ([0.5], [1], {"labels": ["joy"]}, "labels belong to"),
        ([[[0.5]]], [1], {}, "for k labels"),
        ([0.5], [1], {"n_bins": 0}, "n_bins = 0"),
        ([0.5], [1], {"confidence": 2}, "confidence"),
    ],
)
def test_bad_input(probabilities, truth, options, words):
    with pytest.raises(InputError, match=words):
        calibration(probabilities, truth, **options)


def test_confidences_that_rounding_tells_apart_share_a_bin() -> None:
    same = np.full(20, 0.3)
    same[::2] = np.nextafter(0.3, 1)
    said = np.concatenate([same, np.full(20, 0.8)])
    found = calibration(said, np.arange(40) % 2 == 0, n_bins=4, n_boot=0)
    assert found.bins_equal_mass["n"].to_list() == [20, 20]
