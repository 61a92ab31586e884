"""How often an avatar must be sampled for no change to be seen between two samples."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from affectlab.analysis.frames import FrameSource
from affectlab.analysis.jnd import wording
from affectlab.analysis.jnd.score import Resample
from affectlab.analysis.jnd.time_intervals import (
    fastest_bounds,
    fastest_corrected,
    order_interval,
    rising_times,
)
from affectlab.analysis.jnd.times import JndTimes, arrays_of, times_of
from affectlab.analysis.jnd.wording import Doubt
from affectlab.analysis.pairs import PairSource
from affectlab.core.errors import check_number
from affectlab.core.estimates import Estimate, Estimates
from affectlab.core.facts import Cause, Reason
from affectlab.core.inference import check_confidence
from affectlab.core.result import Result
from affectlab.core.tables import Column, Count, Figure, Key, Number, Table, Text
from affectlab.core.types import Floats
from affectlab.core.wording import undefined_text
from affectlab.core.words import percent

_NO_CHANGE = Reason(Cause.NOTHING_CHANGES)
_RATES = (24, 25, 30, 48, 50, 60, 72, 75, 80, 90, 100, 120, 144, 165, 180, 240, 360, 480, 500, 1000)
"""Rates of cameras and displays in Hz."""
_ALL = "all"
_MANY = 2.0
"""JNDs of a segment beyond which a straight line is doubtful."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SamplingInterval(Result):
    """The longest sampling interval that keeps changes below 1 JND; see :func:`sampling_interval`.

    Its estimates are the shortest times, as published; `corrected` and `share` are further answers.
    """

    overall: Estimate
    """Over all sequences, in milliseconds."""
    actors: Estimates
    """By actor, in milliseconds."""
    share: float
    """Share of sequences that ``share_ms`` keeps below 1 JND."""
    confidence: float
    jnd: Estimate
    """1 JND in score units."""
    frame_ms: float
    """Longest time between two frames of a film, ``nan`` where not known."""
    doubts: tuple[Doubt, ...] = ()
    """Why the straight line between frames, and so the overall interval, cannot be relied on; empty
    where nothing speaks against it. The notes say them in words."""

    @property
    def frame(self) -> pl.DataFrame:
        """One row per group (``all``, then each actor).

        ``group``, ``n_sequences``; ``time_ms``, ``low_ms``, ``high_ms``, the shortest time and its
        interval; ``rate_hz``, ``rate_low_hz``, ``rate_high_hz``, the same as a rate;
        ``corrected_ms``; ``share_ms``, ``share_low_ms``, ``share_high_ms``, the interval that keeps
        a share of the sequences below 1 JND; ``actor``, ``expression`` and ``segment`` of the
        shortest time, ``jnds`` and ``beyond`` (see :class:`JndTimes`).
        """
        return self.to_frame()

    @property
    def rate_hz(self) -> float:
        """Refresh rate that goes with the overall interval, in Hz."""
        return 1000 / self.overall.value

    @property
    def corrected(self) -> float:
        """Overall interval without the pull of picking the shortest of many, in milliseconds."""
        return float(self.frame["corrected_ms"][0])

    @property
    def safe_ms(self) -> float:
        """Short end of the overall interval, which at the stated confidence is no longer than the
        true one where faces move evenly between the frames; see ``doubts``."""
        return self.overall.low


def _groups(share: float) -> tuple[Column, ...]:
    return (
        Key("group", "actor"),
        Count("n_sequences"),
        Number("time_ms", "shortest (ms)", decimals=1),
        Number("low_ms", "from", decimals=1),
        Number("high_ms", "to", decimals=1),
        Number("corrected_ms", "corrected", decimals=1, spare=True),
        Number("share_ms", f"for {percent(share)}", decimals=1, spare=True),
        Number("rate_hz", "Hz", decimals=0),
        Text("expression", spare=True),
    )


def _sentences(
    one: Estimate, doubts: tuple[Doubt, ...], confidence: float, n_actors: int, jnd: Estimate
) -> tuple[str, ...]:
    """Say how often to sample, what is short enough, and what holds for others."""
    if not one.ok:
        return (f"No interval: {undefined_text(one.reason)}.",)
    first, others = wording.sampling_text(one.value, one.low, one.high, one.n_items, n_actors)
    sentences = [first]
    if doubts:
        sentences.append(wording.DOUBTFUL)
    elif one.low > 0:
        sentences.append(wording.safe_text(one.low, confidence, common_rate(1000 / one.low)))
    of_jnd = wording.score_text(jnd.value, math.nan, math.nan, jnd.n_items)
    return (*sentences, others, of_jnd)


def _figure(overall: Estimate, frame: pl.DataFrame) -> Figure:
    """Declare the times of each actor, with the shortest of each and of all."""
    own = {
        row["group"]: [row["time_ms"], row["low_ms"], row["high_ms"]]
        for row in frame.slice(1).iter_rows(named=True)
    }
    shortest = {name: ends[0] for name, ends in own.items()}
    return Figure(
        "jnd_times",
        "jnd_times",
        "sequences",
        wording.TIMES,
        description=wording.shortest_text(overall.value, shortest),
        options={
            "chosen": overall.value,
            "interval": [overall.low, overall.high],
            "own": own,
        },
    )


