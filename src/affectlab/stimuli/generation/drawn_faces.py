"""The generator that needs nothing: drawn faces, as far as they can follow a prompt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from affectlab._version import __version__
from affectlab.core.errors import InputError
from affectlab.core.files.toml import check_settings
from affectlab.core.words import joined
from affectlab.simulate import EXPRESSIONS, Identity, draw_face
from affectlab.stimuli.generation.generator import (
    ImageGenerator,
    ImagePrompt,
    Picture,
)
from affectlab.taxonomy import load_taxonomy, map_labels

__all__ = ["drawn_expression", "drawn_generator", "drawn_identity"]

_AGES = ((30, "young adult"), (45, "adult"), (65, "middle-aged"))
"""Ages in years below which a drawn person belongs to a group; all others are older."""
_PRESENTATIONS = {
    "man": "masculine",
    "male": "masculine",
    "woman": "feminine",
    "female": "feminine",
}
_TARGETS = ("mikels", "ekman")
"""Taxonomies whose labels the drawn faces know; the finer one is asked first."""
_PEOPLE = 100_000
"""Invented people that seeds lead to."""
_LOOKED_AT = 512
"""Of so many in a row, some have any tone and presentation; see the tests."""
_TONES = 8
"""Skin tones of drawn people."""
_GREY = 0.3
"""Share of grey hair in middle age."""


class _DrawnSettings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    size: Annotated[int, Field(ge=32, le=2048)] = 384
    intensity: Annotated[float, Field(ge=0, le=1)] = 1.0
    taxonomy: str = "emonet_face"


def drawn_generator(**settings: Any) -> ImageGenerator:
    """Make the generator of drawn faces; see :func:`load_generator` for its settings.

    Raises
    ------
    InputError
        When a setting cannot be used.

    Examples
    --------
    >>> make = drawn_generator(size=64)
    >>> (picture,) = make([ImagePrompt("a", "…", "Longing", seed=3, age=20, gender="woman")])
    >>> picture.drawn, picture.note
    ('neutral', "expression 'Longing' is not drawn, a face at rest stands in")
    """
    chosen = check_settings(_DrawnSettings, settings, "image generator 'drawn'")
    load_taxonomy(chosen.taxonomy)

    def draw(batch: Sequence[ImagePrompt]) -> list[Picture]:
        return [_draw(prompt, chosen) for prompt in batch]

    return ImageGenerator("drawn", draw, __version__, chosen.model_dump())


def _draw(prompt: ImagePrompt, settings: _DrawnSettings) -> Picture:
    expression, said = drawn_expression(prompt.label, settings.taxonomy)
    person, left = drawn_identity(prompt)
    face = draw_face(expression, settings.intensity, person, size=settings.size)
    notes = [said] if said else []
    if left:
        notes.append(f"{joined(left)} not drawn")
    return Picture(face, expression if said else "", "; ".join(notes))


@lru_cache(maxsize=1024)
def drawn_expression(label: str, taxonomy: str = "emonet_face") -> tuple[str, str]:
    """Give the drawn expression of a label, and what to say where it is not that of the label.

    A label that the drawn faces do not know gets the expression that the taxonomy's mappings to
    Mikels' and to Ekman's labels name. Where there is none, the face is at rest.

    Examples
    --------
    >>> drawn_expression("Awe")
    ('awe', '')
    >>> drawn_expression("Elation")
    ('excitement', "expression 'Elation' is not drawn, excitement stands in (mapping to mikels)")
    """
    if label.casefold() in EXPRESSIONS:
        return label.casefold(), ""
    source = load_taxonomy(taxonomy)
    for target in _TARGETS:
        try:
            found = map_labels(source, target)[label] if label in source else None
        except InputError:
            # There is no mapping between these two.
            continue
        if found in EXPRESSIONS:
            return (
                found,
                f"expression {label!r} is not drawn, {found} stands in (mapping to {target})",
            )
    return "neutral", f"expression {label!r} is not drawn, a face at rest stands in"


def drawn_identity(prompt: ImagePrompt) -> tuple[Identity, list[str]]:
    """Invent a person of the prompt's gender and age, and say what is not followed.

    Skin, features and hair are drawn from the seed alone, whatever the age and the gender: a face
    made from the name of an ethnicity would be a stereotype.

    Examples
    --------
    >>> person, left = drawn_identity(
    ...     ImagePrompt("a", "…", "Awe", seed=3, age=70, gender="man", ethnicity="Caribbean")
    ... )
    >>> person.age_group, person.presentation, left
    ('older', 'masculine', ["ethnicity 'Caribbean'"])
    """
    rng = np.random.default_rng([7_302, prompt.seed])
    tone = int(rng.integers(1, _TONES + 1))
    presentation = _PRESENTATIONS.get(prompt.gender.casefold())
    chosen = presentation or str(rng.choice(["feminine", "masculine"]))
    age = int(rng.integers(18, 90)) if prompt.age is None else prompt.age
    group = next((name for below, name in _AGES if age < below), "older")
    # Adults are the most among invented people, and age is put on.
    base = _someone(rng, presentation=chosen, age_group="adult", skin_tone=tone)
    other = _someone(rng, presentation=chosen)
    colour = base.hair_colour
    if group == "older":
        colour = str(rng.choice(["grey", "white"]))
    elif group == "middle-aged" and rng.random() < _GREY:
        colour = "grey"
    hair = "crop" if (other.hair, group) == ("receding", "young adult") else other.hair
    person = replace(
        base,
        name=prompt.stimulus,
        age_group=group,
        hair=hair,
        hair_colour=colour,
        earrings=base.earrings and hair != "headscarf",
        clothes=other.clothes,
        backdrop=other.backdrop,
    )
    left = []
    if prompt.gender and presentation is None:
        left.append(f"gender {prompt.gender!r}")
    if prompt.ethnicity:
        left.append(f"ethnicity {prompt.ethnicity!r}")
    return person, left


def _someone(rng: np.random.Generator, **traits: object) -> Identity:
    """Draw an invented person with some traits."""
    first = int(rng.integers(_PEOPLE))
    people = (Identity.from_seed(first + step) for step in range(_LOOKED_AT))
    return next(one for one in people if all(getattr(one, name) == traits[name] for name in traits))
