"""What a cross-validation found, in tables and in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from affectlab.core.arrays import pearson, weighted_quantile
from affectlab.core.errors import InputError, check_choice
from affectlab.core.estimates import side_by_side
from affectlab.core.facts import Cause, Reason, reason_type
from affectlab.core.inference import check_confidence
from affectlab.core.result import Result
from affectlab.core.tables import Column, Count, Interval, Key, Number, Share, Table
from affectlab.core.types import Floats, Ints, by_name
from affectlab.core.words import in_brackets, joined, number, plural, shown
from affectlab.models.differences.distances import cosine
from affectlab.models.differences.learned.samples import BLOCK, PairSamples
from affectlab.models.differences.learned.settings import LearnerSettings, learner_settings
from affectlab.models.differences.learned.splits import ActorSplit, check_seed

if TYPE_CHECKING:
    from affectlab.ratings import Ratings
else:
    Ratings = by_name("affectlab.ratings", "Ratings")

__all__ = [
    "FEWEST_ACTORS",
    "MEASURES",
    "CrossValidation",
    "Ranked",
    "actor_intervals",
    "check_draws",
    "report_of",
    "split_weights",
    "zero_shot",
]

# How well differences are predicted on the actors tested, beside what needs no learning.


MEASURES = ("srocc", "plcc")
"""Spearman's rank correlation, and Pearson's."""
_EQUAL = 1e-9


class Ranked:
    """Scores whose ranks are taken once, for all that predict them."""

    def __init__(self, scores: Floats) -> None:
        self.scores = scores
        self._ranks = _ranks(scores)

    def measure(self, predicted: Floats) -> tuple[float, float, float, Reason | None]:
        """Give SROCC, PLCC, root mean squared error, and why they are not defined."""
        if why := self._lack(predicted):
            return np.nan, np.nan, np.nan, why
        rmse = float(np.sqrt(np.mean((predicted - self.scores) ** 2)))
        srocc = pearson(_ranks(predicted), self._ranks)
        return srocc, pearson(predicted, self.scores), rmse, None

    def _lack(self, predicted: Floats) -> Reason | None:
        if self.scores.size < 3:
            return Reason(Cause.FEWER, least=3, of="pairs")
        for what, values in (("scores", self.scores), ("predictions", predicted)):
            if not np.isfinite(values).all():
                return Reason(Cause.NOT_FINITE, of=what)
            if np.ptp(values) <= _EQUAL * max(float(np.abs(values).max()), 1e-300):
                return Reason(Cause.CONSTANT, of=what)
        return None


def _ranks(values: Floats) -> Floats:
    from scipy.stats import rankdata

    return np.asarray(rankdata(values), dtype=np.float64)


def zero_shot(data: PairSamples) -> dict[str, Floats]:
    """Give what embeddings say by themselves: mean absolute difference, and 1 less the cosine.

    Examples
    --------
    >>> from affectlab.models.differences.learned.samples import samples_of
    >>> pairs = {"actor": ["a"], "file_a": ["x"], "file_b": ["y"], "value": [50.0]}
    >>> found = zero_shot(samples_of(pairs, None, {"x": [1.0, 0.0], "y": [0.0, 1.0]}))
    >>> {name: values.tolist() for name, values in found.items()}
    {'L1': [1.0], 'cosine': [1.0]}
    """
    found = {"L1": np.empty(len(data)), "cosine": np.empty(len(data))}
    rows: Ints = np.arange(len(data), dtype=np.int64)
    for part, block in data.blocks(rows):
        found["L1"][part] = block.mean(axis=1, dtype=np.float64)
    for start in range(0, len(data), BLOCK):
        part = slice(start, start + BLOCK)
        one, other = (
            data.values[side[part]].astype(np.float64) for side in (data.first, data.second)
        )
        apart = cosine(one, other)
        # No direction on one side: as far as can be told, neither alike nor opposite.
        found["cosine"][part] = np.where(np.isnan(apart), 1.0, apart)
    return found


# Intervals of what splits by actor say: actors are drawn, for splits share them.


FEWEST_ACTORS = 4
"""Actors from which on there is an interval."""


_MOST_DRAWS = 1 << 24
"""Draws times splits: what is held of them takes half a gigabyte."""


def check_draws(n_boot: Any, n_splits: int) -> int:
    """Check the number of draws of actors.

    Raises
    ------
    InputError
        When it is no whole number, 1, or too large for so many splits.

    Examples
    --------
    >>> check_draws(1, 28)
    Traceback (most recent call last):
    affectlab.InputError: n_boot = 1: expected 0 (no intervals), or 2 to 599,186 draws
    """
    most = _MOST_DRAWS // max(n_splits, 1)
    whole = isinstance(n_boot, int | np.integer) and not isinstance(n_boot, bool)
    if not whole or n_boot < 0 or n_boot == 1 or n_boot > most:
        said = str(n_boot) if whole and abs(n_boot) < 1e15 else shown(repr(n_boot), 20)
        raise InputError(f"n_boot = {said}: expected 0 (no intervals), or 2 to {most:,} draws")
    return int(n_boot)


def split_weights(
    tests: Sequence[Sequence[int]], n_actors: int, n_boot: int, rng: np.random.Generator
) -> Floats:
    """Draw actors with replacement, and give how often each split is among those drawn.

    A split counts as often as its actors can be taken together: the product of how often each was
    drawn. The same draws serve all methods, so that their differences have intervals, too.

    Returns
    -------
    Shape (n_boot, splits).

    Examples
    --------
    >>> found = split_weights([(0, 1), (0, 2), (1, 2)], 3, 100, np.random.default_rng(0))
    >>> found.shape, bool((found.sum(axis=1) <= 3).all())
    ((100, 3), True)
    """
    drawn = rng.multinomial(n_actors, np.full(n_actors, 1 / n_actors), size=n_boot)
    found = np.ones((n_boot, len(tests)))
    for place, actors in enumerate(tests):
        for actor in actors:
            found[:, place] *= drawn[:, actor]
    return found


def actor_intervals(
    values: Floats, weights: Floats, n_actors: int, confidence: float
) -> tuple[float, float, float, float]:
    """Give the median over splits with its standard error and interval.

    The standard error is that of the bootstrap over actors, with the factor that few actors need,
    :math:`\\sqrt{n / (n - 1)}`; the interval is by Student's t with n - 1 degrees of freedom. With
    8 actors percentiles of the bootstrap would be a quarter too narrow. Where actors differ in what
    decides on their scores, and learning is repeated, intervals of 95 % around the median of one
    method still hold the truth in about 89 % of simulated studies with 8 actors; those around the
    difference of two methods in 95 %.

    Parameters
    ----------
    values
        One per split, ``nan`` where not defined.
    weights
        As :func:`split_weights` gives them.
    n_actors
        Actors that are tested in some split.

    Returns
    -------
    Median, standard error, low and high; ``nan`` for what is not known.
    """
    from scipy.stats import t

    known = np.isfinite(values)
    if not known.any():
        return (float("nan"),) * 4
    median = float(np.median(values[known]))
    if n_actors < FEWEST_ACTORS or not len(weights):
        return median, float("nan"), float("nan"), float("nan")
    drawn = weighted_quantile(values[known], weights[:, known], 0.5)
    drawn = drawn[np.isfinite(drawn)]
    if drawn.size < len(weights) / 2:
        return median, float("nan"), float("nan"), float("nan")
    se = float(np.std(drawn, ddof=1) * np.sqrt(n_actors / (n_actors - 1)))
    reach = float(t.ppf((1 + confidence) / 2, n_actors - 1)) * se
    return median, se, median - reach, median + reach


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class CrossValidation(Result):
    """How well a learned metric does on actors it was not learned from, beside other metrics."""

    learned: LearnerSettings
    """The learner with what was chosen of it."""
    splits: tuple[ActorSplit, ...]
    n_pairs: int
    n_boot: int
    confidence: float
    seed: int
    details: tuple[dict[str, Any], ...] = ()
    """What the learner chose in each split."""
    data: str = ""
    """Hash of the pairs, scores and embeddings."""
    predictions: pl.DataFrame | None = None
    """What the learned metric says of each pair where its actor was kept aside, the mean over
    these splits: ``stimulus``, ``actor``, ``value``, ``n_splits``. None in a report that was
    read from a folder."""

    def ratings(self, name: str, version: str = "", stimuli: pl.DataFrame | None = None) -> Ratings:
        """Give :attr:`predictions` as ratings of a model.

        Parameters
        ----------
        name, version
            Of the metric, as a rater.
        stimuli
            What more is known of the pairs, with a column ``stimulus``.

        Raises
        ------
        InputError
            When there are no predictions.
        """
        from affectlab.ratings import Ratings

        told = self.predictions
        if told is None:
            raise InputError(
                "the cross-validation has no predictions; expected one that was just run"
            )
        known = told.select("stimulus", "actor")
        if stimuli is not None:
            known = known.select("stimulus").join(
                stimuli, on="stimulus", how="left", maintain_order="left"
            )
        raters = {
            "rater": [name],
            "rater_kind": ["model"],
            "version": [version],
            "direction": ["higher is more different"],
            "learned": [f"each pair by {len(self.splits)} splits that keep its actor aside"],
        }
        return Ratings(
            told.select("stimulus", pl.lit(name).alias("rater"), "value"),
            scale="interval",
            raters=pl.DataFrame(raters),
            stimuli=known,
            source="cross-validation",
        )

    @property
    def doubts(self) -> tuple[str, ...]:
        """Which methods the learned one is not clearly better than, on actors kept aside."""
        ahead = self.comparison.filter(pl.col("group") == "all", pl.col("measure") == "srocc")
        behind = ahead.filter(~pl.col("better"))["method"].to_list() if self.n_boot else []
        if not behind:
            return ()
        return (f"on actors kept aside the metric is not clearly better than {joined(behind)}",)

    @property
    def frame(self) -> pl.DataFrame:
        """One row per split, method and group of pairs: ``split``, ``test``, ``method``, ``group``
        (all, intra, inter), ``n_train``, ``n_test``, ``srocc``, ``plcc``, ``rmse`` (of the learned
        metric), ``status``, ``reason``."""
        return self.to_frame()

    @property
    def summary(self) -> pl.DataFrame:
        """One row per method, group and measure: ``median`` over the splits, ``least`` and ``most``
        of them, ``se``, ``low`` and ``high`` of the median over actors, ``n_splits``. With 8 actors
        these intervals are a little too narrow: those of 95 % hold the truth in about 89 % of
        studies."""
        return self.to_frame("summary")

    @property
    def comparison(self) -> pl.DataFrame:
        """One row per other method, group and measure: ``value``, the median over the splits of the
        learned metric less the other, ``se``, ``low``, ``high``, ``better`` (the interval is above
        0), and ``wins``, the share of the splits in which the learned metric is ahead."""
        return self.to_frame("comparison")

    @property
    def learner(self) -> str:
        """Name of the learner, as in the tables."""
        return self.learned.learner

    @property
    def actors(self) -> tuple[str, ...]:
        """Actors that some split tests."""
        return tuple(sorted({name for split in self.splits for name in split.test}))

    @property
    def compared(self) -> tuple[str, ...]:
        """The learner, and what it is compared with."""
        return tuple(self.frame["method"].unique(maintain_order=True).to_list())

    @property
    def groups(self) -> tuple[str, ...]:
        """Groups of pairs, all of them first."""
        return tuple(self.frame["group"].unique(maintain_order=True).to_list())

    def median(
        self, method: str | None = None, measure: str = "srocc", group: str = "all"
    ) -> float:
        """Give the median over splits, by default that of the learned metric."""
        found = self._row(self.summary, method or self.learner, measure, group)
        return float(found["median"])

    def better_than(
        self, method: str, measure: str = "srocc", group: str = "all"
    ) -> dict[str, Any]:
        """Give the row of :attr:`comparison` with another method."""
        return self._row(self.comparison, method, measure, group)

    def _row(self, table: pl.DataFrame, method: str, measure: str, group: str) -> dict[str, Any]:
        for name, value in (("method", method), ("group", group), ("measure", measure)):
            known = table[name].unique(maintain_order=True).to_list()
            check_choice(name, value, known)
        found = table.filter(
            (pl.col("method") == method)
            & (pl.col("group") == group)
            & (pl.col("measure") == measure)
        )
        return found.row(0, named=True)

    def _said(self) -> tuple[str, ...]:
        """Say what the splits show, and what the intervals mean, a sentence each."""
        n = len(self.actors)
        best = self.summary.filter(pl.col("group") == "all", pl.col("method") == self.learner)
        reached = joined(
            f"{row['measure'].upper()} of {number(row['median'], 3)} "
            f"({number(row['least'], 3)} to {number(row['most'], 3)})"
            for row in best.iter_rows(named=True)
        )
        said = [
            f"{self.learner} reaches a median {reached} over "
            f"{plural(len(self.splits), 'split')} of {plural(len(self._everyone), 'actor')}."
        ]
        ranked = self.comparison.filter(pl.col("group") == "all", pl.col("measure") == "srocc")
        for row in ranked.iter_rows(named=True):
            known = row["low"] is not None and row["low"] == row["low"]
            how = f"ranks {'better' if row['better'] else 'not clearly better'} than"
            if not known:
                how = "is set against"
            said.append(
                f"It {how} {row['method']} on the same actors: SROCC apart by "
                f"{number(row['value'], 3)}{in_brackets(row['low'], row['high'], 3)}, ahead in "
                f"{row['wins']:.0%} of the splits."
            )
        said.append(
            f"Splits share actors, so {len(self.splits)} of them are no {len(self.splits)} "
            "independent results; intervals draw actors, not pairs or splits, and hold for others "
            "like them."
        )
        if n < FEWEST_ACTORS:
            said.append(f"{plural(n, 'actor')} are too few for an interval.")
        elif self.n_boot and not self._has_intervals:
            said.append(
                "There are no intervals: each split tests so many of the actors that few draws of "
                "actors have a split."
            )
        elif n < 20 and self.n_boot:
            said.append(
                f"{plural(n, 'actor')} are few: intervals are rough, those of the medians "
                "themselves a little too narrow, and what another choice of actors to learn from "
                "would change is in them only in part."
            )
        return tuple(said)

    @property
    def _has_intervals(self) -> bool:
        return bool(self.comparison["low"].is_finite().any())

    @property
    def _everyone(self) -> tuple[str, ...]:
        return tuple(sorted({*self.actors, *(name for s in self.splits for name in s.train)}))

    def stored(self) -> dict[str, Any]:
        """What a folder keeps as plain values, which :meth:`from_stored` reads."""
        return {
            "learner": self.learner,
            "settings": self.learned.to_dict(),
            "splits": [{"train": list(one.train), "test": list(one.test)} for one in self.splits],
            "frame": _plain_rows(self.table("splits").frame),
            "n_pairs": self.n_pairs,
            "n_boot": self.n_boot,
            "confidence": self.confidence,
            "seed": self.seed,
            "details": list(self.details),
            "notes": list(self.notes),
            "data": self.data,
        }

    @classmethod
    def from_stored(cls, values: Mapping[str, Any]) -> CrossValidation:
        """Read what :meth:`stored` gave.

        Raises
        ------
        InputError
            When a number is out of its range.
        """

        splits = tuple(
            ActorSplit(tuple(one["train"]), tuple(one["test"])) for one in values["splits"]
        )
        _check_rows(values["frame"])
        n_pairs = values["n_pairs"]
        if isinstance(n_pairs, bool) or not isinstance(n_pairs, int) or n_pairs < 0:
            raise InputError(f"n_pairs = {n_pairs!r}: expected a number of pairs")
        return report_of(
            values["frame"],
            splits,
            learner_settings(values["learner"], values["settings"]),
            n_boot=values["n_boot"],
            confidence=float(values["confidence"]),
            seed=values["seed"],
            details=tuple(dict(one) for one in values["details"]),
            n_pairs=n_pairs,
            notes=tuple(str(one) for one in values["notes"]),
            data=str(values.get("data", "")),
        )


def _check_rows(rows: Any) -> None:
    """Refuse rows of splits with numbers that no cross-validation gives."""
    for row in rows:
        for name, low, high in (("srocc", -1.0, 1.0), ("plcc", -1.0, 1.0), ("rmse", 0.0, 1e6)):
            value = row[name]
            if value is not None and not low - 1e-9 <= value <= high + 1e-9:
                raise InputError(
                    f"split {row['split']}, {name} = {value!r}: expected a number from {low:g} to "
                    f"{high:g}"
                )


def _plain_rows(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """Rows for JSON, with None for ``nan``."""
    return frame.with_columns(pl.col("srocc", "plcc", "rmse").fill_nan(None)).to_dicts()


# Medians over splits, and how far methods are apart, with intervals over actors.


_SCHEMA = {
    "split": pl.Int64,
    "test": pl.String,
    "method": pl.String,
    "group": pl.String,
    "n_train": pl.Int64,
    "n_test": pl.Int64,
    "srocc": pl.Float64,
    "plcc": pl.Float64,
    "rmse": pl.Float64,
    "status": pl.String,
    "reason": reason_type(),
}


def report_of(
    rows: Sequence[Mapping[str, Any]],
    splits: tuple[ActorSplit, ...],
    settings: LearnerSettings,
    *,
    n_boot: int,
    confidence: float,
    seed: int,
    details: tuple[dict[str, Any], ...],
    n_pairs: int,
    notes: tuple[str, ...],
    data: str = "",
    predictions: pl.DataFrame | None = None,
) -> CrossValidation:
    """Sum up the rows of all splits."""
    if not rows:
        raise InputError("no split was tested; expected rows of splits")
    check_confidence(confidence)
    check_seed(seed)
    n_boot = check_draws(n_boot, len(splits))
    frame = pl.DataFrame([dict(row) for row in rows], schema=_SCHEMA).with_columns(
        pl.col("srocc", "plcc", "rmse").fill_null(float("nan"))
    )
    actors = tuple(sorted({name for split in splits for name in split.test}))
    place = {name: k for k, name in enumerate(actors)}
    tests = [[place[name] for name in split.test] for split in splits]
    rng = np.random.default_rng([seed, len(splits)])
    weights = split_weights(tests, len(actors), n_boot, rng)
    summary: list[dict[str, Any]] = []
    comparison: list[dict[str, Any]] = []
    learner = settings.learner
    for group in frame["group"].unique(maintain_order=True):
        part = frame.filter(pl.col("group") == group)
        by = {
            str(method): part.filter(pl.col("method") == method).sort("split")
            for method in part["method"].unique(maintain_order=True)
        }
        for measure in MEASURES:
            values = {method: held[measure].to_numpy() for method, held in by.items()}
            for method, found in values.items():
                median, se, low, high = actor_intervals(found, weights, len(actors), confidence)
                known = found[np.isfinite(found)]
                summary.append(
                    {
                        "method": method,
                        "group": group,
                        "measure": measure,
                        "median": median,
                        "least": float(known.min()) if known.size else float("nan"),
                        "most": float(known.max()) if known.size else float("nan"),
                        "se": se,
                        "low": low,
                        "high": high,
                        "n_splits": int(known.size),
                    }
                )
                if method == learner:
                    continue
                apart = values[learner] - found
                value, se, low, high = actor_intervals(apart, weights, len(actors), confidence)
                sure = apart[np.isfinite(apart)]
                comparison.append(
                    {
                        "method": method,
                        "group": group,
                        "measure": measure,
                        "value": value,
                        "se": se,
                        "low": low,
                        "high": high,
                        "better": bool(low > 0),
                        "wins": float((sure > 0).mean()) if sure.size else float("nan"),
                    }
                )
    medians, apart = pl.DataFrame(summary), pl.DataFrame(comparison)
    result = CrossValidation(
        tables=(
            Table("splits", "Splits by actor.", frame, _SPLITS, limit=0),
            _beside_each_other(medians, apart, learner, len(splits)),
            Table("summary", "Medians over the splits.", medians, _MEDIANS, limit=0),
            Table("comparison", f"{learner} less other metrics.", apart, _APART, limit=0),
        ),
        notes=notes,
        settings={"learner": learner, **settings.to_dict(), "n_boot": n_boot, "seed": seed},
        learned=settings,
        splits=splits,
        n_pairs=n_pairs,
        n_boot=n_boot,
        confidence=confidence,
        seed=seed,
        details=details,
        data=data,
        predictions=predictions,
    )
    return replace(result, sentences=result._said())


_KEYS = (Key("method"), Key("group", "pairs"), Key("measure"))
_SPLITS = (
    Key("split"),
    *_KEYS[:2],
    *(Count(name) for name in ("n_train", "n_test")),
    *(Number(name, name.upper(), decimals=3) for name in MEASURES),
)
_MEDIANS = (*_KEYS, Number("median", decimals=3), Interval(decimals=3))
_APART = (*_KEYS, Number("value", "apart", decimals=3), Interval(decimals=3), Share("wins"))


def _beside_each_other(
    medians: pl.DataFrame, apart: pl.DataFrame, learner: str, n_splits: int
) -> Table:
    """One row per method and group of pairs: medians with their range, and how far it is behind."""
    index = ["method", "group"]
    # The range over the splits stands where an interval would.
    ranges = medians.select(
        *index, "measure", value="median", low=pl.col("least"), high=pl.col("most")
    )
    wide = side_by_side(ranges, index, MEASURES, of="measure")
    if apart.height:
        columns = {"apart": "value", "apart_low": "low", "apart_high": "high"}
        ahead = apart.filter(measure=MEASURES[0]).select(*index, **columns)
        wide = wide.join(ahead, on=index, how="left", maintain_order="left")
    shown: list[Column] = [_KEYS[0], *([_KEYS[1]] if wide["group"].n_unique() > 1 else ())]
    for name in MEASURES:
        shown += [
            Number(name, name.upper(), decimals=3),
            Interval(name, "range", decimals=3),
        ]
    if apart.height:
        shown += [
            Number("apart", "SROCC apart", decimals=3),
            Interval("apart", "interval", decimals=3),
        ]
    said = f"medians over {plural(n_splits, 'split')} by actor, with the range"
    caption = f"{learner} beside other metrics."
    return Table("medians", caption, wide, tuple(shown), notes=(said,))
