"""Two dimensions at once: where stimuli, or groups of them, lie in valence and arousal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from affectlab.analysis import wording
from affectlab.core.arrays import pearson
from affectlab.core.errors import InputError, check_choice, unknown_name
from affectlab.core.estimates import Estimates
from affectlab.core.facts import Cause, Reason
from affectlab.core.inference import DrawnTarget, infer
from affectlab.core.result import Result
from affectlab.core.statistic import (
    MAX_JACKKNIFE_GROUPS,
    STIMULI_AND_RATERS,
    Design,
    Draws,
    Statistic,
)
from affectlab.core.tables import Count, Figure, Interval, Key, Number, Table
from affectlab.core.types import Bools, Floats, Ints
from affectlab.ratings import (
    ClusterLike,
    Ratings,
    answers_of,
    canonical,
    people_or_all,
    require_order,
    row_column,
    stimulus_clusters,
)

_BLOCK = 1 << 22
"""Weights of answers that are held at once."""


def circumplex(
    ratings: Ratings,
    *,
    x: str = "valence",
    y: str = "arousal",
    by: str = "stimulus",
    cluster: ClusterLike = None,
    confidence: float = 0.95,
) -> Result:
    r"""Place stimuli, or groups of them, on two dimensions such as valence and arousal.

    Each place is the mean of all answers of raters who gave both. Intervals of the means, and the
    ellipse of both together, come from leaving out raters, and of groups of stimuli also stimuli.
    With :math:`C` the covariance of the two means and :math:`\nu` one less than the raters (or
    stimuli, where these are fewer), the ellipse holds the m with

    .. math:: (m - \bar m)^\top C^{-1} (m - \bar m)
        \le \frac{2 \nu}{\nu - 1} F_{1 - \alpha;\, 2,\, \nu - 1}.

    Parameters
    ----------
    ratings
        Ratings with a label for each dimension; people alone where there are any.
    x, y
        Labels of the horizontal and the vertical dimension.
    by
        What has a place: ``stimulus``; an attribute of stimuli, raters or answers, whose values
        have one each; or a label whose answers are categories, such as the emotion chosen.

        Answers about a stimulus then count where the same rater chose the category.
    cluster
        What stimuli belong to, which are then left out together where groups of stimuli have
        places: a column of the stimulus table, a mapping from stimulus to cluster, or ``"none"``;
        see :func:`stimulus_clusters`. By default a column like ``actor``, other than `by`, that
        several stimuli share in most of its values.
    confidence
        Coverage of intervals and ellipses, in (0, 1).

    Returns
    -------
    Result
        ``points``: the means ``x`` and ``y`` with intervals; ``major``, ``minor`` and ``angle`` of
        the ellipse, half its axes in points of the scale, and degrees of the longer one from the
        horizontal (as if both scales had the same unit); ``n_raters``, ``n_stimuli`` and
        ``n_answers``. Intervals of stimuli are about other raters, those of groups about other
        raters and other stimuli, or clusters of them. There are none of fewer than three raters.

    Raises
    ------
    InputError
        If a label or attribute is not known, or nobody answered both dimensions.

    References
    ----------
    Russell (1980), Journal of Personality and Social Psychology 39, for the circumplex. Hotelling
    (1931), Annals of Mathematical Statistics 2, for the ellipse.

    Examples
    --------
    >>> rows = [(film, rater, label, value + rater % 2)
    ...         for film, place in (("war", (1, 8)), ("sea", (8, 2)), ("fair", (7, 7)))
    ...         for rater in range(4) for label, value in zip(("valence", "arousal"), place)]
    >>> columns = ("stimulus", "rater", "label", "value")
    >>> ratings = Ratings(dict(zip(columns, zip(*rows))), scale="1-9")
    >>> result = circumplex(ratings)
    >>> result.finding
    'Valence is highest for sea (8.50) and lowest for war (1.50).'
    >>> result.to_frame().select("stimulus", "x", "y").row(0)
    ('fair', 7.5, 7.5)
    """
    for name, label in (("x", x), ("y", y)):
        check_choice("label", label, ratings.label_names, name)
    if x == y:
        raise InputError(f"x and y are both {x!r}; expected two labels")
    panel = canonical(people_or_all(ratings))
    both = panel.select(labels=[x, y])
    require_order(both, "a mean")
    places = _places(panel, both, (x, y), by)
    target: DrawnTarget = "raters" if by == "stimulus" else "both"
    drawn = stimulus_clusters(panel, cluster)
    if cluster is None and drawn.column == by:
        # The stimuli of one actor tell of that actor.
        drawn = stimulus_clusters(panel, "none")
    estimates = infer(
        places.statistic,
        interval="jackknife",
        target=target,
        confidence=confidence,
        clusters=drawn.on(places.units) if target == "both" else None,
    )
    scales = [both.scales[name] for name in (x, y)]
    points = _points(estimates, places, (x, y), by, confidence)
    figure = Figure(
        "circumplex",
        "circumplex",
        "points",
        wording.places_title(x, y, by),
        description=wording.places_text(len(places.names), confidence),
        options={
            "name": by,
            "x_name": x,
            "y_name": y,
            "x_limits": (scales[0].low, scales[0].high),
            "y_limits": (scales[1].low, scales[1].high),
        },
    )
    return Result(
        (points,),
        tuple(_sentences(points.frame, (x, y), by)),
        (figure,),
        drawn.notes_for({target}),
        {
            "x": x,
            "y": y,
            "by": by,
            "target": target,
            "units": drawn.units,
            "confidence": confidence,
        },
    )


@dataclass(frozen=True, eq=False)
class _Places:
    """Pairs of answers to both dimensions, and the place that each belongs to."""

    value: Floats
    """Shape (answers, 2), less the means of all."""
    mean: Floats
    place: Ints
    unit: Ints
    rater: Ints
    names: tuple[str, ...]
    units: tuple[str, ...]
    n_raters: int

    @property
    def n_units(self) -> int:
        return len(self.units)

    @cached_property
    def n_answers(self) -> Ints:
        """Pairs of answers at each place."""
        return np.bincount(self.place, minlength=len(self.names))

    def marks(self, code: Ints, n: int) -> Bools:
        """Which units, or raters, are at each place; shape (places, n)."""
        found = np.zeros((len(self.names), n), dtype=np.bool_)
        found[self.place, code] = True
        return found

    def evaluate(self, draws: Draws) -> Floats:
        """Means of both dimensions at each place, shape (rows, places * 2)."""
        k = len(self.names)
        out = np.empty((draws.n_rows, k, 2))
        for rows, block in draws.blocks(max(1, _BLOCK // max(self.place.size, self.n_units))):
            weights = block.weights(self.n_units)[:, self.unit]
            if block.rater is not None:
                weights = weights * block.rater[:, self.rater]
            for row, weight in zip(range(rows.start, rows.stop), weights, strict=True):
                n = np.bincount(self.place, weight, k)
                for axis in (0, 1):
                    total = np.bincount(self.place, weight * self.value[:, axis], k)
                    mean = np.divide(total, n, out=np.full(k, np.nan), where=n > 0)
                    out[row, :, axis] = mean + self.mean[axis]
        return out.reshape(draws.n_rows, 2 * k)

    @property
    def statistic(self) -> Statistic:
        """The means, two rows for each place."""
        units, raters = (
            self.marks(code, n)
            for code, n in ((self.unit, self.n_units), (self.rater, self.n_raters))
        )
        rows = 2 * len(self.names)
        return Statistic(
            keys={
                "place": [name for name in self.names for _ in "xy"],
                "axis": ["x", "y"] * len(self.names),
            },
            design=Design(np.repeat(units, 2, axis=0), np.repeat(raters, 2, axis=0)),
            evaluate=self.evaluate,
            method=["mean of answers"] * rows,
            n_items=np.repeat(units.sum(axis=1), 2),
            n_raters=np.repeat(raters.sum(axis=1), 2),
            n_ratings=np.repeat(self.n_answers, 2),
            undefined=Reason(Cause.NONE, of="answers"),
            bounds=(-np.inf, np.inf),
            targets=STIMULI_AND_RATERS,
            n_groups=MAX_JACKKNIFE_GROUPS,
        )


def _places(panel: Ratings, both: Ratings, axes: tuple[str, str], by: str) -> _Places:
    """Pair the answers to the two dimensions, and find the place of each pair."""
    answers = answers_of(both)
    ballots = answers.on(answers.units, axes).ballots()
    unit, rater, value = ballots.unit, ballots.rater, ballots.value
    whole = ~np.isnan(value).any(axis=1)
    if by == "stimulus":
        names: list[Any] = [answers.units[code] for code in unit]
    else:
        of_pair = _values_by(panel, both, by)
        names = [
            of_pair.get((answers.units[u], answers.raters[r]))
            for u, r in zip(unit.tolist(), rater.tolist(), strict=True)
        ]
        whole &= np.array([name is not None for name in names])
    if not whole.any():
        raise InputError(
            f"nobody answered {axes[0]!r} and {axes[1]!r} about the same stimulus"
            + ("" if by == "stimulus" else f" with a known {by!r}")
        )
    kept = [str(names[row]) for row in np.flatnonzero(whole)]
    known, place = np.unique(kept, return_inverse=True)
    value = value[whole]
    mean = value.mean(axis=0)
    return _Places(
        value - mean,
        mean,
        place.astype(np.int64),
        unit[whole],
        rater[whole],
        tuple(known.tolist()),
        tuple(answers.units),
        len(answers.raters),
    )


def _values_by(panel: Ratings, both: Ratings, by: str) -> dict[tuple[str, str], Any]:
    """Give the value of an attribute, or the category chosen, of each stimulus and rater."""
    if by in panel.label_names:
        scale = panel.scales[by]
        if scale.kind != "nominal":
            raise InputError(
                f"by {by!r}: its answers are no categories ({scale}); expected a label on a "
                "nominal scale, an attribute, or 'stimulus'"
            )
        own = panel.select(labels=[by]).answers()
        column = pl.Series([scale.categories[int(one)] for one in own.value])
    else:
        own = both.answers()
        found = row_column(own, by, stimuli_first=True)
        if found is None:
            known = {*own.frame.columns, *own.stimuli.columns, *own.raters.columns}
            known -= {"value", "label", "rater_kind"}
            raise unknown_name("attribute", by, sorted(known), "by")
        column = found
    stimuli = [own.stimulus_names[code] for code in own.stimulus_code]
    raters = [own.rater_names[code] for code in own.rater_code]
    # Of several answers the first counts.
    rows = zip(stimuli[::-1], raters[::-1], column.to_list()[::-1], strict=True)
    return {(stimulus, rater): value for stimulus, rater, value in rows}


def _points(
    estimates: Estimates, places: _Places, axes: tuple[str, str], by: str, confidence: float
) -> Table:
    frame = estimates.frame
    parts = dict[str, pl.Series]()
    for place, axis in enumerate("xy"):
        own = frame[place::2]
        parts |= {axis: own["value"], f"{axis}_low": own["low"], f"{axis}_high": own["high"]}
    points = pl.DataFrame(
        {by: places.names, **parts},
        schema_overrides={by: pl.String},
    ).with_columns(
        **_ellipses(estimates, confidence),
        n_raters=frame[::2]["n_raters"],
        n_stimuli=frame[::2]["n_items"],
        n_answers=frame[::2]["n_ratings"],
        method=frame[::2]["method"],
        interval=frame[::2]["interval"],
        target=frame[::2]["target"],
    )
    columns = (
        Key(by, verbatim=True),
        Number("x", axes[0], verbatim=True),
        Interval("x", f"{axes[0]}: interval", verbatim=True),
        Number("y", axes[1], verbatim=True),
        Interval("y", f"{axes[1]}: interval", verbatim=True),
        Count("n_raters", "raters"),
        Count("n_stimuli", "stimuli", spare=True),
    )
    return Table("points", wording.places_caption(*axes, confidence), points, columns)


def _ellipses(estimates: Estimates, confidence: float) -> dict[str, pl.Series]:
    """Half axes and direction of the ellipse of each place; ``nan`` where there is no interval."""
    from scipy.special import fdtri

    assert estimates.jackknife is not None
    n, parts = len(estimates) // 2, estimates.jackknife.parts
    covariance = estimates.jackknife.covariance(together=2)
    freedom = np.min([part.count[::2] - 1 for part in parts], axis=0)
    known = ~np.isnan(estimates.frame["low"].to_numpy()).reshape(n, 2).any(axis=1)
    known &= freedom > 1
    size, axes = np.linalg.eigh(np.where(known[:, None, None], covariance, np.eye(2)))
    nu = np.where(known, freedom, 2.0)
    radius = np.sqrt(2 * nu / (nu - 1) * fdtri(2, nu - 1, confidence))
    half = np.where(known[:, None], np.sqrt(np.maximum(size, 0)) * radius[:, None], np.nan)
    angle = np.degrees(np.arctan2(axes[:, 1, 1], axes[:, 0, 1]))
    return {
        "major": pl.Series(half[:, 1]),
        "minor": pl.Series(half[:, 0]),
        "angle": pl.Series(np.where(known, (angle + 90) % 180 - 90, np.nan)),
    }


def _sentences(points: pl.DataFrame, axes: tuple[str, str], by: str) -> Iterator[str]:
    if points.height < 2:
        return
    for axis, label in zip("xy", axes, strict=True):
        ordered = points.sort(axis, maintain_order=True)
        low, high = ordered.row(0, named=True), ordered.row(-1, named=True)
        yield wording.ends_text(label, high[by], high[axis], low[by], low[axis])
    r = pearson(points["x"].to_numpy(), points["y"].to_numpy())
    if r == r:
        yield wording.correlation_text(float(r), points.height)
