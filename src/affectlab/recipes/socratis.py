"""Socratis (Deng, Ray, Tan et al., 2023): why people feel what they feel about captioned images.

People name emotions about image-caption pairs and say why; machines are asked the same; judges say
blindly whose reason fits better; and metrics are asked whether they see what judges prefer. The
simulation plays this on drawn pictures with invented captions, with tiny networks that are trained
on the spot.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from affectlab.recipes._published import load_published
from affectlab.recipes._recipe import Recipe, RecipeRun
from affectlab.recipes._socratis_data import NEEDS, run_on_file
from affectlab.recipes._threads import one_thread

__all__ = ["FULL", "QUICK", "RECIPE", "Size", "run_simulation"]


@dataclass(frozen=True)
class Size:
    """How large a simulation is."""

    pairs: int
    """Half of them train networks, the other half is judged."""
    items: int
    """Items of the blind study."""
    steps: tuple[int, int, int]
    """Batches that the writer, BART and CLIP learn from, 20 or more each."""
    n_boot: int


FULL = Size(pairs=480, items=500, steps=(420, 500, 400), n_boot=1000)
QUICK = Size(pairs=160, items=240, steps=(450, 200, 150), n_boot=400)
"""The writer stops early, so that it errs and judges have something to choose."""


def run_simulation(
    size: Size, seed: int, done: Callable[[str], None] = lambda _: None
) -> RecipeRun:
    """Play the whole chain; `done` is told the name of each part that is done."""
    from affectlab.recipes._socratis_chain import play

    with TemporaryDirectory() as folder, one_thread():
        return play(size, Path(folder), seed, done)


def _simulate(seed: int, quick: bool) -> RecipeRun:
    return run_simulation(QUICK if quick else FULL, seed)


RECIPE = Recipe(
    name="socratis",
    published=lambda: load_published("socratis"),
    needs=NEEDS,
    run=run_on_file,
    simulate=_simulate,
)
