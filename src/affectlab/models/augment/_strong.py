"""Strong augmentation: a few operations drawn by chance, and a part cut out."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from PIL import Image

from affectlab.errors import InputError, unknown_name
from affectlab.models.augment._operations import OPERATIONS
from affectlab.models.augment._weak import Weak

__all__ = ["Strong"]

_GREY = (128, 128, 128)


@dataclass(frozen=True)
class Strong:
    """Change a picture weakly, then by `operations` drawn from fourteen, then cut a square out.

    The strength of each operation is drawn evenly from 0 to `magnitude`. Equalising and stretching
    contrast, which have no strength of their own, are mixed in by that share.

    Some operations change colour and light, which carry emotion; `among` leaves them out.

    References
    ----------
    Cubuk et al. (2020), RandAugment; Sohn et al. (2020), FixMatch, section 2.3, which draws the
    strength anew for each picture and cuts a square out at the end.

    Examples
    --------
    >>> picture = Image.new("RGB", (40, 30), (200, 10, 10))
    >>> Strong(operations=3)(picture, np.random.default_rng(0)).size
    (40, 30)
    """

    operations: int = 2
    """How many, one after another; the same may be drawn twice."""
    magnitude: float = 1.0
    """Largest strength, 0 (hardly anything) to 1."""
    cutout: float = 0.5
    """Largest side of the square that is cut out, as a share of the shorter side; 0: none."""
    flip: float = 0.5
    """Probability that the picture is mirrored first; see :class:`Weak`."""
    padding: float = 0.125
    """How far it is moved at most first; see :class:`Weak`."""
    among: tuple[str, ...] = tuple(OPERATIONS)
    """Names of the operations to draw from."""
    _weak: Weak = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the settings.

        Raises
        ------
        InputError
            When a share is not one, `operations` is no whole number from 0 on, or a name is not
            known.
        """
        if not isinstance(self.operations, int) or self.operations < 0:
            raise InputError(f"operations = {self.operations}: expected a whole number from 0 on")
        for name in ("magnitude", "cutout"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"{name} = {getattr(self, name)}: expected a share from 0 to 1")
        object.__setattr__(self, "among", tuple(self.among))
        if not self.among:
            raise InputError("among: no operation to draw from; expected one at least")
        for name in self.among:
            if name not in OPERATIONS:
                raise unknown_name("operation", name, OPERATIONS)
        object.__setattr__(self, "_weak", Weak(self.flip, self.padding))

    def __call__(self, image: Image.Image, random: np.random.Generator) -> Image.Image:
        """Change a picture; see :class:`Augmentation`."""
        found = self._weak(image, random)
        for _ in range(self.operations):
            name = self.among[int(random.integers(len(self.among)))]
            strength, sign = (
                self.magnitude * random.random(),
                1.0 if random.random() < 0.5 else -1.0,
            )
            found = OPERATIONS[name](found, strength, sign)
        # Always drawn, so that what comes next does not hang on the settings here.
        share, across, down = random.random(3)
        side = round(self.cutout * share * min(found.size))
        if side:
            # Its middle lies anywhere, so a part of the square may be outside.
            left = round(across * found.width - side / 2)
            top = round(down * found.height - side / 2)
            found = found.copy()
            found.paste(_GREY, (left, top, left + side, top + side))
        return found
