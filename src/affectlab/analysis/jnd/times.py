"""How long each expression takes to change by one just noticeable difference."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import polars as pl

from affectlab.analysis.frames import PLACES, FrameSource, between, read_frames
from affectlab.analysis.jnd import wording
from affectlab.analysis.jnd.score import Resample, jnd_score, uncounted
from affectlab.analysis.jnd.time_intervals import order_interval, rising_times, time_bound
from affectlab.analysis.pairs import PairScores, PairSource, pair_scores
from affectlab.core.errors import InputError, check_choice
from affectlab.core.estimates import Estimate, Estimates
from affectlab.core.facts import Cause, Reason, fact_column, reason_type
from affectlab.core.inference import check_confidence
from affectlab.core.result import Result
from affectlab.core.tables import Count, Figure, Interval, Key, Number, Table, Text, Value, YesNo
from affectlab.core.types import Floats
from affectlab.core.words import option

# When the frames of a transition were filmed, and how the score changes between them.


SEGMENTS = {"first": (2, 3), "second": (3, 4)}
"""The two segments between the three middle frames, and the places of their ends."""


def frame_times(frames: FrameSource) -> tuple[pl.DataFrame, float]:
    """Read when the frames of each sequence were filmed.

    Parameters
    ----------
    frames
        ``frames.csv`` of ``affectlab stimuli frames``, or such a table: ``actor``, ``expression``,
        ``role``, ``time_ms`` and perhaps ``fps``.

    Returns
    -------
    ``actor``, ``expression``, ``place`` and ``time_ms`` (null where it is not known), one row per
    frame; and the longest time between two frames of any film in milliseconds, ``nan`` where the
    rates are not known.

    Raises
    ------
    InputError
        When a column is missing, a cell is no number, a frame stands twice, or no frame has a time.
    """
    table, where = read_frames(frames)
    place = pl.col("role").replace_strict(PLACES, default=None, return_dtype=pl.Int64)
    known = table.with_columns(place.alias("place")).filter(pl.col("place").is_not_null())
    if not known.height:
        raise InputError(
            f"{where}no frame has a role such as near_peak or middle; expected five frames of each "
            "transition, as affectlab stimuli frames makes them"
        )
    keys = ["actor", "expression", "place"]
    for name in keys[:2]:
        if (known[name].is_null() | (known[name] == "")).any():
            raise InputError(f"{where}a frame has no {name}; expected a name")
    twice = known.filter(pl.struct(keys).is_duplicated())
    if twice.height:
        one = twice.row(0, named=True)
        raise InputError(
            f"{where}actor {one['actor']!r}, expression {one['expression']!r}: role "
            f"{one['role']!r} stands twice; expected each frame once"
        )
    if known["time_ms"].is_null().all():
        raise InputError(
            f"{where}no frame has a time (time_ms); expected milliseconds: give --config fps= to "
            "affectlab stimuli frames where films are folders of pictures"
        )
    longest = float("nan")
    if "fps" in table.columns and (rates := table["fps"].drop_nulls()).len():
        slowest = float(rates.min())  # type: ignore[arg-type]
        if slowest <= 0:
            raise InputError(f"{where}fps {slowest:g}; expected frames per second above 0")
        longest = 1000 / slowest
    return known.select(*keys, "time_ms"), longest


def middle_segments(scores: PairScores, times: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Give score, error and duration of the segments between the three middle frames.

    Returns
    -------
    ``actor``, ``expression``, ``segment`` (first, second), ``start_ms`` and ``end_ms`` (times of
    its frames, that nearer to the peak first), ``duration_ms``, ``change`` and ``change_se``; and
    what was left out, in words.

    Raises
    ------
    InputError
        When there is no segment, a pair stands twice, or times do not follow the frames.
    """
    compared = between(scores.intra().frame)
    steps = [
        compared.filter((pl.col("from") == start) & (pl.col("to") == end)).with_columns(
            pl.lit(name).alias("segment")
        )
        for name, (start, end) in SEGMENTS.items()
    ]
    found = pl.concat(steps)
    if not found.height:
        raise InputError(
            "no pair compares near_peak with middle, or middle with near_neutral; expected the "
            "pairs within each transition, as affectlab stimuli pairs makes them"
        )
    twice = found.filter(pl.struct("actor", "expression", "segment").is_duplicated())
    if twice.height:
        one = twice.row(0, named=True)
        raise InputError(
            f"actor {one['actor']!r}, expression {one['expression']!r}: its {one['segment']} "
            "segment has two scores; expected one pair of each two frames"
        )
    keys = ["actor", "expression"]
    at = times.rename({"place": "from", "time_ms": "start_ms"})
    until = times.rename({"place": "to", "time_ms": "end_ms"})
    timed = found.join(at, on=[*keys, "from"], how="left", maintain_order="left").join(
        until, on=[*keys, "to"], how="left", maintain_order="left"
    )
    notes = []
    lacking = timed.filter(pl.col("start_ms").is_null() | pl.col("end_ms").is_null())
    if lacking.height:
        n = lacking.select(keys).n_unique()
        first = lacking.row(0, named=True)
        notes.append(wording.untimed(n, first["actor"], first["expression"]))
    timed = timed.join(lacking.select(keys).unique(), on=keys, how="anti", maintain_order="left")
    if not timed.height:
        raise InputError(
            "no sequence has both scores and times; expected the same actors and expressions in "
            "the scores and in the table of frames"
        )
    _check_order(timed)
    segments = timed.select(
        *keys,
        pl.col("segment").cast(pl.Enum(list(SEGMENTS))),
        "start_ms",
        "end_ms",
        duration_ms=(pl.col("end_ms") - pl.col("start_ms")).abs(),
        change="value",
        change_se="se",
    )
    return segments.sort(*keys, "segment", maintain_order=True), notes


