"""Drawn transitions with a known truth, and panels that rate differences of their frames."""

from __future__ import annotations

import itertools
from dataclasses import fields
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from PIL import Image
from scipy import stats

from affectlab.core.errors import InputError
from affectlab.reliability import split_half, subject_model
from affectlab.simulate import (
    difference_people,
    draw_transitions,
    simulate_differences,
    true_difference,
)
from affectlab.simulate.differences import CARELESS_KINDS, golden_differences
from affectlab.simulate.differences.trials import Chance
from affectlab.simulate.faces import (
    TRANSITION_EXPRESSIONS,
    DrawnTransitions,
    FaceParameters,
    expression_parameters,
)
from affectlab.simulate.faces.transitions import PARAMETERS, peak_parameters

faces = st.builds(
    lambda values: FaceParameters(**dict(zip(PARAMETERS, values, strict=True))),
    st.lists(st.floats(0, 1), min_size=len(PARAMETERS), max_size=len(PARAMETERS)),
)


# -- the true difference ------------------------------------------------------------------------


@given(faces, faces, faces)
@settings(max_examples=60, deadline=None)
def test_the_true_difference_is_a_metric_of_what_is_seen(
    a: FaceParameters, b: FaceParameters, c: FaceParameters
) -> None:
    assert true_difference(a, a) == 0
    assert true_difference(a, b) == pytest.approx(true_difference(b, a))
    assert 0 <= true_difference(a, b) < 85
    assert true_difference(a, c) <= true_difference(a, b) + true_difference(b, c) + 1e-9


def test_what_cannot_be_seen_makes_no_difference() -> None:
    shut = FaceParameters()
    assert true_difference(shut, FaceParameters(teeth_upper=1.0)) == 0
    opened = FaceParameters(mouth_open=0.5)
    assert true_difference(opened, FaceParameters(mouth_open=0.5, teeth_upper=1.0)) > 10
    asleep = FaceParameters(eye_open=-1.0)
    assert true_difference(asleep, FaceParameters(eye_open=-1.0, gaze_x=1.0)) == 0
    # A raised left corner is the same whether it is part of both or on its own.
    smirk = FaceParameters(corner_left=0.5)
    smile = FaceParameters(lip_corner=0.5)
    assert true_difference(smile, smirk) == pytest.approx(
        true_difference(FaceParameters(), FaceParameters(corner_right=0.5))
    )


def test_left_and_right_are_equally_far_from_rest() -> None:
    rest = FaceParameters()
    for left, right in (("mouth-left", "mouth-right"), ("wink-left", "wink-right")):
        found = [true_difference(rest, peak_parameters(name)) for name in (left, right)]
        assert found[0] == pytest.approx(found[1])


def test_many_faces_at_once() -> None:
    some = [expression_parameters(name) for name in ("joy", "fear", "anger")]
    found = true_difference(some, some[::-1])
    assert isinstance(found, np.ndarray)
    assert found.tolist() == [true_difference(a, b) for a, b in zip(some, some[::-1], strict=True)]
    with pytest.raises(InputError, match="3 and 2 faces"):
        true_difference(some, some[:2])


def test_sixty_one_expressions_that_all_differ() -> None:
    assert len(set(TRANSITION_EXPRESSIONS)) == 61
    peaks = [peak_parameters(name) for name in TRANSITION_EXPRESSIONS]
    for (a, first), (b, second) in itertools.combinations(
        zip(TRANSITION_EXPRESSIONS, peaks, strict=True), 2
    ):
        assert true_difference(first, second) > 8, (a, b)
    with pytest.raises(InputError, match="did you mean 'wink-left'"):
        peak_parameters("wink-lefd")


# -- transitions --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def drawn() -> DrawnTransitions:
    return draw_transitions(3, ["joy", "fear", "mouth-left"], seed=5)


