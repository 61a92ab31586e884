"""What a given delay costs: how many expressions stay within 1 JND, and how far they move."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from affectlab.analysis.frames import FrameSource
from affectlab.analysis.jnd import wording
from affectlab.analysis.jnd.score import Resample
from affectlab.analysis.jnd.times import JndTimes, times_of
from affectlab.analysis.pairs import PairSource
from affectlab.core.errors import InputError, check_choice, check_number
from affectlab.core.estimates import Estimate
from affectlab.core.inference import check_confidence, draw_weights, tails
from affectlab.core.result import Result
from affectlab.core.tables import Column, Count, Figure, Interval, Key, Number, Share, Table
from affectlab.core.types import Floats, Ints

_ALL = "all"
_BY = ("actor", "expression")
_HALVINGS = 30
_SAID = 5
"""Delays that sentences are about."""
_POINTS, _DRAWN = 81, 400
"""Delays of a curve, and draws behind its band."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LatencyBudget(Result):
    """What delays cost; see :func:`latency_budget`."""

    by: str
    """What the groups are."""
    confidence: float

    @property
    def frame(self) -> pl.DataFrame:
        """One row per delay and group.

        ``latency_ms``, ``group`` (``all``, then each of `by`), ``n_sequences``; ``below``, the
        share of sequences that change by less than 1 JND, with ``low`` and ``high``; ``jnds``, the
        mean change, with ``jnds_low`` and ``jnds_high``; ``jnds_most``, the largest change.
        """
        return self.to_frame()

    def at(self, latency_ms: float, group: str = _ALL) -> dict[str, Any]:
        """Give the row of one delay and group.

        Raises
        ------
        InputError
            When it was not asked for.
        """
        row = self.frame.filter(pl.col("latency_ms") == latency_ms, pl.col("group") == group)
        if not row.height:
            raise InputError(
                f"there is no row for {latency_ms:g} ms and {group!r}; expected a delay and a "
                "group that were asked for"
            )
        return row.row(0, named=True)


_COLUMNS = (
    Key("latency_ms", "latency (ms)"),
    Key("group"),
    Count("n_sequences", spare=True),
    Share("below", "below 1 JND", decimals=0),
    Column("interval", "interval", "share_interval", decimals=0),
    Number("jnds", "mean change (JNDs)", decimals=2),
    Interval("jnds", "interval", decimals=2),
    Number("jnds_most", "largest", decimals=2, spare=True),
)


def _sentences(frame: pl.DataFrame) -> tuple[str, ...]:
    """Say how many stay below 1 JND within each delay, and where fewest do."""
    whole = frame.filter(pl.col("group") == _ALL)
    shares = dict(whole.select("latency_ms", "below").rows())
    sentences = [wording.below_text(shares, _SAID)]
    for delay, share in whole.head(_SAID).select("latency_ms", "below").rows():
        own = frame.filter(pl.col("latency_ms") == delay, pl.col("below") < share)
        if own.height:
            worst = own.sort("below", maintain_order=True).row(0, named=True)
            sentences.append(wording.fewest_text(worst["group"], worst["below"], delay))
    return tuple(sentences)


def latency_budget(
    times: JndTimes | PairSource,
    latency_ms: float | Sequence[float],
    frames: FrameSource | None = None,
    *,
    by: Literal["actor", "expression"] = "actor",
    jnd: Estimate | float | None = None,
    resample: Resample = "sequences",
    n_boot: int = 1000,
    confidence: float = 0.95,
    seed: int | np.random.Generator | None = 0,
) -> LatencyBudget:
    r"""Find how far faces move within a delay, such as between a movement and that of an avatar.

    An expression that takes :math:`\tau` for 1 JND changes by :math:`x / \tau` JNDs within a delay
    of :math:`x`, in its faster segment, along the straight line that JND times suppose. So the
    numbers are about the fastest moment of each expression. Those above about 2 JNDs are rough:
    scores do not add up that far (:func:`jnd_steps`), and the face slows down at last.

    Parameters
    ----------
    times
        From :func:`jnd_times`; or ratings or scores of pairs, with `frames`.
    latency_ms
        One delay or several, in milliseconds, 0 or more.
    frames
        Table of frames with their times (frames.csv): actor, expression, role, time_ms.
    by
        Groups beside all sequences.
    jnd
        1 JND in score units, taken to be exact; that of the pairs 1 JND apart when not given.
    resample
        What the interval of 1 JND is about: other sequences, other actors too, or these scores.
    n_boot
        Draws behind the intervals.
    confidence
        Coverage of the intervals.
    seed
        Same seed, same result.

    Returns
    -------
    LatencyBudget
        The interval of the share takes sequences as drawn from more of their kind (Jeffreys), and
        1 JND with its error. That of the mean is a bootstrap over sequences, with the same error of
        1 JND. Sequences that do not change stay below 1 JND for ever.

        ``frame`` has a row per delay and group, ``at(latency_ms, group)`` gives one of
        them.

    Raises
    ------
    InputError
        When a delay is below 0 or no number, or a name is unknown.

    References
    ----------
    Saha et al. (2025), FaceExpressions-70k, section 5.2.

    Examples
    --------
    >>> import polars as pl
    >>> from affectlab.analysis import jnd_times
    >>> scores = pl.DataFrame({
    ...     "actor": "ann", "expression_a": ["joy", "awe"], "expression_b": ["joy", "awe"],
    ...     "role_a": "near_peak", "role_b": "middle", "value": [40.0, 10.0], "se": 2.0,
    ... })
    >>> frames = pl.DataFrame({
    ...     "actor": "ann", "expression": ["joy", "joy", "awe", "awe"],
    ...     "role": ["near_peak", "middle"] * 2, "time_ms": [100, 200, 100, 200],
    ... })
    >>> row = latency_budget(jnd_times(scores, frames, jnd=20.0), 75).at(75)
    >>> row["below"], row["jnds"]
    (0.5, 0.9375)
    """
    check_confidence(confidence)
    check_choice("grouping", by, _BY)
    check_number("n_boot", n_boot, 1, whole=True)
    delays = _delays(latency_ms)
    times = times_of(
        times,
        frames,
        jnd=jnd,
        resample=resample,
        confidence=confidence,
        n_boot=n_boot,
        seed=seed,
    )
    frame = _frame(times, delays, by, n_boot, confidence, seed)
    curve = _frame(times, _along(times, delays), by, min(n_boot, _DRAWN), confidence, seed)
    return LatencyBudget(
        (
            Table("latency", "What delays cost.", frame, _COLUMNS),
            Table("curve", "Delays in between.", curve, _COLUMNS, limit=0),
        ),
        _sentences(frame),
        (
            Figure(
                "jnd_latency",
                "latency",
                "curve",
                wording.LATENCY,
                description=_sentences(frame)[0],
                options={"marked": delays, "group_name": by},
            ),
        ),
        times.notes,
        by=by,
        confidence=confidence,
    )


