"""Results of Krippendorff's alpha: the table by label, and one number over labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from affectlab._resampling import Uncertainty, check_confidence, summarise
from affectlab._types import Floats
from affectlab.errors import unknown_name
from affectlab.estimates import Estimate, Estimates

__all__ = ["AlphaResult"]

Average = Literal["mean", "median"]


@dataclass(frozen=True, repr=False)
class AlphaResult(Estimates):
    """Alpha by label, with the bootstrap replicates that the labels share."""

    replicates: Floats = field(default_factory=lambda: np.empty((0, 0)), compare=False)
    """Shape (n_boot, labels), ``nan`` where alpha is not defined. A row belongs to one resample of
    all labels when alpha was computed with ``joint=True``."""
    joint: bool = True
    """Whether the labels share resamples."""

    def over_labels(self, average: Average = "mean", *, confidence: float = 0.95) -> Estimate:
        """Average alpha over the labels on which it is defined, with an interval of its own.

        Every bootstrap replicate gives one average over the same labels. Errors of labels that go
        together, since the same stimuli are drawn for all, are thus counted as such; the average
        of the ends of the intervals of labels would not do that.

        Parameters
        ----------
        average
            ``"mean"`` or ``"median"``.
        confidence
            Coverage of the interval, in (0, 1).

        Returns
        -------
        An estimate whose counts are those of the label with the most items, raters and ratings.
        Without replicates, or with replicates that labels do not share, there is no interval.

        Raises
        ------
        InputError
            If the average is not known.

        Examples
        --------
        >>> import numpy as np
        >>> from affectlab.ratings import Ratings
        >>> from affectlab.reliability import krippendorff_alpha
        >>> rng = np.random.default_rng(1)
        >>> stimulus, rater, label = (part.ravel() for part in np.indices((60, 3, 2)))
        >>> value = rng.integers(0, 6, (60, 1, 1)) + rng.integers(0, 2, (60, 3, 2))
        >>> ratings = Ratings({"stimulus": stimulus, "rater": rater,
        ...                    "label": np.array(["joy", "fear"])[label],
        ...                    "value": value.ravel()}, scale="0-7")
        >>> mean = krippendorff_alpha(ratings, n_boot=200, seed=1).over_labels()
        >>> mean.low < mean.value < mean.high
        True
        """
        if average not in ("mean", "median"):
            raise unknown_name("average", average, ("mean", "median"))
        check_confidence(confidence)
        value = self.frame["value"].to_numpy()
        known = ~np.isnan(value)
        items, raters, ratings = (int(self.frame[name].to_numpy().max()) for name in _COUNTS)
        method = f"Krippendorff's alpha, {average} of {int(known.sum())} labels"
        if not known.any():
            status = "undefined: alpha is not defined for any label"
            return Estimate(
                np.nan,
                method=method,
                n_items=items,
                n_raters=raters,
                n_ratings=ratings,
                status=status,
            )
        of = np.mean if average == "mean" else np.median
        point = float(of(value[known]))
        spread, resampled = Uncertainty.none(1), "none"
        if self.replicates.size and self.joint:
            # A replicate that lacks a label would average other labels; it is left out as a whole.
            drawn = of(self.replicates[:, known], axis=1)
            spread = summarise(np.array([point]), drawn[:, None], confidence)
            resampled = str(self.frame["resampled"][0])
            method += f"; percentile bootstrap, {drawn.size} replicates shared by labels"
            if spread.undefined[0]:
                method += f", {int(spread.undefined[0])} undefined"
            if spread.missing[0]:
                method += f"; {spread.missing[0]}"
        return Estimate(
            point,
            float(spread.se[0]),
            float(spread.low[0]),
            float(spread.high[0]),
            method,
            resampled,
            items,
            raters,
            ratings,
        )


_COUNTS = ("n_items", "n_raters", "n_ratings")
