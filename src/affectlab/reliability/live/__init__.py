"""Reliability of a study while it runs."""

from affectlab.reliability.live.raters import RaterChecks
from affectlab.reliability.live.running import RunningReliability

__all__ = [
    "RaterChecks",
    "RunningReliability",
]
