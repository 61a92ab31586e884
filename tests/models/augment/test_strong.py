"""Strong augmentation of pictures, rows of embeddings and texts."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st
from PIL import Image
from scipy import stats

from affectlab.core.errors import InputError
from affectlab.models.augment import list_augmentations, load_augmentation
from affectlab.models.augment.embeddings import StrongNumbers, WeakNumbers
from affectlab.models.augment.images import OPERATIONS, Strong
from affectlab.models.augment.random_numbers import keys_of, normal, uniform
from affectlab.models.augment.texts import StrongWords, WeakWords


def picture(seed: int = 0, size: tuple[int, int] = (40, 30)) -> Image.Image:
    """Smooth colours, so that a small move changes little."""
    rng = np.random.default_rng(seed)
    small = Image.fromarray(rng.integers(60, 200, (4, 4, 3), dtype=np.uint8))
    return small.resize(size, Image.Resampling.BICUBIC)


def apart(one: Image.Image, other: Image.Image) -> float:
    return float(np.abs(np.asarray(one, float) - np.asarray(other, float)).mean())


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 4), st.integers(0, 2**32))
def test_the_size_stays_whatever_is_drawn(wide: int, high: int, n: int, seed: int) -> None:
    given_one = picture(0, (wide, high))
    before = given_one.tobytes()
    found = Strong(operations=n)(given_one, np.random.default_rng(seed))
    assert (found.size, found.mode) == ((wide, high), "RGB")
    assert given_one.tobytes() == before
    again = Strong(operations=n)(given_one, np.random.default_rng(seed))
    assert found.tobytes() == again.tobytes()


@pytest.mark.parametrize("name", OPERATIONS)
def test_each_operation_from_nothing_to_much(name: str) -> None:
    image = picture()
    for sign in (-1.0, 1.0):
        none = OPERATIONS[name](image, 0.0, sign)
        assert none.size == image.size
        assert apart(none, image) < 0.5
        little, much = (OPERATIONS[name](image, s, sign) for s in (0.25, 1.0))
        if name != "identity":
            assert apart(much, image) > 0.1
            assert apart(much, image) >= apart(little, image)


def test_magnitude_0_is_the_weak_change_alone() -> None:
    image = picture()
    plain = Strong(operations=5, magnitude=0.0, cutout=0.0, flip=0.0, padding=0.0)
    for seed in range(10):
        assert apart(plain(image, np.random.default_rng(seed)), image) < 1.0
    changed = [apart(Strong()(image, np.random.default_rng(seed)), image) for seed in range(20)]
    assert np.mean(changed) > 10
    others = {Strong()(image, np.random.default_rng(seed)).tobytes() for seed in range(20)}
    assert len(others) == 20


def test_cutout_is_a_grey_square_no_larger_than_asked_for() -> None:
    white = Image.new("RGB", (40, 60), (255, 255, 255))
    change = Strong(operations=0, cutout=0.5)
    areas = []
    for seed in range(40):
        pixels = np.asarray(change(white, np.random.default_rng(seed)))
        grey = (pixels == 128).all(axis=2)
        assert (grey | (pixels == 255).all(axis=2)).all()
        rows, columns = grey.any(axis=1).sum(), grey.any(axis=0).sum()
        assert grey.sum() == rows * columns
        assert max(rows, columns) <= 20
        areas.append(rows * columns)
    assert max(areas) > 150


def test_among_leaves_operations_out() -> None:
    image = picture()
    turned = Strong(among=("rotate",), operations=1, cutout=0.0, flip=0.0, padding=0.0)
    grey = Image.new("RGB", (40, 40), (128, 128, 128))
    # A grey picture turned on grey ground is the same.
    assert apart(turned(grey, np.random.default_rng(1)), grey) == 0
    assert apart(turned(image, np.random.default_rng(1)), image) > 1


def test_settings_are_checked() -> None:
    for wrong in (
        {"operations": -1},
        {"operations": 1.5},
        {"magnitude": 1.1},
        {"cutout": -0.1},
        {"flip": 2},
        {"among": ()},
        {"among": ("swirl",)},
    ):
        with pytest.raises(InputError):
            Strong(**wrong)
    for kind in ("image", "embedding", "text"):
        assert list_augmentations(kind) == ("weak", "strong")
    assert load_augmentation("strong", operations=1) == Strong(operations=1)
    assert load_augmentation("strong", "text") == StrongWords()
    with pytest.raises(InputError, match=r"augmentation 'string'.*strong"):
        load_augmentation("string", "embedding")
    with pytest.raises(InputError, match="kind"):
        list_augmentations("sound")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="noise"):
        WeakNumbers(noise=-1)
    with pytest.raises(InputError, match="dropout"):
        StrongNumbers(dropout=1.0)
    with pytest.raises(InputError, match="probability"):
        WeakWords(probability=2)
    with pytest.raises(InputError, match="swapped"):
        StrongWords(swapped=-0.1)


def test_numbers_by_key_are_normal_and_even() -> None:
    keys = keys_of([3, 1], torch.arange(400))
    drawn, even = normal(keys, 100).numpy(), uniform(keys, 100, stream=1).numpy()
    assert stats.kstest(drawn.ravel(), "norm").pvalue > 1e-3
    assert stats.kstest(even.ravel(), "uniform").pvalue > 1e-3
    assert abs(np.corrcoef(drawn.ravel(), even.ravel())[0, 1]) < 0.02
    # Neighbours in rows and in columns know nothing of each other, and nor do other draws.
    assert abs(np.corrcoef(drawn[1:].ravel(), drawn[:-1].ravel())[0, 1]) < 0.02
    assert abs(np.corrcoef(drawn[:, 1:].ravel(), drawn[:, :-1].ravel())[0, 1]) < 0.02
    other = normal(keys_of([3, 2], torch.arange(400)), 100).numpy()
    assert abs(np.corrcoef(drawn.ravel(), other.ravel())[0, 1]) < 0.02
    # Known value of SplitMix64: the first output for seed 0 is the mix of its step.
    from affectlab.models.augment.random_numbers import _STEP, _mix

    first = int(_mix(torch.tensor([_STEP]))[0]) % 2**64
    assert first == 0xE220A8397B1DCDAF


def test_rows_are_changed_by_draw_and_place_alone() -> None:
    rng = torch.Generator().manual_seed(0)
    rows = torch.randn(50, 30, generator=rng)
    mean, spread = rows.mean(dim=0), rows.std(dim=0)
    change, places = StrongNumbers(), torch.arange(50)
    whole = change(rows, places, (0, 5), mean, spread)
    some = torch.tensor([7, 3, 40])
    assert torch.equal(change(rows[some], some, (0, 5), mean, spread), whole[some])
    assert not torch.equal(change(rows, places, (0, 6), mean, spread), whole)
    weak = WeakNumbers()(rows, places, (0, 5), mean, spread)
    assert 0 < (weak - rows).abs().mean() < (whole - rows).abs().mean() / 3
    # Noise is in proportion to how much a number varies.
    wide = StrongNumbers(noise=0.5, dropout=0.0)(
        torch.zeros(2000, 2), torch.arange(2000), (1,), torch.zeros(2), torch.tensor([1.0, 10.0])
    )
    assert wide.std(dim=0).tolist() == pytest.approx([0.5, 5.0], rel=0.1)
    same = StrongNumbers(noise=0.0, dropout=0.0)(rows, places, (0,), mean, spread)
    assert torch.equal(same, rows)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=12), st.integers(0, 2**32))
def test_words_are_left_out_and_none_is_made(words: list[str], seed: int) -> None:
    text = " ".join(words)
    weak = WeakWords(1.0)(text, np.random.default_rng(seed)).split()
    assert len(weak) == max(len(words) - 1, 1)
    strong = StrongWords()(text, np.random.default_rng(seed)).split()
    assert 1 <= len(strong) <= max(len(words) - 1, 1)
    for found in (weak, strong):
        left = list(words)
        for word in found:
            left.remove(word)
    none = StrongWords(dropped=0.0, swapped=0.0)(text, np.random.default_rng(seed))
    assert none == text
    everything = StrongWords(dropped=1.0)(text, np.random.default_rng(seed))
    assert everything in words
    moved = StrongWords(dropped=0.0, swapped=1.0)(text, np.random.default_rng(seed)).split()
    # Each word changes places with the next, so the first goes to the end.
    assert moved == [*words[1:], words[0]]
