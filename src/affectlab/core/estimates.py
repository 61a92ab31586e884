"""Results with their uncertainty: one number, or one table of them.

Every estimate that affectlab returns says its value, its uncertainty, how it was computed and from
how much data. An estimate that is not defined is ``nan`` with the status ``undefined``; its
``reason`` says why.

Unanimity is not certainty: where nothing varies (all raters agree on every item, all replicates of
a bootstrap are equal), the data hold nothing from which an error could be estimated. A standard
error of 0 and an interval without width are then withheld (``nan``), and ``reason`` says so. The
value stays. This holds for every statistic; see :func:`withhold_certainty`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.facts import (
    Cause,
    IntervalFact,
    Reason,
    ReasonLike,
    Status,
    What,
    fact_column,
    interval_type,
    reason_of,
    reason_type,
)
from affectlab.core.jackknife import Jackknife
from affectlab.core.result import Result
from affectlab.core.tables import Column, Count, Interval, Key, Table, Value
from affectlab.core.types import Bools, Floats, Ints, pl
from affectlab.core.wording import method_text, status_text

__all__ = ["Estimate", "Estimates"]


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
    "statistic",
    "options",
    "interval",
    "reason",
)
"""The columns of every result, after its keys."""
_NUMBERS = ("value", "se", "low", "high")
_COUNTS = ("n_items", "n_raters", "n_ratings")

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
    >>> Estimate(0.69, "alpha", ("nominal",), n_items=15, n_raters=3, n_ratings=41)
    Estimate(0.690, alpha, nominal; 15 items, 3 raters, 41 ratings)
    >>> Estimate(math.nan, "alpha", reason=Cause.ONE_CATEGORY)
    Estimate(undefined: one category, alpha; 0 items, 0 raters, 0 ratings)
    """

    value: float
    statistic: str = ""
    """Name of the statistic."""
    options: tuple[str, ...] = ()
    """Its options, in words."""
    se: float = math.nan
    """Standard error, ``nan`` when none was asked for or nothing varies."""
    low: float = math.nan
    """Lower end of the interval."""
    high: float = math.nan
    """Upper end of the interval."""
    target: str = "none"
    """What the interval is about: other ``stimuli``, ``raters``, ``both``, or what else is sampled,
    such as ``clusters``; ``none`` where there is no interval, or a formula does not say."""
    n_items: int = 0
    """Units (stimuli) that entered."""
    n_raters: int = 0
    """Raters that entered."""
    n_ratings: int = 0
    """Ratings that entered."""
    status: Status = None  # type: ignore[assignment]
    """Whether the value is defined; by default where it is a number."""
    interval: IntervalFact | None = None
    """How the interval was made."""
    reason: Reason | None = None
    """Why the value is not defined, or has no interval; a kind or a text may be given."""

    def __post_init__(self) -> None:
        is_nan = self.value != self.value
        status = (Status.UNDEFINED if is_nan else Status.OK) if self.status is None else self.status
        object.__setattr__(self, "status", Status(status))
        object.__setattr__(self, "reason", reason_of(self.reason))

    @property
    def ok(self) -> bool:
        """Whether the value is defined."""
        return self.status is Status.OK

    @property
    def method(self) -> str:
        """What the number is, and how its interval was made, in words."""
        reason = self.reason if self.ok else None
        return method_text((self.statistic, *self.options), self.interval, reason)

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        value = f"{self.value:.3f}" if self.ok else status_text(self.status, self.reason)
        interval = "" if math.isnan(self.low) else f" [{self.low:.3f}, {self.high:.3f}]"
        counts = f"{self.n_items} items, {self.n_raters} raters, {self.n_ratings} ratings"
        return f"Estimate({value}{interval}, {self.method}; {counts})"


