"""How far raters agree over all labels, and what may be said of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from affectlab.core.estimates import Estimates
from affectlab.core.jackknife import Jackknife
from affectlab.core.types import Floats, Ints
from affectlab.report import wording

FIRM, TENTATIVE = 0.8, 0.67
"""Customary marks for firm and for tentative conclusions."""
ENOUGH_ITEMS = 30
"""Stimuli with two answers below which an interval may be too narrow to be judged by."""
_CONFIDENCE = 0.95

Ungraded = Literal["", "undefined", "few", "not asked", "no interval"]


@dataclass(frozen=True)
class Agreement:
    """Krippendorff's alpha of a panel, over the labels on which it is defined.

    Every label has its own alpha. One alpha over all labels would count differences between labels
    as agreement about stimuli: raters who answer at random, but high on one label and low on
    another, would seem to agree.
    """

    n_labels: int
    """Labels on which alpha is defined."""
    n_all: int
    """All labels."""
    value: float
    """Median alpha."""
    low: float
    """Lower end of the interval of the median; ``nan`` where no grade can be given."""
    high: float
    """Upper end."""
    n_items: int
    """Median number of stimuli with two answers."""
    n_tentative: int
    """Labels whose whole interval lies at 0.67 or above."""
    n_firm: int
    """Labels whose whole interval lies at 0.80 or above."""
    ungraded: Ungraded
    """Why no grade can be given; empty when one can."""

    @property
    def words(self) -> str:
        """Alpha with its interval: "Krippendorff's alpha 0.52, 95 % interval 0.45 to 0.58"."""
        return wording.alpha(self)

    @property
    def reached(self) -> str:
        """On how many labels the whole interval reaches the customary marks; a sentence part."""
        return wording.marks_reached(self.n_tentative, self.n_firm, TENTATIVE, FIRM)


def agreement_of(alpha: Estimates) -> Agreement:
    """Sum up alpha over labels.

    The interval of the median comes from medians without each stimulus and each rater. A label
    without an interval (or one of no width), or with fewer than 30 stimuli, counts as one whose
    alpha may lie anywhere. No grade can be given when these are half of the labels or more.
    """
    frame = alpha.to_frame()
    value, low, high = (frame[name].to_numpy() for name in ("value", "low", "high"))
    items = frame["n_items"].to_numpy()
    known = ~np.isnan(value)
    n = int(known.sum())
    if n == 0:
        return Agreement(0, frame.height, math.nan, math.nan, math.nan, 0, 0, 0, "undefined")
    value, low, high, items = value[known], low[known], high[known], items[known]
    enough = items >= ENOUGH_ITEMS
    # An interval of no width says that replicates cannot differ, not that alpha is certain.
    sure = enough & (low < high)
    ungraded: Ungraded = ""
    if 2 * enough.sum() <= n:
        ungraded = "few"
    elif alpha.jackknife is None:
        ungraded = "not asked"
    elif 2 * sure.sum() <= n:
        ungraded = "no interval"
    ends = (math.nan, math.nan)
    if not ungraded and alpha.jackknife is not None:
        places = np.flatnonzero(known)
        ends = _ends(alpha.jackknife, places[sure], places[~sure])
    return Agreement(
        n_labels=n,
        n_all=frame.height,
        value=float(np.median(value)),
        low=ends[0],
        high=ends[1],
        n_items=int(np.median(items)),
        n_tentative=int((sure & (low >= TENTATIVE)).sum()),
        n_firm=int((sure & (low >= FIRM)).sum()),
        ungraded=ungraded,
    )


def _ends(jackknife: Jackknife, sure: Ints, unsure: Ints) -> tuple[float, float]:
    """Give the ends of the interval of the median, where unsure labels may lie anywhere."""

    def median(values: Floats, anywhere: float) -> Floats:
        free = np.full((len(values), unsure.size), anywhere)
        return np.asarray(np.median(np.column_stack([values[:, sure], free]), axis=1))

    least = jackknife.of_all(lambda values: median(values, -1.0)).ends(_CONFIDENCE)
    most = jackknife.of_all(lambda values: median(values, 1.0)).ends(_CONFIDENCE)
    return float(least[1][0]), float(most[2][0])
