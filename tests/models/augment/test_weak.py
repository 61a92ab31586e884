"""Weak augmentation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from PIL import Image

from affectlab.core.errors import InputError
from affectlab.models.augment import list_augmentations, load_augmentation
from affectlab.models.augment.images import Weak


def picture(width: int = 24, height: int = 16, seed: int = 0) -> Image.Image:
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    return Image.fromarray(pixels)


@given(st.integers(1, 40), st.integers(1, 40), st.floats(0, 0.99), st.integers(0, 999))
def test_size_stays_and_the_seed_decides(
    width: int, height: int, padding: float, seed: int
) -> None:
    change, image = Weak(padding=padding), picture(width, height)
    one, again = (change(image, np.random.default_rng(seed)) for _ in range(2))
    assert one.size == image.size
    assert one.mode == "RGB"
    assert np.array_equal(np.asarray(one), np.asarray(again))


def test_it_is_a_crop_of_the_mirrored_or_unmirrored_picture() -> None:
    """Against numpy's padding, at every offset."""
    pixels = np.asarray(picture())
    padded = {
        flip: np.pad(pixels[:, :: -1 if flip else 1], ((2, 2), (3, 3), (0, 0)), mode="reflect")
        for flip in (False, True)
    }
    seen = set()
    for seed in range(120):
        found = np.asarray(Weak(padding=0.125)(picture(), np.random.default_rng(seed)))
        places = {
            (flip, top, left)
            for flip, whole in padded.items()
            for top in range(5)
            for left in range(7)
            if np.array_equal(found, whole[top : top + 16, left : left + 24])
        }
        assert len(places) == 1
        seen |= places
    assert len(seen) > 40
    assert 0.3 < np.mean([flip for flip, _, _ in seen]) < 0.7


def test_nothing_is_changed_where_nothing_may_be() -> None:
    still = Weak(flip=0, padding=0)(picture(), np.random.default_rng(3))
    assert np.array_equal(np.asarray(still), np.asarray(picture()))
    mirrored = Weak(flip=1, padding=0)(picture(), np.random.default_rng(3))
    assert np.array_equal(np.asarray(mirrored), np.asarray(picture())[:, ::-1])


def test_by_name() -> None:
    assert "weak" in list_augmentations()
    assert load_augmentation("weak", padding=0.5) == Weak(padding=0.5)
    with pytest.raises(InputError, match="unknown augmentation 'week'"):
        load_augmentation("week")
    with pytest.raises(InputError, match="settings size"):
        load_augmentation("weak", size=3)
    for bad in ({"flip": 2}, {"padding": 1}, {"padding": -0.1}, {"flip": float("nan")}):
        with pytest.raises(InputError, match="expected"):
            Weak(**bad)
