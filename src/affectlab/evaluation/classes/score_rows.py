"""Answers of raters as one row per rater and stimulus, with a score for every label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
import polars as pl

from affectlab.core.arrays import places_in
from affectlab.core.errors import InputError, check_choices
from affectlab.core.types import Bools, Floats, Ints
from affectlab.core.words import option
from affectlab.ratings import Ratings, answers_of

Form: TypeAlias = Literal["nominal", "binary", "scale"]


@dataclass(frozen=True, eq=False)
class ScoreRows:
    """Answers, one row per rater and stimulus, sorted by rater, then stimulus."""

    raters: tuple[str, ...]
    kinds: tuple[str, ...]
    stimuli: tuple[str, ...]
    labels: tuple[str, ...]
    rater: Ints
    """Code of the rater of each row, shape (m,)."""
    stimulus: Ints
    """Code of the stimulus of each row, shape (m,)."""
    scores: Floats
    """Shape (m, number of labels), ``nan`` where a label has no answer; 0 and 1 for a nominal or
    binary form."""
    form: Form
    """``nominal``: a row names one label; ``binary``: yes or no to each; ``scale``: any score."""
    unmapped: Bools
    """Rows whose answer is a label that belongs to no class, shape (m,)."""
    declared: bool = True
    """Whether the labels are all that could be answered, rather than all that were."""

    @property
    def offered(self) -> Ints:
        """Places of the labels that could be answered, as far as is known."""
        if self.declared or self.form != "nominal":
            return np.arange(len(self.labels))
        return np.flatnonzero((self.scores > 0).any(axis=0))

    @property
    def names_sets(self) -> bool:
        """Whether a row says yes to several labels, so that a stimulus has a set of classes."""
        return self.form != "scale" and bool(((self.scores == 1).sum(axis=1) > 1).any())

    def on_stimuli(self, stimuli: Sequence[str]) -> ScoreRows:
        """Keep the rows of some stimuli, and code them in the order given."""
        code = places_in(stimuli, self.stimuli)
        found = code[self.stimulus] if len(code) else np.zeros(0, dtype=np.int64)
        order = np.lexsort((found, self.rater))
        rows = order[found[order] >= 0]
        return replace(
            self,
            stimuli=tuple(stimuli),
            rater=self.rater[rows],
            stimulus=found[rows],
            scores=self.scores[rows],
            unmapped=self.unmapped[rows],
        )

    def with_labels(
        self, labels: Sequence[str], scores: Floats, unmapped: Bools | None
    ) -> ScoreRows:
        """Give the rows other labels, with their scores."""
        missed = self.unmapped if unmapped is None else self.unmapped | unmapped
        return replace(self, labels=tuple(labels), scores=scores, unmapped=missed)


def score_rows(ratings: Ratings) -> ScoreRows:
    """Bring the answers of a table into rows of scores.

    Of repeated answers of a rater to the same stimulus and label, the first counts.

    Raises
    ------
    InputError
        When the answers are text, or one number without labels.
    """
    scale = ratings.scale
    where = ratings.source or "the ratings"
    if scale.kind == "nominal":
        if ratings.n_labels > 1:
            raise InputError(
                f"{where}: there are {ratings.n_labels} labels, and the answers are names "
                f"({scale}); expected one named class per stimulus; where they are scores, declare "
                f"their scale ({option('models_scale', '0-1 interval')})"
            )
        labels: tuple[str, ...] = scale.categories
    elif scale.kind == "text" or not ratings.has_labels:
        raise InputError(
            f"{where}: the answers ({scale}) name no class; expected class names on a nominal "
            "scale, or answers to labels"
        )
    else:
        labels = ratings.label_names
    answers = answers_of(ratings)
    if scale.kind == "nominal":
        ballots = answers.of_categories(labels).ballots()
        scores = np.nan_to_num(ballots.value)
    else:
        ballots = answers.ballots()
        scores = ballots.value
    order = np.argsort(ballots.rater, kind="stable")
    form: Form = scale.kind if scale.kind in ("nominal", "binary") else "scale"
    return ScoreRows(
        answers.raters,
        answers.rater_kinds,
        answers.units,
        labels,
        ballots.rater[order],
        ballots.unit[order],
        scores[order],
        form,
        np.zeros(order.size, dtype=bool),
        scale.declared,
    )


def score_variants(ratings: Ratings, columns: Sequence[str]) -> Ratings:
    """Take several columns of scores as answers of so many raters, to be judged side by side.

    Some files hold more than one score per label, such as the raw one and one from which a neutral
    mean was taken off; they stand beside ``value`` in :attr:`Ratings.frame`.

    Parameters
    ----------
    ratings
        A table in which each row has these columns.
    columns
        ``"value"`` and other columns of numbers. With several, each rater becomes one rater per
        column, named ``rater (column)``.

    Returns
    -------
    Ratings
        On an interval scale unless only ``value`` is taken.

    Raises
    ------
    InputError
        When a column is not there or holds no numbers.

    Examples
    --------
    >>> table = Ratings({"stimulus": ["a", "a"], "rater": ["net", "net"], "label": ["joy", "fear"],
    ...                  "value": [2.0, 1.0], "softmax": [0.7, 0.3]}, scale="interval")
    >>> score_variants(table, ["value", "softmax"]).rater_names
    ('net (value)', 'net (softmax)')
    """
    wanted = list(dict.fromkeys(columns))
    if not wanted:
        raise InputError("scores: expected the name of at least one column")
    frame = ratings.to_frame()
    numbers = [name for name in frame.columns if frame.schema[name].is_numeric()]
    check_choices("column of scores", wanted, numbers, ratings.source)
    if wanted == ["value"]:
        return ratings
    parts, tables = [], []
    for name in wanted:
        own = pl.col("rater") if len(wanted) == 1 else pl.format("{} ({})", "rater", pl.lit(name))
        rest = [column for column in frame.columns if column not in numbers]
        parts.append(
            frame.select(*rest, pl.col(name).cast(pl.Float64).alias("value")).with_columns(
                own.alias("rater")
            )
        )
        tables.append(ratings.raters.with_columns(own.alias("rater")))
    return Ratings(
        pl.concat(parts),
        scale="interval",
        raters=pl.concat(tables),
        stimuli=ratings.stimuli,
        taxonomy=ratings.taxonomy,
        source=ratings.source,
    )
