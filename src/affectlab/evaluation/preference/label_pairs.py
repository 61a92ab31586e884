"""Label sets for a blind study: what people see in a stimulus, beside what a model sees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import polars as pl

from affectlab.core.errors import InputError, check_choice, check_number
from affectlab.core.types import Bools
from affectlab.evaluation.people_and_models import judged_runs, side_by_side, sides
from affectlab.ratings import ModelRatings, Ratings, answers_of, canonical, require_order

_HUMAN = "human"
_BETWEEN = "; "


def top_labels(
    ratings: Ratings, *, k: int = 5, by: Literal["stimulus", "rater"] = "stimulus"
) -> pl.DataFrame:
    """Give the labels rated highest on each stimulus.

    Labels are ordered by the median over raters. Of labels with the same median the one with the
    larger mean comes first, and of those the one that comes first in the taxonomy (or, without one,
    in the ratings). Labels that nobody rated on a stimulus are not taken.

    Parameters
    ----------
    ratings
        Ratings of several labels, on a scale with an order.
    k
        Labels per stimulus; fewer where fewer were rated.
    by
        One set per ``"stimulus"``, from all raters; or one per ``"rater"`` and stimulus.

    Returns
    -------
    ``stimulus``, ``rater`` (with ``by="rater"``), ``rank`` from 1, ``label``, ``value`` (median),
    ``mean``, ``n_raters``, and ``tied``: whether a label that was left out has the same median, so
    that only the rule kept this one in.

    Raises
    ------
    InputError
        If there are no labels, no order, or ``k`` is below 1.

    References
    ----------
    EmoNet-Face (2025), B.3: the human median's five highest labels beside a model's.

    Examples
    --------
    >>> r = Ratings({"stimulus": ["a"] * 6, "rater": ["x"] * 3 + ["y"] * 3,
    ...              "label": ["joy", "awe", "fear"] * 2, "value": [5, 3, 0, 4, 4, 0]}, scale="0-7")
    >>> top_labels(r, k=2).select("label", "value").rows()
    [('joy', 4.5), ('awe', 3.5)]
    """
    check_choice("by", by, ("stimulus", "rater"))
    check_number("k", k, 1, whole=True)
    require_order(ratings, "the choice of the highest labels")
    if not ratings.has_labels:
        raise InputError("the ratings have no labels; expected several to choose from")
    answers = answers_of(ratings)
    keys = ["unit", "rater"] if by == "rater" else ["unit"]
    place = np.array(_taxonomy_order(ratings, answers.labels))
    cells = (
        pl.DataFrame(
            {
                "unit": answers.unit,
                "rater": answers.rater,
                "label": answers.label,
                "place": place[answers.label],
                "value": answers.value,
            }
        )
        .group_by([*keys, "label"])
        .agg(
            pl.col("value").median(),
            # Equal means must tie exactly, whatever the order of summation.
            pl.col("value").mean().round(12).alias("mean"),
            pl.len().cast(pl.Int64).alias("n_raters"),
            pl.col("place").first(),
        )
    )
    ordered = cells.sort(
        [*keys, "value", "mean", "place"],
        descending=[False] * len(keys) + [True, True, False],
    ).with_columns(
        pl.int_range(1, pl.len() + 1).over(keys).alias("rank"),
        pl.col("value").slice(k, 1).max().over(keys).alias("next"),
    )
    names = {"unit": answers.units, "rater": answers.raters, "label": answers.labels}
    columns = [pl.Series(of, dtype=pl.String) for of in names.values()]
    return ordered.filter(pl.col("rank") <= k).select(
        *(
            pl.lit(column).gather(pl.col(key)).alias(key.replace("unit", "stimulus"))
            for key, column in zip(names, columns, strict=True)
            if key in keys
        ),
        "rank",
        pl.lit(columns[-1]).gather(pl.col("label")).alias("label"),
        "value",
        "mean",
        "n_raters",
        tied=(pl.col("value") == pl.col("next")).fill_null(False),
    )


def _taxonomy_order(ratings: Ratings, labels: tuple[str, ...]) -> list[int]:
    """Place of every label in the taxonomy; those that it lacks come last, by name."""
    known = () if ratings.taxonomy is None else ratings.taxonomy.labels
    place = {name: k for k, name in enumerate(known)}
    rank = {name: len(place) + k for k, name in enumerate(sorted(labels))}
    return [place.get(name, rank[name]) for name in labels]


def preference_pairs(
    ratings: Ratings,
    models: ModelRatings | None = None,
    *,
    k: int = 5,
    seed: int | np.random.Generator | None = 0,
) -> pl.DataFrame:
    """Make the items of a blind study: people's label set and a model's, on sides drawn at random.

    Parameters
    ----------
    ratings, models
        Ratings of people and of models, in one table or two; both rate several labels. Runs that
        control another (``main_runs``) are not shown.
    k
        Labels per set, see ``top_labels``.
    seed
        Seed or generator for the sides. Of the items of one model, people's set stands as ``A`` on
        half (to one).

    Returns
    -------
    One row per item: ``stimulus`` (the name of the item, which tells nothing), ``shown`` (the
    stimulus that the sets are about), ``labels_A`` and ``labels_B`` (from high to low, separated by
    ``"; "``), ``A`` and ``B`` (``"human"`` or the name of the model, **not to be shown**), and
    ``same``: whether both sets hold the same labels, so that there is nothing to choose.

    The table is the stimulus table of the study: judgements by the protocol ``preference`` with it
    are what :func:`preferences` and :func:`preference_scale` take.

    Raises
    ------
    InputError
        If people and models share no stimulus, or a model is called human.

    References
    ----------
    EmoNet-Face (2025), B.3.

    Examples
    --------
    >>> table = {"stimulus": ["a"] * 4, "rater": ["x", "x", "net", "net"],
    ...          "label": ["joy", "awe"] * 2, "value": [5, 3, 1, 6]}
    >>> r = Ratings(table, scale="0-7", raters={"rater": ["net"], "rater_kind": ["model"]})
    >>> preference_pairs(r, k=1, seed=1).select("stimulus", "shown", "same").rows()
    [('pair0001', 'a', False)]
    """
    ratings, models = canonical(ratings, listed="models"), canonical(models, listed="raters")

    found = sides(ratings, models)
    judged = side_by_side(judged_runs(found.tables)[0])
    if _HUMAN in judged.rater_names:
        raise InputError(f"a model is called {_HUMAN!r}; expected another name")
    human = _sets(top_labels(found.people, k=k), ["stimulus"]).rename({"labels": "of_people"})
    machine = _sets(top_labels(judged, k=k, by="rater"), ["stimulus", "rater"])
    pairs = machine.join(human, on="stimulus", how="inner").sort("rater", "stimulus")
    rng = np.random.default_rng(seed)
    people_first = pl.Series(random_sides(pairs["rater"].to_list(), rng))
    width, order = max(4, len(str(pairs.height))), rng.permutation(pairs.height).tolist()
    person = pl.lit(_HUMAN)
    items: pl.DataFrame = pairs.select(
        shown="stimulus",
        labels_A=pl.when(people_first).then("of_people").otherwise("labels").list.join(_BETWEEN),
        labels_B=pl.when(people_first).then("labels").otherwise("of_people").list.join(_BETWEEN),
        A=pl.when(people_first).then(person).otherwise("rater"),
        B=pl.when(people_first).then("rater").otherwise(person),
        same=pl.col("labels").list.sort() == pl.col("of_people").list.sort(),
    )[order]
    names = [f"pair{n:0{width}d}" for n in range(1, pairs.height + 1)]
    items.insert_column(0, pl.Series("stimulus", names, dtype=pl.String))
    return items


def random_sides(systems: Sequence[str], rng: np.random.Generator) -> Bools:
    """Draw where people stand first: on half of the items of each system, to one."""
    first = np.zeros(len(systems), dtype=np.bool_)
    for name in dict.fromkeys(systems):
        rows = np.flatnonzero([other == name for other in systems])
        half = rows.size // 2 + int(rows.size % 2 and rng.random() < 0.5)
        first[rng.permutation(rows)[:half]] = True
    return first


def _sets(top: pl.DataFrame, keys: list[str]) -> pl.DataFrame:
    return top.group_by(keys, maintain_order=True).agg("label").rename({"label": "labels"})