def _check_order(timed: pl.DataFrame) -> None:
    """Times rise from frame to frame, or fall, as in a film from rest to the peak."""
    forward = (pl.col("end_ms") - pl.col("start_ms")).sign()
    wrong = timed.with_columns(forward.alias("way")).filter(
        (pl.col("way") == 0) | (pl.col("way").n_unique().over("actor", "expression") > 1)
    )
    if wrong.height:
        one = wrong.row(0, named=True)
        raise InputError(
            f"actor {one['actor']!r}, expression {one['expression']!r}: frames at "
            f"{one['start_ms']:g} and {one['end_ms']:g} ms; expected times that rise from frame to "
            "frame, or fall in a film from rest to the peak"
        )


_STILL = Reason(Cause.NO_CHANGE)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class JndTimes(Result):
    """Times in which expressions change by 1 JND; see :func:`jnd_times`."""

    jnd: Estimate
    """1 JND in score units."""
    confidence: float
    """Coverage that the intervals aim at."""
    frame_ms: float
    """Longest time between two frames of a film, ``nan`` where not known."""
    unit: str = "score"

    @property
    def segments(self) -> pl.DataFrame:
        """One row per segment.

        ``actor``, ``expression``, ``segment`` (first: from near_peak to middle, second: from middle
        to near_neutral), ``start_ms`` and ``end_ms`` (when its frames were filmed),
        ``duration_ms``, ``change`` and ``change_se`` (score units), ``jnds`` (the change in JNDs),
        ``time_ms``, ``low_ms`` and ``high_ms`` (``inf``: no end), ``beyond`` (the time is longer
        than the segment), ``status``, ``reason``.
        """
        return self.to_frame("segments")

    @property
    def sequences(self) -> pl.DataFrame:
        """One row per sequence, with the shorter time of its two segments.

        ``actor``, ``expression``, ``segment``, ``start_ms``, ``jnds``, ``time_ms``, ``low_ms``,
        ``high_ms``, ``beyond``, ``n_segments`` (that change), ``status``, ``reason``.
        """
        return self.to_frame()

    @property
    def actors(self) -> tuple[str, ...]:
        """Names of the actors, in the order of the table."""
        return tuple(self.sequences["actor"].unique(maintain_order=True).to_list())

    def typical(self, by: Literal["actor", "expression"] = "actor") -> Estimates:
        """Give the median time by actor or by expression, with the median's own interval.

        Returns
        -------
        Estimates
            In milliseconds. The interval is that of the order statistics (binomial, for sequences
            like these); there is none for fewer than six sequences at 95 %. Sequences that do not
            change count as slower than any that do.
        """
        check_choice("grouping", by, ("actor", "expression"))
        return _typical(self.sequences, by, self.confidence)

    def __len__(self) -> int:
        return self.sequences.height


def _typical(sequences: pl.DataFrame, by: str, confidence: float) -> Estimates:
    parts = sequences.partition_by(by, as_dict=True, maintain_order=True)
    times = {str(key[0]): rising_times(part["time_ms"].to_numpy()) for key, part in parts.items()}
    found = [order_interval(one, 0.5, confidence) for one in times.values()]
    value, low, high = (np.array(column) for column in zip(*found, strict=True))
    return Estimates.build(
        {by: list(times)},
        value=np.where(np.isfinite(value), value, np.nan),
        low=low,
        high=high,
        statistic=(wording.MEDIAN_TIME, "linear between frames"),
        n_items=[one.size for one in times.values()],
        reason=[
            None if known else Reason(Cause.MOST_DO_NOT_CHANGE) for known in np.isfinite(value)
        ],
    )


_ACTORS = (
    Key("actor"),
    Value(head="median (ms)", decimals=1),
    Interval(decimals=1),
    Count("n_items", "sequences"),
)
_SEGMENTS = (
    Key("actor"),
    Key("expression"),
    Key("segment"),
    Number("jnds", "JNDs"),
    Number("time_ms", "time (ms)", decimals=1),
    YesNo("beyond"),
    Text("status"),
)


