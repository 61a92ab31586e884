"""Drawn scenes that look the more alike the nearer their emotions are."""

from __future__ import annotations

import colorsys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import numpy as np
import polars as pl

from affectlab.core.errors import InputError, check_choice, check_number
from affectlab.core.types import Floats, Image
from affectlab.core.words import file_part
from affectlab.simulate.faces import UNITS, Canvas, Colour, ellipse, mix, smooth
from affectlab.taxonomy import Taxonomy, load_taxonomy

# What a drawn scene looks like, as smooth functions of a place on the wheel of emotions.


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
    check_choice("order", order, get_args(SceneOrder))
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

        check_number("scene", at, 0, len(self) - 1, whole=True)
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
        check_number("width", width, 1, whole=True)
        check_number("noise", noise, 0)
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
        named = zip(self.labels, self.stimuli, strict=True)
        files = [f"{file_part(label)}/{name}.png" for label, name in named]
        table = self.table().with_columns(file=pl.Series(files))
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

    Returns
    -------
    Scenes
        ``stimuli``, ``labels``, ``parameters`` and ``chances`` are what is known of the
        scenes; ``draw(at)`` and ``save(path)`` draw them, ``features(width)`` gives numbers
        as an encoder would, ``table()`` a table.

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
    check_number("n", n, 1, whole=True)
    for name, value in (("spread", spread), ("noise", noise)):
        check_number(name, value, 0)
    check_number("stray", stray, 0, 1)
    for name, number in (("seed", seed), ("order_seed", order_seed)):
        check_number(name, number, 0, whole=True)
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


# Drawing a scene from how much there is of each of its parts.


_SMALLEST, _LARGEST = 16, 1024
_BRIGHT: tuple[Colour, ...] = (
    (240, 90, 100),
    (250, 190, 60),
    (90, 190, 120),
    (90, 150, 240),
    (200, 110, 220),
)


def draw_scene(parts: Mapping[str, float], random: np.random.Generator, size: int) -> Image.Image:
    """Draw a landscape under a sky.

    Parameters
    ----------
    parts
        How much there is of each part, 0 to 1.
    random
        Places everything that has no part in the emotion.
    size
        Side in pixels.

    Raises
    ------
    InputError
        When the size is out of range.
    """
    from PIL import Image

    check_number("size", size, _SMALLEST, _LARGEST, whole=True)
    # Supersampled, so that edges are smooth.
    canvas = Canvas(Image.new("RGB", (2 * size, 2 * size)))
    horizon = float(random.uniform(135, 165))
    sky, ground = _sky(canvas, parts, horizon)
    _sun(canvas, parts, random, horizon)
    _clouds(canvas, parts, random, sky)
    _hills(canvas, parts, random, horizon, sky, ground)
    _waves(canvas, parts, random, ground)
    _murk(canvas, parts, random)
    _flowers(canvas, parts, random)
    _confetti(canvas, parts, random)
    _rain(canvas, parts, random)
    image = canvas.image.resize((size, size), Image.Resampling.LANCZOS)
    return _shaded(image, parts, random)


def _colour(hue: float, saturation: float, value: float) -> Colour:
    made = colorsys.hsv_to_rgb(hue % 1, np.clip(saturation, 0, 1), np.clip(value, 0, 1))
    red, green, blue = (round(255 * part) for part in made)
    return red, green, blue


def _sky(canvas: Canvas, parts: Mapping[str, float], horizon: float) -> tuple[Colour, Colour]:
    light, warmth, clear = parts["light"], parts["warmth"], parts["clear"]
    # From a cold grey blue to a clear one, and towards the colours of evening.
    top = _colour(0.60 - 0.04 * warmth, 0.25 + 0.45 * clear, 0.22 + 0.68 * light)
    low = _colour(0.62 - 0.53 * warmth, 0.12 + 0.35 * warmth, 0.34 + 0.64 * light)
    steps = 24
    for at in range(steps):
        edge = at * horizon / steps
        band = [(0.0, edge), (UNITS, edge), (UNITS, horizon + 2), (0.0, horizon + 2)]
        canvas.fill(np.array(band), mix(top, low, at / (steps - 1)))
    ground = _colour(0.12 + 0.18 * warmth, 0.25 + 0.35 * light, 0.20 + 0.52 * light)
    below = [(0.0, horizon), (UNITS, horizon), (UNITS, UNITS), (0.0, UNITS)]
    canvas.fill(np.array(below), ground)
    return mix(top, low, 0.5), ground


