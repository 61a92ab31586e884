"""Confusion matrices, of one label per item and of several."""

from __future__ import annotations

import re

import numpy as np
import pytest

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason
from affectlab.evaluation import confusion, ecc, multilabel_confusion
from affectlab.evaluation.classification import Confusion
from affectlab.evaluation.classification.wording import NO_ITEMS
from affectlab.taxonomy import load_taxonomy

MIKELS = load_taxonomy("mikels")


def test_rows_are_true_labels():
    seen = confusion(["a", "a", "b"], ["b", "a", "b"])
    assert seen.labels == ("a", "b")
    assert seen.counts.tolist() == [[1, 1], [0, 1]]
    assert seen.counts.dtype.kind == "i"
    assert seen.n == 3
    assert seen.to_frame().rows() == [
        ("a", "a", 1, 0.5),
        ("a", "b", 1, 0.5),
        ("b", "a", 0, 0.0),
        ("b", "b", 1, 1.0),
    ]
    assert seen.normalized("pred").tolist() == [[1, 0.5], [0, 0.5]]
    assert seen.normalized("all").sum() == pytest.approx(1)
    assert confusion([], []).sentences == (NO_ITEMS,)


def test_labels_of_the_taxonomy_all_have_a_row():
    seen = confusion(["awe", "Fear"], ["awe", "anger"], "mikels")
    assert seen.labels == MIKELS.labels
    assert seen.counts.sum() == 2
    empty = seen.normalized("true")[MIKELS.index("disgust")]
    assert np.isnan(empty).all()
    part = confusion(["awe", "fear"], ["awe", "awe"], "mikels", labels=["Fear", "awe"])
    assert part.labels == ("fear", "awe")
    assert part.counts.tolist() == [[0, 1], [0, 1]]


def test_weights_and_metrics():
    true, predicted = ["awe", "fear", "fear"], ["awe", "awe", "sadness"]
    seen = confusion(true, predicted, "mikels", sample_weight=[1, 0.5, 2])
    assert seen.n == 3.5
    assert seen.ecc == pytest.approx(ecc(true, predicted, "mikels", sample_weight=[1, 0.5, 2]))
    assert seen.metric("kappa") < 1
    with pytest.raises(InputError, match="unknown metric 'ecx'"):
        seen.metric("ecx")
    with pytest.raises(InputError, match=re.escape(f"ECC: {Reason(Cause.NO_COSTS)}")):
        _ = confusion(["a"], ["b"]).ecc
    with pytest.raises(ValueError, match="read-only"):
        seen.counts[0, 0] = 1


def test_mistakes_add_up():
    rng = np.random.default_rng(0)
    names = np.array(MIKELS.labels)
    true, predicted = names[rng.integers(0, 8, (2, 300))]
    seen = confusion(true, predicted, "mikels")
    worst = seen.to_frame("mistakes")
    assert worst["lost"].sum() == pytest.approx(1 - seen.ecc)
    assert worst["share"].sum() == pytest.approx(1)
    assert worst["lost"].is_sorted(descending=True)
    assert (worst["true"] != worst["predicted"]).all()
    assert confusion(["a"], ["b"]).to_frame("mistakes").columns == [
        "true",
        "predicted",
        "count",
        "share",
    ]
    assert confusion(["a"], ["a"]).to_frame("mistakes").height == 0


def test_published_matrix():
    seen = Confusion.from_counts([[0.5, 0.1], [0.1, 0.3]], ["Awe", "fear"], "mikels")
    assert seen.labels == ("awe", "fear")
    assert seen.accuracy == pytest.approx(0.8)
    assert seen.counts.dtype.kind == "f"
    for counts, message in (
        ([[1, 2]], "counts: shape"),
        ([[[1, 2], [3, 4]]], "expected one matrix"),
        ([[1, np.nan], [0, 1]], "expected finite numbers, 0 or more"),
        ([["x", 1], [0, 1]], "counts: expected numbers"),
    ):
        with pytest.raises(InputError, match=message):
            Confusion.from_counts(counts, ["awe", "fear"], "mikels")


def test_each_true_label_counts_each_predicted_label():
    """The example of appendix G of GoEmotions, and a loop."""
    seen = multilabel_confusion(
        [["joy", "admiration"]], [["joy", "pride"]], labels=["admiration", "joy", "pride"]
    )
    assert seen.counts.tolist() == [[0, 1, 1], [0, 1, 1], [0, 0, 0]]
    assert np.isnan(seen.normalized()[2]).all()
    rng = np.random.default_rng(1)
    true, predicted = rng.random((2, 200, 5)) < 0.3
    names = list("abcde")
    found = multilabel_confusion(true, predicted, labels=names)
    counts = np.zeros((5, 5), dtype=int)
    for t, p in zip(true, predicted, strict=True):
        for i in np.flatnonzero(t):
            for j in np.flatnonzero(p):
                counts[i, j] += 1
    assert np.array_equal(found.counts, counts)
    assert np.nansum(found.normalized("true"), axis=1) == pytest.approx(np.ones(5))
    as_sets = multilabel_confusion(
        [{names[k] for k in np.flatnonzero(row)} for row in true],
        [[names[k] for k in np.flatnonzero(row)] for row in predicted],
    )
    assert np.array_equal(as_sets.counts, found.counts)
    assert as_sets.to_frame("per_label").equals(found.to_frame("per_label"))
    assert found.per_label.sum(axis=(1, 2)).tolist() == [200] * 5
    assert found.to_frame().height == 25


def test_several_labels_by_name():
    seen = multilabel_confusion([["Joy"], []], [["joy", "love"], ["neutral"]], "goemotions")
    assert len(seen.labels) == 28
    row = dict(zip(seen.labels, seen.counts[seen.labels.index("joy")], strict=True))
    assert (row["joy"], row["love"], row["neutral"]) == (1, 1, 0)
    with pytest.raises(InputError, match="unknown label 'joyy'; did you mean 'joy'"):
        multilabel_confusion([["joyy"]], [["joy"]], "goemotions")
