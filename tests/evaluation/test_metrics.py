"""ECC, EMC, ACC2 and emotional distance: known answers, names, costs of any source, bad input."""

from __future__ import annotations

import json
import re

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason
from affectlab.evaluation import acc, acc2, accuracy, ecc, emc
from affectlab.evaluation.classification import (
    CLASSIFICATION_METRICS,
    Confusion,
    mean_emotional_distance,
    metrics_of_confusion,
)
from affectlab.taxonomy import (
    CostMatrix,
    Taxonomy,
    cost_from_confusions,
    cost_from_correlation,
    cost_from_differences,
    load_taxonomy,
)
from affectlab.taxonomy.label import Label

MIKELS = load_taxonomy("mikels")
SEVEN_WRONG = [name for name in MIKELS.labels if name != "amusement"]
DISTANCES = {
    "contentment": 2,
    "awe": 3,
    "excitement": 4,
    "fear": 8,
    "sadness": 7,
    "disgust": 6,
    "anger": 5,
}


def slowly(true, predicted, costs, side):
    """The definitions, item by item."""
    right = [t == p for t, p in zip(true, predicted, strict=True)]
    distance = [costs.cost(t, p) for t, p in zip(true, predicted, strict=True)]
    wrong = [w for w, hit in zip(distance, right, strict=True) if not hit]
    return {
        "accuracy": sum(right) / len(right),
        "acc2": sum(side[t] == side[p] for t, p in zip(true, predicted, strict=True)) / len(right),
        "ecc": sum(1 / w for w in distance) / len(right),
        "emc": sum(1 / (w - 1) for w in wrong) / len(wrong) if wrong else np.nan,
        "mean_emotional_distance": sum(distance) / len(right),
    }


@pytest.mark.parametrize(("predicted", "distance"), DISTANCES.items())
def test_row_of_amusement(predicted, distance):
    true = ["amusement"]
    assert mean_emotional_distance(true, [predicted], "mikels") == distance
    assert ecc(true, [predicted], "mikels") == pytest.approx(1 / distance)
    assert emc(true, [predicted], "mikels") == pytest.approx(1 / (distance - 1))
    assert acc2(true, [predicted], "mikels") == (distance <= 4)


@pytest.mark.data
def test_reference_matrix(shared_data):
    reference = json.loads((shared_data / "ecc" / "ecc_reference.json").read_text())
    order, costs = reference["order"], np.array(reference["W"], dtype=float)
    for i, true in enumerate(order):
        for j, predicted in enumerate(order):
            assert mean_emotional_distance([true], [predicted], "mikels") == costs[i, j]
    counts = np.random.default_rng(0).integers(0, 9, (8, 8))
    seen = Confusion.from_counts(counts, order, "mikels")
    assert seen.ecc == pytest.approx((counts / costs).sum() / counts.sum())
    off = ~np.eye(8, dtype=bool)
    assert seen.emc == pytest.approx((counts[off] / (costs[off] - 1)).sum() / counts[off].sum())
    emoset = reference["emoset_info_json_order"]
    places = [order.index(name) for name in emoset]
    again = Confusion.from_counts(counts[np.ix_(places, places)], emoset, "mikels")
    assert (again.ecc, again.emc, again.acc2) == pytest.approx((seen.ecc, seen.emc, seen.acc2))


def test_codes_are_found_by_the_names_they_stand_for():
    emoset = [
        "amusement",
        "awe",
        "contentment",
        "excitement",
        "anger",
        "disgust",
        "fear",
        "sadness",
    ]
    rng = np.random.default_rng(1)
    true, predicted = rng.integers(0, 8, (2, 200))
    names = np.array(emoset)
    by_code = ecc(true, predicted, "mikels", labels=emoset)
    assert by_code == pytest.approx(ecc(names[true], names[predicted], "mikels"))
    by_position = ecc(true, predicted, "mikels", labels=MIKELS.labels)
    assert by_code != pytest.approx(by_position)


labels_of_items = st.integers(1, 60).flatmap(
    lambda n: st.tuples(
        arrays(np.int64, n, elements=st.integers(0, 7)),
        arrays(np.int64, n, elements=st.integers(0, 7)),
    )
)


