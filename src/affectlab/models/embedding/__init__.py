"""Embeddings of images and texts: one row of numbers per stimulus, from an encoder by name.

:func:`embed` encodes whatever was not encoded before, in this process or on a cluster;
:class:`Embeddings` opens what it wrote. :func:`load_encoder` finds encoders: those that need no
weights, checkpoints of the transformers library, and those of other packages.
"""

from typing import TYPE_CHECKING

from affectlab.core.lazy import lazily
from affectlab.models.embedding.embeddings import Embeddings
from affectlab.models.embedding.encoder import Encoder
from affectlab.models.embedding.jobs import embed
from affectlab.models.embedding.registry import list_encoders, load_encoder

if TYPE_CHECKING:
    from affectlab.models.embedding.conversion import convert_weights
    from affectlab.models.embedding.offline_texts import fit_text_encoder

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
    __getattr__, __dir__ = lazily(
        __name__,
        __all__,
        {
            "convert_weights": "conversion",
            "fit_text_encoder": "offline_texts",
        },
    )
