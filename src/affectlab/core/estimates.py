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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.types import Bools, Floats, pl

if TYPE_CHECKING:
    from affectlab.core.terminal import Table

__all__ = ["ESTIMATE_COLUMNS", "Estimate", "Estimates"]

ESTIMATE_COLUMNS = (
    "value",
    "se",
    "low",
    "high",
    "method",
    "resampled",
    "n_items",
    "n_raters",
    "n_ratings",
    "status",
)
"""The columns of every result, after its keys."""

NO_INTERVAL = "no interval: "
"""How ``method`` begins to say why there is none."""
NO_VARIATION = f"{NO_INTERVAL}no variation to estimate an error from"
"""What ``method`` says where certainty is withheld."""
_ROUNDING = 1e-8
"""Standard errors and widths up to here, relative to the value, are what rounding leaves: about the
root of a double's precision, as errors are roots of sums of squares."""
_ABOUT = {
    "units": "other items, the same raters",
    "raters": "the same items, other raters",
    "both": "other items and other raters",
}
"""What intervals are about, by what was resampled."""
_BY_FORMULA = "from a formula, nothing resampled"
_FEW_NAMES = 4
"""Rows up to which they are named in a note."""


def withhold_certainty(
    value: Floats, se: Floats, low: Floats, high: Floats
) -> tuple[Floats, Floats, Floats, Bools]:
    """Withhold standard errors of 0 and intervals without width; the rule of every result.

    Twelve items on which everybody agrees do not show that people always agree. An interval that
    has a width although the estimated error is 0, such as Wilson's, stays.

    Parameters
    ----------
    value, se, low, high
        Any shape that broadcasts; ``nan`` where there is nothing.

    Returns
    -------
    Standard errors, lower and upper ends, and where an interval was withheld.
    """
    slack = _ROUNDING * np.maximum(np.abs(value), 1.0)
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
    resampled: str = "none"
    """What was resampled for the interval: ``none``, ``units``, ``raters`` or ``both``."""
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


