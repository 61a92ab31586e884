"""Results with their uncertainty: one number, or one table of them.

Every estimate that affectlab returns says its value, its uncertainty, how it was computed and from
how much data. An estimate that is not defined is ``nan`` with a ``status`` that says why.

Unanimity is not certainty: where nothing varies (all raters agree on every item, all replicates of
a bootstrap are equal), the data hold nothing from which an error could be estimated. A standard
error of 0 and an interval without width are then withheld (``nan``), and ``method`` says so. The
value stays. This holds for every statistic; see :func:`withhold_certainty`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.jackknife import Jackknife
from affectlab.core.render.intervals import NO_INTERVAL as NO_INTERVAL, NO_VARIATION as NO_VARIATION
from affectlab.core.result import Result
from affectlab.core.tables import Column, Count, Interval, Key, Table, Value
from affectlab.core.types import Bools, Floats, pl

__all__ = ["Estimate", "Estimates"]


class Reason(StrEnum):
    """Why answers do not tell what is asked, however many of their kind there are."""

    CONFOUNDED = "confounded"
    """A fixed effect takes as many values as a random factor has levels."""
    SHARES_NOTHING = "shares_nothing"
    """A rater shares too few stimuli with others for any error to be seen."""
    NEVER_COMPARED = "never_compared"
    """Systems that nothing but a prior links."""
    CONSTANT_ANSWER = "constant_answer"
    """A model that gives one answer to everything."""


ESTIMATE_COLUMNS = (
    "value",
    "se",
    "low",
    "high",
    "method",
    "target",
    "n_items",
    "n_raters",
    "n_ratings",
    "status",
)
"""The columns of every result, after its keys."""

_ROUNDING = 1e-8
"""Standard errors and widths up to here, relative to the value, are what rounding leaves: about the
root of a double's precision, as errors are roots of sums of squares."""


def withhold_certainty(
    value: Floats, se: Floats, low: Floats, high: Floats, size: float = 1.0
) -> tuple[Floats, Floats, Floats, Bools]:
    """Withhold standard errors of 0 and intervals without width; the rule of every result.

    Twelve items on which everybody agrees do not show that people always agree. An interval that
    has a width although the estimated error is 0, such as Wilson's, stays.

    Parameters
    ----------
    value, se, low, high
        Any shape that broadcasts; ``nan`` where there is nothing.
    size
        How large such numbers are at least, beside which others are what rounding leaves of none.

    Returns
    -------
    Standard errors, lower and upper ends, and where an interval was withheld.
    """
    slack = _ROUNDING * np.maximum(np.abs(value), size)
    exact = se <= slack
    # A median that hardly ever moves has an interval without width, and yet an error.
    narrow = (high - low <= slack) & ~(se > slack)
    low, high = np.where(narrow, np.nan, low), np.where(narrow, np.nan, high)
    return np.where(exact, np.nan, se), low, high, (exact | narrow) & np.isnan(low)


@dataclass(frozen=True, slots=True)
class Estimate:
    """One estimate with its uncertainty and its provenance.

    Examples
    --------
    >>> Estimate(0.69, method="alpha, nominal", n_items=15, n_raters=3, n_ratings=41)
    Estimate(0.690, alpha, nominal; 15 items, 3 raters, 41 ratings)
    >>> Estimate(math.nan, method="alpha, nominal", status="undefined: one category").ok
    False
    """

    value: float
    se: float = math.nan
    """Standard error, ``nan`` when none was asked for or nothing varies."""
    low: float = math.nan
    """Lower end of the interval."""
    high: float = math.nan
    """Upper end of the interval."""
    method: str = ""
    """The coefficient with its options, in words; and why it has no interval."""
    target: str = "none"
    """What the interval is about: other ``stimuli``, ``raters``, ``both``, or what else is sampled,
    such as ``clusters``; ``none`` where there is no interval, or a formula does not say."""
    n_items: int = 0
    """Units (stimuli) that entered."""
    n_raters: int = 0
    """Raters that entered."""
    n_ratings: int = 0
    """Ratings that entered."""
    status: str = "ok"
    """``ok``, or why the value is not defined."""

    @property
    def ok(self) -> bool:
        """Whether the value is defined."""
        return self.status == "ok"

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        value = f"{self.value:.3f}" if self.ok else self.status
        interval = "" if math.isnan(self.low) else f" [{self.low:.3f}, {self.high:.3f}]"
        counts = f"{self.n_items} items, {self.n_raters} raters, {self.n_ratings} ratings"
        return f"Estimate({value}{interval}, {self.method}; {counts})"


