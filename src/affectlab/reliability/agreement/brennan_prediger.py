"""Brennan and Prediger's coefficient: agreement beyond equally likely levels."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from affectlab.core.statistic import Statistic
from affectlab.core.types import Floats
from affectlab.ratings import Scale
from affectlab.ratings.arrays import Answers
from affectlab.reliability.agreement.beyond_chance import StandardError, beyond_chance
from affectlab.reliability.agreement.coefficient import coefficient
from affectlab.reliability.agreement.kappa import Weights

__all__ = ["brennan_prediger"]


@coefficient(title="Brennan-Prediger", graded={"weights": "quadratic"})
def brennan_prediger(
    answers: Answers,
    *,
    weights: Weights = "nominal",
    scale: Scale | str | ArrayLike | None = None,
    standard_error: StandardError = "linearised",
) -> Statistic:
    r"""Compute Brennan and Prediger's coefficient of each label, generalised to weights and gaps.

    As :func:`fleiss_kappa`, with the agreement of raters who choose among the q levels of the scale
    at random, each as likely as the others,

    .. math:: p_e = \frac{1}{q^2} \sum_{kl} w_{kl},

    which is 1/q with nominal weights. It is free of the paradoxes that kappa has where nearly all
    ratings fall on one level, and takes the levels that a scale declares for choices that raters
    had.

    Parameters
    ----------
    answers
        One answer of a rater to a unit and label.
    weights, scale, standard_error
        As for :func:`fleiss_kappa`. The result depends on how many levels the declared scale has,
        also on those that do not occur.

    Returns
    -------
    Estimates by ``label``, or one :class:`~affectlab.core.estimates.Estimate` for an array; at
    most 1, and ``nan`` with a status where no unit has two ratings.

    Raises
    ------
    InputError
        If a value is off the scale, or the scale has no levels.

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

    def chance(_: Any, agreement: Floats) -> Any:
        return agreement.mean()

    return beyond_chance(
        answers,
        chance,
        name="Brennan-Prediger coefficient",
        weights=weights,
        scale=scale,
        standard_error=standard_error,
    )
