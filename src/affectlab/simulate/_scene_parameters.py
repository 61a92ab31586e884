"""What a drawn scene looks like, as smooth functions of a place on the wheel of emotions."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np

from affectlab._types import Floats
from affectlab.errors import InputError, unknown_name
from affectlab.taxonomy import Taxonomy

__all__ = ["PARAMETERS", "SceneOrder", "directions_of", "label_places", "parameters_of"]

SceneOrder: TypeAlias = Literal["wheel", "random", "even"]
"""``wheel``: scenes are as alike as their labels are near on the wheel; ``random``: as on a wheel
with the labels in another order; ``even``: no two labels are nearer than any others."""

_ON_WHEEL = {
    "confetti": 0,
    "waves": 45,
    "peaks": 90,
    "rays": 135,
    "dark": 180,
    "rain": 225,
    "murk": 270,
    "spikes": 315,
}
"""Parts of a scene, and where on the wheel, in degrees, there is most of each."""
_BY_POLARITY = ("light", "warmth", "clear", "flowers")
"""Parts of which there is more in scenes of positive emotions."""
PARAMETERS = (*_ON_WHEEL, *_BY_POLARITY)
"""Names of the parts of a scene; there is from 0 to 1 of each."""

_STEEP = 3.2
"""How fast a part appears on the way towards where there is most of it."""
_EVEN = 1.245
"""How far apart labels are where all are equally far: as many scenes can be told as on Mikels'
wheel (checked by a test)."""


def directions_of(order: SceneOrder, labels: int) -> Floats:
    """Give the direction in which there is more of each part, shape (parts, dimensions)."""
    if order == "even":
        drawn = np.random.default_rng(61).normal(size=(len(PARAMETERS), labels - 1))
        # As much is said of each dimension as on the wheel.
        return np.asarray(2 * np.linalg.qr(drawn)[0])
    angles = np.deg2rad(list(_ON_WHEEL.values()))
    wheel = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(len(angles))])
    polarity = np.tile([0.0, 0.0, 1.0], (len(_BY_POLARITY), 1))
    return np.concatenate([wheel, polarity])


def label_places(taxonomy: Taxonomy, order: SceneOrder, seed: int) -> dict[str, Floats]:
    """Give the place of each label.

    A place on the wheel is (cos a, sin a, polarity) with an angle a and a polarity of 1, 0 or -1.
    On Mikels' wheel, distances between places rise strictly with the emotional distances of the
    ECC paper (equation 1). Where all labels are equally far, places are the corners of a regular
    body in one dimension less than there are labels.

    Raises
    ------
    InputError
        When the taxonomy has no wheel, or the order is not known.
    """
    if order not in get_args(SceneOrder):
        raise unknown_name("order", str(order), get_args(SceneOrder))
    ring = taxonomy.ring
    if not ring:
        raise InputError(
            f"taxonomy {taxonomy.name} has no wheel; expected one, such as mikels, for scenes that "
            "follow it"
        )
    k = len(ring)
    if order == "even":
        if k - 1 > len(PARAMETERS):
            raise InputError(
                f"taxonomy {taxonomy.name} has {k} labels; expected at most "
                f"{len(PARAMETERS) + 1} for scenes that are equally alike"
            )
        centred = np.eye(k) - 1 / k
        # Corners of a regular body: the coordinates of unit vectors within their plane.
        corners = np.linalg.svd(centred)[0][:, : k - 1] * (_EVEN / np.sqrt(2))
        return {name: corners[at] for at, name in enumerate(ring)}
    signs = {"positive": 1.0, "negative": -1.0}
    angles = 2 * np.pi * np.arange(k) / k
    polarity = [signs.get(taxonomy.polarity[name] or "", 0.0) for name in ring]
    places = np.column_stack([np.cos(angles), np.sin(angles), polarity])
    owner = np.arange(k)
    if order == "random":
        owner = np.random.default_rng([seed, 41]).permutation(k)
    return {name: places[owner[at]] for at, name in enumerate(ring)}


def parameters_of(places: Floats, directions: Floats) -> Floats:
    """Give the parts of scenes at places, shapes (n, dimensions) and (n, parts), 0 to 1."""
    return np.asarray(1 / (1 + np.exp(-_STEEP * (places @ directions.T))))
