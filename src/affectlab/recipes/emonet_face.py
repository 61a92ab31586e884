"""EmoNet-Face (Schuhmann et al., 2025): 40 emotions of synthetic faces, by experts and by models.

The paper asks yes or no in sequence: what one expert sees, a second and a third confirm; another
batch asks about an emotion that should be absent. Table 2 gives the agreement of each batch. Eight
experts then rate 2,500 faces from 0 to 7, and models are held against them: heads on the embedding
of an image, and models that read images and text. The published binary file gives Table 2; the file
of ratings, where it is there, gives the rest. The simulation plays all of it on invented faces,
with experts and models of known care.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from affectlab.recipes._emonet_binary import (
    BATCH_NOTE,
    binary_alpha,
    binary_consensus,
)
from affectlab.recipes._emonet_data import (
    BINARY,
    HQ,
    NEEDS,
    find_files,
    people_and_models,
    with_reasons,
)
from affectlab.recipes._published import load_published
from affectlab.recipes._recipe import Finding, Recipe, RecipeFigure, RecipeRun

__all__ = ["RECIPE", "binary_consensus", "run_simulation"]

_SEED = 42
"""Of intervals from real data, as in the paper's notebooks."""


def _run(folder: Path, quick: bool) -> RecipeRun:
    from affectlab.recipes._emonet_chain import architecture
    from affectlab.recipes._emonet_findings import inconsistencies

    n_boot = 200 if quick else 1000
    files = find_files(folder)
    found, notes, figures = architecture(), list[str](), list[RecipeFigure]()
    for need, part in ((BINARY, _binary), (HQ, _hq)):
        file = files.get(need)
        if file is None:
            notes.append(
                f"Left out is what {need.file} says: {folder} does not hold {need}; "
                "--simulate plays this part on invented faces."
            )
            continue
        more, said, drawn = part(file, n_boot)
        found |= more
        notes += said
        figures += drawn
    return RecipeRun(
        with_reasons(found, given=files),
        tuple(files.values()),
        (*notes, *inconsistencies()),
        figures=tuple(figures),
        seeds=(_SEED,),
    )


def _binary(file: Path, n_boot: int) -> tuple[dict[str, Finding], list[str], list[RecipeFigure]]:
    """Find what follows from yes/no answers."""
    from affectlab.ratings import read_ratings
    from affectlab.recipes._emonet_figures import binary_figures

    ratings = read_ratings(file)
    alpha, note = binary_alpha(ratings, n_boot=n_boot, seed=_SEED, published=True)
    emotions = {"taxonomy.emotions": Finding(float(ratings.n_labels))}
    return (
        binary_consensus(ratings) | alpha | emotions,
        [BATCH_NOTE, note],
        list(binary_figures(ratings)),
    )


def _hq(file: Path, n_boot: int) -> tuple[dict[str, Finding], list[str], list[RecipeFigure]]:
    """Find what follows from the ratings of people and models."""
    from affectlab.ratings import read_ratings
    from affectlab.recipes._emonet_figures import hq_figures
    from affectlab.recipes._emonet_findings import compare, hq_findings
    from affectlab.recipes._emonet_level import human_level, level_notes

    people, models = people_and_models(read_ratings(file))
    compared = compare(people, models, n_boot=n_boot, seed=_SEED)
    level = human_level(compared, n_boot=n_boot, seed=_SEED)
    filled = "As in appendix A.3, what a rater left out of a rated image is taken as 0."
    return (
        hq_findings(compared),
        [filled, *level_notes(compared, level)],
        list(hq_figures(compared, level)),
    )


def run_simulation(
    seed: int, quick: bool, done: Callable[[str], None] = lambda _: None
) -> RecipeRun:
    """Play the whole chain on invented faces; `done` is told the name of each part that is done."""
    from affectlab.recipes._emonet_chain import FULL, QUICK, play

    return play(QUICK if quick else FULL, seed, done)


RECIPE = Recipe(
    name="emonet-face",
    published=lambda: load_published("emonet_face"),
    needs=NEEDS,
    run=_run,
    simulate=run_simulation,
)
