"""Targets of heads from ratings, frames and arrays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from affectlab.core.errors import InputError
from affectlab.models.heads import targets_from
from affectlab.models.heads.targets import check_targets, only_yes_no
from affectlab.ratings import Ratings, read_ratings

nan = np.nan


def ratings(rows: list[tuple[str, str, str, float]], scale: str = "0-7 interval") -> Ratings:
    stimulus, rater, label, value = zip(*rows, strict=True)
    frame = {"stimulus": stimulus, "rater": rater, "label": label, "value": value}
    return Ratings({name: list(column) for name, column in frame.items()}, scale=scale)


PEOPLE = [
    ("a", "r1", "joy", 1.0),
    ("a", "r2", "joy", 7.0),
    ("a", "r3", "joy", 2.0),
    ("b", "r1", "fear", 3.0),
    ("b", "r2", "fear", 4.0),
    ("c", "r1", "joy", 5.0),
]


def test_median_and_mean_in_the_order_asked_for() -> None:
    table = ratings(PEOPLE)
    median = targets_from(table, ["c", "b", "a", "unseen"], ["fear", "joy"])
    assert np.array_equal(median, [[nan, 5], [3.5, nan], [nan, 2], [nan, nan]], equal_nan=True)
    mean = targets_from(table, ["a"], ["joy"], "mean")
    assert mean.item() == pytest.approx(10 / 3)


@given(
    st.lists(
        st.tuples(
            st.sampled_from("abc"),
            st.sampled_from(["r1", "r2", "r3", "r4"]),
            st.sampled_from(["joy", "fear"]),
            st.integers(0, 7),
        ),
        min_size=1,
        max_size=24,
        unique_by=lambda row: row[:3],
    ),
    st.sampled_from(["median", "mean"]),
)
def test_equals_a_plain_loop(rows: list[tuple[str, str, str, int]], how: str) -> None:
    table = ratings([(s, r, k, float(v)) for s, r, k, v in rows])
    stimuli, labels = sorted({row[0] for row in rows}), sorted({row[2] for row in rows})
    found = targets_from(table, stimuli, labels, how)  # type: ignore[arg-type]
    plain = np.median if how == "median" else np.mean
    for i, stimulus in enumerate(stimuli):
        for k, label in enumerate(labels):
            values = [v for s, _, own, v in rows if (s, own) == (stimulus, label)]
            wanted = plain(values) if values else nan
            assert found[i, k] == pytest.approx(wanted, nan_ok=True)


def test_yes_no_answers_of_experts(tmp_path: Path) -> None:
    file = tmp_path / "binary.csv"
    file.write_text(
        "path,annotator,value,emotion\n"
        "00,h1,True,Anger\n00,h2,False,Anger\n00,h3,True,Anger\n01,h1,False,Awe\n"
    )
    found = targets_from(read_ratings(file), ["00", "01"], ["Awe", "Anger"], "mean")
    assert np.allclose(found, [[nan, 2 / 3], [0, nan]], equal_nan=True)


@pytest.mark.data
def test_published_yes_no_answers(shared_data: Path) -> None:
    table = read_ratings(shared_data / "emonet_face" / "binary.csv")
    found = targets_from(table, table.stimulus_names, table.label_names)
    rated = ~np.isnan(found)
    assert set(np.unique(found[rated])) <= {0.0, 0.5, 1.0}
    pairs = table.to_frame().select("stimulus", "label").n_unique()
    assert rated.sum() == pairs


def test_ratings_without_labels_fit_one_head() -> None:
    table = Ratings({"stimulus": ["a", "b"], "rater": ["r", "r"], "value": [1, 7]}, scale="0-7")
    assert targets_from(table, ["b", "a"], ["joy"]).tolist() == [[7.0], [1.0]]
    with pytest.raises(InputError, match="no labels, and there are 2 heads"):
        targets_from(table, ["a"], ["joy", "fear"])


@pytest.mark.parametrize(
    ("stimuli", "labels", "how", "said"),
    [
        (["x"], ["joy"], "median", "no rated stimulus is among the 1"),
        (["a"], ["joi"], "median", "unknown label 'joi'; did you mean 'joy'"),
        (["a", "a"], ["joy"], "median", "stimuli: name 'a' stands twice"),
        (["a"], ["joy", "joy"], "median", "labels: name 'joy' stands twice"),
        (["a"], [], "median", "labels: expected a list of names"),
        (["a"], ["joy"], "mode", "unknown aggregate 'mode'"),
    ],
)
def test_what_does_not_fit(stimuli: list[str], labels: list[str], how: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        targets_from(ratings(PEOPLE), stimuli, labels, how)  # type: ignore[arg-type]


def test_other_scales_are_refused() -> None:
    table = ratings([("a", "r", "joy", 80.0)], "0-100 interval")
    with pytest.raises(InputError, match=r"scale interval 0 to 100; heads learn from 0 to 7"):
        targets_from(table, ["a"], ["joy"])


def test_frames_are_aligned_by_label_and_by_stimulus() -> None:
    frame = pl.DataFrame({"joy": [1, None], "stimulus": ["a", "b"], "fear": [2.5, 3.0]})
    found = check_targets(frame, 2, ["fear", "joy"], ("b", "a"))
    assert np.array_equal(found, [[3.0, nan], [2.5, 1.0]], equal_nan=True)
    with pytest.raises(InputError, match="unknown label 'fer'; did you mean 'fear'"):
        check_targets(frame, 2, ["fer"], None)
    with pytest.raises(InputError, match="no row for stimulus 'c'"):
        check_targets(frame, 1, ["joy"], ("c",))


def test_arrays_are_checked() -> None:
    good = np.array([[0.0, 7.0], [nan, 3.0]])
    assert np.array_equal(check_targets(good, 2, ["x", "y"], None), good, equal_nan=True)
    for bad, said in (
        (good[:1], r"shape \(1, 2\); expected \(2, 2\)"),
        (good + 1, r"row 1, 'y': 8 is off the scale"),
        (good - np.inf, "-inf is off the scale"),
        ([["a", "b"]], "expected numbers"),
    ):
        with pytest.raises(InputError, match=said):
            check_targets(bad, 2, ["x", "y"], None)
    with pytest.raises(InputError, match="X is an array without names"):
        check_targets(ratings(PEOPLE), 2, ["joy"], None)


def test_yes_no_is_recognised() -> None:
    for values in ([0.0, 1.0, nan], [0.0, 1.0, 0.5], [0.0, 1 / 3]):
        assert only_yes_no(None, np.array(values))
    assert not only_yes_no(None, np.array([0.0, 1.5]))
    assert not only_yes_no(None, np.array([nan]))
    # Ratings say what they are: a rare emotion is rated 0 and 1 by people who could say 7.
    rare = ratings([("a", "r", "joy", 0.0), ("b", "r", "joy", 1.0)])
    assert not only_yes_no(rare, np.array([0.0, 1.0]))
    panel = ratings([("a", "r", "joy", 0.0), ("b", "r", "joy", 1.0)], "binary")
    assert only_yes_no(panel, np.array([0.0, 1.0]))


def test_frames_without_names_are_refused_where_X_has_them() -> None:
    frame = pl.DataFrame({"file": ["b", "a"], "joy": [1.0, 7.0]})
    with pytest.raises(InputError, match="Y has no column 'stimulus', and X has names"):
        check_targets(frame, 2, ["joy"], ("a", "b"))
    assert check_targets(frame, 2, ["joy"], None).tolist() == [[1.0], [7.0]]
    # Names that are numbers are names.
    numbers = pl.DataFrame({"stimulus": [1, 0], "joy": [1.0, 7.0]})
    assert check_targets(numbers, 2, ["joy"], ("0", "1")).tolist() == [[7.0], [1.0]]
    for broken in ([1.0, 0.0], ["a", None]):
        with pytest.raises(InputError, match="column 'stimulus': expected names, one in each"):
            check_targets(
                numbers.with_columns(pl.Series("stimulus", broken)), 2, ["joy"], ("0", "1")
            )
