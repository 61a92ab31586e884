"""What staircases found in words: one template for each kind of fact."""

from __future__ import annotations

from typing import TYPE_CHECKING

from affectlab.core.wording import reason_text

if TYPE_CHECKING:
    from affectlab.analysis.jnd.pooling import TransitionJnd
    from affectlab.analysis.jnd.staircase import JndStatus
    from affectlab.core.facts import Reason


def jnd_status_text(status: JndStatus, reason: Reason | None) -> str:
    """Say what stands in the way of a result."""
    return status.value if reason is None else f"{status.value}: {reason_text(reason)}"


def transition_status_text(found: TransitionJnd) -> str:
    """Say what stands in the way of five frames, from either end."""
    if found.reason is not None:
        return jnd_status_text(found.status, found.reason)
    return "; ".join(
        f"from {end.anchor}: {jnd_status_text(end.status, end.reason)}"
        for end in found.results
        if not end.ok
    )
