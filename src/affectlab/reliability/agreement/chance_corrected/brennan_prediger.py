"""Brennan and Prediger's coefficient: agreement beyond equally likely levels."""

from __future__ import annotations

from typing import Any

from affectlab.core.types import Floats
from affectlab.reliability.agreement.chance_corrected.beyond_chance import beyond_chance


@beyond_chance(title="Brennan-Prediger", name="Brennan-Prediger coefficient")
def brennan_prediger(_pi: Any, agreement: Floats) -> Any:
    r"""Compute Brennan and Prediger's coefficient of each label, generalised to weights and gaps.

    As :func:`fleiss_kappa`, with the agreement of raters who choose among the q levels of the scale
    at random, each as likely as the others,

    .. math:: p_e = \frac{1}{q^2} \sum_{kl} w_{kl},

    which is 1/q with nominal weights. It is free of the paradoxes that kappa has where nearly all
    ratings fall on one level, and takes the levels that a scale declares for choices that raters
    had: the result depends on how many there are, also on those that do not occur.

    References
    ----------
    Brennan and Prediger (1981), Educational and Psychological Measurement 41. Gwet (2014), Handbook
    of Inter-Rater Reliability, 4th edition, for weights and gaps.

    Examples
    --------
    Of three pairs of answers one differs: (2/3 - 1/2) / (1 - 1/2).

    >>> round(brennan_prediger([[1, 1, 2], [1, 2, 2]], scale="1-2").value, 4)
    0.3333
    """
    return agreement.mean()
