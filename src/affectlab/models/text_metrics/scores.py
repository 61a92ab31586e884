"""Scores of texts: one number each, and what is needed to read it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import polars as pl

from affectlab.core.arrays import ratio
from affectlab.core.errors import InputError, check_choice
from affectlab.core.estimates import Estimates
from affectlab.core.facts import Cause, IntervalFact, Reason
from affectlab.core.inference import Uncertainty, check_confidence, draw_weights, summarise
from affectlab.core.tables import Count, Interval, Value
from affectlab.core.types import Bools, Floats, Ints
from affectlab.core.words import count, number, plural
from affectlab.models.text import TruncatedTextWarning
from affectlab.models.text_metrics.items import TextItem

__all__ = [
    "OverReferences",
    "TextScores",
    "check_over",
    "names_of",
    "over_references",
    "score_means",
    "warn_of_cut_items",
]

OverReferences: TypeAlias = Literal["mean", "max"]


@dataclass(frozen=True, eq=False)
class TextScores:
    """What a metric says of n texts."""

    metric: str
    """Its name, with model, direction and settings."""
    scores: Floats
    """Shape (n,)."""
    items: tuple[str, ...]
    """Names of the items; their numbers where they have none."""
    n_tokens: Ints
    """Tokens of the candidate as the model cuts it, marks of start and end included, before what
    is too long was cut off; shape (n,)."""
    n_reference_tokens: Ints
    """The most tokens of a reference; 0 where none is read; shape (n,)."""
    truncated: Bools
    """Whether the candidate or a reference is longer than the model reads; shape (n,)."""
    limit: int
    """Tokens that the model reads."""
    model: str
    """The checkpoint."""
    direction: str
    """From what to what it is computed."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    parts: Mapping[str, Floats] = field(default_factory=dict)
    """Numbers that the score is made of, by the full names of metrics; each of shape (n,)."""

    @property
    def mean(self) -> float:
        """Mean over items, the score of a corpus; ``nan`` where there is none."""
        return float(self.scores.mean()) if len(self.scores) else float("nan")

    def __len__(self) -> int:
        return len(self.scores)

    def to_frame(self, *, parts: bool = False) -> pl.DataFrame:
        """Give a tidy table: item, metric, score, n_tokens, n_reference_tokens, truncated.

        Parameters
        ----------
        parts
            Also what the score is made of, as metrics of their own.
        """

        def rows(name: str, values: Floats) -> pl.DataFrame:
            return pl.DataFrame(
                {
                    "item": list(self.items),
                    "metric": [name] * len(self),
                    "score": values,
                    "n_tokens": self.n_tokens,
                    "n_reference_tokens": self.n_reference_tokens,
                    "truncated": self.truncated,
                },
                schema_overrides={"item": pl.String, "metric": pl.String},
            )

        more = self.parts.items() if parts else ()
        return pl.concat([rows(self.metric, self.scores), *(rows(*one) for one in more)])


def names_of(items: Sequence[TextItem]) -> tuple[str, ...]:
    """Give the names of items for tables."""
    return tuple(item.item or str(place) for place, item in enumerate(items))


def check_over(over: str) -> None:
    """Refuse what is no way to bring several references together."""
    check_choice("references", over, get_args(OverReferences))


def over_references(values: Floats, sizes: Ints, over: OverReferences) -> Floats:
    """Bring the values of several references of each item together.

    Parameters
    ----------
    values
        Shape (pairs,), item after item.
    sizes
        References of each item, 1 or more, shape (n,).

    Returns
    -------
    ndarray
        Shape (n,).

    Examples
    --------
    >>> over_references(np.array([1.0, 3.0, 5.0]), np.array([2, 1]), "mean")
    array([2., 5.])
    """
    if not len(sizes):
        return np.zeros(0)
    start = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    if over == "max":
        largest: Floats = np.maximum.reduceat(values, start)
        return largest
    total: Floats = np.add.reduceat(values, start)
    return total / sizes


def warn_of_cut_items(metric: str, truncated: Bools, limit: int, longest: int) -> None:
    """Warn of items whose texts are not read to the end."""
    n = int(truncated.sum())
    if n:
        warnings.warn(
            f"{metric}: {count(n)} of {plural(len(truncated), 'item')} with a text longer than the "
            f"{count(limit)} tokens that the model reads (the longest has {count(longest)}); the "
            "rest of it is not read",
            TruncatedTextWarning,
            stacklevel=3,
        )


# Means of scores by group, with bootstrap intervals from shared draws.


