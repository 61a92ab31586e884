"""What a table of ratings tells of how it was read, as facts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from affectlab.ratings import GuessedColumnsWarning, Ratings, Step, StepKind

LISTS = (list, tuple)


def kinds(ratings: Ratings) -> list[StepKind]:
    """Give the kinds of the steps of the history."""
    return [one.kind for one in ratings.history]


def facts(ratings: Ratings, kind: StepKind) -> dict[str, Any]:
    """Give the facts of the one step of a kind."""
    (found,) = [one for one in ratings.history if one.kind is kind]
    return dict(found.facts)


def holds(step: Step, kind: StepKind, **expected: Any) -> bool:
    """Whether a step is of a kind, with these facts among its own."""
    return step.kind is kind and all(step.get(name) == fact for name, fact in expected.items())


@contextmanager
def guessing(kind: StepKind, **expected: Any) -> Iterator[None]:
    """Expect the warning of a guess of a kind, with these facts among its own."""
    with pytest.warns(GuessedColumnsWarning) as caught:
        yield
    steps = [
        one
        for w in caught
        if isinstance(w.message, GuessedColumnsWarning)
        for one in w.message.steps
    ]
    assert any(holds(one, kind, **expected) for one in steps), steps
