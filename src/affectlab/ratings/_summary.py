"""What a table of ratings holds, in counts and in words."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from affectlab.ratings._select import used_rows
from affectlab.ratings._warnings import outcome_counts, pair_counts, silent_raters

if TYPE_CHECKING:
    from affectlab.ratings._table import Ratings

__all__ = ["RatingsSummary", "summarise"]


@dataclass(frozen=True)
class RatingsSummary:
    """Counts over a table of ratings."""

    n_ratings: int
    n_stimuli: int
    n_raters: int
    n_labels: int
    scale: str
    source: str
    taxonomy: str | None
    labels: tuple[str, ...]
    rater_kinds: dict[str, int]
    """Number of raters of each kind."""
    trial_kinds: dict[str, int]
    """Number of rows of each trial kind, empty when the table has no trial kinds."""
    outcomes: dict[str, int]
    """Number of rows of each outcome, empty when the table has no outcomes; ``unclear`` where a
    rater said that of the stimulus and chose no label."""
    raters_per_stimulus: tuple[int, float, int]
    """Smallest, median and largest number of raters of a stimulus (main trials, answered)."""
    stimuli_per_rater: tuple[int, float, int]
    """Smallest, median and largest number of stimuli of a rater (main trials, answered)."""
    set_aside: tuple[dict[str, Any], ...]
    """What was not taken: reason, count, the first places, and what is counted."""
    silent_raters: tuple[str, ...]
    """Raters of the source of whom no answer can be used; they are not among `n_raters`."""
    history: tuple[str, ...]
    warnings: tuple[str, ...]


def summarise(ratings: Ratings) -> RatingsSummary:
    """Count what a table holds."""
    per_stimulus, per_rater = pair_counts(ratings, used_rows(ratings))
    trials = ratings._body.extras.get("trial_kind")
    kinds = [] if trials is None else trials.value_counts(sort=True).rows()
    return RatingsSummary(
        n_ratings=ratings.n_ratings,
        n_stimuli=ratings.n_stimuli,
        n_raters=ratings.n_raters,
        n_labels=ratings.n_labels,
        scale=str(ratings.scale),
        source=ratings.source,
        taxonomy=None if ratings.taxonomy is None else ratings.taxonomy.name,
        labels=ratings.label_names if ratings.has_labels else (),
        rater_kinds=dict(Counter(ratings.rater_kinds)),
        trial_kinds={str(kind): int(n) for kind, n in kinds},
        outcomes=outcome_counts(ratings),
        raters_per_stimulus=_spread(per_stimulus),
        stimuli_per_rater=_spread(per_rater),
        set_aside=tuple(
            {
                "reason": part.reason,
                "count": part.count,
                "places": list(part.places),
                "unit": part.unit,
            }
            for part in ratings.set_aside
        ),
        silent_raters=tuple(silent_raters(ratings)),
        history=ratings.history,
        warnings=ratings.warnings,
    )


def _spread(counts: NDArray[np.intp]) -> tuple[int, float, int]:
    """Smallest, median and largest count of those that occur."""
    counts = counts[counts > 0]
    if len(counts) == 0:
        return 0, 0.0, 0
    return int(counts.min()), float(np.median(counts)), int(counts.max())
