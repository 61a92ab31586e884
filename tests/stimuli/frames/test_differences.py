"""Differences: against scikit-image, by hand, and what a function of one's own may give."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tests.stimuli.frames.films import mouth, transition, write_folder

from affectlab import InputError
from affectlab.stimuli.frames import FiveFrameSampling, UnusableError, View, find_transitions
from affectlab.stimuli.frames.differences import DIFFERENCES, Looks


def noise(seed: int, size: tuple[int, int] = (48, 40)) -> Image.Image:
    values = np.random.default_rng(seed).integers(0, 256, size=(size[1], size[0]))
    return Image.fromarray(values.astype(np.uint8))


@pytest.mark.parametrize(("one", "other"), [(1, 2), (3, 3), (4, 9)])
def test_ssim_as_scikit_image(one: int, other: int) -> None:
    metrics = pytest.importorskip("skimage.metrics")
    first, second = noise(one), noise(other)
    whole = metrics.structural_similarity(
        np.asarray(first) / 255,
        np.asarray(second) / 255,
        gaussian_weights=True,
        sigma=1.5,
        use_sample_covariance=False,
        data_range=1.0,
        K2=0.03,
    )
    found = DIFFERENCES["ssim"](first, second)
    assert found == pytest.approx(math.sqrt(max(0, 1 - whole)), abs=1e-7)


def test_rmse_by_hand() -> None:
    grey, lighter = (Image.new("L", (20, 20), value) for value in (100, 151))
    assert DIFFERENCES["rmse"](grey, lighter) == pytest.approx(0.2)


@pytest.mark.parametrize("name", ["ssim", "rmse"])
def test_alike_and_further_apart(name: str) -> None:
    difference = DIFFERENCES[name]
    away = [difference(mouth(0), mouth(amount)) for amount in (0, 0.3, 0.6, 1)]
    assert away[0] == 0
    assert away == sorted(away)
    assert away[1] > 0
    assert difference(mouth(0.2), mouth(0.9)) == difference(mouth(0.9), mouth(0.2))


@pytest.mark.parametrize("name", ["ssim", "rmse"])
def test_steps_add_up_whatever_the_frame_rate(name: str) -> None:
    """Twice as many frames of a film are about as far in all; squares would be half as far."""
    difference = DIFFERENCES[name]

    faces = [difference.prepare(mouth(k / 32, (768, 576))) for k in range(33)]
    fast = np.array([difference.compare(a, b) for a, b in pairwise(faces)])
    slow = np.array([difference.compare(a, b) for a, b in pairwise(faces[::2])])
    assert 0.9 < fast.sum() / slow.sum() < 1.25
    assert (fast**2).sum() / (slow**2).sum() < 0.75


def test_large_pictures_are_made_small() -> None:
    prepared = DIFFERENCES["ssim"].prepare(mouth(1, (2048, 1334)))
    assert prepared.shape == (83, 128)
    assert 0 <= prepared.min() < prepared.max() <= 1


def test_a_strip_is_too_narrow() -> None:
    with pytest.raises(UnusableError, match="400 x 12 pixels are too small or too narrow"):
        DIFFERENCES["rmse"](Image.new("RGB", (400, 12)), Image.new("RGB", (400, 12)))


class TestOwnFunction:
    def test_it_is_asked_about_whole_pictures(self, tmp_path: Path) -> None:
        transition(tmp_path / "ann_joy", 8)
        (one,) = find_transitions(tmp_path).transitions
        asked: list[tuple[int, int]] = []

        def redness(first: Image.Image, second: Image.Image) -> float:
            asked.append(first.size)
            return float(abs(np.asarray(first, float).mean() - np.asarray(second, float).mean()))

        chosen = FiveFrameSampling(difference=redness, jnds=4).choose(one, View())
        assert len(set(chosen.places)) == 5
        assert asked == [(64, 48)] * 7
        built_in = Looks(one, View(), DIFFERENCES["rmse"])
        own = Looks(one, View(), DIFFERENCES["rmse"].__call__)
        assert own.steps() == pytest.approx(built_in.steps())
        assert own.from_frame(3) == pytest.approx(built_in.from_frame(3))
        assert own.among([0, 1, 2]) == pytest.approx(built_in.among([0, 1, 2]))

    @pytest.mark.parametrize("value", [math.nan, -0.1, math.inf, "much", None])
    def test_it_has_to_give_numbers(self, value: Any, tmp_path: Path) -> None:
        transition(tmp_path / "ann_joy", 6)
        (one,) = find_transitions(tmp_path).transitions
        bad: Callable[[Image.Image, Image.Image], Any] = lambda first, second: value  # noqa: E731
        with pytest.raises(InputError, match=r"the difference .* gave"):
            FiveFrameSampling(difference=bad).choose(one, View())

    def test_unknown_name(self) -> None:
        with pytest.raises(InputError, match="unknown difference 'sim'; did you mean 'ssim'"):
            FiveFrameSampling(difference="sim")


def test_a_damaged_frame_is_named(tmp_path: Path) -> None:
    files = write_folder(tmp_path / "ann_joy", [mouth(k / 6) for k in range(7)])
    files[3].write_bytes(files[3].read_bytes()[:60])
    (one,) = find_transitions(tmp_path).transitions
    with pytest.raises(UnusableError, match=r"3\.png is no picture that can be read"):
        FiveFrameSampling().choose(one, View())
