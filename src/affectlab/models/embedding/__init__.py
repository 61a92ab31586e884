"""Embeddings of images and texts: one row of numbers per stimulus, from an encoder by name.

:func:`embed` encodes whatever was not encoded before, in this process or on a cluster;
:class:`Embeddings` opens what it wrote. :func:`load_encoder` finds encoders: those that need no
weights, checkpoints of the transformers library, and those of other packages.
"""

from typing import TYPE_CHECKING

from affectlab.core.interface.lazy import lazily
from affectlab.models.embedding.card import EncoderCard as EncoderCard
from affectlab.models.embedding.embeddings import CARD as CARD, Embeddings, EmbedRun as EmbedRun
from affectlab.models.embedding.encoder import (
    Encoder,
    digest as digest,
    encode_batch as encode_batch,
)
from affectlab.models.embedding.jobs import (
    embed,
    is_out_of_memory as is_out_of_memory,
    let_go as let_go,
    loaded as loaded,
)
from affectlab.models.embedding.published import LAYOUTS as LAYOUTS
from affectlab.models.embedding.registry import (
    encoder_of as encoder_of,
    list_encoders,
    load_encoder,
)

if TYPE_CHECKING:
    from affectlab.models.embedding.checkpoints import (
        Tower as Tower,
        load_network as load_network,
        read_checkpoint as read_checkpoint,
    )
    from affectlab.models.embedding.offline_texts import fit_text_encoder
    from affectlab.models.embedding.published import convert_weights
    from affectlab.models.embedding.text_towers import text_tower as text_tower
    from affectlab.models.embedding.towers import (
        TowerEncoder as TowerEncoder,
        fingerprint_of_tower as fingerprint_of_tower,
        image_tower as image_tower,
    )

__all__ = [
    "Embeddings",
    "Encoder",
    "convert_weights",
    "embed",
    "fit_text_encoder",
    "list_encoders",
    "load_encoder",
]

if not TYPE_CHECKING:
    # Load what needs torch or scikit-learn when it is first used.
    __getattr__, __dir__ = lazily(__name__, __all__)
