"""The layers of heads."""

from __future__ import annotations

import pytest
from benchmarks.heads import module_of
from hypothesis import given, strategies as st

from affectlab.core.errors import InputError
from affectlab.models.heads.shape import BIG, SMALL, HeadShape, head_shape
from affectlab.models.heads.weights import StackedWeights


def test_parameters_of_the_paper() -> None:
    assert SMALL.n_parameters(1152) == 151_745
    assert BIG.n_parameters(1152) == 1_837_057
    assert (SMALL.hidden, SMALL.dropout) == ((128, 32), 0.1)
    assert (BIG.hidden, BIG.dropout) == ((1024, 512, 256), 0.2)


@given(st.lists(st.integers(1, 9), max_size=3), st.integers(1, 9))
def test_parameters_are_those_of_torch(hidden: list[int], width: int) -> None:
    shape = HeadShape(tuple(hidden))
    network = module_of(StackedWeights.initial(shape, width, heads=1), 0)
    assert shape.n_parameters(width) == sum(part.numel() for part in network.parameters())


def test_found_by_name() -> None:
    assert head_shape("small") is SMALL
    assert head_shape("big") is BIG
    own = HeadShape((3,))
    assert head_shape(own) is own
    with pytest.raises(InputError, match="did you mean 'small'"):
        head_shape("smal")


@pytest.mark.parametrize("hidden", [(0,), (-3,), (2.5,), (True,)])
def test_layer_without_units(hidden: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match="expected whole numbers from 1 on"):
        HeadShape(hidden)


@pytest.mark.parametrize("dropout", [1.0, -0.1, float("nan"), float("inf")])
def test_dropout_off_its_range(dropout: float) -> None:
    with pytest.raises(InputError, match="from 0 to below 1"):
        HeadShape((4,), dropout)


def test_width_below_one() -> None:
    with pytest.raises(InputError, match="width 0"):
        SMALL.n_parameters(0)