def score_means(
    scores: Sequence[TextScores],
    groups: Mapping[str, Sequence[str | None]] | None = None,
    *,
    clusters: Sequence[str] | None = None,
    n_boot: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Estimates:
    """Give the mean of each metric, over all items and by group.

    Items, or clusters of them, are drawn once for all metrics and groups. A group that is missing
    (None) in an item leaves the item out of that attribute.

    Parameters
    ----------
    scores
        Of one or more metrics on the same n items.
    groups
        For each attribute, the group of each item, n of them.
    clusters
        What items belong to, such as the image they are about, n of them; clusters are drawn
        instead of items, since scores about one image are alike.
    n_boot
        Bootstrap replicates; 0: no intervals.
    confidence
        Coverage that is aimed at.

    Returns
    -------
    Estimates
        Keys: metric, attribute and group; ``all`` and ``all`` first.

    Raises
    ------
    InputError
        When lengths differ, there is no score, or the confidence is off.

    References
    ----------
    Deng et al. (2023), Socratis, Table 2, which prints such means without intervals.

    Examples
    --------
    >>> from affectlab.models.text_metrics import TextScores
    >>> none = np.zeros(4, dtype=np.int64)
    >>> one = TextScores("CLIPScore", np.array([0.7, 0.8, 0.7, 0.9]), ("a", "b", "c", "d"), none,
    ...                  none, none > 0, 77, "clip", "image and candidate")
    >>> found = score_means([one], {"preferred": ["machine", "machine", "human", "human"]})
    >>> round(found["CLIPScore", "preferred", "human"].value, 2)
    0.8
    """
    check_confidence(confidence)
    if not scores:
        raise InputError("there are no scores; expected those of one metric or more")
    n = len(scores[0])
    for one in scores:
        if one.items != scores[0].items:
            raise InputError(
                f"{one.metric} and {scores[0].metric} are about other items; expected the same"
            )
    told_of = {**(groups or {}), **({"clusters": clusters} if clusters else {})}
    for name, given in told_of.items():
        if len(given) != n:
            raise InputError(f"{name}: {len(given)} values for {n} items; expected as many")
    keys = [("all", "all")]
    members = [np.ones(n)]
    for attribute, given in (groups or {}).items():
        for level in sorted({str(group) for group in given if group is not None}):
            keys.append((attribute, level))
            members.append(
                np.array([float(group is not None and str(group) == level) for group in given])
            )
    inside = np.stack(members)
    values = np.stack([one.scores for one in scores])
    sums = np.einsum("gn,mn->mgn", inside, values)
    unit = _units(clusters, n)
    n_units = int(unit.max()) + 1 if n else 0
    # By unit: what each adds to the sum and to the count of each group.
    by_unit = _by_unit(sums.reshape(-1, n), unit, n_units).reshape(len(scores), len(keys), n_units)
    counts = _by_unit(inside, unit, n_units)
    point = ratio(sums.sum(axis=2), inside.sum(axis=1)).ravel()
    units = "clusters" if clusters else "stimuli"
    if n_boot and n_units:
        rng = np.random.default_rng(seed)
        replicates = np.concatenate(
            [
                ratio(
                    np.einsum("bu,mgu->bmg", weights, by_unit),
                    np.einsum("bu,gu->bg", weights, counts)[:, None],
                ).reshape(len(weights), -1)
                for weights in draw_weights(rng, n_units, n_boot)
            ]
        )
        told = summarise(point, replicates, confidence)
        drawn: list[IntervalFact | None] = [
            IntervalFact("percentile", (units,), replicates=n_boot, undefined=k)
            for k in told.undefined.tolist()
        ]
    else:
        told = Uncertainty.none(point.size)
        drawn = [None] * point.size
    sizes = inside.sum(axis=1).astype(int)
    made = Estimates.build(
        {
            "metric": [one.metric for one in scores for _ in keys],
            "attribute": [key[0] for _ in scores for key in keys],
            "group": [key[1] for _ in scores for key in keys],
        },
        value=point,
        se=told.se,
        low=told.low,
        high=told.high,
        statistic="mean over items",
        interval=drawn,
        target=units,
        n_items=np.tile(sizes, len(scores)),
        n_ratings=np.tile(sizes, len(scores)),
        reason=[
            Reason(Cause.NONE, of="item") if math.isnan(value) else why
            for value, why in zip(point, told.missing, strict=True)
        ],
    )
    whole = "; ".join(f"{one.metric} {number(one.mean, 3)}" for one in scores)
    shown = Count("n_items", "texts"), Value(head="mean"), Interval()
    return replace(
        made.with_layout(*shown, name="means", caption="Mean scores."),
        sentences=(f"Scores of {plural(n, 'text')}, on average: {whole}.",),
    )


def _units(clusters: Sequence[str] | None, n: int) -> Ints:
    if not clusters:
        return np.arange(n)
    return np.unique(np.array([str(one) for one in clusters]), return_inverse=True)[1].reshape(-1)


def _by_unit(rows: Floats, unit: Ints, n_units: int) -> Floats:
    """Add up the columns of each unit; shape (rows, units)."""
    return np.stack([np.bincount(unit, weights=row, minlength=n_units) for row in rows])