@dataclass(frozen=True)
class Estimates:
    """A table of estimates, one row per key.

    Parameters
    ----------
    frame
        The keys, then the columns of :data:`ESTIMATE_COLUMNS`.
    keys
        Names of the key columns, for example ``("label",)`` or ``("label", "rater_a", "rater_b")``.

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

    frame: pl.DataFrame
    keys: tuple[str, ...]

    @classmethod
    def build(
        cls,
        keys: Mapping[str, Sequence[str]],
        *,
        value: Any,
        se: Any = math.nan,
        low: Any = math.nan,
        high: Any = math.nan,
        method: Any = "",
        resampled: Any = "none",
        n_items: Any = 0,
        n_raters: Any = 0,
        n_ratings: Any = 0,
        status: Any = "ok",
    ) -> Estimates:
        """Make a table from columns; a scalar is repeated for every row.

        Certainty is withheld where nothing varies: see :mod:`affectlab.core.estimates`.
        """
        import polars as pl

        n = len(next(iter(keys.values())))

        def column(name: str, given: Any, dtype: Any) -> pl.Series:
            if isinstance(given, str) or np.ndim(given) == 0:
                given = [given] * n
            return pl.Series(name, given, dtype=dtype)

        columns = [pl.Series(name, list(names), dtype=pl.String) for name, names in keys.items()]
        numbers = [
            column(name, given, pl.Float64)
            for name, given in (("value", value), ("se", se), ("low", low), ("high", high))
        ]
        *ends, withheld = withhold_certainty(*(series.to_numpy() for series in numbers))
        columns += [numbers[0]]
        columns += [
            pl.Series(name, end) for name, end in zip(("se", "low", "high"), ends, strict=True)
        ]
        columns += [column("method", method, pl.String), column("resampled", resampled, pl.String)]
        columns += [
            column(name, given, pl.Int64)
            for name, given in (
                ("n_items", n_items),
                ("n_raters", n_raters),
                ("n_ratings", n_ratings),
            )
        ]
        columns.append(column("status", status, pl.String))
        frame = pl.DataFrame(columns)
        if withheld.any():
            said = pl.concat_str("method", pl.lit(f"; {NO_VARIATION}"))
            rows = pl.lit(pl.Series(withheld))
            frame = frame.with_columns(pl.when(rows).then(said).otherwise("method"))
        return cls(frame, tuple(keys))

    def to_frame(self) -> pl.DataFrame:
        """Give the table as a polars data frame."""
        return self.frame

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

    def __repr__(self) -> str:
        rows = "row" if len(self) == 1 else "rows"
        return f"Estimates({len(self)} {rows} by {', '.join(self.keys)})"

    def _repr_html_(self) -> str:
        return self.frame._repr_html_()

    def __rich__(self) -> Table:
        from rich.text import Text

        from affectlab.core.terminal import Table
        from affectlab.core.words import shown as printable

        notes = Text("\n".join(map(printable, interval_notes(self.frame, self.keys))))
        table = Table(
            box=None,
            header_style="bold",
            caption=notes or None,
            caption_style="",
            caption_justify="left",
        )
        for key in self.keys:
            table.add_column(key)
        for name in ("value", "interval", "items", "raters", "ratings"):
            table.add_column(name, justify="right")
        for names, estimate in self:
            shown = f"{estimate.value:.3f}" if estimate.ok else estimate.status
            interval = (
                "" if math.isnan(estimate.low) else f"{estimate.low:.3f} – {estimate.high:.3f}"
            )
            counts = (estimate.n_items, estimate.n_raters, estimate.n_ratings)
            table.add_row(
                *(Text(printable(name)) for name in names),
                Text(shown),
                interval,
                *(f"{count:,}" for count in counts),
            )
        return table


def _estimate(row: Mapping[str, Any]) -> Estimate:
    return Estimate(**{name: row[name] for name in ESTIMATE_COLUMNS})


def as_dict(estimate: Estimate) -> dict[str, Any]:
    """Give an estimate as a plain dictionary, with ``None`` for ``nan`` (for JSON)."""
    return {
        name: None if isinstance(given, float) and math.isnan(given) else given
        for name, given in asdict(estimate).items()
    }


def _few_named(rows: Sequence[str]) -> str:
    return "; ".join(rows) if len(rows) <= _FEW_NAMES else f"{len(rows):,} rows"


def interval_notes(frame: pl.DataFrame, keys: Sequence[str]) -> list[str]:
    """Say what the intervals are about, and why some rows have none."""
    import polars as pl

    with_interval = frame.filter(pl.col("low").is_not_nan() & pl.col("low").is_not_null())
    over = with_interval["resampled"].unique().sort().to_list()
    names = pl.concat_str(keys, separator=", ")
    notes = []
    for name in over if over != ["none"] else ():
        # Rows are named only where not all intervals are about the same.
        alike = with_interval.filter(pl.col("resampled") == name)
        others = with_interval.filter(pl.col("resampled") != name)[keys[0]].unique()
        whole = alike[keys[0]].unique(maintain_order=True)
        # A label whose rows are all alike stands for them.
        apart = not whole.is_in(others.implode()).any()
        whose = whole.to_list() if apart else alike.select(rows=names)["rows"].to_list()
        who = f" of {_few_named(whose)}" if len(over) > 1 else ""
        said = f"{name} resampled" if name != "none" else _BY_FORMULA
        notes.append(f"intervals{who}: {said}" + (f" ({_ABOUT[name]})" if name in _ABOUT else ""))
    reason = pl.col("method").str.extract(f"({NO_INTERVAL}.*)$")
    without = frame.group_by(reason.alias("reason"), maintain_order=True).agg(names.alias("rows"))
    for why, rows in without.drop_nulls("reason").iter_rows():
        notes.append(f"{_few_named(rows)}: {why}")
    return notes
