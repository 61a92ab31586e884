"""Maps to the scale and conformal intervals, for themselves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.isotonic import IsotonicRegression

from affectlab.core.errors import InputError
from affectlab.models.heads.calibration import (
    Intervals,
    ScaleMap,
    fit_intervals,
    fit_scale_map,
    rising_knots,
)

nan = np.nan
FINITE = st.floats(-50, 50, allow_nan=False)
PAIRS = st.lists(st.tuples(FINITE, st.floats(0, 7)), min_size=1, max_size=40)


# -- maps ----------------------------------------------------------------------------------------


@given(PAIRS, st.lists(FINITE, min_size=2, max_size=20))
def test_a_map_never_falls_and_stays_on_the_scale(
    pairs: list[tuple[float, float]], scores: list[float]
) -> None:
    x, y = map(list, zip(*pairs, strict=True))
    fitted = ScaleMap(7.0, (rising_knots(x, y),))
    ordered = np.sort(np.array(scores))
    found = fitted.apply(ordered[:, None])[:, 0]
    # Between two knots the last digit is rounded.
    assert (np.diff(found) >= -1e-12).all()
    assert found.min() >= 0
    assert found.max() <= 7


@given(st.lists(st.tuples(st.integers(-9, 9), st.floats(0, 7)), min_size=1, max_size=40))
def test_knots_lie_on_the_isotonic_fit_of_scikit_learn(pairs: list[tuple[int, float]]) -> None:
    x, y = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))
    centres, heights = rising_knots(x, y)
    steps = IsotonicRegression().fit(x, y).predict(x)
    # The mean of all fitted values is kept: every step stands at its height.
    assert set(np.round(heights, 6)) <= set(np.round(steps, 6))
    assert len(centres) == len(heights)
    assert min(x) <= min(centres)
    assert max(centres) <= max(x)


def test_a_rising_relation_comes_back() -> None:
    x = np.linspace(-1, 2, 200)
    y = 7 / (1 + np.exp(-4 * x))
    found = ScaleMap(1.0, (rising_knots(x, y),)).apply(x[:, None])[:, 0]
    assert np.abs(found - y).max() < 1e-9


def test_order_is_kept_where_steps_would_tie() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, 500)
    y = np.clip(np.rint(7 * x + rng.normal(0, 1.5, 500)), 0, 7)
    found = ScaleMap(7.0, (rising_knots(x, y),)).apply(x[:, None])[:, 0]
    steps = IsotonicRegression().fit(x, y).predict(x)
    assert np.unique(found).size > 5 * np.unique(steps).size
    # And it says on average what people say.
    assert found.mean() == pytest.approx(y.mean(), abs=0.05)


def test_default_maps_and_heads_with_few_ratings() -> None:
    scores = np.linspace(0, 1, 12)[:, None] @ np.ones((1, 3))
    targets = np.column_stack([7 * scores[:, 0] ** 2, np.full(12, nan), np.full(12, 2.0)])
    targets[9:, 2] = nan
    found = fit_scale_map(scores, targets, ScaleMap(7.0, (None,) * 3), "people.csv")
    assert found.n == (12, 0, 9)
    assert [own is None for own in found.knots] == [False, True, True]
    mapped = found.apply([[0.5, 0.5, 0.5]])[0]
    assert mapped[0] == pytest.approx(7 * 0.25, abs=0.05)
    assert mapped[1:].tolist() == [3.5, 3.5]
    assert found.said == "1 heads by rising maps fitted to people.csv, others times 7"
    assert ScaleMap.from_dict(found.to_dict()) == found


@pytest.mark.parametrize(
    "knots",
    [
        ((0.0, 0.0), (1.0, 2.0)),
        ((0.0, 1.0), (2.0, 1.0)),
        ((0.0,), (1.0, 2.0)),
        ((0.0, 1.0), (0.0, 7.5)),
        ((0.0, np.inf), (0.0, 1.0)),
        ((), ()),
    ],
)
def test_maps_that_fall_are_refused(knots: tuple[tuple[float, ...], tuple[float, ...]]) -> None:
    with pytest.raises(InputError, match="knots of head 1"):
        ScaleMap(1.0, (knots,))


def test_a_factor_that_turns_scores_round_is_refused() -> None:
    with pytest.raises(InputError, match="factor = -1"):
        ScaleMap(-1.0, (None,))


# -- intervals -----------------------------------------------------------------------------------


def world(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Predictions and ratings in whole numbers, whose errors grow with the prediction."""
    predicted = np.clip(rng.normal(2.5, 2, (n, 2)), 0, 7)
    spread = 0.2 + 0.4 * predicted
    rated = np.clip(predicted + spread * rng.standard_t(3, (n, 2)), 0, 7)
    return predicted, np.column_stack([np.rint(rated[:, 0]), rated[:, 1]])