def sampling_interval(
    times: JndTimes | PairSource,
    frames: FrameSource | None = None,
    *,
    share: float = 0.95,
    jnd: Estimate | float | None = None,
    resample: Resample = "sequences",
    confidence: float | None = None,
    n_boot: int = 1000,
    seed: int | np.random.Generator | None = 0,
) -> SamplingInterval:
    r"""Find how often a face must be sampled for no change to be seen between two samples.

    That is the shortest of the times that expressions take to change by 1 JND. Which number to
    give, and how sure it is, takes some thought, since it rests on one of many times.

    **The published answer** is the shortest estimated time (``time_ms``; 11 ms of 462 sequences).
    Of many times that are all somewhat wrong the shortest is likely to be one that came out too
    short. So it is too short on average, never mind how good each time is: by little where one
    expression is far faster than the others, by several standard errors where many are equally
    fast. That errs on the safe side.

    **Its interval** (``low_ms``, ``high_ms``) cannot come from a bootstrap. Drawing sequences again
    never gives a shorter time than the shortest seen, and drawing errors around the estimates adds
    them a second time. It comes from tests instead (:func:`fastest_bounds`): which intervals are in
    agreement with no sequence changing by more than 1 JND, and with one doing so. It holds whatever
    the distribution of the true times is, and takes the error of 1 JND in. Its short end is the
    number for a promise. In simulated studies of 1 to 462 sequences, with true times from all equal
    to one far ahead, 95 % intervals hold in 95 to 99 %, those of the bootstrap in 0 to 95 %
    (``benchmarks/_jnd_simulation.py``).

    **The corrected answer** (``corrected_ms``) asks which true shortest time would have given an
    estimate as short as this half of the time, if all other segments were as slow as they look. It
    lies between the shortest estimate and the long end, and takes most of the pull out: in these
    simulations its bias is 3 % at most, where that of ``time_ms`` reaches 23 %. It varies a little
    more, so it is no better where one expression stands out.

    **A share** (``share_ms``) is an answer to another question: what keeps 95 % of expressions
    below 1 JND. It rests on many times and not on one, so it changes little if a single film is
    odd, and it is about expressions like these, not only about these. Its interval is that of the
    order of the times, with the error of 1 JND; there is no end where sequences are too few to tell
    (fewer than 72 for the short end at 95 %).

    **No interval covers the straight line** between two frames (see :func:`jnd_times`). Faces are
    faster in the middle of a movement, so all these numbers err on the long side, which is not the
    safe one: ``doubts`` says where it is known to matter. On drawn faces filmed 30 times a second,
    as in the replay of the recipe ``face-expressions``, the answer was 13.5 ms, 12.3 to 15.6, and
    the fastest moment of all took 8 ms. The same goes for a 1 JND that comes out too large, see
    :func:`jnd_score`.

    No interval speaks of faster people. If those to come are like those seen, a further sequence
    is faster than all `n` with a chance of one in :math:`n + 1`, and a further actor with one in
    the number of actors and one more.

    Parameters
    ----------
    times
        From :func:`jnd_times`; or ratings or scores of pairs, with `frames`.
    frames
        Table of frames with their times (frames.csv): actor, expression, role, time_ms.
    share
        Also the interval that keeps this share of sequences below 1 JND.
    jnd
        1 JND in score units, taken to be exact; that of the pairs 1 JND apart when not given.
    resample
        What the interval of 1 JND is about: other sequences, other actors too, or these scores.
    confidence
        Coverage of the intervals; 0.95 when not given.

        That of `times` where these are given.
    n_boot
        Bootstrap replicates for the interval of 1 JND, where that is not given.
    seed
        Same seed, same result.

    Returns
    -------
    SamplingInterval
        Overall and by actor; sequences that do not change are slower than all others.

        ``overall`` and ``actors`` are estimates, ``frame`` a table with all numbers;
        ``rate_hz``, ``corrected``, ``safe_ms`` and ``doubts`` are about the overall one.

    Raises
    ------
    InputError
        When a share is out of range.

    References
    ----------
    Saha et al. (2025), FaceExpressions-70k, section 5.2: 11 ms or 90 Hz overall, 22 ms for actor 7.

    Examples
    --------
    >>> from affectlab.analysis import jnd_times
    >>> scores = pl.DataFrame({
    ...     "actor": "ann", "expression_a": ["joy", "awe"], "expression_b": ["joy", "awe"],
    ...     "role_a": "near_peak", "role_b": "middle", "value": [40.0, 10.0], "se": 2.0,
    ... })
    >>> frames = pl.DataFrame({
    ...     "actor": "ann", "expression": ["joy", "joy", "awe", "awe"],
    ...     "role": ["near_peak", "middle"] * 2, "time_ms": [100, 140, 100, 200],
    ... })
    >>> found = sampling_interval(jnd_times(scores, frames, jnd=20.0))
    >>> found.overall.value, found.rate_hz, found.actors["ann"].n_items
    (20.0, 50.0, 2)
    """
    times = times_of(
        times,
        frames,
        jnd=jnd,
        resample=resample,
        confidence=0.95 if confidence is None else confidence,
        n_boot=n_boot,
        seed=seed,
    )
    confidence = times.confidence if confidence is None else confidence
    check_confidence(confidence)
    check_number("share", share, 0, 1, above=True, below=True)
    rows = [_row(_ALL, times.segments, times.sequences, times.jnd, share, confidence)]
    for actor in times.actors:
        own = pl.col("actor") == actor
        parts = times.segments.filter(own), times.sequences.filter(own)
        rows.append(_row(actor, *parts, times.jnd, share, confidence))
    frame = pl.DataFrame(rows, infer_schema_length=None)
    table = Estimates.build(
        {"actor": frame["group"].to_list()},
        value=frame["time_ms"],
        low=frame["low_ms"],
        high=frame["high_ms"],
        statistic=wording.SHORTEST,
        n_items=frame["n_sequences"],
        reason=[None if math.isfinite(one) else _NO_CHANGE for one in frame["time_ms"]],
    )
    overall = table[_ALL]
    actors = Estimates.of(table.frame.slice(1), table.keys)
    doubts = _doubts(rows[0], times.frame_ms)
    notes = [
        *times.notes,
        *(wording.doubt_text(one, times.frame_ms, rows[0]["jnds"]) for one in doubts),
    ]
    if overall.ok and math.isnan(times.frame_ms):
        notes.append(wording.NO_FRAME_RATE)
    return SamplingInterval(
        (
            Table(
                "groups",
                wording.SAMPLING,
                frame,
                _groups(share),
            ),
            replace(
                actors.tables[0],
                name="actors",
                caption="Shortest times (ms).",
                limit=0,
            ),
            *times.tables[:2],
        ),
        _sentences(overall, doubts, confidence, actors.frame.height, times.jnd),
        (_figure(overall, frame),),
        notes=tuple(notes),
        settings={"jnd": times.jnd, "share": share, "confidence": confidence},
        overall=overall,
        actors=actors,
        share=share,
        confidence=confidence,
        jnd=times.jnd,
        frame_ms=times.frame_ms,
        doubts=doubts,
    )


