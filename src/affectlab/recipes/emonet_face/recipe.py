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

from affectlab.core.words import count
from affectlab.recipes.emonet_face.consensus import BATCH_NOTE, binary_alpha, binary_consensus
from affectlab.recipes.emonet_face.data import BINARY, HQ, NEEDS, find_files, with_reasons
from affectlab.recipes.published_figures import load_published
from affectlab.recipes.recipe import Finding, Parts, Recipe, RecipeFigure, RecipeRun

__all__ = ["RECIPE", "binary_consensus", "run_simulation"]

_SEED = 42
"""Of intervals from real data, as in the paper's notebooks."""
_NEAR = 0.001
"""A file is the paper's where its size is within this share of the printed one."""
_SIZES = {
    BINARY: ("binary.answers", 65_686, "yes/no answers"),
    HQ: ("hq.images", 2_500, "images"),
}


def _run(folder: Path, quick: bool) -> RecipeRun:
    from affectlab.recipes.emonet_face.agreement import inconsistencies
    from affectlab.recipes.emonet_face.simulate import architecture

    n_boot = 200 if quick else 1000
    files = find_files(folder)
    parts = Parts()
    parts.add(architecture())
    for need, find, keys in (
        (BINARY, _binary, ("binary.", "taxonomy.")),
        (HQ, _hq, ("hq.", "table3.", "table6.", "test.")),
    ):
        file = files.get(need)
        if file is None:
            parts.notes.append(
                f"Left out is what {need.file} says: {folder} does not hold {need}; "
                "--simulate plays this part on invented faces."
            )
            continue
        with parts(need.file, *keys):
            found, notes, figures = find(file, n_boot)
            parts.add(_of_the_papers_size(found, *_SIZES[need]), notes, figures)
    parts.add(with_reasons(parts.findings, given=files), inconsistencies())
    return parts.to_run(inputs=tuple(files.values()), seeds=(_SEED,))


def _of_the_papers_size(
    found: dict[str, Finding], key: str, published: int, what: str
) -> dict[str, Finding]:
    """Leave what was found in another sample than the paper's without a verdict."""
    n = found[key].value or 0.0
    if abs(n / published - 1) <= _NEAR:
        return found
    doubt = f"{count(n)} {what} are not the {count(published)} of the paper"
    return {name: one.doubted(doubt) for name, one in found.items()}


def _binary(file: Path, n_boot: int) -> tuple[dict[str, Finding], list[str], list[RecipeFigure]]:
    """Find what follows from yes/no answers."""
    from affectlab.ratings import read_ratings
    from affectlab.recipes.emonet_face.figures import binary_figures

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
    from affectlab.evaluation.people_and_models import sides
    from affectlab.ratings import StepKind, read_ratings
    from affectlab.recipes.emonet_face.agreement import compare, hq_findings
    from affectlab.recipes.emonet_face.figures import hq_figures
    from affectlab.recipes.emonet_face.human_level import human_level, level_notes

    both = sides(read_ratings(file))
    compared = compare(both.people, both.models, n_boot=n_boot, seed=_SEED)
    level = human_level(compared, seed=_SEED)
    filled = next(one for one in both.people.history if one.kind is StepKind.FILLED)
    return (
        hq_findings(compared),
        [f"As in appendix A.3, {filled}.", *level_notes(compared, level)],
        list(hq_figures(compared, level)),
    )


def run_simulation(
    seed: int, quick: bool, done: Callable[[str], None] = lambda _: None
) -> RecipeRun:
    """Play the whole chain on invented faces; `done` is told the name of each part that is done."""
    from affectlab.recipes.emonet_face.simulate import FULL, QUICK, play

    return play(QUICK if quick else FULL, seed, done)


RECIPE = Recipe(
    name="emonet-face",
    published=lambda: load_published("emonet_face"),
    needs=NEEDS,
    run=_run,
    simulate=run_simulation,
)
