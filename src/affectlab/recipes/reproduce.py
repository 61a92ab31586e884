"""Recipes by name, and how one is run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.registry import (
    Plug,
    added_names,
    find_plug,
    find_plugs,
    find_sound_plugs,
    warn_of_plug,
)
from affectlab.recipes.needs import MissingDataError, not_there, told_needs
from affectlab.recipes.provenance import provenance_of
from affectlab.recipes.published_figures import PublishedFigures
from affectlab.recipes.recipe import Finding, PartFailure, Recipe, RecipeRun
from affectlab.recipes.reproduction import MARK, Comparison, Reproduction, is_marked

__all__ = ["list_recipes", "reproduce", "sound_recipes"]

ENTRY_POINTS = "affectlab.recipes"
"""Entry point group under which other packages offer a :class:`Recipe`."""


@cache
def _own_recipes() -> dict[str, Recipe]:
    from affectlab.recipes.emonet_face import recipe as emonet_face
    from affectlab.recipes.face_expressions import recipe as face_expressions
    from affectlab.recipes.goemotions import recipe as goemotions
    from affectlab.recipes.socratis import recipe as socratis
    from affectlab.recipes.to_err_like_human import recipe as to_err_like_human

    ours = (
        emonet_face.RECIPE,
        face_expressions.RECIPE,
        goemotions.RECIPE,
        socratis.RECIPE,
        to_err_like_human.RECIPE,
    )
    return {recipe.name: recipe for recipe in ours}


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
    added = {plug.name: _of_plug(plug) for plug in find_plugs(ENTRY_POINTS)}
    return added | _own_recipes()


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
    found = {}
    for plug in find_sound_plugs(ENTRY_POINTS):
        try:
            found[plug.name] = _of_plug(plug)
        except InputError as problem:
            warn_of_plug(problem)
    return found | _own_recipes()


def _find_recipe(name: str) -> Recipe:
    """Find one recipe; what other packages add under other names is not loaded."""
    own = _own_recipes()
    if name in own:
        return own[name]
    plug = find_plug(ENTRY_POINTS, name)
    if plug is None:
        raise unknown_name("recipe", name, (*own, *added_names(ENTRY_POINTS)))
    return _of_plug(plug)


def _of_plug(plug: Plug) -> Recipe:
    if not isinstance(plug.found, Recipe):
        raise InputError(
            f"{plug.where} offers a {type(plug.found).__name__} as a recipe; "
            "expected affectlab.recipes.Recipe"
        )
    return plug.found


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
    recipe = _find_recipe(paper)
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
        (f"{MARK} {figure.name}: ", figure.note.removeprefix("inconsistent: ").rstrip("."))
        for figure in published.figure
        if is_marked(figure)
    )
    return run.notes + tuple(
        f"{start}{why}."
        for start, why in marked
        if not any(note.startswith(start) for note in run.notes)
    )
