"""How scores of pairs, and their errors, are spread."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from affectlab.analysis.expressions import wording
from affectlab.analysis.expressions.wording import HISTOGRAM_AXES, Errors
from affectlab.analysis.pairs import PairScores, PairSource, pair_scores
from affectlab.core.errors import InputError
from affectlab.core.result import Result
from affectlab.core.tables import Count, Figure, Interval, Key, Number, Share, Table
from affectlab.core.types import Floats
from affectlab.core.words import number, plural

_BINS = 20
"""About how many bins there are, when none are given."""
_MOST_BINS = 1000
_CONSTANT = 1e-12
"""Spread, relative to the mean, below which values count as equal."""
_ALL = "intra and inter"
_FEW, _MANY = 20, 100
"""Fewer different errors than this, of so many pairs, are not errors of single pairs."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ScoreHistograms(Result):
    """Counts of scores and of their standard errors; see :func:`score_histograms`."""

    quartiles: tuple[float, float, float]
    """Quartiles of the standard errors, which bound the groups of "scores by error"; ``nan``
    without errors."""
    mean_error: float
    """Mean standard error of the scores; ``nan`` without errors."""
    errors: Errors | None
    """Which standard errors these are; None without errors."""
    shared: tuple[str, ...]
    """Expressions of which all actors have a transition, which "scores by actor" is about."""
    unit: str

    @property
    def frame(self) -> pl.DataFrame:
        """One row per histogram, group and bin.

        ``histogram`` (scores, errors, scores by error, scores by actor), ``group``, ``low`` and
        ``high`` (ends of the bin; the last holds its upper end), ``count``, ``share`` (of the
        group).
        """
        return self.to_frame()

    @property
    def summary(self) -> pl.DataFrame:
        """One row per histogram and group.

        ``n``, ``mean``, ``sd``, ``skew``, ``least``, ``largest`` of what is counted.
        """
        return self.to_frame("summary")

    def of(self, histogram: str) -> dict[str, pl.DataFrame]:
        """Give the bins of each group of one histogram, in order; empty where there is none."""
        own = self.frame.filter(pl.col("histogram") == histogram)
        return {
            str(group[0]): bins.select("low", "high", "count", "share")
            for group, bins in own.group_by("group", maintain_order=True)
        }


_GROUP = (Key("histogram"), Key("group"))
_BIN = (*_GROUP, Interval(head="bin"), Count("count"), Share("share"))
_SUMMARY = (
    *_GROUP,
    Count("n", "n"),
    *(Number(name) for name in ("mean", "sd", "skew", "least", "largest")),
)


