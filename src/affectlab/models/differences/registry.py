"""Difference metrics by name: those of affectlab, and those that installed packages add."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from affectlab.core.errors import AffectlabError, InputError, unknown_name
from affectlab.core.registry import Plug, added_names, find_plug
from affectlab.core.types import Floats
from affectlab.core.words import shown
from affectlab.models.differences.metric import DifferenceMetric, PreparedMetric, check_metric
from affectlab.models.metric_specs import parse_spec

if TYPE_CHECKING:
    from PIL import Image


__all__ = [
    "GROUP",
    "FunctionDifference",
    "imported",
    "list_difference_metrics",
    "load_difference_metric",
    "of_function",
]

# Functions of two pictures as difference metrics.


_SETTINGS = ("name", "version", "higher_is_more_different")


class FunctionDifference(PreparedMetric):
    """A function from two pictures to a number; made by :func:`of_function`."""

    batch = 1

    def __init__(
        self, function: Callable[[Any, Any], Any], name: str, version: str, higher: bool
    ) -> None:
        self.name = name
        self.version = version
        self.settings = {}
        self.higher_is_more_different = higher
        self._function = function

    def prepare(self, pictures: Sequence[Image.Image]) -> Sequence[Any]:
        """Give the pictures back."""
        return pictures

    def compare(self, first: Sequence[Any], second: Sequence[Any]) -> Floats:
        """Call the function for each pair; shape (n,).

        Raises
        ------
        InputError
            When it fails, or gives no number.
        """
        return np.array([self._of(one, other) for one, other in zip(first, second, strict=True)])

    def _of(self, first: Image.Image, second: Image.Image) -> float:
        try:
            # Copies: a picture is in many pairs, and the function may change it.
            found = self._function(first.copy(), second.copy())
        except InputError:
            raise
        # The function is anybody's code.
        except Exception as error:
            raise InputError(
                f"metric {self.name!r} fails on two pictures ({type(error).__name__}: "
                f"{' '.join(str(error).split())[:160]})"
            ) from error
        try:
            return float(found)
        except (TypeError, ValueError):
            raise InputError(
                f"metric {self.name!r} gave {type(found).__name__} for two pictures; expected one "
                "number"
            ) from None


def of_function(
    function: Callable[[Any, Any], Any], given: Mapping[str, Any]
) -> FunctionDifference:
    """Make a metric of a function from two pictures to a number.

    Parameters
    ----------
    given
        `name`, `version` and `higher_is_more_different`, each by default the attribute of the
        function of that name; without one, numbers rise with the difference.

    Raises
    ------
    InputError
        When a setting is not known or of another kind.
    """
    for setting in given:
        if setting not in _SETTINGS:
            raise unknown_name("setting", setting, _SETTINGS, "a function as a metric")
    own = getattr(function, "__qualname__", None) or type(function).__qualname__
    short = str(own).rsplit(".", 1)[-1].strip("<>")
    name = given.get("name") or getattr(function, "name", "") or short
    version = given.get("version", getattr(function, "version", ""))
    higher = given.get(
        "higher_is_more_different", getattr(function, "higher_is_more_different", True)
    )
    if not isinstance(higher, bool):
        raise InputError(
            f"metric {str(name)!r}: higher_is_more_different is {higher!r}; expected true or false"
        )
    return FunctionDifference(function, str(name), str(version), higher)


def imported(place: str) -> Any:
    """Import what ``module:name`` names.

    Raises
    ------
    InputError
        When there is no such module or name, or importing it fails.
    """
    module, _, name = place.partition(":")
    said = shown(place, 120)
    try:
        found: Any = import_module(module)
    except ModuleNotFoundError as missing:
        raise InputError(
            f"metric {said!r}: no module {missing.name!r} can be imported; expected the name of a "
            "metric, or module:function of a module on Python's path (PYTHONPATH adds folders)"
        ) from None
    # What a module's import raises is up to the module.
    except Exception as error:
        raise InputError(f"metric {said!r}: importing {module} fails: {error}") from error
    for part in name.split("."):
        if not hasattr(found, part):
            raise InputError(f"metric {said!r}: module {module} has no {name!r}")
        found = getattr(found, part)
    return found


GROUP = "affectlab.difference_metrics"
"""Entry points through which other packages add metrics."""

_OURS: Mapping[str, tuple[str, str]] = {
    "mse": ("pixels", "mse"),
    "mae": ("pixels", "mae"),
    "ssim": ("ssim", "ssim"),
    "lpips": ("lpips", "lpips"),
    "deep": ("deep", "deep"),
    "blendshapes": ("faces.blendshapes", "blendshapes"),
    "landmarks": ("faces.landmarks", "landmarks"),
}
"""Module and function of each metric of affectlab."""


def list_difference_metrics() -> tuple[str, ...]:
    """Names that :func:`load_difference_metric` knows, affectlab's own first.

    Another package adds one by an entry point in the group ``affectlab.difference_metrics`` that
    leads to a function: it is given what stands behind the colon of the name, if anything does, and
    the settings by name, and gives a :class:`DifferenceMetric`, or a function of two pictures.

    Examples
    --------
    >>> list_difference_metrics()[:4]
    ('mse', 'mae', 'ssim', 'lpips')
    """
    return (*_OURS, *(name for name in added_names(GROUP) if name not in _OURS))


def load_difference_metric(
    metric: str | DifferenceMetric | Callable[[Any, Any], Any] = "ssim", **settings: Any
) -> DifferenceMetric:
    """Find a difference metric.

    Parameters
    ----------
    metric
        ``"mse"``, ``"mae"``: errors of pixels. ``"ssim"``: structural similarity, turned round.
        ``"lpips"``: needs its weights, ``trunk`` and ``linear``. ``"deep:ENCODER"``: distance of
        embeddings, of any encoder that :func:`affectlab.models.embedding.load_encoder` knows.
        ``"blendshapes"`` and ``"landmarks"``: need ``model``, a file of MediaPipe, or landmarks
        from ``file``. The folder of an
        :class:`~affectlab.models.differences.ExpressionMetric`. The name of an entry point of
        another package. ``"module:function"``, a function that can be imported. Settings may stand
        behind a name: ``"deep:faces,distance=cosine"``. A metric, which is given back; or a
        function of two pictures that gives a number.
    **settings
        Of a metric by name: see the functions of the modules of this package; and for all,
        ``name``, what the metric is called in ratings. Of a function: ``name``, ``version`` and
        ``higher_is_more_different``.

    Raises
    ------
    InputError
        When the name or a setting is not known, or the metric cannot be loaded.
    MissingDependencyError
        When it needs a library that is not installed.

    Examples
    --------
    >>> load_difference_metric("deep:faces,distance=cosine").name
    'deep:faces cosine'
    >>> load_difference_metric("sim")
    Traceback (most recent call last):
    affectlab.InputError: unknown difference metric 'sim'; did you mean 'ssim'?
    """
    if not isinstance(metric, str):
        return _ready(metric, settings)
    text, told = _told(metric)
    for key in told:
        if key in settings:
            raise InputError(
                f"metric {shown(metric, 120)!r}: {key!r} is given twice; expected once"
            )
    settings = told | settings
    name, colon, place = text.partition(":")
    if name in _OURS:
        module, function = _OURS[name]
        make = getattr(import_module(f"affectlab.models.differences.{module}"), function)
        return _made(make, name, place, settings)
    if text and Path(text).is_dir():
        return _learned(Path(text), settings)
    plug = find_plug(GROUP, name)
    if plug is not None:
        return _of_package(plug, place, settings)
    if colon and name and place:
        return _ready(imported(text), settings)
    raise unknown_name("difference metric", shown(text, 80), list_difference_metrics())


def _told(metric: str) -> tuple[str, dict[str, Any]]:
    """Take settings from a text; the name of a folder may have commas in it."""
    if "," in metric and Path(metric).is_dir():
        return metric, {}
    return parse_spec(metric)


def _made(
    make: Callable[..., Any], name: str, place: str, settings: dict[str, Any]
) -> DifferenceMetric:
    """Call the function of a metric; its parameters are the settings."""
    parameters = signature(make).parameters
    known = [key for key, one in parameters.items() if one.kind is not one.VAR_KEYWORD]
    called = settings.pop("name", None)
    if len(known) == len(parameters):
        for key in settings:
            if key not in known:
                raise unknown_name("setting", key, [*known, "name"], f"metric {name!r}")
    if "place" in known:
        settings = ({"place": place} if place else {}) | settings
    elif place:
        raise InputError(
            f"metric '{name}:{shown(place, 60)}': {name!r} takes nothing behind a colon"
        )
    return _called(make(**settings), called)


def _called(metric: Any, name: Any) -> DifferenceMetric:
    """Give a metric the name that is wanted."""
    if name is not None:
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"metric {metric.name!r}: name = {name!r}: expected a text")
        metric.name = name
    found: DifferenceMetric = metric
    return found


def _ready(metric: Any, settings: Mapping[str, Any]) -> DifferenceMetric:
    if hasattr(metric, "differences"):
        if settings:
            raise InputError(
                f"metric {getattr(metric, 'name', '')!r} is given ready; settings are for metrics "
                "by name"
            )
        return check_metric(metric, "the metric given")
    if not callable(metric):
        raise InputError(
            f"difference metric: expected a name, a metric or a function, not "
            f"{type(metric).__name__}"
        )
    return of_function(metric, settings)


def _learned(folder: Path, settings: dict[str, Any]) -> DifferenceMetric:
    from affectlab.models.differences.learned import ExpressionMetric

    def load(encoder: Any = None) -> ExpressionMetric:
        return ExpressionMetric.load(folder, encoder=encoder)

    return _made(load, str(folder), "", settings)


def _of_package(plug: Plug, place: str, settings: dict[str, Any]) -> DifferenceMetric:
    called = settings.pop("name", None)
    try:
        made: Any = plug.found(*([place] if place else []), **settings)
    except AffectlabError:
        raise
    except Exception as error:
        raise InputError(f"{plug.where} cannot be loaded: {error}") from error
    if hasattr(made, "differences"):
        return _called(check_metric(made, plug.where), called)
    if callable(made):
        named = {"name": called or getattr(made, "name", plug.name)}
        return of_function(made, named)
    raise InputError(f"{plug.where} gives {type(made).__name__}; expected a metric or a function")
