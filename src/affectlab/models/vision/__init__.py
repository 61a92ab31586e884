"""Images to one emotion of several: networks that learn which mistakes are worse.

A :class:`VisionClassifier` fine-tunes an image network, or trains a head on embeddings, with
cross-entropy or a loss of :mod:`affectlab.models.losses`, and keeps the epoch that is best by
accuracy or by how mild its mistakes are. Needs the extra ``models``, which is imported when the
classifier is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from affectlab.models.vision.settings import VisionTraining

if TYPE_CHECKING:
    from affectlab.models.vision.classifier import VisionClassifier

__all__ = ["VisionClassifier", "VisionTraining"]


def __getattr__(name: str) -> Any:
    """Load what needs torch when it is first used."""
    if name == "VisionClassifier":
        # Where torch is not installed, this says so, and what to install.
        import_module("affectlab.models.devices")
        return import_module(f"{__name__}.classifier").VisionClassifier
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
