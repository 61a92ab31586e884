"""Which frames show whether a predicted JND is one: those of a display, from a first one on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from affectlab.analysis.frames import FrameSource
from affectlab.analysis.jnd.score import Resample
from affectlab.analysis.jnd.times import JndTimes, times_of
from affectlab.analysis.jnd.wording import STRIP, strip_text
from affectlab.analysis.pairs import PairSource
from affectlab.core.errors import InputError, check_number
from affectlab.core.estimates import Estimate
from affectlab.core.result import Result
from affectlab.core.tables import Count, Figure, Key, Number, Table, YesNo
from affectlab.core.types import Floats, Ints

_AFTER = 2
"""Frames behind the one at 1 JND."""
_SLACK = 1e-6
"""Milliseconds by which the time of a frame may be rounded."""


def strip_choices(times: JndTimes, n: int = 2, *, step_ms: float = math.nan) -> pl.DataFrame:
    """Choose the fastest expressions that a strip can say something about.

    Where 1 JND comes before the second frame, a strip shows only that the next frame differs. So
    expressions whose time is at least two steps long come first, of different actors as far as
    possible.

    Parameters
    ----------
    times
        From :func:`jnd_times`.
    n
        How many, 1 or more.
    step_ms
        Time between frames of the strip; that of the films where not given.

    Returns
    -------
    At most n rows of ``times.sequences``.

    Raises
    ------
    InputError
        When `n` is below 1, or nothing changes.
    """
    check_number("n", n, 1, whole=True)
    step = times.frame_ms if math.isnan(step_ms) else step_ms
    known = times.sequences.filter(pl.col("time_ms").is_not_nan()).sort(
        "time_ms", maintain_order=True
    )
    if not known.height:
        raise InputError("no sequence changes, so that there is no frame at 1 JND")
    soon = pl.col("time_ms") < 2 * (0.0 if math.isnan(step) else step)
    ordered = known.with_columns(soon.alias("soon"))
    # Turns are counted among those that are not too soon, so that each actor gives its fastest.
    ordered = ordered.with_columns(pl.int_range(pl.len()).over("actor", "soon").alias("turn"))
    return ordered.sort("soon", "turn", maintain_order=True).head(n).drop("soon", "turn")


def jnd_strip(
    times: JndTimes,
    actor: str,
    expression: str,
    film_ms: ArrayLike,
    *,
    rate_hz: float | None = None,
) -> tuple[Ints, Floats, Floats]:
    """Choose the frames of a film that show the change up to 1 JND, and a little further.

    The strip begins at the start of the segment that counts, and goes on with what a display of
    the given rate shows: at each of its ticks the last frame filmed until then. The change is the
    straight line of the JND time, so the mark is where 1 JND is predicted, and the pictures say
    whether it is seen.

    Parameters
    ----------
    times
        From :func:`jnd_times`.
    actor, expression
        A sequence that changes.
    film_ms
        Times of all frames of its film, in any order, shape (n,), on the clock of the table of
        frames.
    rate_hz
        Rate of the display; every frame of the film if not given.

    Returns
    -------
    Numbers of the frames (places in `film_ms`), their times after the first in milliseconds, and
    the predicted changes in JNDs; each of shape (k,).

    Raises
    ------
    InputError
        When the sequence is not there or does not change, the film has no frame at its start, or a
        rate is not above 0.

    References
    ----------
    Saha et al. (2025), FaceExpressions-70k, figure 11 (right).

    Examples
    --------
    >>> from affectlab.analysis import jnd_times
    >>> scores = pl.DataFrame({
    ...     "actor": "ann", "expression_a": "joy", "expression_b": "joy",
    ...     "role_a": ["near_peak"], "role_b": ["middle"], "value": [40.0], "se": [2.0],
    ... })
    >>> frames = pl.DataFrame({
    ...     "actor": "ann", "expression": "joy", "time_ms": [100, 200],
    ...     "role": ["near_peak", "middle"],
    ... })
    >>> film = [0, 20, 40, 60, 80, 100, 120, 140, 160, 180, 200]
    >>> jnd_strip(jnd_times(scores, frames, jnd=20.0), "ann", "joy", film)[0]
    array([ 5,  6,  7,  8,  9, 10])
    """
    if rate_hz is not None:
        check_number("rate_hz", rate_hz, 0, above=True)
    own = (pl.col("actor") == actor) & (pl.col("expression") == expression)
    rows = times.segments.filter(own & pl.col("time_ms").is_not_nan()).sort("time_ms")
    if not rows.height:
        raise InputError(f"actor {actor!r}, expression {expression!r}: no JND time")
    row = rows.row(0, named=True)
    filmed = np.asarray(film_ms, dtype=np.float64)
    # A film from rest to the peak is gone through from its end.
    after = (filmed - row["start_ms"]) * math.copysign(1.0, row["end_ms"] - row["start_ms"])
    usable = np.flatnonzero(np.isfinite(after) & (after >= -_SLACK))
    usable = usable[np.argsort(after[usable], kind="stable")]
    step = float(np.median(np.diff(after[usable]))) if usable.size > 1 else 0.0
    if usable.size < 2 or after[usable[0]] > max(step, _SLACK):
        raise InputError(
            f"actor {actor!r}, expression {expression!r}: the film has no frames from "
            f"{row['start_ms']:g} ms on; expected the film that the table of frames was taken from"
        )
    since = after[usable] - after[usable[0]]
    if rate_hz is not None:
        ticks = np.arange(int(since[-1] * rate_hz / 1000) + 1) * (1000 / rate_hz)
        shown = np.unique(np.searchsorted(since, ticks + _SLACK, side="right") - 1)
        usable, since = usable[shown], since[shown]
    change = since / row["time_ms"]
    reached = np.flatnonzero(change >= 1)
    end = (int(reached[0]) if reached.size else change.size) + _AFTER + 1
    numbers: Ints = usable[:end].astype(np.int64)
    return numbers, since[:end], change[:end]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class JndStrips(Result):
    """Frames up to 1 JND; made by :func:`jnd_strips`.

    The table has a row per frame: ``actor``, ``expression``, ``time_ms`` (predicted time to
    1 JND), ``frame`` (its place in the film), ``since_ms`` (after the first), ``jnds`` (predicted
    change since the first), ``is_first`` (the first frame at or after 1 JND).
    """


_STRIPS = (
    Key("actor"),
    Key("expression"),
    Count("frame"),
    Number("since_ms", "after (ms)", decimals=0),
    Number("jnds", "JNDs"),
    YesNo("is_first", "first at 1 JND"),
)


def jnd_strips(
    times: JndTimes | PairSource,
    films: str | Path,
    frames: FrameSource | None = None,
    *,
    n: int = 2,
    rate_hz: float | None = None,
    jnd: Estimate | float | None = None,
    resample: Resample = "sequences",
    n_boot: int = 1000,
    seed: int | np.random.Generator | None = 0,
) -> JndStrips:
    """Show the frames of the fastest expressions up to 1 just noticeable difference (JND).

    Look at the first picture and at the marked one side by side: a change should be seen there,
    and none before.

    Parameters
    ----------
    times
        From :func:`jnd_times`; or ratings or scores of pairs, with `frames`.
    films
        Films that the frames are from: candidates.csv, or the folder of transitions.
    frames
        Table of frames with their times (frames.csv): actor, expression, role, time_ms.
    n
        How many expressions, of different actors as far as possible.
    rate_hz
        Rate of the display in Hz; every frame of the film if not given.
    jnd
        1 JND in score units, taken to be exact; that of the pairs 1 JND apart when not given.
    resample
        What the interval of 1 JND is about: other sequences, other actors too, or these scores.
    n_boot
        Bootstrap replicates for the interval of 1 JND, where that is not given.
    seed
        Same seed, same result.

    Returns
    -------
    JndStrips
        One row per frame: ``actor, expression, time_ms`` (predicted time to 1 JND),
        ``frame`` (its place in the film), ``since_ms`` (after the first), ``jnds``
        (predicted change since the first), ``is_first`` (the first frame at or after 1
        JND).

    Raises
    ------
    InputError
        When a film is not there or does not begin where its expression does, or nothing changes.

    References
    ----------
    Saha et al. (2025), FaceExpressions-70k, figure 11 (right).

    See Also
    --------
    strip_choices, jnd_strip
    """
    from affectlab.stimuli.frames import find_transitions

    times = times_of(times, frames, jnd=jnd, resample=resample, n_boot=n_boot, seed=seed)
    step = math.nan if rate_hz is None else 1000 / rate_hz if rate_hz > 0 else 0.0
    fps = None if math.isnan(times.frame_ms) else 1000 / times.frame_ms
    found = find_transitions(Path(films), fps=fps)
    by_name = {(one.actor, one.expression): one for one in found.transitions}
    parts = []
    for row in strip_choices(times, n, step_ms=step).iter_rows(named=True):
        name = row["actor"], row["expression"]
        if name not in by_name:
            raise InputError(
                f"films {films}: no film of actor {name[0]!r}, expression {name[1]!r}; expected "
                "the films that the frames were taken from"
            )
        filmed = [math.nan if at is None else at for at in by_name[name].frames.times_ms]
        numbers, since, change = jnd_strip(times, *name, filmed, rate_hz=rate_hz)
        columns = {"frame": numbers, "since_ms": since, "jnds": change}
        first = np.arange(change.size) == (change < 1).sum()
        own = pl.DataFrame({**columns, "is_first": first})
        told = (pl.lit(row[key]).alias(key) for key in ("actor", "expression", "time_ms"))
        parts.append(own.select(*told, pl.all()))
    said = tuple(strip_text(*own.select("actor", "expression", "time_ms").row(0)) for own in parts)
    return JndStrips(
        (Table("strips", f"{STRIP}.", pl.concat(parts), _STRIPS),),
        said,
        (
            Figure(
                "jnd_strip",
                "jnd_strips",
                "strips",
                STRIP,
                description=" ".join(said),
                options={"films": str(films), "fps": fps},
            ),
        ),
        times.notes,
    )
