"""Telling people and models apart, and bringing models to the people's scale."""

from __future__ import annotations

from inspect import signature

import numpy as np
import pytest
from hypothesis import given, strategies as st

from affectlab import InputError, Ratings, evaluation
from affectlab.evaluation.people_and_models import on_scale, sides
from affectlab.ratings import StepKind
from affectlab.ratings.scale import Scale


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
    both = sides(mixed, table("other", [3.5, 4], "0-7 interval"))
    assert [str(one.scale) for one in both.tables] == ["ordinal 0 to 7, step 1", "interval 0 to 7"]
    # Side by side each keeps its own numbers.
    assert both.models.rater_names == ("net", "other")
    assert both.models.value.tolist() == [1, 2, 3.5, 4]


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


def test_declared_bounds_are_mapped_linearly_and_the_history_says_so() -> None:
    model = table("net", [0, 0.5, 1], "0-1 interval")
    found = on_scale(model, Scale.parse("0-100 interval"))
    assert found.value.tolist() == [0, 50, 100]
    assert found.history[-1]["ends"] == (0, 1, 0, 100)
    kept = on_scale(table("net", [10, 35, 90], "0-100"), Scale.parse("1-9"), "none")
    np.testing.assert_allclose(kept.value, [1.8, 3.8, 8.2])
    assert str(kept.scale) == "interval 1 to 9"


@pytest.mark.parametrize(
    ("values", "scale", "people", "why"),
    [
        ([-2, 3, 9], "interval", Scale.parse("0-7"), "that of models has no bounds"),
        ([0.1, 0.9], None, Scale.parse("1-9"), "that of models is not declared"),
        ([0.1, 0.9], None, Scale.parse("0-7"), "that of models is not declared"),
        ([12.5, 90], None, Scale.parse("1-9"), "that of models is not declared"),
        ([0.5, 1], "0-1 interval", Scale.infer([1, 5, 9]), "that of people is not declared"),
        ([0.5, 1], "0-1 interval", Scale.parse("interval"), "that of people has no bounds"),
    ],
)
def test_without_two_declared_scales_there_is_no_map(
    values: list[float], scale: str | None, people: Scale, why: str
) -> None:
    names = [f"s{k}" for k in range(len(values))]
    model = Ratings(
        {"stimulus": names, "rater": ["net"] * len(names), "value": values}, scale=scale
    )
    with pytest.raises(InputError, match=why):
        on_scale(model, people)


def test_a_scale_that_was_not_declared_is_taken_for_that_of_people_where_it_fits() -> None:
    model = Ratings({"stimulus": ["a", "b"], "rater": ["net"] * 2, "value": [0.5, 6.2]})
    found = on_scale(model, Scale.parse("0-7"), "none")
    assert found.value.tolist() == [0.5, 6.2]
    assert "all lie within the bounds" in found.history[-1]["guess"]


def test_people_keep_their_steps_beside_fractions_of_models_in_one_table() -> None:
    mixed = table("ann", [0, 3, 7], "0-7 interval").merge(
        as_model("net", [0.5, 3, 6], "0-7 interval")
    )
    assert sides(mixed).people.scale == Scale.parse("0-7")
    assert sides(mixed).people.history[-1].kind is StepKind.WHOLE_STEPS
    for people, models, scale in (
        ([0, 3.5, 7], [0.5, 3, 6], "0-7 interval"),  # People have fractions, too.
        ([0, 3, 7], [1, 3, 6], "0-7 interval"),  # Nobody has.
        ([0, 30, 70], [0.5, 3, 6], "0-100 interval"),  # A slider.
    ):
        both = table("ann", people, scale).merge(as_model("net", models, scale))
        assert sides(both).people.scale == both.scale


def test_no_order_no_scale() -> None:
    words = Ratings({"stimulus": ["a"], "rater": ["m"], "value": ["x"]}, scale="nominal:x,y")
    with pytest.raises(InputError, match="has no order"):
        on_scale(words, Scale.parse("0-7"))


@given(
    st.lists(st.integers(1, 900), min_size=1, max_size=20),
    st.sampled_from(["0-1 interval", "0-100 interval", "-3..3 interval", "2-10 interval"]),
)
def test_the_form_of_a_scale_does_not_matter(ninths: list[int], scale: str) -> None:
    """The same answers on any declared scale are the same answers on that of people."""
    people, own = Scale.parse("1-9"), Scale.parse(scale)
    share = np.array(ninths) / 900
    given = own.low + share * (own.high - own.low)  # type: ignore[operator]
    model = table("net", np.clip(given, own.low, own.high).tolist(), scale)
    np.testing.assert_allclose(on_scale(model, people, "none").value, 1 + 8 * share, atol=1e-12)
    rounded = on_scale(model, people).value
    assert people.contains(rounded).all()
    assert (
        rounded.tolist()
        == on_scale(table("net", share.tolist(), "0-1 interval"), people).value.tolist()
    )


TAKES_MODELS = [
    name
    for name in evaluation.__all__
    if callable(function := getattr(evaluation, name))
    and not isinstance(function, type)
    and "models" in signature(function).parameters
    # These take what metrics say, as ratings, arrays or tables.
    and name not in ("difference_metrics", "evaluate_preference_metrics")
]


@pytest.mark.parametrize("name", TAKES_MODELS)
@pytest.mark.parametrize("models", [["net"], "net"])
def test_models_that_are_no_ratings_are_refused_in_a_sentence(name: str, models: object) -> None:
    people = Ratings(
        {"stimulus": list("abab"), "rater": list("xxyy"), "value": [1, 2, 2, 3]}, scale="0-7"
    )
    more = {"by": "rater.age"} if name == "fairness" else {}
    alone = {"on_scale": [models, people.scale], "neutral_calibrated": [models, ["a"]]}
    arguments = alone.get(name, [people, models])
    with pytest.raises(InputError, match=r"models: got .*; expected Ratings"):
        getattr(evaluation, name)(*arguments, **more)
