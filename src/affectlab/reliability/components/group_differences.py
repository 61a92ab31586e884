"""Differences in level between groups of stimuli, and of raters, attribute by attribute."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.inference import check_confidence, holm
from affectlab.core.result import Result
from affectlab.core.tables import Interval, Key, Number, PValue, Table, Text
from affectlab.core.words import shown
from affectlab.ratings import ClusterLike, Ratings, labels_on, people_or_all, stimulus_clusters
from affectlab.reliability.components import wording
from affectlab.reliability.components.fixed_effects import mixed_model

MOST_GROUPS, FEWEST_IN_GROUP = 8, 5
"""Groups that an attribute makes at most, and stimuli, or raters, that each needs."""
NO_GROUPS = ("file", "image", "path", "url", "src", "filename", "control", "of")
"""Attributes that lead to a stimulus, or say which other one it controls."""
_MOST_ATTRIBUTES = 4
_SURE = 0.05


def group_differences(
    ratings: Ratings,
    *,
    everyone: bool = False,
    confidence: float = 0.95,
    cluster: ClusterLike = None,
) -> Result:
    """Compare groups of stimuli, and of raters, on every attribute that makes groups.

    Each attribute is compared by itself, by :func:`mixed_model`. Stimuli and raters are random, and
    so is what raters make of groups of stimuli, where each of them rated several, and how stimuli
    differ between groups of raters, where several rated each. What stimuli were drawn with, such as
    actors, is random, too, in comparisons of stimuli.

    Parameters
    ----------
    ratings
        Answers with an order. Attributes of stimuli and of raters that are words or yes/no, are
        known of all, and make two to eight groups of five or more are compared, the first four of
        each.
    everyone
        Take models in, too; without it only people where there are any.
    confidence
        Coverage of the intervals, in (0, 1).
    cluster
        What stimuli belong to: a column of the stimulus table, or a mapping from stimulus to
        cluster; ``"none"`` for stimuli taken one by one.

        By default a column like ``actor``, ``identity``, ``speaker``, ``film`` or ``author`` that
        several stimuli share.

    Returns
    -------
    Result
        The contrasts of :func:`mixed_model`, with ``attribute``, ``of`` (stimuli or raters), and
        ``p_holm``, corrected over all pairs and labels of an attribute; the smallest p first. An
        attribute for which there are too many answers, or too few, is left out.

    Raises
    ------
    InputError
        When no attribute makes groups that can be compared.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> stimulus, rater = (part.ravel() for part in np.indices((20, 6)))
    >>> gender, value = np.array(["f", "m"])[stimulus % 2], 3 + stimulus % 2
    >>> columns = {"stimulus": stimulus, "rater": rater, "gender": gender,
    ...            "value": value + rng.integers(0, 3, 120)}
    >>> found = group_differences(Ratings(columns, scale="1-7"))
    >>> found.to_frame().select("attribute", "a", "b").row(0)
    ('gender', 'f', 'm')
    """
    check_confidence(confidence)
    panel = ratings if everyone else people_or_all(ratings)
    ordered = labels_on(panel, lambda scale: scale.kind not in ("nominal", "text"))
    if ordered is None:
        raise InputError(f"{wording.NO_ORDER}; expected numbers, or yes and no")
    ordered = ordered.answers()
    drawn = stimulus_clusters(ordered, cluster)
    frames = list(_contrasts(ordered, drawn.column, confidence))
    if not frames:
        raise InputError(wording.NO_ATTRIBUTES)
    compared = {(frame["of"][0], frame["attribute"][0]) for frame in frames}
    # Actors that are compared with each other are no sample of actors.
    sampled = any(of == "stimuli" and name != drawn.column for of, name in compared)
    random = wording.drawn_with(drawn.units if drawn.column and sampled else "")
    columns = (
        Key("attribute"),
        Text("of", spare=True),
        *([Key("label")] if ordered.has_labels else []),
        Key("a", "group"),
        Key("b", "less"),
        Number("value", "difference"),
        Interval(),
        PValue("p", spare=True),
        PValue("p_holm", "p (Holm)"),
    )
    every = pl.concat(frames).sort(pl.col("p").fill_nan(None), nulls_last=True, maintain_order=True)
    table = Table("differences", wording.differences_caption(random), every, columns)
    return Result((table,), tuple(_sentences(frames, has_labels=ordered.has_labels)))


def _contrasts(ratings: Ratings, drawn: str, confidence: float) -> Iterator[pl.DataFrame]:
    """Compare the groups of each attribute, of stimuli, then of raters."""
    carriers = (("stimulus", "rater", ratings.stimuli), ("rater", "stimulus", ratings.raters))
    pairs = ratings.coded_frame.select("stimulus", "rater").unique()
    rated = pairs.with_columns(pl.col("stimulus", "rater").cast(pl.String))
    for own, other, table in carriers:
        for name in _attributes(table):
            groups = rated.join(table.select(own, name), on=own)
            within = groups.select(other, name).n_unique() > groups[other].n_unique()
            factors = ["stimulus", "rater", *([f"{other}:{name}"] if within else [])]
            if drawn and own == "stimulus" and name != drawn:
                factors += _of_clusters(ratings.stimuli, drawn, name)
            try:
                found = mixed_model(
                    ratings, fixed=[name], factors=factors, everyone=True, confidence=confidence
                )
            except InputError:
                continue
            contrasts = found.to_frame("contrasts")
            if contrasts.height:
                yield contrasts.with_columns(
                    pl.Series("p_holm", holm(contrasts["p"].to_numpy())),
                    attribute=pl.lit(name),
                    of=pl.lit("stimuli" if own == "stimulus" else "raters"),
                )


def _attributes(table: pl.DataFrame) -> list[str]:
    """Name attributes that are known of all and make groups of what is in the first column."""
    found = []
    for column in table.drop("rater_kind", strict=False).get_columns()[1:]:
        if column.name.casefold() in NO_GROUPS or column.dtype not in (pl.String, pl.Boolean):
            continue
        sizes = column.value_counts()["count"].to_list()
        known = column.null_count() == 0
        if known and 2 <= len(sizes) <= MOST_GROUPS and min(sizes) >= FEWEST_IN_GROUP:
            found.append(column.name)
    return found[:_MOST_ATTRIBUTES]


def _of_clusters(stimuli: pl.DataFrame, drawn: str, name: str) -> list[str]:
    """Random factors of clusters, and of what differs between their parts in several groups."""
    clusters, parts = stimuli[drawn].n_unique(), stimuli.select(drawn, name).n_unique()
    return [drawn, *([f"{drawn}:{name}"] if clusters < parts < stimuli.height else [])]


def _sentences(frames: list[pl.DataFrame], *, has_labels: bool) -> Iterator[str]:
    """Say how the groups of each attribute differ that are furthest apart."""
    without = []
    for frame in frames:
        called = wording.attribute_called(
            frame["attribute"][0],
            of_raters=frame["of"][0] == "raters",
            is_flag=set(frame["a"]) | set(frame["b"]) == {"true", "false"},
        )
        sure = frame.filter(pl.col("p_holm") <= _SURE)
        if sure.is_empty():
            without.append(called)
            continue
        size = (pl.col("value") / pl.col("se")).abs()
        first = sure.sort(size, descending=True, maintain_order=True).row(0, named=True)
        what = shown(first["label"]) if has_labels else ""
        yield wording.group_difference(called, what, first, sure.height, frame.height)
    if without:
        yield wording.no_difference(without)
