"""A whole study with known truth: drawn faces, people of different care, and models."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from affectlab.core.errors import check_number
from affectlab.ratings import Ratings
from affectlab.simulate.faces import EXPRESSIONS, FaceSpec, face_specs, face_table, save_faces
from affectlab.simulate.raters import (
    RaterProfile,
    Simulation,
    person_attributes,
    rater_profile,
    simulate_raters,
    simulate_truth,
)

_LABELS = EXPRESSIONS[:8]
_INTENSITIES = (0.4, 0.7, 1.0)
_PRESETS = (
    "careful", "careful", "average", "average", "average", "generous", "stern", "cautious",
    "sloppy", "lazy", "reversed", "straight_liner",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class DemoStudy:
    """Drawn faces and simulated answers about them."""

    simulation: Simulation
    faces: tuple[FaceSpec, ...]

    @property
    def ratings(self) -> Ratings:
        """Answers of people and models."""
        return self.simulation.ratings

    def draw(self, path: str | Path, *, size: int = 256) -> pl.DataFrame:
        """Draw all faces into a folder, see :func:`save_faces`."""
        return save_faces(path, self.faces, size=size)

    def __repr__(self) -> str:
        return f"DemoStudy({len(self.faces)} faces, {self.ratings!r})"


def demo_study(
    seed: int = 0,
    *,
    identities: int = 10,
    golden: int = 8,
    repeats: int = 12,
    missing: float = 0.03,
) -> DemoStudy:
    """Simulate the demonstration study.

    Faces of `identities` people show Mikels' eight emotions at three intensities. Twelve people
    rate all eight emotions from 0 to 7: two careful, three average, one generous, one stern, one
    who keeps to the middle, one sloppy, one lazy, one who turns the scale round and one who always
    gives the same answer. Three models rate too: ``model-good``, ``model-mediocre`` and
    ``model-poor``, the last with systematic confusions.

    Parameters
    ----------
    seed
        Same seed, same bytes.
    identities
        Number of drawn people; 10 make 240 faces.
    golden, repeats
        Extra trials per person, see :func:`simulate_raters`.
    missing
        Probability that a person leaves an answer out.

    Returns
    -------
    DemoStudy
        ``ratings``, ``simulation`` (see :func:`simulate_raters`) and ``faces``, which
        ``draw(path)`` draws.

    Examples
    --------
    >>> study = demo_study(identities=1)
    >>> study.ratings.n_stimuli, study.ratings.n_raters, study.ratings.label_names[:2]
    (24, 15, ('amusement', 'contentment'))
    """
    check_number("identities", identities, 1, whole=True)
    rng = np.random.default_rng(seed)
    faces = face_specs(identities, _LABELS, _INTENSITIES)
    table = face_table(faces)
    truth = simulate_truth(
        len(faces),
        "mikels",
        "0-7",
        seed=rng,
        expressions=[face.name for face in faces],
        intensities=[face.intensity for face in faces],
        stimuli=table["stimulus"].to_list(),
    )
    raters = (*_people(rng, missing), *_models())
    simulation = simulate_raters(
        truth,
        raters,
        seed=rng,
        golden=golden,
        repeats=repeats,
        stimuli=table,
        source=f"simulated demonstration study, seed {seed}",
    )
    return DemoStudy(simulation, faces)


def _people(rng: np.random.Generator, missing: float) -> list[RaterProfile]:
    people = []
    for index, place in enumerate(rng.permutation(len(_PRESETS)).tolist(), start=1):
        rater = rater_profile(_PRESETS[place], f"r{index:02d}")
        people.append(
            replace(
                rater,
                bias=rater.bias + float(rng.normal(0.0, 0.25)),
                missing=missing,
                attributes=person_attributes(rng),
            )
        )
    return people


def _models() -> tuple[RaterProfile, ...]:
    return (
        RaterProfile("model-good", kind="model", bias=0.1, inconsistency=0.6, seconds=0.8),
        RaterProfile(
            "model-mediocre",
            kind="model",
            bias=0.3,
            inconsistency=1.5,
            scale_use=0.8,
            confusions={"awe": ("excitement", 0.3), "fear": ("sadness", 0.3)},
            seconds=0.4,
        ),
        RaterProfile(
            "model-poor",
            kind="model",
            bias=-0.2,
            inconsistency=2.0,
            confusions={
                "fear": ("awe", 0.8),
                "disgust": ("anger", 0.8),
                "contentment": ("sadness", 0.7),
                "excitement": ("amusement", 0.6),
            },
            seconds=0.2,
        ),
    )
