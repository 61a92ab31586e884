"""Drawn transitions of expressions: from a peak that is held, through release, to rest."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from affectlab._types import Floats, Image
from affectlab.errors import InputError
from affectlab.simulate._differences_faces import (
    PARAMETERS,
    apart,
    parameter_rows,
    seen,
)
from affectlab.simulate._face import draw_face
from affectlab.simulate._identity import Identity
from affectlab.simulate._parameters import FaceParameters

__all__ = ["DrawnTransition", "DrawnTransitions"]

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
        if not 0 <= frame < self.n_frames:
            raise InputError(f"frame {frame}: expected 0 to {self.n_frames - 1}")
        row = self.rows(self.times_ms[frame : frame + 1])[0]
        return FaceParameters(**dict(zip(PARAMETERS, row.tolist(), strict=True)))

    def differences(self, frame: int) -> Floats:
        """Give the true difference of every frame from one of them, shape (n_frames,)."""
        looks = seen(self.rows())
        if not 0 <= frame < len(looks):
            raise InputError(f"frame {frame}: expected 0 to {len(looks) - 1}")
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
        if not step_ms > 0:
            raise InputError(f"step_ms = {step_ms}: expected a time above 0")
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
        for what, table, wanted in (("frames", frames, _OF_FRAMES), ("pairs", pairs, _OF_PAIRS)):
            for name in wanted:
                if name not in table.columns:
                    raise InputError(
                        f"the table of {what} has no column {name!r}; expected {', '.join(wanted)}"
                    )
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
