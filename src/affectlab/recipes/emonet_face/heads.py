"""Head banks trained as in appendix B.2, on drawn embeddings of invented faces."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from affectlab.core.environment.installing import install_line
from affectlab.core.types import Floats
from affectlab.recipes.emonet_face.agreement import LARGE, SMALL, STAND_INS
from affectlab.recipes.emonet_face.people import Faces, faces
from affectlab.recipes.threads import one_thread

if TYPE_CHECKING:
    from affectlab.ratings import Ratings

__all__ = ["HEADS_MISSING", "HeadSize", "Heads", "has_torch", "train_heads"]

HEADS_MISSING = f"heads need torch: {install_line('models')}"

_MACHINE_NOISE = 1.0
"""Errors of the machine that rates the large set, in points of the scale."""
_PICTURE_NOISE = 0.35
"""Errors of embeddings, beside a spread of about 1 that emotions give them."""
_TOP = 5
"""Emotions that the machine names for a face; all others count as 0."""


@dataclass(frozen=True)
class HeadSize:
    """How much is trained on, and how long."""

    width: int
    """Of the embeddings."""
    big: int
    """Faces that a machine rated."""
    binary: int
    """Faces that experts said yes or no about."""
    neutral: int
    epochs: int
    paper_shapes: bool
    """Whether heads have the layers of the paper, or a single small one."""


@dataclass(frozen=True)
class Heads:
    """What both banks say of the faces that are judged."""

    answers: Ratings
    n_neutral: int
    note: str


def has_torch() -> bool:
    """Say whether heads can be trained here."""
    from importlib.util import find_spec

    return find_spec("torch") is not None


def train_heads(shown: Faces, size: HeadSize, seed: int) -> Heads:
    """Train a small and a large bank, and let them rate faces that neither has seen."""
    from affectlab.models.heads import BIG, SMALL as SMALL_SHAPE, HeadBank, HeadShape, Stage

    eye = _Eye(size.width, len(shown.truth.labels), seed)
    big, binary, scale = (
        faces(n, seed, what=what)
        for what, n in ((1, size.big), (2, size.binary), (4, size.big // 4))
    )
    x_big, x_binary, x_test = (
        eye.see(one.truth.value, what) for what, one in ((1, big), (2, binary), (0, shown))
    )
    machine = _machine_ratings(big.truth.value, 0)
    votes = _votes(binary.truth.value, seed)
    neutral = eye.see(np.zeros((size.neutral, len(shown.truth.labels))), 3)
    shapes = (SMALL_SHAPE, BIG) if size.paper_shapes else (HeadShape((16,)), HeadShape((24,)))
    stage = Stage(epochs=size.epochs, learning_rate=2e-3, batch=64)
    short = Stage(epochs=max(2, size.epochs // 4), learning_rate=2e-3, batch=64)
    with one_thread(), _said() as said:
        small = HeadBank.make("emonet_face", shape=shapes[0], name=STAND_INS[SMALL], seed=seed)
        small.fit(x_big, machine, stage=stage, cap=1.0, device="cpu")
        large = HeadBank.make(
            "emonet_face", shape=shapes[1], binarised=True, name=STAND_INS[LARGE], seed=seed
        )
        large.fit_two_stage(
            (x_big, machine),
            (x_binary, votes),
            big_stage=stage,
            human_stage=short,
            big_cap=None,
            human_cap=None,
            device="cpu",
        )
        large.calibrate_scale(eye.see(scale.truth.value, 4), _machine_ratings(scale.truth.value, 1))
        for bank in (small, large):
            bank.calibrate_neutral(neutral)
        scores = {bank.name: bank.predict(x_test) for bank in (large, small)}
    return Heads(
        _as_ratings(scores, shown),
        size.neutral,
        f"Heads: {size.big:,} invented faces rated by a machine and {size.binary:,} said yes or no "
        f"about by people train them on drawn embeddings of width {size.width}; "
        f"{size.neutral:,} neutral faces set their zero, and ratings of {size.big // 4:,} more the "
        "scale of the larger bank." + "".join(f" {text}." for text in said),
    )


class _Eye:
    """Draws embeddings: what a face shows, turned by a fixed random map, and noise."""

    def __init__(self, width: int, n_labels: int, seed: int) -> None:
        self._seed = seed
        rng = np.random.default_rng([8_010, seed])
        self._turn = rng.normal(0, 1, (n_labels, width)) / np.sqrt(2)

    def see(self, value: Floats, what: int) -> np.ndarray:
        rng = np.random.default_rng([8_011, self._seed, what])
        noise = _PICTURE_NOISE * rng.standard_normal((len(value), self._turn.shape[1]))
        seen: np.ndarray = (value @ self._turn + noise).astype(np.float32)
        return seen


def _machine_ratings(value: Floats, which: int) -> Floats:
    """Let a machine name the five most evident emotions of each face, 0 to 7."""
    rng = np.random.default_rng([8_012, which])
    seen = value + rng.normal(0, _MACHINE_NOISE, value.shape)
    named = np.argsort(np.argsort(-seen, axis=1), axis=1) < _TOP
    rated: Floats = np.where(named, np.clip(np.rint(seen), 0, 7), 0.0)
    return rated


def _votes(value: Floats, seed: int) -> Floats:
    """Ask people about the strongest emotion of each face and about one that is not there."""
    rng = np.random.default_rng([8_013, seed])
    found = np.full(value.shape, np.nan)
    rows = np.arange(len(value))
    asked = np.argmax(value, axis=1)
    found[rows, asked] = (value[rows, asked] + rng.normal(0, 0.5, len(value)) >= 0.5).astype(float)
    other = (asked + rng.integers(1, value.shape[1], len(value))) % value.shape[1]
    found[rows, other] = (value[rows, other] + rng.normal(0, 0.5, len(value)) >= 1.0).astype(float)
    return found


def _as_ratings(scores: dict[str, np.ndarray], shown: Faces) -> Ratings:
    from affectlab.ratings import Ratings

    labels, stimuli = shown.truth.labels, shown.truth.stimuli
    n = len(stimuli) * len(labels)
    return Ratings(
        {
            "stimulus": np.tile(np.repeat(stimuli, len(labels)), len(scores)),
            "rater": np.repeat(list(scores), n),
            "label": np.tile(labels, len(stimuli) * len(scores)),
            "value": np.concatenate(
                [np.asarray(one, dtype=np.float64).ravel() for one in scores.values()]
            ),
        },
        scale="0-7 interval",
        raters={"rater": list(scores), "rater_kind": ["model"] * len(scores)},
        source="heads on drawn embeddings",
    )


@contextmanager
def _said() -> Iterator[list[str]]:
    """Collect what banks say of heads that could not learn; all else is warned of as ever."""
    import warnings

    from affectlab.models.heads import NotCalibratedWarning, NotTrainedWarning

    ours = (NotCalibratedWarning, NotTrainedWarning)

    said: list[str] = []
    with warnings.catch_warnings(record=True) as told:
        for kind in ours:
            warnings.simplefilter("always", kind)
        yield said
    for one in told:
        if issubclass(one.category, ours):
            said.append(_sentence(str(one.message)))
        else:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
