"""Generators by name, by entry point, and as plain functions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from PIL import Image

from affectlab.core.errors import InputError
from affectlab.stimuli.generation import (
    ImageGenerator,
    ImagePrompt,
    list_generators,
    load_generator,
)

PROMPT = ImagePrompt("a", "…", "Awe", seed=1)
PACKAGE = """
from PIL import Image

class Colour:
    version = "7"
    def __init__(self, name, side=4):
        self.settings = {"colour": name, "side": side}
        self.batch = 2
    def __call__(self, batch):
        side = self.settings["side"]
        return [Image.new("RGB", (side, side), self.settings["colour"]) for _ in batch]
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install a package with entry points, as far as Python looks."""
    (tmp_path / "colour_faces.py").write_text(PACKAGE, encoding="utf-8")
    info = tmp_path / "colour_faces-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: colour-faces\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[affectlab.image_generators]\ncolour = colour_faces:Colour\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("package")
def test_a_generator_of_another_package() -> None:
    assert list_generators() == ("drawn", "diffusers", "colour")
    found = load_generator("colour:red", side=6)
    assert (found.version, found.settings, found.batch) == ("7", {"colour": "red", "side": 6}, 2)
    (image,) = found([PROMPT])
    assert image.size == (6, 6)
    assert image.getpixel((0, 0)) == (255, 0, 0)


def test_plain_functions_are_named_after_themselves() -> None:
    def squares(batch: Sequence[ImagePrompt]) -> list[Image.Image]:
        return [Image.new("RGB", (4, 4)) for _ in batch]

    found = load_generator(squares)
    assert found.name.endswith("squares")
    assert (found.version, found.settings, found.batch) == ("", {}, 1)
    assert load_generator(found) is found


def test_bad_names() -> None:
    with pytest.raises(InputError, match="is given ready: unknown setting 'size'"):
        load_generator(lambda batch: [], size=3)
    with pytest.raises(InputError, match="needs a name"):
        ImageGenerator(" ", lambda batch: [])
    with pytest.raises(InputError, match="batch = 0"):
        ImageGenerator("one", lambda batch: [], batch=0)