@dataclass(frozen=True, repr=False)
class Estimates(Result):
    """A table of estimates, one row per key.

    Examples
    --------
    >>> table = Estimates.build({"label": ["joy", "fear"]}, value=[0.5, math.nan],
    ...                         status=["ok", "undefined: one category"], method="alpha")
    >>> table["joy"].value
    0.5
    >>> table["fear"].ok
    False
    >>> table.to_frame().columns[:3]
    ['label', 'value', 'se']
    """

    replicates: Floats = field(default_factory=lambda: np.empty((0, 0)), compare=False)
    """Values in bootstrap replicates, shape (n_boot, rows), ``nan`` where not defined; empty where
    none were drawn."""
    joint: bool = True
    """Whether a replicate is one resample of all rows."""
    jackknife: Jackknife | None = field(default=None, compare=False)
    """Values without each stimulus or rater, where the intervals come from these."""

    @property
    def frame(self) -> pl.DataFrame:
        """The keys, then the columns of :data:`ESTIMATE_COLUMNS`, then what is particular."""
        return self.tables[0].frame

    @property
    def keys(self) -> tuple[str, ...]:
        """Names of the key columns, for example ``("label",)`` or ``("label", "rater_a")``."""
        return self.tables[0].keys

    @classmethod
    def of(cls, frame: pl.DataFrame, keys: Sequence[str], **more: Any) -> Self:
        """Take a frame that holds the columns of estimates already.

        Parameters
        ----------
        frame
            The keys, the columns of :data:`ESTIMATE_COLUMNS`, and perhaps others.
        keys
            Names of the key columns.
        more
            What else the result holds, such as `sentences`.
        """
        columns = (
            *(Key(key) for key in keys),
            Value(),
            Interval(),
            *(Count(name) for name in ("n_items", "n_raters", "n_ratings")),
        )
        return cls((Table("estimates", "", frame, columns),), **more)

    def with_columns(self, extra: Any, *columns: Column) -> Self:
        """Add columns to the table, and declare those that people are to be shown."""
        first, *rest = self.tables
        return replace(self, tables=(first.with_columns(extra, *columns), *rest))

    def with_layout(self, *columns: Column, **more: Any) -> Self:
        """Declare what people are shown of the table after its keys, and other fields of it."""
        first, *rest = self.tables
        keys = (column for column in first.columns if column.is_key)
        return replace(self, tables=(replace(first, columns=(*keys, *columns), **more), *rest))

    def with_frame(self, frame: pl.DataFrame) -> Self:
        """Take another frame with the same columns."""
        first, *rest = self.tables
        return replace(self, tables=(replace(first, frame=frame), *rest))

    @classmethod
    def build(
        cls,
        keys: Mapping[str, Sequence[str] | pl.Series],
        *,
        value: Any,
        se: Any = math.nan,
        low: Any = math.nan,
        high: Any = math.nan,
        method: Any = "",
        target: Any = "none",
        n_items: Any = 0,
        n_raters: Any = 0,
        n_ratings: Any = 0,
        status: Any = "ok",
        extra: Any = MappingProxyType({}),
        size: float = 1.0,
    ) -> Self:
        """Make a table from columns, `extra` ones last; a scalar is repeated for every row.

        Certainty is withheld where nothing varies, beside numbers of that size: see
        :mod:`affectlab.core.estimates`.
        """
        import polars as pl

        n = len(next(iter(keys.values())))

        def column(name: str, given: Any, dtype: Any) -> pl.Series:
            if isinstance(given, str) or not (isinstance(given, pl.Series) or np.ndim(given)):
                return pl.Series(name, [given], dtype=dtype).new_from_index(0, n)
            return pl.Series(name, given, dtype=dtype)

        columns = [
            column(name, names if isinstance(names, pl.Series) else list(names), pl.String)
            for name, names in keys.items()
        ]
        numbers = [
            column(name, given, pl.Float64)
            for name, given in (("value", value), ("se", se), ("low", low), ("high", high))
        ]
        values, errors, low_ends, high_ends = (series.to_numpy() for series in numbers)
        *ends, withheld = withhold_certainty(values, errors, low_ends, high_ends, size)
        columns += [numbers[0]]
        columns += [
            pl.Series(name, end) for name, end in zip(("se", "low", "high"), ends, strict=True)
        ]
        has = ~np.isnan(ends[1]) | ~np.isnan(ends[2])
        about = column("target", target, pl.String)
        columns += [column("method", method, pl.String), about.set(~pl.Series(has), "none")]
        columns += [
            column(name, given, pl.Int64)
            for name, given in (
                ("n_items", n_items),
                ("n_raters", n_raters),
                ("n_ratings", n_ratings),
            )
        ]
        columns.append(column("status", status, pl.String))
        columns += [pl.Series(name, given) for name, given in extra.items()]
        frame = pl.DataFrame(columns)
        if withheld.any():
            said = pl.concat_str("method", pl.lit(f"; {NO_VARIATION}"))
            rows = pl.lit(pl.Series(withheld))
            frame = frame.with_columns(pl.when(rows).then(said).otherwise("method"))
        return cls.of(frame, tuple(keys))

    @classmethod
    def collect(cls, keys: Mapping[str, Sequence[str]], estimates: Sequence[Estimate]) -> Self:
        """Make a table of single estimates, one row each.

        Examples
        --------
        >>> Estimates.collect({"of": ["a"]}, [Estimate(0.5, method="mean")])["a"]
        Estimate(0.500, mean; 0 items, 0 raters, 0 ratings)
        """
        names = ESTIMATE_COLUMNS
        columns: dict[str, Any] = {
            name: [getattr(one, name) for one in estimates] for name in names
        }
        return cls.build(keys, **columns)

    @classmethod
    def of_rows(
        cls,
        rows: Sequence[Mapping[str, Any]],
        keys: Sequence[str],
        extra: Mapping[str, Any] = MappingProxyType({}),
        **shared: Any,
    ) -> Self:
        """Make a table of rows of plain values, as :meth:`build` does of columns.

        Parameters
        ----------
        rows
            Each with the keys, some of :data:`ESTIMATE_COLUMNS`, and what is particular.
        keys
            Names of the key columns.
        extra
            Columns that are particular, with their polars types.
        shared
            What is the same in all rows.
        """
        import polars as pl

        def column(name: str) -> list[Any]:
            return [row[name] for row in rows]

        own = [name for name in ESTIMATE_COLUMNS if rows and name in rows[0]] or ["value"]
        given: dict[str, Any] = {**shared, **{name: column(name) for name in own}}
        made = cls.build({key: column(key) for key in keys}, **given)
        return made.with_columns(
            [pl.Series(name, column(name), dtype=kind) for name, kind in extra.items()]
        )

    def __len__(self) -> int:
        return self.frame.height

    def __iter__(self) -> Iterator[tuple[tuple[str, ...], Estimate]]:
        """Iterate over ``(key, estimate)`` pairs, in the order of the table."""
        for row in self.frame.iter_rows(named=True):
            yield tuple(row[key] for key in self.keys), _estimate(row)

    def __getitem__(self, key: str | tuple[str, ...]) -> Estimate:
        """Look an estimate up by its key (a name, or a tuple of names)."""
        import polars as pl

        wanted = (key,) if isinstance(key, str) else tuple(key)
        if len(wanted) != len(self.keys):
            raise InputError(f"expected a key ({', '.join(self.keys)}), got {key!r}")
        mask = pl.all_horizontal(
            pl.col(name) == part for name, part in zip(self.keys, wanted, strict=True)
        )
        found = self.frame.filter(mask)
        if found.height == 0:
            known = (", ".join(names) for names, _ in self)
            raise unknown_name(" / ".join(self.keys), ", ".join(wanted), known)
        return _estimate(found.row(0, named=True))


def _estimate(row: Mapping[str, Any]) -> Estimate:
    return Estimate(**{name: row[name] for name in ESTIMATE_COLUMNS})


def side_by_side(
    frame: pl.DataFrame, index: Sequence[str], names: Iterable[str], *, of: str = "metric"
) -> pl.DataFrame:
    """Put several estimates of one thing into one row.

    Parameters
    ----------
    frame
        Has the columns of estimates.
    index
        Columns that say what a row is about.
    names
        What the column `of` holds of the estimates that are taken.

    Returns
    -------
    polars.DataFrame
        The index, then for each name ``name``, ``name_low`` and ``name_high``.
    """
    import polars as pl

    wide = frame.select(index).unique(maintain_order=True)
    for name in names:
        columns = {name: "value", f"{name}_low": "low", f"{name}_high": "high"}
        part = frame.filter(pl.col(of) == name).select(*index, **columns)
        wide = wide.join(part, on=index, how="left", maintain_order="left")
    return wide
