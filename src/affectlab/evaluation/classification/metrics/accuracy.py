"""How often the label is right, or on the right side."""

from __future__ import annotations

from affectlab.core.arrays import ratio
from affectlab.core.types import Floats
from affectlab.evaluation.classification.metrics.metric import class_metric
from affectlab.evaluation.classification.tally import Tally


@class_metric(title="accuracy", kind="share")
def accuracy(tally: Tally) -> Floats:
    r"""Compute the share of items whose label is right.

    .. math:: \mathrm{ACC} = N_c / N

    Returns
    -------
    In [0, 1]; ``nan`` when there are no items.

    References
    ----------
    Zhao et al. (2024), To Err Like Human, equation 2.

    Examples
    --------
    >>> accuracy(["awe", "fear", "awe"], ["awe", "anger", "Awe"], "mikels")
    0.6666666666666666
    """
    return ratio(tally.hits, tally.n)


acc = accuracy


@class_metric(title="ACC2", kind="share", needs="polarity")
def acc2(tally: Tally) -> Floats:
    """Compute the share of items whose predicted label has the polarity of the true one.

    Polarities are compared as they are named: two ambiguous labels share one.

    Returns
    -------
    In [0, 1], never below the accuracy; ``nan`` when there are no items.

    References
    ----------
    Zhao et al. (2024), To Err Like Human, section 4.3.

    Examples
    --------
    >>> acc2(["awe", "fear", "awe"], ["excitement", "anger", "fear"], "mikels")
    0.6666666666666666
    >>> acc2(["cat", "dog"], ["lynx", "cat"],
    ...      groups={"cat": "feline", "lynx": "feline", "dog": "canine"})
    0.5
    """
    return ratio(tally.same_side, tally.n)
