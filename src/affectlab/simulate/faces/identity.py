"""Who is drawn: the traits of an invented person, the same for every expression."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from affectlab.core.errors import check_choice, check_number
from affectlab.simulate.faces.palette import BACKDROPS, CLOTHES, EYES, HAIR, SKIN

AGE_GROUPS = ("young adult", "adult", "middle-aged", "older")
PRESENTATIONS = ("feminine", "masculine")
FACE_SHAPES = ("oval", "round", "square", "heart", "long")
EYE_SHAPES = ("almond", "round", "monolid")
FACIAL_HAIR = ("none", "stubble", "moustache", "beard")
HAIR_STYLES = (
    "crop", "side part", "receding", "bald", "curls", "afro", "bob", "long", "wavy", "bun",
    "braids", "headscarf",
)  # fmt: skip

_STYLES_OF = {
    "feminine": ("bob", "afro", "long", "bun", "wavy", "curls", "headscarf", "braids"),
    "masculine": ("side part", "crop", "curls", "bald", "receding", "afro"),
}


@dataclass(frozen=True, slots=True)
class Identity:
    """Traits of one drawn person.

    Raises
    ------
    InputError
        When a trait has a name that is not known or a number out of its range.

    Examples
    --------
    >>> Identity.from_seed(3) == Identity.from_seed(3)
    True
    >>> Identity(hair="bun", skin_tone=6).hair_colour
    'dark brown'
    """

    name: str = "default"
    skin_tone: int = 3
    """1 (lightest) to 8 (darkest)."""
    age_group: str = "adult"
    presentation: str = "feminine"
    face_shape: str = "oval"
    hair: str = "bob"
    hair_colour: str = "dark brown"
    eye_colour: str = "brown"
    eye_shape: str = "almond"
    facial_hair: str = "none"
    glasses: bool = False
    freckles: bool = False
    earrings: bool = False
    brow_weight: float = 1.0
    """Thickness of the brows, 0.6 to 1.5."""
    nose_width: float = 1.0
    """0.7 to 1.5."""
    lip_fullness: float = 1.0
    """0.6 to 1.5."""
    eye_gap: float = 0.0
    """Eyes farther apart, -3 to 3 design units (of 256)."""
    clothes: int = 0
    backdrop: int = 0

    def __post_init__(self) -> None:
        for kind, known in _KNOWN.items():
            check_choice(kind.replace("_", " "), getattr(self, kind), known)
        for kind, (low, high) in _RANGES.items():
            check_number(f"identity {self.name!r}: {kind}", getattr(self, kind), low, high)

    @property
    def age(self) -> int:
        """Age group as 0 (young adult) to 3 (older)."""
        return AGE_GROUPS.index(self.age_group)

    @classmethod
    def from_seed(cls, seed: int) -> Identity:
        """Invent a person.

        Consecutive seeds give a varied cast: skin tone, presentation, age group and hair style
        take turns, the rest is drawn at random.

        Parameters
        ----------
        seed
            Not negative; the same seed is always the same person.
        """
        check_number("identity seed", seed, 0)
        return _from_seed(int(seed))

    def attributes(self) -> dict[str, str | int]:
        """Give the traits that a stimulus table keeps."""
        return {
            "identity": self.name,
            "skin_tone": self.skin_tone,
            "age_group": self.age_group,
            "presentation": self.presentation,
            "face_shape": self.face_shape,
            "hair": self.hair,
            "hair_colour": self.hair_colour,
            "facial_hair": self.facial_hair,
            "glasses": "yes" if self.glasses else "no",
        }


_KNOWN: dict[str, tuple[str, ...]] = {
    "age_group": AGE_GROUPS,
    "presentation": PRESENTATIONS,
    "face_shape": FACE_SHAPES,
    "eye_shape": EYE_SHAPES,
    "facial_hair": FACIAL_HAIR,
    "hair": HAIR_STYLES,
    "hair_colour": tuple(HAIR),
    "eye_colour": tuple(EYES),
}

_RANGES: dict[str, tuple[float, float]] = {
    "skin_tone": (1, len(SKIN)),
    "brow_weight": (0.6, 1.5),
    "nose_width": (0.7, 1.5),
    "lip_fullness": (0.6, 1.5),
    "eye_gap": (-3.0, 3.0),
    "clothes": (0, len(CLOTHES) - 1),
    "backdrop": (0, len(BACKDROPS) - 1),
}

# Casts come in rounds of eight. Within a round, tone, presentation and age are not confounded: the
# mean tone (4.5) and the mean age are the same for both presentations.
_TONES = (2, 6, 4, 8, 1, 5, 3, 7)
_FEMININE = (True, False, False, True, False, True, True, False)
_AGES = (1, 0, 2, 3, 2, 0, 1, 1)


@lru_cache(maxsize=1024)
def _from_seed(seed: int) -> Identity:
    rng = np.random.default_rng([7_301, seed])
    turn, place = divmod(seed, 8)
    # Later rounds reverse the tones, exchange the presentations and move the ages on. Ages move
    # every other round, so that each meets tones and their reverse.
    tone = 9 - _TONES[place] if turn % 2 else _TONES[place]
    masculine = _FEMININE[place] == bool(turn // 2 % 2)
    presentation = PRESENTATIONS[masculine]
    age = _AGES[(place + 3 * (turn // 2)) % 8]
    styles = _STYLES_OF[presentation]
    earlier = _FEMININE[:place].count(_FEMININE[place])
    hair = styles[(earlier + 4 * turn) % len(styles)]
    if hair == "receding" and age == 0:
        hair = "crop"
    return Identity(
        name=f"person-{seed:03d}",
        skin_tone=tone,
        age_group=AGE_GROUPS[age],
        presentation=presentation,
        face_shape=str(rng.choice(FACE_SHAPES)),
        hair=hair,
        hair_colour=_hair_colour(tone, age, rng),
        eye_colour=_eye_colour(tone, rng),
        eye_shape=str(rng.choice(EYE_SHAPES, p=(0.5, 0.3, 0.2))),
        facial_hair=str(rng.choice(FACIAL_HAIR, p=(0.5, 0.2, 0.1, 0.2))) if masculine else "none",
        glasses=bool(rng.random() < (0.12, 0.15, 0.25, 0.4)[age]),
        freckles=bool(tone <= 3 and rng.random() < 0.25),
        earrings=bool(not masculine and hair != "headscarf" and rng.random() < 0.5),
        brow_weight=float(rng.uniform(0.75, 1.0) + (0.3 if masculine else 0.0)),
        nose_width=float(np.clip(rng.normal(0.9 + 0.04 * tone, 0.1), 0.75, 1.4)),
        lip_fullness=float(
            np.clip(rng.normal(0.85 + 0.05 * tone - 0.1 * masculine, 0.1), 0.7, 1.4)
        ),
        eye_gap=float(rng.uniform(-2.0, 2.0)),
        clothes=(3 * seed + 2 * turn) % len(CLOTHES),
        backdrop=(seed + turn) % len(BACKDROPS),
    )


def _hair_colour(tone: int, age: int, rng: np.random.Generator) -> str:
    if age == 3:
        return str(rng.choice(["grey", "white"]))
    if age == 2 and rng.random() < 0.3:
        return "grey"
    if tone <= 2:
        return str(rng.choice(["blond", "auburn", "brown", "dark brown"]))
    if tone <= 4:
        return str(rng.choice(["brown", "dark brown", "black"]))
    return str(rng.choice(["dark brown", "black"], p=(0.3, 0.7)))


def _eye_colour(tone: int, rng: np.random.Generator) -> str:
    if tone <= 2:
        return str(rng.choice(["blue", "green", "grey", "hazel", "brown"]))
    if tone <= 4:
        return str(rng.choice(["brown", "hazel", "dark brown"]))
    return str(rng.choice(["brown", "dark brown"]))