def _sun(
    canvas: Canvas, parts: Mapping[str, float], random: np.random.Generator, horizon: float
) -> None:
    x, y = float(random.uniform(55, 200)), float(random.uniform(35, horizon - 55))
    colour = mix((214, 220, 230), (255, 214, 110), parts["warmth"])
    shine = 0.25 + 0.75 * parts["clear"]
    turn = float(random.uniform(0, 1))
    for at in range(14):
        angle = 2 * np.pi * (at + turn) / 14
        way = np.array([np.cos(angle), np.sin(angle)])
        side = np.array([-way[1], way[0]]) * 5
        tip = np.array([x, y]) + way * (20 + 170 * parts["rays"])
        base = np.array([x, y]) + way * 16
        canvas.fill(np.array([base - side, base + side, tip]), colour, 0.75 * parts["rays"])
    canvas.glow((x, y), (60, 60), colour, 0.5 * shine)
    canvas.fill(ellipse(x, y, 17, 17), colour, shine)


def _clouds(
    canvas: Canvas, parts: Mapping[str, float], random: np.random.Generator, sky: Colour
) -> None:
    cover = 1 - parts["clear"]
    white = mix((86, 90, 104), (250, 250, 252), parts["light"])
    for _ in range(6):
        x, y, width = random.uniform((0, 15, 24), (UNITS, 95, 52))
        # One is always drawn, so that what is drawn by chance is the same for all parts.
        for shift in (-0.6, 0.0, 0.6):
            lift = 0.0 if shift else -7.0
            shape = ellipse(x + shift * width, y + lift, width * 0.62, width * 0.32)
            canvas.fill(shape, mix(sky, white, 0.75), 0.15 + 0.75 * cover)


def _hills(
    canvas: Canvas,
    parts: Mapping[str, float],
    random: np.random.Generator,
    horizon: float,
    sky: Colour,
    ground: Colour,
) -> None:
    """Draw two ranges, tall for awe; their lines go from round to jagged."""
    jagged = parts["spikes"]
    red = mix(ground, (150, 40, 34), 0.65 * jagged)
    for depth, base in ((0.6, horizon + 4), (0.0, horizon + 26)):
        knots = np.linspace(-20, UNITS + 20, 14)
        heights = random.uniform(0.25, 1.0, 14) * (14 + 92 * parts["peaks"] * (0.45 + depth))
        points = np.column_stack([knots, base - heights])
        line = smooth(points, closed=False)
        # Teeth stand on the line, the higher the more jagged it is.
        teeth = np.where(np.arange(len(line)) % 4 == 0, 1.0, 0.0) * random.uniform(
            0.4, 1.0, len(line)
        )
        line = np.column_stack([line[:, 0], line[:, 1] - 46 * jagged * teeth])
        shape = np.concatenate([line, [[UNITS + 20, UNITS], [-20, UNITS]]])
        canvas.fill(shape, mix(mix(red, sky, depth), (0, 0, 0), 0.12 * (1 - depth)))
        snow = np.concatenate([line, np.add(line, (0, 9 + 14 * parts["peaks"]))[::-1]])
        canvas.fill(snow, (250, 250, 255), 0.55 * parts["peaks"] * depth / 0.6)


def _waves(
    canvas: Canvas, parts: Mapping[str, float], random: np.random.Generator, ground: Colour
) -> None:
    """Draw calm water with long lines."""
    calm = parts["waves"]
    water = mix(ground, (70, 150, 190), 0.35 + 0.4 * parts["light"])
    top = float(random.uniform(188, 204))
    shore = smooth(
        [(x, top + float(random.uniform(-5, 5))) for x in np.linspace(-20, UNITS + 20, 7)],
        closed=False,
    )
    canvas.fill(np.concatenate([shore, [[UNITS + 20, UNITS], [-20, UNITS]]]), water, calm)
    for row in range(6):
        x, length, phase = random.uniform((20, 60, 0), (160, 120, 6.28))
        along = np.linspace(0, 1, 24)
        y = top + 10 + 8 * row + 2.5 * np.sin(2 * np.pi * along + phase)
        line = np.column_stack([x - length / 2 + length * along, y])
        canvas.stroke(line, 3.2, (236, 246, 250), 0.8 * calm)


