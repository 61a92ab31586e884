"""Precision, recall and F1: what is undefined says so; one and several labels per item."""

from __future__ import annotations

import numpy as np
import pytest

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason
from affectlab.evaluation import precision_recall_f1


def test_undefined_is_nan_with_a_status_and_counts_as_said():
    true = ["a", "a", "b", "c"]
    predicted = ["a", "d", "a", "c"]
    result = precision_recall_f1(true, predicted, labels=["a", "b", "c", "d", "e"])
    frame = result.to_frame()
    assert frame["label"].to_list() == ["a", "b", "c", "d", "e"]
    assert frame["precision"].to_list()[:1] == [0.5]
    assert np.isnan(frame["precision"][1])
    assert np.isnan(frame["recall"][3])
    assert frame["f1"].to_list()[:4] == pytest.approx([0.5, 0, 1, 0])
    assert frame["status"].to_list() == ["ok", "undefined", "ok", "undefined", "undefined"]
    assert frame["reason"].to_list() == [
        None,
        Cause.NEVER_PREDICTED,
        None,
        Cause.NEVER_TRUE,
        Cause.NEVER_TRUE_NOR_PREDICTED,
    ]
    assert frame["support"].to_list() == [2, 1, 1, 0, 0]
    assert frame["predicted"].to_list() == [2, 0, 1, 1, 0]
    macro = result.averages["macro", "precision"]
    # Label e occurs nowhere and has no part; b counts as 0.
    assert macro.value == pytest.approx((0.5 + 0 + 1 + 0) / 4)
    assert macro.options == ("undefined labels count as 0",)
    row = result.averages.frame.row(0, named=True)
    assert (row["n_labels"], row["n_undefined"]) == (4, 1)
    left_out = precision_recall_f1(true, predicted, zero_division=np.nan)
    assert left_out.averages["macro", "precision"].value == pytest.approx((0.5 + 1 + 0) / 3)
    one = precision_recall_f1(true, predicted, zero_division=1.0)
    assert one.averages["macro", "precision"].value == pytest.approx((0.5 + 1 + 1 + 0) / 4)
    assert result.exact_match.value == 0.5


def test_several_labels_in_every_form():
    sets = [["joy", "love"], [], ["fear"]], [["joy"], ["fear"], {"fear", "joy"}]
    labels = ["fear", "joy", "love"]
    arrays = (
        np.array([[0, 1, 1], [0, 0, 0], [1, 0, 0]]),
        np.array([[0, 1, 0], [1, 0, 0], [1, 1, 0]], dtype=bool),
    )
    one = precision_recall_f1(*sets, labels=labels)
    other = precision_recall_f1(*arrays, labels=labels)
    assert one.per_label.frame.equals(other.per_label.frame)
    assert one.averages.frame.equals(other.averages.frame)
    assert str(one.exact_match) == str(other.exact_match)
    assert one.exact_match.value == 0
    assert one.averages["micro", "precision"].value == pytest.approx(2 / 4)
    assert one.averages["micro", "recall"].value == pytest.approx(2 / 3)
    mixed = precision_recall_f1(sets[0], arrays[1], labels=labels)
    assert mixed.averages.frame.equals(one.averages.frame)
    with_names = precision_recall_f1([["Joy"]], [["joy", "fear"]], "goemotions")
    assert with_names.averages["micro", "recall"].value == 1


def test_sd_over_labels_is_that_of_a_sample():
    true = ["a", "a", "b", "b"]
    result = precision_recall_f1(true, ["a", "b", "b", "b"])
    recall = result.averages.frame.filter(metric="recall", average="macro")
    assert recall["sd"][0] == pytest.approx(np.std([0.5, 1], ddof=1))


