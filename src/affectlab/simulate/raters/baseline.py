"""A rater that does not look: the floor below which agreement with people means nothing."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import polars as pl

from affectlab.core.errors import InputError, check_choice
from affectlab.ratings import Ratings, canonical

How = Literal["uniform", "shuffled"]


def random_baseline(
    ratings: Ratings, *, seed: int = 0, how: How = "uniform", name: str = "random baseline"
) -> Ratings:
    """Answer every stimulus and label that was rated by chance.

    Parameters
    ----------
    ratings
        Whose stimuli, labels and scale are taken; with people among the raters, only theirs.
    seed
        Same seed, same answers.
    how
        ``"uniform"``: every step of the scale, every category, or every number between its ends is
        as likely. ``"shuffled"``: the answers to a label are drawn from all that were given to it,
        so that the baseline uses the scale as the raters do, and agrees with them in nothing else.
    name
        Name of the rater.

    Returns
    -------
    Ratings
        One rater of the kind ``"baseline"``, on the scale of `ratings`.

    Raises
    ------
    InputError
        When there is no answer, or the scale has no ends to draw between.

    References
    ----------
    Schuhmann et al. (2025), EmoNet-Face, figure 3 and table 6: the random baseline.

    Examples
    --------
    >>> people = Ratings({"stimulus": ["a", "b"], "rater": ["r1", "r1"], "label": ["joy", "joy"],
    ...                   "value": [0, 7]}, scale="0-7")
    >>> dice = random_baseline(people, seed=0)
    >>> dice.rater_kinds, dice.value.tolist()
    (('baseline',), [6.0, 5.0])
    """
    check_choice("baseline", how, get_args(How))
    given = ratings.humans() if "human" in ratings.rater_kinds else ratings
    listed = given.to_frame().filter(pl.col("value").is_not_null())
    frame = canonical(given).to_frame().filter(pl.col("value").is_not_null())
    if not frame.height:
        raise InputError("nobody gave an answer; expected one to draw a baseline for")
    by = ["stimulus", "label"] if given.has_labels else ["stimulus"]
    cells = frame.select(by).unique(maintain_order=True)
    rng = np.random.default_rng(seed)
    if how == "uniform":
        drawn = cells.with_columns(_uniform(ratings, cells.height, rng))
    else:
        drawn = _shuffled(frame, cells, rng)
    drawn = (
        listed.select(by)
        .unique(maintain_order=True)
        .join(drawn, on=by, how="left", maintain_order="left")
    )
    return Ratings(
        drawn.with_columns(pl.lit(name).alias("rater")),
        scale=ratings.scale,
        taxonomy=ratings.taxonomy if given.has_labels else None,
        raters=pl.DataFrame({"rater": [name], "rater_kind": ["baseline"], "drawn": [how]}),
        source=f"{name}, {how}, seed {seed}",
    )


def _uniform(ratings: Ratings, n: int, rng: np.random.Generator) -> pl.Series:
    """Draw from all that could be answered."""
    scale = ratings.scale
    if scale.categories and scale.kind == "nominal":
        return pl.Series("value", list(scale.categories)).gather(
            rng.integers(len(scale.categories), size=n)
        )
    if scale.kind == "binary":
        return pl.Series("value", rng.integers(2, size=n))
    if scale.low is None or scale.high is None:
        raise InputError(
            f"scale {str(scale)!r} has no ends to draw between; expected how='shuffled'"
        )
    if scale.step is None:
        return pl.Series("value", rng.uniform(scale.low, scale.high, size=n))
    steps = round((scale.high - scale.low) / scale.step)
    return pl.Series("value", scale.low + scale.step * rng.integers(steps + 1, size=n))


def _shuffled(frame: pl.DataFrame, cells: pl.DataFrame, rng: np.random.Generator) -> pl.DataFrame:
    """Draw from what was answered, of each label apart."""
    by_label = cells.partition_by("label", maintain_order=True) if "label" in cells else [cells]
    parts = []
    for part in by_label:
        answers = frame["value"]
        if "label" in cells:
            answers = frame.filter(pl.col("label") == part["label"][0])["value"]
        parts.append(
            part.with_columns(answers.gather(rng.integers(len(answers), size=part.height)))
        )
    return pl.concat(parts)
