"""Solved examples for prompts, and keeping them apart from what is rated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from affectlab.errors import InputError
from affectlab.models.vlm._prompt_stimulus import Stimulus

__all__ = ["Example", "ShownBeforeError", "check_apart", "repeats_example"]


class ShownBeforeError(InputError):
    """A stimulus is among the examples, where its answer stands."""


@dataclass(frozen=True)
class Example:
    """One solved example.

    Examples
    --------
    >>> Example({"Amusement": 5}, described="A woman laughs, her head thrown back.").answer
    {'Amusement': 5}
    """

    answer: Any
    """As :meth:`~affectlab.protocols.Protocol.check` takes it: labels with values, one value, a
    list of labels, or a list of entries. Of two options, the name that the scale has for it, the
    first being the first one of `stimulus`."""
    stimulus: Stimulus = field(default_factory=Stimulus)
    """What the example shows."""
    described: str = ""
    """What can be seen, in words; with or without a picture."""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Reason for each value above 0 or choice; of the label "" for one value."""
    label: str | None = None
    """The label asked about, for protocols that ask about one at a time."""
    name: str = ""
    """How errors call it; it is in no prompt."""


def repeats_example(examples: Sequence[Example], stimulus: Stimulus) -> int | None:
    """Give the number of the example that shows a part of a stimulus; None when none does."""
    return next(
        (
            number
            for number, one in enumerate(examples, start=1)
            if _marks(one.stimulus) & _marks(stimulus)
        ),
        None,
    )


def _marks(stimulus: Stimulus) -> set[str]:
    """What tells two stimuli to be the same, whole or in part."""
    marks = {mark for part in stimulus.pictures for mark in (part.sha256, part.pixels)}
    if not stimulus.images and not stimulus.options:
        marks |= {" ".join(text.split()).casefold() for text in stimulus.texts}
    return marks


def check_apart(
    examples: Sequence[Example], stimuli: Mapping[str, str] | Iterable[tuple[str, str]]
) -> None:
    """Refuse examples whose picture is among those to be rated.

    Parameters
    ----------
    examples
        Solved examples.
    stimuli
        Name of each stimulus, with the SHA-256 of its file.

    Raises
    ------
    InputError
        When one is; a model that has seen the answer is no rater.

    Notes
    -----
    Files are compared. :func:`build_prompt` compares pixels, too, when it meets the picture.

    Examples
    --------
    >>> from PIL import Image
    >>> from affectlab.models.vlm._prompt_image import image_part
    >>> shown = image_part(Image.new("RGB", (8, 8)))
    >>> check_apart([Example({"Awe": 1}, Stimulus((shown,)))], {"face-1": shown.sha256})
    Traceback (most recent call last):
    affectlab.errors.InputError: example 1 shows stimulus 'face-1', which is to be rated; ...
    """
    pairs = stimuli.items() if isinstance(stimuli, Mapping) else stimuli
    of = {sha256: name for name, sha256 in pairs}
    for number, example in enumerate(examples, start=1):
        for part in example.stimulus.pictures:
            if part.sha256 in of:
                where = example.name or f"example {number}"
                raise InputError(
                    f"{where} shows stimulus {of[part.sha256]!r}, which is to be rated; expected "
                    "examples of their own"
                )
