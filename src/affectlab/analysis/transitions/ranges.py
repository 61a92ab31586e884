"""How far the peak of each expression is from neutral, and how much actors differ in it."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from affectlab.analysis.frames import placed
from affectlab.analysis.pairs import PairSource, pair_scores
from affectlab.analysis.transitions import wording
from affectlab.core.errors import InputError
from affectlab.core.result import Result
from affectlab.core.tables import Count, Figure, Interval, Key, Number, Table


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TransitionRanges(Result):
    """Peak-to-neutral differences by expression; see :func:`transition_ranges`."""

    actors: tuple[str, ...]
    left_out: tuple[str, ...]
    """Expressions that not all actors have, when only shared ones were asked for."""
    unit: str

    @property
    def frame(self) -> pl.DataFrame:
        """One row per expression, the largest median first.

        ``expression``, ``median``, ``low`` and ``high`` (least and largest value over actors),
        ``range``, ``sd`` (standard deviation over actors), ``sd_beyond_error`` (the same less the
        standard errors of the scores), ``n_actors``, ``actor_low``, ``actor_high``.
        """
        return self.to_frame()

    @property
    def points(self) -> pl.DataFrame:
        """One row per actor and expression: ``actor``, ``expression``, ``value``, ``se``."""
        return self.to_frame("points")


def _tables(points: pl.DataFrame) -> tuple[Table, Table]:
    return (
        Table(
            "ranges",
            f"{wording.PEAK_AND_NEUTRAL}.",
            _by_expression(points),
            (
                Key("expression"),
                Number("median", decimals=1),
                Interval(head="least to largest", decimals=1),
                Number("range", decimals=1),
                Count("n_actors"),
            ),
        ),
        Table(
            "points",
            "Differences by actor.",
            points,
            (Key("actor"), Key("expression"), Number("value", "difference"), Number("se")),
            limit=0,
        ),
    )


def transition_ranges(scores: PairSource, *, shared: bool = True) -> TransitionRanges:
    r"""Compare actors in the difference between the peak of an expression and its neutral frame.

    Parameters
    ----------
    scores
        Ratings or scores of pairs; see :func:`pair_scores`.
    shared
        Take only the expressions that all actors have, as in the paper (41 of 61): ranges over
        different actors cannot be compared.

    Returns
    -------
    TransitionRanges
        In the unit of the scores. Part of a range is error of measurement, and a range grows with
        the number of actors, so the standard deviation over actors stands beside it, and

        .. math:: \mathrm{sd\_beyond\_error} = \sqrt{\max(0, s^2 - \overline{\mathrm{se}^2})}

        which is ``nan`` where a score has no standard error or there is one actor.

        ``frame`` has a row per expression, ``points`` one per actor and expression;
        ``actors`` and ``left_out`` name whom and what it is about.

    Raises
    ------
    InputError
        When no pair shows a peak and a neutral frame, or the actors share no expression.

    References
    ----------
    Saha et al. (2025), FaceExpressions-70k, section 3.5.1 and figure 6.

    Examples
    --------
    >>> table = pl.DataFrame({
    ...     "actor": ["ann", "bob"], "expression_a": ["joy"] * 2, "role_a": ["peak"] * 2,
    ...     "expression_b": ["joy"] * 2, "role_b": ["neutral"] * 2, "value": [60.0, 80.0],
    ... })
    >>> transition_ranges(table).frame.select("expression", "median", "low", "high").rows()
    [('joy', 70.0, 60.0, 80.0)]
    """
    pairs = pair_scores(scores)
    ends = placed(pairs.intra().frame).filter(
        (pl.min_horizontal("place_a", "place_b") == 1)
        & (pl.max_horizontal("place_a", "place_b") == pl.col("last"))
        & (pl.col("last") > 1)
    )
    if not ends.height:
        raise InputError(
            "no pair shows the peak of an expression beside its neutral frame; expected pairs of "
            "kind intra with the roles peak and neutral"
        )
    points = (
        ends.group_by("actor", expression="expression_a", maintain_order=True)
        .agg(pl.col("value").mean(), (pl.col("se").pow(2).sum().sqrt() / pl.len()).alias("se"))
        .select("actor", "expression", "value", "se")
        .sort("expression", "actor")
    )
    actors = tuple(name for name in pairs.actors if name in set(points["actor"].to_list()))
    points, left_out = _only_shared(points, len(actors)) if shared else (points, ())
    tables = _tables(points)
    note = wording.ranges_text(
        points["expression"].n_unique(), len(actors), left_out, shared=shared
    )
    return TransitionRanges(
        tables,
        (note, *_extremes(tables[0].frame, len(actors))),
        (_figure(tables[0].frame, note, pairs.unit),),
        pairs.notes,
        actors=actors,
        left_out=left_out,
        unit=pairs.unit,
    )


def _extremes(ranges: pl.DataFrame, n_actors: int) -> tuple[str, ...]:
    """Say where actors differ most and least."""
    if ranges.height < 2 or n_actors < 2:
        return ()
    ordered = ranges.sort("range", descending=True)
    widest, narrow = ordered.row(0, named=True), ordered.row(-1, named=True)
    text = wording.extremes_text(
        widest["expression"],
        widest["range"],
        widest["actor_low"],
        widest["actor_high"],
        narrow["expression"],
        narrow["range"],
    )
    return (text,)


def _figure(ranges: pl.DataFrame, note: str, unit: str) -> Figure:
    first = ranges.row(0, named=True)
    return Figure(
        "transition_ranges",
        "ranges",
        "points",
        wording.PEAK_AND_NEUTRAL,
        description=f"{note} {wording.ranges_figure(first['expression'], first['median'])}",
        options={
            "by": "expression",
            "value": "value",
            "value_name": wording.ranges_axis(unit),
        },
    )


def _only_shared(points: pl.DataFrame, n_actors: int) -> tuple[pl.DataFrame, tuple[str, ...]]:
    full = pl.col("actor").n_unique().over("expression") == n_actors
    kept = points.filter(full)
    left_out = tuple(points.filter(~full)["expression"].unique().sort().to_list())
    if not kept.height:
        raise InputError(
            f"the {n_actors} actors share no expression; expected one that all have, or "
            "shared=False (--no-shared)"
        )
    return kept, left_out


def _by_expression(points: pl.DataFrame) -> pl.DataFrame:
    lowest, highest = pl.col("value").arg_min(), pl.col("value").arg_max()
    beyond = (pl.col("value").var() - pl.col("se").pow(2).mean()).clip(0.0).sqrt()
    return (
        points.group_by("expression", maintain_order=True)
        .agg(
            pl.col("value").median().alias("median"),
            pl.col("value").min().alias("low"),
            pl.col("value").max().alias("high"),
            (pl.col("value").max() - pl.col("value").min()).alias("range"),
            pl.col("value").std().alias("sd"),
            beyond.alias("sd_beyond_error"),
            pl.len().cast(pl.Int64).alias("n_actors"),
            pl.col("actor").get(lowest).alias("actor_low"),
            pl.col("actor").get(highest).alias("actor_high"),
        )
        .with_columns(pl.col("sd", "sd_beyond_error").fill_null(float("nan")))
        .sort("median", "expression", descending=[True, False])
    )
