"""Encoders from files of weights as their authors publish them."""

from typing import TYPE_CHECKING

from affectlab.core.interface.lazy import lazily
from affectlab.models.embedding.published.layouts import LAYOUTS as LAYOUTS

if TYPE_CHECKING:
    from affectlab.models.embedding.published.encoder import (
        convert_weights as convert_weights,
        published_encoder as published_encoder,
    )

__all__: list[str] = []

if not TYPE_CHECKING:
    # Load what needs torch when it is first used.
    __getattr__, __dir__ = lazily(__name__, __all__)
