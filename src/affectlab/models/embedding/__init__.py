"""Embeddings of images and texts: one row of numbers per stimulus, from an encoder by name.

:func:`embed` encodes whatever was not encoded before, in this process or on a cluster;
:class:`Embeddings` opens what it wrote. :func:`load_encoder` finds encoders: those that need no
weights, checkpoints of the transformers library, and those of other packages.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from affectlab.models.embedding._card import EncoderCard
from affectlab.models.embedding._embed import embed
from affectlab.models.embedding._embeddings import Embeddings
from affectlab.models.embedding._encoder import Encoder, encode_batch
from affectlab.models.embedding._load import list_encoders, load_encoder
from affectlab.models.embedding._told import EmbedRun, SetAside

if TYPE_CHECKING:
    from affectlab.models.embedding._convert import convert_weights
    from affectlab.models.embedding._offline_fitted import fit_text_encoder

__all__ = [
    "EmbedRun",
    "Embeddings",
    "Encoder",
    "EncoderCard",
    "SetAside",
    "convert_weights",
    "embed",
    "encode_batch",
    "fit_text_encoder",
    "list_encoders",
    "load_encoder",
]

_LATER = {"convert_weights": "_convert", "fit_text_encoder": "_offline_fitted"}


def __getattr__(name: str) -> Any:
    """Load what needs torch or scikit-learn when it is first used."""
    if name in _LATER:
        return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
