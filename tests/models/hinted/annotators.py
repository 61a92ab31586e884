"""Annotators with known rates, and generators that need no time."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from affectlab.models.hinted import HintedPlan
from affectlab.models.images import ImageFile
from affectlab.stimuli.generation import ImageGenerator, ImagePrompt, read_manifest

LABELS = ("Awe", "Fear", "Anger", "Shame")


def paint(batch: Sequence[ImagePrompt]) -> list[Any]:
    """Paint a picture of the prompt's seed, which no other prompt has."""
    made = []
    for prompt in batch:
        digest = hashlib.sha256(f"{prompt.label}{prompt.seed}".encode()).digest()
        made.append(Image.fromarray(np.frombuffer(digest[:27], dtype=np.uint8).reshape(3, 3, 3)))
    return made


PAINTED = ImageGenerator("painted", paint, version="1", batch=8)


class Simulated:
    """Sees what was asked for at a known rate, and says what it is told at another.

    Parameters
    ----------
    folder
        Of the run: its manifest says what a picture was made for.
    hit
        Chance that the label of a picture is seen, by label.
    suggestible
        Chance that a hint is followed where the label is not seen.
    """

    name = "simulated"
    version = "1"

    def __init__(
        self, folder: Path, hit: dict[str, float], suggestible: float = 0.0, seed: int = 0
    ) -> None:
        self.folder = folder
        self.hit = hit
        self.suggestible = suggestible
        self.seed = seed
        self.asked: list[tuple[str, str]] = []
        self._shown: dict[str, str] = {}

    def label_of(self, stimulus: str) -> str:
        if stimulus not in self._shown:
            table = read_manifest(self.folder / "pictures")
            self._shown = dict(table.select("stimulus", "label").iter_rows())
        return self._shown[stimulus]

    def chance(self, *parts: str) -> float:
        digest = hashlib.sha256("|".join((str(self.seed), *parts)).encode()).digest()
        return int.from_bytes(digest[:8], "big") / 2**64

    def __call__(
        self, images: Sequence[ImageFile], hints: Sequence[str]
    ) -> list[dict[str, float] | str]:
        answers: list[dict[str, float] | str] = []
        for image, hint in zip(images, hints, strict=True):
            self.asked.append((image.stimulus, hint))
            label = self.label_of(image.stimulus)
            found: dict[str, float] = {}
            if self.chance("see", image.stimulus) < self.hit.get(label, 0.0):
                found[label] = 4
            if (
                hint
                and hint not in found
                and self.chance("hint", image.stimulus, hint) < (self.suggestible)
            ):
                found[hint] = 1
            answers.append(found)
        return answers


def killed_plan() -> HintedPlan:
    return HintedPlan(labels=LABELS, target=15, initial=12, decoys=0.4, batch=4)


def watched(
    folder: Path, tick: Callable[[str], None] = lambda _: None
) -> tuple[ImageGenerator, Simulated]:
    """Give a generator and an annotator that write down, beside the folder, what they are asked."""

    def note(kind: str, lines: list[str]) -> None:
        with folder.with_suffix(f".{kind}").open("a") as file:
            file.write("".join(f"{line}\n" for line in lines))

    class Noted(Simulated):
        def __call__(
            self, images: Sequence[ImageFile], hints: Sequence[str]
        ) -> list[dict[str, float] | str]:
            pairs = zip(images, hints, strict=True)
            note("asked", [f"{image.stimulus} {hint}" for image, hint in pairs])
            found = super().__call__(images, hints)
            tick("asked")
            return found

    def make(batch: Sequence[ImagePrompt]) -> list[Any]:
        tick("picture")
        note("made", [prompt.stimulus for prompt in batch])
        return paint(batch)

    maker = ImageGenerator("painted", make, version="1", batch=4)
    return maker, Noted(folder, dict.fromkeys(LABELS, 0.6), 0.3)
