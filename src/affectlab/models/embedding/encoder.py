"""What an encoder is, and checks of what one gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any, Literal, Protocol, TypeAlias, get_args, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from affectlab.core.errors import InputError
from affectlab.core.types import Image

__all__ = [
    "Batch",
    "Encoder",
    "Kind",
    "batch_of",
    "check_batch",
    "check_encoder",
    "digest",
    "encode_batch",
    "noun",
]

Kind: TypeAlias = Literal["image", "text"]
Batch: TypeAlias = "Sequence[Image.Image] | Sequence[str]"

DEFAULT_BATCH = 32
"""Inputs at a time, for encoders that do not say how many."""


@runtime_checkable
class Encoder(Protocol):
    """Turns images, or texts, into rows of numbers.

    An encoder may say more: `batch`, how many inputs are best given at a time (32 where it does not
    say), and `device`, where it computes.
    """

    @property
    def name(self) -> str:
        """What it is called, such as ``faces`` or ``transformers:google/siglip2-base``."""
        ...

    @property
    def kind(self) -> Kind:
        """What it takes: ``"image"`` or ``"text"``."""
        ...

    @property
    def width(self) -> int:
        """Numbers per input."""
        ...

    @property
    def fingerprint(self) -> str:
        """Hash of all that decides on the numbers: weights, preprocessing, settings."""
        ...

    @property
    def settings(self) -> Mapping[str, Any]:
        """What was chosen, fit for JSON."""
        ...

    def encode(self, batch: Any) -> NDArray[np.float32]:
        """Give one row per input, shape (n, width).

        An input has the same row whatever else is in the batch, up to rounding.

        Parameters
        ----------
        batch
            Images in RGB, as :func:`affectlab.models.images.load_image` gives them, or texts.
        """
        ...


def noun(kind: str) -> str:
    """Name what an encoder of a kind takes, in the plural."""
    return "images" if kind == "image" else "texts"


def digest(*parts: Any) -> str:
    """Hash parts, bytes as they are and all else as Python writes it; 32 hexadecimal digits.

    Examples
    --------
    >>> digest("faces", 1) == digest("faces", 1), digest("a", "b") == digest("ab")
    (True, False)
    """
    found = blake2b(digest_size=16)
    for part in parts:
        content = part if isinstance(part, bytes) else repr(part).encode()
        found.update(len(content).to_bytes(8, "little"))
        found.update(content)
    return found.hexdigest()


def check_encoder(found: Any, where: str) -> Encoder:
    """Check that something is an encoder; `where` names it in errors.

    Raises
    ------
    InputError
        When an attribute is missing or is of another kind.

    Examples
    --------
    >>> check_encoder(3, "mine")
    Traceback (most recent call last):
    affectlab.InputError: mine has no name; expected an encoder with name, kind, width,
    fingerprint, settings and encode
    """
    for name in ("name", "kind", "width", "fingerprint", "settings", "encode"):
        if not hasattr(found, name):
            raise InputError(
                f"{where} has no {name}; expected an encoder with name, kind, width, fingerprint, "
                "settings and encode"
            )
    if found.kind not in get_args(Kind):
        raise InputError(f"{where}: kind {found.kind!r}; expected 'image' or 'text'")
    width = found.width
    if isinstance(width, bool) or not isinstance(width, int) or width < 1:
        raise InputError(f"{where}: width {width!r}; expected a whole number from 1 on")
    for name in ("name", "fingerprint"):
        value = getattr(found, name)
        if not isinstance(value, str) or not value:
            raise InputError(f"{where}: {name} {value!r}; expected a text")
    if not isinstance(found.settings, Mapping):
        raise InputError(
            f"{where}: settings are of type {type(found.settings).__name__}; expected a mapping"
        )
    if not callable(found.encode):
        raise InputError(f"{where}: encode cannot be called; expected a method")
    known: Encoder = found
    return known


def batch_of(encoder: Encoder) -> int:
    """Give how many inputs an encoder wants at a time.

    Raises
    ------
    InputError
        When it is not a whole number from 1 on.
    """
    size = getattr(encoder, "batch", DEFAULT_BATCH)
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise InputError(
            f"encoder {encoder.name!r}: batch {size!r}; expected a whole number from 1 on"
        )
    return size


def check_batch(encoder: Encoder, batch: Sequence[Any]) -> None:
    """Refuse inputs of the other kind.

    Raises
    ------
    InputError
        When an input is not an image of Pillow in RGB, or not a text.
    """
    if isinstance(batch, str | bytes):
        raise InputError(f"encoder {encoder.name!r}: expected a list of {noun(encoder.kind)}")
    if encoder.kind == "text":
        for place, text in enumerate(batch):
            if not isinstance(text, str):
                raise InputError(
                    f"encoder {encoder.name!r} takes texts; input {place} is of type "
                    f"{type(text).__name__}"
                )
        return
    from PIL import Image

    for place, image in enumerate(batch):
        if not isinstance(image, Image.Image):
            raise InputError(
                f"encoder {encoder.name!r} takes images; input {place} is of type "
                f"{type(image).__name__} (load_image makes one of a file)"
            )
        if image.mode != "RGB":
            raise InputError(
                f"encoder {encoder.name!r}: image {place} has mode {image.mode!r}; expected 'RGB' "
                "(load_image converts it)"
            )


def encode_batch(encoder: Encoder, batch: Sequence[Any]) -> NDArray[np.float32]:
    """Encode inputs, and check what comes back.

    Returns
    -------
    ndarray
        Shape (n, width), float32, finite.

    Raises
    ------
    InputError
        When an input is of the other kind, or what the encoder gives is of another shape, no
        numbers, or not finite.

    Examples
    --------
    >>> from affectlab.models.embedding.registry import load_encoder
    >>> encode_batch(load_encoder("texts", width=64), ["so happy", ""]).shape
    (2, 64)
    """
    check_batch(encoder, batch)
    if not len(batch):
        return np.zeros((0, encoder.width), dtype=np.float32)
    given = np.asarray(encoder.encode(batch))
    if given.shape != (len(batch), encoder.width) or given.dtype.kind not in "fiu":
        raise InputError(
            f"encoder {encoder.name!r} gave {given.dtype} of shape {given.shape} for {len(batch)} "
            f"{noun(encoder.kind)}; expected numbers of shape {(len(batch), encoder.width)}"
        )
    found: NDArray[np.float32] = np.ascontiguousarray(given, dtype=np.float32)
    if not np.isfinite(found).all():
        place = int(np.flatnonzero(~np.isfinite(found).all(axis=1))[0])
        raise InputError(
            f"encoder {encoder.name!r} gave numbers that are not finite for input {place}; "
            "expected finite ones (a wider precision, such as fp32, may help)"
        )
    return found
