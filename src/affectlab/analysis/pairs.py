"""Scores of pairs of faces: one reader for all analyses of expression differences."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import polars as pl

from affectlab.analysis import wording
from affectlab.core.errors import InputError, check_choice
from affectlab.core.files.columns import numbers_of, require_columns, require_distinct
from affectlab.core.files.csv import read_table
from affectlab.core.result import Result
from affectlab.core.tables import Key, Number, Table
from affectlab.core.words import natural, option, plural
from affectlab.ratings import Ratings, of_one_label, people_or_all, read_ratings

# Tables of pairs with scores: what each column must hold.


KINDS = ("intra", "inter")
"""Two frames of one transition, and frames of two expressions of one actor."""
_NAMES = ("actor", "expression_a", "role_a", "expression_b", "role_b")
_NUMBERS = ("value", "se", "sd", "se_stimulus")
COLUMNS = ("stimulus", "kind", *_NAMES, *_NUMBERS)
"""Columns of a checked table, in order."""


def _hint() -> str:
    given = option("pairs", "pairs.csv", cli="--stimuli pairs.csv")
    return f"give the table of pairs ({given})"


def with_attributes(table: pl.DataFrame, pairs: pl.DataFrame) -> pl.DataFrame:
    """Put the attributes of pairs beside scores, by stimulus; what the scores say stays.

    Raises
    ------
    InputError
        When a table has no column ``stimulus``, or the pairs name one twice.
    """
    require_columns(table, ["stimulus"], "the scores: ")
    require_columns(pairs, ["stimulus"], "the table of pairs: ")
    told = pairs.select("stimulus", *(name for name in ("kind", *_NAMES) if name in pairs.columns))
    told = told.with_columns(pl.all().cast(pl.String))
    require_distinct(told, ["stimulus"], "the table of pairs: ")
    own = table.with_columns(pl.col("stimulus").cast(pl.String))
    new = [name for name in told.columns if name == "stimulus" or name not in own.columns]
    return own.join(told.select(new), on="stimulus", how="left", maintain_order="left")


def checked_pairs(table: pl.DataFrame) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Bring a table of pairs with scores into :data:`COLUMNS`, and say what was left out.

    Without a column ``stimulus`` rows are numbered; without ``kind`` a pair within one expression
    is intra, and any other inter; ``se``, ``sd`` and ``se_stimulus`` are ``nan`` where they are not
    given. Pairs of another kind, such as those of known difference, and pairs without a score are
    left out.

    Raises
    ------
    InputError
        When a column is missing, a cell is empty or no number, a stimulus stands twice, a kind
        does not fit its expressions, or no pair has a score.
    """
    require_columns(table, (*_NAMES, "value"), hint=_hint())
    if not table.height:
        raise InputError("there are no pairs; expected one row per pair")
    found_names = _text(table)
    notes = []
    known = found_names["kind"].is_in(KINDS)
    other = found_names.filter(~known.fill_null(True))
    if other.height:
        notes.append(wording.other_kinds(other.height, other["kind"].unique().sort()))
    kept = known.fill_null(True)
    _check_names(found_names.filter(kept))
    unknown = pl.Series([None] * table.height, dtype=pl.Float64)
    numbers = {
        name: numbers_of(table, name) if name in table.columns else unknown for name in _NUMBERS
    }
    whole = found_names.with_columns(**numbers).with_columns(pl.col(_NUMBERS).fill_null(math.nan))
    whole = whole.filter(kept)
    _check_numbers(whole)
    unscored = whole.filter(pl.col("value").is_nan())
    if unscored.height:
        notes.append(wording.unscored(unscored.height))
    whole = whole.filter(pl.col("value").is_not_nan()).select(COLUMNS)
    if not whole.height:
        raise InputError("no pair of kind intra or inter has a score; expected at least one")
    return whole, tuple(notes)


def _text(table: pl.DataFrame) -> pl.DataFrame:
    """Give the names of a table as stripped text, with a stimulus and a kind for every row."""
    rows = pl.int_range(1, pl.len() + 1)
    stimulus = (
        pl.col("stimulus").cast(pl.String).str.strip_chars()
        if "stimulus" in table.columns
        else pl.format("pair {}", rows)
    )
    names = table.select(stimulus.alias("stimulus"), *(_stripped(name) for name in _NAMES))
    if "kind" in table.columns:
        given = table.select(_stripped("kind"))["kind"].str.to_lowercase()
        return names.with_columns(given)
    same = pl.col("expression_a") == pl.col("expression_b")
    kind = pl.when(same).then(pl.lit("intra")).otherwise(pl.lit("inter"))
    return names.with_columns(kind.alias("kind"))


def _stripped(name: str) -> pl.Expr:
    return pl.col(name).cast(pl.String).str.strip_chars()


def _check_names(names: pl.DataFrame) -> None:
    for name in ("stimulus", "kind", *_NAMES):
        empty = names[name].is_null() | (names[name] == "")
        if empty.any():
            row = int(empty.arg_max() or 0)
            raise InputError(
                f"pair {names['stimulus'][row]!r}: {name} is empty; expected a name; {_hint()}"
            )
    require_distinct(names, ["stimulus"], expected="one score for each pair")
    one_expression = pl.col("expression_a") == pl.col("expression_b")
    wrong = names.filter(one_expression != (pl.col("kind") == "intra"))
    if wrong.height:
        one = wrong.row(0, named=True)
        raise InputError(
            f"pair {one['stimulus']!r} is {one['kind']} with the expressions "
            f"{one['expression_a']!r} and {one['expression_b']!r}; expected one expression for "
            "intra, two for inter"
        )


