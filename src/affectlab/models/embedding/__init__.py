"""Embeddings of images and texts: one row of numbers per stimulus, from an encoder by name.

:func:`embed` encodes whatever was not encoded before, in this process or on a cluster;
:class:`Embeddings` opens what it wrote. :func:`load_encoder` finds encoders: those that need no
weights, checkpoints of the transformers library, and those of other packages.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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

_LATER = {"convert_weights": "conversion", "fit_text_encoder": "offline_texts"}


def __getattr__(name: str) -> Any:
    """Load what needs torch or scikit-learn when it is first used."""
    if name in _LATER:
        return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
