"""Face raters by name: adapters for packages and services, and those that packages add."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from affectlab.core.errors import AffectlabError, InputError, unknown_name
from affectlab.core.registry import Plug, added_names, find_plug
from affectlab.models.raters.rater import FaceRater, RatesFaces

__all__ = ["GROUP", "list_face_raters", "load_face_rater"]

GROUP = "affectlab.face_raters"
"""Entry points through which other packages add face raters."""

_OURS: Mapping[str, tuple[str, str]] = {
    "pyfeat": ("pyfeat", "pyfeat_rater"),
    "hsemotion": ("hsemotion", "hsemotion_rater"),
    "deepface": ("deepface", "deepface_rater"),
    "hume": ("hume", "hume_rater"),
    "hume-batch": ("hume", "hume_batch_rater"),
}
"""Module and function of each adapter of affectlab."""


def list_face_raters() -> tuple[str, ...]:
    """Names that :func:`load_face_rater` knows, affectlab's own first.

    Another package adds one by an entry point in the group ``affectlab.face_raters`` that leads to
    a function: it is given the settings by name, and gives a :class:`FaceRater` or a function from
    pictures to scores.

    Examples
    --------
    >>> list_face_raters()[:4]
    ('pyfeat', 'hsemotion', 'deepface', 'hume')
    """
    return (*_OURS, *(name for name in added_names(GROUP) if name not in _OURS))


def load_face_rater(rater: str | FaceRater | RatesFaces, **settings: Any) -> FaceRater:
    """Find a face rater.

    Parameters
    ----------
    rater
        ``"pyfeat"``, ``"hsemotion"`` or ``"deepface"``: models of these packages, where they are
        installed. ``"hume"``: the expression measurement of Hume, which needs a key;
        ``"hume-batch"``: a server that speaks its earlier interface of jobs. The name of an entry
        point of another package. A rater, which is given back; or a function that takes a list of
        Pillow images and gives the scores of each, with the attribute ``labels``, and those of
        ``name``, ``version``, ``scale``, ``settings`` and ``batch`` that it has.
    **settings
        Of a rater by name; see the functions of the modules of this package.

    Raises
    ------
    InputError
        When the name or a setting is not known, or the rater cannot be loaded.
    MissingDependencyError
        When its package is not installed; the sentence says what to install.

    Examples
    --------
    >>> def smiles(pictures):
    ...     return [{"smile": 1.0} for _ in pictures]
    >>> smiles.labels = ("smile",)
    >>> load_face_rater(smiles).name
    'smiles'
    """
    if isinstance(rater, FaceRater):
        _no_settings(rater.name, settings)
        return rater
    if not isinstance(rater, str):
        if not callable(rater):
            raise InputError(
                f"face rater: expected a name or a function, not {type(rater).__name__}"
            )
        named = str(getattr(rater, "name", "") or _name_of(rater))
        _no_settings(named, settings)
        return _of_function(named, rater)
    if rater in _OURS:
        module, function = _OURS[rater]
        make = getattr(import_module(f"affectlab.models.raters.{module}"), function)
        return _made(make, rater, settings)
    plug = find_plug(GROUP, rater)
    if plug is None:
        raise unknown_name("face rater", rater, list_face_raters())
    return _of_package(plug, rater, settings)


def _made(make: Callable[..., FaceRater], name: str, settings: Mapping[str, Any]) -> FaceRater:
    """Call the function of an adapter; its parameters are the settings."""
    from inspect import signature

    known = tuple(signature(make).parameters)
    for setting in settings:
        if setting not in known:
            raise unknown_name("setting", setting, known, f"face rater {name!r}")
    return make(**settings)


def _no_settings(name: str, settings: Mapping[str, Any]) -> None:
    if settings:
        raise InputError(f"face rater {name!r} is given ready; settings are for raters by name")


def _name_of(function: object) -> str:
    own = getattr(function, "__qualname__", None)
    return str(own or type(function).__qualname__).rsplit(".", 1)[-1]


def _of_function(name: str, function: Any) -> FaceRater:
    labels = tuple(getattr(function, "labels", ()))
    return FaceRater(
        name,
        function,
        labels,
        version=str(getattr(function, "version", "")),
        scale=str(getattr(function, "scale", "0-1 interval")),
        settings=dict(getattr(function, "settings", {})),
        batch=int(getattr(function, "batch", 1)),
        complete=bool(getattr(function, "complete", True)),
    )


def _of_package(plug: Plug, name: str, settings: Mapping[str, Any]) -> FaceRater:
    try:
        made: Any = plug.found(**settings)
    except AffectlabError:
        raise
    except Exception as error:
        raise InputError(f"{plug.where} cannot be loaded: {error}") from error
    if isinstance(made, FaceRater):
        return made
    if callable(made):
        return _of_function(name, made)
    kind = type(made).__name__
    raise InputError(f"{plug.where} gives {kind}; expected a FaceRater or a function")
