"""The Siamese distance: symmetric, zero for identical faces, and good on unseen people."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from affectlab.models.differences import SiameseDistance, cross_validate, pair_samples
from affectlab.models.differences.learned.distances import ROUNDING

from .drawn_pairs import drawn, planted

NUMBERS = hnp.arrays(np.float32, (3, 4), elements=st.floats(-50, 50, width=32))


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def plain(distance: SiameseDistance, apart: np.ndarray) -> float:
    """One pair, one part after the other."""
    total = 0.0
    for direction, weight in zip(distance.projection_, distance.weights_, strict=True):
        size = float(sum(float(d) * float(a) for d, a in zip(direction, apart, strict=True)))
        total += float(weight) * ((size**2 + ROUNDING**2) ** 0.5 - ROUNDING)
    return 100 * (1 - np.exp(-total))


@settings(max_examples=40)
@given(projection=NUMBERS, x=NUMBERS, data=st.data())
def test_order_does_not_matter_and_identical_faces_get_nothing(projection, x, data) -> None:
    weights = data.draw(
        hnp.arrays(np.float32, 3, elements=st.floats(0, 2, width=32)), label="weights"
    )
    distance = SiameseDistance().restore({"projection": projection, "weights": weights})
    there, back = distance.predict(x), distance.predict(-x)
    np.testing.assert_array_equal(there, back)
    np.testing.assert_allclose(distance.predict(x * 0), 0.0, atol=1e-4)
    assert ((there >= 0) & (there <= 100)).all()
    for row in range(3):
        assert there[row] == pytest.approx(plain(distance, x[row]), abs=0.02)


def test_a_planted_distance_is_found() -> None:
    pairs, scores, frames = planted(n_frames=12)
    found = cross_validate(
        pairs, scores, frames, SiameseDistance(weight_decay=0.01), n_splits=2, n_boot=0
    )
    assert found.median() > 0.9
    assert found.median("L1") < 0.7


@pytest.mark.long
def test_unseen_drawn_people_are_judged_better_than_by_what_needs_no_learning() -> None:
    pairs, scores, embedded = drawn()
    found = cross_validate(
        pairs, scores, embedded, SiameseDistance(epochs=20), n_splits=6, n_boot=500
    )
    assert found.median() > 0.8
    for method in ("L1", "cosine"):
        assert found.row(method)["srocc_ahead_low"] > 0
        assert found.row(method)["srocc_wins"] == 1.0


def test_the_seed_decides_and_the_random_numbers_of_others_stay() -> None:
    data = pair_samples(*planted(n_actors=3, n_frames=6))
    torch.manual_seed(3)
    before = torch.random.get_rng_state()
    one, again, other = (
        SiameseDistance(width=4, epochs=2, seed=seed).fit(data.differences(), data.scores)
        for seed in (1, 1, 2)
    )
    assert torch.equal(before, torch.random.get_rng_state())
    np.testing.assert_array_equal(one.projection_, again.projection_)
    assert not np.array_equal(one.projection_, other.projection_)


def test_constant_numbers_and_few_pairs_are_no_trouble() -> None:
    x = pair_samples(*planted(n_actors=1, n_frames=3)).differences()
    for given_ in (x, x * 0):
        found = SiameseDistance(epochs=1).fit(given_, [10.0, 50.0, 70.0])
        assert np.isfinite(found.projection_).all()
        assert found.projection_.shape == (6, 6)
    assert (found.predict(x) == 0).all()
