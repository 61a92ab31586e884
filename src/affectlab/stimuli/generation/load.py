"""Image generators by name: those of affectlab, and those that installed packages add."""

from __future__ import annotations

from typing import Any

from affectlab.core.registry import Factories
from affectlab.stimuli.generation.generator import ImageGenerator, MakesImages

__all__ = ["list_generators", "load_generator"]


def list_generators() -> tuple[str, ...]:
    """Names that :func:`load_generator` knows, affectlab's own first.

    Another package adds one by an entry point in the group ``affectlab.image_generators`` that
    leads to a function: it is given what stands behind the colon of the name, if anything does, and
    the settings by name, and gives an :class:`ImageGenerator` or a function from prompts to
    pictures.

    Examples
    --------
    >>> list_generators()[:2]
    ('drawn', 'diffusers')
    """
    return _GENERATORS.names()


def load_generator(
    generator: str | ImageGenerator | MakesImages = "drawn", **settings: Any
) -> ImageGenerator:
    """Find an image generator.

    Parameters
    ----------
    generator
        ``"drawn"``: the drawn faces of :mod:`affectlab.simulate`, which need no network.
        ``"diffusers:PLACE"``: a pipeline of the diffusers library, from a folder or by its name on
        the hub, of which a local copy is taken where there is one. The name of an entry point of
        another package. A generator, which is given back; or a function that takes a list of
        :class:`ImagePrompt` and gives their pictures, whose attributes ``version``, ``settings``
        and ``batch`` are taken over where it has them.
    **settings
        Of a generator by name. ``drawn``: `size` in pixels (384), `intensity` (1.0), `taxonomy`
        (``"emonet_face"``), by whose mappings labels become expressions. ``diffusers``: `steps`,
        `guidance`, `width`, `height`, `negative` (a prompt), `device` (``"auto"``), `dtype`
        (``"auto"``, ``"fp32"``, ``"fp16"``, ``"bf16"``), `batch` (1); what is not given is up to
        the pipeline.

    Raises
    ------
    InputError
        When the name or a setting is not known, or the generator cannot be loaded.
    MissingDependencyError
        When it needs libraries that are not installed.

    Examples
    --------
    >>> load_generator("drawn", size=128).settings["size"]
    128
    """
    return _GENERATORS.make(generator, settings)


def _of_function(function: MakesImages, *, name: str) -> ImageGenerator:
    return ImageGenerator(
        name,
        function,
        version=str(getattr(function, "version", "")),
        settings=dict(getattr(function, "settings", {})),
        batch=int(getattr(function, "batch", 1)),
    )


_GENERATORS = Factories(
    kind="image generator",
    group="affectlab.image_generators",
    accept=ImageGenerator,
    expected="an ImageGenerator or a function",
    of_function=_of_function,
    place="place",
    ours={
        "drawn": "affectlab.stimuli.generation.drawn_faces:drawn_generator",
        "diffusers": "affectlab.stimuli.generation.diffusers:diffusers_generator",
    },
)
