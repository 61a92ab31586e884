"""Head banks: one small network per label on the embedding of an encoder.

Train a :class:`HeadBank` on embeddings and ratings, calibrate it on neutral stimuli, and let it
rate images; the answers are :class:`~affectlab.ratings.Ratings`. Heads need the extra ``models``,
which is imported when they are first used.
"""

from typing import TYPE_CHECKING

from affectlab.core.lazy import lazily
from affectlab.models.heads.agreement import head_agreement
from affectlab.models.heads.shape import BIG, SMALL, HeadShape
from affectlab.models.heads.targets import targets_from

if TYPE_CHECKING:
    from affectlab.models.heads.bank import HeadBank, rated_part
    from affectlab.models.heads.data import HeadData, stimulus_values
    from affectlab.models.heads.stage import Stage

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
    __getattr__, __dir__ = lazily(
        __name__,
        __all__,
        {
            "HeadBank": "bank",
            "HeadData": "data",
            "Stage": "stage",
            "rated_part": "bank",
            "stimulus_values": "data",
        },
    )