def test_peak_and_rest_are_held_and_what_is_between_falls(drawn: DrawnTransitions) -> None:
    for one in drawn.transitions:
        far = one.differences(0)
        held = int(one.hold_ms * one.fps / 1000)
        assert held >= 5
        assert np.ptp(far[:held]) == 0
        assert np.ptp(far[-5:]) < 1e-9
        assert (np.diff(far) >= -1e-9).all()
        assert far[-1] == pytest.approx(true_difference(one.peak, FaceParameters()))
        assert one.face(one.n_frames - 1) == FaceParameters()
        assert one.face(0) == one.peak
        # The change is fastest in the middle, as of something that is moved, and not even.
        steps = np.diff(far[held : held + int(one.release_ms * one.fps / 1000)])
        assert steps.max() > 1.5 * steps.mean()


def test_people_differ_and_do_not_depend_on_company(drawn: DrawnTransitions) -> None:
    alone = draw_transitions(["actor-1"], ["fear"], seed=5).of("actor-1", "fear")
    assert alone == drawn.of("actor-1", "fear")
    assert draw_transitions(1, ["fear"], seed=6).transitions[0] != alone
    assert len({one.release_ms for one in drawn.transitions}) == 9
    slow = draw_transitions(3, ["joy"], seed=5, pace=2.0).of("actor-1", "joy")
    assert slow.release_ms == pytest.approx(2 * drawn.of("actor-1", "joy").release_ms)


def test_frames_and_pictures(tmp_path: Path, drawn: DrawnTransitions) -> None:
    few = draw_transitions(["ann"], ["joy"], fps=8, seed=5)
    table = few.save(tmp_path, size=48)
    one = few.of("ann", "joy")
    assert table["frame"].to_list() == list(range(one.n_frames))
    assert table["time_ms"][1] == 125.0
    first = np.asarray(Image.open(tmp_path / "ann_joy/0.png"))
    assert first.shape == (48, 48, 3)
    assert np.array_equal(first, np.asarray(one.draw(0, size=48)))
    last = np.asarray(Image.open(tmp_path / f"ann_joy/{one.n_frames - 1}.png"))
    assert np.abs(first.astype(int) - last).mean() > 0.5
    assert drawn.frames().height == sum(one.n_frames for one in drawn.transitions)


