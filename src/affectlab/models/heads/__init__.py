"""Head banks: one small network per label on the embedding of an encoder.

Train a :class:`HeadBank` on embeddings and ratings, calibrate it on neutral stimuli, and let it
rate images; the answers are :class:`~affectlab.ratings.Ratings`. Heads need the extra ``models``,
which is imported when they are first used.
"""

from typing import TYPE_CHECKING

from affectlab.core.interface.lazy import lazily
from affectlab.models.heads.agreement import head_agreement
from affectlab.models.heads.shape import BIG, SMALL, HeadShape, head_shape as head_shape
from affectlab.models.heads.targets import targets_from

if TYPE_CHECKING:
    from affectlab.models.heads.bank import HeadBank, rated_part
    from affectlab.models.heads.calibration import NotCalibratedWarning as NotCalibratedWarning
    from affectlab.models.heads.data import HeadData, stimulus_values
    from affectlab.models.heads.fit import NotTrainedWarning as NotTrainedWarning
    from affectlab.models.heads.notes import (
        bin_names as bin_names,
        few_identities_notes as few_identities_notes,
        neutral_sentence as neutral_sentence,
        unsure_notes as unsure_notes,
    )
    from affectlab.models.heads.published import is_published as is_published
    from affectlab.models.heads.sources import (
        HeadSources as HeadSources,
        embeddings_of as embeddings_of,
        is_embeddings as is_embeddings,
        people_of as people_of,
        read_zero_to_seven as read_zero_to_seven,
    )
    from affectlab.models.heads.training.stage import Stage

__all__ = [
    "BIG",
    "SMALL",
    "HeadBank",
    "HeadData",
    "HeadShape",
    "Stage",
    "head_agreement",
    "rated_part",
    "stimulus_values",
    "targets_from",
]

if not TYPE_CHECKING:
    # Load what needs torch when it is first used.
    __getattr__, __dir__ = lazily(__name__, __all__)
