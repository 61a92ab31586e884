"""What a subject model says about stimuli and about raters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from affectlab._types import Ints
from affectlab._words import joined
from affectlab.estimates import Estimates, withhold_certainty
from affectlab.reliability._duplicates import DuplicateRaters, Likeness
from affectlab.reliability._subject_fitted import Fitted

if TYPE_CHECKING:
    from affectlab._terminal import Table

__all__ = ["SubjectModel"]

_SMALL_PANEL = 8
_ONE_RATER = "undefined: one rater, so bias and score cannot be told apart"
_COLLAPSED = "collapsed: one rater has all the weight"
_AGREED = "raters agree exactly but for their biases"
_SATURATED = "as many scores and biases as ratings, so that errors are undefined"
_EQUAL = "assumed: two raters, taken as equally inconsistent"


@dataclass(frozen=True, eq=False)
class SubjectModel:
    """Scores of stimuli, and bias and inconsistency of raters.

    Made by :func:`subject_model`.
    """

    fitted: tuple[Fitted, ...]
    """One for each label; one for all when they were fitted together."""
    method: str
    """``reml``, ``p910`` or ``mle``."""
    se: str
    """Which standard error the intervals of scores rest on: ``model``, ``rater``, ``stimulus``."""
    confidence: float
    has_labels: bool
    _likeness: Likeness

    @property
    def duplicates(self) -> DuplicateRaters:
        """Raters who answer alike beyond what their agreement with the others allows."""
        return self._likeness.duplicates

    @property
    def counted_as_one(self) -> tuple[tuple[str, ...], ...]:
        """Groups of raters who are one source to ``reml``.

        Duplicates, and raters who answer alike more than raters on their own do by chance; it takes
        less evidence, because it accuses nobody.
        """
        return self._likeness.similar.groups if self.method == "reml" else ()

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
        said = []
        for one in self.fitted:
            for rater in np.flatnonzero(one.collapsed).tolist():
                where = f"{one.panel.labels[one.label]}: " if one.label is not None else ""
                said.append(
                    f"{where}rater {one.panel.raters[rater]!r} has {one.weight_share[rater]:.2%} "
                    f"of the weight on the stimuli shared with others, with inconsistency "
                    f"{one.inconsistency[rater]:.3g} beside a median of "
                    f"{np.median(one.inconsistency):.3g}: scores repeat this rater's answers"
                )
        return tuple(said)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the scores should know, in sentences."""
        notes = list(self.collapsed)
        notes += self._notes_on_pairs()
        if self.method != "reml" and self.fitted:
            of_stimuli = np.concatenate([one.n_raters[one.rated] for one in self.fitted])
            median = float(np.median(of_stimuli)) if of_stimuli.size else 0.0
            if 1 < median < _SMALL_PANEL:
                notes.append(
                    f"{median:g} raters per stimulus (median): {self.method} can collapse on "
                    "panels this small; prefer reml"
                )
        for one in self.fitted:
            where = f"{one.panel.labels[one.label]}: " if one.label is not None else ""
            if not one.fit.converged:
                notes.append(f"{where}not converged after {one.fit.iterations:,} rounds")
            if one.fit.exact:
                notes.append(f"{where}{_SATURATED if one.saturated else _AGREED}")
            groups = int(one.panel.data.group.max(initial=0)) + 1
            if groups > 1:
                notes.append(
                    f"{where}raters fall into {groups:,} groups without a stimulus in common; "
                    "scores of different groups are comparable only if their mean biases are"
                )
        return tuple(notes)

    def _notes_on_pairs(self) -> list[str]:
        """Say which pairs count as one, and which have the scores to themselves."""
        effect = (
            "they count as one rater"
            if self.method == "reml"
            else f"{self.method} counts both and leans towards them; prefer reml"
        )
        named = {frozenset(pair) for pair in self.duplicates.pairs}
        notes = [f"{sentence}; {effect}" for sentence in self.duplicates.sentences]
        similar = self._likeness.similar
        notes += [
            f"{sentence}; not enough to call one a copy of the other, but {effect}"
            for pair, sentence in zip(similar.pairs, similar.sentences, strict=True)
            if frozenset(pair) not in named
        ]
        for one in self.fitted:
            where = f"{one.panel.labels[one.label]}: " if one.label is not None else ""
            share = dict(zip(one.panel.raters, one.weight_share.tolist(), strict=True))
            notes += [
                f"{where}raters {rater!r} and {other!r} have {both:.0%} of the weight together, "
                f"and one may be a copy of the other: {evidence}"
                for rater, other, evidence in self._likeness.open
                if not one.fit.exact
                and (both := share.get(rater, 0.0) + share.get(other, 0.0)) > 0.5
            ]
        return notes

    @cached_property
    def _alike(self) -> dict[str, str]:
        """What is said of each rater who answers like others."""
        words = "counts as one with" if self.method == "reml" else "answers like"
        return {
            name: f"{words} {joined(repr(other) for other in group if other != name)}"
            for group in self._likeness.similar.groups
            for name in group
        }

    @property
    def average_sd(self) -> float:
        """Mean standard error of the scores: the "average standard deviation" of the papers."""
        errors = self.estimates.frame["se"].to_numpy()
        defined = errors[np.isfinite(errors)]
        return float(defined.mean()) if defined.size else float("nan")

    @cached_property
    def estimates(self) -> Estimates:
        """The scores by ``label`` (where there are labels) and ``stimulus``.

        ``se_rater`` and ``se_stimulus`` are the two published standard errors, whichever of them
        the interval rests on.
        """
        tables = [self._scores(one) for one in self.fitted]
        keys = ("label", "stimulus") if self.has_labels else ("stimulus",)
        return Estimates(pl.concat(tables), keys)

    def to_frame(self) -> pl.DataFrame:
        """Give one row per rated stimulus (and label); see :attr:`estimates`."""
        return self.estimates.to_frame()

    def __getitem__(self, key: Any) -> Any:
        """Look a score up by its key, as in :class:`~affectlab.estimates.Estimates`."""
        return self.estimates[key]

    def __len__(self) -> int:
        return sum(int(one.rated.sum()) for one in self.fitted)

    def raters_frame(self) -> pl.DataFrame:
        """Give one row per rater (and label).

        Returns
        -------
        ``rater``; ``bias`` and ``inconsistency``, each with ``_se``, ``_low`` and ``_high``, in
        the unit of the scale; ``n_ratings``; ``weight_share``, the mean share of the rater's
        answers in the scores of stimuli that others rated too, in [0, 1]; ``status``.
        """
        return pl.concat([self._raters(one) for one in self.fitted])

    def _scores(self, one: Fitted) -> pl.DataFrame:
        rated = one.rated
        value, se = one.score[rated], one.se(self.se)[rated]
        half = one.score_quantile(self.se, self.confidence)[rated] * se
        label, stimulus = one.panel.label[rated], one.panel.stimulus[rated]
        keys = {"stimulus": _names(one.panel.stimuli, stimulus)}
        if self.has_labels:
            keys = {"label": _names(one.panel.labels, label), **keys}
        status = np.full(value.size, "ok", dtype=object)
        if self.method != "reml":
            status[one.touched_by(one.collapsed)[rated]] = _COLLAPSED
        status[np.isnan(value)] = _ONE_RATER
        table = Estimates.build(
            keys,
            value=value,
            se=se,
            low=value - half,
            high=value + half,
            method=f"subject model, {self.method}, {self.se} error",
            n_items=1,
            n_raters=one.n_raters[rated],
            n_ratings=one.panel.data.n_of_stimulus[rated],
            status=status.tolist(),
        ).frame
        none = np.full(value.size, np.nan)
        return table.with_columns(
            pl.Series(f"se_{name}", withhold_certainty(value, one.se(name)[rated], none, none)[0])
            for name in ("rater", "stimulus")
        )

    def _raters(self, one: Fitted) -> pl.DataFrame:
        n = one.panel.data.n_raters
        status = np.full(n, "ok", dtype=object)
        if self.method == "reml":
            status[one.group_size == 2] = _EQUAL
        for place, name in enumerate(one.panel.raters):
            if others := self._alike.get(name):
                status[place] = others
        status[one.collapsed] = _COLLAPSED
        if one.saturated:
            status[:] = f"undefined: {_SATURATED}"
        status[np.isnan(one.bias)] = _ONE_RATER
        bias_se, bias_low, bias_high, _ = withhold_certainty(
            one.bias, one.bias_se, *one.bias_interval(self.confidence)
        )
        se, low, high, _ = withhold_certainty(
            one.inconsistency, one.inconsistency_se, *one.inconsistency_interval(self.confidence)
        )
        columns: dict[str, Any] = {}
        if self.has_labels:
            name = "all" if one.label is None else one.panel.labels[one.label]
            columns["label"] = [name] * n
        columns |= {
            "rater": one.panel.raters,
            "bias": one.bias,
            "bias_se": bias_se,
            "bias_low": bias_low,
            "bias_high": bias_high,
            "inconsistency": one.inconsistency,
            "inconsistency_se": se,
            "inconsistency_low": low,
            "inconsistency_high": high,
            "n_ratings": one.panel.data.n_of_rater.astype(np.int64),
            "weight_share": one.weight_share,
            "status": status.tolist(),
        }
        return pl.DataFrame(columns)

    def __repr__(self) -> str:
        raters = {name for one in self.fitted for name in one.panel.raters}
        state = "converged" if self.converged else "not converged"
        trouble = f", {len(self.collapsed)} raters collapsed" if self.collapsed else ""
        alike = "; ".join(joined(map(repr, group)) for group in self._likeness.similar.groups)
        if alike:
            trouble += f", raters who answer alike: {alike}"
        return (
            f"SubjectModel({self.method}, {len(self):,} scores, {len(raters):,} raters, "
            f"{state} after {self.iterations} rounds{trouble})"
        )

    def _repr_html_(self) -> str:
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        return f"<ul>{notes}</ul>" * bool(notes) + self.to_frame()._repr_html_()

    def __rich__(self) -> Table:
        from rich.text import Text

        table = self.estimates.__rich__()
        if self.notes:
            table.caption = Text("\n".join(f"- {note}" for note in self.notes))
            table.caption_justify = "left"
        return table


def _names(known: tuple[str, ...], code: Ints) -> list[str]:
    chosen: list[str] = np.array(known, dtype=object)[code].tolist()
    return chosen
