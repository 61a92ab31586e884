"""A crowd study as it went: sessions are judged as they end, and others fill up the batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from affectlab.core.errors import InputError
from affectlab.core.types import Bools, Floats, Ints

if TYPE_CHECKING:
    from affectlab.ratings import Ratings
    from affectlab.reliability.screening import Screening
    from affectlab.simulate.differences import DifferencePeople, DifferenceSimulation

__all__ = ["LiveStudy", "live_study"]


@dataclass(frozen=True, eq=False)
class LiveStudy:
    """All sessions of a study that ended when every batch had enough valid ones."""

    simulation: DifferenceSimulation
    """Every session, the rejected ones too."""
    screening: Screening
    valid: Ratings
    """Answers of the valid sessions."""
    rounds: int

    @property
    def rejected(self) -> pl.DataFrame:
        """Sessions that were rejected: ``rater, session, careless, rules``."""
        judged = self.screening.to_frame().filter(~pl.col("use"))
        planted = self.simulation.sessions.select("session", "careless")
        return judged.select("rater", "session", "rules").join(planted, on="session", how="left")


def live_study(
    pairs: pl.DataFrame,
    truth: Floats,
    people: DifferencePeople,
    *,
    raters: int,
    most_sessions: int,
    policy: str = "faceexpressions",
    seed: int = 0,
    **noise: Any,
) -> LiveStudy:
    """Give batches to people until each has `raters` valid sessions.

    In every round each person who is not blocked, and has not had `most_sessions`, takes one batch
    that is still wanted and that they have not had. The sessions are screened; those that are
    rejected open their batch again, and the policy blocks people.

    Raises
    ------
    InputError
        When nobody is left who could take a batch that is still wanted.

    References
    ----------
    FaceExpressions-70k (2025), sections 3.4.3 to 3.4.5.
    """
    from affectlab.reliability import screen
    from affectlab.simulate import simulate_differences

    rng = np.random.default_rng([9_011, seed])
    names = pairs["batch"].cast(pl.String).unique(maintain_order=True).to_list()
    place = {name: number for number, name in enumerate(people.names)}
    wanted = np.full(len(names), raters)
    had = np.zeros((len(people), len(names)), dtype=bool)
    rejections = np.zeros(len(people), dtype=np.int64)
    blocked = np.zeros(len(people), dtype=bool)
    limit = _rejections(policy)
    parts, rounds = [], 0
    while wanted.any():
        free = ~blocked & (had.sum(axis=1) < most_sessions)
        who, which = _taken(wanted, had, free, rng)
        if not who.size:
            short = int((wanted > 0).sum())
            raise InputError(
                f"{short:,} of {len(names):,} batches have fewer than {raters} valid sessions, and "
                "nobody is left to rate them; expected more people"
            )
        rounds += 1
        had[who, which] = True
        dealt = pl.DataFrame(
            {
                "rater": [people.names[person] for person in who],
                "batch": [names[batch] for batch in which],
            }
        )
        parts.append(dealt)
        answered = simulate_differences(
            pairs, truth, people=people, sessions=dealt, seed=seed, **noise
        )
        judged = screen(answered.ratings, policy=policy, golden=answered.golden).to_frame()
        person = np.array([place[name] for name in judged["rater"]])
        use = judged["use"].to_numpy()
        of_session = dict(zip(answered.sessions["session"], which.tolist(), strict=True))
        batch = np.array([of_session[name] for name in judged["session"]])
        np.subtract.at(wanted, batch[use], 1)
        np.add.at(rejections, person[~judged["pay"].to_numpy()], 1)
        blocked[person[judged["block"].to_numpy()]] = True
        blocked |= rejections >= limit
    everything = simulate_differences(
        pairs, truth, people=people, sessions=pl.concat(parts), seed=seed, **noise
    )
    screening = screen(everything.ratings, policy=policy, golden=everything.golden)
    return LiveStudy(everything, screening, screening.apply(everything.ratings), rounds)


def _rejections(policy: str) -> float:
    from affectlab.reliability import load_policy

    most = load_policy(policy).block.rejected_sessions
    return np.inf if most is None else most


def _taken(wanted: Ints, had: Bools, free: Bools, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Let each free person take a batch, those that want most people first."""
    left = wanted.astype(np.float64)
    who, which = [], []
    for person in rng.permutation(np.flatnonzero(free)):
        choice = np.where(had[person] | (left <= 0), -1.0, left + rng.random(left.size))
        batch = int(choice.argmax())
        if choice[batch] > 0:
            left[batch] -= 1.0
            who.append(int(person))
            which.append(batch)
    return np.array(who, dtype=np.int64), np.array(which, dtype=np.int64)