@pytest.mark.parametrize("level", [0.5, 0.9])
@pytest.mark.parametrize("by", ["score", "label"])
def test_intervals_cover_new_ratings(level: float, by: str) -> None:
    rng = np.random.default_rng(7)
    inside = np.zeros(2)
    runs, tested = 300, 200
    for _ in range(runs):
        found = fit_intervals(*world(rng, 60), level, by)  # type: ignore[arg-type]
        predicted, rated = world(rng, tested)
        low, high = found.bounds(predicted)
        inside += ((low <= rated) & (rated <= high)).mean(axis=0)
    covered = inside / runs
    # Four standard errors of what 300 sets of calibration data leave.
    slack = 4 * np.sqrt(level * (1 - level) / (60 * runs / 4))
    assert (covered >= level - slack).all()
    if by == "label":
        # Without ties no more than 1 / (n + 1) above, for each label.
        assert covered[1] <= level + 1 / 61 + slack


def test_each_bin_covers_for_itself() -> None:
    rng = np.random.default_rng(3)
    inside, counted = np.zeros((2, 4)), np.zeros((2, 4))
    for _ in range(200):
        calibrated = {
            by: fit_intervals(*world(rng, 150), 0.8, by)  # type: ignore[arg-type]
            for by in ("score", "label")
        }
        predicted, rated = world(rng, 300)
        place = np.digitize(predicted[:, 1], (0.5, 2.5, 4.5))
        for row, found in enumerate(calibrated.values()):
            low, high = found.bounds(predicted)
            held = (low <= rated)[:, 1] & (rated <= high)[:, 1]
            inside[row] += np.bincount(place, held, minlength=4)
            counted[row] += np.bincount(place, minlength=4)
    by_score, by_label = inside / counted
    assert (by_score >= 0.78).all()
    # One width for all heights cannot: it is too narrow where errors are large.
    assert by_label[3] < 0.7


@given(
    st.lists(st.floats(0, 7), min_size=0, max_size=30),
    st.floats(0.05, 0.95),
)
def test_half_width_equals_a_plain_search(residuals: list[float], level: float) -> None:
    """The smallest width that would hold a next one among them all, by counting."""
    n = len(residuals)
    # 0.28 * 25 is a little more than 7 in floats, and no different rank.
    predicted = np.zeros((n, 1)) if n else np.zeros((1, 1))
    targets = np.array(residuals)[:, None] if n else np.full((1, 1), nan)
    found = fit_intervals(predicted, targets, level, "label").half[0][0]
    candidates = [
        r for r in sorted(residuals) if sum(x <= r for x in residuals) >= (n + 1) * level - 1e-9
    ]
    assert found == (candidates[0] if candidates else 7.0)


def test_few_ratings_give_the_whole_scale_and_say_so() -> None:
    found = fit_intervals(np.full((8, 1), 3.0), np.full((8, 1), 3.0), 0.9, "label")
    assert found.half == ((7.0,),)
    assert found.unsure == 1
    low, high = found.bounds(np.array([[3.0]]))
    assert (low.item(), high.item()) == (0.0, 7.0)
    assert fit_intervals(np.full((9, 1), 3.0), np.full((9, 1), 3.0), 0.9, "label").unsure == 0


def test_missing_ratings_do_not_count() -> None:
    rng = np.random.default_rng(1)
    predicted, rated = world(rng, 80)
    holes = rated.copy()
    holes[::2] = nan
    with_holes = fit_intervals(predicted, holes, 0.8)
    assert with_holes.half == fit_intervals(predicted[1::2], rated[1::2], 0.8).half
    assert np.sum(with_holes.n[0]) == 40
    assert Intervals.from_dict(with_holes.to_dict()) == with_holes


@pytest.mark.parametrize("level", [0, 1, 1.5, nan, True, "0.9"])
def test_levels_out_of_range(level: object) -> None:
    with pytest.raises(InputError, match="confidence "):
        fit_intervals(np.zeros((2, 1)), np.zeros((2, 1)), level)  # type: ignore[arg-type]


def test_intervals_that_do_not_fit_together_are_refused() -> None:
    with pytest.raises(InputError, match="rising edges"):
        Intervals(0.9, (2.0, 1.0), ((1.0, 1.0, 1.0),), ((9, 9, 9),))
    with pytest.raises(InputError, match="rising edges"):
        Intervals(0.9, (), ((8.0,),), ((9,),))
    with pytest.raises(InputError, match="unknown kind of intervals 'person'"):
        fit_intervals(np.zeros((2, 1)), np.zeros((2, 1)), 0.5, "person")  # type: ignore[arg-type]


def test_ranks_at_the_ends() -> None:
    residuals = np.arange(1.0, 25.0)[:, None] / 4
    predicted = np.zeros((24, 1))
    # 0.28 * 25 = 7: the seventh smallest, although floats make a little more of it.
    assert fit_intervals(predicted, residuals, 0.28, "label").half == ((7 / 4,),)
    # However low the level, the smallest residual is the first, and not the last.
    assert fit_intervals(predicted, residuals, 1e-10, "label").half == ((0.25,),)
