"""From ratings to what people said about each stimulus: means, and how many chose each label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from affectlab.analysis import wording
from affectlab.core.arrays import as_floats, names_of, ratio
from affectlab.core.errors import InputError
from affectlab.core.types import Bools, Floats, Ints
from affectlab.ratings import Ratings, answers_of, numeric_part, people_or_all


@dataclass(frozen=True)
class Profiles:
    """What the raters of n stimuli said about L labels."""

    stimuli: tuple[str, ...]
    labels: tuple[str, ...]
    mean: Floats
    """Mean answer, shape (n, L), ``nan`` where nobody answered."""
    chosen: Ints
    """Raters who chose the label, shape (n, L)."""
    raters: Ints
    """Raters who answered about the stimulus at all, shape (n,)."""
    asked: Ints
    """Raters who answered about the label of the stimulus, shape (n, L)."""
    n_raters: int
    n_ratings: int
    rule: str
    """What counts as choosing, in words."""
    given_shares: Floats | None = None
    """Shares of raters that were given in place of answers, shape (n, L)."""

    def chosen_by(self, min_raters: int | None) -> Bools:
        """Say which labels so many raters chose; None: at least half of those asked about it.

        Returns
        -------
        Shape (n, L).
        """
        if min_raters is None and self.given_shares is not None:
            return np.asarray(self.given_shares >= 0.5)
        if min_raters is None:
            needed = np.maximum((self.asked + 1) // 2, 1)
        else:
            needed = np.full_like(self.asked, max(min_raters, 1))
        return np.asarray(self.chosen >= needed)

    @property
    def shares(self) -> Floats:
        """Share of those asked about the label who chose it, in [0, 1], shape (n, L)."""
        if self.given_shares is not None:
            return self.given_shares
        return self.chosen / np.maximum(self.asked, 1)


def profiles_of(ratings: Ratings) -> Profiles:
    """Summarise the people's answers about each stimulus that was answered.

    On a nominal scale without labels the categories are the labels, and an answer chooses one. On
    other scales an answer chooses its label when it is above the lowest value of the scale, or
    above 0 where the scale goes below 0.

    Parameters
    ----------
    ratings
        Main trials with a valid answer count; of a rater's repeats the first.

    Raises
    ------
    InputError
        If the answers are text, or about labels on a nominal scale.
    """
    ratings = numeric_part(ratings)
    scale = ratings.scale
    answers = answers_of(people_or_all(ratings))
    nominal = scale.kind == "nominal"
    if nominal:
        if ratings.has_labels:
            raise InputError(
                f"the answers are categories ({scale}) for each of {len(answers.labels)} labels; "
                "expected numbers for each label, or one category per stimulus"
            )
        answers = answers.of_categories(scale.categories)
    label, value, labels = answers.label, answers.value, answers.labels
    lowest = float(value.min(initial=0.0)) if scale.low is None else scale.low
    bottom = max(lowest, 0.0)
    n, n_labels = len(answers.units), len(labels)
    cell = answers.unit * n_labels + label
    count = np.bincount(cell, minlength=n * n_labels).reshape(n, n_labels)
    total = np.bincount(cell, weights=value, minlength=n * n_labels).reshape(n, n_labels)
    picked = np.ones(value.size, dtype=np.bool_) if nominal else value > bottom
    chosen = np.bincount(cell[picked], minlength=n * n_labels).reshape(n, n_labels)
    raters = answers.raters_per_unit()
    if nominal:
        # Who chose one category has answered about all of them.
        count = np.repeat(raters[:, None], n_labels, axis=1)
    mean = ratio(total, count)
    seen = np.flatnonzero(raters > 0)
    every = seen.size == n
    return Profiles(
        answers.units if every else tuple(answers.units[k] for k in seen),
        tuple(labels),
        mean if every else mean[seen],
        chosen.astype(np.int64)[seen],
        raters.astype(np.int64)[seen],
        count.astype(np.int64)[seen],
        int(np.unique(answers.rater).size),
        int(value.size),
        wording.CHOSEN_CATEGORY if nominal else wording.answer_above(bottom),
    )


def vectors_of(data: Ratings | ArrayLike, labels: Sequence[str] | None) -> Profiles:
    """Read ratings, or an array of shape (stimuli, labels) that holds one vector per stimulus."""
    if isinstance(data, Ratings):
        if labels is not None:
            raise InputError("labels: ratings name their own; expected None")
        return profiles_of(data)
    mean = as_floats(data, "expected ratings, or an array of numbers (stimuli, labels)").copy()
    if mean.ndim != 2 or 0 in mean.shape:
        raise InputError(f"expected an array of shape (stimuli, labels), got shape {mean.shape}")
    if np.isinf(mean).any():
        row, column = np.argwhere(np.isinf(mean))[0]
        raise InputError(f"stimulus {row}, label {column} is infinite; expected a number or nan")
    n, n_labels = mean.shape
    given = [f"label {k}" for k in range(n_labels)] if labels is None else labels
    names = names_of("labels", given, n_labels)
    known = np.where(np.isnan(mean), 0.0, mean)
    chosen = known > 0
    is_share = known.min() >= 0 and known.max() <= 1
    return Profiles(
        tuple(map(str, range(n))),
        tuple(names),
        mean,
        chosen.astype(np.int64),
        np.ones(n, dtype=np.int64),
        np.isfinite(mean).astype(np.int64),
        1,
        int(np.isfinite(mean).sum()),
        wording.HALF_OR_MORE if is_share else "a value above 0",
        known if is_share else None,
    )


def neutral_label(data: Ratings | ArrayLike, labels: Sequence[str]) -> str | None:
    """Find the label that stands for no emotion, if there is one."""
    taxonomy = data.taxonomy if isinstance(data, Ratings) else None
    name = "neutral" if taxonomy is None else taxonomy.neutral
    if taxonomy is not None and name is not None:
        return next(
            (each for each in labels if each in taxonomy and taxonomy.name_of(each) == name), None
        )
    return name if name in labels else None


def label_groups(data: Ratings | ArrayLike, labels: Sequence[str]) -> tuple[str, ...] | None:
    """Find the sentiment of each label; None when the taxonomy does not say."""
    taxonomy = data.taxonomy if isinstance(data, Ratings) else None
    return None if taxonomy is None else taxonomy.sentiments(labels)


def texts_of(ratings: Ratings, column: str) -> list[str | None]:
    """Read the texts of the stimuli, in the order of their codes.

    A column of the answers does as well, when it has one text per stimulus.

    Raises
    ------
    InputError
        When there is no such column, or it holds no texts.
    """
    import polars as pl

    stimuli, rows = ratings.stimuli, ratings.frame
    if column in stimuli.columns and column != "stimulus":
        texts = stimuli[column]
    elif column in rows.columns and column not in ("stimulus", "rater", "label", "value"):
        per_stimulus = rows.group_by(pl.col("stimulus").cast(pl.String)).agg(
            pl.col(column).drop_nulls().first(), n=pl.col(column).drop_nulls().n_unique()
        )
        if (per_stimulus["n"] > 1).any():
            raise InputError(
                f"column {column!r} differs between answers to the same stimulus; expected the "
                "text of the stimulus"
            )
        every = pl.DataFrame({"stimulus": ratings.stimulus_names})
        texts = every.join(per_stimulus, on="stimulus", how="left", maintain_order="left")[column]
    else:
        found = ", ".join(name for name in stimuli.columns if name != "stimulus") or "none"
        raise InputError(
            f"the stimuli have no attribute {column!r}; expected their texts (attributes: {found})"
        )
    if texts.dtype not in (pl.String, pl.Categorical) and not isinstance(texts.dtype, pl.Enum):
        raise InputError(f"attribute {column!r} of the stimuli is {texts.dtype}; expected texts")
    given: list[str | None] = texts.cast(pl.String).to_list()
    return given
