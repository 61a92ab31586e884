"""Scales: reading, inferring, and saying which values are on them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from affectlab.core.errors import InputError
from affectlab.ratings import Scale


@pytest.mark.parametrize(
    ("text", "kind", "low", "high", "step"),
    [
        ("0-7", "ordinal", 0, 7, 1),
        ("1..5", "ordinal", 1, 5, 1),
        ("1 to 5", "ordinal", 1, 5, 1),
        ("-3..3", "ordinal", -3, 3, 1),
        ("-3--1", "ordinal", -3, -1, 1),
        ("0-1", "binary", 0, 1, 1),
        ("binary", "binary", 0, 1, 1),
        ("0-1 ordinal", "ordinal", 0, 1, 1),
        ("0-1 interval", "interval", 0, 1, None),
        ("0-100 interval", "interval", 0, 100, None),
        ("0-1 step 0.1", "ordinal", 0, 1, 0.1),
        ("0-100, step 5, interval", "interval", 0, 100, 5),
        ("0.5-2.5", "interval", 0.5, 2.5, None),
        ("interval", "interval", None, None, None),
        ("text", "text", None, None, None),
    ],
)
def test_short_forms(
    text: str, kind: str, low: float | None, high: float | None, step: float | None
) -> None:
    scale = Scale.parse(text)
    assert (scale.kind, scale.low, scale.high, scale.step) == (kind, low, high, step)
    assert scale.declared
    assert Scale.parse(str(scale)) == scale
    assert Scale.from_dict(scale.to_dict()) == scale


def test_nominal() -> None:
    scale = Scale.parse("nominal: yes , no,")
    assert scale.categories == ("yes", "no")
    assert scale.levels().tolist() == [0, 1]
    assert Scale.parse(str(scale)) == scale
    assert scale.name_of(1) == "'no'"
    only = Scale.nominal(("one",))
    assert only.levels().tolist() == [0]
    assert only.contains([0, 1]).tolist() == [True, False]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("seven", "scale 'seven' is not understood; expected for example '0-7'"),
        ("", "is not understood"),
        ("nominal:", "is not understood"),
        ("nominal: , ", "is not understood"),
        ("nominal:a,a", "a category is named twice"),
        ("7-0", "low 7 is not below high 0"),
        ("3-3", "low 3 is not below high 3"),
        ("0-7 step 2", "steps of 2 from 0 do not reach 7"),
        ("0-7 step 0", "step 0 is not above 0"),
        ("0-1e300 step 1e-300", "too many to count"),
        ((0, 7), "scale is a tuple; expected"),
    ],
)
def test_what_is_no_scale(text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Scale.parse(text)


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([0, 1, 1], "binary, 0 or 1 (inferred)"),
        ([0, 0], "binary, 0 or 1 (inferred)"),
        ([1, 5, np.nan], "ordinal 1 to 5, step 1 (inferred)"),
        ([-0.0, 3, 7], "ordinal 0 to 7, step 1 (inferred)"),
        ([-1, 1], "ordinal -1 to 1, step 1 (inferred)"),
        ([0, 10], "ordinal 0 to 10, step 1 (inferred)"),
        ([0, 11], "interval 0 to 11, step 1 (inferred)"),
        ([0.5, 1], "interval 0.5 to 1 (inferred)"),
        ([3, 3], "interval (inferred)"),
        ([], "interval (inferred)"),
        ([np.nan], "interval (inferred)"),
        ([np.inf, 1, 2], "ordinal 1 to 2, step 1 (inferred)"),
        ([-1e308, 1e308], "interval -1e+308 to 1e+308 (inferred)"),
    ],
)
def test_inferring(values: list[float], shown: str) -> None:
    scale = Scale.infer(values)
    assert str(scale) == shown
    assert not scale.declared


def test_levels_need_bounds_and_a_step() -> None:
    assert Scale.parse("0-1 step 0.1").levels() == pytest.approx(np.arange(11) / 10)
    assert len(Scale.parse("0-7").levels()) == 8
    for text in ("interval", "text", "0-100 interval"):
        with pytest.raises(InputError, match="has no fixed levels; declare one"):
            Scale.parse(text).levels()


def test_containing_keeps_the_shape_and_leaves_the_values() -> None:
    values = np.array([[0, 7, 8], [np.nan, 3.5, -np.inf]])
    before = values.copy()
    on = Scale.parse("0-7").contains(values)
    assert on.tolist() == [[True, True, False], [False, False, False]]
    np.testing.assert_array_equal(values, before)
    assert Scale("interval").contains([np.inf, -np.inf, np.nan, 1e300]).tolist() == [
        False,
        False,
        False,
        True,
    ]
    assert Scale("interval", low=0.0).contains([np.inf, 5]).tolist() == [False, True]


@given(
    low=st.integers(-50, 50),
    n=st.integers(1, 60),
    step=st.sampled_from([0.1, 0.25, 0.5, 1.0, 3.0]),
    size=st.integers(1, 70_000),
)
def test_all_levels_and_nothing_between_are_on_the_scale(
    low: int, n: int, step: float, size: int
) -> None:
    scale = Scale("ordinal", float(low), low + n * step, step)
    levels = np.resize(scale.levels(), size)
    assert scale.contains(levels).all()
    assert not scale.contains(levels + step / 2).any()
    assert not scale.contains([low - step, low + (n + 1) * step]).any()


def test_kinds_and_bounds_are_checked() -> None:
    with pytest.raises(InputError, match="scale kind 'ratio' is not known"):
        Scale("ratio")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="low is nan; expected a finite number"):
        Scale("interval", float("nan"), 1.0)
    with pytest.raises(InputError, match="needs its categories"):
        Scale("nominal")


@pytest.mark.parametrize("text", ["nominal:joy,fear,…", "ordinal:low,high,..."])
def test_a_list_that_is_cut_is_no_scale(text: str) -> None:
    with pytest.raises(InputError, match="is no category; write all categories out"):
        Scale.parse(text)
