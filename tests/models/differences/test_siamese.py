"""The Siamese distance: symmetric, zero for identical faces, and good on unseen people."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from affectlab.core.errors import InputError
from affectlab.models.differences import cross_validate
from affectlab.models.differences.learned.samples import samples_of
from affectlab.models.differences.learned.settings import SiameseSettings
from affectlab.models.differences.learned.trainers.distances import (
    ROUNDING,
    SiameseDistance,
)
from affectlab.models.differences.learned.trainers.siamese_training import SiameseTrainer

from .drawn_pairs import drawn, planted

NUMBERS = hnp.arrays(np.float32, (3, 4), elements=st.floats(-50, 50, width=32))


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def plain(distance: SiameseDistance, x: np.ndarray, y: np.ndarray) -> float:
    """One pair, one part after the other."""
    total = 0.0
    for direction, weight in zip(distance.projection, distance.weights, strict=True):
        apart = float(
            sum(float(d) * (float(a) - float(b)) for d, a, b in zip(direction, x, y, strict=True))
        )
        total += float(weight) * ((apart**2 + ROUNDING**2) ** 0.5 - ROUNDING)
    return 100 * (1 - np.exp(-total))


@settings(max_examples=60)
@given(projection=NUMBERS, x=NUMBERS, y=NUMBERS, data=st.data())
def test_order_does_not_matter_and_identical_faces_get_nothing(projection, x, y, data) -> None:
    weights = data.draw(
        hnp.arrays(np.float32, 3, elements=st.floats(0, 2, width=32)), label="weights"
    )
    distance = SiameseDistance(projection, weights)
    there, back = distance.predict(x, y), distance.predict(y, x)
    np.testing.assert_array_equal(there, back)
    np.testing.assert_allclose(distance.predict(x, x), 0.0, atol=1e-4)
    assert ((there >= 0) & (there <= 100)).all()
    for row in range(3):
        assert there[row] == pytest.approx(plain(distance, x[row], y[row]), abs=0.02)


def test_a_planted_distance_is_found() -> None:
    pairs, scores, frames = planted(n_frames=12)
    found = cross_validate(
        pairs, scores, frames, "siamese", n_splits=2, n_boot=0, weight_decay=0.01
    )
    assert found.median() > 0.9
    assert found.median("L1") < 0.7


@pytest.mark.long
def test_unseen_drawn_people_are_judged_better_than_by_what_needs_no_learning() -> None:
    pairs, scores, embedded = drawn()
    found = cross_validate(pairs, scores, embedded, "siamese", n_splits=6, n_boot=500, epochs=20)
    assert found.median() > 0.8
    for method in ("L1", "cosine"):
        assert found.better_than(method)["low"] > 0
        assert found.better_than(method)["wins"] == 1.0


def test_the_actors_tested_decide_on_nothing() -> None:
    pairs, scores, frames = planted(n_actors=3, n_frames=6, noise=4.0)
    tested = (pairs["actor"] == "actor 2").to_numpy()
    other = np.where(tested, 100 - scores, scores)
    moved = {name: row + 3 * name.startswith("actor 2") for name, row in frames.items()}
    chosen = SiameseSettings(width=4, epochs=2)
    one, two = (
        SiameseTrainer(samples_of(pairs, *rest), chosen, seed=5).fit([0, 1])
        for rest in ((scores, frames), (other, moved))
    )
    np.testing.assert_array_equal(one.projection, two.projection)
    np.testing.assert_array_equal(one.weights, two.weights)


def test_the_seed_decides_and_the_random_numbers_of_others_stay() -> None:
    data = samples_of(*planted(n_actors=3, n_frames=6))
    chosen = SiameseSettings(width=4, epochs=2)
    torch.manual_seed(3)
    before = torch.random.get_rng_state()
    one, again, other = (SiameseTrainer(data, chosen, seed).fit([0, 1]) for seed in (1, 1, 2))
    assert torch.equal(before, torch.random.get_rng_state())
    np.testing.assert_array_equal(one.projection, again.projection)
    assert not np.array_equal(one.projection, other.projection)


def test_constant_numbers_and_few_pairs_are_no_trouble() -> None:
    pairs, scores, frames = planted(n_actors=2, n_frames=3)
    same = {name: np.zeros(6) for name in frames}
    for held in (frames, same):
        data = samples_of(pairs, scores, held)
        found = SiameseTrainer(data, SiameseSettings(epochs=1)).fit([0])
        assert np.isfinite(found.projection).all()
        assert found.projection.shape == (6, 6)
    assert (found.predict(data.values[:2], data.values[1:3]) == 0).all()


@pytest.mark.parametrize(
    ("settings_", "said"),
    [
        ({"width": 0}, "width = 0; expected a whole number from 1 to 4,096"),
        ({"epochs": 2.5}, "epochs = 2.5; expected a whole number"),
        ({"batch": True}, "batch = True; expected a whole number"),
        ({"learning_rate": float("nan")}, "learning_rate = nan; expected a number"),
        ({"weight_decay": -1}, "weight_decay = -1; expected a number from 0"),
    ],
)
def test_what_is_refused(settings_: dict, said: str) -> None:
    with pytest.raises(InputError) as caught:
        SiameseSettings(**settings_)
    assert said in str(caught.value)
