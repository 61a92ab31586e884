"""A recipe: the figures of an invented paper, from its data or from drawn answers."""

from pathlib import Path

import numpy as np

from affectlab.core.errors import InputError
from affectlab.ratings import Ratings, read_ratings
from affectlab.recipes import DataNeed, Finding, Recipe, RecipeRun, load_published

__all__ = ["RECIPE", "findings"]

_ANSWERS = DataNeed(
    file="answers.csv",
    what="48 answers of 3 people about 4 pictures",
    published="the folder examples/plugin/data of affectlab",
    licence="Apache-2.0",
)


def findings(ratings: Ratings) -> dict[str, Finding]:
    """Give our value for each key of published/weather_moods.toml."""
    import polars as pl

    means = dict(ratings.frame.group_by("label").agg(pl.col("value").mean()).iter_rows())
    found = {f"mean.{label}": Finding(float(mean)) for label, mean in means.items()}
    return {"answers": Finding(float(ratings.n_ratings))} | found


def _run(folder: Path, _quick: bool) -> RecipeRun:
    file = folder / _ANSWERS.file
    if not file.is_file():
        raise InputError(f"weather-moods: {folder} does not hold {_ANSWERS}")
    return RecipeRun(findings(read_ratings(file, scale="0-4", taxonomy="weather")), (file,))


def _simulate(seed: int, quick: bool) -> RecipeRun:
    rng = np.random.default_rng(seed)
    labels = ("sunny", "breezy", "foggy", "stormy")
    cells = [
        (f"picture {stimulus}", f"person {rater}", label)
        for stimulus in range(4 if quick else 40)
        for rater in range(3)
        for label in labels
    ]
    stimulus, rater, label = zip(*cells, strict=True)
    value = rng.integers(0, 5, len(cells))
    table = {"stimulus": stimulus, "rater": rater, "label": label, "value": value}
    return RecipeRun(findings(Ratings(table, scale="0-4")), notes=("The answers are drawn.",))


RECIPE = Recipe(
    name="weather-moods",
    published=lambda: load_published("weather_moods", "affectlab_weather"),
    needs=(_ANSWERS,),
    run=_run,
    simulate=_simulate,
)
