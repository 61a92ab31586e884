"""How the difference from neutral falls from the peak of an expression on."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np
import polars as pl

from affectlab.analysis.frames import FrameSource, place_of_role, placed, read_frames
from affectlab.analysis.pairs import PairSource, pair_scores
from affectlab.analysis.transitions import wording
from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason, fact_column, reason_type
from affectlab.core.files.columns import require_distinct
from affectlab.core.render.notes import row_status_text
from affectlab.core.result import Result
from affectlab.core.tables import Count, Figure, Interval, Key, Number, Share, Table, Text
from affectlab.core.types import Floats

# Times of the frames of a transition.


_KEYS = ("actor", "expression")


def with_times(points: pl.DataFrame, frames: FrameSource) -> pl.DataFrame:
    """Put the time since the peak beside each frame; a film may run from neutral to peak.

    Parameters
    ----------
    points
        ``actor``, ``expression``, ``role``, and whatever else.
    frames
        The same three and ``time_ms``.

    Returns
    -------
    The points with ``time_ms`` since the peak and ``x``, the same; ``nan`` where not known.

    Raises
    ------
    InputError
        When the table of frames lacks a column, holds a time that is no number, or a role twice.
    """
    times, where = read_frames(frames)
    keys = [*_KEYS, "role"]
    require_distinct(times, keys, where)
    whole = points.join(times.select(*keys, "time_ms"), on=keys, how="left", maintain_order="left")
    firsts = [role for role in times["role"].unique().drop_nulls() if place_of_role(role) == 1]
    peaks = (
        times.filter(pl.col("role").is_in(firsts))
        .unique(_KEYS)
        .select(*_KEYS, pl.col("time_ms").alias("start"))
    )
    whole = whole.join(peaks, on=_KEYS, how="left", maintain_order="left")
    since = (pl.col("time_ms") - pl.col("start")).abs().fill_null(math.nan)
    return whole.with_columns(since.alias("time_ms"), since.alias("x"))


_NO_PEAK = Reason(Cause.NONE, of="score of the peak and of the neutral frame")
_FLAT = Reason(Cause.PEAK_LIKE_NEUTRAL)
_NO_TIMES = Reason(Cause.FRAME_WITHOUT_TIME)
_DISORDER = Reason(Cause.DISORDERED_TIMES)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TransitionCurves(Result):
    """Differences from neutral along transitions; see :func:`transition_curves`."""

    timed: bool
    """Whether ``x`` is a time in milliseconds."""
    normalised: bool
    """Whether curves are meant to be drawn as shares of their peaks."""
    unit: str

    @property
    def points(self) -> pl.DataFrame:
        """One row per frame, by actor, expression and place.

        ``actor``, ``expression``, ``place`` (1 for the peak), ``role``, ``time_ms`` since the peak
        (``nan`` without times), ``x`` (time, or place where no times were given), ``value``
        (difference from neutral), ``se``, ``share`` (of the difference of the peak), ``share_se``,
        ``rated`` (false for the neutral frame, which differs from itself by nothing and was not
        rated), ``half`` of the transition (see ``frame``).
        """
        return self.to_frame("points")

    @property
    def frame(self) -> pl.DataFrame:
        """One row per transition.

        ``actor``, ``expression``, ``peak`` (its difference), ``half`` (where half of it is left, in
        the unit of ``x``), ``rises`` (steps towards neutral at which the difference grows),
        ``n_frames``, ``status``, ``reason``.
        """
        return self.to_frame("transitions")

    @property
    def defined(self) -> pl.DataFrame:
        """Points of the transitions with status ``ok``."""
        known = self.frame.filter(pl.col("status") == "ok").select(_KEYS)
        return self.points.join(known, on=_KEYS, how="semi", maintain_order="left")

    def curve(self, actor: str, expression: str) -> tuple[Floats, Floats, Floats]:
        """Give x, y and the standard error of y of one transition, each of shape (frames,).

        Raises
        ------
        InputError
            When there is no such transition.
        """
        own = self.points.filter(actor=actor, expression=expression)
        if not own.height:
            raise InputError(f"actor {actor!r} has no transition of expression {expression!r}")
        y, se = ("share", "share_se") if self.normalised else ("value", "se")
        return own["x"].to_numpy(), own[y].to_numpy(), own[se].to_numpy()

    def __len__(self) -> int:
        return self.frame.height


def _tables(points: pl.DataFrame, summary: pl.DataFrame, timed: bool) -> tuple[Table, ...]:
    """Declare points and transitions, and sum transitions up by actor."""
    keys = (Key("actor"), Key("expression"))
    half = pl.col("half").filter(pl.col("half").is_not_nan()) - (0.0 if timed else 1.0)
    actors = summary.group_by("actor", maintain_order=True).agg(
        pl.len().alias("n_transitions"),
        half.median().alias("half"),
        half.min().alias("low"),
        half.max().alias("high"),
    )
    return (
        Table(
            "points",
            "Frames.",
            points,
            (*keys, Count("place"), Text("role"), Number("x"), Number("value"), Share("share")),
            limit=0,
        ),
        Table(
            "transitions",
            "Transitions.",
            summary,
            (*keys, Number("peak"), Number("half"), Count("rises"), Count("n_frames")),
            limit=0,
        ),
        Table(
            "actors",
            wording.HALF,
            actors,
            (
                Key("actor"),
                Count("n_transitions"),
                Number("half", wording.half_head(timed=timed), decimals=1),
                Interval(head="lowest to highest", decimals=1),
            ),
        ),
    )


def _sentences(summary: pl.DataFrame, timed: bool) -> tuple[str, ...]:
    """Say where half is left, which curves rise, and which transitions have none."""
    known = summary.filter(pl.col("status") == "ok")
    sentences = [wording.curves_text(summary.height, timed=timed)]
    rising = known.filter(pl.col("rises") > 0).height
    if rising:
        sentences.append(wording.rising_text(rising))
    lacking = summary.filter(pl.col("status") != "ok")
    for why, n in Counter(map(row_status_text, lacking.iter_rows(named=True))).items():
        sentences.append(wording.without_curve(n, why))
    return tuple(sentences)


def _figures(summary: pl.DataFrame, timed: bool, shares: bool, unit: str) -> tuple[Figure, ...]:
    """Declare curves by actor and by expression, where there are any."""
    n = summary.filter(pl.col("status") == "ok").height
    x_name, y_name = wording.curve_axes(unit, timed=timed, shares=shares)
    options = {
        "value": "share" if shares else "value",
        "x_name": x_name,
        "y_name": y_name,
        "names_frames": not timed,
    }
    return tuple(
        Figure(
            f"transition_curves_by_{by}",
            "transition_curves",
            "points",
            f"Return to neutral by {by}",
            description=wording.panels_text(n, by),
            options={"by": by, **options},
        )
        for by in ("actor", "expression")
        if n
    )


def transition_curves(
    scores: PairSource,
    *,
    normalise: bool = True,
    frames: FrameSource | None = None,
) -> TransitionCurves:
    r"""Follow the difference from neutral from the peak of each expression to its neutral frame.

    Parameters
    ----------
    scores
        Ratings or scores of pairs; see :func:`pair_scores`. Pairs with the neutral frame count.
    normalise
        Look at shares of the difference of the peak, as in the paper.
    frames
        Table of frames with ``actor``, ``expression``, ``role`` and ``time_ms``, such as
        ``frames.csv``: curves are then over time since the peak. The neutral frame of one
        transition may come sooner than that of another.

    Returns
    -------
    TransitionCurves
        The neutral frame differs from itself by 0, which was not rated. With the difference
        :math:`d` of a frame, :math:`p` of the peak, and their standard errors, a share
        :math:`d / p` has the standard error :math:`\sqrt{s_d^2 + (d / p)^2 s_p^2} / p` (first
        order, errors taken as independent); that of the peak is 1 by definition. A transition
        without a positive difference of the peak, or with unknown or disordered times, says so in
        ``status``, and has no shares or no ``x``.

        ``points`` has a row per frame, ``frame`` one per transition, ``defined`` the points
        of those that have a curve, and ``curve(actor, expression)`` gives x, y and the
        standard error of y of one.

    Raises
    ------
    InputError
        When there are no pairs with a neutral frame, or the table of frames lacks a column.

    References
    ----------
    Saha et al. (2025), FaceExpressions-70k, section 3.5.2, figures 9 and 17 to 20.

    Examples
    --------
    >>> table = pl.DataFrame({
    ...     "actor": ["ann"] * 2, "expression_a": ["joy"] * 2, "role_a": ["peak", "middle"],
    ...     "expression_b": ["joy"] * 2, "role_b": ["neutral"] * 2, "value": [60.0, 45.0],
    ... })
    >>> found = transition_curves(table)
    >>> found.points["place"].to_list(), found.points["share"].to_list()
    ([1, 3, 5], [1.0, 0.75, 0.0])
    """
    pairs = pair_scores(scores)
    points = _points(pairs.intra().frame)
    if not points.height:
        raise InputError(
            "no pair shows a frame beside the neutral one; expected pairs of kind intra with the "
            "role neutral"
        )
    points = _with_shares(points)
    if frames is None:
        points = points.with_columns(
            pl.lit(math.nan).alias("time_ms"), pl.col("place").cast(pl.Float64).alias("x")
        )
    else:
        points = with_times(points, frames)
    transitions = list(points.group_by(_KEYS, maintain_order=True))
    reasons = [_lack(own) for _, own in transitions]
    summary = pl.DataFrame(
        [_summary(key, own, why) for (key, own), why in zip(transitions, reasons, strict=True)],
        schema_overrides={"half": pl.Float64, "peak": pl.Float64},
        orient="row",
    ).with_columns(fact_column("reason", reasons, reason_type()))
    untimed = pl.Series([why in (_NO_TIMES, _DISORDER) for why in reasons], dtype=pl.Boolean)
    undefined = summary.filter(untimed).select(_KEYS)
    lost = points.join(undefined.with_columns(lost=True), on=_KEYS, how="left")["lost"]
    points = points.with_columns(
        pl.when(lost.fill_null(False)).then(math.nan).otherwise(pl.col("x")).alias("x")
    )
    order = ["actor", "expression", "place", "role", "time_ms", "x", "value", "se"]
    points = points.select(*order, "share", "share_se", "rated")
    points = points.join(summary.select(*_KEYS, "half"), on=_KEYS, maintain_order="left")
    timed = frames is not None
    return TransitionCurves(
        _tables(points, summary, timed),
        _sentences(summary, timed),
        _figures(summary, timed, normalise, pairs.unit),
        pairs.notes,
        timed=timed,
        normalised=normalise,
        unit=pairs.unit,
    )


def _points(intra: pl.DataFrame) -> pl.DataFrame:
    """Differences of frames from neutral, and a row for the neutral frame itself."""
    in_order = pl.col("place_a") <= pl.col("place_b")
    pairs = placed(intra).with_columns(
        place=pl.min_horizontal("place_a", "place_b"),
        far=pl.max_horizontal("place_a", "place_b"),
        role=pl.when(in_order).then("role_a").otherwise("role_b"),
        end=pl.when(in_order).then("role_b").otherwise("role_a"),
    )
    pairs = pairs.filter((pl.col("far") == pl.col("last")) & (pl.col("place") < pl.col("last")))
    rated = pairs.group_by("actor", "place", expression="expression_a").agg(
        pl.col("role").first(),
        pl.col("value").mean(),
        se=pl.col("se").pow(2).sum().sqrt() / pl.len(),
        rated=pl.lit(True),
    )
    neutral = pairs.group_by("actor", expression="expression_a").agg(
        place=pl.col("last").first(),
        role=pl.col("end").first(),
        value=pl.lit(0.0),
        se=pl.lit(0.0),
        rated=pl.lit(False),
    )
    columns = ["actor", "expression", "place", "role", "value", "se", "rated"]
    both = pl.concat([rated.select(columns), neutral.select(columns)])
    return both.sort("actor", "expression", "place")


def _with_shares(points: pl.DataFrame) -> pl.DataFrame:
    peaks = points.filter((pl.col("place") == 1) & pl.col("rated")).select(
        *_KEYS, pl.col("value").alias("peak"), pl.col("se").alias("peak_se")
    )
    whole = points.join(peaks, on=_KEYS, how="left", maintain_order="left")
    peak = pl.when(pl.col("peak") > 0).then(pl.col("peak")).otherwise(math.nan)
    share = pl.col("value") / peak
    error = (pl.col("se").pow(2) + (share * pl.col("peak_se")).pow(2)).sqrt() / peak
    # The share of the peak itself is 1, without error.
    error = pl.when(pl.col("place") == 1).then(share * 0.0).otherwise(error)
    return whole.with_columns(share=share.fill_null(math.nan), share_se=error.fill_null(math.nan))


def _lack(own: pl.DataFrame) -> Reason | None:
    """Say why one transition has no curve, where it has none."""
    x, peak = own["x"].to_numpy(), own["peak"][0]
    if peak is None:
        return _NO_PEAK
    if not peak > 0:
        return _FLAT
    if np.isnan(x).any():
        return _NO_TIMES
    return _DISORDER if (np.diff(x) <= 0).any() else None


def _summary(key: tuple[object, ...], own: pl.DataFrame, lack: Reason | None) -> dict[str, object]:
    """Say of one transition where half is left."""
    x, y = own["x"].to_numpy(), own["value"].to_numpy()
    peak = own["peak"][0]
    return {
        "actor": key[0],
        "expression": key[1],
        "peak": math.nan if peak is None else float(peak),
        "half": _half(x, y / float(peak)) if lack is None else math.nan,
        "rises": int((np.diff(y) > 0).sum()),
        "n_frames": own.height,
        "status": "ok" if lack is None else "undefined",
    }


def _half(x: Floats, share: Floats) -> float:
    """Find where a curve first falls to a half, on straight lines between its points."""
    at = int(np.flatnonzero(share <= 0.5)[0])
    fall = share[at - 1] - share[at]
    return float(x[at - 1] + (share[at - 1] - 0.5) / fall * (x[at] - x[at - 1]))