def score_histograms(
    scores: PairSource,
    *,
    bins: int | Sequence[float] | None = None,
    error_bins: int | Sequence[float] | None = None,
) -> ScoreHistograms:
    """Count scores of pairs and their standard errors, as the figures 13 to 16 of the paper do.

    Parameters
    ----------
    scores
        Ratings or scores of pairs; see :func:`pair_scores`.
    bins, error_bins
        Number of equal bins from the least to the largest value, or their edges. None: about 20
        with round edges.

    Returns
    -------
    ScoreHistograms
        ``scores`` and ``errors`` of intra, inter and all pairs; ``scores by error``: scores of all
        pairs in four groups by the quartiles of the standard errors, a group holding its lower
        bound and not its upper one; ``scores by actor``: scores of the intra pairs of expressions
        that all actors have, by actor. Without standard errors the second and third are missing,
        and a note says so. Errors are those of each pair's own ratings (``se_stimulus``) where
        these are known, else ``se``.

        ``frame`` has a row per bin, ``summary`` one per group, ``of(histogram)`` gives the
        bins of each group; ``quartiles`` and ``mean_error`` are of the standard errors,
        ``shared`` names the expressions of all actors.

    Raises
    ------
    InputError
        When edges do not rise, are fewer than two, or leave a value out.

    Notes
    -----
    Figure 16 is of intra pairs, as the text of the appendix says: each actor shows other inter
    pairs, whose scores cannot be compared. Only its caption says "inter".

    References
    ----------
    Saha et al. (2025), FaceExpressions-70k, appendix A.3.

    Examples
    --------
    >>> table = pl.DataFrame({
    ...     "actor": ["ann"] * 4, "expression_a": ["joy"] * 4, "role_a": ["peak"] * 4,
    ...     "expression_b": ["joy", "joy", "awe", "fear"], "role_b": ["middle", "neutral", "peak",
    ...     "peak"], "value": [10.0, 40.0, 70.0, 90.0], "se": [2.0, 3.0, 3.5, 2.5],
    ... })
    >>> found = score_histograms(table, bins=[0, 50, 100])
    >>> found.of("scores")["inter"]["count"].to_list(), found.quartiles
    ([0, 2], (2.375, 2.75, 3.125))
    """
    pairs = pair_scores(scores)
    value = pairs.frame["value"].to_numpy()
    se, errors = _errors(pairs)
    known = np.isfinite(se)
    kind = pairs.frame["kind"].to_numpy()
    kinds = {"intra": kind == "intra", "inter": kind == "inter", _ALL: np.ones(kind.size, bool)}
    notes = list(pairs.notes)
    edges = of_errors = _edges(value, bins, "bins")
    parts = [("scores", group, value[inside]) for group, inside in kinds.items()]
    quartiles = (math.nan, math.nan, math.nan)
    mean_error = math.nan
    if known.any():
        mean_error = float(se[known].mean())
        low, middle, high = (float(part) for part in np.quantile(se[known], [0.25, 0.5, 0.75]))
        quartiles = (low, middle, high)
        of_errors = _edges(se[known], error_bins, "error_bins", start=0.0)
        parts += [("errors", group, se[inside & known]) for group, inside in kinds.items()]
        quarter = np.searchsorted(np.array(quartiles), se[known], side="right")
        parts += [
            ("scores by error", name, value[known][quarter == place])
            for place, name in enumerate(_quartile_names(quartiles))
        ]
        if not known.all():
            notes.append(wording.lacking_errors(int((~known).sum())))
        values = np.unique(se[known]).size
        if values < _FEW and known.sum() >= _MANY:
            notes.append(wording.shared_errors(values, int(known.sum())))
    else:
        errors = None
        notes.append(wording.NO_ERRORS)
    shared = _shared(pairs)
    own = pairs.intra().frame.filter(pl.col("expression_a").is_in(shared))
    if own.height:
        parts += [
            ("scores by actor", actor, own.filter(actor=actor)["value"].to_numpy())
            for actor in pairs.actors
        ]
    drawn = [_counted(*part, of_errors if part[0] == "errors" else edges) for part in parts]
    frames, rows = zip(*drawn, strict=True)
    summary = pl.DataFrame(list(rows))
    n = int(summary.filter(histogram="scores", group=_ALL)["n"].sum())
    return ScoreHistograms(
        (
            Table("histograms", "Counts by bin.", pl.concat(frames), _BIN, limit=0),
            Table("summary", "What is counted.", summary, _SUMMARY),
        ),
        (wording.errors_text(n, mean_error, quartiles, errors),),
        _figures(summary, pairs.unit),
        notes=tuple(notes),
        settings={"mean_error": mean_error, "error_quartiles": quartiles, "unit": pairs.unit},
        quartiles=quartiles,
        mean_error=mean_error,
        errors=errors,
        shared=shared,
        unit=pairs.unit,
    )


def _figures(summary: pl.DataFrame, unit: str) -> tuple[Figure, ...]:
    """Declare the histograms of each kind that there are."""
    figures = []
    for histogram, axis in HISTOGRAM_AXES.items():
        rows = summary.filter(pl.col("histogram") == histogram).to_dicts()
        notes = {
            row["group"]: f"{plural(row['n'], 'pair')}, mean {number(row['mean'], 1)}"
            for row in rows
        }
        if not rows:
            continue
        named = f"score ({unit})" if histogram == "scores" and unit != "score" else axis
        figures.append(
            Figure(
                histogram.replace(" ", "_"),
                "histograms",
                "histograms",
                f"Histograms of {histogram}",
                description="; ".join(f"{group}: {note}" for group, note in notes.items()),
                options={"histogram": histogram, "notes": notes, "value_name": named},
            )
        )
    return tuple(figures)


