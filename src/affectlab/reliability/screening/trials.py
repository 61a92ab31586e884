"""The answers that screening looks at, as arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.core.errors import InputError
from affectlab.core.files.columns import require_columns
from affectlab.core.types import Floats, Ints
from affectlab.ratings import Ratings, numeric_part, read_table, row_column
from affectlab.reliability.common_scale import in_percent
from affectlab.reliability.screening.golden import GoldenItems

T = TypeVar("T")
Mask: TypeAlias = NDArray[np.bool_]
Golden: TypeAlias = str | Path | pl.DataFrame | Mapping[str, float] | GoldenItems | None
"""Known answers: a table of ``stimulus``, ``value`` and perhaps ``label``, its file, or golden
items."""


@dataclass(frozen=True, eq=False)
class Trials:
    """Valid answers of all kinds of trials, in the order in which each rater gave them.

    ``unit`` is what is judged: a session of a rater, or a rater. Arrays have one entry per answer.
    """

    unit: Ints
    rater: Ints
    cell: Ints
    """Code of the stimulus and label."""
    main: Mask
    golden: Mask
    repeat: Mask
    value: Floats
    row: Ints
    """Row of the table of ratings."""
    rt_ms: Floats | None
    movement: Floats | None
    expected: Floats
    """The known answer; ``nan`` without one."""
    rater_of_unit: Ints
    session: tuple[str, ...] | None
    """Name of the session of each unit."""
    raters: tuple[str, ...]
    low: float | None
    high: float | None
    decimal_points: bool
    """Whether answers are points of one scale, and not percent of the scale of each label."""
    ratings: Ratings
    """The table that the answers come from."""
    _found: dict[Any, Any] = field(init=False, default_factory=dict)
    """What was found of these answers that several rules ask for."""

    def once(self, key: Any, find: Callable[[], T]) -> T:
        """Find something of these answers when it is first asked for, and keep it."""
        if key not in self._found:
            self._found[key] = find()
        known: T = self._found[key]
        return known

    @property
    def n_units(self) -> int:
        """Sessions, or raters."""
        return self.rater_of_unit.size

    @property
    def width(self) -> float | None:
        """Length of the scale; ``None`` without two ends."""
        return None if self.low is None or self.high is None else self.high - self.low

    def count(self, chosen: Mask) -> Ints:
        """Count chosen answers of each unit."""
        counts: Ints = np.bincount(self.unit[chosen], minlength=self.n_units)
        return counts

    def sd(self, values: Floats, chosen: Mask) -> Floats:
        """Population SD of chosen values in each unit; ``nan`` where there is none."""
        unit, x = self.unit[chosen], values[chosen]
        n = self.count(chosen)
        with np.errstate(invalid="ignore"):
            mean = np.bincount(unit, x, self.n_units) / n
            squares = np.bincount(unit, (x - mean[unit]) ** 2, self.n_units)
            sd: Floats = np.sqrt(squares / n)
        return sd


def trials_of(ratings: Ratings, *, per_session: bool, golden: Golden) -> Trials:
    """Read what the rules need.

    Raises
    ------
    InputError
        If the ratings are text, or the golden table lacks a column.
    """
    ratings, ends = in_percent(numeric_part(ratings))
    frame = ratings.coded_frame
    valid = ~np.isnan(ratings.value)
    if "outcome" in frame.columns:
        valid &= (frame["outcome"].cast(pl.String) == "ok").fill_null(True).to_numpy()
    rows = _in_order(frame, ratings, valid)
    rater = ratings.rater_code[rows].astype(np.int64)
    with_sessions = per_session and "session" in frame.columns
    if with_sessions:
        given = frame["session"].cast(pl.String).fill_null("")
        names = given.unique(maintain_order=True)
        code = given.cast(pl.Enum(names)).to_physical().to_numpy()[rows].astype(np.int64)
        pair = rater * len(names) + code
        # Sessions of a rater stand in the order in which they were worked on.
        units, first, unit = np.unique(pair, return_index=True, return_inverse=True)
        order = np.lexsort((first, units // len(names)))
        place = np.empty_like(order)
        place[order] = np.arange(order.size)
        unit, units = place[unit], units[order]
        session: tuple[str, ...] | None = tuple(names.gather(units % len(names)).to_list())
        rater_of_unit = units // len(names)
    else:
        unit, session, rater_of_unit = rater, None, np.arange(ratings.n_raters)
    cell = ratings.stimulus_code.astype(np.int64) * ratings.n_labels + ratings.label_code
    return Trials(
        unit=unit,
        rater=rater,
        cell=cell[rows],
        main=_of_kind(frame, "main")[rows],
        golden=_of_kind(frame, "golden")[rows],
        repeat=_of_kind(frame, "repeat")[rows],
        value=ratings.value[rows],
        row=rows,
        rt_ms=_numbers(ratings, "rt_ms", rows),
        movement=_numbers(ratings, "movement", rows),
        expected=_percent(_expected(ratings, golden, cell), ratings, ends)[rows],
        decimal_points=not ends,
        rater_of_unit=rater_of_unit,
        session=session,
        raters=ratings.rater_names,
        low=ratings.scale.low,
        high=ratings.scale.high,
        ratings=ratings,
    )


def _of_kind(frame: pl.DataFrame, kind: str) -> Mask:
    if "trial_kind" not in frame.columns:
        return np.full(frame.height, kind == "main")
    mask: Mask = (frame["trial_kind"].cast(pl.String).fill_null("main") == kind).to_numpy()
    return mask


def _in_order(frame: pl.DataFrame, ratings: Ratings, valid: Mask) -> Ints:
    """Rows of valid answers by rater and then time or trial number, where these are known."""
    rater, known = (
        ratings.rater_code,
        (
            frame[name]
            for name in ("at", "trial")
            if name in frame.columns and frame[name].null_count() < frame.height
        ),
    )
    first = next(known, None)
    if first is None:
        # Short codes are sorted in a time that is linear in the number of rows.
        short = rater.astype(np.uint16) if ratings.n_raters <= 1 << 16 else rater
        order = np.argsort(short, kind="stable")
        return order if valid.all() else order[valid[order]]
    keys = [pl.Series("rater", rater), first]
    table = pl.DataFrame([key.alias(f"key{n}") for n, key in enumerate(keys)])
    order = table.with_row_index("row").sort(table.columns, maintain_order=True)["row"].to_numpy()
    rows: Ints = order[valid[order]].astype(np.int64)
    return rows


def _numbers(ratings: Ratings, name: str, rows: Ints) -> Floats | None:
    column = row_column(ratings, name, stimuli_first=True)
    if column is None:
        return None
    if not column.dtype.is_numeric() and column.dtype != pl.Null:
        raise InputError(f"column {name!r}: expected numbers, got {column.dtype}")
    values: Floats = column.cast(pl.Float64).fill_null(np.nan).to_numpy()[rows]
    return values


def _percent(expected: Floats, ratings: Ratings, ends: Mapping[str, tuple[float, float]]) -> Floats:
    """Bring known answers to percent of the width of each scale, as the answers are."""
    if not ends:
        return expected
    low, high = np.array([ends[name] for name in ratings.label_names]).T[:, ratings.label_code]
    percent: Floats = 100 * (expected - low) / (high - low)
    return percent


def _expected(ratings: Ratings, golden: Golden, cell: Ints) -> Floats:
    """Known answer of every row."""
    if golden is None:
        every = _numbers(ratings, "expected", np.arange(ratings.n_rows))
        return np.full(ratings.n_rows, np.nan) if every is None else every
    if isinstance(golden, GoldenItems):
        label = golden.label if golden.label in ratings.label_names else None
        table = golden.to_frame().select("stimulus", "value")
        if label is not None and ratings.has_labels:
            table = table.with_columns(label=pl.lit(label))
    elif isinstance(golden, Mapping):
        table = pl.DataFrame({"stimulus": list(golden), "value": list(golden.values())})
    elif isinstance(golden, str | Path):
        table = read_table(golden)
    else:
        table = golden
    require_columns(table, ("stimulus", "value"), "the golden table: ")
    stimuli = {name: code for code, name in enumerate(ratings.stimulus_names)}
    labels = {name: code for code, name in enumerate(ratings.label_names)}
    known = np.full(len(stimuli) * len(labels), np.nan)
    for row in table.iter_rows(named=True):
        stimulus = stimuli.get(str(row["stimulus"]))
        if stimulus is None or row["value"] is None:
            continue
        label = row.get("label")
        if label is None:
            known[stimulus * len(labels) : (stimulus + 1) * len(labels)] = _known(row)
        elif str(label) in labels:
            known[stimulus * len(labels) + labels[str(label)]] = _known(row)
    return known[cell]


def _known(row: Mapping[str, Any]) -> float:
    try:
        return float(row["value"])
    except (TypeError, ValueError):
        raise InputError(
            f"golden table, stimulus {row['stimulus']!r}: value {row['value']!r} is not a number"
        ) from None
