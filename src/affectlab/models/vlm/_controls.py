"""Questions that show whether a model looks: without the image, on a wrong one, with a wrong hint.

The names are those of the rater attribute ``control`` that
:func:`affectlab.evaluation.control_checks` reads.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence

from affectlab.errors import InputError, unknown_name
from affectlab.models.images import ImageFile

__all__ = ["CONTROLS", "MAIN", "check_controls", "decoy_hints", "derangement"]

MAIN = "none"
CONTROLS = ("no_image", "wrong_image", "decoy_hint", "repeat")
"""Controls by name; ``repeat`` asks every question of the main run twice."""


def check_controls(control: str | Sequence[str] | None) -> tuple[str, ...]:
    """Check the names of controls, each once.

    Raises
    ------
    InputError
        For a name that is none.

    Examples
    --------
    >>> check_controls("no_image"), check_controls(None)
    (('no_image',), ())
    """
    given = [control] if isinstance(control, str) else list(control or ())
    for name in given:
        if name not in CONTROLS:
            raise unknown_name("control", str(name), CONTROLS)
    return tuple(dict.fromkeys(given))


def derangement(files: Sequence[ImageFile], seed: int) -> dict[str, ImageFile]:
    """Give every stimulus the picture of another one, whose content differs.

    Contents lie on a ring in an order that the seed draws for each alone, and each stimulus is
    shown the next content of the ring: none is shown its own, and every content is shown. Another
    content changes what is shown for one stimulus only, the one before it.

    Parameters
    ----------
    files
        Two contents at least.
    seed
        The same seed and files, the same pictures, whatever the order of the files.

    Returns
    -------
    Stimulus to the file shown.

    Raises
    ------
    InputError
        When all files have the same content.
    """
    first: dict[str, ImageFile] = {}
    for file in sorted(files, key=lambda one: one.stimulus):
        first.setdefault(file.sha256, file)
    ring = sorted(first)
    if len(ring) < 2:
        raise InputError("control 'wrong_image' needs two different images at least")
    ring.sort(key=lambda sha256: hashlib.sha256(f"wrong_image {seed} {sha256}".encode()).digest())
    other_of = dict(zip(ring, [*ring[1:], ring[0]], strict=True))
    return {file.stimulus: first[other_of[file.sha256]] for file in files}


def decoy_hints(
    stimuli: Sequence[str], labels: Sequence[str], targets: Mapping[str, str] | None, seed: int
) -> dict[str, str]:
    """Draw a label for every stimulus that is not the one it is meant to show.

    Parameters
    ----------
    labels
        Labels asked for; two at least.
    targets
        Stimulus to the label it is meant to show, where that is known; what people say decides
        about the others when the answers are judged.
    seed
        A stimulus gets the same label, whatever else is asked.

    Raises
    ------
    InputError
        When there is no other label.

    Examples
    --------
    >>> decoy_hints(["a"], ["Joy", "Fear"], {"a": "joy"}, seed=1)
    {'a': 'Fear'}
    """
    known = dict(targets or {})
    drawn = {}
    for stimulus in stimuli:
        target = str(known.get(stimulus, "")).casefold()
        others = [label for label in labels if label.casefold() != target]
        if not others or len(labels) < 2:
            raise InputError("control 'decoy_hint' needs two labels at least")
        drawn[stimulus] = random.Random(f"decoy_hint {seed} {stimulus}").choice(others)
    return drawn
