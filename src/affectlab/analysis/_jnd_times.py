"""How long each expression takes to change by one just noticeable difference."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from affectlab._resampling import check_confidence
from affectlab._types import Floats
from affectlab._words import number, plural
from affectlab.analysis._jnd_score import jnd_score
from affectlab.analysis._jnd_times_bounds import time_bound
from affectlab.analysis._jnd_times_order import order_interval, rising_times
from affectlab.analysis._jnd_times_table import FrameSource, frame_times, middle_segments
from affectlab.analysis._pair_scores import PairSource, pair_scores
from affectlab.errors import InputError, unknown_name
from affectlab.estimates import Estimate, Estimates

if TYPE_CHECKING:
    from affectlab._terminal import Table

__all__ = ["JndTimes", "arrays_of", "given_jnd", "jnd_times"]

_METHOD = "time to 1 JND, linear between frames"
_STILL = "no change: the score is not above 0"


@dataclass(frozen=True, eq=False)
class JndTimes:
    """Times in which expressions change by 1 JND; see :func:`jnd_times`."""

    segments: pl.DataFrame
    """One row per segment: ``actor``, ``expression``, ``segment`` (first: from near_peak to middle,
    second: from middle to near_neutral), ``start_ms`` and ``end_ms`` (when its frames were filmed),
    ``duration_ms``, ``change`` and ``change_se`` (score units), ``jnds`` (the change in JNDs),
    ``time_ms``, ``low_ms`` and ``high_ms`` (``inf``: no end), ``beyond`` (the time is longer than
    the segment), ``status``."""
    sequences: pl.DataFrame
    """One row per sequence, with the shorter time of its two segments: ``actor``, ``expression``,
    ``segment``, ``start_ms``, ``jnds``, ``time_ms``, ``low_ms``, ``high_ms``, ``beyond``,
    ``n_segments`` (that change), ``status``."""
    jnd: Estimate
    """1 JND in score units."""
    confidence: float
    """Coverage that the intervals aim at."""
    frame_ms: float
    """Longest time between two frames of a film, ``nan`` where not known."""
    unit: str = "score"
    notes: tuple[str, ...] = ()
    """What a reader should know, in words."""

    @property
    def actors(self) -> tuple[str, ...]:
        """Names of the actors, in the order of the table."""
        return tuple(self.sequences["actor"].unique(maintain_order=True).to_list())

    def to_frame(self) -> pl.DataFrame:
        """Give one row per sequence."""
        return self.sequences

    def typical(self, by: Literal["actor", "expression"] = "actor") -> Estimates:
        """Give the median time by actor or by expression, with the median's own interval.

        Returns
        -------
        Estimates
            In milliseconds. The interval is that of the order statistics (binomial, for sequences
            like these); there is none for fewer than six sequences at 95 %. Sequences that do not
            change count as slower than any that do.
        """
        if by not in ("actor", "expression"):
            raise unknown_name("grouping", by, ("actor", "expression"))
        parts = self.sequences.partition_by(by, as_dict=True, maintain_order=True)
        times = {
            str(key[0]): rising_times(part["time_ms"].to_numpy()) for key, part in parts.items()
        }
        found = [order_interval(one, 0.5, self.confidence) for one in times.values()]
        value, low, high = (np.array(column) for column in zip(*found, strict=True))
        status = np.where(np.isfinite(value), "ok", "undefined: most sequences do not change")
        return Estimates.build(
            {by: list(times)},
            value=np.where(np.isfinite(value), value, np.nan),
            low=low,
            high=high,
            method="median " + _METHOD,
            n_items=[one.size for one in times.values()],
            status=status.tolist(),
        )

    def __len__(self) -> int:
        return self.sequences.height

    def __repr__(self) -> str:
        shortest = self.sequences["time_ms"].min()
        parts = [plural(len(self), "sequence"), plural(len(self.actors), "actor")]
        parts += [f"1 JND = {number(self.jnd.value)}"]
        if shortest is not None and math.isfinite(shortest):  # type: ignore[arg-type]
            parts.append(f"shortest {number(float(shortest), 1)} ms")  # type: ignore[arg-type]
        return f"JndTimes({', '.join(parts)})"

    def _repr_html_(self) -> str:
        return self.sequences._repr_html_()

    def __rich__(self) -> Table:
        return self.typical().__rich__()


def jnd_times(
    scores: PairSource,
    frames: FrameSource,
    *,
    jnd: Estimate | float | None = None,
    confidence: float = 0.95,
    n_boot: int = 1000,
    seed: int | np.random.Generator | None = 0,
) -> JndTimes:
    r"""Find how long each expression takes to change by 1 JND.

    Between two frames the score is taken to change evenly. With a score :math:`d` between two
    consecutive frames that were filmed :math:`\Delta` apart, and 1 JND of :math:`J`, the time is
    :math:`\tau = \Delta\, J / d`. There are two such segments between the three middle frames of a
    sequence; both are reported, and the shorter time is that of the sequence. The first and the
    last frame do not count, as the face may hold still there. A segment whose score is not above 0
    has no time, and says so.

    Intervals are Fieller's (:func:`time_bound`), from the standard errors of the scores and of
    1 JND; where a change is not told from none the longer end is ``inf``. That of a sequence has
    the smaller ends of its two segments.

    What intervals do not cover is the straight line. A time shorter than a frame of the film is
    read off a line between frames that are farther apart; ``frame_ms`` says how far frames are
    apart. A face is faster somewhere between two frames than it is on average, and large scores
    fall short of the sum of their parts. Both make a time too long, the more so the more JNDs a
    segment holds (``jnds``): with one or two it is a good approximation, beyond it is not.

    Parameters
    ----------
    scores
        Ratings of the protocol ``difference``, or scores; see :func:`pair_scores`.
    frames
        When frames were filmed: ``frames.csv``, or a table with ``actor``, ``expression``,
        ``role`` and ``time_ms``.
    jnd
        1 JND in score units; a number is taken to be exact. That of :func:`jnd_score`, from these
        scores, where not given.
    confidence
        Coverage of the intervals, in (0, 1).
    n_boot, seed
        Of :func:`jnd_score`, where `jnd` is not given.

    Raises
    ------
    InputError
        When the tables do not fit each other, lack columns or times, or `jnd` is not above 0.

    References
    ----------
    Saha et al. (2025), FaceExpressions-70k, section 5.2 and figure 11.

    Examples
    --------
    >>> scores = pl.DataFrame({
    ...     "actor": "ann", "expression_a": "joy", "expression_b": "joy",
    ...     "role_a": ["peak", "near_peak", "middle"],
    ...     "role_b": ["near_peak", "middle", "near_neutral"],
    ...     "value": [20.0, 40.0, 50.0], "se": [2.0, 2.0, 2.0],
    ... })
    >>> frames = pl.DataFrame({
    ...     "actor": "ann", "expression": "joy", "time_ms": [100, 200, 280],
    ...     "role": ["near_peak", "middle", "near_neutral"],
    ... })
    >>> times = jnd_times(scores, frames, jnd=20.0)
    >>> times.segments["time_ms"].to_list(), times.sequences["time_ms"].to_list()
    ([50.0, 32.0], [32.0])
    """
    check_confidence(confidence)
    pairs = pair_scores(scores)
    filmed, frame_ms = frame_times(frames)
    segments, notes = middle_segments(pairs, filmed)
    if jnd is None:
        jnd = jnd_score(pairs, n_boot=n_boot, confidence=confidence, seed=seed)
    one = given_jnd(jnd)
    # A number that is given is exact; an estimate without an error leaves no interval.
    if segments["change_se"].is_nan().any():
        notes.append("scores without standard errors: times have no intervals")
    timed = _timed(segments, one, confidence)
    sequences = _fastest(timed)
    still = int((timed["status"] != "ok").sum())
    if still:
        notes.append(f"{plural(still, 'segment')} of {timed.height:,} without positive change")
    return JndTimes(timed, sequences, one, confidence, frame_ms, pairs.unit, (*pairs.notes, *notes))


def given_jnd(jnd: Estimate | float) -> Estimate:
    """Take 1 JND as an estimate; a number is exact."""
    one = jnd if isinstance(jnd, Estimate) else Estimate(float(jnd), 0.0, method="1 JND as given")
    if not one.value > 0 or math.isinf(one.value):
        raise InputError(f"1 JND is {one.value:g} score units; expected a number above 0")
    if one.se < 0:
        raise InputError(f"1 JND has a standard error of {one.se:g}; expected a number from 0")
    return one


def _timed(segments: pl.DataFrame, jnd: Estimate, confidence: float) -> pl.DataFrame:
    """Add times and intervals to segments."""
    from scipy.special import ndtri

    critical = float(ndtri((1 + confidence) / 2))
    change, se, duration = (
        segments[name].to_numpy() for name in ("change", "change_se", "duration_ms")
    )
    moves = change > 0
    time = np.full(change.size, np.nan)
    time[moves] = duration[moves] * jnd.value / change[moves]
    low, high = (
        time_bound(change, se, duration, jnd.value, jnd.se, sign * critical) for sign in (1, -1)
    )
    return segments.with_columns(
        pl.Series("jnds", change / jnd.value),
        pl.Series("time_ms", time),
        pl.Series("low_ms", low),
        pl.Series("high_ms", high),
        pl.Series("beyond", np.nan_to_num(time, nan=np.inf) > duration),
        pl.Series("status", np.where(moves, "ok", _STILL).tolist()),
    )


def _fastest(segments: pl.DataFrame) -> pl.DataFrame:
    """Give each sequence the time of the segment that reaches 1 JND sooner.

    The ends of its interval are the smaller ones of those of both segments. With independent errors
    of equal segments these miss the shorter of the two true times as often as either misses its
    own, and more rarely where one segment is somewhat slower.
    """
    keys = ["actor", "expression"]
    ends = segments.group_by(keys, maintain_order=True).agg(
        pl.col("low_ms", "high_ms").nan_min(),
        (pl.col("status") == "ok").sum().cast(pl.Int64).alias("n_segments"),
    )
    shorter = (
        segments.sort(pl.col("time_ms").fill_nan(math.inf), maintain_order=True)
        .unique(keys, keep="first", maintain_order=True)
        .with_columns(pl.when(pl.col("status") == "ok").then("segment").alias("segment"))
        .select(*keys, "segment", "start_ms", "jnds", "time_ms", "beyond", "status")
    )
    joined = ends.join(shorter, on=keys, how="left", maintain_order="left")
    return joined.select(
        *keys,
        "segment",
        "start_ms",
        "jnds",
        "time_ms",
        "low_ms",
        "high_ms",
        "beyond",
        "n_segments",
        "status",
    )


def arrays_of(segments: pl.DataFrame) -> tuple[Floats, Floats, Floats]:
    """Give change, its standard error and duration of segments."""
    change, se, duration = (
        segments[name].to_numpy() for name in ("change", "change_se", "duration_ms")
    )
    return change, se, duration