def _tables(segments: pl.DataFrame, sequences: pl.DataFrame, confidence: float) -> list[Table]:
    actors = _typical(sequences, "actor", confidence).tables[0]
    return [
        Table("sequences", "Times of sequences.", sequences, _SEGMENTS, limit=0),
        Table("segments", "Times of segments.", segments, _SEGMENTS, limit=0),
        replace(
            actors,
            name="actors",
            caption=f"{wording.TIMES}.",
            columns=_ACTORS,
        ),
    ]


def jnd_times(
    scores: PairSource,
    frames: FrameSource,
    *,
    jnd: Estimate | float | None = None,
    resample: Resample = "sequences",
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
        Table of frames with their times (frames.csv): actor, expression, role, time_ms.
    jnd
        1 JND in score units, taken to be exact; that of the pairs 1 JND apart when not given.

        An estimate brings its error, as that of :func:`jnd_score` does.
    resample
        What the interval of 1 JND is about: other sequences, other actors too, or these scores.
    confidence
        Coverage of the intervals, in (0, 1).
    n_boot
        Bootstrap replicates for the interval of 1 JND, where that is not given.
    seed
        Same seed, same result.

    Returns
    -------
    JndTimes
        ``sequences`` and ``segments`` are tables, ``jnd`` is 1 JND in score units,
        ``frame_ms`` the longest time between two frames of a film, and ``typical(by)``
        gives the median time by actor or by expression.

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
        jnd = jnd_score(pairs, resample=resample, n_boot=n_boot, confidence=confidence, seed=seed)
        notes += uncounted(pairs)
    one = given_jnd(jnd)
    # A number that is given is exact; an estimate without an error leaves no interval.
    if segments["change_se"].is_nan().any():
        notes.append(wording.NO_ERRORS)
    timed = _timed(segments, one, confidence)
    sequences = _fastest(timed)
    still = int((timed["status"] != "ok").sum())
    if still:
        notes.append(wording.still_segments(still, timed.height))
    actors = sequences["actor"].n_unique()
    shortest = rising_times(sequences["time_ms"].to_numpy())[:1]
    known = [float(ms) for ms in shortest if math.isfinite(ms)]
    sentence = wording.times_text(sequences.height, actors, one.value, known)
    return JndTimes(
        tuple(_tables(timed, sequences, confidence)),
        (sentence,),
        (
            Figure(
                "jnd_times",
                "jnd_times",
                "sequences",
                wording.TIMES,
                description=sentence,
            ),
        ),
        notes=(*pairs.notes, *notes),
        settings={"jnd": one, "confidence": confidence, "frame_ms": frame_ms},
        jnd=one,
        confidence=confidence,
        frame_ms=frame_ms,
        unit=pairs.unit,
    )


def times_of(times: JndTimes | PairSource, frames: FrameSource | None, **options: Any) -> JndTimes:
    """Take times as they are, or find them from scores and frames with these options.

    Raises
    ------
    InputError
        When scores come without frames, or times with them.
    """
    if isinstance(times, JndTimes):
        if frames is not None:
            raise InputError("frames: times to 1 JND know when frames were filmed; expected None")
        return times
    if frames is None:
        raise InputError(
            "frames: not given; expected the table that says when frames were filmed "
            f"({option('frames', 'frames.csv')})"
        )
    return jnd_times(times, frames, **options)


def given_jnd(jnd: Estimate | float) -> Estimate:
    """Take 1 JND as an estimate; a number is exact."""
    one = jnd if isinstance(jnd, Estimate) else Estimate(float(jnd), "1 JND as given", se=0.0)
    if not one.value > 0 or math.isinf(one.value):
        raise InputError(f"1 JND is {one.value:g} score units; expected a number above 0")
    if one.se < 0:
        raise InputError(f"1 JND has a standard error of {one.se:g}; expected a number from 0")
    return one


def _timed(segments: pl.DataFrame, jnd: Estimate, confidence: float) -> pl.DataFrame:
    """Add times and intervals to segments."""
    from scipy.special import ndtri

    critical = float(ndtri((1 + confidence) / 2))
    change, se, duration = arrays_of(segments)
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
        pl.Series("status", np.where(moves, "ok", "undefined").tolist()),
        fact_column("reason", [None if one else _STILL for one in moves], reason_type()),
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
        .select(*keys, "segment", "start_ms", "jnds", "time_ms", "beyond", "status", "reason")
    )
    shown = ("segment", "start_ms", "jnds", "time_ms", "low_ms", "high_ms", "beyond")
    joined = ends.join(shorter, on=keys, how="left", maintain_order="left")
    return joined.select(*keys, *shown, "n_segments", "status", "reason")


def arrays_of(segments: pl.DataFrame) -> tuple[Floats, Floats, Floats]:
    """Give change, its standard error and duration of segments."""
    change, se, duration = (
        segments[name].to_numpy() for name in ("change", "change_se", "duration_ms")
    )
    return change, se, duration
