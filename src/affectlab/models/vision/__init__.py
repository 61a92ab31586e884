"""Images to one emotion of several: networks that learn which mistakes are worse.

A :class:`VisionClassifier` fine-tunes an image network, or trains a head on embeddings, with
cross-entropy or a loss of :mod:`affectlab.models.losses`, and keeps the epoch that is best by
accuracy or by how mild its mistakes are. Needs the extra ``models``, which is imported when the
classifier is first used.
"""

from typing import TYPE_CHECKING

from affectlab.core.interface.lazy import lazily
from affectlab.models.vision.settings import LossName as LossName, VisionTraining

if TYPE_CHECKING:
    from affectlab.models.vision.backbone import Head as Head
    from affectlab.models.vision.classifier import VisionClassifier
    from affectlab.models.vision.inputs import (
        Feed as Feed,
        Pictures as Pictures,
        Rows as Rows,
        codes_of as codes_of,
        names_of_labels as names_of_labels,
    )
    from affectlab.models.vision.loop import (
        Forward as Forward,
        Report as Report,
        loss_of as loss_of,
        note_epoch as note_epoch,
        probabilities_of as probabilities_of,
        scores_of as scores_of,
    )
    from affectlab.models.vision.training_options import ImageTraining as ImageTraining

__all__ = ["VisionClassifier", "VisionTraining"]

if not TYPE_CHECKING:
    # Load what needs torch when it is first used.
    __getattr__, __dir__ = lazily(__name__, __all__, first="affectlab.models.devices")