def _along(times: JndTimes, delays: Sequence[float]) -> list[float]:
    """Give the delays of a curve, up to beyond the median time and those asked for."""
    median = times.sequences["time_ms"].drop_nans().median()
    known = 0.0 if median is None else 2 * float(median)  # type: ignore[arg-type]
    along: list[float] = np.linspace(
        0, max(known, *(1.25 * one for one in delays), 1.0), _POINTS
    ).tolist()
    return along


def _frame(
    times: JndTimes,
    delays: Sequence[float],
    by: str,
    n_boot: int,
    confidence: float,
    seed: int | np.random.Generator | None,
) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    groups = {_ALL: times.sequences}
    parts = times.sequences.partition_by(by, as_dict=True, maintain_order=True)
    groups |= {str(key[0]): part for key, part in parts.items()}
    error = times.jnd.se if math.isfinite(times.jnd.se) else 0.0
    relative = np.maximum(1e-9, 1 + error / times.jnd.value * rng.standard_normal(n_boot))
    rows: list[dict[str, Any]] = []
    for name, part in groups.items():
        speed = 1 / part["time_ms"].fill_nan(math.inf).to_numpy()
        rows += [
            {"latency_ms": delay, "group": name, "n_sequences": speed.size, **found}
            for delay, found in zip(
                delays, _budget(speed, delays, relative, confidence, rng), strict=True
            )
        ]
    return pl.DataFrame(rows).sort("latency_ms", maintain_order=True)


def _delays(latency_ms: float | Sequence[float]) -> list[float]:
    given = np.atleast_1d(np.asarray(latency_ms, dtype=np.float64))
    wrong = given[~(np.isfinite(given) & (given >= 0))]
    if given.ndim != 1 or not given.size:
        raise InputError("latency_ms: expected one delay, or a list of them, in milliseconds")
    if wrong.size:
        raise InputError(f"latency_ms {wrong[0]:g}: expected milliseconds from 0 on")
    found: list[float] = np.unique(given).tolist()
    return found


def _budget(
    speed: Floats,
    delays: Sequence[float],
    relative: Floats,
    confidence: float,
    rng: np.random.Generator,
) -> list[dict[str, float]]:
    """Give share and mean of one group for each delay.

    Parameters
    ----------
    speed
        JNDs per millisecond of n sequences, 0 where nothing changes.
    relative
        Draws of 1 JND over its estimate.
    """
    shares, n = tails(confidence), speed.size
    again = np.concatenate(list(draw_weights(rng, n, relative.size)))
    # JNDs are fewer where 1 JND is larger.
    means = again @ speed / n / relative
    spread = np.quantile(means, shares) if n > 1 else np.array([math.nan, math.nan])
    changes = np.multiply.outer(delays, speed)
    counts = np.stack([(change < relative[:, None]).sum(axis=1) for change in changes])
    rows = []
    for delay, change, low, high in zip(
        delays, changes, *(_jeffreys(counts, n, tail) for tail in shares), strict=True
    ):
        within = (change < 1).sum()
        rows.append(
            {
                "below": float(within / n),
                # What was seen lies in the interval, also where nothing else was seen.
                "low": float(min(low, within / n)),
                "high": float(max(high, within / n)),
                "jnds": float(change.mean()),
                "jnds_low": float(delay * spread[0]),
                "jnds_high": float(delay * spread[1]),
                "jnds_most": float(change.max()),
            }
        )
    return rows


def _jeffreys(counts: Ints, n: int, tail: float) -> Floats:
    """Give quantiles of Jeffreys' posterior of a share, averaged over possible counts of n.

    `counts` has shape (shares, draws); the quantiles have shape (shares,).
    """
    from scipy.special import betainc

    held, place = np.unique(counts, return_inverse=True)
    times = np.zeros((len(counts), held.size))
    np.add.at(times, (np.arange(len(counts))[:, None], place.reshape(counts.shape)), 1)
    share, count = np.nonzero(times)
    below, above = held[count] + 0.5, n - held[count] + 0.5
    weight, first = times[share, count], np.flatnonzero(np.diff(share, prepend=-1))
    low, high = np.zeros(len(counts)), np.ones(len(counts))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        reached = np.add.reduceat(weight * betainc(below, above, middle[share]), first)
        short = reached / counts.shape[1] < tail
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return (low + high) / 2
