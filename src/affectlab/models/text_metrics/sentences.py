"""A sentence that says who feels what, and why, for models that look at images."""

from __future__ import annotations

from string import Formatter
from types import MappingProxyType

from affectlab.core.errors import InputError
from affectlab.core.words import shown

__all__ = ["SENTENCES", "candidate_sentence", "check_template"]

SENTENCES = MappingProxyType(
    {
        "socratis": "Human feels {emotion}, when seeing this image with {caption} because "
        "{explanation}",
        "plain": 'A person who sees this image with the caption "{caption}" feels {emotion}: '
        "{explanation}",
    }
)
"""Templates by name: ``socratis`` is the published one (section 4), ``plain`` is ours."""
_FIELDS = ("emotion", "caption", "explanation")


def check_template(template: str) -> str:
    """Give the template of a name, or a template of one's own after a check.

    Raises
    ------
    InputError
        When it has no ``{explanation}``, or a field that is not known.

    Examples
    --------
    >>> check_template("socratis")[:12]
    'Human feels '
    """
    text = SENTENCES.get(template, template)
    try:
        parts = [part[1:] for part in Formatter().parse(text) if part[1] is not None]
    except ValueError as error:
        raise InputError(f"sentence {shown(template, 80)!r}: {error}") from None
    fields = [str(name) for name, _, _ in parts]
    for name, layout, conversion in parts:
        if layout or conversion:
            raise InputError(
                f"sentence {shown(template, 80)!r}: the field {shown(str(name), 40)!r} says how it "
                f"is laid out; expected {{{shown(str(name), 40)}}} alone"
            )
    wrong = next((name for name in fields if name not in _FIELDS), None)
    if wrong is not None or "explanation" not in fields:
        said = "no {explanation}" if wrong is None else f"the field {{{shown(wrong, 40)}}}"
        raise InputError(
            f"sentence {shown(template, 80)!r} has {said}; expected one of: "
            f"{', '.join(SENTENCES)}, or a text with {{explanation}}, and {{emotion}} and "
            "{caption} where wanted"
        )
    return text


def candidate_sentence(
    explanation: str, *, emotion: str = "", caption: str = "", template: str = "socratis"
) -> str:
    """Build the sentence that is compared with an image.

    Parameters
    ----------
    explanation
        Why a person feels it.
    emotion, caption
        What the person feels, and the caption of the image.
    template
        ``"socratis"``, as published; ``"plain"``; or a text with the fields ``{emotion}``,
        ``{caption}`` and ``{explanation}``.

    Raises
    ------
    InputError
        When the template is not understood, or a field that it has is empty.

    References
    ----------
    Deng et al. (2023), Socratis, section 4.

    Examples
    --------
    >>> candidate_sentence("they won.", emotion="proud", caption="a team")
    'Human feels proud, when seeing this image with a team because they won.'
    """
    text = check_template(template)
    given = {"emotion": emotion, "caption": caption, "explanation": explanation}
    for name, value in given.items():
        if f"{{{name}}}" in text and not value.strip():
            raise InputError(
                f"the {name} is empty; expected a text for the sentence {shown(template, 80)!r}"
            )
    return text.format(**{name: value.strip() for name, value in given.items()})
