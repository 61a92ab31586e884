"""How different two pictures are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from affectlab._types import Image
from affectlab.errors import InputError
from affectlab.models.differences._load import load_difference_metric
from affectlab.models.differences._metric import DifferenceMetric, Missing, checked_values
from affectlab.models.differences._prepared import PreparedMetric

__all__ = ["difference"]


def difference(
    image_a: str | Path | bytes | Image.Image,
    image_b: str | Path | bytes | Image.Image,
    metric: str | DifferenceMetric | Callable[[Any, Any], Any] = "ssim",
    **settings: Any,
) -> float:
    """Say how different two pictures are.

    Parameters
    ----------
    image_a, image_b
        Files, their bytes, or pictures of Pillow.
    metric, **settings
        As for :func:`load_difference_metric`. For many pairs, load the metric once and call its
        ``differences``, or use :func:`rate_differences`.

    Returns
    -------
    float
        In the unit of the metric; 0 for the same picture, and higher for a larger difference,
        unless the metric says otherwise (``higher_is_more_different``). A learned linear metric
        gives two identical faces its offset, not 0.

    Raises
    ------
    InputError
        When a picture cannot be read, the metric cannot be loaded, or it can say nothing about the
        two.

    Examples
    --------
    >>> from affectlab.simulate import draw_face
    >>> calm, happy = (draw_face("joy", intensity, size=64) for intensity in (0, 1))
    >>> difference(calm, calm), difference(calm, happy) > 0
    (0.0, True)
    """
    from affectlab.models.images import load_image

    loaded = load_difference_metric(metric, **settings)
    first, second = load_image(image_a), load_image(image_b)
    if isinstance(loaded, PreparedMetric):
        (found,) = loaded.judge([first], [second])
        if isinstance(found, Missing):
            raise InputError(f"metric {loaded.name!r} says nothing of the two: {found.reason}")
        return found
    value = float(checked_values(loaded.differences([first], [second]), 1, loaded.name)[0])
    if value != value:
        raise InputError(f"metric {loaded.name!r} says nothing of the two pictures")
    return value
