"""Tables in memory, of any library and in any state."""

from __future__ import annotations

import datetime as dt
import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from affectlab.core.errors import InputError
from affectlab.ratings import Ratings, StepKind
from affectlab.ratings.steps import step

TWO = {"stimulus": ["a", "b"], "rater": ["x", "x"]}


def test_pandas_gaps_categories_and_nullable_types() -> None:
    frame = pd.DataFrame(
        {
            "stimulus": pd.Categorical(["a", "b", "c"]),
            "rater": ["x", "y", "z"],
            "value": pd.array([1, None, 3], dtype="Int64"),
            "age": pd.array([None, 3, 4], dtype="Int8"),
            "when": pd.to_datetime(["2020-01-01", None, "2020-01-02"]),
            "keen": pd.array([True, None, False], dtype="boolean"),
        }
    )
    r = Ratings(frame)
    assert r.value.tolist() == [1, 3]
    assert r.raters["age"].to_list() == [None, 4]
    assert r.stimuli["keen"].to_list() == [True, False]
    assert r.stimuli["when"].to_list() == ["2020-01-01 00:00:00", "2020-01-02 00:00:00"]
    assert [str(part) for part in r.set_aside] == [
        "1 row: no answer (row 2)",
        "1 rater: without any answer that can be used (y)",
        "1 stimulus: without any answer that can be used (b)",
    ]


def test_pandas_identifiers_with_gaps_stay_whole_numbers() -> None:
    frame = pd.DataFrame({"stimulus": [1.0, np.nan, 3.0], "rater": ["x"] * 3, "value": [1, 2, 3]})
    with pytest.raises(InputError, match="row 2: stimulus is empty; expected a name"):
        Ratings(frame)
    r = Ratings(frame, on_bad="set_aside")
    assert r.stimulus_names == ("1", "3")
    assert r.set_aside[0].places == ("row 2",)


def test_mixed_columns_become_text_as_it_looks() -> None:
    for make in (dict, pd.DataFrame):
        r = Ratings(make({"stimulus": [7, "007"], "rater": ["x", True], "value": [1, "2"]}))
        assert r.stimulus_names == ("7", "007")
        assert r.rater_names == ("x", "true")
        assert r.value.tolist() == [1, 2]


def test_arrow_and_lazy_frames() -> None:
    table = pa.table(
        {
            "stimulus": pa.array(["a", "b"]).dictionary_encode(),
            "rater": ["x", "y"],
            "value": pa.array([1, None], pa.int8()),
        }
    )
    assert Ratings(table).value.tolist() == [1]
    lazy = pl.LazyFrame({**TWO, "value": [1, 2]})
    assert Ratings(lazy).n_ratings == 2


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pl.Series([255, 0], dtype=pl.UInt8), [255, 0]),
        (pl.Series([2**64 - 1, 0], dtype=pl.UInt64), [2.0**64, 0]),
        ([2**70, 1], [2.0**70, 1]),
        ([True, False], [1, 0]),
        (np.array([1, -1], dtype=np.int8), [1, -1]),
        (np.array([0.5, 2], dtype=np.float32), [0.5, 2]),
        (pl.Series(["1", "2"], dtype=pl.Enum(["2", "1"])), [1, 2]),
        (pl.Series(["1", "2"], dtype=pl.Categorical), [1, 2]),
        (pl.Series([1, 2]).cast(pl.Decimal(10, 2)), [1, 2]),
    ],
)
def test_value_columns_of_all_types(values: Any, expected: list[float]) -> None:
    assert Ratings({**TWO, "value": values}).value.tolist() == expected


