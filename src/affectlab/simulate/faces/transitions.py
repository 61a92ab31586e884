"""Drawn transitions of expressions: from a peak that is held, through release, to rest."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from affectlab.core.errors import InputError, check_choice, check_number
from affectlab.core.files.columns import require_columns
from affectlab.core.types import Floats, Image
from affectlab.simulate.faces.expressions import EXPRESSIONS, expression_parameters, peaks_of
from affectlab.simulate.faces.face import draw_face
from affectlab.simulate.faces.identity import Identity
from affectlab.simulate.faces.parameters import FaceParameters

# How different two drawn faces truly are: a metric on what can be seen of their parameters.


PARAMETERS: tuple[str, ...] = tuple(field.name for field in fields(FaceParameters))
"""Names of the parameters of a drawn face, in the order of the columns of an array of faces."""

_MOVEMENTS = peaks_of("movements.toml")
TRANSITION_EXPRESSIONS: tuple[str, ...] = (
    *(name for name in EXPRESSIONS if name != "neutral"),
    *_MOVEMENTS,
)
"""Expressions of drawn transitions: ten emotions and 51 movements of parts of the face."""

_MOST, _SCALE = 85.0, 0.38
"""Largest difference of two faces, and how far faces lie apart that have 63 % of it."""

# How much each visible feature changes the look of a drawn face when it moves by 1: the mouth and
# the jaw most, lids, chin and colour least.
_WEIGHTS: dict[str, float] = {
    "brow_left": 0.55, "brow_right": 0.55, "brow_inner": 0.5, "brow_outer": 0.4,
    "brow_pinch": 0.45, "eye_left": 0.6, "eye_right": 0.6, "eye_squint": 0.45, "lid_droop": 0.35,
    "gaze_x": 0.5, "gaze_y": 0.5, "cheek_raise": 0.35, "nose_wrinkle": 0.6, "upper_lip": 0.5,
    "corner_left": 0.65, "corner_right": 0.65, "lip_stretch": 0.7, "lip_press": 0.45,
    "mouth_open": 0.9, "jaw_drop": 0.9, "mouth_square": 0.5, "teeth_upper": 0.5,
    "teeth_lower": 0.5, "chin_raise": 0.45, "blush": 0.3, "head_tilt": 0.8, "head_pitch": 0.7,
}  # fmt: skip


def true_difference(
    first: FaceParameters | Sequence[FaceParameters],
    second: FaceParameters | Sequence[FaceParameters],
) -> float | Floats:
    r"""Say how different drawn faces of one person truly are, on a scale from 0 to 100.

    .. math:: D(a, b) = 85 \left(1 - e^{-\lVert \varphi(a) - \varphi(b) \rVert / \tau}\right),
        \qquad \tau = 0.38

    where :math:`\varphi` holds what can be seen of the parameters, each with a weight: both eyes
    and both corners of the mouth on their own, teeth only as far as the mouth is open, the gaze
    only as far as the eyes are. Large differences saturate, as answers on a slider do. Two faces
    that look the same have the difference 0, and the triangle inequality holds. The weights are
    ours: this is the truth of a simulation, not a model of perception.

    Parameters
    ----------
    first, second
        Parameters of a face each, or as many of both.

    Returns
    -------
    A number, or an array of shape (n,), in [0, 85).

    Raises
    ------
    InputError
        When there are not as many faces on both sides.

    Examples
    --------
    >>> from affectlab.simulate.faces import expression_parameters
    >>> rest, joy = FaceParameters(), expression_parameters("joy")
    >>> [round(true_difference(rest, expression_parameters("joy", part))) for part in (0.1, 0.5, 1)]
    [20, 63, 80]
    >>> true_difference(joy, joy)
    0.0
    """
    one = isinstance(first, FaceParameters) and isinstance(second, FaceParameters)
    sides = [
        seen(parameter_rows([side] if isinstance(side, FaceParameters) else side))
        for side in (first, second)
    ]
    if len(sides[0]) != len(sides[1]):
        raise InputError(
            f"{len(sides[0])} and {len(sides[1])} faces; expected as many on both sides"
        )
    found = apart(*sides)
    return float(found[0]) if one else found


def parameter_rows(faces: Sequence[FaceParameters]) -> Floats:
    """Put faces into an array of shape (n, parameters), see :data:`PARAMETERS`."""
    rows = [[getattr(face, name) for name in PARAMETERS] for face in faces]
    return np.array(rows, dtype=np.float64).reshape(len(faces), len(PARAMETERS))


def seen(rows: Floats) -> Floats:
    """Give what can be seen of parameters of shape (n, parameters), weighted: (n, features)."""
    of = {name: rows[:, column] for column, name in enumerate(PARAMETERS)}
    shut = np.maximum(-of["eye_open"], 0.0)
    wide = np.maximum(of["eye_open"], 0.0)
    closed = {side: shut + (1.0 - shut) * of[f"wink_{side}"] for side in ("left", "right")}
    looking = 1.0 - 0.5 * (closed["left"] + closed["right"])
    derived = {
        **{f"eye_{side}": wide * (1.0 - of[f"wink_{side}"]) - closed[side] for side in closed},
        **{f"brow_{side}": of["brow_raise"] + of[f"brow_{side}"] for side in closed},
        **{f"corner_{side}": of["lip_corner"] + of[f"corner_{side}"] for side in closed},
        **{name: of[name] * looking for name in ("gaze_x", "gaze_y")},
        **{
            name: of[name] * of["mouth_open"]
            for name in ("mouth_square", "teeth_upper", "teeth_lower")
        },
    }
    visible = of | derived
    columns = [weight * visible[name] for name, weight in _WEIGHTS.items()]
    return np.stack(columns, axis=1)


def apart(first: Floats, second: Floats) -> Floats:
    """Give the true difference of each row of features to the same row of others, shape (n,)."""
    length = np.sqrt(((first - second) ** 2).sum(axis=-1))
    found: Floats = -_MOST * np.expm1(-length / _SCALE)
    return found


def peak_parameters(expression: str) -> FaceParameters:
    """Give the peak of an expression of :data:`TRANSITION_EXPRESSIONS`.

    Raises
    ------
    InputError
        When the name is not known.
    """
    check_choice("expression", expression, TRANSITION_EXPRESSIONS)
    if expression in EXPRESSIONS:
        return expression_parameters(expression)
    return _MOVEMENTS[expression]


_UPPER = ("brow", "eye", "lid", "gaze", "wink")
_OF_FRAMES = ("actor", "expression", "role", "frame")
_OF_PAIRS = ("actor", "expression_a", "role_a", "expression_b", "role_b")


@dataclass(frozen=True)
class DrawnTransition:
    """One invented person's expression, from its peak back to rest, with a known time course.

    The peak is held for `hold_ms`; then every parameter goes to rest on the smoothest way there is
    (least jerk), :math:`1 - (10 x^3 - 15 x^4 + 6 x^5)` with :math:`x` from 0 to 1 over
    `release_ms`. The upper half of the face is released `lag_ms` later. Rest is held at the end.
    """

    actor: str
    expression: str
    identity: Identity
    peak: FaceParameters
    """The peak as this person makes it."""
    hold_ms: float
    release_ms: float
    lag_ms: float
    rest_ms: float
    fps: float

    @property
    def n_frames(self) -> int:
        """Number of frames."""
        length = self.hold_ms + self.release_ms + self.lag_ms + self.rest_ms
        return int(length * self.fps / 1000.0) + 1

    @property
    def times_ms(self) -> Floats:
        """Time of every frame in milliseconds since the first, shape (n_frames,)."""
        return np.arange(self.n_frames, dtype=np.float64) * (1000.0 / self.fps)

    def rows(self, times_ms: Floats | None = None) -> Floats:
        """Give the parameters of the face at times: shape (n, parameters); of all frames if none
        are given."""
        times = self.times_ms if times_ms is None else np.asarray(times_ms, dtype=np.float64)
        upper = np.array([name.startswith(_UPPER) for name in PARAMETERS])
        start = self.hold_ms + np.where(upper, self.lag_ms, 0.0)
        x = np.clip((times[:, None] - start) / self.release_ms, 0.0, 1.0)
        left = 1.0 - x**3 * (10.0 - 15.0 * x + 6.0 * x**2)
        return np.asarray(left * parameter_rows([self.peak]), dtype=np.float64)

    def face(self, frame: int) -> FaceParameters:
        """Give the face of a frame, counted from 0 at the peak."""
        check_number("frame", frame, 0, self.n_frames - 1, whole=True)
        row = self.rows(self.times_ms[frame : frame + 1])[0]
        return FaceParameters(**dict(zip(PARAMETERS, row.tolist(), strict=True)))

    def differences(self, frame: int) -> Floats:
        """Give the true difference of every frame from one of them, shape (n_frames,)."""
        looks = seen(self.rows())
        check_number("frame", frame, 0, len(looks) - 1, whole=True)
        return apart(looks, looks[frame])

    def fastest(
        self, difference: float, *, step_ms: float = 1.0, most_ms: float = math.inf
    ) -> float:
        """Find the shortest time in which the face changes by so much, at any moment.

        Parameters
        ----------
        difference
            True difference from 0 to 100.
        step_ms
            Times are looked at in these steps, and given in whole ones.
        most_ms
            Where to give up.

        Returns
        -------
        Milliseconds; ``inf`` where the face does not change by so much within `most_ms`.
        """
        check_number("step_ms", step_ms, 0, above=True)
        looks = seen(self.rows(np.arange(0.0, self.times_ms[-1] + step_ms, step_ms)))
        last = int(min(len(looks) - 1, most_ms / step_ms))
        for lag in range(1, last + 1):
            if (apart(looks[lag:], looks[:-lag]) >= difference).any():
                return lag * step_ms
        return math.inf

    def draw(self, frame: int, *, size: int = 256) -> Image.Image:
        """Draw a frame."""
        return draw_face(self.face(frame), 1.0, self.identity, size=size)


@dataclass(frozen=True)
class DrawnTransitions:
    """Transitions of invented people, see :func:`affectlab.simulate.draw_transitions`."""

    transitions: tuple[DrawnTransition, ...]
    fps: float
    seed: int

    @cached_property
    def _by_name(self) -> Mapping[tuple[str, str], DrawnTransition]:
        return {(one.actor, one.expression): one for one in self.transitions}

    @property
    def actors(self) -> tuple[str, ...]:
        """Names of the people, in order."""
        return tuple(dict.fromkeys(one.actor for one in self.transitions))

    def __len__(self) -> int:
        return len(self.transitions)

    def __repr__(self) -> str:
        return f"DrawnTransitions({len(self):,} of {len(self.actors):,} people, {self.fps:g} fps)"

    def of(self, actor: str, expression: str) -> DrawnTransition:
        """Give the transition of a person and an expression.

        Raises
        ------
        InputError
            When there is none.
        """
        if (actor, expression) not in self._by_name:
            raise InputError(f"no drawn transition of {actor!r}, {expression!r}")
        return self._by_name[actor, expression]

    def frames(self) -> pl.DataFrame:
        """Give one row per frame: ``actor, expression, frame, time_ms``."""
        parts = [
            pl.DataFrame({"frame": np.arange(one.n_frames), "time_ms": one.times_ms}).select(
                pl.lit(one.actor).alias("actor"),
                pl.lit(one.expression).alias("expression"),
                "frame",
                "time_ms",
            )
            for one in self.transitions
        ]
        return pl.concat(parts)

    def truth(self, pairs: pl.DataFrame, frames: pl.DataFrame) -> Floats:
        """Give the true difference of every pair, see :func:`true_difference`.

        Parameters
        ----------
        pairs
            ``actor, expression_a, role_a, expression_b, role_b``, as
            :func:`affectlab.stimuli.pair_design` makes them.
        frames
            Which frame each role is: ``actor, expression, role, frame``, counted from 0.

        Returns
        -------
        Shape (n_pairs,), from 0 to 100.

        Raises
        ------
        InputError
            When a column is missing, or a pair names a frame that is not there.
        """
        require_columns(frames, _OF_FRAMES, "the table of frames: ")
        require_columns(pairs, _OF_PAIRS, "the table of pairs: ")
        looks: list[Floats] = []
        place: dict[tuple[str, ...], int] = {}
        for key, part in frames.group_by("actor", "expression", maintain_order=True):
            actor, expression = (str(name) for name in key)
            one = self.of(actor, expression)
            looks.append(seen(one.rows()[part["frame"].to_numpy()]))
            for role in part["role"].to_list():
                place[actor, expression, str(role)] = len(place)
        sides = []
        for side in "ab":
            names = pairs.select("actor", f"expression_{side}", f"role_{side}")
            try:
                sides.append(np.array([place[name] for name in names.iter_rows()], dtype=np.int64))
            except KeyError as missing:
                actor, expression, role = missing.args[0]
                raise InputError(
                    f"a pair names the frame {role!r} of {actor!r}, {expression!r}; the table of "
                    "frames has no such row"
                ) from None
        everything = np.concatenate(looks)
        return apart(everything[sides[0]], everything[sides[1]])

    def save(self, path: str | Path, *, size: int = 256) -> pl.DataFrame:
        """Draw all frames into ``ACTOR_EXPRESSION/NUMBER.png``, as films are expected.

        Returns
        -------
        :meth:`frames` with a column ``file``, relative to `path`.
        """
        folder = Path(path)
        table = self.frames().with_columns(
            pl.format("{}_{}/{}.png", "actor", "expression", "frame").alias("file")
        )
        for actor, expression, frame, _, file in table.iter_rows():
            place = folder / file
            place.parent.mkdir(parents=True, exist_ok=True)
            self.of(actor, expression).draw(frame, size=size).save(place)
        return table


# Inventing transitions: how strong and how fast each person makes each expression.


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

        ``of(actor, expression)`` gives one, with ``times_ms``, ``differences(frame)``,
        ``fastest(difference)`` and ``draw(frame)``; ``frames()`` is a table of all frames,
        ``truth(pairs, frames)`` the true differences of pairs, ``save(path)`` draws all.

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
        check_number(name, value, 0, above=True)
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
        check_number(what, given, 1, len(known) if known is not None else 10_000)
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
