"""Inventing transitions: how strong and how fast each person makes each expression."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from affectlab._types import Floats
from affectlab.errors import InputError
from affectlab.simulate._differences_faces import TRANSITION_EXPRESSIONS, peak_parameters
from affectlab.simulate._differences_transitions import DrawnTransition, DrawnTransitions
from affectlab.simulate._identity import Identity

__all__ = ["draw_transitions"]


def draw_transitions(
    actors: int | Sequence[str] = 8,
    expressions: int | Sequence[str] = 61,
    *,
    missing: Collection[tuple[str, str]] = (),
    fps: float = 30.0,
    pace: float = 1.0,
    seed: int = 0,
) -> DrawnTransitions:
    """Invent people who each make expressions and go back to rest, in their own time.

    Strength and pace differ between people and between expressions of one person: the peak has 30
    to 100 % of the drawn expression's strength; it is held for 200 to 500 ms; its release takes
    around 450 ms (log-normal, with an SD of 0.2 between people and of 0.35 within them); the upper
    half of the face follows up to a tenth of that later.

    Parameters
    ----------
    actors
        Names, or how many.
    expressions
        Names of :data:`TRANSITION_EXPRESSIONS`, or how many of them, from the first.
    missing
        Pairs of actor and expression that nobody filmed.
    fps
        Frames per second; MultiFace has 30.
    pace
        Multiplies all times: 2 is half as fast.
    seed
        Same seed, same transitions; those of a person do not depend on who else is there.

    Returns
    -------
    DrawnTransitions
        Times and strengths of every transition, their frames, true differences and pictures.

    Raises
    ------
    InputError
        When a number is out of range, a name is not known or stands twice, or nothing is left.

    References
    ----------
    FaceExpressions-70k (2025), section 3.2: peak and neutral are held, the change between is not
    linear. The numbers are ours.

    Examples
    --------
    >>> drawn = draw_transitions(2, ["joy", "wink-left"], seed=3)
    >>> drawn
    DrawnTransitions(4 of 2 people, 30 fps)
    >>> one = drawn.of("actor-1", "joy")
    >>> far = one.differences(0)
    >>> float(far[0]), bool(far[-1] > 40), bool((np.diff(far) >= 0).all())
    (0.0, True, True)
    """
    people = _named("actors", actors, None)
    shown = _named("expressions", expressions, TRANSITION_EXPRESSIONS)
    for name, value in (("fps", fps), ("pace", pace)):
        if not 0 < value < np.inf:
            raise InputError(f"{name} = {value!r}: expected a number above 0")
    absent = set(missing)
    made = []
    for number, actor in enumerate(people):
        own = np.random.default_rng([8_117, seed, number]).standard_normal(2)
        for expression in shown:
            if (actor, expression) not in absent:
                chance = np.random.default_rng(
                    [8_119, seed, number, TRANSITION_EXPRESSIONS.index(expression)]
                )
                made.append(_transition(actor, number, expression, own, chance, fps, pace))
    if not made:
        raise InputError("every transition is missing; expected at least one")
    return DrawnTransitions(tuple(made), float(fps), seed)


def _transition(
    actor: str,
    number: int,
    expression: str,
    own: Floats,
    chance: np.random.Generator,
    fps: float,
    pace: float,
) -> DrawnTransition:
    z = chance.standard_normal(2)
    strength = float(np.clip(0.8 * np.exp(0.1 * own[0] + 0.2 * z[0]), 0.3, 1.0))
    release = pace * 450.0 * float(np.exp(0.2 * own[1] + 0.35 * z[1]))
    return DrawnTransition(
        actor=actor,
        expression=expression,
        identity=Identity.from_seed(number),
        peak=peak_parameters(expression).scaled(strength),
        hold_ms=pace * float(chance.uniform(200.0, 500.0)),
        release_ms=release,
        lag_ms=release * float(chance.uniform(0.0, 0.1)),
        rest_ms=pace * float(chance.uniform(200.0, 500.0)),
        fps=float(fps),
    )


def _named(what: str, given: int | Sequence[str], known: tuple[str, ...] | None) -> tuple[str, ...]:
    if isinstance(given, int):
        most = len(known) if known is not None else 10_000
        if not 1 <= given <= most:
            raise InputError(f"{what} = {given}: expected 1 to {most:,}")
        return tuple(f"actor-{n + 1}" for n in range(given)) if known is None else known[:given]
    names = tuple(given)
    if not names or len(set(names)) < len(names):
        raise InputError(f"{what}: expected at least one name, none twice")
    for name in names:
        if known is not None:
            peak_parameters(name)
        elif not name or set(name) & set("/\\_"):
            raise InputError(
                f"{what}: {name!r}; expected a name without '_', '/' and '\\', as it becomes part "
                "of the names of folders"
            )
    return names
