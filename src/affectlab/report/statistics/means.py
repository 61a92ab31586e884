"""Differences between groups of stimuli, and of raters."""

from __future__ import annotations

import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.inference import holm
from affectlab.ratings import ClusterLike, Ratings, stimulus_clusters
from affectlab.reliability import mixed_model

MOST_GROUPS, FEWEST_IN_GROUP = 8, 5
"""Groups that an attribute makes at most, and stimuli, or people, that each needs."""
NO_GROUPS = ("file", "image", "path", "url", "src", "filename", "control", "of")
"""Attributes that lead to a stimulus, or say which other one it controls."""
_MOST_ATTRIBUTES = 4


def grouping(table: pl.DataFrame) -> list[str]:
    """Name attributes that are known of all and make two to eight groups of five.

    Parameters
    ----------
    table
        Stimuli, or raters, in its first column, and their attributes.
    """
    found = []
    for column in table.drop("rater_kind", strict=False).get_columns()[1:]:
        if column.name.casefold() in NO_GROUPS or column.dtype not in (pl.String, pl.Boolean):
            continue
        sizes = column.value_counts()["count"].to_list()
        known = column.null_count() == 0
        if known and 2 <= len(sizes) <= MOST_GROUPS and min(sizes) >= FEWEST_IN_GROUP:
            found.append(column.name)
    return found[:_MOST_ATTRIBUTES]


def differences(answers: Ratings, cluster: ClusterLike = None) -> tuple[pl.DataFrame, ...]:
    """Compare pairs of groups of stimuli, then of raters, for each attribute by itself.

    Stimuli and raters are random, and so is what raters make of groups of stimuli, where each of
    them rated several, and how stimuli differ between groups of raters, where several rated each.
    What stimuli were drawn with, such as actors, is random, too, in comparisons of stimuli.
    Where the answers are too many for that model, or too few, there is no comparison.

    Returns
    -------
    The contrasts of :func:`affectlab.reliability.mixed_model`, with ``attribute``, ``of`` (stimuli
    or raters), and ``p_holm`` over all pairs and labels.
    """
    found = []
    drawn = stimulus_clusters(answers, cluster).column
    carriers = (("stimulus", "rater", answers.stimuli), ("rater", "stimulus", answers.raters))
    compared = [
        (own, other, table.select(own, name), name)
        for own, other, table in (carriers if answers.scale.kind != "nominal" else ())
        for name in grouping(table)
    ]
    if not compared:
        return ()
    pairs = answers.coded_frame.select("stimulus", "rater").unique()
    rated = pairs.with_columns(pl.col("stimulus", "rater").cast(pl.String))
    for own, other, table, name in compared:
        groups = rated.join(table, on=own)
        within = groups.select(other, name).n_unique() > groups[other].n_unique()
        factors = ["stimulus", "rater", *([f"{other}:{name}"] if within else [])]
        if drawn and own == "stimulus" and name != drawn:
            factors += _of_clusters(answers.stimuli, drawn, name)
        try:
            result = mixed_model(answers, fixed=[name], factors=factors)
        except InputError:
            continue
        contrasts = result.to_frame("contrasts")
        if contrasts.is_empty():
            continue
        corrected = pl.Series("p_holm", holm(contrasts["p"].to_numpy()))
        of = "stimuli" if own == "stimulus" else "raters"
        found.append(contrasts.with_columns(corrected, attribute=pl.lit(name), of=pl.lit(of)))
    return tuple(found)


def _of_clusters(stimuli: pl.DataFrame, drawn: str, name: str) -> list[str]:
    """Random factors of clusters, and of what differs between their parts in several groups."""
    clusters, parts = stimuli[drawn].n_unique(), stimuli.select(drawn, name).n_unique()
    return [drawn, *([f"{drawn}:{name}"] if clusters < parts < stimuli.height else [])]
