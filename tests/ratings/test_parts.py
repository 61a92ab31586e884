"""Parts and other shapes of a table, and that it never changes."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from affectlab.core.errors import InputError
from affectlab.ratings import Ratings, Step, StepKind
from affectlab.ratings.derived.reshape import matrix, pivot
from affectlab.ratings.steps import step


@pytest.fixture
def table() -> Ratings:
    return Ratings(
        {
            "stimulus": ["a", "a", "b", "b", "g", "c"],
            "rater": ["ann", "bot", "ann", "bot", "ann", "sim"],
            "value": [1, 2, 3, None, 5, 6],
            "trial_kind": ["main", "main", "main", "main", "golden", None],
            "outcome": ["ok", None, "ok", "refused", "ok", "ok"],
            "trial": [1, 2, 3, 4, 5, 6],
        },
        scale="0-7",
        raters={
            "rater": ["ann", "bot", "sim"],
            "rater_kind": ["human", "model", "simulated"],
            "age": [30, None, 40],
        },
        stimuli={"stimulus": ["a", "b", "c", "g"], "actor": ["x", "y", "x", "z"]},
    )


def test_empty_cells_of_trial_kind_and_outcome_mean_the_usual(table: Ratings) -> None:
    assert table.frame["trial_kind"].to_list()[-1] == "main"
    assert table.frame["outcome"].to_list()[1] == "ok"


def test_answers_are_main_trials_that_went_well(table: Ratings) -> None:
    answers = table.answers()
    assert answers.to_frame().select("stimulus", "rater", "value").rows() == [
        ("a", "ann", 1.0),
        ("a", "bot", 2.0),
        ("b", "ann", 3.0),
        ("c", "sim", 6.0),
    ]
    assert answers.answers() is answers
    assert answers.stimulus_names == ("a", "b", "c")
    assert answers.stimuli["actor"].to_list() == ["x", "y", "x"]
    with pytest.raises(InputError, match="no main trial has a value"):
        table.select(trial_kind="golden").answers()


def test_humans_and_models(table: Ratings) -> None:
    assert table.humans().rater_names == ("ann", "sim")
    assert table.models().rater_names == ("bot",)
    assert table.models().raters.rows() == [("bot", "model", None)]
    with pytest.raises(InputError, match=r"no rater is a model; give each a rater_kind \(human"):
        table.humans().models()
    with pytest.raises(InputError, match=r"no rater is human; .* \(raters='TABLE'\)$"):
        table.models().humans()
    with pytest.raises(InputError, match="no rating is left"):
        table.humans().select(rater_kind="model")


def test_select_by_every_name(table: Ratings) -> None:
    assert table.select(stimuli=["b", "a"]).stimulus_names == ("a", "b")
    assert table.select(raters=np.array(["bot"])).n_rows == 2
    assert table.select(raters=(name for name in ["ann", "sim"])).n_rows == 4
    assert table.select(outcome="refused").n_ratings == 0
    assert table.select(trial_kind=["golden", "main"]) is table
    assert table.select(rater_kind="simulated").rater_names == ("sim",)
    plain = Ratings({"stimulus": ["a", "b"], "rater": ["7", "x"], "value": [1, 2]})
    assert plain.select(raters=[7]).n_rows == 1
    assert plain.select(trial_kind="main", outcome="ok") is plain
    with pytest.raises(InputError, match="no rating is left"):
        plain.select(trial_kind="golden")


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        ({"stimuli": "d"}, "unknown stimulus 'd'; expected one of: a, b"),
        ({"raters": "anna"}, "unknown rater 'anna'; did you mean 'ann'"),
        ({"labels": "joy"}, "unknown label 'joy'; expected one of: rating"),
        ({"rater_kind": "robot"}, "unknown rater_kind 'robot'"),
        ({"trial_kind": "gold"}, "unknown trial_kind 'gold'; did you mean 'golden'"),
        ({"outcome": "refusal"}, "unknown outcome 'refusal'; did you mean 'refused'"),
    ],
)
def test_select_knows_what_it_selects_from(
    table: Ratings, wanted: dict[str, str], sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        table.select(**wanted)


def test_where_sees_columns_and_attributes(table: Ratings) -> None:
    assert table.where(pl.col("age") > 35).rater_names == ("sim",)
    assert table.where((pl.col("actor") == "x") & (pl.col("value") < 3)).n_rows == 2
    assert table.where([True, False, False, False, False, False]).n_rows == 1
    assert table.where(pl.lit(True)) is table
    assert table.where(pl.col("age") > 35, step="the young left out").history[-1:] == (
        Step.note("the young left out"),
    )
    assert table.where(pl.lit(True), step="nobody left out").history[-1:] == (
        Step.note("nobody left out"),
    )
    for predicate, sentence in (
        (pl.col("ages") > 1, "where: unknown column 'ages'; did you mean 'age'"),
        (pl.col("value") + 1, "gives Float64; expected true or false"),
        (pl.col("value") > 100, "no rating is left"),
        ([True], "true or false for each of 6 rows"),
    ):
        with pytest.raises(InputError, match=sentence):
            table.where(predicate)


def test_matrix_and_pivot(table: Ratings) -> None:
    wide = matrix(table.answers())
    assert wide.shape == (3, 3)
    np.testing.assert_array_equal(wide, [[1, 3, np.nan], [2, np.nan, np.nan], [np.nan, np.nan, 6]])
    frame = pivot(table.answers())
    assert frame.columns == ["stimulus", "ann", "bot", "sim"]
    assert frame.row(1) == ("b", 3.0, None, None)
    assert pivot(table.answers(), "rater", "stimulus").row(0) == ("ann", 1.0, 3.0, None)


def test_spreading_leaves_out_what_statistics_leave_out(table: Ratings) -> None:
    wide = table.matrix()
    assert wide.shape == (table.n_raters, table.n_stimuli)
    assert np.isnan(wide[:, table.stimulus_names.index("g")]).all()
    assert table.pivot().row(2) == ("g", None, None, None)
    every = table.matrix(every_trial=True)
    assert every[0, table.stimulus_names.index("g")] == 5
    assert table.pivot(every_trial=True).row(2) == ("g", 5.0, None, None)
    golden = table.select(trial_kind="golden")
    for spread in (golden.matrix, golden.pivot):
        with pytest.raises(InputError, match=r"no main trial has a value; .* every_trial=True"):
            spread()
        assert spread(every_trial=True) is not None


def test_a_refused_answer_is_in_no_mean() -> None:
    r = Ratings(
        {
            "stimulus": ["a", "a", "a"],
            "rater": ["x"] * 3,
            "value": [1, 7, 5],
            "outcome": ["ok", "rule_violation", "ok"],
            "trial_kind": ["main", "main", "repeat"],
            "trial": [1, 2, 3],
        },
        scale="0-7",
    )
    assert r.matrix().tolist() == [[1]]
    assert r.pivot().row(0) == ("a", 1.0)
    assert r.pivot(aggregate="len").row(0) == ("a", 1.0)
    assert r.pivot(every_trial=True).row(0) == ("a", pytest.approx(13 / 3))


def test_of_several_answers_the_first_counts_in_a_matrix() -> None:
    r = Ratings(
        {"stimulus": ["a", "a", "b"], "rater": ["x"] * 3, "value": [1, 5, 3], "trial": [1, 2, 3]}
    )
    assert r.matrix().tolist() == [[1, 3]]
    assert r.pivot().rows() == [("a", 3.0), ("b", 3.0)]
    for name, value in {"first": 1, "min": 1, "max": 5, "sum": 6, "median": 3, "len": 2}.items():
        assert r.pivot(aggregate=name).row(0) == ("a", value)


def test_shapes_of_labels() -> None:
    r = Ratings(
        {
            "stimulus": ["a", "a", "b"],
            "rater": ["x", "x", "y"],
            "label": ["calm", "tense", "calm"],
            "value": [1, 2, 3],
        }
    )
    np.testing.assert_array_equal(r.matrix("calm"), [[1, np.nan], [np.nan, 3]])
    assert r.pivot(label="tense").columns == ["stimulus", "x"]
    assert r.pivot("stimulus", "label").rows() == [("a", 1.0, 2.0), ("b", 3.0, None)]
    for call, sentence in (
        (r.matrix, "there are 2 labels; name one of them: calm, tense$"),
        (lambda: r.matrix("clam"), "unknown label 'clam'; did you mean 'calm'"),
        (lambda: r.pivot("stimulus", "stimulus"), "expected two different axes"),
        (lambda: r.pivot("stimuli"), "unknown axis 'stimuli'; did you mean 'stimulus'"),
        (lambda: r.pivot(aggregate="avg"), "unknown aggregate 'avg'"),
    ):
        with pytest.raises(InputError, match=sentence):
            call()
    named = Ratings({"stimulus": ["a"], "rater": ["stimulus"], "value": [1]})
    with pytest.raises(InputError, match="pivot the other way round"):
        named.pivot()


def test_new_tables_of_raters_and_stimuli(table: Ratings) -> None:
    aged = table.with_raters({"rater": ["bot", "ann"], "team": ["m", "h"]})
    assert aged.raters.columns == ["rater", "rater_kind", "team"]
    assert aged.raters["rater_kind"].to_list() == ["human", "model", "simulated"]
    assert aged.raters["team"].to_list() == ["h", "m", None]
    kinds = table.with_raters({"rater": ["ann"], "rater_kind": ["baseline"]})
    assert kinds.rater_kinds == ("baseline", "model", "simulated")
    extra = table.with_stimuli({"stimulus": ["a", "zz"], "size": [1, 2]})
    assert extra.stimuli["size"].to_list() == [1, None, None, None]
    assert extra.history == (step(StepKind.UNUSED_ATTRIBUTES, unit="stimulus", names=["zz"]),)
    assert table.stimuli.columns == ["stimulus", "actor"]


def test_nothing_changes_a_table(table: Ratings) -> None:
    before = copy.deepcopy(table.to_frame().to_dict(as_series=False))
    for array in (table.value, table.stimulus_code, table.rater_code, table.label_code):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 9
    part = table.answers()
    with pytest.raises(ValueError, match="read-only"):
        part.value[0] = 9
    for frame in (table.frame, table.raters, table.stimuli, table.to_frame()):
        frame.insert_column(0, pl.Series("new", [0] * frame.height))
        frame[0, 1] = None
    with pytest.raises(AttributeError):
        table.scale = None  # type: ignore[misc, assignment]
    assert table.to_frame().to_dict(as_series=False) == before
    assert "new" not in table.raters.columns


def test_the_source_may_change_afterwards() -> None:
    value = np.array([1.0, 2.0])
    r = Ratings({"stimulus": ["a", "b"], "rater": ["x", "x"], "value": value})
    value[:] = 9
    assert r.value.tolist() == [1, 2]


def test_codes_follow_names_and_the_frame(table: Ratings) -> None:
    frame = table.frame
    assert table.coded_frame["stimulus"].to_physical().to_list() == table.stimulus_code.tolist()
    assert [table.rater_names[code] for code in table.rater_code] == frame["rater"].to_list()
    assert table.stimulus_code.dtype == np.int32
    assert frame["value"].null_count() == 1
    assert len(table) == table.n_rows == 6
    assert table.n_ratings == 5


def test_frames_of_two_tables_go_together(table: Ratings) -> None:
    other = Ratings({"stimulus": ["b", "new"], "rater": ["m", "m"], "value": [1, 2]})
    both = table.frame.join(other.frame, on="stimulus")
    assert set(both["stimulus"]) == {"b"}
    assert set(both["rater_right"]) == {"m"}
    longer = pl.concat([table.frame, other.frame], how="diagonal")
    assert longer["stimulus"].to_list() == [*table.frame["stimulus"], "b", "new"]
    pandas = pytest.importorskip("pandas")
    pair = pandas.concat([table.frame.to_pandas(), other.frame.to_pandas()])
    assert pair["stimulus"].tolist() == longer["stimulus"].to_list()
    assert table.frame.join(table.raters, on="rater").height == table.n_rows
    assert table.frame.equals(table.coded_frame.cast({pl.Enum: pl.String}))
    assert table.to_frame().equals(table.frame)


def test_rows_are_chosen_by_parts_of_names(table: Ratings) -> None:
    chosen = table.where(pl.col("stimulus").str.contains("[ab]"))
    assert set(chosen.stimulus_names) == {"a", "b"}
    assert set(table.where(pl.col("stimulus") != "not there").frame["stimulus"]) == set(
        table.stimulus_names
    )


def test_copies_are_equal(table: Ratings) -> None:
    assert pickle.loads(pickle.dumps(table)).equals(table)
    assert copy.deepcopy(table).equals(table)
    assert not table.equals(table.answers())
    again = Ratings(table.frame, scale=table.scale, raters=table.raters, stimuli=table.stimuli)
    assert again.equals(table)


@settings(deadline=None, max_examples=60)
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 4), st.integers(0, 7)),
        min_size=1,
        max_size=25,
        unique_by=lambda row: row[:2],
    ),
    data=st.data(),
)
def test_parts_keep_the_order_of_rows_and_names(
    rows: list[tuple[int, int, int]], data: st.DataObject
) -> None:
    stimuli, raters, values = zip(*rows, strict=True)
    r = Ratings({"stimulus": stimuli, "rater": raters, "value": values}, scale="0-7")
    kept = data.draw(st.lists(st.sampled_from(r.stimulus_names), min_size=1, unique=True))
    part = r.select(stimuli=kept)
    expected = [(str(s), str(t), float(v)) for s, t, v in rows if str(s) in kept]
    assert part.to_frame().rows() == expected
    assert part.stimulus_names == tuple(name for name in r.stimulus_names if name in kept)
    assert part.rater_names == tuple(
        name for name in r.rater_names if name in {row[1] for row in expected}
    )
    assert part.raters["rater"].to_list() == list(part.rater_names)
    assert set(part.rater_code) == set(range(part.n_raters))
