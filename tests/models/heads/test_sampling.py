"""Balanced rows of a label."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st

from affectlab.core.errors import InputError
from affectlab.models.heads.sampling import balanced_rows, buckets_of, targets_of

RATINGS = st.lists(st.one_of(st.just(float("nan")), st.floats(0, 7), st.just(0.5)), max_size=60)


def half_up(rating: float) -> int:
    return int(rating + 0.5)


@given(RATINGS, st.booleans(), st.sampled_from([None, 0.25, 1.0]), st.sampled_from([0.05, 0.3]))
def test_as_counted_one_by_one(
    ratings: list[float], binarised: bool, cap: float | None, share: float
) -> None:
    rows = balanced_rows(ratings, binarised=binarised, cap=cap, validation=share, seed=1, label=2)
    bucket = {
        row: min(half_up(rating), 1) if binarised else half_up(rating)
        for row, rating in enumerate(ratings)
        if rating == rating
    }
    sizes = Counter(bucket.values())
    assert rows.n_rated == len(bucket)
    assert rows.sizes == tuple(sizes[k] for k in range(2 if binarised else 8))
    drawn = {}
    for k, size in sizes.items():
        most = size
        if binarised and k == 0:
            most = min(size, sizes[1])
        elif not binarised and cap is not None:
            most = min(size, max(2, round(cap * len(bucket) / 8)))
        drawn[k] = most
    kept = {k: min(max(1, round(share * n)), n - 1) if n > 1 else 0 for k, n in drawn.items()}
    if len(sizes) < 2 or not any(kept.values()):
        assert rows.problem
        assert rows.train.size == rows.validation.size == 0
        return
    train, validation = rows
    assert not rows.problem
    assert not set(train) & set(validation)
    assert Counter(bucket[row] for row in validation) == Counter(kept)
    assert Counter(bucket[row] for row in train) == Counter(
        {k: drawn[k] - kept[k] for k in drawn if drawn[k] - kept[k]}
    )
    assert (np.diff(train) > 0).all()
    assert (np.diff(validation) > 0).all()


def test_numbers_of_the_paper() -> None:
    # About 20,000 ratings per bucket on average, nearly all of them 0.
    ratings = np.repeat(np.arange(8), [153_000, *[1_000] * 7])
    rows = balanced_rows(ratings)
    drawn = Counter(ratings[np.concatenate(list(rows))].tolist())
    assert drawn == {0: 5_000, **dict.fromkeys(range(1, 8), 1_000)}
    assert Counter(ratings[rows.validation].tolist()) == {
        0: 250,
        **dict.fromkeys(range(1, 8), 50),
    }
    binary = balanced_rows(ratings, binarised=True)
    yes = ratings[np.concatenate(list(binary))] > 0
    assert (yes.sum(), (~yes).sum()) == (7_000, 7_000)


def test_streams_of_labels_and_seeds() -> None:
    ratings = np.repeat([0, 1, 5], [300, 100, 100])
    first = balanced_rows(ratings, seed=3, label=1)
    again = balanced_rows(ratings, seed=3, label=1)
    assert first.train.tolist() == again.train.tolist()
    assert first.validation.tolist() == again.validation.tolist()
    for other in (balanced_rows(ratings, seed=3, label=2), balanced_rows(ratings, seed=4, label=1)):
        assert other.train.size == first.train.size
        assert other.train.tolist() != first.train.tolist()


def test_all_rows_have_the_same_chance() -> None:
    ratings = np.repeat([0, 3], [40, 8])
    counts = np.zeros(48)
    for seed in range(400):
        counts[balanced_rows(ratings, binarised=True, seed=seed).train] += 1
    # Each zero is in training with probability 7/40: a mean of 70, standard deviation 7.6.
    assert np.abs(counts[:40] - 70).max() < 5 * 7.6


def test_few_rows_in_a_bucket() -> None:
    rows = balanced_rows([0, 0, 0, 4, 4, 6], cap=None)
    train, validation = rows
    assert sorted(np.array([0, 0, 0, 4, 4, 6])[validation].tolist()) == [0, 4]
    assert train.size == 4


@pytest.mark.parametrize(
    ("ratings", "binarised", "said"),
    [
        ([], False, "no rating"),
        ([np.nan, np.nan], True, "no rating"),
        ([4, 4, 4], False, r"all 3 ratings are alike \(4\)"),
        ([4, 5, 1], True, r"all 3 ratings are alike \(1 to 7\)"),
        ([0, 0.2], True, r"all 2 ratings are alike \(0\)"),
        ([0, 4], False, "no two alike"),
        ([0, 0, 0, 4], True, "no two alike"),
    ],
)
def test_nothing_to_learn_from(ratings: list[float], binarised: bool, said: str) -> None:
    import re

    rows = balanced_rows(ratings, binarised=binarised)
    assert re.search(said, rows.problem)
    assert rows.train.size == rows.validation.size == 0


@pytest.mark.parametrize("value", [-0.1, 7.1, 100.0, float("inf"), -float("inf")])
def test_ratings_off_the_scale(value: float) -> None:
    with pytest.raises(InputError, match=r"label 3: value .* is off the scale 0\.\.7"):
        balanced_rows([0, 1, value], label=3)


@pytest.mark.parametrize(
    "settings",
    [
        {"cap": 0.0},
        {"cap": float("nan")},
        {"validation": 0.0},
        {"validation": 1.0},
        {"seed": -1},
        {"label": -1},
    ],
)
def test_settings_off_their_range(settings: dict[str, float]) -> None:
    with pytest.raises(InputError, match="expected"):
        balanced_rows([0, 0, 1, 1], **settings)  # type: ignore[arg-type]


def test_ratings_of_several_labels() -> None:
    with pytest.raises(InputError, match=r"shape \(2, 2\)"):
        balanced_rows([[0, 1], [1, 0]])


@given(RATINGS)
def test_targets(ratings: list[float]) -> None:
    given_ratings = np.array(ratings, dtype=float)
    np.testing.assert_array_equal(targets_of(given_ratings, binarised=False), given_ratings)
    for found, rating in zip(targets_of(given_ratings, binarised=True), ratings, strict=True):
        if rating != rating:
            assert np.isnan(found)
        else:
            assert found == float(half_up(rating) > 0)
    wanted = [-1 if r != r else half_up(r) for r in ratings]
    assert buckets_of(given_ratings).tolist() == wanted
