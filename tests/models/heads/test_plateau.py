"""Learning rates that fall on a plateau."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given, strategies as st
from torch.optim.lr_scheduler import ReduceLROnPlateau

from affectlab.models.heads.training.training_plan import Plateau

# Few different values, so that losses are often equal or nearly so.
LOSSES = st.sampled_from([1.0, 0.9999, 0.99995, 0.5, 0.50001, 0.1, 0.0, -0.3, float("nan")])


@given(
    st.lists(st.tuples(LOSSES, LOSSES), min_size=1, max_size=40),
    st.integers(0, 3),
    st.sampled_from([0.1, 0.2, 0.5]),
    st.sampled_from([1e-7, 5e-5, 1.0]),
)
def test_as_in_torch(
    losses: list[tuple[float, float]], patience: int, factor: float, rate: float
) -> None:
    plateau = Plateau(2, rate, factor, patience)
    optimisers = [torch.optim.SGD([torch.zeros(1)], lr=rate) for _ in range(2)]
    schedules = [ReduceLROnPlateau(one, factor=factor, patience=patience) for one in optimisers]
    for epoch in losses:
        plateau.step([0, 1], epoch)
        for schedule, loss in zip(schedules, epoch, strict=True):
            schedule.step(loss)
        wanted = [one.param_groups[0]["lr"] for one in optimisers]
        np.testing.assert_allclose(plateau.rate, wanted, rtol=1e-12)


def test_heads_that_had_no_epoch_stay() -> None:
    plateau = Plateau(3, 1.0, 0.2, 0)
    plateau.step([0, 1, 2], [1.0, 1.0, 1.0])
    plateau.step([2, 0], [1.0, 0.5])
    assert plateau.rate.tolist() == [1.0, 1.0, 0.2]
    assert plateau.best.tolist() == [0.5, 1.0, 1.0]


def test_selected_heads_are_copies() -> None:
    plateau = Plateau(3, 1.0, 0.2, 1)
    plateau.step([0, 1, 2], [3.0, 2.0, 1.0])
    some = plateau.select([2, 0])
    assert some.best.tolist() == [1.0, 3.0]
    some.step([0, 1], [9.0, 9.0])
    some.step([0, 1], [9.0, 9.0])
    assert some.rate.tolist() == [0.2, 0.2]
    assert plateau.rate.tolist() == [1.0, 1.0, 1.0]