def _check_numbers(table: pl.DataFrame) -> None:
    for name in _NUMBERS:
        wrong = table[name].is_infinite()
        if name != "value":
            wrong |= (table[name] < 0).fill_null(False)
        if wrong.any():
            row = int(wrong.arg_max() or 0)
            wanted = "a finite number" if name == "value" else "a number from 0"
            raise InputError(
                f"pair {table['stimulus'][row]!r}, {name}: {table[name][row]:g}; expected {wanted}"
            )


Score: TypeAlias = Literal["subject-model", "mean"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PairScores(Result):
    """How different the two faces of each pair look; see :func:`pair_scores`."""

    unit: str
    """What a value is measured in, in words."""
    method: str
    """How the values came about, in words."""

    @classmethod
    def of(
        cls,
        frame: pl.DataFrame,
        *,
        unit: str = "score",
        method: str = "scores as given",
        notes: tuple[str, ...] = (),
    ) -> PairScores:
        """Take a frame of pairs with their columns."""
        n_intra = int((frame["kind"] == "intra").sum())
        sentence = wording.pairs_text(
            n_intra,
            frame.height - n_intra,
            frame["actor"].n_unique(),
            len(_expressions(frame)),
            method,
        )
        table = Table("pairs", f"Scores ({unit}).", frame, _COLUMNS)
        return cls((table,), (sentence,), notes=notes, unit=unit, method=method)

    @property
    def frame(self) -> pl.DataFrame:
        """One row per pair.

        ``stimulus``, ``kind`` (intra, inter), ``actor``, ``expression_a``, ``role_a``,
        ``expression_b``, ``role_b``, ``value``, ``se``, ``sd`` and ``se_stimulus``.
        """
        return self.to_frame()

    def intra(self) -> PairScores:
        """Keep the pairs of frames within one transition; there may be none."""
        return self._only("intra")

    def inter(self) -> PairScores:
        """Keep the pairs of frames of two expressions; there may be none."""
        return self._only("inter")

    def _only(self, kind: str) -> PairScores:
        frame = self.frame.filter(pl.col("kind") == kind)
        return PairScores.of(frame, unit=self.unit, method=self.method, notes=self.notes)

    @property
    def actors(self) -> tuple[str, ...]:
        """Names of the actors, numbers by size and before words."""
        return tuple(sorted(self.frame["actor"].unique().to_list(), key=natural))

    @property
    def expressions(self) -> tuple[str, ...]:
        """Names of the expressions on either side, sorted in the same way."""
        return tuple(sorted(_expressions(self.frame), key=natural))

    def __len__(self) -> int:
        return self.frame.height


_COLUMNS = (
    Key("stimulus"),
    Key("actor"),
    Key("expression_a", "expression"),
    Key("role_a", "role"),
    Key("expression_b", "expression"),
    Key("role_b", "role"),
    Number("value"),
    Number("se", spare=True),
    Number("sd", spare=True),
)


def _expressions(frame: pl.DataFrame) -> list[str]:
    both = pl.concat([frame["expression_a"], frame["expression_b"]])
    return both.unique().to_list()


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

        ``frame`` has a row per pair; ``intra()`` and ``inter()`` keep one kind, ``actors``
        and ``expressions`` name what occurs.

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
    PairScores(2 pairs: 1 intra and 1 inter, 1 actor, 2 expressions; scores as given)
    """
    check_choice("score", score, get_args(Score))
    if isinstance(ratings, PairScores):
        return ratings
    told = None if pairs is None else _pairs_table(pairs)
    if isinstance(ratings, str | Path):
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
    from affectlab.ratings.files import as_frame

    return as_frame(given, what="the table of scores")


def _pairs_table(pairs: pl.DataFrame | str | Path) -> pl.DataFrame:
    return read_table(pairs, "pairs") if isinstance(pairs, str | Path) else _frame(pairs)


def _of_table(table: pl.DataFrame, pairs: pl.DataFrame | None) -> PairScores:
    if "rater" in table.columns:
        raise InputError(
            "column 'rater' says that these are ratings, not scores; expected Ratings(table), or "
            "one score for each pair"
        )
    frame, notes = checked_pairs(table if pairs is None else with_attributes(table, pairs))
    return PairScores.of(frame, notes=notes)


def _of_ratings(
    ratings: Ratings, score: Score, pairs: pl.DataFrame | None, label: str | None
) -> PairScores:
    from affectlab.reliability import mean_opinion_scores, subject_model

    people = of_one_label(people_or_all(ratings), label)
    means = mean_opinion_scores(people, interval="student").to_frame()
    said: tuple[str, ...] = ()
    if score == "mean":
        scored, method = means, "mean opinion scores"
        errors = means.select("stimulus", se_stimulus="se")
    else:
        # What all pairs share, as the raters' level, is no error of one beside another.
        model = subject_model(people, target="sample")
        scored, method, said = model.to_frame(), f"subject model, {model.method}", model.notes
        errors = scored.select("stimulus", "se_stimulus")
    table = scored.select("stimulus", "value", "se")
    for beside in (means.select("stimulus", "sd"), errors):
        table = table.join(beside, on="stimulus", how="left", maintain_order="left")
    table = with_attributes(table, people.stimuli)
    frame, notes = checked_pairs(table if pairs is None else with_attributes(table, pairs))
    of = f"{method} of {plural(people.answers().n_raters, 'rater')}"
    return PairScores.of(
        frame,
        unit=wording.score_unit(people.scale.low, people.scale.high),
        method=of,
        notes=(*said, *notes),
    )