@pytest.mark.long
@pytest.mark.parametrize("several", [False, True])
def test_intervals(several):
    rng = np.random.default_rng(0)
    n = 400
    if several:
        true = rng.random((n, 4)) < 0.3
        predicted = np.where(rng.random((n, 4)) < 0.8, true, ~true)
        labels = ["a", "b", "c", "d"]
    else:
        true = np.array(list("abcd"))[rng.integers(0, 4, n)]
        predicted = np.where(rng.random(n) < 0.7, true, "a")
        labels = None
    result = precision_recall_f1(true, predicted, labels=labels, n_boot=2000, seed=1)
    again = precision_recall_f1(true, predicted, labels=labels, n_boot=2000, seed=1)
    assert result.averages.frame.equals(again.averages.frame)
    loop = []
    for _ in range(300):
        rows = rng.integers(0, n, n)
        one = precision_recall_f1(true[rows], predicted[rows], labels=labels)
        loop.append([*one.per_label.frame["value"], *one.averages.frame["value"]])
    expected = np.std(loop, axis=0, ddof=1)
    found = [*result.per_label.frame["se"], *result.averages.frame["se"]]
    # A recall of 1 in every replicate has no standard error.
    known = expected > 0
    assert np.array(found)[known] == pytest.approx(expected[known], rel=0.25)
    assert result.exact_match.low < result.exact_match.value < result.exact_match.high
    assert result.exact_match.target == "stimuli"


def test_no_items():
    for empty in ([], np.empty((0, 2))):
        result = precision_recall_f1(empty, empty, labels=["a", "b"], n_boot=10)
        assert result.exact_match.reason == Reason(Cause.NONE, of="items")
        assert np.isnan(result.exact_match.value)


@pytest.mark.parametrize(
    ("true", "predicted", "options", "message"),
    [
        ([["a"]], [["a"], ["b"]], {}, "y_pred: 2 items; expected one set of labels per item, 1"),
        ([["a"]], [["z"]], {"labels": ["a"]}, "unknown label 'z'"),
        ([["a"]], ["a"], {}, "y_pred, item 0: 'a'; expected a list or set of labels"),
        ([["a"]], [[None]], {}, "y_pred, item 0: None is no label"),
        (np.eye(2), np.eye(2), {}, "0/1 columns need labels"),
        (np.eye(2), np.eye(2), {"labels": ["a"]}, "expected one 0/1 column per label, 1"),
        (
            np.eye(2),
            np.eye(2) * 0.7,
            {"labels": ["a", "b"]},
            "y_pred, item 0, label 'a': 0.7; expected 0 or 1",
        ),
        (["a"], ["a"], {"n_boot": -2}, "n_boot -2"),
    ],
)
def test_bad_input(true, predicted, options, message):
    with pytest.raises(InputError, match=message):
        precision_recall_f1(true, predicted, **options)


@pytest.mark.parametrize("several", [False, True], ids=["one label", "several labels"])
def test_averages_have_the_interval_of_the_jackknife(several):
    names = np.array(["joy", "fear", "awe"])
    true = names[np.arange(60) % 3]
    said = {n: np.where(np.arange(60) < n, "joy", true) for n in (9, 15)}
    wrong = {n: int((labels != true).sum()) for n, labels in said.items()}
    assert wrong == {9: 6, 15: 10}
    for n, labels in said.items():
        pair = ([[one] for one in true], [[one] for one in labels]) if several else (true, labels)
        found = precision_recall_f1(*pair)
        macro = found.averages["macro", "f1"]
        assert macro.interval is not None
        assert macro.interval.kind == "jackknife"
        drawn = precision_recall_f1(*pair, interval="percentile", n_boot=400, seed=1)
        made = drawn.averages["macro", "f1"].interval
        assert made is not None
        assert (made.kind, made.replicates) == ("percentile", 400)
        assert macro.se == pytest.approx(drawn.averages["macro", "f1"].se, rel=0.25)
        assert macro.low < macro.value < macro.high
        if n == 9:
            left_out = np.array(
                [
                    precision_recall_f1(np.delete(true, at), np.delete(labels, at))
                    .averages["macro", "f1"]
                    .value
                    for at in range(60)
                ]
            )
            spread = np.sqrt(59 / 60 * ((left_out - left_out.mean()) ** 2).sum())
            assert macro.se == pytest.approx(spread, rel=1e-9)


def test_one_mistake_leaves_an_interval_that_says_something():
    true = np.array(["joy", "fear", "anger"] * 13)
    said = true.copy()
    said[0] = "fear"
    result = precision_recall_f1(true, said)
    exact, micro = result.exact_match, result.averages["micro", "f1"]
    assert (micro.low, micro.high) == (exact.low, exact.high)
    # Wilson's interval of 38 of 39 is .868 to .995.
    assert exact.low == pytest.approx(0.868, abs=0.05)
    assert result.averages["macro", "f1"].low > 0.6
