"""What staircases found in words: one template for each kind of fact."""

from __future__ import annotations

from affectlab.core.facts import Reason


def jnd_status_text(status: str, reason: Reason | None) -> str:
    """Say what stands in the way of a result."""
    return status if reason is None else f"{status}: {reason}"


def end_status_text(anchor: str, status: str, reason: Reason | None) -> str:
    """Say the same of the run from one end."""
    return f"from {anchor}: {jnd_status_text(status, reason)}"
