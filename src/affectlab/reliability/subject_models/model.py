"""Scores that know how biased and how inconsistent each rater is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from affectlab.core.arrays import ratio
from affectlab.core.errors import InputError, check_choice, check_number
from affectlab.core.estimates import Estimates, withhold_certainty
from affectlab.core.facts import Cause, Reason, fact_column, reason_type
from affectlab.core.inference import check_confidence
from affectlab.core.result import Result
from affectlab.core.tables import Count, Interval, Key, Number, Share, Table, Text
from affectlab.core.types import Floats, Ints
from affectlab.core.words import joined
from affectlab.ratings import Ratings, Scale, of_known_raters, require_order
from affectlab.reliability.duplicates import DuplicateRaters, Likeness, likeness
from affectlab.reliability.subject_models.estimation import (
    FITS,
    PRIOR_DF,
    Errors,
    SubjectFit,
    fit_reml,
    least_squares,
    reml_errors,
)
from affectlab.reliability.subject_models.panels import Grouped, SubjectPanel, panels_of
from affectlab.reliability.subject_models.score_error import Spread
from affectlab.reliability.subject_models.wording import (
    AGREED,
    collapsed_text,
    copies_text,
    effect_of_pairs,
    fit_text,
    known_weights,
    not_converged,
    open_pair,
    separate_groups,
    similar_text,
    small_panel,
)

# Duplicate raters as one: what the subject model is fitted to where several answer alike.


@dataclass(frozen=True, eq=False)
class Sources:
    """Ratings by source: a rater, or several who answer alike."""

    data: Grouped
    """Its raters are the sources."""
    code: Ints
    """Source of each rater, shape (raters,)."""
    offset: Floats
    """What each rater's bias is more than that of its source; their mean over a source is 0."""


