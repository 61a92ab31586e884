"""Answers laid out, coded anew, pooled and put beside each other, as plain loops do it."""

from __future__ import annotations

from statistics import median

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from affectlab.ratings import Answers, Ratings, answers_of, ballots_of

STIMULI, RATERS, LABELS = ("a", "b", "c", "d"), ("r", "s", "t"), ("joy", "awe")
Said = dict[tuple[str, str, str], float]

said = st.dictionaries(
    st.tuples(st.sampled_from(STIMULI), st.sampled_from(RATERS), st.sampled_from(LABELS)),
    st.integers(0, 7).map(float),
    min_size=1,
)


def answers(given: Said) -> Answers:
    stimulus, rater, label = zip(*given, strict=True)
    columns = {"stimulus": stimulus, "rater": rater, "label": label, "value": [*given.values()]}
    return answers_of(Ratings(columns, scale="0-7"))


def as_said(found: Answers) -> Said:
    codes = zip(found.unit.tolist(), found.rater.tolist(), found.label.tolist(), strict=True)
    keys = ((found.units[u], found.raters[r], found.labels[k]) for u, r, k in codes)
    return dict(zip(keys, found.value.tolist(), strict=True))


def is_sorted(found: Answers) -> bool:
    order = np.lexsort((found.rater, found.unit, found.label))
    return bool((order == np.arange(order.size)).all())


@settings(max_examples=50)
@given(said, st.permutations(["a", "b", "x"]), st.permutations(["awe", "joy", "fear"]))
def test_answers_about_some_units_and_labels(
    given: Said, units: list[str], labels: list[str]
) -> None:
    found = answers(given).on(units, labels)
    assert as_said(found) == {
        key: value for key, value in given.items() if key[0] in units and key[2] in labels
    }
    assert (found.units, found.labels, found.scales) == (tuple(units), tuple(labels), None)
    assert is_sorted(found)


@settings(max_examples=50)
@given(said)
def test_a_grid_and_ballots_hold_every_answer(given: Said) -> None:
    found = answers(given)
    grid, ballots = found.grid(), found.ballots()
    assert (~np.isnan(grid)).sum() == (~np.isnan(ballots.value)).sum() == len(given)
    pairs = zip(ballots.unit.tolist(), ballots.rater.tolist(), strict=True)
    at = dict(zip(pairs, ballots.value, strict=True))
    assert list(at) == sorted(at)
    for (stimulus, rater, label), value in given.items():
        unit, who = found.units.index(stimulus), found.raters.index(rater)
        place = found.labels.index(label)
        assert grid[who, place, unit] == at[unit, who][place] == value


rows = st.lists(
    st.tuples(
        st.sampled_from(STIMULI),
        st.sampled_from(RATERS),
        st.sampled_from(LABELS),
        st.integers(0, 7).map(float),
    ),
    min_size=1,
    max_size=40,
)


@settings(max_examples=100)
@given(rows, st.booleans())
def test_the_first_of_several_answers_counts_in_whatever_order_rows_stand(
    given: list[tuple[str, str, str, float]], by_unit: bool
) -> None:
    if by_unit:
        given = sorted(given, key=lambda row: row[:2])
    stimulus, rater, label, value = zip(*given, strict=True)
    table = {"stimulus": stimulus, "rater": rater, "label": label, "value": value}
    table["trial"] = tuple(range(len(given)))
    ratings = Ratings(table, scale="0-7")
    found, every = answers_of(ratings), ratings.answers(every=True)
    first = {row[:3]: row[3] for row in reversed(given)}
    assert as_said(found) == first
    assert is_sorted(found)
    assert sorted(every.value.tolist()) == sorted(row[3] for row in given)
    means: dict[tuple[str, str, str], list[float]] = {}
    for row in given:
        means.setdefault(row[:3], []).append(row[3])
    averaged = as_said(answers_of(ratings.averaged()))
    assert averaged == pytest.approx({key: np.mean(own) for key, own in means.items()})
    ballots, same = ballots_of(ratings), found.ballots()
    for name in ("unit", "rater", "value"):
        np.testing.assert_array_equal(getattr(ballots, name), getattr(same, name))


@settings(max_examples=50)
@given(said)
def test_the_middle_is_that_of_the_raters_of_a_cell(given: Said) -> None:
    found = answers(given)
    middle, mean = found.middle(), found.middle("mean")
    for place, label in enumerate(found.labels):
        for unit, stimulus in enumerate(found.units):
            own = [v for (s, _, k), v in given.items() if (s, k) == (stimulus, label)]
            expected = (median(own), np.mean(own)) if own else (np.nan, np.nan)
            np.testing.assert_allclose((middle[place, unit], mean[place, unit]), expected)


@settings(max_examples=50)
@given(said, said)
def test_other_raters_stand_beside_on_the_same_labels(given: Said, others: Said) -> None:
    others = {(stimulus, f"{rater}2", label): v for (stimulus, rater, label), v in others.items()}
    first = answers(given)
    found = first.beside(answers(others))
    shared = {key: value for key, value in others.items() if key[2] in first.labels}
    assert as_said(found) == given | shared
    assert found.raters[: len(first.raters)] == first.raters
    assert is_sorted(found)


def test_categories_become_labels() -> None:
    columns = {
        "stimulus": ["a", "a", "b"],
        "rater": ["r", "s", "r"],
        "value": ["awe", "joy", "joy"],
    }
    found = answers_of(Ratings(columns, scale="nominal:joy,awe")).of_categories(("joy", "awe"))
    assert as_said(found) == {("a", "r", "awe"): 1, ("a", "s", "joy"): 1, ("b", "r", "joy"): 1}
    assert is_sorted(found)
