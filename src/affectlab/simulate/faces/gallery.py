"""Sets of drawn faces, written as PNG files with the table that describes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import polars as pl

from affectlab.core.errors import InputError, check_number
from affectlab.simulate.faces.expressions import expression_parameters
from affectlab.simulate.faces.face import draw_face
from affectlab.simulate.faces.identity import Identity
from affectlab.simulate.faces.parameters import FaceParameters


@dataclass(frozen=True, slots=True)
class FaceSpec:
    """One face to draw.

    Raises
    ------
    InputError
        When the expression, the intensity or the identity cannot be used.

    Examples
    --------
    >>> FaceSpec("fear", 0.7, 4).stimulus
    'person-004_fear_070'
    """

    expression: str | FaceParameters
    intensity: float = 1.0
    identity: int | Identity = 0
    name: str = ""
    """Name of the expression; needed only for parameters of your own."""

    def __post_init__(self) -> None:
        expression_parameters(self.expression, self.intensity)
        if not self.name:
            if isinstance(self.expression, FaceParameters):
                raise InputError("a face from your own parameters needs a name, got none")
            object.__setattr__(self, "name", self.expression)
        if isinstance(self.identity, int):
            Identity.from_seed(self.identity)

    @property
    def person(self) -> Identity:
        """The identity drawn."""
        if isinstance(self.identity, Identity):
            return self.identity
        return Identity.from_seed(self.identity)

    @property
    def stimulus(self) -> str:
        """Name of the stimulus: person, expression and intensity in percent."""
        return f"{self.person.name}_{self.name}_{round(100 * self.intensity):03d}"


def face_specs(
    identities: int | Iterable[int | Identity],
    expressions: Sequence[str],
    intensities: Sequence[float] = (1.0,),
) -> tuple[FaceSpec, ...]:
    """Cross identities, expressions and intensities.

    Parameters
    ----------
    identities
        How many invented people, or which.

    Examples
    --------
    >>> [spec.stimulus for spec in face_specs(1, ["awe"], [0.5, 1.0])]
    ['person-000_awe_050', 'person-000_awe_100']
    """
    if isinstance(identities, int):
        check_number("identities", identities, 1)
        identities = range(identities)
    return tuple(
        FaceSpec(expression, intensity, identity)
        for identity, expression, intensity in product(identities, expressions, intensities)
    )


def face_table(specs: Iterable[FaceSpec]) -> pl.DataFrame:
    """Describe faces: one row per face, for the stimulus table of ratings.

    Returns
    -------
    polars.DataFrame
        Columns ``stimulus, file, expression, intensity, identity, skin_tone, age_group,
        presentation, face_shape, hair, hair_colour, facial_hair, glasses``.

    Raises
    ------
    InputError
        When there is no face, or two faces have the same stimulus name.
    """
    rows = [
        {
            "stimulus": spec.stimulus,
            "file": f"{spec.stimulus}.png",
            "expression": spec.name,
            "intensity": float(spec.intensity),
            **spec.person.attributes(),
        }
        for spec in specs
    ]
    if not rows:
        raise InputError("no face to draw; expected at least one FaceSpec")
    table = pl.DataFrame(rows)
    twice = table.filter(pl.col("stimulus").is_duplicated())
    if twice.height:
        raise InputError(
            f"two faces are named {twice['stimulus'][0]!r}; expected a different person, "
            "expression or intensity for each"
        )
    return table


def save_faces(path: str | Path, specs: Iterable[FaceSpec], *, size: int = 256) -> pl.DataFrame:
    """Draw faces into a folder as PNG and describe them.

    Parameters
    ----------
    path
        Made when it does not exist; files of the same name are replaced.
    size
        Side of the pictures in pixels.

    Returns
    -------
    polars.DataFrame
        See :func:`face_table`; ``file`` is relative to `path`.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     save_faces(folder, face_specs(2, ["joy"]), size=64)["file"].to_list()
    ['person-000_joy_100.png', 'person-001_joy_100.png']
    """
    specs = tuple(specs)
    table = face_table(specs)
    folder = Path(path)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; expected a folder for the faces")
    folder.mkdir(parents=True, exist_ok=True)
    for spec, file in zip(specs, table["file"].to_list(), strict=True):
        face = draw_face(spec.expression, spec.intensity, spec.identity, size=size)
        face.save(folder / file)
    return table
