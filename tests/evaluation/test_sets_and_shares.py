"""Logits are no probabilities, the truth says whether it names sets, and tables know levels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from affectlab import load_taxonomy
from affectlab.core.errors import InputError
from affectlab.evaluation import (
    alignment,
    classes_of,
    compare_models,
    evaluate_classification,
    evaluate_soft_labels,
)
from affectlab.evaluation.classification.wording import macro_classes
from affectlab.ratings import Ratings, read_models

LABELS = ["joy", "fear", "anger"]
STIMULI = [f"s{k}" for k in range(12)]
TRUTH = np.array([[k % 2, k % 3 == 0, k % 5 == 0] for k in range(12)], dtype=float)


def table(value: np.ndarray, rater: str, scale: str | None = None, **options: Any) -> Ratings:
    return Ratings(
        {
            "stimulus": np.repeat(STIMULI, 3).tolist(),
            "rater": [rater] * 36,
            "label": LABELS * 12,
            "value": value.ravel(),
        },
        scale=scale,
        raters={"rater": [rater], "rater_kind": [options.pop("kind", "model")]},
        **options,
    )


PEOPLE = table(TRUTH, "gold", "binary", kind="human")
ONE_HOT = table(np.eye(3)[np.arange(12) % 3], "gold", "binary", kind="human")
LOGITS = 6 * TRUTH - 4 + np.random.default_rng(2).normal(0, 1.5, TRUTH.shape)
SHARES = 1 / (1 + np.exp(-LOGITS))


@pytest.mark.parametrize("limit", [0.5, 0.3, "0.5", {"joy": 0.4, "fear": 0.5, "anger": 0.9}])
def test_logits_are_no_probabilities(limit: Any) -> None:
    with pytest.raises(InputError, match=r"net: scores from -[\d.]+ to .* are no probabilities"):
        evaluate_classification(PEOPLE, table(LOGITS, "net"), threshold=limit, n_boot=0)


def test_the_ways_on_from_logits() -> None:
    found = evaluate_classification(PEOPLE, table(SHARES, "net"), threshold=0.5, n_boot=0)
    wanted = found.estimates["net", "macro_f1"].value
    # A threshold on their own scale, or a scale that is declared for them.
    for scale, limit in ((None, 0.0), ("-12..12 interval", 0.5)):
        logits = table(LOGITS, "net", scale)
        other = evaluate_classification(PEOPLE, logits, threshold=limit, n_boot=0)
        if limit == 0.0:
            assert other.estimates["net", "macro_f1"].value == wanted
    # The highest of them needs no probability.
    evaluate_classification(PEOPLE, table(LOGITS, "net"), multilabel=False, n_boot=0)


def test_logits_make_no_distribution() -> None:
    with pytest.raises(InputError, match="no probabilities, and distributions are made of shares"):
        evaluate_soft_labels(PEOPLE, table(LOGITS, "net"), n_boot=0)
    names = Ratings(
        {
            "stimulus": STIMULI * 2,
            "rater": ["a"] * 12 + ["b"] * 12,
            "value": [LABELS[k % 3] for k in range(12)] * 2,
        }
    )
    with pytest.raises(InputError, match=r"no probabilities, .* declare the scale"):
        evaluate_soft_labels(names, table(LOGITS, "net"), n_boot=0)


def test_a_truth_of_several_classes_is_judged_as_sets() -> None:
    net = table(SHARES, "net")
    found = classes_of(PEOPLE, net, threshold=0.5)
    assert found.multilabel
    assert any("names several classes of a stimulus" in note for note in found.notes)
    asked = classes_of(PEOPLE, net, threshold=0.5, multilabel=True)
    assert np.array_equal(found.truth, asked.truth)
    assert not classes_of(PEOPLE, net, multilabel=False).multilabel
    assert not classes_of(ONE_HOT, net).multilabel
    with pytest.raises(InputError, match=r"threshold=0\.5.*, or one class .*multilabel=False"):
        classes_of(PEOPLE, net)


@pytest.mark.parametrize(
    ("truth", "sets"),
    [
        ({"s0": ["joy", "fear"], "s1": ["joy"]}, True),
        ({"s0": "joy", "s1": "fear"}, False),
        (["joy, fear", "joy", "fear"], True),
        (["joy|fear", "joy", "fear"], True),
        (["sad, very", "joy", "fear"], False),
    ],
)
def test_named_truth_says_whether_it_names_sets(truth: Any, sets: bool) -> None:
    names = [LABELS[int(k)] for k in SHARES[:3].argmax(axis=1)]
    net = Ratings(
        {"stimulus": STIMULI[:3], "rater": ["net"] * 3, "value": names},
        scale="nominal:joy,fear,anger,sad",
        raters={"rater": ["net"], "rater_kind": ["model"]},
    )
    if isinstance(truth, list):
        given = {"stimulus": STIMULI[:3], "emotion": truth}
        assert classes_of(net.with_stimuli(given), truth="attribute:emotion").multilabel == sets
    else:
        assert classes_of(net, truth=truth).multilabel == sets


@pytest.mark.parametrize("options", [{"threshold": 0.5}, {"truth_threshold": 0.5}, {"agree": 2}])
def test_options_of_sets_are_refused_for_one_class(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="is for sets of classes, and each stimulus has one class"):
        evaluate_classification(ONE_HOT, table(SHARES, "net"), n_boot=0, **options)


@pytest.mark.parametrize("options", [{"rule": "majority"}, {"ties": "first"}])
def test_options_of_one_class_are_refused_for_sets(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="is for one class of each stimulus, and sets are judged"):
        evaluate_classification(PEOPLE, table(SHARES, "net"), threshold=0.5, n_boot=0, **options)


def test_options_of_a_pooled_truth_are_refused_for_one_that_is_named() -> None:
    net = table(SHARES, "net")
    truth = dict(zip(STIMULI, ["joy", "fear", "anger"] * 4, strict=True))
    with pytest.raises(InputError, match=r"min_people=3.* is for a truth of several people"):
        classes_of(net, truth=truth, min_people=3)


def test_a_macro_average_says_over_which_classes_it_runs() -> None:
    wide = Ratings(
        {
            "stimulus": np.repeat(STIMULI, 4).tolist(),
            "rater": ["net"] * 48,
            "label": [*LABELS, "surprise"] * 12,
            "value": np.hstack([SHARES, np.full((12, 1), 0.01)]).ravel(),
        },
        scale="0-1 interval",
        raters={"rater": ["net"], "rater_kind": ["model"]},
    )
    found = evaluate_classification(PEOPLE, wide, threshold=0.5, n_boot=0)
    assert macro_classes([], 4, ["surprise"]) in found.notes
    exact = evaluate_classification(PEOPLE, table(SHARES, "net"), threshold=0.5, n_boot=0)
    assert macro_classes([], 3, []) in exact.notes


def test_groups_of_labels_are_not_read_as_labels(tmp_path: Path) -> None:
    """Joy, fear and anger are labels of GoEmotions, and groups of them by Ekman's level."""
    fine = load_taxonomy("goemotions")
    people = Ratings(
        PEOPLE.to_frame().select("stimulus", "rater", "label", "value"),
        scale="binary",
        taxonomy=fine,
        raters={"rater": ["gold"], "rater_kind": ["human"]},
    )
    groups = table(SHARES, "net", "0-1 interval", taxonomy=fine.coarsen("ekman"))
    (again,) = read_models(groups.write(tmp_path / "net.parquet"), people)
    assert again.taxonomy == groups.taxonomy
    for judge in (
        lambda: evaluate_classification(people, again, threshold=0.5, n_boot=0),
        lambda: evaluate_classification(people, again, multilabel=False, n_boot=0),
        lambda: alignment(people, again, target="sample"),
        lambda: evaluate_soft_labels(people, again, n_boot=0),
        lambda: compare_models(people, again.merge(table(SHARES, "b", "0-1 interval")), n_boot=0),
    ):
        with pytest.raises(InputError, match=r"groups of labels \(level ekman of goemotions\)"):
            judge()
    with pytest.raises(InputError, match="goemotions:ekman"):
        evaluate_classification(people, again, threshold=0.5, n_boot=0)
    found = evaluate_classification(
        people, again, threshold=0.5, label_map="goemotions:ekman", n_boot=0
    )
    assert set(found.classes.labels) == set(fine.coarsen("ekman").labels)
