"""Difference metrics by name: those of affectlab, and those that installed packages add."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from affectlab.core.errors import InputError
from affectlab.core.registry import Factories
from affectlab.core.types import Floats
from affectlab.models.differences.metric import DifferenceMetric, PreparedMetric, check_metric

if TYPE_CHECKING:
    from PIL import Image


__all__ = [
    "FunctionDifference",
    "list_difference_metrics",
    "load_difference_metric",
    "of_function",
]

# Functions of two pictures as difference metrics.


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
    function: Callable[[Any, Any], Any],
    *,
    name: str,
    version: str | None = None,
    higher_is_more_different: bool | None = None,
) -> FunctionDifference:
    """Make a metric of a function from two pictures to a number.

    Parameters
    ----------
    version, higher_is_more_different
        By default the attributes of the function; without them, numbers rise with the difference.

    Raises
    ------
    InputError
        When a setting is of another kind.
    """
    if version is None:
        version = getattr(function, "version", "")
    higher: Any = higher_is_more_different
    if higher is None:
        higher = getattr(function, "higher_is_more_different", True)
    if not isinstance(higher, bool):
        raise InputError(
            f"metric {str(name)!r}: higher_is_more_different is {higher!r}; expected true or false"
        )
    return FunctionDifference(function, str(name), str(version), higher)


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
    return _METRICS.names()


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
    return _METRICS.make(metric, settings)


def _renamed(metric: Any, name: Any) -> DifferenceMetric:
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"metric {metric.name!r}: name = {name!r}: expected a text")
    metric.name = name
    found: DifferenceMetric = metric
    return found


def _learned(folder: Path, encoder: Any = None) -> DifferenceMetric:
    from affectlab.models.differences.learned import ExpressionMetric

    return ExpressionMetric.load(folder, encoder=encoder)


def _accepted(found: Any, where: str) -> DifferenceMetric | None:
    return check_metric(found, where) if hasattr(found, "differences") else None


_METRICS = Factories[DifferenceMetric](
    kind="difference metric",
    group="affectlab.difference_metrics",
    accept=_accepted,
    expected="a metric or a function",
    of_function=of_function,
    place="place",
    spec=True,
    of_path=_learned,
    rename=_renamed,
    ours={
        "mse": "affectlab.models.differences.pixels:mse",
        "mae": "affectlab.models.differences.pixels:mae",
        "ssim": "affectlab.models.differences.ssim:ssim",
        "lpips": "affectlab.models.differences.lpips:lpips",
        "deep": "affectlab.models.differences.deep:deep",
        "blendshapes": "affectlab.models.differences.faces.blendshapes:blendshapes",
        "landmarks": "affectlab.models.differences.faces.landmarks:landmarks",
    },
)
