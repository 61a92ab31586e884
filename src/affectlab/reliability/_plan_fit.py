"""The model of a planned study, fitted to a pilot."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import polygamma

from affectlab._types import Floats
from affectlab.errors import InputError
from affectlab.ratings import Ratings
from affectlab.ratings.arrays import Answers, answers_of
from affectlab.reliability._components import rater_variances, variance_components
from affectlab.reliability._one_label import one_label
from affectlab.reliability._plan_model import PlanModel
from affectlab.reliability._plan_scale import noise_of, undo_scale

__all__ = ["fit_plan_model", "plan_model", "replicate"]


def plan_model(pilot: Ratings | ArrayLike, *, label: str | None = None) -> PlanModel:
    """Fit the model of a planned study to a pilot.

    Components come from moments (see Notes). Rounding and the ends of the scale are then undone:
    the qualities, biases and noise before rounding are those whose simulated answers have the
    components that were found.

    Parameters
    ----------
    pilot
        Ratings of one label (main trials with a valid answer; the first where a rater repeats), or
        an array of shape (raters, stimuli) with ``nan`` where there is no rating.
    label
        Which label, where the pilot has several.

    Returns
    -------
    A model whose ``note`` names the pilot and what was adjusted. ``missing`` is 0: gaps of a pilot
    may be its design. The distribution of qualities is that of the pilot's mean scores, with the
    spread that is left after their error, and stretched towards the ends of the scale, where
    answers cannot follow quality.

    Raises
    ------
    InputError
        If the pilot has several labels and none is chosen, or cannot tell raters and stimuli apart.

    Notes
    -----
    Planning needs the spread of biases and noise over *future* raters, not the values of those in
    the pilot. Moments estimate that directly, without bias, for any pattern of gaps, in one pass.
    Likelihood fits of the subject model estimate each rater instead, need a second step for their
    spread, and with few raters may collapse onto one of them. Negative components count as 0.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> stimuli, bias = rng.normal(50, 15, 200), rng.normal(0, 5, (25, 1))
    >>> pilot = stimuli + bias + rng.normal(0, 10, (25, 200))
    >>> model = plan_model(pilot)
    >>> round(model.inconsistency)
    10
    """
    return fit_plan_model(one_label(answers_of(pilot), label, "pilot"))


def fit_plan_model(part: Answers) -> PlanModel:
    """Fit the model to the answers on one label."""
    found = variance_components(part)
    if math.isnan(found.residual):
        raise InputError(
            f"pilot with {np.unique(part.rater).size} raters, {np.unique(part.unit).size} stimuli "
            f"and {part.value.size} ratings cannot tell raters, stimuli and noise apart; expected "
            "at least two of each, with several ratings per stimulus and per rater"
        )
    notes = [f"from a pilot of {np.unique(part.rater).size} raters"]
    if min(found.stimulus, found.rater, found.residual) < 0:
        notes.append("negative components set to 0")
    scale = part.scale
    if scale is not None and not scale.declared:
        notes.append("scale inferred")
    residual_sd = math.sqrt(max(found.residual, 0.0))
    spread = _log_spread(*rater_variances(part, max(found.residual, 0.0)))
    model = PlanModel(
        stimulus_sd=math.sqrt(max(found.stimulus, 0.0)),
        rater_bias_sd=math.sqrt(max(found.rater, 0.0)),
        scale=scale,
        mean=found.mean,
        shape=_shape(part, found.stimulus),
        note="; ".join(notes),
        **noise_of(residual_sd, spread),
    )
    if scale is None or (scale.low is None and scale.high is None and scale.step is None):
        return model
    return undo_scale(model, spread)


def replicate(model: PlanModel, part: Answers, rng: np.random.Generator) -> Answers:
    """Draw the answers of a pilot anew: the same raters on the same stimuli, by name only."""
    quality = model.draw_stimuli(rng, (len(part.units),))
    bias = model.draw_bias(rng, (len(part.raters),))
    noise = model.draw_noise_sd(rng, (len(part.raters),))
    felt = quality[part.unit] + bias[part.rater]
    felt += noise[part.rater] * rng.standard_normal(felt.size)
    return replace(part, value=model.answer(felt))


def _log_spread(variances: Floats, freedom: Floats) -> float:
    """SD over raters of log v, from estimates of v^2, less what their own sampling adds.

    The logarithm of an estimate with k degrees of freedom varies by trigamma(k / 2). Estimates near
    or below 0 count as a hundredth of the mean, or the logarithm would be theirs alone.
    """
    if variances.size < 2 or variances.mean() <= 0:
        return 0.0
    logs = np.log(np.maximum(variances, variances.mean() / 100))
    excess = float(logs.var(ddof=1)) - float(polygamma(1, freedom / 2).mean())
    return math.sqrt(max(excess, 0.0)) / 2


def _shape(part: Answers, stimulus_variance: float) -> tuple[float, ...]:
    """Mean scores of the pilot's stimuli, drawn together to the variance that is not error."""
    _, unit = np.unique(part.unit, return_inverse=True)
    scores = np.bincount(unit, part.value) / np.bincount(unit)
    variance = float(scores.var())
    if variance == 0 or stimulus_variance <= 0:
        return ()
    middle = scores.mean()
    drawn = middle + (scores - middle) * math.sqrt(min(stimulus_variance / variance, 1.0))
    return tuple(drawn.tolist())
