"""Losses and decisions that know which mistakes are worse.

Costs of mistakes are found by label name, in a taxonomy or a
:class:`~affectlab.taxonomy.CostMatrix`. :func:`soft_labels` and the decisions need
numpy alone; :func:`list_mle` and the modules need the extra ``models``, which is imported when they
are first used.
"""

from typing import TYPE_CHECKING

from affectlab.core.interface.lazy import lazily
from affectlab.models.losses.costs import (
    Order as Order,
    costs_among as costs_among,
    expected_cost_labels,
    expected_costs,
    soft_labels,
)

if TYPE_CHECKING:
    from affectlab.models.losses.modules import EmotionRankLoss, SoftLabelLoss
    from affectlab.models.losses.ranking import Ties as Ties, list_mle

__all__ = [
    "EmotionRankLoss",
    "SoftLabelLoss",
    "expected_cost_labels",
    "expected_costs",
    "list_mle",
    "soft_labels",
]

if not TYPE_CHECKING:
    # Load what needs torch when it is first used.
    __getattr__, __dir__ = lazily(__name__, __all__, first="affectlab.models.devices")
