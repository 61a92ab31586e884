"""Head banks: from scores to the scale, neutral faces, intervals, and what was seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.models.heads.banks import (
    LABELS,
    QUICK,
    bank,
    embeddings,
    nan,
    world,
)

from affectlab.core.errors import InputError
from affectlab.models.heads import HeadBank, Stage, head_agreement
from affectlab.models.heads.calibration import CalibrationDroppedWarning, NotCalibratedWarning
from affectlab.models.heads.rows import Rows, marks_of
from affectlab.models.text.warnings import SeenInTrainingWarning
from affectlab.ratings import Ratings

# -- binarised heads and the scale ---------------------------------------------------------------


@pytest.fixture(scope="module")
def binarised() -> HeadBank:
    return bank(binarised=True).fit(*world(1200, 0), stage=QUICK)


def test_binarised_heads_are_on_the_scale_by_times_7(binarised: HeadBank) -> None:
    X, Y = world(600, 1)
    scores = binarised.scores(X)
    assert np.abs(scores[Y > 0].mean() - 1) < 0.25
    assert np.abs(scores[Y == 0].mean()) < 0.35
    assert np.allclose(binarised.predict(X), np.clip(7.0 * scores, 0, 7))
    assert binarised.steps == "scores times 7"
    # Yes/no answers are as good as ratings to learn from.
    yes_no = bank(binarised=True).fit(
        world(1200, 0)[0], np.minimum(world(1200, 0)[1], 1), stage=QUICK
    )
    assert np.array_equal(yes_no.scores(X), scores)


def test_a_fitted_map_brings_them_nearer(binarised: HeadBank) -> None:
    X, Y = world(600, 1)
    held, truth = world(600, 2)
    before = head_agreement(binarised.predict(held), truth, LABELS)
    binarised.calibrate_scale(X, Y, source="people.csv")
    after = head_agreement(binarised.predict(held), truth, LABELS)
    assert (after["mae"].to_numpy() < 0.6 * before["mae"].to_numpy()).all()
    assert np.abs(after["bias"].to_numpy()).max() < 0.25
    assert (after["spearman"].to_numpy() > before["spearman"].to_numpy() - 0.02).all()
    assert binarised.steps == "scores by rising maps fitted to people.csv"
    grid = np.linspace(-1, 2, 50)[:, None] @ np.ones((1, 3))
    assert (np.diff(binarised.on_scale(grid), axis=0) >= 0).all()


def test_neutral_stimuli_become_0_whatever_the_map(binarised: HeadBank) -> None:
    X, Y = world(600, 1)
    neutral = world(600, 2)[0][(world(600, 2)[1] == 0).all(axis=1)]
    for fitted in (False, True):
        made = bank(binarised=True).fit(*world(400, 0), stage=Stage(epochs=5, learning_rate=5e-3))
        if fitted:
            made.calibrate_scale(X, Y)
        before = made.predict(neutral, clip=False)
        assert np.abs(before.mean(axis=0)).min() > 0.05
        made.calibrate_neutral(neutral, source="calm")
        after = made.predict(neutral, clip=False)
        assert np.abs(after.mean(axis=0)).max() < 1e-6
        # The offset is in points of the scale: every prediction moves by as much.
        assert np.allclose(before - after, before.mean(axis=0))
        clipped = made.predict(neutral)
        assert clipped.min() == 0
        assert np.array_equal(clipped, np.clip(after, 0, 7))
        assert made.neutral is not None
        assert made.neutral.n == len(neutral)
        assert "neutral stimuli of calm" in made.said


def test_doing_a_step_again_drops_what_hung_on_it() -> None:
    X, Y = world(400, 1)
    calm = world(120, 6)[0]
    made = bank().fit(*world(400, 0), stage=Stage(epochs=2, learning_rate=5e-3))
    made.calibrate_neutral(calm[:50]).calibrate_intervals(X, Y)
    with pytest.warns(CalibrationDroppedWarning, match="the intervals hung on it"):
        made.calibrate_neutral(calm[50:])
    assert made.intervals is None
    made.calibrate_intervals(X, Y)
    with pytest.warns(CalibrationDroppedWarning, match="the neutral mean and the intervals hung"):
        made.calibrate_scale(*world(300, 5))
    assert made.neutral is None
    assert made.intervals is None
    # Training anew begins without any calibration.
    made.calibrate_neutral(world(50, 7)[0])
    made.fit(*world(400, 0), stage=Stage(epochs=1))
    assert made.neutral is None
    assert made.steps == "scores as they are"


def test_intervals_hold_new_ratings(trained: HeadBank) -> None:
    made = bank().fit(*world(1200, 0, noise=1), stage=QUICK, cap=None)
    with pytest.raises(InputError, match="no intervals yet"):
        made.predict_intervals(world(2, 0)[0])
    made.calibrate_intervals(*world(800, 3, noise=1), confidence=0.8)
    X, Y = world(4000, 4, noise=1)
    low, high = made.predict_intervals(X)
    predicted = made.predict(X)
    assert ((low <= predicted) & (predicted <= high)).all()
    inside = ((low <= Y) & (high >= Y)).mean(axis=0)
    assert (inside > 0.77).all()
    assert (high - low).mean() < 4


def test_calibrating_on_what_was_trained_on_warns(trained: HeadBank) -> None:
    X, Y = world(1200, 0)
    made = bank().fit(X, Y, stage=Stage(epochs=1))
    with pytest.warns(SeenInTrainingWarning, match="on 100 stimuli, of which 100 were used"):
        made.calibrate_intervals(X[:100], Y[:100])
    other = world(300, 8)
    made.intervals = None
    made.calibrate_scale(*other)
    with pytest.warns(SeenInTrainingWarning, match="in an earlier calibration"):
        made.calibrate_intervals(*other)


def test_calibration_data_that_cannot_be_used() -> None:
    X, Y = world(300, 1)
    made = bank().fit(*world(300, 0), stage=Stage(epochs=1))
    with pytest.raises(InputError, match="maps to the scale need ratings from 0 to 7"):
        made.calibrate_scale(X, np.minimum(Y, 1))
    with pytest.raises(InputError, match="intervals need ratings from 0 to 7"):
        made.calibrate_intervals(X, np.minimum(Y, 1))
    with pytest.raises(InputError, match="no label has a rating"):
        made.calibrate_intervals(X, np.full_like(Y, nan))
    with pytest.raises(InputError, match="no head has 10 ratings"):
        made.calibrate_scale(X[:9], Y[:9])
    sparse = Y.copy()
    sparse[5:, 1] = nan
    with pytest.warns(
        NotCalibratedWarning, match="fear: fewer than 10 ratings: the scores stay as"
    ):
        made.calibrate_scale(X, sparse)
    assert made.scale_map.knots[1] is None
    with pytest.warns(NotCalibratedWarning, match="joy.*: the map is the mean rating"):
        bank().fit(*world(300, 0), stage=Stage(epochs=1)).calibrate_scale(
            X, 7 - np.argsort(np.argsort(spun(X, Y), axis=0), axis=0) * 7 / 300
        )


def spun(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Scores of the heads above, to make ratings that fall with them."""
    return bank().fit(*world(300, 0), stage=Stage(epochs=1)).scores(X)


