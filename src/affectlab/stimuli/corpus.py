"""From what raters said of texts to a labelled corpus: agreed labels, splits and their counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.core.errors import InputError
from affectlab.ratings import Ratings
from affectlab.stimuli.quotas import largest_remainder

__all__ = ["LabelledCorpus", "labelled_corpus"]

SPLITS: Mapping[str, float] = {"train": 0.8, "dev": 0.1, "test": 0.1}


@dataclass(frozen=True, eq=False)
class LabelledCorpus:
    """A labelled corpus and what it was made from; see :func:`labelled_corpus`."""

    examples: pl.DataFrame
    """``stimulus``, ``split``, ``labels`` (joined by ``|``), ``n_raters``, then the attributes of
    the stimuli, such as ``text``."""
    low_agreement: pl.DataFrame
    """Stimuli without an agreed label, with the labels that single raters chose."""
    labels_per_example: pl.DataFrame
    """``labels`` (0, 1, 2, …), ``before`` and ``after`` the labels of too few raters were dropped:
    numbers of stimuli."""
    statistics: dict[str, Any]
    """The counts of GoEmotions' Table 2, shares as fractions."""

    def __len__(self) -> int:
        return self.examples.height


def labelled_corpus(
    ratings: Ratings,
    *,
    agree: int = 2,
    splits: Mapping[str, float] | None = None,
    keep_together: str | None = "text",
    seed: int = 0,
) -> LabelledCorpus:
    """Make training data from raw answers (goemotions, sections 3.4, 5.1 and appendix F).

    A label stands when at least `agree` raters chose it. Stimuli on which no label stands are set
    aside: people disagree about them, which is worth knowing and not worth learning. The rest is
    split at random.

    Parameters
    ----------
    ratings
        Binary answers, 1 for a chosen label. An answer that is missing (unclear, refused) chooses
        nothing; a rater who answered twice counts once.
    agree
        Raters who must choose a label.
    splits
        Names and weights of the parts; None for train, dev and test with .8, .1 and .1.
    keep_together
        Attribute of the stimuli: those that have it in common come into the same part, so that no
        text is both learned from and tested on. None to split stimuli one by one, with exact
        sizes; otherwise sizes are off by at most the largest such group.
    seed
        Draws the parts; the order of rows and stimuli means nothing.

    Raises
    ------
    InputError
        When answers are not binary, `agree` is below 1, a weight is not positive, or no label
        stands anywhere.

    Examples
    --------
    >>> from affectlab.ratings import Ratings
    >>> ticked = [1, 0, 1, 1, 1, 0, 0, 1]
    >>> ratings = Ratings(
    ...     {
    ...         "stimulus": ["a"] * 4 + ["b"] * 4,
    ...         "rater": ["r1", "r1", "r2", "r2"] * 2,
    ...         "label": ["joy", "awe"] * 4,
    ...         "value": ticked,
    ...     },
    ...     scale="binary",
    ... )
    >>> made = labelled_corpus(ratings, keep_together=None)
    >>> made.examples.select("stimulus", "labels").rows(), made.low_agreement["labels"].to_list()
    ([('a', 'joy')], ['joy|awe'])
    """
    if ratings.scale.kind != "binary":
        raise InputError(
            f"the answers are {ratings.scale.kind}: expected binary ones, 1 for a chosen label"
        )
    if "label" not in ratings.coded_frame.columns:
        raise InputError(
            "the ratings have no labels: expected a column of labels, or one column per label "
            "(wide='labels', --wide labels)"
        )
    if agree < 1:
        raise InputError(f"agree = {agree}: expected at least 1 rater")
    parts = dict(SPLITS if splits is None else splits)
    if not parts or any(weight <= 0 for weight in parts.values()):
        raise InputError(f"splits {parts}: expected names with weights above 0")
    answered = ratings.frame.select("stimulus", "rater", "label", "value").unique()
    votes = (
        answered.filter(pl.col("value") == 1)
        .group_by("stimulus", "label")
        .agg(pl.col("rater").n_unique().alias("votes"))
    )
    raters = answered.group_by("stimulus").agg(
        pl.col("rater").n_unique().cast(pl.Int64).alias("n_raters")
    )
    order = {label: place for place, label in enumerate(ratings.label_names)}
    chosen = _joined(votes, order)
    agreed = _joined(votes.filter(pl.col("votes") >= agree), order)
    told = ratings.stimuli.with_columns(pl.col("stimulus").cast(pl.String))
    table = raters.join(told, on="stimulus", how="left").sort("stimulus")
    examples = table.join(agreed, on="stimulus")
    if not examples.height:
        raise InputError(
            f"no label was chosen by {agree} raters anywhere; expected stimuli with several raters"
        )
    examples = examples.sort("stimulus")
    groups = None if keep_together is None else _groups(examples, keep_together)
    examples = examples.with_columns(
        pl.Series("split", _split(examples.height, groups, parts, seed))
    )
    low = table.join(agreed, on="stimulus", how="anti").join(chosen, on="stimulus", how="left")
    first = ["stimulus", "split", "labels", "n_raters"]
    rest = [name for name in told.columns if name != "stimulus"]
    return LabelledCorpus(
        examples.select(*first, *rest),
        low.with_columns(pl.col("labels").fill_null("")).select(
            "stimulus", "labels", "n_raters", *rest
        ),
        _label_counts(table, chosen, agreed),
        _statistics(table, votes, examples, agree, parts),
    )


