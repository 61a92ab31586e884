"""Distributions of people's answers: rules, gaps, smoothing, and what cannot be done."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from affectlab.core.errors import InputError
from affectlab.evaluation import label_distributions
from affectlab.evaluation.soft_labels import LabelDistributions, rater_distributions
from affectlab.ratings import Ratings

nan = float("nan")


def table(rows: list[tuple], scale: str, **more) -> Ratings:
    """Make ratings of (stimulus, rater, label, value) or (stimulus, rater, value)."""
    names = ("stimulus", "rater", "label", "value") if len(rows[0]) == 4 else None
    names = names or ("stimulus", "rater", "value")
    return Ratings(
        {name: [row[at] for row in rows] for at, name in enumerate(names)}, scale=scale, **more
    )


def test_choices_are_shares_of_people():
    rows = [("a", "r", "joy"), ("a", "s", "joy"), ("a", "t", "fear"), ("b", "r", "fear")]
    found = label_distributions(table(rows, "nominal:joy,awe,fear"))
    assert found.labels == ("joy", "awe", "fear")
    np.testing.assert_allclose(found.values, [[2 / 3, 0, 1 / 3], [0, 0, 1]])
    assert found.n_raters.tolist() == [3, 1]
    np.testing.assert_allclose(found.mass, 1)
    np.testing.assert_allclose(found.entropy(), [np.log(3) - 2 / 3 * np.log(2), 0])
    assert found.top() == ("joy", "fear")


def test_levels_of_one_question_are_labels():
    found = label_distributions(table([("a", "r", 1), ("a", "s", 2), ("a", "t", 2)], "1-3"))
    assert found.labels == ("1", "2", "3")
    np.testing.assert_allclose(found.values, [[1 / 3, 2 / 3, 0]])
    assert found.ordered


def test_votes_count_people_and_show_their_mass():
    rows = [
        *(("a", rater, "joy", 1) for rater in "rst"),
        *(("a", rater, "awe", vote) for rater, vote in zip("rst", (1, 0, 0), strict=True)),
        *(("b", rater, label, 0) for rater in "rs" for label in ("joy", "awe")),
    ]
    found = label_distributions(table(rows, "binary"))
    np.testing.assert_allclose(found.values, [[0.75, 0.25], [nan, nan]])
    np.testing.assert_allclose(found.mass, [4 / 3, 0])
    assert found.status == ("ok", "undefined")
    assert found.top() == ("joy", None)
    np.testing.assert_allclose(found.mean(), [0.75, 0.25])


def test_a_list_of_what_was_chosen_holds_no_zeros():
    rows = [("a", "r", "joy", 1), ("a", "s", "joy", 1), ("a", "t", "fear", 1)]
    listed = table(rows, "binary")
    np.testing.assert_allclose(label_distributions(listed).values, [[2 / 3, 1 / 3]])
    missing = label_distributions(listed, absent="missing")
    np.testing.assert_allclose(missing.values, [[0.5, 0.5]])
    assert "of those who answered it" in missing.rule
    filled = label_distributions(listed.fill_absent())
    np.testing.assert_allclose(filled.values, [[2 / 3, 1 / 3]])


def test_labels_that_were_not_asked_of_all_are_means_of_those_asked():
    rows = [
        *(("a", rater, "joy", 1) for rater in "rs"),
        *(("a", rater, "fear", vote) for rater, vote in zip("tuvw", (1, 0, 0, 0), strict=True)),
    ]
    found = label_distributions(table(rows, "binary"))
    np.testing.assert_allclose(found.values, [[0.8, 0.2]])


def test_intensities_start_at_the_low_end_of_the_scale():
    rows = [
        ("a", "r", "joy", 5),
        ("a", "r", "fear", 1),
        ("a", "s", "joy", 3),
        ("a", "s", "fear", 2),
    ]
    found = label_distributions(table(rows, "1-5"))
    np.testing.assert_allclose(found.values, [[0.75 / 0.875, 0.125 / 0.875]])
    assert found.mass[0] == pytest.approx(0.875)


def test_top_shares_ties_and_leaves_out_those_who_saw_nothing():
    rows = [
        ("a", "r", "joy", 3),
        ("a", "r", "awe", 3),
        ("a", "s", "joy", 1),
        ("a", "s", "awe", 5),
        ("a", "t", "joy", 0),
        ("a", "t", "awe", 0),
    ]
    found = label_distributions(table(rows, "0-7"), rule="top")
    np.testing.assert_allclose(found.values, [[0.25, 0.75]])
    assert found.mass[0] == pytest.approx(2 / 3)


def test_smoothing_adds_votes():
    rows = [("a", "r", "joy"), ("a", "s", "joy"), ("a", "t", "fear")]
    found = label_distributions(table(rows, "nominal:joy,awe,fear"), smoothing=0.5)
    np.testing.assert_allclose(found.values, [[2.5 / 4.5, 0.5 / 4.5, 1.5 / 4.5]])
    assert "0.5 added" in found.rule
    with pytest.raises(InputError, match="unknown stimulus '1'"):
        found.take([1])


def test_labels_are_chosen_before_normalising():
    rows = [("a", "r", label, value) for label, value in (("joy", 1), ("awe", 3), ("fear", 4))]
    found = label_distributions(table(rows, "0-7"), labels=["fear", "joy"])
    assert found.labels == ("fear", "joy")
    np.testing.assert_allclose(found.values, [[0.8, 0.2]])


def test_every_rater_alone():
    rows = [("a", "m", "joy", 0.2), ("a", "m", "awe", 0.6), ("b", "n", "joy", 1.0)]
    found = rater_distributions(table(rows, "0-1 interval"))
    np.testing.assert_allclose(found["m"].values, [[0.25, 0.75]])
    assert found["n"].stimuli == ("b",)
    np.testing.assert_allclose(found["n"].values, [[1, 0]])


def test_frame_and_rows():
    found = LabelDistributions.of([[0.5, 0.5], [nan, nan]], ["joy", "awe"], ["a", "b"], [3, 0])
    assert found.to_frame().rows()[0] == ("a", "joy", 0.5, 3, 1.0, "ok")
    assert found.take(["b", "a"]).stimuli == ("b", "a")
    with pytest.raises(InputError, match="unknown stimulus 'c'"):
        found.take(["c"])


@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.integers(1, 8), st.floats(0, 2))
def test_rows_are_distributions_whatever_the_answers(seed, k, n_raters, smoothing):
    rng = np.random.default_rng(seed)
    rows = [
        (f"s{stimulus}", f"r{rater}", f"l{label}", int(rng.integers(0, 8)))
        for stimulus in range(3)
        for rater in range(n_raters)
        for label in range(k)
        if rng.random() < 0.8
    ]
    if not rows:
        return
    for rule in ("intensity", "top"):
        found = label_distributions(table(rows, "0-7"), rule=rule, smoothing=smoothing)
        known = ~np.isnan(found.values).any(axis=1)
        np.testing.assert_allclose(found.values[known].sum(axis=1), 1)
        assert (found.values[known] >= 0).all()
        assert (found.entropy()[known] <= np.log(found.values.shape[1]) + 1e-9).all()


@pytest.mark.parametrize(
    ("scale", "options", "words"),
    [
        ("-3..3", {}, "goes both ways"),
        ("interval", {}, "no bounds"),
        ("0-7", {"rule": "votes"}, "answers of 0 and 1"),
        ("0-7", {"rule": "choices"}, "for one question"),
        ("0-7", {"rule": "choice"}, "did you mean 'choices'"),
        ("0-7", {"labels": ["joi"]}, "unknown label 'joi'"),
        ("0-7", {"labels": ["joy", "joy"]}, "label 'joy' stands twice"),
        ("0-7", {"smoothing": -1}, "smoothing"),
        ("0-7", {"absent": "none"}, "unknown absent"),
    ],
)
def test_bad_input(scale, options, words):
    ratings = table([("a", "r", "joy", 1), ("a", "r", "awe", 0)], scale)
    with pytest.raises(InputError, match=words):
        label_distributions(ratings, **options)


def test_a_slider_has_too_many_levels():
    with pytest.raises(InputError, match="101 levels"):
        label_distributions(table([("a", "r", 1)], "0-100"))


@pytest.mark.parametrize(
    ("values", "more", "words"),
    [
        ([[0.5, 0.6]], {}, "sum to 1.1"),
        ([[1.5, -0.5]], {}, "smallest is -0.5"),
        ([[0.5, nan]], {}, "expected shares"),
        ([[1.0]], {}, "2 columns"),
        ([["a", "b"]], {}, "array of shares"),
        ([[1, 0], [0, 1]], {"stimuli": ["a", "a"]}, "stands twice"),
        ([[1, 0], [0, 1]], {"stimuli": ["a"]}, "expected 2"),
    ],
)
def test_bad_arrays(values, more, words):
    with pytest.raises(InputError, match=words):
        LabelDistributions.of(values, ["joy", "awe"], **more)