def test_neutral_stimuli_that_were_seen_warn_and_are_remembered() -> None:
    X, Y = world(300, 0)
    made = bank().fit(X, Y, stage=Stage(epochs=1))
    with pytest.warns(SeenInTrainingWarning, match="neutral means .* of which 40 were used"):
        made.calibrate_neutral(X[:40])
    other, rated = world(300, 1)
    made.calibrate_neutral(other[:40])
    with pytest.warns(SeenInTrainingWarning, match="of which 40 were used in training or in an"):
        made.calibrate_intervals(other, rated)


def yes_no_panel(names: tuple[str, ...], Y: np.ndarray, seed: int) -> Ratings:
    """Two people who say yes or no, and do not always agree."""
    rng = np.random.default_rng(seed)
    rows = [
        (name, f"r{rater}", label, bool((Y[row, column] > 0) ^ (rng.random() < 0.2)))
        for row, name in enumerate(names)
        for column, label in enumerate(LABELS)
        for rater in range(2)
    ]
    columns = dict(
        zip(("stimulus", "rater", "label", "value"), zip(*rows, strict=True), strict=True)
    )
    return Ratings({name: list(column) for name, column in columns.items()}, scale="binary")


@pytest.mark.parametrize("how", ["median", "mean"])
def test_yes_no_answers_with_ties_are_no_ratings_from_0_to_7(how: Any) -> None:
    X, Y = world(200, 0)
    made = embeddings(X)
    panel = yes_no_panel(made.stimuli, Y, 3)
    with pytest.raises(InputError, match=r"nothing but 0 and 1 .*means"):
        bank().fit(made, panel, how=how, stage=Stage(epochs=1))
    binary = bank(binarised=True).fit(made, panel, how=how, stage=Stage(epochs=1))
    for calibrate in (binary.calibrate_scale, binary.calibrate_intervals):
        with pytest.raises(InputError, match="need ratings from 0 to 7"):
            calibrate(made, panel, how=how)


def test_ties_are_learned_as_asked_and_counted() -> None:
    X, _ = world(90, 0)
    votes = np.repeat([0.0, 0.5, 1.0], 30)[:, None] @ np.ones((1, 3))
    found = {}
    for tied in ("present", "absent", "leave_out"):
        made = bank(binarised=True).fit(
            X,
            votes,
            tied=tied,
            stage=Stage(epochs=1),
            cap=None,  # type: ignore[arg-type]
        )
        stage = made.stages[0]
        assert (stage["tied"], stage["n_tied"]) == (tied, [30] * 3)
        found[tied] = stage["n_rated"][0], stage["rows_per_head"][0]
    # Zeros are drawn down to the number of the others: 60 and 30 give 30 of each.
    assert found == {"present": (90, 85), "absent": (90, 56), "leave_out": (60, 56)}
    with pytest.raises(InputError, match="unknown way with ties 'coin'"):
        bank(binarised=True).fit(X, votes, tied="coin")  # type: ignore[arg-type]


def test_copies_of_a_validation_row_are_not_learned_from() -> None:
    X, Y = world(60, 0)
    twice, rated = np.concatenate([X, X]), np.concatenate([Y, Y])
    made = bank().fit(twice, rated, stage=Stage(epochs=1), cap=None, validation=0.2)
    stage = made.stages[0]
    rows = zip(stage["rows_per_head"], stage["validation_rows_per_head"], strict=True)
    # Each of 120 rows is learned from, validates, or is the copy of one that validates.
    for learned, kept in rows:
        assert 120 - 2 * kept <= learned < 120 - kept


def test_numbers_beyond_half_precision_are_told_apart() -> None:
    X, Y = world(200, 0)
    large = X.astype(np.float32) * 1e6
    made = bank().fit(large, Y, stage=Stage(epochs=1, learning_rate=1e-9), cap=None)
    assert made.seen.size == 200
    assert np.array_equal(marks_of(Rows(X)), marks_of(Rows(X.astype(np.float32))))
