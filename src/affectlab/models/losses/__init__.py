"""Losses and decisions that know which mistakes are worse.

Costs of mistakes are found by label name, in a taxonomy or a
:class:`~affectlab.taxonomy.CostMatrix`. :func:`soft_labels` and the decisions need
numpy alone; :func:`list_mle` and the modules need the extra ``models``, which is imported when they
are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from affectlab.models.losses.costs import expected_cost_labels, expected_costs, soft_labels

if TYPE_CHECKING:
    from affectlab.models.losses.modules import EmotionRankLoss, SoftLabelLoss
    from affectlab.models.losses.ranking import list_mle

__all__ = [
    "EmotionRankLoss",
    "SoftLabelLoss",
    "expected_cost_labels",
    "expected_costs",
    "list_mle",
    "soft_labels",
]

_LATER = {
    "EmotionRankLoss": "modules",
    "SoftLabelLoss": "modules",
    "list_mle": "ranking",
}


def __getattr__(name: str) -> Any:
    """Load what needs torch when it is first used."""
    if name in _LATER:
        # Where torch is not installed, this says so, and what to install.
        import_module("affectlab.models.devices")
        return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
