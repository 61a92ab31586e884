"""Drawn scenes that look the more alike the nearer their emotions are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from affectlab._types import Floats, Image
from affectlab._words import file_part
from affectlab.errors import InputError
from affectlab.simulate._scene_parameters import (
    PARAMETERS,
    SceneOrder,
    directions_of,
    label_places,
    parameters_of,
)
from affectlab.taxonomy import Taxonomy, load_taxonomy

__all__ = ["Scenes", "simulate_scenes"]

_NUISANCE = 8
_HIDDEN = 96


@dataclass(frozen=True, eq=False)
class Scenes:
    """Scenes to draw, whose emotions and likeness are known; see :func:`simulate_scenes`."""

    stimuli: tuple[str, ...]
    labels: tuple[str, ...]
    """The emotion of each scene."""
    parameters: Floats
    """How much there is of each part, shape (n, parts), 0 to 1; see `PARAMETERS`."""
    parts: tuple[str, ...]
    """Names of the parts, columns of `parameters`."""
    chances: Floats
    """Chance of each emotion, given where a scene lies, shape (n, C); no model of scenes can know
    more. Columns as `names`."""
    names: tuple[str, ...]
    """Emotions in the order of the wheel."""
    seed: int

    def __len__(self) -> int:
        return len(self.stimuli)

    def draw(self, at: int, size: int = 64) -> Image.Image:
        """Draw a scene.

        Parameters
        ----------
        at
            Its place, from 0.
        size
            Side of the picture in pixels, 16 to 1,024.

        Examples
        --------
        >>> simulate_scenes(8, seed=1).draw(3, size=32).size
        (32, 32)
        """
        from affectlab.simulate._scene_draw import draw_scene

        if not 0 <= at < len(self):
            raise InputError(f"scene {at}: expected a place from 0 to {len(self) - 1}")
        values = dict(zip(self.parts, self.parameters[at].tolist(), strict=True))
        return draw_scene(values, np.random.default_rng([self.seed, 43, at]), size)

    def features(self, width: int = 64, *, noise: float = 0.25, encoder: int = 0) -> Floats:
        """Give numbers as an encoder of images would, without drawing.

        The parts of a scene and as many things that have no part in its emotion pass through a
        fixed network with random weights.

        Parameters
        ----------
        width
            Numbers for each scene.
        noise
            Standard deviation of what is added to each; numbers have one of about 1.
        encoder
            Draws the weights: scenes are comparable where it is the same.

        Returns
        -------
        numpy.ndarray
            Shape (n, width).

        Examples
        --------
        >>> simulate_scenes(10).features(16).shape
        (10, 16)
        """
        if not isinstance(width, int) or width < 1:
            raise InputError(f"width = {width}: expected a whole number from 1 on")
        if not 0 <= noise < np.inf:
            raise InputError(f"noise = {noise}: expected a number from 0 on")
        weights = np.random.default_rng([encoder, 47])
        own = np.random.default_rng([self.seed, 53])
        n, parts = self.parameters.shape
        seen = np.concatenate([2 * self.parameters - 1, own.normal(size=(n, _NUISANCE))], axis=1)
        first = weights.normal(size=(parts + _NUISANCE, _HIDDEN)) / np.sqrt(parts)
        hidden = np.tanh(seen @ first + weights.normal(size=_HIDDEN) * 0.5)
        second = weights.normal(size=(_HIDDEN, width)) * (1.5 / np.sqrt(_HIDDEN))
        return np.asarray(hidden @ second + noise * own.normal(size=(n, width)))

    def table(self) -> pl.DataFrame:
        """Give ``stimulus``, ``file``, ``label``, and how much of each part there is."""
        return pl.DataFrame(
            {
                "stimulus": self.stimuli,
                "file": [f"{name}.png" for name in self.stimuli],
                "label": self.labels,
                **{name: self.parameters[:, at] for at, name in enumerate(self.parts)},
            }
        )

    def save(self, path: str | Path, *, size: int = 64) -> pl.DataFrame:
        """Draw all scenes as PNG into folders named by labels, with ``scenes.csv`` beside them.

        Returns
        -------
        polars.DataFrame
            See :meth:`table`; ``file`` is relative to `path`.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     _ = simulate_scenes(8, seed=2).save(folder, size=16)
        ...     sorted(path.name for path in Path(folder).iterdir())[:3]
        ['amusement', 'anger', 'awe']
        """
        place = Path(path)
        if place.exists() and not place.is_dir():
            raise InputError(f"{place} is a file; expected a folder for the scenes")
        table = self.table().with_columns(
            pl.Series(
                "file",
                [
                    f"{file_part(label)}/{name}.png"
                    for label, name in zip(self.labels, self.stimuli, strict=True)
                ],
            )
        )
        for at, file in enumerate(table["file"].to_list()):
            (place / file).parent.mkdir(parents=True, exist_ok=True)
            self.draw(at, size).save(place / file)
        table.write_csv(place / "scenes.csv")
        return table


def simulate_scenes(
    n: int,
    *,
    order: SceneOrder = "wheel",
    taxonomy: str | Path | Taxonomy = "mikels",
    spread: float = 0.45,
    noise: float = 0.1,
    stray: float = 0.0,
    order_seed: int = 0,
    seed: int = 0,
) -> Scenes:
    """Make scenes whose emotions are known, and which look the more alike the nearer these are.

    A scene of an emotion lies about the emotion's place (cos a, sin a, polarity), with the angle a
    on the wheel. Each part of a scene, such as waves or rain, is a smooth function of that place:
    there is most of it at one angle, or at one polarity. Where scenes lie is blurred, so that
    scenes of neighbours are confused more often than those of opposites. What there is most of
    where was chosen for pictures that look like something; that people feel so is not claimed.

    Parameters
    ----------
    n
        Scenes; labels are taken in turn, in an order drawn at random.
    order
        ``"wheel"``; or as a control ``"random"``, the labels in another order around the wheel, or
        ``"even"``, no two of them nearer than any others.
    taxonomy
        Holds the emotions and their wheel.
    spread
        Standard deviation of where a scene lies, along each axis; neighbours on a wheel of eight
        are 0.77 apart, polarities 2.
    noise
        Standard deviation of each part beside that.
    stray
        Share of scenes that lie about the place of any label, drawn at random, as pictures do that
        were found by a word and show nothing of it. No model can tell them.
    order_seed
        Draws the order of ``"random"``: scenes of training and of test have the same.
    seed
        Draws the scenes.

    Raises
    ------
    InputError
        When a number is out of range, or the taxonomy has no wheel.

    Examples
    --------
    >>> scenes = simulate_scenes(800, seed=3)
    >>> sorted(set(scenes.labels))[:3], scenes.labels.count("awe")
    (['amusement', 'anger', 'awe'], 100)
    >>> mean = {
    ...     label: scenes.parameters[[name == label for name in scenes.labels]].mean(axis=0)
    ...     for label in scenes.names
    ... }
    >>> first, *others = (mean[label] for label in scenes.names[:4])
    >>> apart = [float(np.linalg.norm(first - other)) for other in others]
    >>> apart == sorted(apart)
    True
    """
    if not isinstance(n, int) or n < 1:
        raise InputError(f"n = {n}: expected a whole number of scenes from 1 on")
    for name, value in (("spread", spread), ("noise", noise)):
        if not 0 <= value < np.inf:
            raise InputError(f"{name} = {value}: expected a number from 0 on")
    if not 0 <= stray <= 1:
        raise InputError(f"stray = {stray}: expected a share from 0 to 1")
    for name, value in (("seed", seed), ("order_seed", order_seed)):
        if not isinstance(value, int) or value < 0:
            raise InputError(f"{name} = {value}: expected a whole number from 0 on")
    held = load_taxonomy(taxonomy)
    places = label_places(held, order, order_seed)
    names = tuple(places)
    random = np.random.default_rng([seed, 37])
    codes = random.permutation(np.arange(n) % len(names))
    centres = np.stack([places[name] for name in names])
    found = centres[codes] + spread * random.normal(size=(n, centres.shape[1]))
    if stray:
        lost = np.flatnonzero(random.random(n) < stray)
        found[lost] += centres[random.integers(0, len(names), len(lost))] - centres[codes[lost]]
    parameters = parameters_of(found, directions_of(order, len(names)))
    parameters = np.clip(parameters + noise * random.normal(size=parameters.shape), 0, 1)
    digits = len(str(n - 1))
    return Scenes(
        tuple(f"scene-{at:0{digits}d}" for at in range(n)),
        tuple(names[code] for code in codes),
        parameters,
        PARAMETERS,
        _chances(centres, found, spread, stray),
        names,
        seed,
    )


def _chances(centres: Floats, found: Floats, spread: float, stray: float) -> Floats:
    """Chance of each label given a place: all are as frequent, and blurred alike."""
    far = ((found[:, None, :] - centres[None]) ** 2).sum(axis=2)
    nearer = far.min(axis=1, keepdims=True) - far
    weight = np.exp(nearer / (2 * max(spread, 1e-3) ** 2))
    own = weight / weight.sum(axis=1, keepdims=True)
    return np.asarray((1 - stray) * own + stray / len(centres))
