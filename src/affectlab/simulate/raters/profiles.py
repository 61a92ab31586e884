"""How a simulated rater answers: presets, and whole panels drawn at random."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from affectlab.core.errors import check_choice, check_choices, check_number
from affectlab.ratings import RATER_KINDS, Scale
from affectlab.simulate.raters.truth import bounds


@dataclass(frozen=True, slots=True)
class RaterProfile:
    """What makes one simulated rater; numbers with a unit are in points of the scale.

    The answer to a label with true value s is s, turned upside down when `reversed`, drawn towards
    the middle of the scale by `scale_use`, plus bias, plus normal noise, rounded to a step of
    the scale and kept within it. Bias and inconsistency are b_i and v_i of the subject model
    (definitions, section 2.2).

    Raises
    ------
    InputError
        When a number is out of its range or the kind is not known.

    Examples
    --------
    >>> RaterProfile("r1", bias=0.5, inconsistency=1.0).attentive
    True
    """

    name: str
    kind: str = "simulated"
    """Rater kind: simulated, model, baseline, or human."""
    bias: float = 0.0
    """Added to every answer."""
    inconsistency: float = 0.0
    """Standard deviation of the noise."""
    laziness: float = 0.0
    """Probability that a trial is answered without looking, all labels at the scale's low end."""
    reversed: bool = False
    """Uses the scale upside down."""
    straight_lining: bool = False
    """Gives the same answer always."""
    missing: float = 0.0
    """Probability that an answer is left out."""
    scale_use: float = 1.0
    """Share of the scale that is used, around its middle, 0 to 1."""
    label_bias: Mapping[str, float] = field(default_factory=dict)
    """Added to the answers for single labels."""
    confusions: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    """True label to (label it is taken for, share of the intensity that moves there)."""
    seconds: float = 6.0
    """Median time of an attentive trial."""
    attributes: Mapping[str, str | int] = field(default_factory=dict)
    """Columns of the rater table, such as age, gender and location."""

    def __post_init__(self) -> None:
        check_choice("rater kind", self.kind, RATER_KINDS, f"rater {self.name!r}")
        limits: dict[str, tuple[float, float]] = {
            "bias": (-math.inf, math.inf),
            "inconsistency": (0.0, math.inf),
            "laziness": (0.0, 1.0),
            "missing": (0.0, 1.0),
            "scale_use": (0.0, 1.0),
            "seconds": (0.0, math.inf),
        }
        for name, (low, high) in limits.items():
            check_number(f"rater {self.name!r}: {name}", getattr(self, name), low, high)
        for label, (_, share) in self.confusions.items():
            check_number(f"rater {self.name!r}: confusion of {label!r}", share, 0, 1)

    @property
    def attentive(self) -> bool:
        """Whether bias and inconsistency describe this rater: answers follow what is shown."""
        return not self.reversed and not self.straight_lining and self.laziness < 0.2


# Bias and inconsistency as shares of the scale, so that a preset fits any scale.
PRESETS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "careful": {"inconsistency": 0.07, "seconds": 8.0},
        "average": {"inconsistency": 0.13},
        "sloppy": {"inconsistency": 0.27, "laziness": 0.05, "seconds": 3.5},
        "lazy": {"inconsistency": 0.15, "laziness": 0.6, "seconds": 4.0},
        "reversed": {"inconsistency": 0.12, "reversed": True},
        "straight_liner": {"straight_lining": True, "seconds": 0.9},
        "generous": {"inconsistency": 0.12, "bias": 0.12},
        "stern": {"inconsistency": 0.12, "bias": -0.12},
        "cautious": {"inconsistency": 0.1, "scale_use": 0.55},
    }
)
"""Named ways of rating; bias and inconsistency are shares of the scale here."""


def rater_profile(
    preset: str, name: str, *, scale: str | Scale = "0-7", **changes: Any
) -> RaterProfile:
    """Make a rater from a preset (see :data:`PRESETS`).

    Parameters
    ----------
    scale
        The scale whose points `bias` and `inconsistency` will be measured in.
    changes
        Fields of :class:`RaterProfile` that replace those of the preset, in points of the scale.

    Examples
    --------
    >>> rater_profile("generous", "r1", scale="0-100").bias
    12.0
    """
    check_choice("rater preset", preset, PRESETS)
    low, high = bounds(Scale.parse(scale))
    values = dict(PRESETS[preset])
    for key in ("bias", "inconsistency"):
        values[key] = values.get(key, 0.0) * (high - low)
    known = [entry.name for entry in fields(RaterProfile)]
    check_choices("rater property", changes, known)
    return RaterProfile(name, **{**values, **changes})