def as_one(panel: SubjectPanel, groups: Sequence[Sequence[str]]) -> Sources | None:
    """Make one rater of each group that is in the panel; ``None`` where there is none.

    Shifts between the members are taken off, and their answers to a stimulus averaged: the first
    answers of all, the second of all, and so on.
    """
    data = panel.data
    known = {name: code for code, name in enumerate(panel.raters)}
    present = [[known[name] for name in group if name in known] for group in groups]
    present = [members for members in present if len(members) > 1]
    if not present:
        return None
    source = np.arange(data.n_raters)
    offset = np.zeros(data.n_raters)
    for members in present:
        source[members] = members[0]
        offset[members] = least_squares(_only(data, members), 0.0).bias
    _, code = np.unique(source, return_inverse=True)
    taken = np.isin(data.rater, np.concatenate([np.array(members) for members in present]))
    rows, answers = np.flatnonzero(~taken), np.flatnonzero(taken)
    stimulus, value = data.stimulus, data.value - offset[data.rater]
    # Only what members answered is sorted: first answers with first ones, second with second ones.
    order = answers[np.lexsort((data.rater[answers], stimulus[answers]))]
    own = stimulus[order] * np.int64(data.n_raters) + data.rater[order]
    first = np.flatnonzero(np.diff(own, prepend=-1))
    occurrence = np.arange(own.size) - np.repeat(first, np.diff(np.append(first, own.size)))
    cell = stimulus[order] * np.int64(data.n_raters) + code[data.rater[order]]
    most = int(occurrence.max(initial=0)) + 1
    key, answer, n = np.unique(cell * most + occurrence, return_inverse=True, return_counts=True)
    of_stimulus, of_source = np.divmod(key // most, data.n_raters)
    # Each goes behind the answers of the others to its stimulus.
    place = np.searchsorted(stimulus[rows], of_stimulus, side="right")
    merged = Grouped(
        np.searchsorted(stimulus[rows], np.arange(data.n_stimuli + 1))
        + np.searchsorted(of_stimulus, np.arange(data.n_stimuli + 1)),
        np.insert(code[data.rater[rows]], place, of_source).astype(np.int32),
        np.insert(value[rows], place, np.bincount(answer, value[order]) / n),
        int(code.max()) + 1,
    )
    return Sources(merged, code, offset)


def _only(data: Grouped, members: Sequence[int]) -> Grouped:
    """Ratings of some raters, with codes in the order of ``members``."""
    place = np.full(data.n_raters, -1, dtype=np.int32)
    place[list(members)] = np.arange(len(members))
    rows = place[data.rater] >= 0
    start = np.searchsorted(data.stimulus[rows], np.arange(data.n_stimuli + 1))
    return Grouped(start, place[data.rater[rows]], data.value[rows], len(members))


# One fitted subject model with its errors, as arrays.


COLLAPSED_SHARE = 0.99
"""A rater with a larger share of the weight, where others rated too, has collapsed."""
COLLAPSED_SPREAD = 1e-3
"""So has a rater whose inconsistency is below this share of the median one."""

_TINY = 1e-30
Mask = NDArray[np.bool_]


def collapsed_raters(inconsistency: Floats, weight_share: Floats) -> Mask:
    """Say which raters outweigh the others; nobody does where all are equally exact."""
    median = np.nanmedian(inconsistency) if np.isfinite(inconsistency).any() else 0.0
    with np.errstate(invalid="ignore"):
        alone: Mask = inconsistency < COLLAPSED_SPREAD * median
        return alone | ((weight_share > COLLAPSED_SHARE) & (median > 0))


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fit to one panel of ratings, with what follows from it."""

    panel: SubjectPanel
    fit: SubjectFit
    label: int | None
    """Code of the label; ``None`` when all labels were fitted together."""
    with_model_error: bool
    """Errors that take estimated weights into account; ``reml`` only."""
    sources: Sources | None = None
    """Which raters were fitted as one; ``None`` where each is a source of its own."""

    @property
    def _data(self) -> Grouped:
        """What was fitted: its raters are sources."""
        return self.panel.data if self.sources is None else self.sources.data

    def _of_rater(self, values: Any) -> Any:
        """Give each rater what its source has."""
        return values if self.sources is None else values[self.sources.code]

    @property
    def where(self) -> str:
        """How sentences about one of several labels begin."""
        return "" if self.label is None else f"{self.panel.labels[self.label]}: "

    @property
    def rated(self) -> Mask:
        """Stimuli with a rating."""
        return self._data.n_of_stimulus > 0

    @cached_property
    def _described(self) -> tuple[Floats, Floats, Ints, Floats]:
        """See :func:`affectlab.reliability.subject_models.kernels.describe`."""
        from affectlab.reliability.subject_models.kernels import describe

        state = self.fit.weight_bias.copy()
        if not self.fit.exact:
            # P.910 adds a constant to variances when it weighs, not when it gives errors.
            state[:, 0] = 1 / np.maximum(self.fit.variance, _TINY)
        return describe(self._data.start, self._data.rater, self._data.value, state)

    @cached_property
    def _errors(self) -> Errors:
        return reml_errors(self._data, self.fit, self._described[0], self._described[3])

    @property
    def saturated(self) -> bool:
        """Whether no rating is left to tell how inconsistent raters are."""
        return self.fit.exact and bool(np.isnan(self.fit.variance[0]))

    @cached_property
    def group_size(self) -> Ints:
        """Raters linked with each rater, the rater included; raters fitted as one count once."""
        size: Ints = self._of_rater(np.bincount(self._data.group)[self._data.group])
        return size

    @cached_property
    def _alone(self) -> Mask:
        """Raters whose bias cannot be told from their scores."""
        if not self.with_model_error:
            return np.zeros(self.panel.data.n_raters, dtype=bool)
        alone: Mask = self.group_size == 1
        return alone

    @cached_property
    def score(self) -> Floats:
        """s_j; ``nan`` where only one rater, whom nothing links with others, rated."""
        return np.where(self.touched_by(self._alone), np.nan, self.fit.score)

    @cached_property
    def bias(self) -> Floats:
        """b_i; the biases of raters who are linked sum to zero (p910: of all raters)."""
        bias = self._of_rater(self.fit.bias)
        if self.sources is not None:
            bias = bias + self.sources.offset
        return np.where(self._alone, np.nan, bias)

    @cached_property
    def inconsistency(self) -> Floats:
        """v_i."""
        return np.where(self._alone, np.nan, np.sqrt(self._of_rater(self.fit.variance)))

    @property
    def n_raters(self) -> Ints:
        """Raters of each stimulus, those who were fitted as one too."""
        if self.sources is None:
            return self._described[2]
        from affectlab.reliability.subject_models.kernels import describe

        data = self.panel.data
        return describe(data.start, data.rater, data.value, np.ones((data.n_raters, 2)))[2]

    @cached_property
    def _source_share(self) -> Floats:
        shares, n = self._described[3][:, 2:].T
        return ratio(shares, n)

    @cached_property
    def weight_share(self) -> Floats:
        """Mean share of a rater's answers in the scores of stimuli others rated too.

        Raters who were fitted as one have equal parts of their common share.
        """
        if self.sources is None:
            return self._source_share
        share: Floats = (self._source_share / np.bincount(self.sources.code))[self.sources.code]
        return share

    @cached_property
    def collapsed(self) -> Mask:
        """Raters who outweigh all others."""
        if self.fit.exact:
            return np.zeros(self.panel.data.n_raters, dtype=bool)
        share: Floats = self._of_rater(self._source_share)
        return collapsed_raters(self.inconsistency, share)

    def touched_by(self, raters: Mask) -> Mask:
        """Stimuli that any of these raters rated."""
        data = self.panel.data
        touched = np.zeros(data.n_stimuli, dtype=bool)
        if raters.any():
            touched[data.stimulus[raters[data.rater]]] = True
        return touched

    def se(self, kind: str) -> Floats:
        """Standard error of the scores by name."""
        total, spread, _, _ = self._described
        n = self._data.n_of_stimulus
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.fit.exact:
                se = np.full(n.size, np.sqrt(self.fit.variance[0]))
            elif kind == "model":
                se = self._errors.score_se
            elif kind == "rater":
                se = 1 / np.sqrt(total)
            else:
                # The spread of one rating is not zero but unknown.
                se = np.where(n > 1, spread / np.sqrt(n), np.nan)
        return np.where(np.isnan(self.score), np.nan, se)

    def score_quantile(self, kind: str, confidence: float) -> Floats:
        """How many standard errors the interval of a score reaches to each side."""
        from scipy.special import ndtri, stdtrit

        tail = (1 + confidence) / 2
        if kind != "model" or self.fit.exact:
            return np.full(self._data.n_stimuli, ndtri(tail))
        quantile: Floats = stdtrit(np.maximum(self._errors.score_df, 1), tail)
        return quantile

    def about_raters(self, confidence: float) -> tuple[Floats, Floats]:
        """Standard errors of scores about other raters, and how many the interval reaches.

        Scores are on the level of all raters who are linked; other raters would have other biases.
        """
        from scipy.special import stdtrit

        group, bias = self._data.group, self.fit.bias
        n = np.bincount(group)
        with np.errstate(divide="ignore", invalid="ignore"):
            shared = np.bincount(group, bias**2) - np.bincount(group, bias) ** 2 / n
            shared = np.append(shared / (n - 1) / n, np.nan)[self._data.group_of_stimulus]
            own = self.se("model") ** 2
            of_own = np.inf if self.fit.exact else np.maximum(self._errors.score_df, 1)
            of_shared = np.append(n - 1, 1)[self._data.group_of_stimulus]
            freedom = (own + shared) ** 2 / (own**2 / of_own + shared**2 / of_shared)
            quantile: Floats = stdtrit(np.maximum(freedom, 1), (1 + confidence) / 2)
        return np.sqrt(own + shared), quantile

    @cached_property
    def bias_se(self) -> Floats:
        """Standard error of b_i."""
        if self.with_model_error and not self.fit.exact:
            return np.where(self._alone, np.nan, self._of_rater(self._errors.bias_se))
        return self.inconsistency / np.sqrt(self.panel.data.n_of_rater)

    def bias_interval(self, confidence: float) -> tuple[Floats, Floats]:
        """Student's interval (``reml``) or the normal one."""
        from scipy.special import ndtri, stdtrit

        tail = (1 + confidence) / 2
        wide = ndtri(tail)
        if self.with_model_error and not self.fit.exact:
            wide = stdtrit(self._of_rater(self._errors.bias_df), tail)
        half = wide * self.bias_se
        return self.bias - half, self.bias + half

    @cached_property
    def _variance_df(self) -> Floats:
        if self.with_model_error and not self.fit.exact:
            variance_df: Floats = self._of_rater(self._errors.variance_df)
            return variance_df
        return self.panel.data.n_of_rater

    @property
    def inconsistency_se(self) -> Floats:
        """Standard error of v_i, to first order."""
        return self.inconsistency / np.sqrt(2 * self._variance_df)

    def inconsistency_interval(self, confidence: float) -> tuple[Floats, Floats]:
        """Chi-squared interval of v_i."""
        from scipy.special import gammaincinv

        df = self._variance_df
        upper, lower = (
            2 * gammaincinv(df / 2, tail) for tail in ((1 + confidence) / 2, (1 - confidence) / 2)
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            low, high = (self.inconsistency * np.sqrt(df / q) for q in (upper, lower))
        return low, high


# What a subject model says about stimuli and about raters.


_SMALL_PANEL = 8
_ONE_RATER = Reason(Cause.ONE_RATER_OF_BIAS)
_COLLAPSED = Reason(Cause.COLLAPSED)
_SATURATED = Reason(Cause.SATURATED)
_EQUAL = Reason(Cause.EQUAL_RATERS)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class _Model:
    """Fits of labels, and what follows from them."""

    fitted: tuple[Fitted, ...]
    """One for each label; one for all when they were fitted together."""
    method: str
    """``reml``, ``p910`` or ``mle``."""
    se: str
    """Which standard error the intervals of scores rest on: ``model``, ``rater``, ``stimulus``."""
    target: str
    """Whom intervals of scores are about: other ``raters``, or these (``sample``)."""
    scales: tuple[Scale, ...] | None
    """Scale of each label; ``None`` of an array."""
    confidence: float
    has_labels: bool
    likeness: Likeness
    """Raters by how much the model may lean on both of a pair."""

    @property
    def duplicates(self) -> DuplicateRaters:
        """Raters who answer alike beyond what their agreement with the others allows."""
        return self.likeness.duplicates

    @property
    def counted_as_one(self) -> tuple[tuple[str, ...], ...]:
        """Groups of raters who are one source to ``reml``.

        Duplicates, and raters who answer alike more than raters on their own do by chance; it takes
        less evidence, because it accuses nobody.
        """
        return self.likeness.similar.groups if self.method == "reml" else ()

    @property
    def iterations(self) -> int:
        """Rounds that the slowest label took."""
        return max((one.fit.iterations for one in self.fitted), default=0)

    @property
    def converged(self) -> bool:
        """Whether all labels stopped changing before the last round allowed."""
        return all(one.fit.converged for one in self.fitted)

    @cached_property
    def collapsed(self) -> tuple[str, ...]:
        """Raters who outweigh all others, each in a sentence; empty in a sound fit."""
        return tuple(
            collapsed_text(
                one.where,
                one.panel.raters[rater],
                one.weight_share[rater],
                one.inconsistency[rater],
                float(np.median(one.inconsistency)),
            )
            for one in self.fitted
            for rater in np.flatnonzero(one.collapsed).tolist()
        )

    def _cautions(self) -> tuple[str, ...]:
        """Say what a reader of the scores should know."""
        notes = list(self.collapsed)
        notes += self._notes_on_pairs()
        if self.method != "reml" and self.fitted:
            of_stimuli = np.concatenate([one.n_raters[one.rated] for one in self.fitted])
            median = float(np.median(of_stimuli)) if of_stimuli.size else 0.0
            if 1 < median < _SMALL_PANEL:
                notes.append(small_panel(median, self.method))
            if not all(one.fit.exact for one in self.fitted):
                notes.append(known_weights(self.method))
        for one in self.fitted:
            if not one.fit.converged:
                notes.append(not_converged(one.where, one.fit.iterations))
            if one.fit.exact:
                notes.append(f"{one.where}{_SATURATED if one.saturated else AGREED}")
            groups = int(one.panel.data.group.max(initial=0)) + 1
            if groups > 1:
                notes.append(separate_groups(one.where, groups))
        return tuple(notes)

    def _notes_on_pairs(self) -> list[str]:
        """Say which pairs count as one, and which have the scores to themselves."""
        effect = effect_of_pairs(self.method)
        named = {frozenset(pair) for pair in self.duplicates.pairs}
        notes = [copies_text(sentence, effect) for sentence in self.duplicates.evidence]
        similar = self.likeness.similar
        notes += [
            similar_text(sentence, effect)
            for pair, sentence in zip(similar.pairs, similar.evidence, strict=True)
            if frozenset(pair) not in named
        ]
        for one in self.fitted:
            share = dict(zip(one.panel.raters, one.weight_share.tolist(), strict=True))
            notes += [
                open_pair(one.where, (rater, other), both, str(evidence))
                for rater, other, evidence in self.likeness.open
                if not one.fit.exact
                and (both := share.get(rater, 0.0) + share.get(other, 0.0)) > 0.5
            ]
        return notes

    @cached_property
    def _alike(self) -> dict[str, Reason]:
        """Whom each rater answers like."""
        cause = Cause.COUNTED_AS_ONE if self.method == "reml" else Cause.ANSWERS_ALIKE
        return {
            name: Reason(cause, of=joined(repr(other) for other in group if other != name))
            for group in self.likeness.similar.groups
            for name in group
        }

    def _scores(self, one: Fitted) -> pl.DataFrame:
        """Give one row per rated stimulus (and label)."""
        rated = one.rated
        label, stimulus = one.panel.label[rated], one.panel.stimulus[rated]
        value = one.score[rated]
        if self.target == "raters":
            se, quantile = (part[rated] for part in one.about_raters(self.confidence))
            value, low, high = self._on_scale(one, value, quantile * se)
        else:
            se = one.se(self.se)[rated]
            half = one.score_quantile(self.se, self.confidence)[rated] * se
            low, high = value - half, value + half
        keys = {"stimulus": _names(one.panel.stimuli, stimulus)}
        if self.has_labels:
            keys = {"label": _names(one.panel.labels, label), **keys}
        reason = np.full(value.size, None, dtype=object)
        if self.method != "reml":
            reason[one.touched_by(one.collapsed)[rated]] = _COLLAPSED
        reason[np.isnan(value)] = _ONE_RATER
        table = Estimates.build(
            keys,
            value=value,
            se=se,
            low=low,
            high=high,
            statistic=("subject model", self.method, f"{self.se} error"),
            target=self.target,
            n_items=1,
            n_raters=one.n_raters[rated],
            n_ratings=one.panel.data.n_of_stimulus[rated],
            status=_status(value, reason),
            reason=reason.tolist(),
        ).frame
        none = np.full(value.size, np.nan)
        data = one.panel.data
        means = np.bincount(data.stimulus, data.value, data.n_stimuli)[rated]
        return table.with_columns(
            pl.Series("mean", means / data.n_of_stimulus[rated])
        ).with_columns(
            pl.Series(f"se_{name}", withhold_certainty(value, one.se(name)[rated], none, none)[0])
            for name in ("rater", "stimulus")
        )

    def _on_scale(self, one: Fitted, value: Floats, half: Floats) -> tuple[Floats, Floats, Floats]:
        """Give scores and ends on the scale.

        The error of the model is one for all levels; where raters differ more than at the mean
        level, as in the middle of a scale of which most answers are at an end, it is larger.
        """
        data, rated = one.panel.data, one.rated
        spread = Spread.of(self.scales, one.panel.label[rated])
        n = data.n_of_stimulus[rated]
        mean, square = (
            np.bincount(data.stimulus, power, data.n_stimuli)[rated] / n
            for power in (data.value, data.value**2)
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            level, _, curve = spread.terms(mean)
            variance = np.where(n > 1, (square - mean**2) / (n - 1), 0.0)
            typical = np.average(level - curve * variance, weights=n)
            value = np.clip(value, spread.low, spread.high)
            low, high = spread.around(value, half**2 / typical)
            low = np.fmin(low, np.maximum(value - half, spread.low))
            return value, low, np.fmax(high, np.minimum(value + half, spread.high))

    def _raters(self, one: Fitted) -> pl.DataFrame:
        """Give one row per rater (and label)."""
        n = one.panel.data.n_raters
        reason = np.full(n, None, dtype=object)
        if self.method == "reml":
            reason[one.group_size == 2] = _EQUAL
        for place, name in enumerate(one.panel.raters):
            if others := self._alike.get(name):
                reason[place] = others
        reason[one.collapsed] = _COLLAPSED
        if one.saturated:
            reason[:] = _SATURATED
        reason[np.isnan(one.bias)] = _ONE_RATER
        columns: dict[str, Any] = {}
        if self.has_labels:
            name = "all" if one.label is None else one.panel.labels[one.label]
            columns["label"] = [name] * n
        columns["rater"] = one.panel.raters
        for name, value, error, ends in (
            ("bias", one.bias, one.bias_se, one.bias_interval),
            ("inconsistency", one.inconsistency, one.inconsistency_se, one.inconsistency_interval),
        ):
            parts = withhold_certainty(value, error, *ends(self.confidence))[:3]
            names = (f"{name}_{part}" for part in ("se", "low", "high"))
            columns |= {name: value, **dict(zip(names, parts, strict=True))}
        columns |= {
            "n_ratings": one.panel.data.n_of_rater.astype(np.int64),
            "weight_share": one.weight_share,
            "status": _status(one.bias, reason),
            "reason": fact_column("reason", reason.tolist(), reason_type()),
        }
        return pl.DataFrame(columns)

    def _summary(self) -> str:
        """Say how much was fitted, and whether it went well."""
        n_scores = sum(int(one.rated.sum()) for one in self.fitted)
        raters = {name for one in self.fitted for name in one.panel.raters}
        return fit_text(
            self.method,
            n_scores,
            len(raters),
            self.iterations,
            converged=self.converged,
            n_collapsed=len(self.collapsed),
            alike=self.likeness.similar.groups,
        )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SubjectModel(_Model, Result):
    """Scores of stimuli, and bias and inconsistency of raters.

    Made by :func:`subject_model`.
    """

    @property
    def average_sd(self) -> float:
        """Mean standard error of the scores: the "average standard deviation" of the papers."""
        errors = self.to_frame()["se"].to_numpy()
        defined = errors[np.isfinite(errors)]
        return float(defined.mean()) if defined.size else float("nan")

    @property
    def estimates(self) -> Estimates:
        """The scores by ``label`` (where there are labels) and ``stimulus``.

        ``se_rater`` and ``se_stimulus`` are the two published standard errors, whichever of them
        the interval rests on.
        """
        return Estimates(self.tables[:1])

    def __getitem__(self, key: Any) -> Any:
        """Look a score up by its key, as in :class:`~affectlab.core.estimates.Estimates`."""
        return self.estimates[key]

    def __len__(self) -> int:
        return self.to_frame().height

    def raters_frame(self) -> pl.DataFrame:
        """Give one row per rater (and label).

        Returns
        -------
        ``rater``; ``bias`` and ``inconsistency``, each with ``_se``, ``_low`` and ``_high``, in
        the unit of the scale; ``n_ratings``; ``weight_share``, the mean share of the rater's
        answers in the scores of stimuli that others rated too, in [0, 1]; ``status``.
        """
        return self.to_frame("raters")


_RATERS = (
    Key("label"),
    Key("rater"),
    Number("bias"),
    Interval("bias", spare=True),
    Number("inconsistency"),
    Interval("inconsistency", spare=True),
    Share("weight_share", "weight"),
    Count("n_ratings"),
    Text("status"),
)


def scores_table(estimates: Estimates) -> Table:
    """Give the table of scores, each of which is of one item."""
    (table,) = estimates.tables
    columns = tuple(column for column in table.columns if column.key != "n_items")
    return replace(table, name="scores", caption="Scores of stimuli.", columns=columns)


def _tables(model: _Model) -> tuple[Table, Table]:
    scores, raters = (
        pl.concat([of(one) for one in model.fitted]) for of in (model._scores, model._raters)
    )
    keys, columns = (
        (("label", "stimulus"), _RATERS) if model.has_labels else (("stimulus",), _RATERS[1:])
    )
    return (
        scores_table(Estimates.of(scores, keys)),
        Table("raters", "Raters.", raters, columns),
    )


def _status(value: Floats, reason: NDArray[np.object_]) -> list[str]:
    """Give ``undefined`` without a value, and ``doubtful`` where something speaks against it."""
    return [
        "undefined" if one != one else "ok" if why is None else "doubtful"
        for one, why in zip(value.tolist(), reason.tolist(), strict=True)
    ]


def _names(known: tuple[str, ...], code: Ints) -> list[str]:
    chosen: list[str] = np.array(known, dtype=object)[code].tolist()
    return chosen


_ERRORS = {"reml": ("model", "rater", "stimulus")}
_PUBLISHED = ("rater", "stimulus")


@of_known_raters
def subject_model(
    ratings: Ratings | ArrayLike,
    *,
    method: Literal["reml", "p910", "mle"] = "reml",
    se: Literal["model", "rater", "stimulus"] | None = None,
    target: Literal["raters", "sample"] | None = None,
    by_label: bool = True,
    every: bool = False,
    confidence: float = 0.95,
    prior_df: float | None = None,
    max_iter: int = 1000,
    tol: float = 1e-8,
) -> SubjectModel:
    r"""Score stimuli by a model of the people who rated them.

    .. math:: x_{ij} = s_j + b_i + v_i \varepsilon_{ij}, \qquad \varepsilon_{ij} \sim N(0, 1)

    with the score :math:`s_j` of a stimulus, the bias :math:`b_i` and the inconsistency
    :math:`v_i` of a rater. Given inconsistencies, scores and biases are weighted least squares
    with weights :math:`w_i = 1 / v_i^2`. The methods differ in how :math:`v_i` is estimated:

    ``reml``
        Restricted maximum likelihood with a weak prior. A group of ratings of equal variance
        solves :math:`SS_i / v_i^2 = n_i - \sum_j h_{ij} - c_i`, where the leverages of the score
        :math:`h_{ij} = w_i / W_j` and of the bias :math:`c_i` are what fitting takes away.
        Small designs get :math:`c_i` exactly. Others get :math:`1 - n_i w_i / \sum_k n_k w_k`,
        which is exact when everyone rated everything and adds up to the right total otherwise.
        The prior is worth ``prior_df`` ratings of the pooled variance; without it REML too gives
        one rater all the weight, in small panels.
    ``p910``
        ITU-T P.910 Annex E as in the package ``sureal``, equal to it up to rounding: no degrees
        of freedom, a constant of 1e-8 added to variances. **In panels of fewer than about ten
        raters it collapses**: the likelihood grows without bound as one rater's inconsistency
        goes to zero, and that rater becomes the answer.
    ``mle``
        The maximum of the same likelihood without the constant, so that it does not depend on
        the unit of the scale, and stopped when estimates (not scores) stop changing. Where there
        is no maximum a rater's inconsistency stops at 1e-6 of the pooled one.

    Parameters
    ----------
    ratings
        Ratings (main trials with a valid answer), or an array of shape (raters, units) with ``nan``
        where there is no rating. No matrix is made of sparse ratings.
    method
        See above.
    se
        The standard error that intervals rest on. ``rater``: :math:`1 / \sqrt{\sum_i v_i^{-2}}`.
        ``stimulus``: the population SD of the unbiased ratings of a stimulus over
        :math:`\sqrt{n_j}`. Both are published; neither knows that weights are estimates.
        ``model`` (``reml`` only, and its default) adds the uncertainty of weights and biases, and
        uses Student's t. By default ``rater`` for the other methods.
    target
        Whom the intervals of scores are about. ``raters``, the default of the ``model`` error:
        others, whose biases have another mean; :math:`s_b^2 / R` is added for the R raters who are
        linked by stimuli. ``sample``: the same raters, as published.
    by_label
        Fit each label on its own, so that a rater may be biased on one and not on another; or all
        labels as one set of stimuli with one bias and inconsistency per rater.
    every
        Take all answers of a rater to a stimulus, as P.910 does with repetitions; by default the
        first counts, as in other statistics.
    confidence
        Coverage of the intervals.
    prior_df
        Weight of the prior of ``reml``, in ratings; 2 by default, 0 for plain REML.
    max_iter
        Rounds after which fitting stops.
    tol
        ``p910``: Euclidean norm of the change of all scores at which fitting stops. Otherwise the
        largest change of a log variance, and of a bias in pooled standard deviations.

    Returns
    -------
    Scores and raters, with a diagnosis in ``collapsed``, ``duplicates`` and ``notes``. Raters too
    alike to count twice are one source to ``reml``, even where it is too little to call one a copy
    of the other: ``counted_as_one``. Biases of raters who are linked by shared stimuli average to
    zero (``p910``: those of all raters); raters who count as one enter with their mean bias. With
    two raters only the sum of their variances is known, so ``reml`` takes them as equal and says
    so; a rater whom nothing links with others has no bias, and the scores are undefined.

    Raises
    ------
    InputError
        If the values have no order, a name is unknown, or a number is out of range.

    References
    ----------
    Li, Bampis, Janowski, Katsavounidis (2020), "A simple model for subject behavior in subjective
    experiments"; ITU-T P.910 (2022), Annex E; Patterson and Thompson (1971) for REML; Meier
    (1953), "Variance of a weighted mean".

    Examples
    --------
    The third rater is half a point high, the fourth guesses.

    >>> model = subject_model([[1, 2, 3, 4, 5, 1], [1, 3, 3, 4, 4, 1], [2, 2, 4, 4, 5, 2],
    ...                        [5, 1, 2, 5, 1, 4]])
    >>> model.raters_frame()["inconsistency"].round(1).to_list()
    [1.0, 1.1, 1.0, 2.4]
    >>> model.to_frame()["value"].round(1).to_list()
    [1.6, 2.3, 3.3, 4.1, 4.5, 1.5]
    """
    check_choice("method", method, FITS)
    check_confidence(confidence)
    require_order(ratings, "the subject model")
    error = _error(method, se)
    about = ("raters" if error == "model" else "sample") if target is None else target
    check_choice("target", about, ("raters", "sample"))
    if about == "raters" and error != "model":
        raise InputError(f"se {error!r} is about the same raters; target 'raters' needs se 'model'")
    fit = _fitting(method, prior_df, max_iter, tol)
    panels = panels_of(ratings, by_label=by_label, every=every)
    alike = likeness(ratings)
    # The published methods stay as published, and say what they are worth with duplicates.
    groups = alike.similar.groups if method == "reml" else ()
    together = not by_label and len(panels[0].labels) > 1
    fitted = tuple(
        Fitted(
            panel,
            fit(panel.data if sources is None else sources.data),
            None if together or len(panel.labels) == 1 else code,
            method == "reml",
            sources,
        )
        for code, panel in enumerate(panels)
        if panel.data.value.size
        for sources in (as_one(panel, groups),)
    )
    if not fitted:
        raise InputError("no rating has a value; expected at least one")
    has_labels = isinstance(ratings, Ratings) and ratings.has_labels
    scales = None
    if isinstance(ratings, Ratings):
        scales = tuple(ratings.scales[name] for name in panels[0].labels)
    parts: dict[str, Any] = {
        "fitted": fitted,
        "method": method,
        "se": error,
        "target": about,
        "scales": scales,
        "confidence": confidence,
        "has_labels": has_labels,
        "likeness": alike,
    }
    model = _Model(**parts)
    return SubjectModel(_tables(model), (model._summary(),), notes=model._cautions(), **parts)


def _error(method: str, se: str | None) -> str:
    known = _ERRORS.get(method, _PUBLISHED)
    if se is None:
        return known[0]
    if se == "model" and se not in known:
        raise InputError(f"se 'model' goes with method 'reml'; method {method!r} has {known}")
    check_choice("standard error", se, known)
    return se


def _fitting(
    method: str, prior_df: float | None, max_iter: int, tol: float
) -> Callable[[Grouped], SubjectFit]:
    check_number("max_iter", max_iter, 1, whole=True)
    check_number("tol", tol, 0, above=True)
    if method == "reml":
        prior = PRIOR_DF if prior_df is None else prior_df
        check_number("prior_df", prior, 0)
        return partial(fit_reml, prior_df=prior, max_iter=max_iter, tol=tol)
    if prior_df is not None:
        raise InputError(f"prior_df goes with method 'reml', not with {method!r}")
    return partial(FITS[method], max_iter=max_iter, tol=tol)
