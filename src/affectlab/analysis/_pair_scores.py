"""Scores of pairs of faces: one reader for all analyses of expression differences."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias

import polars as pl

from affectlab._words import plural
from affectlab.analysis._pair_table import checked_pairs, with_attributes
from affectlab.errors import InputError, unknown_name
from affectlab.ratings import Ratings, Scale, read_ratings

__all__ = ["PairScores", "PairSource", "pair_scores"]

Score: TypeAlias = Literal["subject-model", "mean"]
_SCORES = ("subject-model", "mean")


@dataclass(frozen=True, eq=False)
class PairScores:
    """How different the two faces of each pair look; see :func:`pair_scores`."""

    frame: pl.DataFrame
    """One row per pair: ``stimulus``, ``kind`` (intra, inter), ``actor``, ``expression_a``,
    ``role_a``, ``expression_b``, ``role_b``, ``value``, ``se``, ``sd`` and ``se_stimulus``."""
    unit: str = "score"
    """What a value is measured in, in words."""
    method: str = "scores as given"
    """How the values came about, in words."""
    notes: tuple[str, ...] = ()
    """What a reader should know, such as pairs left out, in words."""

    def intra(self) -> PairScores:
        """Keep the pairs of frames within one transition; there may be none."""
        return self._only("intra")

    def inter(self) -> PairScores:
        """Keep the pairs of frames of two expressions; there may be none."""
        return self._only("inter")

    def _only(self, kind: str) -> PairScores:
        return replace(self, frame=self.frame.filter(pl.col("kind") == kind))

    @property
    def actors(self) -> tuple[str, ...]:
        """Names of the actors, numbers by size and before words."""
        return tuple(sorted(self.frame["actor"].unique().to_list(), key=_natural))

    @property
    def expressions(self) -> tuple[str, ...]:
        """Names of the expressions on either side, sorted in the same way."""
        both = pl.concat([self.frame["expression_a"], self.frame["expression_b"]])
        return tuple(sorted(both.unique().to_list(), key=_natural))

    def to_frame(self) -> pl.DataFrame:
        """Give the pairs as a polars data frame."""
        return self.frame

    def __len__(self) -> int:
        return self.frame.height

    def __repr__(self) -> str:
        n_intra = int((self.frame["kind"] == "intra").sum())
        parts = (
            plural(len(self), "pair"),
            f"{n_intra:,} intra and {len(self) - n_intra:,} inter",
            plural(len(self.actors), "actor"),
            plural(len(self.expressions), "expression"),
            self.method,
        )
        return f"PairScores({', '.join(parts)})"


PairSource: TypeAlias = PairScores | Ratings | pl.DataFrame | str | Path
"""What analyses of pairs take: ratings, or scores."""


def pair_scores(
    ratings: PairSource,
    *,
    score: Score = "subject-model",
    pairs: pl.DataFrame | str | Path | None = None,
    label: str | None = None,
) -> PairScores:
    """Read scores of pairs of faces, or make them from ratings of the protocol ``difference``.

    Parameters
    ----------
    ratings
        Ratings (people where there are both people and models) whose stimuli carry the attributes
        ``kind``, ``actor``, ``expression_a``, ``role_a``, ``expression_b`` and ``role_b``; or a
        table, or a CSV or Parquet file, with these columns, ``value`` and perhaps ``stimulus``,
        ``se`` (standard error of the value), ``sd`` (standard deviation of its ratings) and
        ``se_stimulus`` (standard error from the ratings of this pair alone). A file with a column
        ``rater`` is read as ratings. :class:`PairScores` come back as they are.
    score
        How ratings become scores: ``"subject-model"``, as in the paper, or ``"mean"``. ``se`` of
        the subject model follows from how inconsistent the raters are, and is one number for all
        pairs that the same people rated. ``se_stimulus`` is how far the ratings of the pair lie
        apart, biases removed: the "standard deviation of the obtained scores" of the paper, which
        is larger where a pair is ambiguous.
    pairs
        Table of pairs, such as ``pairs.csv`` of :func:`~affectlab.stimuli.pair_design`, joined by
        ``stimulus`` where `ratings` lacks the attributes.
    label
        Label to take, where ratings have several.

    Returns
    -------
    PairScores
        Pairs of another kind, such as pairs of known difference, and pairs without a score are
        left out, and ``notes`` say how many.

    Raises
    ------
    InputError
        When a column is missing, a cell is empty or no number, a pair stands twice, or no pair has
        a score.

    References
    ----------
    Saha et al. (2025), FaceExpressions-70k, section 3.4.7.

    Examples
    --------
    >>> table = pl.DataFrame({
    ...     "actor": ["ann", "ann"], "expression_a": ["joy", "joy"], "role_a": ["peak", "peak"],
    ...     "expression_b": ["joy", "fear"], "role_b": ["neutral", "peak"], "value": [60.5, 71.0],
    ... })
    >>> pair_scores(table)
    PairScores(2 pairs, 1 intra and 1 inter, 1 actor, 2 expressions, scores as given)
    """
    if score not in _SCORES:
        raise unknown_name("score", score, _SCORES)
    if isinstance(ratings, PairScores):
        return ratings
    told = None if pairs is None else _pairs_table(pairs)
    if isinstance(ratings, str | Path):
        from affectlab.stimuli._tables import read_table

        table = read_table(ratings, "scores of pairs")
        if "rater" in table.columns:
            return _of_ratings(read_ratings(ratings), score, told, label)
        try:
            return _of_table(table, told)
        except InputError as problem:
            raise InputError(f"{ratings}: {problem}") from None
    if isinstance(ratings, Ratings):
        return _of_ratings(ratings, score, told, label)
    return _of_table(_frame(ratings), told)


def _frame(given: Any) -> pl.DataFrame:
    from affectlab.ratings._frames import as_frame

    return as_frame(given, what="the table of scores")


def _pairs_table(pairs: pl.DataFrame | str | Path) -> pl.DataFrame:
    if not isinstance(pairs, str | Path):
        return _frame(pairs)
    from affectlab.stimuli._tables import read_table

    return read_table(pairs, "pairs")


def _of_table(table: pl.DataFrame, pairs: pl.DataFrame | None) -> PairScores:
    if "rater" in table.columns:
        raise InputError(
            "column 'rater' says that these are ratings, not scores; expected Ratings(table), or "
            "one score for each pair"
        )
    frame, notes = checked_pairs(table if pairs is None else with_attributes(table, pairs))
    return PairScores(frame, notes=notes)


def _of_ratings(
    ratings: Ratings, score: Score, pairs: pl.DataFrame | None, label: str | None
) -> PairScores:
    from affectlab.reliability import mean_opinion_scores, subject_model

    people = _one_label(_people(ratings), label)
    means = mean_opinion_scores(people).to_frame()
    said: tuple[str, ...] = ()
    if score == "mean":
        scored, method = means, "mean opinion scores"
        own = means
    else:
        model = subject_model(people)
        scored, method, said = model.to_frame(), f"subject model, {model.method}", model.notes
        own = replace(model, se="stimulus").to_frame()
    errors = own.select("stimulus", pl.col("se").alias("se_stimulus"))
    spread = means.select("stimulus", "sd").join(errors, on="stimulus", how="left")
    table = scored.select("stimulus", "value", "se").join(
        spread, on="stimulus", how="left", maintain_order="left"
    )
    table = with_attributes(table, people.stimuli)
    frame, notes = checked_pairs(table if pairs is None else with_attributes(table, pairs))
    n_people = people.answers().n_raters
    of = f"{method} of {plural(n_people, 'rater')}"
    return PairScores(frame, _unit(people.scale), of, (*said, *notes))


def _people(ratings: Ratings) -> Ratings:
    """Keep people where there are both people and models."""
    kinds = set(ratings.rater_kinds)
    both = kinds & {"model", "baseline"} and kinds & {"human", "simulated"}
    return ratings.humans() if both else ratings


def _one_label(ratings: Ratings, label: str | None) -> Ratings:
    if label is not None:
        if not ratings.has_labels:
            raise InputError(f"label {label!r}: the ratings have no labels")
        return ratings.select(labels=label)
    if ratings.has_labels and ratings.n_labels > 1:
        raise InputError(
            f"the ratings have {ratings.n_labels} labels; expected label to be one of: "
            f"{', '.join(ratings.label_names[:8])}{', …' if ratings.n_labels > 8 else ''}"
        )
    return ratings


def _unit(scale: Scale) -> str:
    if scale.low is None or scale.high is None:
        return "score"
    return f"score, {scale.low:g} to {scale.high:g}"


def _natural(name: str) -> tuple[int, float, str]:
    """Sort whole numbers by size and before words."""
    return (0, float(name), name) if name.isdecimal() else (1, 0.0, name)