_GENDERS = ("woman", "man", "non-binary")
_LOCATIONS = ("Germany", "India", "Kenya", "Brazil", "Japan", "Canada", "Egypt", "Spain")
_CARELESS = ("reversed", "straight_liner", "lazy", "sloppy")


def panel(
    n: int,
    seed: int | np.random.Generator,
    *,
    scale: str | Scale = "0-7",
    careless: float = 0.1,
    missing: float = 0.02,
) -> tuple[RaterProfile, ...]:
    """Draw a plausible panel of people.

    Bias is normal with a standard deviation of 7 % of the scale; inconsistency is log-normal
    around 13 %; a share of the panel is careless in one of four ways.

    Parameters
    ----------
    n
        Number of raters, at least 1.
    careless
        Expected share of careless raters, 0 to 1.
    missing
        Probability that an answer is left out.

    Examples
    --------
    >>> [rater.name for rater in panel(2, seed=0)]
    ['r01', 'r02']
    """
    check_number("n", n, 1, whole=True)
    check_number("careless", careless, 0, 1)
    rng = np.random.default_rng(seed)
    low, high = bounds(Scale.parse(scale))
    width = max(2, len(str(n)))
    raters = []
    for index in range(1, n + 1):
        name = f"r{index:0{width}d}"
        bias = float(rng.normal(0.0, 0.07)) * (high - low)
        noise = 0.13 * float(rng.lognormal(0.0, 0.35)) * (high - low)
        seconds = float(rng.lognormal(np.log(6.0), 0.25))
        kind = _CARELESS[rng.integers(len(_CARELESS))] if rng.random() < careless else ""
        if kind:
            rater = rater_profile(kind, name, scale=scale, bias=bias)
        else:
            rater = RaterProfile(name, bias=bias, inconsistency=noise, seconds=seconds)
        raters.append(replace(rater, missing=missing, attributes=person_attributes(rng)))
    return tuple(raters)


POPULATIONS = ("none", "bias", "groups", "spam")
"""Ways in which the raters of a population differ from one another."""
_APART = 0.15
"""Standard deviation of biases in a population that differs by them, as a share of the scale."""
_MISREAD = 0.85
"""Share of the intensity that the second of two groups sees in another label."""
_SPAM = 0.4
"""Share of a population of which some do not look."""


def population(
    differs: str,
    n: int,
    seed: int | np.random.Generator,
    *,
    labels: Sequence[str],
    scale: str | Scale = "0-7",
) -> tuple[RaterProfile, ...]:
    """Draw people who differ from one another in one known way, or in none.

    Parameters
    ----------
    differs
        ``"none"``: all rate alike, with the same noise. ``"bias"``: each has a bias of their own,
        for all labels and for single ones. ``"groups"``: every second person takes each label for
        the one behind it (attribute ``group``). ``"spam"``: two in five answer without looking.
    n
        Number of raters, at least 1.
    labels
        Labels that are rated.

    Raises
    ------
    InputError
        When the population is not known, or `n` is not above 0.

    Examples
    --------
    >>> [one.attributes["group"] for one in population("groups", 3, 0, labels=["joy", "fear"])]
    ['first', 'second', 'first']
    """
    check_choice("population", differs, POPULATIONS)
    check_number("n", n, 1, whole=True)
    rng = np.random.default_rng(seed)
    low, high = bounds(Scale.parse(scale))
    behind = {one: (labels[at - len(labels) + 1], _MISREAD) for at, one in enumerate(labels)}
    raters = []
    for index in range(n):
        preset, changes = "average", dict[str, Any]()
        if differs == "bias":
            apart = rng.normal(0.0, _APART, len(labels) + 1) * (high - low)
            changes = {"bias": apart[0], "label_bias": dict(zip(labels, apart[1:], strict=True))}
        elif differs == "groups":
            second = index % 2 == 1
            changes = {"attributes": {"group": "second" if second else "first"}}
            changes |= {"confusions": behind} if second else {}
        elif differs == "spam" and index < round(_SPAM * n):
            preset = ("straight_liner", "lazy")[index % 2]
        raters.append(rater_profile(preset, f"r{index + 1:03d}", scale=scale, **changes))
    return tuple(raters)


def person_attributes(rng: np.random.Generator) -> dict[str, str | int]:
    """Draw age, gender and location."""
    return {
        "age": int(rng.integers(19, 70)),
        "gender": str(rng.choice(_GENDERS, p=(0.485, 0.485, 0.03))),
        "location": str(rng.choice(_LOCATIONS)),
    }
