"""How often each outcome came about, by model and prompt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from affectlab.errors import InputError
from affectlab.estimates import Estimates
from affectlab.evaluation._outcomes import OUTCOMES, Response
from affectlab.evaluation._outcomes_read import Asked, asked_of
from affectlab.evaluation._wilson import wilson_interval
from affectlab.ratings import Ratings

if TYPE_CHECKING:
    from affectlab._terminal import Table

__all__ = ["OutcomeTable", "outcome_table"]


@dataclass(frozen=True, eq=False)
class OutcomeTable:
    """Outcomes by model and prompt, or by whatever was asked for.

    Made by :func:`outcome_table`.
    """

    by: tuple[str, ...]
    shares: Estimates
    """Share of answers with each outcome, keyed by :attr:`by` and ``outcome``; the extra column
    ``count`` has how many they are."""
    usable: Estimates
    """Share of answers that can be used, keyed by :attr:`by`; extra columns: ``retries``, the
    questions asked again after transport errors, and ``coverage``, the share of all stimuli about
    which something was asked."""
    warnings: tuple[str, ...] = ()
    """What a reader should know, in sentences."""

    def to_frame(self) -> pl.DataFrame:
        """Give one row per group and outcome: the keys, ``outcome``, ``count``, the estimate."""
        keys = [*self.by, "outcome", "count"]
        frame = self.shares.to_frame()
        return frame.select(*keys, *(name for name in frame.columns if name not in keys))

    def counts(self) -> pl.DataFrame:
        """Give one row per group: the keys, ``n`` answers, and the count of each outcome."""
        frame = self.shares.to_frame()
        wide = frame.pivot(on="outcome", index=list(self.by), values="count", maintain_order=True)
        return wide.insert_column(
            len(self.by), wide.select(pl.sum_horizontal(list(OUTCOMES))).to_series().alias("n")
        )

    def as_dict(self) -> dict[str, Any]:
        """Give the tables as plain data (for JSON)."""
        return {
            "by": list(self.by),
            "outcomes": {name: found.meaning for name, found in OUTCOMES.items()},
            "shares": self.to_frame().to_dicts(),
            "usable": self.usable.to_frame().to_dicts(),
        }

    def __repr__(self) -> str:
        return f"OutcomeTable({len(self.usable)} groups by {', '.join(self.by)})"

    def _repr_html_(self) -> str:
        return self.counts()._repr_html_()

    def __rich__(self) -> Table:
        from affectlab.evaluation._outcomes_show import rich_outcomes

        return rich_outcomes(self)


def outcome_table(
    ratings: Ratings | Iterable[Response] | Any,
    models: Ratings | None = None,
    *,
    by: Sequence[str] | str | None = None,
    everyone: bool = False,
    confidence: float = 0.95,
) -> OutcomeTable:
    """Count the outcomes of answers by model and prompt, with Wilson intervals.

    One answer is what a rater said about a stimulus at once: all rows of ratings with one rater,
    stimulus, session, trial and trial kind, and one value of each of `by`. Where its labels have
    different outcomes, the first in the order of :data:`OUTCOMES` counts. Trials of all kinds
    count: a golden question that is refused is refused. Answers without a value and without an
    outcome are not in ratings; the column ``coverage`` shows that they are missing.

    Parameters
    ----------
    ratings
        Ratings; or a data frame with a column ``outcome``, the columns of `by`, and optionally
        ``stimulus`` and ``retries``; or an iterable of :class:`Response`.
    by
        What to tell apart: ``rater``, ``rater_kind``, or any column of the answers (``session``),
        attribute of the raters (``prompt``, ``family``) or of the stimuli. None: ``rater``, and
        ``prompt`` where there is one. A model that was asked in two ways is best kept as two
        raters with an attribute ``prompt``, so that every other statistic tells them apart, too.
    models
        Answers of models in a table of their own, beside those of ratings.
    everyone
        Count people, too, where ratings hold both; otherwise only models.
    confidence
        Coverage of the intervals. They take answers as independent of each other.

    Raises
    ------
    InputError
        When a name of `by` is not known, or there is no answer.

    References
    ----------
    Generalises Table 3 of the EmoNet-Face paper, which says yes or no for each model and prompt.

    Examples
    --------
    >>> from affectlab.ratings import Ratings
    >>> table = Ratings(
    ...     {"stimulus": ["a", "b", "c", "d"], "rater": ["net"] * 4, "value": [1, 2, None, 0],
    ...      "outcome": ["ok", "ok", "refused", "ok"]},
    ...     scale="0-7", raters={"rater": ["net"], "rater_kind": ["model"]})
    >>> found = outcome_table(table)
    >>> found.shares["net", "refused"].value, found.usable["net"].value
    (0.25, 0.75)
    """
    asked = asked_of(ratings, by, models, everyone=everyone)
    if not asked.n:
        raise InputError("there is no answer to count; expected at least one")
    n_groups = len(asked.groups)
    names = list(OUTCOMES)
    count = np.bincount(
        asked.group * len(names) + asked.outcome, minlength=n_groups * len(names)
    ).reshape(n_groups, len(names))
    total = count.sum(axis=1)
    stimuli, raters = _distinct(asked, asked.stimulus), _distinct(asked, asked.rater)
    method = f"share of answers, Wilson interval ({100 * confidence:g} %)"
    low, high = wilson_interval(count, total[:, None], confidence)
    keys = {
        name: [group[k] for group in asked.groups for _ in names] for k, name in enumerate(asked.by)
    }
    shares = Estimates.build(
        {**keys, "outcome": names * n_groups},
        value=(count / total[:, None]).ravel(),
        low=np.ravel(low),
        high=np.ravel(high),
        method=method,
        n_items=np.repeat(stimuli, len(names)),
        n_raters=np.repeat(raters, len(names)),
        n_ratings=np.repeat(total, len(names)),
    )
    good = count[:, [OUTCOMES[name].usable for name in names]].sum(axis=1)
    low, high = wilson_interval(good, total, confidence)
    usable = Estimates.build(
        {name: [group[k] for group in asked.groups] for k, name in enumerate(asked.by)},
        value=good / total,
        low=low,
        high=high,
        method=method.replace("answers", "usable answers"),
        n_items=stimuli,
        n_raters=raters,
        n_ratings=total,
    )
    retries = np.bincount(asked.group, weights=asked.retries, minlength=n_groups).astype(np.int64)
    coverage = stimuli / asked.n_stimuli if asked.n_stimuli else np.full(n_groups, np.nan)
    extra = [pl.Series("retries", retries), pl.Series("coverage", coverage, dtype=pl.Float64)]
    return OutcomeTable(
        asked.by,
        Estimates(shares.frame.with_columns(pl.Series("count", count.ravel())), shares.keys),
        Estimates(usable.frame.with_columns(extra), usable.keys),
        _warnings(asked, stimuli),
    )


def _distinct(asked: Asked, code: np.ndarray[Any, np.dtype[np.int64]]) -> Any:
    """Count the distinct codes in each group; those below 0 say nothing."""
    size = int(code.max(initial=0)) + 1
    known = code >= 0
    pairs = np.unique(asked.group[known] * size + code[known])
    return np.bincount(pairs // size, minlength=len(asked.groups))


def _warnings(asked: Asked, stimuli: Any) -> tuple[str, ...]:
    said = []
    if not asked.has_outcomes:
        said.append(
            "there is no column 'outcome', so every answer counts as ok; answers that failed may "
            "have been left out before"
        )
    if asked.n_stimuli and (stimuli < asked.n_stimuli).any():
        part = [k for k in range(len(stimuli)) if stimuli[k] < asked.n_stimuli]
        worst = min(part, key=lambda k: int(stimuli[k]))
        said.append(
            f"{', '.join(asked.groups[worst])} was asked about {stimuli[worst]:,} of "
            f"{asked.n_stimuli:,} stimuli"
            + (f", and {len(part) - 1} more not about all" if len(part) > 1 else "")
        )
    return tuple(said)