def _murk(canvas: Canvas, parts: Mapping[str, float], random: np.random.Generator) -> None:
    """Draw blotches of slime and decay."""
    for _ in range(16):
        x, y, wide = random.uniform((0, 95, 8), (UNITS, UNITS, 26))
        shade = float(random.uniform(0, 1))
        colour = mix((104, 112, 30), (64, 46, 26), shade)
        canvas.fill(ellipse(x, y, wide, 0.7 * wide), colour, 0.75 * parts["murk"])
        canvas.fill(
            ellipse(x - 0.2 * wide, y - 0.2 * wide, 0.35 * wide, 0.25 * wide),
            (176, 188, 84),
            0.6 * parts["murk"],
        )


def _flowers(canvas: Canvas, parts: Mapping[str, float], random: np.random.Generator) -> None:
    for at in range(14):
        x, y, radius = random.uniform((0, 196, 2.5), (UNITS, 250, 4.5))
        colour = _BRIGHT[at % len(_BRIGHT)]
        for turn in np.linspace(0, 2 * np.pi, 6)[:-1]:
            petal = ellipse(
                x + radius * np.cos(turn), y + radius * np.sin(turn), 0.8 * radius, 0.8 * radius
            )
            canvas.fill(petal, colour, parts["flowers"])
        canvas.fill(ellipse(x, y, 0.6 * radius, 0.6 * radius), (255, 236, 150), parts["flowers"])


def _confetti(canvas: Canvas, parts: Mapping[str, float], random: np.random.Generator) -> None:
    """Draw balloons and confetti in the air."""
    for at in range(26):
        x, y, turn, side = random.uniform((0, 0, 0, 3.5), (UNITS, 180, 3.14, 6.5))
        way = np.array([np.cos(turn), np.sin(turn)]) * side
        across = np.array([-way[1], way[0]]) * 0.6
        corners = np.array([way + across, way - across, -way - across, -way + across])
        canvas.fill(np.add(corners, (x, y)), _BRIGHT[at % len(_BRIGHT)], 0.95 * parts["confetti"])
    for at in range(3):
        x, y = random.uniform((30, 40), (226, 130))
        canvas.fill(ellipse(x, y, 13, 16), _BRIGHT[(at + 2) % len(_BRIGHT)], parts["confetti"])
        string = np.column_stack([np.full(8, x), np.linspace(y + 16, y + 46, 8)])
        canvas.stroke(string, 1.6, (90, 90, 100), 0.8 * parts["confetti"])


def _rain(canvas: Canvas, parts: Mapping[str, float], random: np.random.Generator) -> None:
    for _ in range(70):
        x, y, length = random.uniform((0, -10, 14), (UNITS + 40, UNITS, 30))
        line = np.column_stack([np.linspace(x, x - 0.3 * length, 5), np.linspace(y, y + length, 5)])
        canvas.stroke(line, 2.4, (178, 196, 220), 0.75 * parts["rain"])


def _shaded(
    image: Image.Image, parts: Mapping[str, float], random: np.random.Generator
) -> Image.Image:
    """Darken from the edges, as in a place where something lurks; add the grain of a photo."""
    from PIL import Image

    pixels: Floats = np.asarray(image, dtype=np.float64)
    side = np.linspace(-1, 1, image.width)
    far = np.hypot(side[None, :] - random.uniform(-0.3, 0.3), side[:, None])
    shade = 1 - 0.88 * parts["dark"] * np.clip(far - 0.15, 0, 1)
    grain = random.normal(scale=5.0, size=(*far.shape, 1))
    shown = pixels * shade[..., None] + grain
    return Image.fromarray(np.clip(np.rint(shown), 0, 255).astype(np.uint8))
