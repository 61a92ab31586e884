"""How well known truth comes back out of simulated answers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from affectlab.core.arrays import pearson, places_in
from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason, fact_column, reason_type
from affectlab.core.files.columns import require_columns
from affectlab.core.result import Result
from affectlab.core.tables import Count, Key, Number, Table, YesNo
from affectlab.core.types import Bools, Floats
from affectlab.core.words import number
from affectlab.ratings import Ratings
from affectlab.simulate.raters.answers import Simulation
from affectlab.simulate.raters.truth import Truth


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Recovery(Result):
    """Known truth beside what was estimated from the answers."""

    bias_r: float
    """Pearson correlation of estimated and true bias over attentive people."""
    inconsistency_r: float
    """The same for inconsistency."""

    @property
    def labels(self) -> pl.DataFrame:
        """One row per label: ``label, spearman, rmse, n_stimuli, status, reason``."""
        return self.to_frame("labels")

    @property
    def raters(self) -> pl.DataFrame:
        """One row per rater.

        ``rater, rater_kind, bias, bias_true, inconsistency, inconsistency_true, agreement,
        attentive``.
        """
        return self.to_frame("raters")


_LABELS = (Key("label"), Number("spearman", "Spearman"), Number("rmse", "RMSE"), Count("n_stimuli"))
_RATERS = (
    Key("rater"),
    Number("bias"),
    Number("bias_true", "true bias"),
    Number("inconsistency"),
    Number("inconsistency_true", "true inconsistency"),
    Number("agreement"),
    YesNo("attentive", spare=True),
)


def recovery(
    simulation: Simulation,
    estimates: pl.DataFrame | None = None,
) -> Recovery:
    """Compare estimates with the truth of a simulation.

    Bias is the mean difference of a rater's answers to the mean over people of the same stimulus
    and label; inconsistency is the standard deviation of that difference around the bias, corrected
    for the rater's own part in the mean; agreement is the Pearson correlation with the mean of the
    other people. Only main trials are used.

    Parameters
    ----------
    simulation
        From :func:`simulate_raters`.
    estimates
        Columns ``stimulus, label, value``, such as the output of a subject model. When not given,
        the mean over people.

    Returns
    -------
    Recovery
        ``labels`` and ``raters`` are tables, ``bias_r`` and ``inconsistency_r``
        correlations with the truth.

    Raises
    ------
    InputError
        When `estimates` lacks a column, or no stimulus and label of it occur in the truth.

    Examples
    --------
    >>> from affectlab.simulate import panel, simulate_raters, simulate_truth
    >>> truth = simulate_truth(50, "mikels", "0-7", seed=0)
    >>> found = recovery(simulate_raters(truth, panel(10, seed=0, careless=0.0), seed=0))
    >>> found.bias_r > 0.8
    True
    """
    truth = simulation.truth
    answers = simulation.ratings.answers()
    people = np.array([kind in ("human", "simulated") for kind in answers.rater_kinds])
    n_labels = len(truth.labels)
    stimulus = places_in(truth.stimuli, answers.stimulus_names)[answers.stimulus_code]
    label = places_in(truth.labels, answers.label_names)[answers.label_code]
    cell = stimulus * n_labels + label
    if not people.any():
        raise InputError("no person among the raters; recovery needs at least one")
    # Sums of people for each cell (stimulus and label), of which their own answers are a part.
    own = people[answers.rater_code].astype(np.float64)
    count = np.bincount(cell, own, truth.value.size)
    total = np.bincount(cell, own * answers.value, truth.value.size)
    if estimates is None:
        mean = np.full(truth.value.size, np.nan)
        np.divide(total, count, out=mean, where=count > 0)
        score: Floats = mean.reshape(truth.value.shape)
    else:
        score = _given(estimates, truth)
    rater_table = _rater_rows(simulation, answers, own, count[cell], total[cell])
    chosen = rater_table.filter(
        pl.col("attentive") & pl.col("rater_kind").is_in(["human", "simulated"])
    )
    labels = _label_rows(score, truth.value, truth.labels)
    means = labels.select(pl.col("spearman", "rmse").drop_nans().mean())
    bias_r = pearson(chosen["bias"].to_numpy(), chosen["bias_true"].to_numpy())
    return Recovery(
        (
            Table("labels", "Estimated and true values by label.", labels, _LABELS),
            Table("raters", "Estimated and true raters.", rater_table, _RATERS),
        ),
        (
            f"mean Spearman {number(means['spearman'][0])}, "
            f"mean RMSE {number(means['rmse'][0])}, bias r {number(bias_r)}",
        ),
        bias_r=bias_r,
        inconsistency_r=pearson(
            chosen["inconsistency"].to_numpy(), chosen["inconsistency_true"].to_numpy()
        ),
    )


def _rater_rows(
    simulation: Simulation,
    answers: Ratings,
    own: Floats,
    count: Floats,
    total: Floats,
) -> pl.DataFrame:
    """Compare each answer with the mean of the other people, from the sums of its cell."""
    n = len(answers.rater_names)
    known = count - own > 0
    rater, value, own = answers.rater_code[known], answers.value[known], own[known]
    count = count[known]
    rest = (total[known] - own * value) / (count - own)

    def sums(weights: Floats) -> Floats:
        return np.bincount(rater, weights, n).astype(np.float64, copy=False)

    number = np.bincount(rater, minlength=n).astype(np.float64)
    # For people the mean they are compared with holds their own answer: the difference to it is
    # the difference to the others, made smaller by (m - 1) / m.
    shrink = np.where(own > 0, (count - 1.0) / count, 1.0)
    difference = value - rest
    with np.errstate(invalid="ignore", divide="ignore"):
        bias = sums(shrink * difference) / number
        residual = shrink * difference - bias[rater]
        spread = np.sqrt(sums(residual**2) / sums(shrink))
        x_mean, y_mean = sums(value) / number, sums(rest) / number
        dx, dy = value - x_mean[rater], rest - y_mean[rater]
        agreement = sums(dx * dy) / np.sqrt(sums(dx**2) * sums(dy**2))
    agreement[_constant(rater, value, n)] = np.nan
    profiles = {profile.name: profile for profile in simulation.profiles}
    ordered = [profiles[name] for name in answers.rater_names]
    centre = float(np.mean([p.bias for p in ordered if p.kind in ("human", "simulated")]))
    return pl.DataFrame(
        {
            "rater": list(answers.rater_names),
            "rater_kind": [profile.kind for profile in ordered],
            "bias": bias,
            # Only differences between raters can be known: biases are about the mean of people.
            "bias_true": [profile.bias - centre for profile in ordered],
            "inconsistency": spread,
            "inconsistency_true": [profile.inconsistency for profile in ordered],
            "agreement": agreement,
            "attentive": [profile.attentive for profile in ordered],
        }
    )


def _constant(rater: NDArray[np.int32], value: Floats, n: int) -> Bools:
    """Say which raters gave one and the same answer always."""
    least, most = np.full(n, np.inf), np.full(n, -np.inf)
    np.minimum.at(least, rater, value)
    np.maximum.at(most, rater, value)
    same: Bools = least >= most
    return same


def _label_rows(score: Floats, true: Floats, labels: tuple[str, ...]) -> pl.DataFrame:
    from scipy import stats

    rows = []
    reasons: list[Reason | None] = []
    for index, label in enumerate(labels):
        found = ~np.isnan(score[:, index])
        x, y = score[found, index], true[found, index]
        reason, spearman = None, math.nan
        if len(x) < 2:
            reason = Reason(Cause.FEWER, least=2, of="stimuli")
        elif np.ptp(x) == 0.0 or np.ptp(y) == 0.0:
            reason = Reason(Cause.CONSTANT, of="values")
        else:
            spearman = float(stats.spearmanr(x, y).statistic)
        rmse = float(np.sqrt(np.mean((x - y) ** 2))) if len(x) else math.nan
        status = "ok" if reason is None else "undefined"
        rows.append((label, spearman, rmse, len(x), status))
        reasons.append(reason)
    frame = pl.DataFrame(
        rows, schema=["label", "spearman", "rmse", "n_stimuli", "status"], orient="row"
    )
    return frame.with_columns(fact_column("reason", reasons, reason_type()))


def _given(estimates: pl.DataFrame, truth: Truth) -> Floats:
    """Give estimates in the shape of the truth, ``nan`` where there is none."""
    require_columns(estimates, ["stimulus", "label", "value"], "estimates: ")
    row, column = (
        places_in(known, estimates[name].cast(pl.String))
        for name, known in (("stimulus", truth.stimuli), ("label", truth.labels))
    )
    known = (row >= 0) & (column >= 0)
    if not known.any():
        raise InputError("estimates: no stimulus and label of them occur in the truth")
    score = np.full(truth.value.shape, np.nan)
    score[row[known], column[known]] = estimates["value"].cast(pl.Float64).to_numpy()[known]
    return score