@given(labels_of_items)
@settings(max_examples=60)
def test_equal_the_definitions(codes):
    names = np.array(MIKELS.labels)
    true, predicted = names[codes[0]].tolist(), names[codes[1]].tolist()
    expected = slowly(true, predicted, MIKELS.cost_matrix(), MIKELS.polarity)
    assert accuracy(true, predicted, "mikels") == pytest.approx(expected["accuracy"])
    assert acc2(true, predicted, "mikels") == pytest.approx(expected["acc2"])
    assert ecc(true, predicted, "mikels") == pytest.approx(expected["ecc"])
    assert emc(true, predicted, "mikels") == pytest.approx(expected["emc"], nan_ok=True)
    assert mean_emotional_distance(true, predicted, "mikels") == pytest.approx(
        expected["mean_emotional_distance"]
    )


@given(arrays(np.int64, (8, 8), elements=st.integers(0, 20)))
@settings(max_examples=150)
def test_bounds(counts):
    if not counts.sum():
        counts[0, 0] = 1
    seen = Confusion.from_counts(counts, MIKELS.labels, "mikels")
    acc_, acc2_, ecc_, emc_ = seen.accuracy, seen.acc2, seen.ecc, seen.emc
    slack = 1e-9
    assert 1 / 8 - slack <= ecc_ <= 1 + slack
    assert acc_ <= acc2_ + slack
    low = acc_ + (acc2_ - acc_) / 4 + (1 - acc2_) / 8
    high = acc_ + (acc2_ - acc_) / 2 + (1 - acc2_) / 5
    assert low - slack <= ecc_ <= high + slack
    if acc_ == 1:
        assert np.isnan(emc_)
        return
    assert 1 / 7 - slack <= emc_ <= 1 + slack
    m = (ecc_ - acc_) / (1 - acc_)
    assert m / (1 - m) - 1e-7 <= emc_ <= (16 * m - 1) / 7 + 1e-7


@given(arrays(np.int64, (8, 8), elements=st.integers(0, 20)), st.permutations(range(8)))
@settings(max_examples=40)
def test_order_of_labels_means_nothing(counts, order):
    names = [MIKELS.labels[k] for k in order]
    one = metrics_of_confusion(counts, MIKELS.labels, "mikels")
    other = metrics_of_confusion(counts[np.ix_(order, order)], names, "mikels")
    for name, value in one.items():
        assert float(other[name]) == pytest.approx(float(value), abs=1e-9, nan_ok=True)


def test_milder_mistakes_are_better():
    true = ["awe"] * 4
    mild, harsh = ["contentment"] * 4, ["disgust"] * 4
    for name, metric in (("ecc", ecc), ("emc", emc), ("acc2", acc2)):
        assert CLASSIFICATION_METRICS[name].better == "higher"
        assert metric(true, mild, "mikels") > metric(true, harsh, "mikels")
    assert CLASSIFICATION_METRICS["mean_emotional_distance"].better == "lower"
    assert mean_emotional_distance(true, mild, "mikels") < mean_emotional_distance(
        true, harsh, "mikels"
    )


def test_names_in_any_spelling():
    assert accuracy(["Awe", "FEAR"], ["awe", "fear"], "mikels") == 1
    assert accuracy(["happiness"], ["joy"], "ekman") == 1
    assert accuracy(["Awe"], ["awe"]) == 0
    assert acc is accuracy


def costs_of_every_source():
    labels = ("joy", "fear", "anger")
    yield "ring", load_taxonomy("mikels").cost_matrix("ring")
    yield "groups", load_taxonomy("goemotions").cost_matrix("groups")
    yield "reference", load_taxonomy("ekman").cost_matrix("reference")
    yield (
        "correlation",
        cost_from_correlation([[1, -0.4, -0.2], [-0.4, 1, 0.3], [-0.2, 0.3, 1]], labels),
    )
    yield "confusions", cost_from_confusions([[8, 1, 1], [0, 7, 3], [1, 2, 7]], labels)
    yield "differences", cost_from_differences([[0, 60, 50], [60, 0, 20], [50, 20, 0]], labels)


@pytest.mark.parametrize(
    "costs", [pytest.param(costs, id=source) for source, costs in costs_of_every_source()]
)
def test_costs_of_every_source(costs):
    rng = np.random.default_rng(5)
    names = np.array(costs.labels)
    true, predicted = names[rng.integers(0, len(names), (2, 300))]
    side = dict.fromkeys(names, "all")
    expected = slowly(true, predicted, costs, side)
    for metric in (ecc, emc, mean_emotional_distance):
        assert metric(true, predicted, costs) == pytest.approx(expected[metric.__name__])