def common_rate(rate_hz: float) -> int | None:
    """Give the lowest common rate of cameras and displays that is fast enough; None beyond 1 kHz.

    Examples
    --------
    >>> common_rate(62.5), common_rate(90)
    (72, 90)
    """
    return next((rate for rate in _RATES if rate >= rate_hz), None)


def _row(
    group: str,
    segments: pl.DataFrame,
    sequences: pl.DataFrame,
    jnd: Estimate,
    share: float,
    confidence: float,
) -> dict[str, Any]:
    change, se, duration = arrays_of(segments)
    time = sequences["time_ms"].to_numpy()
    known = ~np.isnan(time)
    low, high = fastest_bounds(change, se, duration, jnd.value, jnd.se, confidence)
    corrected = fastest_corrected(change, se, duration, jnd.value, jnd.se)
    shortest = float(time[known].min()) if known.any() else math.nan
    fastest = sequences.row(int(np.nanargmin(time)), named=True) if known.any() else {}
    shares = _share(rising_times(time), jnd, share, confidence)
    return {
        "group": group,
        "n_sequences": sequences.height,
        "time_ms": shortest,
        "low_ms": low,
        "high_ms": high,
        "rate_hz": 1000 / shortest,
        "rate_low_hz": 1000 / high if high > 0 else math.nan,
        "rate_high_hz": 1000 / low if low > 0 else math.inf if low == 0 else math.nan,
        "corrected_ms": corrected if known.any() else math.nan,
        **dict(zip(("share_ms", "share_low_ms", "share_high_ms"), shares, strict=True)),
        **{
            name: fastest.get(name) for name in ("actor", "expression", "segment", "jnds", "beyond")
        },
    }


def _share(
    ordered: Floats, jnd: Estimate, share: float, confidence: float
) -> tuple[float, float, float]:
    """Give the quantile of times that a share of the sequences is slower than, and its interval."""
    from scipy.special import ndtri

    value, low, high = order_interval(ordered, 1 - share, confidence)
    if math.isinf(value):
        return math.nan, low if math.isfinite(low) else math.nan, math.nan
    error = jnd.se / jnd.value * float(ndtri((1 + confidence) / 2))
    below = math.hypot(math.log(value / low), error) if low > 0 else math.nan
    above = math.hypot(math.log(high / value), error) if high >= value else math.nan
    return value, value * math.exp(-below), value * math.exp(above)


def _doubts(overall: dict[str, Any], frame_ms: float) -> tuple[Doubt, ...]:
    doubts = {
        Doubt.BETWEEN_FRAMES: overall["time_ms"] < frame_ms,
        Doubt.BEYOND_SEGMENT: bool(overall["beyond"]),
        Doubt.LONG_SEGMENT: overall["jnds"] is not None and overall["jnds"] > _MANY,
    }
    return tuple(doubt for doubt, holds in doubts.items() if holds)
