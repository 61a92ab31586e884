"""Embeddings of images: those given, or made by the encoder of a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from affectlab.errors import InputError
from affectlab.models.embedding import Embeddings, EncoderCard, embed, list_encoders

__all__ = ["embedded"]


def embedded(
    images: Any, name: str, known: EncoderCard | None, device: str, progress: Any = None
) -> Embeddings:
    """Give embeddings as they are, or embed images.

    Parameters
    ----------
    images
        Embeddings, or what :func:`affectlab.models.embedding.embed` takes.
    name
        Of the encoder, or the folder of a checkpoint of transformers.
    known
        The encoder that must have made them; None: any; images are embedded by that of
        this `name`.

    Raises
    ------
    InputError
        When another encoder made them, it cannot be loaded, or it reads texts.
    """
    if isinstance(images, Embeddings):
        if known is not None and not known.same(images.encoder):
            raise InputError(
                f"embeddings of encoder {images.encoder}; the model was trained on those of {known}"
            )
        found = images
    elif known is not None:
        from affectlab.models.heads._encoder_of import encoder_of

        found = embed(images, encoder_of(known, None, device), progress=progress)
    else:
        # A folder that happens to be called as an encoder is, such as faces/, is not meant.
        folder = name not in list_encoders() and Path(name).is_dir()
        made = f"transformers:{name}" if folder else name
        found = embed(images, made, device=device, progress=progress)
    if not len(found):
        raise InputError("embeddings of no stimulus; expected one or more")
    if found.encoder.kind != "image":
        raise InputError(f"encoder {found.encoder} reads texts; expected one of images")
    return found