def test_truth_of_pairs(drawn: DrawnTransitions) -> None:
    frames = pl.DataFrame(
        [
            {"actor": one.actor, "expression": one.expression, "role": role, "frame": frame}
            for one in drawn.transitions
            for role, frame in (("peak", 0), ("neutral", one.n_frames - 1))
        ]
    )
    pairs = pl.DataFrame(
        {
            "actor": ["actor-2", "actor-2"],
            "expression_a": ["joy", "joy"],
            "role_a": ["peak", "neutral"],
            "expression_b": ["joy", "fear"],
            "role_b": ["neutral", "neutral"],
        }
    )
    one = drawn.of("actor-2", "joy")
    assert drawn.truth(pairs, frames).tolist() == [one.differences(0)[-1], 0.0]
    with pytest.raises(InputError, match="names the frame 'middle' of 'actor-2', 'joy'"):
        drawn.truth(pairs.with_columns(role_a=pl.lit("middle")), frames)
    with pytest.raises(InputError, match="table of frames: column 'frame' is missing"):
        drawn.truth(pairs, frames.drop("frame"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"actors": 0}, "actors = 0: expected a number from 1 to"),
        ({"expressions": 62}, "expressions = 62: expected a number from 1 to 61"),
        ({"actors": ["a", "a"]}, "none twice"),
        ({"actors": ["a_b"]}, "'a_b'; expected a name without '_'"),
        ({"expressions": ["joi"]}, "did you mean 'joy'"),
        ({"fps": 0.0}, "fps = 0.0"),
        (
            {"actors": 1, "expressions": 1, "missing": [("actor-1", "amusement")]},
            "every transition",
        ),
    ],
)
def test_transitions_that_cannot_be(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        draw_transitions(**arguments)  # type: ignore[arg-type]
    one = draw_transitions(1, 1)
    with pytest.raises(InputError, match="frame = 999"):
        one.transitions[0].face(999)
    with pytest.raises(InputError, match="no drawn transition of 'bo'"):
        one.of("bo", "joy")


# -- chance -------------------------------------------------------------------------------------


def test_chance_is_uniform_independent_and_has_no_memory() -> None:
    chance = Chance(3)
    n = 40_000
    one = chance.uniform(1, np.arange(n), 7)
    assert stats.kstest(one, "uniform").pvalue > 1e-4
    assert stats.kstest(chance.normal(1, np.arange(n), 8), "norm").pvalue > 1e-4
    for other in (
        chance.uniform(2, np.arange(n), 7),
        chance.uniform(1, np.arange(n), 8),
        chance.uniform(1, np.arange(1, n + 1), 7),
        Chance(4).uniform(1, np.arange(n), 7),
        chance.uniform(1, 7, np.arange(n)),
    ):
        assert abs(np.corrcoef(one, other)[0, 1]) < 0.03
    assert chance.uniform(1, np.arange(n), 7)[99] == chance.uniform(1, 99, 7)


# -- ratings ------------------------------------------------------------------------------------


def _pairs(n: int = 60, batches: int = 3) -> tuple[pl.DataFrame, np.ndarray]:
    truth = np.linspace(5, 80, n)
    names = [f"pair-{number:03d}" for number in range(n)]
    table = {"stimulus": names, "batch": np.arange(n) % batches, "kind": ["intra"] * n}
    return pl.DataFrame(table), truth


def test_sessions_keep_batches_whole_and_repeat_what_was_shown() -> None:
    pairs, truth = _pairs()
    found = simulate_differences(pairs, truth, 4, people=9, golden=3, repeats=2, seed=1)
    rows = found.ratings.frame.with_columns(pl.col("stimulus", "session", "trial_kind").cast(str))
    assert found.sessions.height == 12
    assert set(found.sessions["batch"].value_counts()["count"]) == {4}
    assert not found.sessions.select("rater", "batch").is_duplicated().any()
    for (session,), part in rows.group_by("session"):
        trials = part.sort("trial")
        assert trials["trial"].to_list() == list(range(1, 26))
        kinds = trials["trial_kind"].value_counts(sort=True).rows()
        assert sorted(kinds) == [("golden", 3), ("main", 20), ("repeat", 2)]
        main = trials.filter(pl.col("trial_kind") == "main")
        batch = found.sessions.filter(session=session)["batch"][0]
        own = pairs.filter(pl.col("batch").cast(str) == batch)["stimulus"]
        assert set(main["stimulus"]) == set(own)
        again = trials.filter(pl.col("trial_kind") == "repeat").join(main, on="stimulus")
        assert (again["trial"] > again["trial_right"]).all()
    assert set(rows["value"].unique()) <= set(map(float, range(101)))
    assert found.golden["value"].to_list() == golden_differences(3)["value"].to_list()
    assert found.ratings.stimuli.filter(stimulus="golden-1")["kind"].to_list() == ["known"]
    assert set(found.ratings.rater_kinds) == {"simulated"}
    assert found.ratings.answers().n_ratings == 240
    orders = [part["stimulus"].to_list() for part in rows.partition_by("session")]
    assert orders[0] != orders[1]


def test_repeats_share_the_stable_part_and_not_the_trial_noise() -> None:
    pairs, _ = _pairs(200, 1)
    truth = np.full(200, 50.0)
    for item, trial in ((12.0, 0.0), (0.0, 6.0), (8.0, 6.0)):
        found = simulate_differences(
            pairs, truth, 30, item_sd=item, trial_sd=trial, inconsistency=0.0, bias_sd=0.0,
            golden=0, repeats=40, seed=2,
        )  # fmt: skip
        rows = found.ratings.frame.select(
            pl.col("rater", "stimulus", "trial_kind").cast(str), "value"
        )
        both = rows.filter(trial_kind="repeat").join(
            rows.filter(trial_kind="main"), on=["rater", "stimulus"]
        )
        apart = (both["value"] - both["value_right"]).to_numpy()
        # Rounding adds a variance of 1/12 to each answer.
        assert apart.std() == pytest.approx(np.sqrt(2 * trial**2 + (trial > 0) / 6), abs=0.4)
        spread = rows.filter(trial_kind="main")["value"].to_numpy().std()
        assert spread == pytest.approx(np.sqrt(item**2 + trial**2 + 1 / 12), rel=0.03)


@pytest.mark.long
def test_the_subject_model_finds_what_was_planted() -> None:
    pairs, truth = _pairs(400, 1)
    found = simulate_differences(pairs, truth, 32, item_sd=12, trial_sd=9, seed=3)
    model = subject_model(found.ratings)
    scores = model.to_frame().join(found.truth, on="stimulus", suffix="_true")
    assert stats.spearmanr(scores["value"], scores["value_true"]).statistic >= 0.97
    people = model.raters_frame().join(found.people.to_frame(), on="rater", suffix="_true")
    assert np.corrcoef(people["bias"], people["bias_true"])[0, 1] > 0.97
    planted = people["inconsistency_true"].to_numpy() * 15.0
    assert np.corrcoef(people["inconsistency"], planted)[0, 1] > 0.9
    assert people["inconsistency"].to_numpy().mean() == pytest.approx(planted.mean(), rel=0.08)
    halves = split_half(found.ratings, n_splits=10, seed=0)
    assert halves.frame["value"][0] > 0.94


def test_answers_do_not_depend_on_what_else_is_simulated() -> None:
    pairs, truth = _pairs()
    people = difference_people(6, careless=0.5, seed=4)
    everything = simulate_differences(pairs, truth, 5, people=people, seed=4)
    some = everything.sessions.sample(5, seed=0)
    again = simulate_differences(pairs, truth, people=people, sessions=some, seed=4)
    columns = ["stimulus", "session", "trial", "trial_kind", "value", "movement", "rt_ms"]
    left, right = (
        one.ratings.to_frame().select(pl.col(columns).cast(str)).sort(columns)
        for one in (everything, again)
    )
    kept = left.filter(pl.col("session").is_in(some["session"].implode()))
    assert kept.height == 5 * 30
    assert kept.equals(right)
    other = simulate_differences(pairs, truth, people=people, sessions=some, seed=5)
    assert not other.ratings.to_frame()["value"].equals(again.ratings.to_frame()["value"])


def test_ambiguity_makes_the_ends_of_the_scale_easier() -> None:
    pairs, _ = _pairs(100, 1)
    for level, expected in ((50.0, 10.0), (10.0, 10.0 * (1 - 0.5 * (1 - 0.6)))):
        found = simulate_differences(
            pairs, np.full(100, level), 60, item_sd=0, trial_sd=10, ambiguity=0.5,
            inconsistency=0, bias_sd=0, golden=0, repeats=0, seed=1,
        )  # fmt: skip
        value = found.ratings.value
        # Above the truth nothing is cut off, so that side shows the whole noise.
        above = value[value > level] - level
        assert np.sqrt((above**2).mean()) == pytest.approx(expected, rel=0.06)


def test_the_careless_do_what_they_are_said_to_do() -> None:
    pairs, truth = _pairs(200, 1)
    people = difference_people(10, careless=1.0, seed=0)
    found = simulate_differences(pairs, truth, 10, people=people, item_sd=3, trial_sd=3, seed=0)
    rows = (
        found.ratings.to_frame()
        .with_columns(pl.col("rater").cast(str), pl.col("stimulus").cast(str))
        .join(people.to_frame().select("rater", "careless"), on="rater")
        .join(found.truth, on="stimulus", suffix="_true")
    )
    by = {kind: rows.filter(careless=kind) for kind in CARELESS_KINDS}
    assert all(part["rater"].n_unique() == 2 for part in by.values())
    assert by["still"]["value"].unique().to_list() == [0.0]
    assert by["still"]["movement"].unique().to_list() == [0.0]
    spread = by["constant"].group_by("rater").agg(pl.col("value").std())["value"]
    assert (spread < 2).all()
    assert abs(np.corrcoef(by["random"]["value"], by["random"]["value_true"])[0, 1]) < 0.15
    assert stats.kstest(by["random"]["value"] / 100, "uniform").statistic < 0.08
    assert np.corrcoef(by["reversed"]["value"], by["reversed"]["value_true"])[0, 1] < -0.95
    assert 0.1 < np.corrcoef(by["hasty"]["value"], by["hasty"]["value_true"])[0, 1] < 0.7
    careful = simulate_differences(pairs, truth, 10, item_sd=3, trial_sd=3, seed=0)
    assert careful.ratings.frame["rt_ms"].median() > 2.5 * rows["rt_ms"].median()


def test_a_table_of_golden_pairs_with_references_that_are_off() -> None:
    pairs, truth = _pairs()
    golden = pl.DataFrame({"stimulus": ["g"], "value": [90.0], "truth": [10.0]})
    found = simulate_differences(
        pairs, truth, 3, golden=golden, item_sd=0, trial_sd=1, bias_sd=0, repeats=0
    )
    assert found.golden.rows() == [("g", 90.0)]
    rows = found.ratings.frame.filter(pl.col("trial_kind").cast(str) == "golden")
    assert rows["value"].mean() == pytest.approx(10, abs=2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_raters": 0}, "n = 0"),
        ({"n_raters": 3, "people": 2}, "n_raters = 3: expected 1 to the number of people, 2"),
        ({"n_raters": 3, "most_sessions": 2}, "more than 3 people may rate with at most 2 each"),
        ({"trial_sd": -1.0}, "trial_sd = -1.0"),
        ({"ambiguity": 1.5}, "ambiguity = 1.5"),
        ({"careless": 2.0}, "careless = 2.0"),
        ({"careless": 0.5, "kinds": ["sleepy"]}, "unknown kind of carelessness 'sleepy'"),
        ({"repeats": 21}, "repeats = 21: a batch has 20 pairs"),
        ({"golden": -1}, "golden = -1"),
        ({"golden": pl.DataFrame({"stimulus": ["pair-000"], "value": [1.0]})}, "also one of"),
        ({"golden": pl.DataFrame({"stimulus": ["g"]})}, "golden: column 'value' is missing"),
        ({"sessions": pl.DataFrame({"rater": ["bo"], "batch": ["1"]})}, "no rater 'bo'"),
        ({"sessions": pl.DataFrame({"rater": ["r0001"], "batch": ["9"]})}, "no batch '9'"),
        ({"people": difference_people(40), "bias_sd": 3.0}, "bias_sd is given twice"),
        ({"truth": [1.0]}, "truth of shape"),
        ({"truth": [101.0] * 60}, "truth of pair 1: 101"),
        ({"pairs": pl.DataFrame({"name": ["a"]})}, "column 'stimulus' is missing"),
    ],
)
def test_what_cannot_be_simulated(change: dict[str, object], message: str) -> None:
    pairs, truth = _pairs()
    with pytest.raises(InputError, match=message):
        simulate_differences(**{"pairs": pairs, "truth": truth} | change)  # type: ignore[arg-type]


def test_every_parameter_of_a_face_can_be_seen() -> None:
    opened = {"mouth_open": 0.4}
    for field in fields(FaceParameters):
        base = FaceParameters(**opened)
        moved = FaceParameters(**(opened | {field.name: 0.8}))
        assert true_difference(base, moved) > 3, field.name
