"""What learns, and what is learned, under one name each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from affectlab.core.words import plural
from affectlab.models.differences.learned.samples import PairSamples
from affectlab.models.differences.learned.settings import (
    LearnerSettings,
    RidgeSettings,
    SvrSettings,
)
from affectlab.models.differences.learned.trainers.distances import (
    LinearDistance,
    SiameseDistance,
)

__all__ = ["Distance", "Trainer", "trainer_of", "unfinished"]

Distance: TypeAlias = LinearDistance | SiameseDistance
"""What is learned."""


class Trainer(Protocol):
    """Learns from the pairs of any of the actors."""

    def fit(self, actors: Iterable[int]) -> Distance:
        """Learn from the pairs of some actors."""
        ...


def unfinished(details: Sequence[Mapping[str, Any]], learner: str) -> str:
    """Say that learning stopped before it had converged; empty where it had, every time."""
    n = sum(one.get("converged") is False for one in details)
    if not n:
        return ""
    gaps = [one["gap"] for one in details if one.get("converged") is False and "gap" in one]
    said = f", with a gap of up to {max(gaps):.2g}" if gaps else ""
    where = f"in {n} of {plural(len(details), 'split')}" if len(details) > 1 else "here"
    more = "strength or tolerance" if learner == "svr" else "strength"
    return f"{learner} stopped {where} before it had converged{said}; expected a higher {more}"


def trainer_of(data: PairSamples, settings: LearnerSettings, seed: int) -> Trainer:
    """Make what learns, and all that it needs only once for the data.

    Raises
    ------
    InputError
        When the data are too large for the learner.
    MissingDependencyError
        When it needs torch, which is not installed.
    """
    if isinstance(settings, SvrSettings):
        from affectlab.models.differences.learned.trainers.svr import SvrTrainer

        return SvrTrainer(data, settings)
    if isinstance(settings, RidgeSettings):
        from affectlab.models.differences.learned.trainers.ridge import RidgeTrainer

        return RidgeTrainer(data, settings)
    # Before torch itself, to say what to install where it is not.
    import affectlab.models.devices  # noqa: F401
    from affectlab.models.differences.learned.trainers.siamese_training import (
        SiameseTrainer,
    )

    made: Any = SiameseTrainer(data, settings, seed)
    trainer: Trainer = made
    return trainer
