"""Encoders by name: those of affectlab, and those that installed packages add."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from affectlab._plugs import Plug, added_names, find_plug
from affectlab.errors import InputError, unknown_name
from affectlab.models.embedding._encoder import Encoder, check_encoder
from affectlab.models.embedding._function import of_function
from affectlab.models.embedding._settings import (
    FaceSettings,
    HogSettings,
    LbpSettings,
    NoSettings,
    TextSettings,
    TransformersSettings,
    read_settings,
)

__all__ = ["GROUP", "PLACES", "list_encoders", "load_encoder"]

GROUP = "affectlab.encoders"
"""Entry points through which other packages add encoders."""
PLACES: Mapping[str, str] = {
    "siglip2": "google/siglip2-so400m-patch14-384",
    "clip": "openai/clip-vit-base-patch16",
    "dinov2": "facebook/dinov2-base",
}
"""Checkpoints that short names stand for."""
_ELSEWHERE = {"device": ("auto", "cpu"), "precision": ("auto", "fp32")}
"""What may be said to encoders that compute nowhere else."""


def _faces(place: str, settings: Mapping[str, Any]) -> Encoder:
    from affectlab.models.embedding._offline import faces_encoder

    _nothing_behind("faces", place)
    read_settings(FaceSettings, _here("faces", settings), "faces")
    return faces_encoder()


def _hog(place: str, settings: Mapping[str, Any]) -> Encoder:
    from affectlab.models.embedding._offline import hog_encoder

    _nothing_behind("hog", place)
    return hog_encoder(read_settings(HogSettings, _here("hog", settings), "hog"))


def _lbp(place: str, settings: Mapping[str, Any]) -> Encoder:
    from affectlab.models.embedding._offline import lbp_encoder

    _nothing_behind("lbp", place)
    return lbp_encoder(read_settings(LbpSettings, _here("lbp", settings), "lbp"))


def _texts(place: str, settings: Mapping[str, Any]) -> Encoder:
    given = _here("texts", settings)
    if place:
        from affectlab.models.embedding._offline_fitted import load_text_encoder

        read_settings(NoSettings, given, f"texts:{place}")
        return load_text_encoder(Path(place))
    from affectlab.models.embedding._offline_texts import HashedTexts

    chosen = read_settings(TextSettings, given, "texts")
    return HashedTexts(chosen.width, chosen.seed)


def _transformers(place: str, settings: Mapping[str, Any]) -> Encoder:
    from affectlab.models.embedding._transformers import transformers_encoder

    if not place:
        raise InputError(
            "encoder 'transformers': expected a folder or the name of a checkpoint behind a colon, "
            "such as transformers:google/siglip2-base-patch16-224"
        )
    name = f"transformers:{place}"
    return transformers_encoder(place, read_settings(TransformersSettings, settings, name))


def _short(name: str) -> Callable[[str, Mapping[str, Any]], Encoder]:
    return lambda place, settings: _transformers(place or PLACES[name], settings)


_OURS: Mapping[str, Callable[[str, Mapping[str, Any]], Encoder]] = {
    "faces": _faces,
    "hog": _hog,
    "lbp": _lbp,
    "texts": _texts,
    **{name: _short(name) for name in PLACES},
    "transformers": _transformers,
}


def list_encoders() -> tuple[str, ...]:
    """Names that :func:`load_encoder` knows, affectlab's own first.

    Another package adds one by an entry point in the group ``affectlab.encoders`` that leads to a
    function: it is given what stands behind the colon of the name, if anything does, and the
    settings by name, and gives an :class:`Encoder`, or a function from images or texts to rows.

    Examples
    --------
    >>> list_encoders()[:4]
    ('faces', 'hog', 'lbp', 'texts')
    """
    return (*_OURS, *(name for name in added_names(GROUP) if name not in _OURS))


def load_encoder(
    encoder: str | Encoder | Callable[[Any], Any] = "faces", **settings: Any
) -> Encoder:
    """Find an encoder.

    Parameters
    ----------
    encoder
        For images without any weights: ``"faces"``, directions of edges and local patterns in
        centred faces; ``"hog"`` and ``"lbp"``, either alone. For texts without any weights:
        ``"texts"``, words and pieces of words in a fixed projection, or ``"texts:FOLDER"``, one
        that :func:`fit_text_encoder` has fitted. With weights: ``"transformers:PLACE"``, a
        checkpoint of the transformers library, from a folder or by its name on the hub, of which a
        local copy is taken where there is one; ``"siglip2"``, ``"clip"`` and ``"dinov2"`` are short
        for checkpoints in common use, ``"siglip2:FOLDER"`` is a copy of yours. The name of an entry
        point of another package. An encoder, which is given back; or a function from a list of
        images, or of texts, to rows of numbers.
    **settings
        Of an encoder by name. ``hog``: `size`, `cell`, `orientations`. ``lbp``: `size`, `grid`,
        `radii`. ``texts``: `width`, `seed`. ``transformers``: `kind`, `pooling`, `device`,
        `precision`, `batch`, `max_tokens`. A function: `name`, `kind`, `version`, `batch`.
        `device` and `precision` may be ``"auto"`` for any encoder.

    Raises
    ------
    InputError
        When the name or a setting is not known, or the encoder cannot be loaded.
    MissingDependencyError
        When it needs libraries that are not installed.

    Examples
    --------
    >>> load_encoder("texts", width=64).encode(["so happy"]).shape
    (1, 64)
    >>> load_encoder("face")
    Traceback (most recent call last):
    affectlab.errors.InputError: unknown encoder 'face'; did you mean 'faces'?
    """
    given = {
        name: value
        for name, value in settings.items()
        if not (name in _ELSEWHERE and value == "auto")
    }
    if not isinstance(encoder, str):
        return _ready(encoder, given)
    name, _, place = encoder.partition(":")
    if name in _OURS:
        return _OURS[name](place, given)
    plug = find_plug(GROUP, name)
    if plug is not None:
        return _of_package(plug, place, given)
    if encoder and Path(encoder).is_dir():
        raise InputError(
            f"encoder {encoder!r} is a folder; expected transformers:{encoder} for a checkpoint, "
            f"or texts:{encoder} for an encoder of texts that was fitted"
        )
    raise unknown_name("encoder", name, list_encoders())


def _ready(encoder: Any, given: Mapping[str, Any]) -> Encoder:
    if hasattr(encoder, "encode"):
        if given:
            raise InputError(
                f"encoder {getattr(encoder, 'name', '')!r} is given ready; settings are for "
                "encoders by name"
            )
        return check_encoder(encoder, "the encoder given")
    if not callable(encoder):
        raise InputError(
            f"encoder: expected a name, an encoder or a function, not {type(encoder).__name__}"
        )
    return of_function(encoder, given)


def _of_package(plug: Plug, place: str, given: Mapping[str, Any]) -> Encoder:
    try:
        made: Any = plug.found(*([place] if place else []), **given)
    except Exception as error:
        raise InputError(f"{plug.where} cannot be loaded: {error}") from error
    if hasattr(made, "encode"):
        return check_encoder(made, plug.where)
    if callable(made):
        return of_function(made, {"name": getattr(made, "name", plug.name)})
    raise InputError(f"{plug.where} gives {type(made).__name__}; expected an encoder or a function")


def _nothing_behind(name: str, place: str) -> None:
    if place:
        raise InputError(f"encoder '{name}:{place}': {name!r} takes nothing behind a colon")


def _here(name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Take out device and precision, which this encoder has no choice of."""
    for key, known in _ELSEWHERE.items():
        if settings.get(key, known[0]) not in known:
            raise InputError(
                f"encoder {name!r}: {key} = {settings[key]!r}; it computes on the CPU in fp32, "
                f"expected {known[0]!r} or {known[1]!r}"
            )
    return {key: value for key, value in settings.items() if key not in _ELSEWHERE}
