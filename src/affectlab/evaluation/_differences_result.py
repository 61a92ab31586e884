"""What difference metrics were found, and how far metrics or groups are apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import polars as pl

from affectlab._types import Floats, Ints
from affectlab.errors import InputError, unknown_name
from affectlab.estimates import Estimate, Estimates
from affectlab.evaluation._differences_bootstrap import Measured
from affectlab.evaluation._differences_compare import Drawn, compared
from affectlab.evaluation._differences_data import Pairs
from affectlab.evaluation._logistic_fit import LogisticFit

if TYPE_CHECKING:
    from affectlab._terminal import Table

__all__ = ["Differences"]


@dataclass(frozen=True, eq=False)
class Differences:
    """Difference metrics by rater, group and metric.

    Made by :func:`difference_metrics`.
    """

    estimates: Estimates
    """By ``rater``, ``group`` (``all``, ``actor=3``) and ``metric``, with extra columns
    ``attribute`` and ``level`` (of the group) and ``coverage`` (share of the group's stimuli that
    the rater predicts)."""
    ceiling: Estimates | None
    """How well people predict people, by ``group``: Spearman's correlation of two halves, with
    ``corrected`` (Spearman-Brown, for all people) and ``ceiling``, its square root: what a
    prediction without errors would reach."""
    fits: dict[tuple[str, str], LogisticFit]
    """The fitted curve of every (rater, group)."""
    pairs: Pairs
    measured: Measured
    replicates: Floats | None
    """Shape (n_boot, raters, groups, metrics)."""
    confidence: float
    draws: int
    """Seed of the draws of stimuli."""
    notes: tuple[str, ...]
    """What a reader should know, in sentences."""

    @property
    def raters(self) -> tuple[str, ...]:
        """Names of the metrics."""
        return self.pairs.raters

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the groups, ``all`` first."""
        return tuple(group.name for group in self.pairs.groups)

    @property
    def stimuli(self) -> tuple[str, ...]:
        """Names of the stimuli, in the order of the arrays."""
        return self.pairs.stimuli

    @property
    def scores(self) -> Floats:
        """Scores, shape (n,)."""
        return self.pairs.scores

    @property
    def predictions(self) -> Floats:
        """Predictions, shape (raters, n), ``nan`` where there is none."""
        return self.pairs.predictions

    def items_of(self, group: str) -> Ints:
        """Give the places of the stimuli of a group."""
        return self.pairs.groups[self._group(group)].items

    def to_frame(self) -> pl.DataFrame:
        """Give the estimates as a polars data frame."""
        return self.estimates.to_frame()

    def __getitem__(self, key: tuple[str, str, str]) -> Estimate:
        """Look an estimate up by rater, group and metric."""
        return self.estimates[key]

    def __iter__(self) -> Iterator[tuple[tuple[str, ...], Estimate]]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    def compare(
        self, over: Literal["rater", "group"] = "rater", *, absolute: bool = False
    ) -> Estimates:
        """Subtract metrics from one another (or groups), with intervals from shared draws.

        Two raters are compared on the stimuli that both predict.

        Parameters
        ----------
        over
            ``"rater"``: every two raters in every group; ``"group"``: every two groups of one
            attribute, such as intra and inter, for every rater.
        absolute
            Compare the sizes of correlations, for metrics of which some rise and some fall as the
            scores rise.

        Returns
        -------
        Estimates of the first minus the second, by ``rater``, ``other``, ``group`` and ``metric``
        (or ``rater``, ``group``, ``other``, ``metric``), with extra columns ``p`` (two-sided, from
        the replicates; at least 2 / (replicates + 1)), ``p_holm`` (over the pairs of one metric;
        for raters within a group) and ``better`` (which of the two, empty where the interval
        holds 0, or one correlation is above and one below 0 and sizes are not compared).

        Raises
        ------
        InputError
            If there are no replicates, or nothing to compare.

        Examples
        --------
        >>> import numpy as np
        >>> from affectlab.evaluation import difference_metrics
        >>> rng = np.random.default_rng(0)
        >>> scores = rng.normal(size=300)
        >>> predictions = scores + rng.normal(0, [[0.5], [1.0]], (2, 300))
        >>> found = difference_metrics(scores, predictions, names=["L1", "SSIM"], n_boot=200,
        ...                            metrics=["srocc"], seed=0)
        >>> found.compare().to_frame()["better"].to_list()
        ['L1']
        """
        if self.replicates is None:
            raise InputError("there are no replicates to compare; expected n_boot above 0")
        if over not in ("rater", "group"):
            raise unknown_name("over", str(over), ("rater", "group"))
        drawn = Drawn(self.pairs, self.measured, self.replicates, self.draws, self.confidence)
        return compared(drawn, over, absolute=absolute)

    def _group(self, name: str) -> int:
        if name not in self.groups:
            raise unknown_name("group", name, self.groups)
        return self.groups.index(name)

    def __repr__(self) -> str:
        return (
            f"Differences({len(self.raters)} raters, {len(self.groups)} groups, "
            f"{self.scores.size:,} stimuli)"
        )

    def _repr_html_(self) -> str:
        return self.to_frame()._repr_html_()

    def __rich__(self) -> Table:
        return self.estimates.__rich__()