REFUSED = {
    "list": ([1, 2], "is a list; expected a data frame"),
    "text": ({"stimulus": "a"}, "column 'stimulus' is a str; expected a list of values"),
    "lengths": ({**TWO, "value": [1]}, "column 'value' has 1 values and 'stimulus' 2"),
    "no value": (
        TWO,
        "'value' is missing; expected stimulus, rater and value, found stimulus and",
    ),
    "no rater": ({"stimulus": ["a"], "value": [1]}, "column 'rater' is missing"),
    "no rows": ({"stimulus": [], "rater": [], "value": []}, "the table has no rows"),
    "infinite": ({**TWO, "value": [1, math.inf]}, "row 2: value 'inf' is not understood"),
    "lists": ({**TWO, "value": [[1], [2]]}, "column 'value' holds lists or objects"),
    "dates": ({**TWO, "value": [dt.date(2026, 1, 1)] * 2}, "column 'value' holds dates or times"),
    "polars dates": (
        pl.DataFrame({**TWO, "value": [dt.date(2026, 1, 1)] * 2}),
        "column 'value' holds dates or times; expected numbers or words",
    ),
    "list attribute": ({**TWO, "value": [1, 2], "x": [[1], [2]]}, "column 'x' holds lists"),
    "fractional names": (
        {"stimulus": [1.5, 2], "rater": ["x", "y"], "value": [1, 2]},
        "column 'stimulus': 1.5 is not a name; expected text or whole numbers",
    ),
    "too large names": (
        {"stimulus": [1e20, 2], "rater": ["x", "y"], "value": [1, 2]},
        "is not a name",
    ),
    "kind differs": (
        {**TWO, "value": [1, 2], "rater_kind": ["model", "human"]},
        "'rater_kind' differs within a rater",
    ),
    "kind unknown": (
        {**TWO, "value": [1, 2], "rater_kind": ["modell"] * 2},
        "rater 'x': unknown rater_kind 'modell'; did you mean 'model'",
    ),
    "columns twice": (
        pd.DataFrame([["a", "x", 1, 2]], columns=["stimulus", "rater", "value", "value"]),
        "value",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_in_one_sentence(case: str) -> None:
    frame, sentence = REFUSED[case]
    with pytest.raises(InputError, match=sentence) as caught:
        Ratings(frame)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("raters", "sentence"),
    [
        ({"rater": ["x", "x"]}, "the rater table: rater 'x' stands twice; expected once"),
        ({"name": ["x"]}, "the rater table: column 'rater' is missing; expected rater, found name"),
        ({"rater": ["x", None]}, "the rater table: row 2: rater is empty"),
        ({"rater": ["x"], "rater_kind": ["robot"]}, "unknown rater_kind 'robot'"),
        (7, "the rater table is a int; expected a data frame"),
    ],
)
def test_rater_tables_that_cannot_be_used(raters: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Ratings({**TWO, "value": [1, 2]}, raters=raters)


def test_tables_of_attributes_and_columns_of_attributes_are_put_together() -> None:
    frame = {"stimulus": ["a", "a"], "rater": ["x", "y"], "value": [1, 2], "age": [30, None]}
    r = Ratings(frame, raters={"rater": ["y", "z"], "age": [40, 50], "sex": ["f", "m"]})
    assert r.raters.rows() == [("x", "human", 30, None), ("y", "human", 40, "f")]
    assert r.history == (step(StepKind.UNUSED_ATTRIBUTES, unit="rater", names=["z"]),)
    with pytest.raises(InputError, match="rater 'x': age is 31 in one table and 30 in another"):
        Ratings(frame, raters={"rater": ["x"], "age": [31]})


def test_one_rater_one_stimulus_and_equal_answers_are_tables_too() -> None:
    r = Ratings({"stimulus": ["a"], "rater": ["x"], "value": [3]})
    assert (r.n_ratings, r.n_stimuli, r.n_raters, r.n_labels) == (1, 1, 1, 1)
    assert r.scale.kind == "interval"
    assert r.matrix().tolist() == [[3.0]]


def test_values_on_nominal_scales() -> None:
    assert Ratings({**TWO, "value": ["no", "yes"]}, scale="nominal:yes,no").value.tolist() == [1, 0]
    assert Ratings({**TWO, "value": [0, 1]}, scale="nominal:yes,no").value.tolist() == [0, 1]
    assert Ratings({**TWO, "value": [10, 20]}, scale="nominal:20,10").value.tolist() == [1, 0]
    with pytest.raises(InputError, match="row 1: value 'true' is not understood"):
        Ratings({**TWO, "value": [True, False]}, scale="nominal:yes,no")
    with pytest.raises(InputError, match="row 1: value '0' is not understood"):
        Ratings({**TWO, "value": [0, 20]}, scale="nominal:20,10")
    with pytest.raises(InputError, match="row 2: value 2 is off the scale"):
        Ratings({**TWO, "value": [1, 2]}, scale="nominal:yes,no")
    r = Ratings({**TWO, "value": ["maybe", "None"]}, scale="nominal:maybe,None")
    assert r.n_ratings == 2