def lacking(what: str, label: str) -> str:
    """What is said where a label has no costs, or no polarity."""
    return re.escape(str(Reason(Cause.NONE, of=f"{what} of label {label!r}")))


def test_costs_beside_a_taxonomy():
    measured = cost_from_differences(
        [[0, 60, 50], [60, 0, 20], [50, 20, 0]], ["Happiness", "fear", "anger"]
    )
    true, predicted = ["joy", "anger"], ["fear", "fear"]
    assert mean_emotional_distance(true, predicted, "ekman", costs=measured) == pytest.approx(
        (measured.cost("Happiness", "fear") + measured.cost("anger", "fear")) / 2
    )
    by_groups = mean_emotional_distance(["awe"], ["fear"], "mikels", costs="groups")
    assert by_groups == MIKELS.cost_matrix("groups").cost("awe", "fear")
    with pytest.raises(
        InputError, match=re.escape(str(Reason(Cause.NONE, of="costs of label 'disgust'")))
    ):
        ecc(["joy"], ["disgust"], "ekman", costs=measured)


def test_groups_for_acc2():
    true, predicted = ["grief", "anger", "joy"], ["sadness", "fear", "love"]
    assert acc2(true, predicted, "goemotions") == 1
    assert acc2(true, predicted, "goemotions", groups="ekman") == pytest.approx(2 / 3)
    costs = cost_from_correlation(np.eye(2), ["joy", "fear"])
    assert acc2(["joy"], ["fear"], costs, groups={"joy": "up", "fear": "down"}) == 0
    with pytest.raises(InputError, match=re.escape(str(Reason(Cause.COSTS_WITHOUT_POLARITY)))):
        acc2(["joy"], ["fear"], costs)
    with pytest.raises(InputError, match=re.escape(str(Reason(Cause.NO_POLARITY)))):
        acc2(["valence"], ["arousal"], "russell")
    half = Taxonomy("half", (Label("up", polarity="positive"), Label("odd")))
    assert acc2(["up"], ["up"], half) == 1
    with pytest.raises(
        InputError, match=re.escape(str(Reason(Cause.NONE, of="polarity of label 'odd'")))
    ):
        acc2(["up"], ["odd"], half)
    with pytest.raises(InputError, match="unknown level 'ekmen'; did you mean 'ekman'"):
        acc2(true, predicted, "goemotions", groups="ekmen")


def test_neutral_label_without_costs():
    ring = Taxonomy(
        "three",
        (
            Label("up", polarity="positive"),
            Label("down", polarity="negative"),
            Label("flat", polarity="neutral"),
        ),
        ring=("up", "down"),
        neutral="flat",
    )
    assert ecc(["up", "down"], ["up", "up"], ring) == pytest.approx((1 + 1 / 5) / 2)
    assert accuracy(["flat"], ["flat"], ring) == 1
    with pytest.raises(
        InputError, match=re.escape(str(Reason(Cause.NONE, of="costs of label 'flat'")))
    ):
        ecc(["up", "flat"], ["up", "up"], ring)


def test_weights():
    true, predicted = ["awe", "awe", "fear"], ["awe", "contentment", "awe"]
    weights = [2, 1, 3]
    repeated = [0, 0, 1, 2, 2, 2]
    for metric in (ecc, emc, mean_emotional_distance, acc2, accuracy):
        expected = metric([true[k] for k in repeated], [predicted[k] for k in repeated], "mikels")
        assert metric(true, predicted, "mikels", sample_weight=weights) == pytest.approx(expected)


@pytest.mark.parametrize(
    "given_as",
    [
        list,
        tuple,
        np.array,
        lambda names: np.array(names, dtype=object),
        pl.Series,
        lambda names: pl.Series(names, dtype=pl.Categorical),
        lambda names: pytest.importorskip("pandas").Series(names),
        lambda names: pytest.importorskip("pandas").Series(names, dtype="category"),
    ],
)
def test_columns_of_every_kind(given_as):
    true = given_as(["awe", "fear", "awe"])
    assert ecc(true, given_as(["awe", "fear", "excitement"]), "mikels") == pytest.approx(
        (2 + 1 / 2) / 3
    )


