"""Warnings of metrics that are learned."""

from __future__ import annotations

__all__ = [
    "FallingLossWarning",
    "SeenActorWarning",
    "SmallScoresWarning",
    "UnfinishedLearningWarning",
]


class FallingLossWarning(UserWarning):
    """A loss can fall below 0 without end, since some weights are below 0."""


class SeenActorWarning(UserWarning):
    """A learned metric rates pairs of actors that it was learned from."""


class SmallScoresWarning(UserWarning):
    """All scores lie so near 0 that they seem to be on a smaller scale."""


class UnfinishedLearningWarning(UserWarning):
    """Learning stopped before its tolerance was reached."""
