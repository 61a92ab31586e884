"""Intervals of variances, their shares and coefficients, without stimuli or raters in turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from affectlab.core import statistic
from affectlab.core.estimates import Estimates
from affectlab.core.facts import Cause, Reason
from affectlab.core.inference import Target, infer
from affectlab.core.statistic import (
    MAX_JACKKNIFE_GROUPS,
    STIMULI_AND_RATERS,
    Clusters,
    Draws,
    Statistic,
)
from affectlab.core.types import Floats, Ints
from affectlab.reliability.components.designs import (
    CELL,
    RATER,
    STIMULUS,
    Components,
    MixedDesign,
)
from affectlab.reliability.components.generalizability import Coefficient
from affectlab.reliability.components.restricted_likelihood import RESIDUAL
from affectlab.reliability.components.symmetric_sums import CrossedSums, FacetSums


@dataclass(frozen=True, eq=False)
class LeftOutComponents:
    """Variances of a design as they change where stimuli and raters are left out.

    The changes are those of moments, around the variances that were fitted.
    """

    design: MixedDesign
    fit: Components
    factors: Sequence[str]
    coefficients: Sequence[Coefficient]

    @property
    def names(self) -> tuple[str, ...]:
        """Factors, and the residual."""
        return (*self.factors, RESIDUAL)

    def intervals(
        self, target: Target, confidence: float, clusters: Clusters | None = None
    ) -> Estimates:
        """Give variances, then shares, then coefficients, with their intervals."""
        found = infer(
            self.statistic,
            interval="jackknife",
            target=target,
            confidence=confidence,
            clusters=clusters,
        )
        unit = pl.when(pl.col("row") == "variance").then(self._fitted.sum()).otherwise(1.0)
        ends = pl.col("value", "se", "low", "high") * unit
        return found.with_frame(found.frame.with_columns(ends))

    @property
    def statistic(self) -> Statistic:
        """The statistic of all rows; variances are in units of their sum."""
        variances, n = self._fitted / self._fitted.sum(), len(self.names)
        stimuli, raters = self._units
        own = np.array([self.design.levels.get(one, np.inf) for one in self.names])
        # What of the residual is in the mean of the answers to a level.
        noise = variances[-1] * own / self.design.value.size
        noise[-1] = 0.0
        per_item = self.design.value.size / (int(stimuli.max()) + 1)
        rows = [
            *((name, kind) for kind in ("variance", "share") for name in self.names),
            *((one.kind, str(one.row)) for one in self.coefficients),
        ]
        over = np.array([one.over for one in self.coefficients], dtype=np.float64)

        def of_means(values: Floats) -> Floats:
            single = np.maximum(values[..., 2 * n :], 0.0)
            of_mean = over * single / (1 + (over - 1) * single)
            return np.concatenate([values[..., : 2 * n], of_mean], axis=-1)

        counts = self.design.counts
        return Statistic(
            keys={"of": [name for name, _ in rows], "row": [kind for _, kind in rows]},
            design=statistic.Design.of(
                [stimuli] * len(rows),
                int(stimuli.max()) + 1,
                [raters] * len(rows),
                int(raters.max()) + 1,
            ),
            evaluate=self._evaluate,
            method=[self.fit.method] * len(rows),
            n_items=[counts["n_items"]] * len(rows),
            n_raters=[counts["n_raters"]] * len(rows),
            n_ratings=[counts["n_ratings"]] * len(rows),
            undefined=Reason(Cause.NONE, of="variance"),
            bounds=(np.zeros(len(rows)), np.repeat([np.inf, 1.0], [n, len(rows) - n])),
            log_odds_from=np.concatenate(
                [
                    *[-np.where(np.isfinite(noise), noise, 0.0)] * 2,
                    np.full(len(self.coefficients), -1 / max(per_item - 1, 1e-3)),
                ]
            ),
            transform=of_means,
            targets=STIMULI_AND_RATERS,
            n_groups=None if isinstance(self._sums, CrossedSums) else MAX_JACKKNIFE_GROUPS,
        )

    @cached_property
    def _fitted(self) -> Floats:
        return np.array([self.fit.variance(name) for name in self.names])

    @cached_property
    def _units(self) -> tuple[Ints, Ints]:
        """Stimulus and rater of each answer; in the order of their names."""
        frame = self.design.frame
        stimulus, rater = (
            frame[name].rank("dense").to_numpy().astype(np.int64) - 1 for name in (STIMULUS, RATER)
        )
        return stimulus, rater

    @cached_property
    def _sums(self) -> CrossedSums | FacetSums:
        stimulus, rater = self._units
        n_raters = int(rater.max()) + 1
        cell = stimulus * n_raters + rater
        value = self.design.value
        if set(self.factors) == {STIMULUS, RATER} and np.unique(cell).size == cell.size:
            return CrossedSums.of([stimulus], [rater], [value], int(stimulus.max()) + 1, n_raters)
        levels = {one.name: one.level for one in self.design.factors} | {CELL: cell}
        return FacetSums(
            {name: levels[name] for name in self.factors}, value - value.mean(), stimulus, rater
        )

    def _moments(self, draws: Draws) -> Floats:
        """Variances by moments, shape (rows, names)."""
        sums = self._sums
        if isinstance(sums, FacetSums):
            return sums(draws, int(sums.stimulus.max()) + 1)
        of_stimuli, of_raters, rest = (part[:, 0] for part in sums(draws).components)
        by_name = {STIMULUS: of_stimuli, RATER: of_raters, RESIDUAL: rest}
        return np.stack([by_name[name] for name in self.names], axis=-1)

    @cached_property
    def _whole(self) -> Floats:
        return self._moments(Draws(1))

    def _evaluate(self, draws: Draws) -> Floats:
        if draws.is_point:
            variances = self._fitted[None].repeat(draws.n_rows, 0)
        else:
            variances = self._fitted + self._moments(draws) - self._whole
        total = variances.sum(axis=1, keepdims=True)
        share = np.divide(variances, total, out=np.full(variances.shape, np.nan), where=total > 0)
        singles = []
        for one in self.coefficients:
            counted = np.array([one.weights.get(name, 0.0) for name in self.factors])
            signal = variances[:, self.names.index(STIMULUS)]
            whole = signal + variances[:, -1] + variances[:, :-1] @ counted
            singles.append(
                np.divide(signal, whole, out=np.full(whole.size, np.nan), where=whole > 0)
            )
        made = np.hstack(
            [variances / self._fitted.sum(), share, *(one[:, None] for one in singles)]
        )
        return made if draws.columns is None else made[:, draws.columns]
