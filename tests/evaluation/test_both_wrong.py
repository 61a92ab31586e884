"""Images that two models get wrong in different ways, against a plain count."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from affectlab.core.errors import InputError
from affectlab.evaluation import both_wrong, classes_of
from affectlab.evaluation.classification import BothWrong
from affectlab.ratings import Ratings
from affectlab.taxonomy import load_taxonomy

MIKELS = load_taxonomy("mikels")
LABELS = MIKELS.labels


def said(rows: int, seed: int) -> tuple[list[str], dict[str, list[str]]]:
    random = np.random.default_rng(seed)
    truth, first, second = (random.choice(LABELS, rows).tolist() for _ in range(3))
    # One stimulus of each kind at least, so that there is something to find and a class in common.
    truth += ["awe", "awe"]
    return truth, {"plain": [*first, "awe", "fear"], "rank": [*second, "awe", "excitement"]}


@settings(max_examples=40)
@given(rows=st.integers(0, 30), seed=st.integers(0, 10_000))
def test_agrees_with_a_plain_count(rows: int, seed: int) -> None:
    truth, labels = said(rows, seed)
    found = both_wrong(labels, truth=truth, taxonomy="mikels")
    costs = MIKELS.cost_matrix()
    triples = list(zip(truth, labels["plain"], labels["rank"], strict=True))
    expected = []
    for at, (true, one, other) in enumerate(triples, start=1):
        if one != true and other != true and one != other:
            near, far = costs.cost(true, one), costs.cost(true, other)
            nearer = "same" if near == far else "plain" if near < far else "rank"
            expected.append((str(at), true, one, other, near, far, nearer))
    assert found.to_frame().rows() == expected
    assert found.n_different == len(found) == len(expected)
    assert found.n_both == sum(a != t and b != t for t, a, b in triples)
    assert found.n_wrong == (
        sum(a != t for t, a, _ in triples),
        sum(b != t for t, _, b in triples),
    )
    assert found.n_judged == len(truth)


@settings(max_examples=40)
@given(rows=st.integers(1, 40), seed=st.integers(0, 1000))
def test_items_hold_both_labels_on_balanced_sides(rows: int, seed: int) -> None:
    truth, labels = said(rows, seed)
    found = both_wrong(labels, truth=truth, taxonomy="mikels")
    items = found.items({str(k): f"{k}.png" for k in range(1, len(truth) + 1)}, seed=seed)
    assert items["stimulus"].to_list() == found.to_frame()["stimulus"].to_list()
    assert items["file"].to_list() == [f"{name}.png" for name in items["stimulus"]]
    first = items["system_a"].to_list().count("plain")
    assert abs(2 * first - len(found)) <= 1
    for row, item in zip(found.to_frame().to_dicts(), items.to_dicts(), strict=True):
        mine = {item["system_a"]: item["labels_a"], item["system_b"]: item["labels_b"]}
        assert mine == {"plain": row["label_first"], "rank": row["label_second"]}
        assert item["truth"] == row["truth"]
        assert item["truth"] not in (item["labels_a"], item["labels_b"])
    assert items.equals(found.items({str(k): f"{k}.png" for k in range(50)}, seed=seed))


def crowd(n: int = 60) -> BothWrong:
    """Sixty of which all are wrong, and one that both know."""
    return both_wrong(
        {"plain": ["fear"] * n + ["awe"], "rank": ["anger"] * n + ["awe"]},
        truth=["sadness"] * n + ["awe"],
        taxonomy="mikels",
    )


class TestSample:
    def test_the_same_seed_draws_the_same(self) -> None:
        found = crowd()
        one, other, third = (found.sample(50, seed=seed) for seed in (7, 7, 8))
        assert len(one) == 50
        assert one.to_frame().equals(other.to_frame())
        assert not one.to_frame().equals(third.to_frame())
        assert one.to_frame()["stimulus"].n_unique() == 50
        assert (one.n_different, one.n_judged) == (60, 61)

    def test_each_is_as_likely_as_any_other(self) -> None:
        found = crowd(6)
        drawn = [
            name
            for seed in range(600)
            for name in found.sample(2, seed=seed).to_frame()["stimulus"]
        ]
        counts = np.array([drawn.count(str(k)) for k in range(1, 7)])
        # 600 draws of two of six: 200 each, with a standard deviation of 11.5.
        assert np.abs(counts - 200).max() < 50

    @pytest.mark.parametrize("n", [0, -1, True, 2.5, "3"])
    def test_no_number_of_images(self, n: Any) -> None:
        with pytest.raises(InputError, match="expected a whole number from 1 on"):
            crowd().sample(n)

    def test_more_than_there_are(self) -> None:
        with pytest.raises(InputError, match="sample 61: 'plain' and 'rank' get 60 stimuli wrong"):
            crowd().sample(61)


def table(**labels: list[str]) -> Ratings:
    n = len(next(iter(labels.values())))
    return Ratings(
        {
            "stimulus": [f"s{k}" for k in range(n)] * len(labels),
            "rater": [name for name in labels for _ in range(n)],
            "value": [label for given in labels.values() for label in given],
        },
        raters={"rater": list(labels), "rater_kind": ["model"] * len(labels)},
        taxonomy="mikels",
    )


class TestRatings:
    three = {  # noqa: RUF012
        "plain": ["fear", "awe", "fear"],
        "rank": ["anger", "fear", "fear"],
        "third": ["disgust", "awe", "awe"],
    }
    truth = {"s0": "sadness", "s1": "awe", "s2": "fear"}  # noqa: RUF012

    def test_two_of_three_models(self) -> None:
        answers = table(**self.three)
        found = both_wrong(answers, truth=self.truth, systems=["third", "plain"])
        assert found.systems == ("third", "plain")
        assert found.to_frame()["stimulus"].to_list() == ["s0"]
        assert found.to_frame()["nearer"].to_list() == ["same"]
        made = classes_of(answers, truth=self.truth)
        assert both_wrong(made, systems=["third", "plain"]).to_frame().equals(found.to_frame())

    @pytest.mark.parametrize("systems", [None, ["plain"], ["plain", "plain"], "plain", []])
    def test_not_two(self, systems: Any) -> None:
        with pytest.raises(InputError, match="two different models are wanted"):
            both_wrong(table(**self.three), truth=self.truth, systems=systems)

    def test_a_model_that_is_not_there(self) -> None:
        with pytest.raises(InputError, match="unknown model 'best'"):
            both_wrong(table(**self.three), truth=self.truth, systems=["plain", "best"])

    def test_what_one_did_not_answer_is_not_judged(self) -> None:
        left = Ratings(
            {
                "stimulus": ["s0", "s2", "s0", "s1", "s2"],
                "rater": ["plain"] * 2 + ["rank"] * 3,
                "value": ["fear"] * 2 + ["anger"] * 3,
            },
            raters={"rater": ["plain", "rank"], "rater_kind": ["model"] * 2},
            taxonomy="mikels",
        )
        found = both_wrong(left, truth={"s0": "sadness", "s1": "sadness", "s2": "fear"})
        assert (found.n_judged, found.n_both) == (2, 1)
        assert found.to_frame()["stimulus"].to_list() == ["s0"]

    def test_nothing_to_choose_between(self) -> None:
        answers = table(plain=["fear", "awe"], rank=["fear", "awe"])
        with pytest.raises(InputError, match="1 of 2 stimuli both wrong, and take each of these"):
            both_wrong(answers, truth={"s0": "sadness", "s1": "awe"})

    def test_no_stimulus_in_common(self) -> None:
        left = Ratings(
            {"stimulus": ["a", "b"], "rater": ["plain", "rank"], "value": ["fear", "awe"]},
            raters={"rater": ["plain", "rank"], "rater_kind": ["model"] * 2},
            taxonomy="mikels",
        )
        with pytest.raises(InputError, match="share no stimulus that has a truth"):
            both_wrong(left, truth={"a": "awe", "b": "fear"})

    def test_what_was_decided_by_cost(self) -> None:
        rows = [
            ("s0", model, label, value, chosen)
            for model, pick in (("plain", "awe"), ("rank", "fear"))
            for label, value in (("awe", 0.5), ("fear", 0.3), ("anger", 0.2))
            for chosen in [int(label == pick)]
        ]
        names = ["stimulus", "rater", "label", "value", "chosen"]
        answers = Ratings(
            pl.DataFrame(rows, schema=names, orient="row"),
            scale="0-1 interval",
            raters={"rater": ["plain", "rank"], "rater_kind": ["model"] * 2},
            taxonomy="mikels",
        )
        with pytest.raises(InputError, match="take each of these for the same class"):
            both_wrong(answers, truth={"s0": "anger"})
        found = both_wrong(answers, truth={"s0": "anger"}, scores="chosen")
        assert found.to_frame().row(0)[:4] == ("s0", "anger", "awe", "fear")
        assert found.to_frame()["nearer"].to_list() == ["rank"]

    def test_classes_without_costs(self) -> None:
        found = both_wrong({"a": ["x", "y", "z"], "b": ["y", "x", "z"]}, truth=["z", "z", "z"])
        assert found.costs is None
        assert found.to_frame().columns == ["stimulus", "truth", "label_first", "label_second"]
        assert "nearer" not in found.items().columns

    def test_sets_of_classes(self) -> None:
        answers = Ratings(
            {"stimulus": ["a"] * 4, "rater": ["m"] * 2 + ["n"] * 2, "label": ["awe", "fear"] * 2,
             "value": [1, 0, 0, 1]},
            scale="binary",
            raters={"rater": ["m", "n"], "rater_kind": ["model"] * 2},
            taxonomy="mikels",
        )  # fmt: skip
        with pytest.raises(InputError, match="sets of classes"):
            both_wrong(answers, truth={"a": ["awe"]}, multilabel=True)

    def test_costs_of_ones_own(self) -> None:
        labels = {"plain": ["fear", "awe"], "rank": ["anger", "awe"]}
        truth = ["sadness", "awe"]
        by_ring = both_wrong(labels, truth=truth, taxonomy="mikels")
        assert by_ring.to_frame()["nearer"].to_list() == ["plain"]
        by_groups = both_wrong(labels, truth=truth, taxonomy="mikels", costs="groups")
        assert by_groups.to_frame()["nearer"].to_list() == ["same"]


@pytest.mark.parametrize(
    ("labels", "options", "sentence"),
    [
        ({"a": ["awe"], "b": ["fear"]}, {"truth": "people"}, "go with the true label of each"),
        ({"a": ["awe"], "b": ["fear"]}, {"truth": {"1": "awe"}}, "go with the true label of each"),
        ({"a": ["awe"], "b": ["fear"]}, {"truth": ["awe", "awe"]}, "model 'a': 1 labels, and 2"),
        ({"a": "a", "b": ["fear"]}, {"truth": ["awe"]}, "model 'a'"),
        ({"a": ["awe"], "b": ["x"]}, {"truth": ["awe"], "stimuli": ["p", "q"]}, "2 stimuli and 1"),
        ({"a": ["awe"] * 2}, {"truth": ["awe"] * 2, "stimuli": ["p", "p"]}, "2 stimuli and 2"),
        ({}, {"truth": ["awe"]}, "there is no stimulus or no model"),
        ({"a": [], "b": []}, {"truth": []}, "there is no stimulus or no model"),
        ({"a": ["awe"], "b": ["joy"]}, {"truth": ["awe"], "taxonomy": "mikels"}, "'joy'"),
    ],
)  # fmt: skip
def test_labels_that_cannot_be_compared(labels: Any, options: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        both_wrong(labels, **options)


def test_a_stimulus_without_a_file() -> None:
    with pytest.raises(InputError, match="'2' has no file"):
        crowd(2).items({"1": "a.png"})