@dataclass(frozen=True, repr=False)
class Estimates(Result):
    """A table of estimates, one row per key.

    Examples
    --------
    >>> table = Estimates.build({"label": ["joy", "fear"]}, value=[0.5, math.nan],
    ...                         reason=[None, Cause.ONE_CATEGORY], statistic="alpha")
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
            The keys, the columns of :data:`ESTIMATE_COLUMNS` as :attr:`frame` has them, and perhaps
            others.
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

    def with_coverage(self, known: Sequence[tuple[float, str] | None]) -> Self:
        """Put the coverage of intervals in simulated studies, and their design, to each row."""
        intervals = []
        for (_, one), held in zip(self, known, strict=True):
            made = one.interval
            if held is not None and made is not None:
                made = replace(made, coverage=held[0], design=held[1])
            intervals.append(made)
        return self.with_intervals(intervals, [one.reason for _, one in self])

    def with_intervals(
        self, intervals: Sequence[IntervalFact | None], reasons: Sequence[Reason | None]
    ) -> Self:
        """Put how the interval of each row was made, or why there is none."""
        import polars as pl

        methods = [
            method_text((one.statistic, *one.options), made, why if one.ok else None)
            for (_, one), made, why in zip(self, intervals, reasons, strict=True)
        ]
        return self.with_frame(
            self.frame.with_columns(
                pl.Series("method", methods, dtype=pl.String),
                fact_column("interval", intervals, interval_type()),
                fact_column("reason", reasons, reason_type()),
            )
        )

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
        statistic: What | Sequence[What] | pl.Series = "",
        se: Any = math.nan,
        low: Any = math.nan,
        high: Any = math.nan,
        target: Any = "none",
        n_items: Any = 0,
        n_raters: Any = 0,
        n_ratings: Any = 0,
        status: Any = None,
        interval: IntervalFact | Sequence[IntervalFact | None] | None = None,
        reason: ReasonLike | Sequence[ReasonLike | None] | None = None,
        extra: Any = MappingProxyType({}),
        size: float = 1.0,
    ) -> Self:
        """Make a table from columns, `extra` ones last; a scalar is repeated for every row.

        Certainty is withheld where nothing varies, beside numbers of that size: see
        :mod:`affectlab.core.estimates`. Values are undefined where they are ``nan``, unless
        `status` says otherwise. A reason is kept where there is no value, no interval, or an
        interval that is about less than was asked for.
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
        given = zip(_NUMBERS, (value, se, low, high), strict=True)
        numbers = [column(name, one, pl.Float64) for name, one in given]
        values, errors, lows, highs = (one.to_numpy() for one in numbers)
        *ends, withheld = withhold_certainty(values, errors, lows, highs, size)
        columns += [numbers[0], *(pl.Series(*end) for end in zip(_NUMBERS[1:], ends, strict=True))]
        has = ~np.isnan(ends[1]) | ~np.isnan(ends[2])
        columns.append(column("target", target, pl.String).set(~pl.Series(has), "none"))
        of_counts = zip(_COUNTS, (n_items, n_raters, n_ratings), strict=True)
        columns += [column(name, one, pl.Int64) for name, one in of_counts]
        if status is None:
            unknown = pl.Series(np.isnan(values))
            columns.append(column("status", "ok", pl.String).set(unknown, "undefined"))
        else:
            columns.append(column("status", status, pl.String))
        facts = _facts(n, statistic, interval, reason, has, withheld, columns[-1])
        columns += [*facts, *(pl.Series(name, one) for name, one in extra.items())]
        frame = pl.DataFrame(columns).select(*keys, *ESTIMATE_COLUMNS, *extra)
        return cls.of(frame, tuple(keys))

    @classmethod
    def collect(cls, keys: Mapping[str, Sequence[str]], estimates: Sequence[Estimate]) -> Self:
        """Make a table of single estimates, one row each.

        Examples
        --------
        >>> Estimates.collect({"of": ["a"]}, [Estimate(0.5, "mean")])["a"]
        Estimate(0.500, mean; 0 items, 0 raters, 0 ratings)
        """
        columns: dict[str, Any] = {
            name: [getattr(one, name) for one in estimates]
            for name in ESTIMATE_COLUMNS
            if name not in ("method", "statistic", "options")
        }
        statistic = [(one.statistic, *one.options) for one in estimates]
        return cls.build(keys, statistic=statistic, **columns)

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
            Each with the keys, some of what :meth:`build` takes, and what is particular.
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

        taken = (name for name in ESTIMATE_COLUMNS if name not in ("method", "options"))
        own = [name for name in taken if rows and name in rows[0]] or ["value"]
        given: dict[str, Any] = {**shared, **{name: column(name) for name in own}}
        if rows and "options" in rows[0]:
            given["statistic"] = [(row["statistic"], *row["options"]) for row in rows]
        for name, kind in (("interval", IntervalFact), ("reason", Reason)):
            if name in own:
                cells = given[name]
                given[name] = [
                    kind.of_row(one) if isinstance(one, Mapping) else one for one in cells
                ]
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
    numbers = {name: row[name] for name in ESTIMATE_COLUMNS if name != "method"}
    typed = {
        "options": tuple(row["options"]),
        "interval": IntervalFact.of_row(row["interval"]),
        "reason": Reason.of_row(row["reason"]),
    }
    return Estimate(**{**numbers, **typed})


