"""Images to one emotion of several: networks that learn which mistakes are worse.

A :class:`VisionClassifier` fine-tunes an image network, or trains a head on embeddings, with
cross-entropy or a loss of :mod:`affectlab.models.losses`, and keeps the epoch that is best by
accuracy or by how mild its mistakes are. Needs the extra ``models``, which is imported when the
classifier is first used.
"""

from typing import TYPE_CHECKING

from affectlab.core.lazy import lazily
from affectlab.models.vision.settings import VisionTraining

if TYPE_CHECKING:
    from affectlab.models.vision.classifier import VisionClassifier

__all__ = ["VisionClassifier", "VisionTraining"]

if not TYPE_CHECKING:
    # Load what needs torch when it is first used.
    __getattr__, __dir__ = lazily(
        __name__,
        __all__,
        {
            "VisionClassifier": "classifier",
        },
        first="affectlab.models.devices",
    )
