"""How often a policy names raters who are attentive: panels simulated from a fitted model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.inference import by_name
from affectlab.core.types import Floats, Ints
from affectlab.reliability.screening.attention import biases
from affectlab.reliability.screening.panel_rules import consensus_panel
from affectlab.reliability.screening.rules import Judgement
from affectlab.reliability.screening.trials import Mask, Trials

Judgements = dict[str, Judgement]
NOT_USED = "not used"
"""Row of the verdict among those of the rules."""


@dataclass(frozen=True, eq=False)
class PanelModel:
    r"""A model of attentive raters: :math:`y = m + a_r (s_c - m) + b_r + e`.

    The mean of stimulus and label :math:`s_c` is as estimated; severity b, slope a and the
    logarithm of the SD of e differ between raters as much as those raters do who are alike by every
    measure of the policy ``panel``. Of yes and no the mean is the chance of a yes.
    """

    cell_mean: Floats
    """Of each answer, shape (answers,)."""
    middle: float
    sd: tuple[float, float, float]
    """SD between raters of severity, slope and log SD of errors."""
    log_error: float
    """Mean of the log SD of errors."""

    @classmethod
    def fit(cls, trials: Trials) -> PanelModel:
        """Fit the model to the answers.

        Raises
        ------
        InputError
            If fewer than three raters have enough answers in common with others.
        """
        panel = consensus_panel(trials)
        usable = panel.known & panel.alike
        if trials.ratings.scale.kind == "nominal" or usable.sum() < 3:
            raise InputError(
                "n_simulations: no model of attentive raters can be fitted; expected answers in an "
                "order, and three raters with enough answers in common"
            )
        spread = {}
        for check, (compared, error) in panel.measures.items():
            x, e = compared[usable], error[usable]
            fine = np.isfinite(x) & np.isfinite(e)
            between = x[fine].var(ddof=1) - (e[fine] ** 2).mean()
            spread[check] = float(np.sqrt(max(between, 0.0))), float(x[fine].mean())
        rows = trials.main & panel.raters[trials.rater]
        everyone = rows if np.isin(trials.cell, trials.cell[rows]).all() else np.ones_like(rows)
        cell = np.unique(trials.cell, return_inverse=True)[1]
        bias = biases(cell[rows], trials.rater[rows], trials.value[rows], panel.raters)
        size = np.bincount(cell, everyone)
        unbiased = (trials.value - bias[trials.rater]) * everyone
        mean = np.bincount(cell, unbiased) / size
        middle = float(mean.mean())
        log_error = spread["inconsistency"][1]
        # Means scatter by their errors, too, which the errors of answers bring in again.
        total = max(float(mean.var()), 1e-12)
        true = np.sqrt(max(0.0, 1 - float((np.exp(2 * log_error) / size).mean()) / total))
        slope = spread["centrality"]
        return cls(
            cell_mean=middle + true * (mean[cell] - middle),
            middle=middle,
            sd=(
                spread["severity"][0],
                slope[0] / max(slope[1], 0.1),
                spread["inconsistency"][0],
            ),
            log_error=log_error,
        )

    def simulate(self, trials: Trials, rng: np.random.Generator) -> Trials:
        """Draw the answers of attentive raters to the same trials, in the order of names."""
        from scipy.special import ndtr

        n = len(trials.raters)
        traits = np.empty((n, 3))
        traits[by_name(trials.raters)] = rng.normal(size=(n, 3)) * self.sd
        severity, slope, log_error = traits[trials.rater].T
        noise = np.empty(trials.value.size)
        noise[_order(trials)] = rng.normal(size=noise.size)
        value = self.middle + (1 + slope) * (self.cell_mean - self.middle) + severity
        ratings, every = trials.ratings, trials.ratings.value.copy()
        if ratings.scale.kind == "binary":
            # The mean is the chance of a yes, from which errors follow.
            value = (ndtr(noise) < value).astype(np.float64)
        else:
            value = value + np.exp(self.log_error + log_error) * noise
        if ratings.scale.step is not None and trials.decimal_points:
            start = ratings.scale.low or 0.0
            value = start + np.rint((value - start) / ratings.scale.step) * ratings.scale.step
        low, high = (end if end is not None else np.nan for end in (trials.low, trials.high))
        value = np.fmin(np.fmax(value, low), high)
        every[trials.row] = value
        return replace(trials, value=value, ratings=ratings.with_values(every, step="simulated"))


def _order(trials: Trials) -> Ints:
    """Answers by the names of rater, stimulus and label."""
    ratings = trials.ratings
    ranks = [np.empty(len(names), dtype=np.int64) for names in _names(trials)]
    for rank, names in zip(ranks, _names(trials), strict=True):
        rank[by_name(names)] = np.arange(rank.size)
    stimulus, label = np.divmod(trials.cell, ratings.n_labels)
    order: Ints = np.lexsort((ranks[2][label], ranks[1][stimulus], ranks[0][trials.rater]))
    return order


def _names(trials: Trials) -> tuple[tuple[str, ...], ...]:
    ratings = trials.ratings
    return trials.raters, ratings.stimulus_names, ratings.label_names


def false_alarms(
    trials: Trials,
    judge: Callable[[Trials], Judgements],
    used: Callable[[Judgements], Mask],
    n_simulations: int,
    rng: np.random.Generator,
) -> pl.DataFrame:
    """Count how often attentive raters violate each rule, and are not used.

    Parameters
    ----------
    judge
        Judges the answers by every rule.
    used
        Says of which units the answers are used.

    Returns
    -------
    By ``rule`` (the last row, ``not used``, is the verdict): ``raters``, the share of raters, or
    sessions, that violate it; ``panels``, the share of panels in which any does; ``n_panels``.
    Rules that do not rest on the answers are not there.
    """
    model = PanelModel.fit(trials)
    counts: dict[str, list[Mask]] = {}
    judged = set()
    for _ in range(n_simulations):
        judgements = judge(model.simulate(trials, rng))
        judged |= {name for name, one in judgements.items() if one.known.any()}
        marks = {name: one.violated for name, one in judgements.items()}
        for name, mark in {**marks, NOT_USED: ~used(judgements)}.items():
            counts.setdefault(name, []).append(mark)
    named = {name: np.array(m) for name, m in counts.items() if name in {*judged, NOT_USED}}
    return pl.DataFrame(
        {
            "rule": list(named),
            "raters": [float(marks.mean()) for marks in named.values()],
            "panels": [float(marks.any(axis=1).mean()) for marks in named.values()],
            "n_panels": n_simulations,
        }
    )
