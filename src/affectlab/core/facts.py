"""What a result knows of its numbers beside the numbers: facts, which wording modules put in words.

An estimate that is not defined, or has no interval, carries a :class:`Reason`; an interval carries
how it was made, an :class:`IntervalFact`. Both are columns of every table of estimates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self, TypeAlias

from affectlab.core.types import pl
from affectlab.core.wording import (
    Cause as Cause,
    Formula as Formula,
    Status as Status,
    interval_text,
    reason_text,
)

What: TypeAlias = str | tuple[str, ...]
"""What a number is: the name of a statistic, or that and its options, such as ``("Krippendorff's
alpha", "ordinal")``."""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a value, or its interval, is withheld: a kind, with the numbers that belong to it.

    Examples
    --------
    >>> str(Reason(Cause.FEW_UNITS, n=3, least=5, of="actors"))
    '3 actors, expected 5 or more'
    >>> str(Reason.of_text("the sensor was off"))
    'the sensor was off'
    """

    cause: Cause
    n: int | None = None
    """How many there are."""
    least: int | None = None
    """How many there should be."""
    of: str = ""
    """Of what, in the plural; of :attr:`Cause.OTHER` the whole text."""

    @classmethod
    def of_text(cls, text: str) -> Self:
        """Make a reason that only a text tells."""
        return cls(Cause.OTHER, of=text)

    @classmethod
    def of_row(cls, row: Mapping[str, Any] | None) -> Self | None:
        """Make a reason of a cell of the column ``reason``."""
        return None if row is None else cls(**{**row, "cause": Cause(row["cause"])})

    def __str__(self) -> str:
        return reason_text(self)


ReasonLike: TypeAlias = Reason | Cause | str
"""A reason, a kind of reason without numbers, or a text of one's own."""


def reason_of(given: ReasonLike | None) -> Reason | None:
    """Make a reason of what stands for one; None of None and of an empty text."""
    if given is None or isinstance(given, Reason):
        return given
    if isinstance(given, Cause):
        return Reason(given)
    return Reason.of_text(given) if given else None


def reasons_of(
    given: ReasonLike | Iterable[ReasonLike | None] | None, n: int
) -> list[Reason | None]:
    """Give the reason of each of `n` rows, of which all may have the same."""
    if given is None or isinstance(given, (Reason, str)):
        return [reason_of(given)] * n
    return [reason_of(one) for one in given]


@dataclass(frozen=True, slots=True)
class IntervalFact:
    """How an interval was made.

    Examples
    --------
    >>> str(IntervalFact("jackknife", over=("stimuli", "raters")))
    'jackknife over stimuli and raters'
    >>> str(IntervalFact("percentile", over=("stimuli",), replicates=1000, undefined=3))
    'percentile bootstrap, 1000 replicates, 3 undefined'
    """

    kind: str
    """``"analytic"``, ``"jackknife"``, ``"percentile"``, ``"expanded percentile"`` or ``"bca"``."""
    over: tuple[str, ...] = ()
    """What was left out or drawn, such as ``("stimuli", "raters")`` or ``("actors",)``."""
    n_groups: tuple[int, ...] = ()
    """Random groups of each that were left out in place of single ones, 0 where single ones were;
    empty where no groups were left out."""
    formula: Formula | None = None
    replicates: int | None = None
    undefined: int = 0
    """Replicates in which the value is not defined."""
    redrawn: str = ""
    """What else is done anew in every replicate."""
    coverage: float | None = None
    """Share of simulated studies of such a design in which 95 % intervals held, where it is low."""
    design: str = ""
    """That design."""

    def drawn_whole(self, target: str) -> str:
        """Give what was drawn whole in place of stimuli, such as ``actors``; empty where none."""
        if not self.over or self.over[0] in ("stimuli", "raters"):
            return ""
        return self.over[0] if target in ("both", self.over[0]) else ""

    @classmethod
    def of_row(cls, row: Mapping[str, Any] | None) -> Self | None:
        """Make it of a cell of the column ``interval``."""
        if row is None:
            return None
        formula = None if row["formula"] is None else Formula(row["formula"])
        over, groups = tuple(row["over"]), tuple(row["n_groups"])
        return cls(**{**row, "over": over, "n_groups": groups, "formula": formula})

    def __str__(self) -> str:
        return interval_text(self)


def reason_type() -> Any:
    """Type of the column ``reason``."""
    import polars as pl

    return pl.Struct({"cause": pl.String, "n": pl.Int64, "least": pl.Int64, "of": pl.String})


def interval_type() -> Any:
    """Type of the column ``interval``."""
    import polars as pl

    return pl.Struct(
        {
            "kind": pl.String,
            "over": pl.List(pl.String),
            "n_groups": pl.List(pl.Int64),
            "formula": pl.String,
            "replicates": pl.Int64,
            "undefined": pl.Int64,
            "redrawn": pl.String,
            "coverage": pl.Float64,
            "design": pl.String,
        }
    )


def fact_column(
    name: str, facts: Sequence[Reason | None] | Sequence[IntervalFact | None], dtype: Any
) -> pl.Series:
    """Make a column of facts."""
    import polars as pl

    rows = [None if one is None else _plain(one) for one in facts]
    return pl.Series(name, rows, dtype=dtype)


def _plain(fact: Reason | IntervalFact) -> dict[str, Any]:
    return {key: list(one) if isinstance(one, tuple) else one for key, one in asdict(fact).items()}


def flat(frame: pl.DataFrame) -> pl.DataFrame:
    """Put kinds in the place of typed facts, for files and programs that have no structs.

    The column ``interval`` is then how intervals were made, such as ``"jackknife"``, and a column
    of reasons, such as ``reason``, a :class:`Cause`, or the text of one that has no kind.
    """
    import polars as pl

    kinds = []
    for name, dtype in frame.schema.items():
        if dtype == interval_type():
            kinds.append(pl.col(name).struct.field("kind").alias(name))
        elif dtype == reason_type():
            cause, text = (pl.col(name).struct.field(part) for part in ("cause", "of"))
            kinds.append(
                pl.when(cause == Cause.OTHER.value).then(text).otherwise(cause).alias(name)
            )
    return frame.with_columns(kinds)
