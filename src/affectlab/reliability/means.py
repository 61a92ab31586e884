"""How reliable the mean of raters is: of as many as rated a stimulus, and of one alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl

from affectlab.core.errors import InputError, check_number
from affectlab.core.estimates import Estimates
from affectlab.core.facts import Cause, reason_type
from affectlab.core.inference import Target, check_confidence
from affectlab.core.result import Result
from affectlab.core.statistic import FEWEST_CLUSTERS
from affectlab.core.tables import Count, Figure, Interval, Key, Number, Table
from affectlab.core.words import joined, number, plural, shown
from affectlab.ratings import (
    ClusterLike,
    Ratings,
    StimulusClusters,
    answers_of,
    labels_on,
    people_or_all,
    stimulus_clusters,
)
from affectlab.reliability import wording
from affectlab.reliability.agreement import (
    intraclass_correlation,
    krippendorff_alpha,
    reasons_in_stimuli,
    spearman_brown,
)

STEPS = (0.7, 0.8, 0.9)
"""Reliabilities that are asked for: for a first look, for comparisons of groups and correlations,
and for decisions about single stimuli (Nunnally and Bernstein 1994)."""
_ENOUGH_ITEMS = 30
"""Stimuli with two answers below which an interval may be too narrow to be judged by."""
_RARE, _FEW_RATERS = 0.25, 5
"""Share of answers other than the most frequent below which they are rare; raters below which these
are few."""
_MOSTLY = 0.5
"""Share of the variance behind an interval from which on it is mostly due to raters."""
_MOST_NAMED, _MOST_ROWS = 4, 8
_SCHEMA = {
    "label": pl.String,
    "coefficient": pl.String,
    **dict.fromkeys(("single", "single_low", "single_high", "k"), pl.Float64),
    **dict.fromkeys(("value", "low", "high"), pl.Float64),
    **dict.fromkeys(("raters_wanted", "raters_wanted_low", "raters_wanted_high"), pl.Float64),
    **dict.fromkeys(("n_items", "n_raters", "n_ratings"), pl.Int64),
    **dict.fromkeys(("rare", "of_raters"), pl.Float64),
    "of_shares": pl.Boolean,
    "status": pl.String,
    "reason": reason_type(),
}
_RATERS_APART = (Cause.CONFOUNDED_RATERS.value, Cause.TOO_LARGE.value)
"""Reasons for which raters cannot be told from noise."""
_Row = dict[str, Any]


def reliability_of_means(
    ratings: Ratings,
    *,
    wanted: float = 0.8,
    everyone: bool = False,
    target: Target | None = None,
    confidence: float = 0.95,
    cluster: ClusterLike = None,
) -> Result:
    r"""Judge how reliable the mean of raters is, and how many raters would make it so.

    The reliability of a mean is the share of the differences between means that comes from the
    stimuli. That of the mean of :math:`k` raters follows from that of one, :math:`\rho`, by the
    rule of Spearman and Brown, :math:`k \rho / (1 + (k - 1) \rho)`. It is the intraclass
    correlation of agreement; where each stimulus has raters of its own, that of form 1. Of
    categories without an order, and of counted votes, it is that of shares of answers, which
    follows from Krippendorff's alpha.

    Parameters
    ----------
    ratings
        Answers of two raters or more, on any scales but texts.
    wanted
        Reliability, in (0, 1), for which the number of raters is computed.
    everyone
        Take models in, too; without it only people where there are any.
    target
        What intervals are about: other ``stimuli``, other ``raters``, or ``both``, which is the
        default where raters are known; ``sample`` for none.
    confidence
        Coverage of the intervals, in (0, 1).
    cluster
        What stimuli belong to, and are left out with: a column of the stimulus table, or a mapping
        from stimulus to cluster; ``"none"`` for stimuli taken one by one.

        By default a column like ``actor``, ``identity``, ``speaker``, ``film`` or ``author`` that
        several stimuli share.

    Returns
    -------
    Result
        The table ``means`` has a row per label: ``single``, the reliability of one rater; ``k``,
        raters per stimulus; ``value``, the reliability of their mean; each with the ends of its
        interval; ``raters_wanted``, whose mean is as reliable as wanted; ``rare``, the share of
        answers other than the most frequent; ``of_raters``, the share of the variance behind the
        interval that is due to the choice of raters; ``of_shares``, whether it is that of shares.

        Sentences judge means by their whole interval: 0.70 is customary for a first look, 0.80 for
        comparisons of groups and correlations, 0.90 for decisions about single stimuli. Nothing is
        concluded from fewer than 30 stimuli.

    Raises
    ------
    InputError
        When there are fewer than two raters, no numeric answers, or an option cannot be used.

    References
    ----------
    Shrout, P. E., and Fleiss, J. L. (1979). Intraclass correlations: uses in assessing rater
    reliability. Psychological Bulletin, 86(2), 420-428.

    Nunnally, J. C., and Bernstein, I. H. (1994). Psychometric theory (3rd ed.). McGraw-Hill.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> stimulus, rater = (part.ravel() for part in np.indices((40, 3)))
    >>> value = stimulus % 7 + rng.integers(0, 2, 120)
    >>> ratings = Ratings({"stimulus": stimulus, "rater": rater, "value": value}, scale="0-7")
    >>> reliability_of_means(ratings).to_frame().select("single", "k", "value").row(0)
    (0.943..., 3.0, 0.980...)
    """
    check_number("wanted", wanted, 0, 1, above=True, below=True)
    check_confidence(confidence)
    panel = ratings if everyone else people_or_all(ratings)
    judged = labels_on(panel, lambda scale: scale.numeric)
    if judged is None:
        raise InputError("expected numeric ratings, got ratings on a text scale")
    judged = judged.answers()
    if judged.n_raters < 2:
        raise InputError("one rater alone cannot show how reliable ratings are; expected two")
    about: Target = target or ("both" if judged.raters_known else "stimuli")
    clusters = stimulus_clusters(judged, cluster)
    frame = _rows(judged, wanted, {"target": about, "cluster": cluster, "confidence": confidence})
    known = frame.filter(pl.col("value").is_not_nan()).sort(
        "value", descending=True, maintain_order=True
    )
    asked = about != "sample"
    verdict = _Verdict(judged, known, clusters, wanted, confidence, asked)
    sentences = (*verdict.sentences(), *_undefined(frame))
    figure = Figure(
        "reliability",
        "raters_needed",
        "means",
        wording.RATERS_NEEDED,
        wording.needed_caption(verdict.drawn if asked else ""),
        " ".join(sentences),
        {
            "steps": STEPS,
            "most": _MOST_ROWS,
            "alone": "" if judged.has_labels else wording.ALL_STIMULI,
        },
    )
    return Result(
        (_table(judged, frame, wanted),),
        sentences,
        (figure,) if known.height else (),
        clusters.notes_for([about]),
        MappingProxyType({"wanted": wanted, "target": about, "confidence": confidence}),
    )


def raters_for(wanted: float, single: float) -> float:
    """Give how many raters' mean is as reliable as wanted; infinite where one tells nothing.

    Examples
    --------
    >>> raters_for(0.8, 0.5)
    4.0
    """
    if not single > 0:
        return math.inf if single == single else math.nan
    # Rounding must not ask for one more.
    return max(1.0, float(np.ceil(wanted * (1 - single) / (single * (1 - wanted)) - 1e-9)))


def grade_of(row: Mapping[str, Any]) -> str:
    """Grade a reliability by its interval; see ``GRADES`` of the wording."""
    value, low, high = row["value"], row["low"], row["high"]
    if low <= 0 and high >= STEPS[0]:
        return "open"
    for grade, step in zip(("high", "good", "fair"), reversed(STEPS), strict=True):
        if low >= step:
            return grade
    if high < STEPS[0]:
        return "poor"
    if not low > 0 or value < STEPS[0]:
        return "probably poor"
    return "probably good" if value >= STEPS[1] else "probably fair"


# The numbers.


def _rows(panel: Ratings, wanted: float, options: dict[str, Any]) -> pl.DataFrame:
    """Compute the reliability of one rater and of means, in the order of the labels."""
    # Where nobody knows who answered, what raters differ in is part of the noise, as in alpha.
    unordered = not panel.raters_known
    shares = labels_on(panel, lambda scale: unordered or scale.kind == "nominal")
    means = labels_on(panel, lambda scale: not unordered and scale.kind != "nominal")
    rows = [
        *(() if means is None else _of_means(means, options)),
        *(() if shares is None else _of_shares(shares, options)),
    ]
    rare = {
        label: 1
        - float(np.unique(part.value, return_counts=True)[1].max(initial=0))
        / max(part.value.size, 1)
        for label, part in zip(panel.label_names, answers_of(panel).by_label(), strict=True)
    }
    ends = (("", "single"), ("_low", "single_high"), ("_high", "single_low"))
    for row in rows:
        row |= {f"raters_wanted{end}": raters_for(wanted, row[of]) for end, of in ends}
        row["rare"] = rare.get(row["label"], math.nan)
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


def _of_means(panel: Ratings, options: dict[str, Any]) -> Iterator[_Row]:
    """Agreement of means with those of other raters, by intraclass correlations."""
    frame = _with_share(intraclass_correlation(panel, forms=("2,1", "2,k"), **options))
    cause = pl.col("reason").struct.field("cause")
    confounded = frame.filter(form="2,1").filter(cause.is_in(_RATERS_APART))
    if confounded.height:
        # Where each stimulus has raters of its own, what raters differ in is part of the noise.
        chosen = confounded["label"].to_list()
        part = panel.select(labels=chosen) if panel.has_labels else panel
        other = _with_share(intraclass_correlation(part, forms=("1,1", "1,k"), **options))
        frame = pl.concat([frame.filter(~pl.col("label").is_in(chosen)), other])
    for (label,), rows in frame.group_by(["label"], maintain_order=True):
        one, mean = rows.rows(named=True)
        if one["value"] <= 0:
            # Nothing is shown in which stimuli differ, and means have no value below 0.
            mean |= _of_mean(one, mean["k"])
        yield {
            "label": label,
            "coefficient": wording.icc_forms(one["form"], mean["form"]),
            **_ends(one, "single", "single_"),
            **_ends(mean, "value", ""),
            "k": mean["k"],
            "of_shares": False,
            **_counts(one),
        }


def _of_shares(panel: Ratings, options: dict[str, Any]) -> Iterator[_Row]:
    """Reliability of the shares of answers."""
    alpha = _with_share(krippendorff_alpha(panel, **options))
    for part, row in zip(answers_of(panel).by_label(), alpha.iter_rows(named=True), strict=True):
        raters = np.bincount(part.unit)
        raters = raters[raters > 1]
        k = raters.size / float((1 / raters).sum()) if raters.size else math.nan
        yield {
            "label": row["label"],
            "coefficient": wording.ALPHA_OF_SHARES,
            **_ends(row, "single", "single_"),
            **_of_mean(row, k),
            "k": k,
            "of_shares": True,
            **_counts(row),
        }


def _with_share(found: Estimates) -> pl.DataFrame:
    """Add to a table how much of each error is due to the choice of raters."""
    jackknife = found.jackknife
    share = np.full(len(found), np.nan) if jackknife is None else jackknife.share("raters")
    return found.frame.with_columns(of_raters=pl.Series(share, dtype=pl.Float64))


def _of_mean(one: _Row, k: float) -> dict[str, float]:
    """Reliability of the mean of k raters, with its interval, from that of one, not below 0."""
    ends = ("value", "low", "high")
    of_mean = spearman_brown(np.clip([one[end] for end in ends], 0.0, None), k)
    return dict(zip(ends, of_mean.tolist(), strict=True))


def _ends(row: _Row, value: str, prefix: str) -> _Row:
    return {value: row["value"], f"{prefix}low": row["low"], f"{prefix}high": row["high"]}


def _counts(row: _Row) -> _Row:
    names = ("n_items", "n_raters", "n_ratings", "of_raters", "status", "reason")
    return {name: row[name] for name in names}


# What they say.


def _table(panel: Ratings, frame: pl.DataFrame, wanted: float) -> Table:
    columns = (
        *([Key("label")] if panel.has_labels else []),
        Number("single", "one rater"),
        Interval("single", "interval of one", spare=True),
        Number("k", "raters per stimulus", decimals=1, spare=True),
        Number("value", "their mean"),
        Interval(),
        Count("raters_wanted", f"raters for {number(wanted)}"),
        Count("n_items", "stimuli", spare=True),
    )
    return Table("means", wording.means_caption(frame["coefficient"].to_list()), frame, columns)


@dataclass(frozen=True, eq=False)
class _Verdict:
    """Says what means are worth, what one rater alone is, and how many raters would do."""

    panel: Ratings
    known: pl.DataFrame
    """Labels with a reliability, the most reliable first."""
    clusters: StimulusClusters
    wanted: float
    confidence: float
    asked: bool
    """Whether intervals were asked for."""

    @property
    def drawn(self) -> str:
        """What intervals are about."""
        return wording.drawn_of(self.clusters.units, raters=self.panel.raters_known)

    def sentences(self) -> tuple[str, ...]:
        if self.known.is_empty():
            return ()
        single = self.known.sort("single", maintain_order=True).rows(named=True)
        one = wording.rater_alone(single[0], single[-1], self.confidence)
        return tuple(filter(None, (self._of_means(), one, self._raters_wanted())))

    def _of_means(self) -> str:
        rows = self.known.rows(named=True)
        shares = bool(self.known["of_shares"].all())
        mean = wording.mean_of(self.known["k"].to_numpy(), shares=shares)
        lacking = self._ungraded()
        grades = [] if lacking else [grade_of(row) for row in rows]
        if "open" in grades:
            unclear = [row for row, grade in zip(rows, grades, strict=True) if grade == "open"]
            lacking = self._lacking(unclear)
        if len(rows) == 1:
            grade = grades[0] if grades else ""
            return wording.reliability_of_one(
                mean, rows[0], grade, self.drawn, lacking, self.confidence
            )
        groups = {
            grade: self._named([row for row, own in zip(rows, grades, strict=True) if own == grade])
            for grade in wording.GRADES
            if grade in grades
        }
        return wording.reliability_of_several(
            mean, rows[0], rows[-1], groups, lacking, self.confidence
        )

    def _ungraded(self) -> str:
        """Say why nothing is concluded; empty where something is."""
        n_items = int(np.median(self.known["n_items"].to_numpy()))
        if n_items >= _ENOUGH_ITEMS and not self.known["low"].is_nan().all():
            return ""
        found = self.clusters.on(self.panel.stimulus_names)
        few = found is not None and found.n < FEWEST_CLUSTERS
        return wording.ungraded_mean(
            n_items,
            _ENOUGH_ITEMS,
            found.n if found is not None and few else None,
            self.clusters.units,
            asked=self.asked,
        )

    def _lacking(self, rows: Sequence[_Row]) -> str:
        """Say of what there is too little: raters, answers of other kinds, or stimuli."""
        k, rare = min(row["k"] for row in rows), min(row["rare"] for row in rows)
        return wording.too_few_to_judge(
            k if k < _FEW_RATERS else None,
            rare if rare < _RARE else None,
            self.clusters.units,
            raters_differ=min(row["of_raters"] for row in rows) >= _MOSTLY,
        )

    def _named(self, rows: Sequence[_Row]) -> str:
        n = self.known.height
        if len(rows) == n:
            return "both labels" if n == 2 else f"all {plural(n, 'label')}"
        if len(rows) <= _MOST_NAMED:
            return joined([shown(row["label"]) for row in rows])
        return f"{len(rows)} of {plural(n, 'label')}"

    def _raters_wanted(self) -> str:
        """Say how many raters would do for the worst label; nothing where few stimuli tell."""
        worst = self.known.row(-1, named=True)
        if worst["n_items"] < _ENOUGH_ITEMS:
            return ""
        few = worst["k"] >= _FEW_RATERS and not worst["of_raters"] >= _MOSTLY
        more = wording.what_would_tell(rare=worst["rare"] < _RARE, few_stimuli=few)
        label = shown(worst["label"]) if self.known.height > 1 else ""
        return wording.raters_wanted(worst, self.wanted, self.confidence, label=label, more=more)


def _undefined(frame: pl.DataFrame) -> Iterator[str]:
    missing = frame.filter(pl.col("value").is_nan())
    if missing.height:
        things = plural(missing.height, "label") if missing.height < frame.height else ""
        yield wording.undefined_reliability(things, reasons_in_stimuli(missing["reason"]))
