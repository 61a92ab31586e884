"""Image generators by name: those of affectlab, and those that installed packages add."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.registry import Plug, added_names, find_plug
from affectlab.stimuli.generation.generator import ImageGenerator, MakesImages

__all__ = ["GROUP", "list_generators", "load_generator"]

GROUP = "affectlab.image_generators"
"""Entry points through which other packages add generators."""


def _drawn(place: str, settings: Mapping[str, Any]) -> ImageGenerator:
    from affectlab.stimuli.generation.drawn_faces import drawn_generator

    if place:
        raise InputError(f"image generator 'drawn:{place}': 'drawn' takes nothing behind a colon")
    return drawn_generator(settings)


def _diffusers(place: str, settings: Mapping[str, Any]) -> ImageGenerator:
    from affectlab.stimuli.generation.diffusers import diffusers_generator

    return diffusers_generator(place, settings)


_OURS: dict[str, Callable[[str, Mapping[str, Any]], ImageGenerator]] = {
    "drawn": _drawn,
    "diffusers": _diffusers,
}


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
    return (*_OURS, *(name for name in added_names(GROUP) if name not in _OURS))


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
    if isinstance(generator, ImageGenerator):
        _no_settings(generator.name, settings)
        return generator
    if not isinstance(generator, str):
        if not callable(generator):
            raise InputError(
                f"image generator: expected a name or a function, not {type(generator).__name__}"
            )
        named = str(getattr(generator, "name", "") or _name_of(generator))
        _no_settings(named, settings)
        return _of_function(named, generator)
    name, _, place = generator.partition(":")
    if name in _OURS:
        return _OURS[name](place, settings)
    plug = find_plug(GROUP, name)
    if plug is None:
        raise unknown_name("image generator", name, list_generators())
    return _of_package(plug, generator, place, settings)


def _no_settings(name: str, settings: Mapping[str, Any]) -> None:
    if settings:
        raise InputError(
            f"image generator {name!r} is given ready; settings are for generators by name"
        )


def _name_of(function: object) -> str:
    own = getattr(function, "__qualname__", None)
    return str(own or type(function).__qualname__)


def _of_function(name: str, function: MakesImages) -> ImageGenerator:
    return ImageGenerator(
        name,
        function,
        version=str(getattr(function, "version", "")),
        settings=dict(getattr(function, "settings", {})),
        batch=int(getattr(function, "batch", 1)),
    )


def _of_package(plug: Plug, name: str, place: str, settings: Mapping[str, Any]) -> ImageGenerator:
    try:
        made: Any = plug.found(*([place] if place else []), **settings)
    except Exception as error:
        raise InputError(f"{plug.where} cannot be loaded: {error}") from error
    if isinstance(made, ImageGenerator):
        return made
    if callable(made):
        return _of_function(name, made)
    raise InputError(
        f"{plug.where} gives {type(made).__name__}; expected an ImageGenerator or a function"
    )