def _joined(votes: pl.DataFrame, order: Mapping[str, int]) -> pl.DataFrame:
    """Labels of each stimulus in the order of the ratings: ``stimulus``, ``labels``, ``n``."""
    return (
        votes.with_columns(pl.col("label").replace_strict(order).alias("place"))
        .sort("stimulus", "place")
        .group_by("stimulus", maintain_order=True)
        .agg(pl.col("label").str.join("|").alias("labels"), pl.len().alias("n_labels"))
    )


def _groups(examples: pl.DataFrame, attribute: str) -> NDArray[np.int64]:
    """Number of the group of each example; alike texts are those alike but for case and spaces."""
    if attribute not in examples.columns:
        raise InputError(
            f"the stimuli have no attribute {attribute!r}; give another one for keep_together, or "
            "None"
        )
    plain = examples[attribute].cast(pl.String).str.to_lowercase().str.replace_all(r"\s+", " ")
    known = plain.str.strip_chars().fill_null(examples["stimulus"])
    return known.rank("dense").to_numpy().astype(np.int64) - 1


def _split(
    n: int, groups: NDArray[np.int64] | None, parts: Mapping[str, float], seed: int
) -> list[str]:
    """Name the part of each example; groups stay together."""
    own = np.arange(n) if groups is None else groups
    rng = np.random.default_rng(seed)
    sizes = np.bincount(own)
    shuffled = rng.permutation(len(sizes))
    ends = np.cumsum(largest_remainder(list(parts.values()), n))
    # The middle of a group says where it belongs.
    middle = np.cumsum(sizes[shuffled]) - (sizes[shuffled] + 1) / 2
    part_of = np.empty(len(sizes), dtype=np.int64)
    part_of[shuffled] = np.searchsorted(ends, middle, side="right")
    names = list(parts)
    return [names[part] for part in part_of[own]]


def _label_counts(table: pl.DataFrame, chosen: pl.DataFrame, agreed: pl.DataFrame) -> pl.DataFrame:
    counts = []
    for name, found in (("before", chosen), ("after", agreed)):
        per = table.select("stimulus").join(found, on="stimulus", how="left")
        number = per.select(pl.col("n_labels").fill_null(0).cast(pl.Int64).alias("labels"))
        counts.append(number.group_by("labels").len(name))
    both = counts[0].join(counts[1], on="labels", how="full", coalesce=True)
    return both.fill_null(0).sort("labels").cast(pl.Int64)


def _statistics(
    table: pl.DataFrame,
    votes: pl.DataFrame,
    examples: pl.DataFrame,
    agree: int,
    parts: Mapping[str, float],
) -> dict[str, Any]:
    n = table.height
    most = votes.group_by("stimulus").agg(pl.col("votes").max())["votes"]
    labels = examples["n_labels"].to_numpy()
    sizes = dict(examples.group_by("split").len().iter_rows())
    return {
        "n_examples": n,
        "agree": agree,
        "raters_per_example": dict(
            table.group_by("n_raters").len().sort("n_raters").cast(pl.Int64).iter_rows()
        ),
        "labels_per_example": {
            **{str(k): float((labels == k).mean()) for k in (1, 2, 3)},
            "4+": float((labels >= 4).mean()),
        },
        "agreed_by": {
            str(k): {"n": int((most >= k).sum()), "share": float((most >= k).sum()) / n}
            for k in (2, 3)
        },
        "n_kept": examples.height,
        "n_low_agreement": n - examples.height,
        "splits": {name: sizes.get(name, 0) for name in parts},
    }
