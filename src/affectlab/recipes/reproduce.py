"""Recipes by name, and how one is run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from affectlab.core.errors import InputError
from affectlab.core.registry import Registry
from affectlab.recipes.needs import MissingDataError, not_there, told_needs
from affectlab.recipes.provenance import provenance_of
from affectlab.recipes.published_figures import PublishedFigures
from affectlab.recipes.recipe import Finding, PartFailure, Recipe, RecipeRun
from affectlab.recipes.reproduction import MARK, Comparison, Reproduction

__all__ = ["list_recipes", "reproduce", "sound_recipes"]

_RECIPES = Registry(
    kind="recipe",
    group="affectlab.recipes",
    accept=Recipe,
    expected="a Recipe",
    ours={
        "emonet-face": "affectlab.recipes.emonet_face.recipe:RECIPE",
        "face-expressions": "affectlab.recipes.face_expressions.recipe:RECIPE",
        "goemotions": "affectlab.recipes.goemotions.recipe:RECIPE",
        "socratis": "affectlab.recipes.socratis.recipe:RECIPE",
        "to-err-like-human": "affectlab.recipes.to_err_like_human.recipe:RECIPE",
    },
)


def list_recipes() -> dict[str, Recipe]:
    """Give all recipes by name: our own, and those of installed packages.

    A package adds one by an entry point in the group ``affectlab.recipes`` that leads to a
    :class:`Recipe`; it is known by the name of the entry point.

    Raises
    ------
    InputError
        When an entry point cannot be loaded, or leads to something else.

    Examples
    --------
    >>> "emonet-face" in list_recipes()
    True
    """
    return _RECIPES.load_all()


def sound_recipes() -> dict[str, Recipe]:
    """Give all recipes that can be loaded, by name.

    Warns
    -----
    BrokenPlugWarning
        Of each recipe of an installed package that cannot be used.

    Examples
    --------
    >>> "socratis" in sound_recipes()
    True
    """
    return _RECIPES.load_all(skip_broken=True)


def reproduce(
    paper: str,
    *,
    data: str | Path | None = None,
    simulate: bool = False,
    quick: bool = False,
    seed: int = 0,
) -> Reproduction:
    """Run the recipe of a paper and set its figures beside the published ones.

    Parameters
    ----------
    paper
        Name of a recipe, see :func:`list_recipes`.
    data
        Folder with the paper's data.
    simulate
        Run on simulated data instead; there is then no verdict.
    quick
        Leave out what takes long.
    seed
        Seed of everything random.

    Raises
    ------
    InputError
        When the recipe is not known, or its data is not there; the sentence says which files are
        needed, where they are published and under which licence.

    Examples
    --------
    >>> reproduce("emonet-face", simulate=True, quick=True).rows[0].verdict
    'no verdict: simulated data'
    """
    recipe = _RECIPES.load(paper)
    if data is not None and simulate:
        raise InputError(
            f"{paper}: both --data {data} and --simulate are given; expected one of them, since a "
            "run is either on real data or on simulated data"
        )
    if data is None and not simulate:
        raise InputError(
            f"{paper}: neither data nor a simulation is asked for; expected the folder of its data "
            f"(--data DIR), or --simulate; the data is {told_needs(recipe.needs)}"
        )
    published = recipe.published()
    run = recipe.simulate(seed, quick) if data is None else _run_on(recipe, Path(data), quick)
    unknown = set(run.findings) - {figure.key for figure in published.figure}
    if unknown:
        raise InputError(f"{paper}: found {min(unknown)!r}, which is no published figure")
    rows = tuple(
        Comparison(
            figure,
            run.findings.get(figure.key) or _without(figure.key, run.failures),
            own_data=data is not None,
            doubt=run.doubt,
        )
        for figure in published.figure
    )
    provenance = provenance_of(
        paper,
        inputs=run.inputs,
        seed=seed,
        seeds=run.seeds or (seed,),
        quick=quick,
        simulated=data is None,
        failures=run.failures,
    )
    return Reproduction(
        published, rows, provenance, _notes(run, published), run.figures, run.failures
    )


def _without(key: str, failures: Sequence[PartFailure]) -> Finding:
    """Say why a figure has no value."""
    for one in failures:
        if key.startswith(one.keys):
            return Finding(why=f"failed in {one.part}: {one.reason}")
    return Finding()


def _run_on(recipe: Recipe, folder: Path, quick: bool) -> RecipeRun:
    if not folder.is_dir():
        raise InputError(
            f"{folder}: no such folder; expected the data of {recipe.name}: "
            f"{told_needs(recipe.needs)}"
        )
    try:
        return recipe.run(folder, quick)
    except MissingDataError as problem:
        # People look for all data at once, not for one file after the other.
        raise not_there(folder, recipe.name, recipe.needs) from problem


def _notes(run: RecipeRun, published: PublishedFigures) -> tuple[str, ...]:
    """Add why figures are marked, where the run does not say so."""
    marked = (
        (f"{MARK} {figure.name}: ", figure.inconsistent or f"does not fit its {figure.contradicts}")
        for figure in published.figure
        if figure.is_marked
    )
    return run.notes + tuple(
        f"{start}{why}."
        for start, why in marked
        if not any(note.startswith(start) for note in run.notes)
    )
