"""Face raters by name: adapters for packages and services, and those that packages add."""

from __future__ import annotations

from typing import Any

from affectlab.core.registry import Factories
from affectlab.models.raters.rater import FaceRater, RatesFaces

__all__ = ["list_face_raters", "load_face_rater"]


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
    return _RATERS.names()


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
    return _RATERS.make(rater, settings)


def _of_function(function: Any, *, name: str) -> FaceRater:
    return FaceRater(
        name,
        function,
        tuple(getattr(function, "labels", ())),
        version=str(getattr(function, "version", "")),
        scale=str(getattr(function, "scale", "0-1 interval")),
        settings=dict(getattr(function, "settings", {})),
        batch=int(getattr(function, "batch", 1)),
        complete=bool(getattr(function, "complete", True)),
    )


_RATERS = Factories(
    kind="face rater",
    group="affectlab.face_raters",
    accept=FaceRater,
    expected="a FaceRater or a function",
    of_function=_of_function,
    ours={
        "pyfeat": "affectlab.models.raters.pyfeat:pyfeat_rater",
        "hsemotion": "affectlab.models.raters.hsemotion:hsemotion_rater",
        "deepface": "affectlab.models.raters.deepface:deepface_rater",
        "hume": "affectlab.models.raters.hume:hume_rater",
        "hume-batch": "affectlab.models.raters.hume:hume_batch_rater",
    },
)