@pytest.mark.parametrize(
    "codes", [np.array([0, 1]), [0, 1], pl.Series([0, 1]), [np.int8(0), 1], np.array([0.0, 1.0])]
)
def test_codes_of_every_kind(codes):
    assert ecc(codes, codes, "mikels", labels=["awe", "fear"]) == 1


def test_no_items_is_not_defined():
    for metric in (accuracy, acc2, ecc, emc, mean_emotional_distance):
        assert np.isnan(metric([], [], "mikels"))


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((["awe"], ["awe", "awe"]), {}, "y_pred: 2 labels; expected one per item, 1 as in y_true"),
        ((["awe"], ["angre"]), {}, "unknown label 'angre'; did you mean 'anger'"),
        ((["awe", None], ["awe", "awe"]), {}, "y_true, item 1: the label is missing"),
        ((["awe", float("nan")], ["awe", "awe"]), {}, "y_true, item 1: the label is missing"),
        ((pl.Series(["awe", None]), ["awe", "awe"]), {}, "y_true, item 1: the label is missing"),
        ((pl.Series([1.5]), ["awe"]), {}, "y_true: a column of Float64; expected label names"),
        ((["awe"], [3.5]), {}, "y_pred, item 0: 3.5 is no label"),
        (([0], [1]), {}, "y_true: integer codes have no meaning without labels|y_pred: integer"),
        (([0], [2]), {"labels": ["awe", "fear"]}, "y_pred, item 0: code 2 is not one of the 2"),
        (([-1], [1]), {"labels": ["awe", "fear"]}, "y_true, item 0: code -1"),
        ((np.array([0.5]), [1]), {"labels": ["awe", "fear"]}, "y_true, item 0: 0.5 is no label"),
        (("awe", "awe"), {}, "y_true: expected one label per item, not the one text"),
        ((np.array([["awe"]]), ["awe"]), {}, "y_true: expected one label per item, got shape"),
        ((["awe"], ["awe"]), {"labels": ["awe", "Awe"]}, "label 'awe' stands twice"),
        ((["awe"], ["awe"]), {"labels": "awe"}, "labels: expected a list of names"),
        ((["fear"], ["awe"]), {"labels": ["awe"]}, "unknown label 'fear'"),
        ((["awe"], ["awe"]), {"sample_weight": [1, 2]}, "sample_weight: shape"),
        ((["awe"], ["awe"]), {"sample_weight": [-1]}, "sample_weight, item 0: -1"),
        ((["awe"], ["awe"]), {"sample_weight": ["x"]}, "sample_weight: expected one number"),
        ((["awe"], ["awe"]), {"costs": "rings"}, "unknown kind of cost matrix 'rings'"),
    ],
)
def test_bad_input_is_one_sentence(arguments, options, message):
    with pytest.raises(InputError, match=message) as raised:
        ecc(*arguments, "mikels", **options)
    assert "\n" not in str(raised.value)


def test_bad_taxonomies():
    with pytest.raises(InputError, match="unknown taxonomy 'mikel'; did you mean 'mikels'"):
        ecc(["awe"], ["awe"], "mikel")
    with pytest.raises(InputError, match=re.escape(str(Reason(Cause.NO_COSTS)))):
        ecc(["valence"], ["arousal"], "russell")
    with pytest.raises(InputError, match="a taxonomy is expected that makes them"):
        ecc(["a"], ["b"], CostMatrix(("a", "b"), [[1, 2], [2, 1]]), costs="ring")
    with pytest.raises(InputError, match="shape"):
        metrics_of_confusion([[1, 2]], ["awe", "fear"], "mikels")
    with pytest.raises(InputError, match="0 or more"):
        metrics_of_confusion([[1, -2], [0, 1]], ["awe", "fear"], "mikels")
    with pytest.raises(InputError, match="unknown metric 'eec'; did you mean"):
        metrics_of_confusion([[1, 2], [0, 1]], ["awe", "fear"], "mikels", metrics=["eec"])


def test_stacks_of_matrices():
    counts = np.random.default_rng(2).integers(0, 5, (3, 4, 8, 8))
    found = metrics_of_confusion(counts, MIKELS.labels, "mikels")
    assert set(found) == set(CLASSIFICATION_METRICS)
    for place in np.ndindex(3, 4):
        one = Confusion.from_counts(counts[place], MIKELS.labels, "mikels")
        for name, values in found.items():
            assert values[place] == pytest.approx(one.metric(name))
