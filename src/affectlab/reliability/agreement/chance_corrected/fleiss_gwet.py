"""Fleiss' kappa and Gwet's AC1 and AC2: agreement of any number of raters on a declared scale."""

from __future__ import annotations

from typing import Any

from affectlab.core.types import Floats
from affectlab.reliability.agreement.chance_corrected.beyond_chance import beyond_chance


@beyond_chance(title="Fleiss' kappa", by_margins=True)
def fleiss_kappa(pi: Any, agreement: Floats) -> Any:
    r"""Compute Fleiss' kappa of each label, generalised to weights and to gaps.

    With :math:`r_{uk}` ratings of level k in unit u, :math:`m_u` in all, agreement weights
    :math:`w_{kl} = 1 - d_{kl} / \max d`, and :math:`r^*_{uk} = \sum_l w_{kl} r_{ul}`,

    .. math::

        p_a = \frac{1}{n_2} \sum_{u: m_u \ge 2} \sum_k
            \frac{r_{uk} (r^*_{uk} - 1)}{m_u (m_u - 1)}, \quad
        \pi_k = \frac{1}{n} \sum_u \frac{r_{uk}}{m_u}, \quad
        p_e = \sum_{kl} w_{kl} \pi_k \pi_l, \quad
        \kappa = \frac{p_a - p_e}{1 - p_e}.

    With the same number of ratings for every unit and nominal weights this is the coefficient of
    Fleiss (1971). Where the number varies, every unit weighs the same (Gwet 2014), and units with
    one rating count for :math:`\pi_k` only.

    References
    ----------
    Fleiss (1971), Psychological Bulletin 76. Gwet (2014), Handbook of Inter-Rater Reliability,
    4th edition.

    Examples
    --------
    >>> ratings = [[1, 2, 3, 3, 2], [1, 2, 3, 3, 2], [1, 3, 3, 3, 1]]
    >>> round(fleiss_kappa(ratings, scale="1-3").value, 4)
    0.5833
    """
    return ((pi @ agreement) * pi).sum(axis=1)


@beyond_chance(
    title="Gwet's AC",
    name=lambda weights: "Gwet's AC1" if weights == "nominal" else "Gwet's AC2",
)
def gwet_ac(pi: Any, agreement: Floats) -> Any:
    r"""Compute Gwet's AC1 (nominal weights) or AC2 (weighted) of each label.

    As :func:`fleiss_kappa`, with another agreement by chance on the q levels of the scale,

    .. math:: p_e = \frac{\sum_{kl} w_{kl}}{q (q - 1)} \sum_k \pi_k (1 - \pi_k).

    It stays high where nearly all ratings fall on one level, where kappa drops to zero. The result
    depends on how many levels the declared scale has, also on those that do not occur.

    References
    ----------
    Gwet (2008), British Journal of Mathematical and Statistical Psychology 61. Gwet (2014),
    Handbook of Inter-Rater Reliability, 4th edition.

    Examples
    --------
    >>> ratings = [[1, 2, 3, 3, 2], [1, 2, 3, 3, 2], [1, 3, 3, 3, 1]]
    >>> round(gwet_ac(ratings, scale="1-3").value, 4)
    0.6078
    """
    q = agreement.shape[0]
    return agreement.sum() / (q * (q - 1)) * (pi * (1 - pi)).sum(axis=1)
