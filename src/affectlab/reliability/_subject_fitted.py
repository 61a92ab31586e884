"""One fitted subject model with its errors, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from affectlab._types import Floats, Ints
from affectlab.reliability._subject_data import Grouped, Panel
from affectlab.reliability._subject_errors import Errors, reml_errors
from affectlab.reliability._subject_fit import Fit
from affectlab.reliability._subject_sources import Sources

__all__ = ["COLLAPSED_SHARE", "COLLAPSED_SPREAD", "Fitted", "collapsed_raters"]

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

    panel: Panel
    fit: Fit
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
    def rated(self) -> Mask:
        """Stimuli with a rating."""
        return self._data.n_of_stimulus > 0

    @cached_property
    def _described(self) -> tuple[Floats, Floats, Ints, Floats]:
        """See :func:`affectlab.reliability._kernels._subject.describe`."""
        from affectlab.reliability._kernels._subject import describe

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
        from affectlab.reliability._kernels._subject import describe

        data = self.panel.data
        return describe(data.start, data.rater, data.value, np.ones((data.n_raters, 2)))[2]

    @cached_property
    def _source_share(self) -> Floats:
        shares, n = self._described[3][:, 2:].T
        share: Floats = np.divide(shares, n, out=np.full(n.size, np.nan), where=n > 0)
        return share

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
