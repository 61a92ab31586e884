"""Scores of stimuli by any of the methods."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from affectlab.core.arrays import counted, distinct
from affectlab.core.estimates import Estimates
from affectlab.core.facts import Formula, IntervalFact
from affectlab.core.inference import check_confidence, wilson_interval
from affectlab.core.result import Result
from affectlab.core.tables import Column, Figure, Interval, Key, Share, Table, Text
from affectlab.core.words import in_brackets, number, option, percent, plural, shown
from affectlab.ratings import (
    Answers,
    Ratings,
    Scale,
    answers_of,
    in_label_order,
    labels_on,
    people_or_all,
    raters_are_known,
)
from affectlab.reliability import wording
from affectlab.reliability.duplicates import duplicate_raters
from affectlab.reliability.screening import careless_raters
from affectlab.reliability.subject_models import mean_opinion_scores, subject_model

_MOST_ANSWERS = 6
"""Different answers to a stimulus that are listed; of more, the ends."""
_MOST_SPANS, _MOST_LABELS, _MOST_DISPUTED, _MOST_DOTS = 3, 8, 5, 1200
_LISTED = 3
"""Answers to a stimulus from which on it may be called disputed."""


def stimulus_scores(
    ratings: Ratings | ArrayLike,
    *,
    method: Literal["mean", "reml", "p910", "mle"] = "mean",
    confidence: float = 0.95,
) -> Result:
    """Score each stimulus: what raters say of it on average, with an interval about other raters.

    Parameters
    ----------
    ratings
        Ratings, or an array, as for :func:`subject_model`.
    method
        The mean of the raters (mean; of categories the answer of most, with its share), or a
        subject model, another estimate of the same quantity.

        Subject models weigh raters by their consistency, take their biases out, which helps where
        not everybody rated everything, and give bias and inconsistency of each rater. They are
        those of :func:`subject_model`, which has settings for each.
    confidence
        Coverage of the intervals.

    Returns
    -------
    The table ``scores``, in the unit of the scale: :func:`mean_opinion_scores`, with ``answers``
    (how often which one was given, the most frequent first), ``answer`` (of categories, that of
    most, whose share is the value, with Wilson's interval) and ``middle`` (the mean over stimuli of
    a label, of shares one half); or ``scores`` and ``raters`` of :func:`subject_model`. Notes name
    raters who answer alike, and careless ones, who move the level of all scores.

    Raises
    ------
    InputError
        If the values of a subject model have no order, or the method is unknown.

    Examples
    --------
    >>> found = stimulus_scores([[1, 5, 3], [2, 4, 3], [3, 5, 2]])
    >>> found.finding
    'The score runs from 2.00 (0) to 4.67 (1).'
    >>> found.to_frame("scores")["value"].round(2).to_list()
    [2.0, 4.67, 2.67]
    """
    careless = _careless(ratings)
    if method != "mean":
        found: Result = subject_model(ratings, method=method, confidence=confidence)
        return replace(found, notes=(*found.notes, *careless))
    known = raters_are_known(ratings)
    pairs = duplicate_raters(ratings).evidence if known else ()
    alike = (wording.mean_counts_both(pair) for pair in pairs)
    return replace(scores_of(ratings, confidence=confidence), notes=(*alike, *careless))


def _careless(ratings: Ratings | ArrayLike) -> tuple[str, ...]:
    """Warn of careless raters: they move the level of all scores."""
    if not isinstance(ratings, Ratings) or not ratings.raters_known:
        return ()
    names = careless_raters(people_or_all(ratings)).raters_to_drop()
    if not names:
        return ()
    verb = option("screen", cli="affectlab reliability screen")
    return (wording.careless_included(names, verb),)


# Scores of means, and of the answers of most.


@dataclass(frozen=True, eq=False)
class LabelScores:
    """Scores of one label."""

    label: str
    """Its name; empty where answers have no labels."""
    scale: Scale | None
    frame: pl.DataFrame
    """A row per stimulus, the lowest score first."""

    @property
    def highest(self) -> dict[str, Any]:
        """The stimulus with the highest score."""
        return self.frame.row(-1, named=True)

    @property
    def lowest(self) -> dict[str, Any]:
        """The stimulus with the lowest score."""
        return self.frame.row(0, named=True)

    @cached_property
    def disputed(self) -> dict[str, Any]:
        """The stimulus on which raters differ most; of shares, that whose share is least clear."""
        apart = pl.col("sd").fill_nan(None)
        if self.kind == "nominal":
            apart = -pl.col("value")
        elif self.is_share:
            apart = -(pl.col("value") - 0.5).abs()
        else:
            apart = apart.fill_null(-(pl.col("value") - 0.5).abs())
        order = _answered_enough(self.frame).sort(
            [apart, pl.col("stimulus")], descending=[True, False]
        )
        return order.row(0, named=True)

    @property
    def kind(self) -> str:
        """Kind of the scale; empty for an array."""
        return "" if self.scale is None else self.scale.kind

    @property
    def is_share(self) -> bool:
        """Whether scores are shares of raters."""
        return self.kind in ("nominal", "binary")

    @property
    def is_repeated(self) -> bool:
        """Whether any stimulus has several answers."""
        return bool((self.frame["n_ratings"] > 1).any())

    @property
    def limits(self) -> tuple[float, float] | None:
        """Ends of the axis, where they are known."""
        if self.is_share:
            return 0.0, 1.0
        if self.scale is None or self.scale.low is None or self.scale.high is None:
            return None
        return self.scale.low, self.scale.high

    @property
    def n_apart(self) -> int:
        """Stimuli whose interval does not hold the middle; of categories, those above one half."""
        apart = pl.col("low") > pl.col("middle")
        if self.kind != "nominal":
            apart |= pl.col("high") < pl.col("middle")
        return self.frame.filter(pl.col("low").is_not_nan(), apart).height

    def written(self, row: dict[str, Any], *, with_ends: bool = True) -> str:
        """Write a score, with its interval."""
        digits, write = (0, percent) if self.is_share else (_digits(self.limits), number)
        text = write(row["value"], digits)
        if with_ends:
            text += in_brackets(row["low"], row["high"], digits, write=write)
        return f"{shown(row['answer'], 40)}, {text}" if self.kind == "nominal" else text

    def span(self, *, named: bool) -> str:
        """Say from where to where scores run; named: which stimuli stand at the ends."""
        label = shown(self.label)
        if self.kind == "nominal":
            clear = self.frame.filter(~pl.col("tied"))
            counts = clear["answer"].value_counts(name="n")
            counts = counts.sort(["n", "answer"], descending=[True, False])
            n = self.frame.height
            return wording.choices(label, counts.rows(), n, n - clear.height, self.disputed)
        low, high = (self.written(row, with_ends=False) for row in (self.lowest, self.highest))
        constant = self.kind != "binary" and self.highest["value"] == self.lowest["value"]
        if named and not constant:
            low, high = (
                f"{score} ({shown(row['stimulus'], 40)})"
                for score, row in ((low, self.lowest), (high, self.highest))
            )
        return wording.span(label, low, high, binary=self.kind == "binary", constant=constant)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Scores(Estimates):
    """Scores by label and stimulus."""

    labels: tuple[LabelScores, ...]
    """Those of each label."""


def scores_of(
    ratings: Ratings | ArrayLike, *, order: Sequence[str] = (), confidence: float = 0.95
) -> Scores:
    """Score stimuli by the means of raters, and on categories by the answer of most.

    Parameters
    ----------
    ratings, confidence
        As for :func:`stimulus_scores`.
    order
        Labels that come first in sentences and figures; others follow.
    """
    check_confidence(confidence)
    answers = answers_of(ratings)
    estimates = _estimates(ratings, answers, confidence)
    place = {label: at for at, label in enumerate(order)}
    scales = dict(zip(answers.labels, answers.scales or (None,) * len(answers.labels), strict=True))
    has_labels = isinstance(ratings, Ratings) and ratings.has_labels
    labels = tuple(
        LabelScores(name if has_labels else "", scales[name], frame.sort("value", "stimulus"))
        for (name,), frame in sorted(
            estimates.frame.group_by("label", maintain_order=True),
            key=lambda one: place.get(str(one[0][0]), len(place)),
        )
    )
    table = _table(estimates, labels)
    return Scores(
        (table, *_disputed(labels)),
        tuple(filter(None, (_spans(labels), _apart(labels)))),
        (_figure(labels, estimates),) if labels else (),
        labels=labels,
    )


def _ordered(ratings: Ratings | ArrayLike) -> Ratings | ArrayLike | None:
    """Keep the labels whose answers have an order; an array has one."""
    if not isinstance(ratings, Ratings):
        return ratings
    return labels_on(ratings, lambda scale: scale.kind not in ("nominal", "text"))


def _estimates(ratings: Ratings | ArrayLike, answers: Answers, confidence: float) -> Estimates:
    """Compute means, and the shares of the answers of most, with all answers in words."""
    cells = pl.concat([_cells(part) for part in answers.by_scale()])
    frames = []
    ordered = _ordered(ratings)
    if ordered is not None:
        frames.append(mean_opinion_scores(ordered, confidence=confidence).frame)
    chosen = cells.filter(pl.col("answer").is_not_null())
    if chosen.height:
        n = chosen["n_ratings"].to_list()
        low, high = wilson_interval(
            chosen["most"].to_numpy(), chosen["n_ratings"].to_numpy(), confidence
        )
        shares = Estimates.build(
            {"label": chosen["label"], "stimulus": chosen["stimulus"]},
            value=(chosen["most"] / chosen["n_ratings"]).to_numpy(),
            low=low,
            high=high,
            statistic=wording.SHARE_OF_MOST,
            interval=IntervalFact("analytic", formula=Formula.WILSON),
            target="raters",
            n_items=1,
            n_raters=n,
            n_ratings=n,
        )
        frames.append(shares.with_columns(pl.lit(None, pl.Float64).alias("sd")).frame)
    frame = pl.concat(frames).join(
        cells.select("label", "stimulus", "answer", "tied", "answers", "is_share"),
        on=["label", "stimulus"],
        how="left",
        maintain_order="left",
    )
    middle = pl.when("is_share").then(0.5).otherwise(pl.col("value").mean().over("label"))
    frame = in_label_order(
        frame.with_columns(
            middle=middle, tied=pl.col("answer").is_not_null() & pl.col("tied")
        ).drop("is_share"),
        answers.labels,
    )
    return Estimates.of(frame, ["label", "stimulus"])


def _cells(answers: Answers) -> pl.DataFrame:
    """Count the answers to each stimulus on each label of one scale."""
    scale = answers.scale
    values, level = distinct(answers.value)
    key, n_keys = answers.cell * values.size + level, answers.cell.max(initial=-1) + 1
    key, n = counted(key, int(n_keys) * values.size)
    cell, level = np.divmod(key, values.size)
    # The most frequent answers of a cell come first, of equally frequent ones the smaller.
    order = np.lexsort((level, -n, cell))
    said = pl.Series(map(_answer(scale), values), dtype=pl.String)
    counts = pl.DataFrame({"cell": cell[order], "level": level[order], "n": n[order]}).with_columns(
        answer=said.gather(level[order])
    )
    repeated = pl.when(pl.col("n") > 1).then(pl.format("{} ×{}", "answer", "n"))
    cells = (
        counts.with_columns(said=repeated.otherwise("answer"))
        .group_by("cell", maintain_order=True)
        .agg(
            pl.col("answer").filter(pl.col("n") == pl.col("n").max()).str.join(" or "),
            pl.col("said").str.join(", "),
            tied=(pl.col("n") == pl.col("n").max()).sum() > 1,
            least=pl.col("level").min(),
            largest=pl.col("level").max(),
            several=pl.len() > _MOST_ANSWERS,
            most=pl.col("n").first(),
            n_ratings=pl.col("n").sum(),
        )
    )
    label, unit = np.divmod(cells["cell"].to_numpy(), len(answers.units))
    ends = (said.gather(cells[end]) for end in ("least", "largest"))
    kind = "" if scale is None else scale.kind
    return cells.select(
        pl.Series("label", answers.labels, dtype=pl.String).gather(label),
        pl.Series("stimulus", answers.units, dtype=pl.String).gather(unit),
        pl.col("answer") if kind == "nominal" else pl.lit(None, pl.String).alias("answer"),
        "tied",
        "most",
        "n_ratings",
        answers=pl.when("several").then(pl.format("{} to {}", *ends)).otherwise("said"),
        is_share=pl.lit(kind in ("nominal", "binary")),
    )


def _answer(scale: Scale | None) -> Callable[[float], str]:
    """Say what an answer is called."""
    if scale is not None and scale.categories:
        return lambda value: scale.categories[int(value)]
    if scale is not None and scale.kind == "binary":
        return lambda value: "yes" if value == 1 else "no"
    # What is rounded to 0 from below has no sign.
    return lambda value: f"{value + 0:.3g}".replace("-", "−")


def _digits(limits: tuple[float, float] | None) -> int:
    """Digits of a score: as many as its scale makes worth while."""
    if limits is None:
        return 2
    return 0 if limits[1] - limits[0] > 50 else 1


def _answered_enough(frame: pl.DataFrame) -> pl.DataFrame:
    """Keep the stimuli of which enough answers tell whether they are disputed."""
    enough = pl.min_horizontal(_LISTED, pl.col("n_ratings").max())
    return frame.filter(pl.col("n_ratings") >= enough)


# What they say.


def _table(estimates: Estimates, labels: Sequence[LabelScores]) -> Table:
    (table,) = estimates.tables
    columns: tuple[Column, ...] = tuple(one for one in table.columns if one.key != "n_items")
    if any(one.kind == "nominal" for one in labels):
        columns = (*columns, Text("answer", "most frequent answer"))
    return replace(
        table,
        name="scores",
        caption=f"{wording.SCORES}.",
        columns=(*columns, Text("answers", spare=True)),
    )


def _disputed(labels: Sequence[LabelScores]) -> Iterator[Table]:
    """Give the stimuli whose most frequent answer has the smallest share."""
    if not labels or any(one.kind != "nominal" for one in labels):
        return
    columns = (
        Key("stimulus"),
        *([Key("label")] if len(labels) > 1 else []),
        Text("answer", "most frequent answer"),
        Share("value", "share"),
        Interval(),
        Text("answers", "all answers"),
    )
    frame = pl.concat([one.frame for one in labels]).sort("value", "stimulus")
    yield Table(
        "disputed",
        wording.DISPUTED,
        _answered_enough(frame),
        columns,
        limit=_MOST_DISPUTED,
        folded=False,
    )


def _spans(labels: Sequence[LabelScores]) -> str:
    """Say from where to where scores run; of a few labels, which stimuli stand at the ends."""
    if not labels:
        return ""
    if len(labels) > 1 and all(one.kind == "binary" for one in labels):
        means = {shown(one.label): float(one.frame["value"].to_numpy().mean()) for one in labels}
        return wording.shares_of_labels(means, repeated=any(one.is_repeated for one in labels))
    named = len(labels) < _MOST_SPANS
    parts = [one.span(named=named) for one in labels[:_MOST_SPANS]]
    more = len(labels) - _MOST_SPANS
    return wording.spans(parts, plural(more, "label") if more > 0 else "")


def _apart(labels: Sequence[LabelScores]) -> str:
    """Say how many stimuli differ from the middle beyond their intervals."""
    if all(one.frame["low"].is_nan().all() for one in labels):
        return ""
    texts = []
    for is_share in (True, False):
        part = [one for one in labels if one.is_share is is_share]
        if not part or (is_share and not any(one.is_repeated for one in part)):
            continue
        counts, n = [one.n_apart for one in part], max(one.frame.height for one in part)
        if is_share:
            texts.append(wording.sure_majorities(counts, n, each=len(part) > 1))
            continue
        middle = {"value": part[0].frame["middle"][0]}
        of_one = part[0].written(middle, with_ends=False) if len(part) == 1 else ""
        texts.append(wording.apart_from_middle(counts, n, of_one))
    return " ".join(texts)


def _figure(labels: Sequence[LabelScores], estimates: Estimates) -> Figure:
    panels: dict[str, dict[str, Any]] = {}
    for one in labels[:_MOST_LABELS]:
        named = wording.SCORE_AXES.get(one.kind, "mean answer")
        panel = panels.setdefault(
            str(one.scale), {"labels": [], "value_name": named, "limits": one.limits}
        )
        panel["labels"].append(one.frame["label"][0])
    middles = [wording.ONE_HALF if one.is_share else wording.MEAN_OF_ALL for one in labels]
    return Figure(
        "scores",
        "score_strips",
        "scores",
        wording.SCORES,
        wording.strips_caption(
            list(dict.fromkeys(middles)),
            len(labels),
            _MOST_LABELS,
            intervals=bool(estimates.frame["low"].is_not_nan().any()),
        ),
        _spans(labels),
        {
            "panels": list(panels.values()),
            "most": _MOST_DOTS,
            "alone": "" if labels[0].label else wording.ALL_STIMULI,
        },
    )
