"""Calibrating trained heads: to the scale of people, to neutral stimuli, and intervals."""

from __future__ import annotations

from typing import Any, Self

from affectlab.models.heads._calibrate import (
    fit_bank_intervals,
    fit_bank_neutral,
    fit_bank_scale,
)
from affectlab.models.heads._heads import Heads
from affectlab.models.heads._intervals import By
from affectlab.models.heads._targets import Aggregate

__all__ = ["CalibratedHeads"]


class CalibratedHeads(Heads):
    """Heads that can be calibrated; :class:`HeadBank` says in which order."""

    def calibrate_scale(
        self, X: Any, Y: Any, *, how: Aggregate = "median", source: str = ""
    ) -> Self:
        """Fit the map that brings scores to 0 to 7; see :class:`HeadBank`, step 1.

        Parameters
        ----------
        X, Y
            As for :meth:`fit`, with ratings 0 to 7 that the heads were not trained on.

        Raises
        ------
        InputError
            When they do not fit, or no head has ten ratings or more.
        """
        fit_bank_scale(self, X, Y, how, source)
        return self

    def calibrate_neutral(self, X: Any, *, source: str = "") -> Self:
        """Subtract from each head its mean over neutral stimuli; see :class:`HeadBank`, step 2.

        Parameters
        ----------
        X
            Embeddings of stimuli that show nothing, of people of all kinds: EmoNet-Face uses 1,700
            faces over all ages, ethnicities and genders. None of them should have been trained on.

        Notes
        -----
        The mean over these stimuli becomes 0 before ratings are clipped to 0 to 7; clipped, it
        stays a little above, since what lies below 0 counts as 0. After :meth:`calibrate_scale`,
        whose map gives what people say on average, the rating of every stimulus is lower by what
        the map gives neutral stimuli.

        Raises
        ------
        InputError
            When they do not fit.
        """
        fit_bank_neutral(self, X, source)
        return self

    def calibrate_intervals(
        self,
        X: Any,
        Y: Any,
        level: float = 0.9,
        *,
        by: By = "score",
        how: Aggregate = "median",
        source: str = "",
    ) -> Self:
        """Calibrate intervals for the rating of a new stimulus; see :func:`fit_intervals`.

        Parameters
        ----------
        X, Y
            As for :meth:`fit`, with ratings 0 to 7 that nothing else was fitted to.
        level
            Share of ratings that an interval holds, at least. A rating is what Y holds after
            `how`: the median of as many raters as Y has, and not the answer of one of them, who is
            further off.
        by
            ``"score"`` or ``"label"``.

        Raises
        ------
        InputError
            When they do not fit, or the level is out of range.
        """
        fit_bank_intervals(self, X, Y, level, by, how, source)
        return self
