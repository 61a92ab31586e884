"""What a network of images is fed with: pictures that are kept, and large ones made smaller."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from affectlab.models.augment.images import Weak
from affectlab.models.images import load_image
from affectlab.models.vision.backbone import side_of
from affectlab.models.vision.inputs import Pictures, feed_of

SEEN: list[tuple[int, int]] = []


def sizes(pictures: list[Image.Image]) -> dict[str, Any]:
    SEEN[:] = [picture.size for picture in pictures]
    return {"seen": torch.zeros(len(pictures))}


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    made = []
    for at, size in enumerate([(100, 60), (60, 100), (30, 20), (64, 64)]):
        pixels = np.random.default_rng(at).integers(0, 255, (size[1], size[0], 3), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"{at}.png")
        made.append(tmp_path / f"{at}.png")
    return made


def test_large_pictures_are_made_smaller_before_they_are_changed(files: list[Path]) -> None:
    feed = feed_of(files, sizes, Weak(), side=16)
    rows = np.arange(4)
    feed.batch(rows, (0, 1))
    # Twice the side that the network looks at; those below it stay as they are.
    assert SEEN == [(53, 32), (32, 53), (30, 20), (32, 32)]
    # To be looked at, they stay whole.
    feed.batch(rows)
    assert SEEN == [(100, 60), (60, 100), (30, 20), (64, 64)]
    feed.changed_by(None).batch(rows, (0, 1))
    assert SEEN[0] == (100, 60)
    feed_of(files, sizes, Weak()).batch(rows, (0, 1))
    assert SEEN[0] == (100, 60)


def test_feeds_of_the_same_pictures_share_the_room(
    files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def counted(source: Any) -> Image.Image:
        opened.append(str(source))
        return load_image(source)

    monkeypatch.setattr("affectlab.models.vision.inputs.load_image", counted)
    # Of the four, as they are, the first two do not fit together.
    monkeypatch.setattr("affectlab.models.vision.inputs._KEPT", 100 * 60 * 3 + 30 * 20 * 3)
    first: Pictures = feed_of(files, sizes, Weak(), workers=1)
    second = first.changed_by(Weak(flip=1.0))
    for feed in (first, second, first):
        feed.batch(np.arange(4), (0, 1))
    times = [opened.count(str(file)) for file in files]
    assert times == [1, 3, 1, 3]


@pytest.mark.parametrize(
    ("said", "side"),
    [
        ({"size": {"height": 32, "width": 48}}, 48),
        ({"size": {"shortest_edge": 256}, "crop_size": {"height": 224, "width": 224}}, 256),
        ({"size": SimpleNamespace(shortest_edge=256, longest_edge=None), "crop_size": None}, 256),
        ({"size": 224}, 224),
        ({"size": {"max_pixels": 10**6}}, None),
        ({}, None),
    ],
)
def test_the_side_that_a_processor_tells(said: dict[str, Any], side: int | None) -> None:
    assert side_of(SimpleNamespace(**said)) == side