def _facts(
    n: int,
    statistic: What | Sequence[What] | pl.Series,
    interval: IntervalFact | Sequence[IntervalFact | None] | None,
    reason: ReasonLike | Sequence[ReasonLike | None] | None,
    has: Bools,
    withheld: Bools,
    status: pl.Series,
) -> list[pl.Series]:
    """Make the columns of what was computed, of how intervals were made, and of reasons."""
    import polars as pl

    whats, what = _coded(statistic, n)
    hows, how = _coded(interval, n)
    whys, why = _coded(reason, n)
    whys = [reason_of(one) for one in whys]
    ok = (status == "ok").to_numpy()
    row = np.ravel_multi_index(
        (what, how, why, has.astype(int), ok.astype(int), withheld.astype(int)),
        (len(whats), len(hows), len(whys), 2, 2, 2),
    )
    first, place = np.unique(row, return_index=True, return_inverse=True)[1:]
    parts: list[tuple[str, str, list[str], IntervalFact | None, Reason | None]] = []
    for at in first.tolist():
        title, made, because = whats[what[at]], hows[how[at]], whys[why[at]]
        name, *options = (title,) if isinstance(title, str) else title
        if not has[at] and (made is None or not made.replicates):
            made = None
        if withheld[at] and because is None:
            because = Reason(Cause.NO_VARIATION)
        method = method_text((name, *options), made, because if ok[at] else None)
        parts.append((method, name, options, made, because))
    methods, names, settings, intervals, reasons = zip(*parts, strict=True) if parts else ((),) * 5
    return [
        column.gather(place)
        for column in (
            pl.Series("method", methods, dtype=pl.String),
            pl.Series("statistic", names, dtype=pl.String),
            pl.Series("options", settings, dtype=pl.List(pl.String)),
            fact_column("interval", intervals, interval_type()),
            fact_column("reason", reasons, reason_type()),
        )
    ]


def _coded(given: Any, n: int) -> tuple[list[Any], Ints]:
    """Give what `n` rows have, each once, and where each row's stands; all may share one."""
    import polars as pl

    if isinstance(given, (str, tuple, IntervalFact, Reason)) or given is None:
        return [given], np.zeros(n, dtype=np.int64)
    listed = given.to_list() if isinstance(given, pl.Series) else list(given)
    places: dict[Any, int] = {}
    code = np.array([places.setdefault(one, len(places)) for one in listed], dtype=np.int64)
    if code.size != n:
        raise ValueError(f"{code.size} facts of {n} rows")
    return list(places), code


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
