"""Simulated participants of any kind of study."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from affectlab.study._crowd_frame import draw_visitors
from affectlab.study._crowd_preference import draw_judges
from affectlab.study._crowd_reaction import draw_writers
from affectlab.study._people import draw_people
from affectlab.study._people_pairs import draw_comparers, draw_observers
from affectlab.study._store import Store

__all__ = ["Simulated", "draw_simulated"]


class Simulated(Protocol):
    """Simulated people, and what was planted for them to find."""

    @property
    def profiles(self) -> tuple[Any, ...]:
        """Who they are; each has a ``name``."""
        ...

    @property
    def truth(self) -> Any:
        """The truth that was planted, with ``to_frame()``."""
        ...

    @property
    def seconds(self) -> Mapping[tuple[str, str], float]:
        """Time that (person, stimulus) takes."""
        ...

    def about(self, number: int) -> dict[str, Any]:
        """What the export says of one of them."""
        ...

    def answer(
        self,
        store: Store,
        number: int,
        stimulus: str,
        trial: Mapping[str, Any],
        again: bool,
    ) -> dict[str, Any]:
        """Answer a trial, as the page got it, as one of them would."""
        ...


_Draw = Callable[[Store, int, int, int], Simulated]
_BY_STIMULUS: dict[str, _Draw] = {"two options": draw_judges, "image pair": draw_comparers}
_BY_ANSWER: dict[str, _Draw] = {"entries": draw_writers, "trials": draw_visitors}


def draw_simulated(store: Store, n: int, careless: int, seed: int) -> Simulated:
    """Draw people who can answer a study, the same for the same seed.

    Parameters
    ----------
    store
        The open study.
    n, careless
        Number of people, and of those among them who do not look.

    Raises
    ------
    InputError
        When there are more careless people than people, or nobody can be simulated for the study.
    """
    protocol = store.study.protocol
    if protocol.staircase is not None:
        return draw_observers(store, n, careless, seed)
    by_answer = _BY_ANSWER.get(protocol.answer, draw_people)
    return _BY_STIMULUS.get(protocol.stimulus, by_answer)(store, n, careless, seed)
