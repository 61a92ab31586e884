"""Taking out what a model sees in neutral stimuli."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from affectlab.core.errors import InputError, check_choices
from affectlab.evaluation.people_and_models import check_models
from affectlab.ratings import Ratings, Scale, StepKind, step


def neutral_calibrated(models: Ratings, neutral_stimuli: Collection[str]) -> Ratings:
    """Subtract from each label of each model its mean over neutral stimuli.

    A model that gives 0.4 of an emotion to faces without expression starts from there, not from 0.

    Parameters
    ----------
    models
        Answers of models, the neutral stimuli among them.
    neutral_stimuli
        Names of the stimuli that show nothing.

    Returns
    -------
    The same ratings, neutral stimuli included, less the means; values beyond the bounds of the
    scale are taken as the bound. The scale has no steps any more. Both are recorded in
    :attr:`~affectlab.ratings.Ratings.history`.

    Raises
    ------
    InputError
        When a stimulus is not known, or a model has no answer to a neutral stimulus on a label.

    References
    ----------
    Schuhmann et al. (2025), EmoNet-Face, appendix B.2, with 1,700 neutral faces.

    Examples
    --------
    >>> model = Ratings({"stimulus": ["calm", "a", "b"], "rater": ["m"] * 3, "value": [1, 4, 0]},
    ...                 scale="0-7")
    >>> found = neutral_calibrated(model, ["calm"])
    >>> found.value.tolist()
    [0.0, 3.0, 0.0]
    >>> str(found.history[-1])
    'answers are differences from the mean of 1 stimulus (neutral) of the same rater and label; ...'
    """
    check_models(models)
    names = {neutral_stimuli} if isinstance(neutral_stimuli, str) else set(neutral_stimuli)
    if not names:
        raise InputError("no neutral stimulus is given; expected their names")
    check_choices("stimulus", sorted(names), models.stimulus_names, "neutral_stimuli")
    scale = models.scale
    if scale.kind in ("nominal", "text"):
        raise InputError(
            f"the answers of models ({scale}) are no numbers; nothing can be subtracted"
        )
    value = np.array(models.value, dtype=np.float64)
    neutral = np.array([name in names for name in models.stimulus_names])[models.stimulus_code]
    group = models.rater_code.astype(np.int64) * models.n_labels + models.label_code
    used = neutral & ~np.isnan(value)
    size = models.n_raters * models.n_labels
    n = np.bincount(group[used], minlength=size)
    lacking = np.setdiff1d(group[~np.isnan(value)], np.flatnonzero(n))
    if lacking.size:
        rater, label = divmod(int(lacking[0]), models.n_labels)
        raise InputError(
            f"{models.rater_names[rater]!r} answered no neutral stimulus on label "
            f"{models.label_names[label]!r}; expected one or more"
        )
    mean = np.bincount(group[used], weights=value[used], minlength=size) / np.maximum(n, 1)
    value -= mean[group]
    low = -np.inf if scale.low is None else scale.low
    high = np.inf if scale.high is None else scale.high
    beyond = int(((value < low) | (value > high)).sum())
    done = step(StepKind.NEUTRAL_SUBTRACTED, n=len(names), beyond=beyond)
    loose = Scale("interval", scale.low, scale.high, declared=scale.declared)
    return models.with_values(np.clip(value, low, high), loose, step=done)
