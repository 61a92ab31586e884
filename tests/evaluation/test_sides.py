"""Telling people and models apart, and bringing models to the people's scale."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from affectlab import InputError, Ratings, Scale
from affectlab.evaluation import on_scale, sides


def table(rater: str, values: list[float], scale: str = "0-7", **given_too: object) -> Ratings:
    names = [f"s{k}" for k in range(len(values))]
    frame = {"stimulus": names, "rater": [rater] * len(values), "value": values}
    return Ratings(frame, scale=scale, **given_too)


def as_model(rater: str, values: list[float], scale: str = "0-7") -> Ratings:
    return table(rater, values, scale, raters={"rater": [rater], "rater_kind": ["model"]})


def test_two_tables() -> None:
    found = sides(table("ann", [1, 2]), table("net", [1.5, 2.5], "0-7 interval"))
    assert found.people.rater_names == ("ann",)
    assert found.models.rater_names == ("net",)


def test_models_of_both_tables_are_judged() -> None:
    mixed = table("ann", [1, 2]).merge(as_model("net", [1, 2]))
    assert sides(mixed, as_model("other", [3, 4])).models.rater_names == ("net", "other")
    with pytest.raises(InputError, match="one scale for all models"):
        sides(mixed, table("other", [3.5, 4], "0-7 interval"))


@pytest.mark.parametrize(
    ("ratings", "models", "sentence"),
    [
        (table("ann", [1]), None, "no rater is a model"),
        (as_model("net", [1]), None, "no rater is human"),
        (
            table("ann", [1]),
            Ratings({"stimulus": ["z"], "rater": ["net"], "value": [1]}, scale="0-7"),
            "share no stimulus",
        ),
    ],
)
def test_what_is_missing_is_said(ratings: Ratings, models: Ratings | None, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        sides(ratings, models)


def test_rounding_and_truncating() -> None:
    model = table("net", [0.4, 0.6, 2.5, 3.5, 6.99], "0-7 interval")
    scale = Scale.parse("0-7")
    assert on_scale(model, scale).value.tolist() == [0, 1, 2, 4, 7]
    assert on_scale(model, scale, "truncate").value.tolist() == [0, 0, 2, 3, 6]


def test_truncating_keeps_whole_numbers_of_a_computation() -> None:
    model = table("net", [3 * (1 - 2**-50), 0.1 * 3 * 10], "0-7 interval")
    assert on_scale(model, Scale.parse("0-7"), "truncate").value.tolist() == [3, 3]


def test_answers_beyond_the_bounds_are_counted() -> None:
    found = on_scale(table("net", [-2, 3, 9], "interval"), Scale.parse("0-7"))
    assert found.value.tolist() == [0, 3, 7]
    assert "2 answers beyond the bounds" in found.history[-1]


def test_spreading_needs_bounds_that_were_declared() -> None:
    model = table("net", [0, 0.5, 1], "0-1 interval")
    assert on_scale(model, Scale.parse("0-100 interval"), rescale=True).value.tolist() == [
        0,
        50,
        100,
    ]
    with pytest.raises(InputError, match="no declared bounds"):
        on_scale(table("net", [0.0, 0.5], "interval"), Scale.parse("0-7"), rescale=True)


def test_no_order_no_scale() -> None:
    words = Ratings({"stimulus": ["a"], "rater": ["m"], "value": ["x"]}, scale="nominal:x,y")
    with pytest.raises(InputError, match="has no order"):
        on_scale(words, Scale.parse("0-7"))


@given(st.lists(st.floats(-20, 20), min_size=1, max_size=20))
def test_all_answers_end_on_the_scale_and_near(values: list[float]) -> None:
    scale = Scale.parse("1-5")
    found = on_scale(table("net", values, "interval"), scale).value
    assert scale.contains(found).all()
    clipped = np.clip(values, 1, 5)
    assert np.abs(found - clipped).max() <= 0.5 + 1e-9