def _quartile_names(quartiles: tuple[float, float, float]) -> tuple[str, ...]:
    low, middle, high = (f"{bound:.2f}" for bound in quartiles)
    return (
        f"error < {low}",
        f"{low} ≤ error < {middle}",
        f"{middle} ≤ error < {high}",
        f"error ≥ {high}",
    )


def _errors(scores: PairScores) -> tuple[Floats, Errors | None]:
    """Take the errors that pairs have of their own; those of a model may be one for a batch."""
    own = scores.frame["se_stimulus"].to_numpy()
    if np.isfinite(own).any():
        return own, Errors.OF_PAIRS
    return scores.frame["se"].to_numpy(), Errors.GIVEN


def _shared(scores: PairScores) -> tuple[str, ...]:
    """Find the expressions of which every actor has an intra pair."""
    intra = scores.intra().frame
    have = intra.select("actor", pl.col("expression_a").alias("expression")).unique()
    count = have.group_by("expression").agg(pl.len().alias("n"))
    full = set(count.filter(pl.col("n") == len(scores.actors))["expression"].to_list())
    return tuple(name for name in scores.expressions if name in full)


def _counted(
    histogram: str, group: str, values: Floats, edges: Floats
) -> tuple[pl.DataFrame, dict[str, object]]:
    counts = np.histogram(values, edges)[0]
    n = int(values.size)
    frame = pl.DataFrame(
        {
            "histogram": [histogram] * counts.size,
            "group": [group] * counts.size,
            "low": edges[:-1],
            "high": edges[1:],
            "count": counts.astype(np.int64),
            "share": counts / n if n else np.full(counts.size, math.nan),
        }
    )
    mean = float(values.mean()) if n else math.nan
    apart = values - mean
    spread = float(np.sqrt((apart**2).mean())) if n else math.nan
    rounding = _CONSTANT * max(abs(mean), 1.0)
    row: dict[str, object] = {
        "histogram": histogram,
        "group": group,
        "n": n,
        "mean": mean,
        "sd": float(values.std(ddof=1)) if n > 1 else math.nan,
        "skew": float(((apart / spread) ** 3).mean()) if spread > rounding else math.nan,
        "least": float(values.min()) if n else math.nan,
        "largest": float(values.max()) if n else math.nan,
    }
    return frame, row


def _edges(
    values: Floats, bins: int | Sequence[float] | None, name: str, start: float | None = None
) -> Floats:
    low, high = float(values.min()), float(values.max())
    if bins is None:
        low = low if start is None else min(low, start)
        step = _round_step((high - low) / _BINS)
        first, last = math.floor(low / step), math.ceil(high / step)
        # A quotient may round to a whole number that its multiple is not.
        first -= first * step > low
        last += last * step < high
        return np.arange(first, max(last, first + 1) + 1, dtype=np.float64) * step
    if isinstance(bins, int | np.integer) and not isinstance(bins, bool):
        if not 1 <= bins <= _MOST_BINS:
            raise InputError(f"{name} {bins}: expected 1 to {_MOST_BINS:,} bins, or their edges")
        return np.linspace(low, high if high > low else low + 1, int(bins) + 1, dtype=np.float64)
    try:
        edges = np.asarray(bins, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} {bins!r}: expected a number of bins, or their edges") from None
    if edges.ndim != 1 or edges.size < 2 or not (np.diff(edges) > 0).all():
        raise InputError(f"{name}: the edges do not rise; expected two or more that do")
    if low < edges[0] or high > edges[-1]:
        lost = low if low < edges[0] else high
        raise InputError(
            f"{name}: {lost:g} lies outside the edges {edges[0]:g} to {edges[-1]:g}; expected "
            "edges that hold all values"
        )
    return edges


def _round_step(width: float) -> float:
    """Take the next of 1, 2, 2.5, 5 times a power of ten."""
    if not width > 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(width))
    return next(
        step * power for step in (1.0, 2.0, 2.5, 5.0, 10.0) if step * power >= width * (1 - 1e-9)
    )
