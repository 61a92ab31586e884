"""Splits by actor: all of them, and nobody on both sides."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, strategies as st

from affectlab.core.errors import InputError
from affectlab.models.differences.learned import ActorSplit, actor_splits
from affectlab.models.differences.learned.settings import inner_folds

NAMES = st.sets(st.text(min_size=1, max_size=4), min_size=2, max_size=7)


def test_the_28_splits_of_the_paper() -> None:
    names = [f"actor {k}" for k in range(1, 9)]
    splits = actor_splits(names)
    assert len(splits) == 28
    assert [split.test for split in splits] == list(combinations(names, 2))
    assert all(len(split.train) == 6 for split in splits)
    assert splits[0] == ActorSplit(tuple(names[2:]), ("actor 1", "actor 2"))
    assert str(splits[0]) == "actor 1, actor 2"


@given(names=NAMES, data=st.data())
def test_every_split_once_and_nobody_on_both_sides(names: set[str], data: st.DataObject) -> None:
    n_test = data.draw(st.integers(1, len(names) - 1))
    # A column of pairs names everyone many times.
    splits = actor_splits([*names, *sorted(names)], n_test)
    assert len(splits) == len({split.test for split in splits}) == comb(len(names), n_test)
    for split in splits:
        assert not set(split.train) & set(split.test)
        assert {*split.train, *split.test} == names
        assert len(split.test) == n_test


@given(n=st.integers(4, 9), wanted=st.integers(1, 12), seed=st.integers(0, 2**32 - 1))
def test_drawn_splits_are_some_of_all(n: int, wanted: int, seed: int) -> None:
    names = [f"{k}" for k in range(n)]
    everything = actor_splits(names, 2)
    drawn = actor_splits(names, 2, n_splits=wanted, seed=seed)
    assert len(drawn) == len(set(drawn)) == min(wanted, len(everything))
    assert set(drawn) <= set(everything)
    assert drawn == actor_splits(names, 2, n_splits=wanted, seed=seed)


def test_drawn_splits_test_everyone_as_often() -> None:
    counts = np.zeros(6)
    for seed in range(300):
        for split in actor_splits("abcdef", 2, n_splits=3, seed=seed):
            counts[["abcdef".index(name) for name in split.test]] += 1
    # 1,800 places among six: a standard deviation of about 14.
    assert counts.sum() == 1800
    assert np.abs(counts - 300).max() < 75


@given(actors=st.sets(st.integers(0, 30), min_size=2, max_size=10), most=st.integers(2, 9))
def test_inner_folds_leave_everyone_out_once(actors: set[int], most: int) -> None:
    folds = inner_folds(actors, most)
    assert len(folds) == min(most, len(actors))
    assert sorted(actor for _, left in folds for actor in left) == sorted(actors)
    for learned, left in folds:
        assert learned
        assert left
        assert {*learned, *left} == actors
        assert not set(learned) & set(left)


def test_one_actor_leaves_nothing_to_choose_by() -> None:
    assert inner_folds([3], 5) == ()


@pytest.mark.parametrize(
    ("arguments", "options", "said"),
    [
        ((["a", "b"], 2), {}, "2 actors (a and b), of which 2 would be tested"),
        (([], 1), {}, "0 actors (none)"),
        ((["a", "b"], 0), {}, "n_test = 0: expected 1 or more"),
        ((["a", "b", "c"], 1), {"n_splits": 0}, "n_splits = 0: expected 1 or more"),
        (([f"{k}" for k in range(60)], 2), {}, "60 actors have 1,770 splits with 2 for the test"),
    ],
)
def test_what_is_refused(arguments: tuple, options: dict, said: str) -> None:
    with pytest.raises(InputError) as caught:
        actor_splits(*arguments, **options)
    assert said in str(caught.value)
