"""Models that write why people feel what they feel, as raters of the protocol ``reaction``.

A :class:`ReactionGenerator` is BLIP-2 with a FLAN-T5 inside, or a T5 alone, asked in the words of
Socratis; it writes reactions and says how likely given ones are. :func:`rate_reactions_vlm` asks
any vision-language model the same.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from affectlab.models.reactions.decoding import Decoding
from affectlab.models.reactions.generator import ReactionGenerator
from affectlab.models.reactions.items import read_items, read_reactions
from affectlab.models.reactions.prompt import FewShot

if TYPE_CHECKING:
    from affectlab.models.reactions.vlm import rate_reactions_vlm

__all__ = [
    "Decoding",
    "FewShot",
    "ReactionGenerator",
    "rate_reactions_vlm",
    "read_items",
    "read_reactions",
]


def __getattr__(name: str) -> Any:
    # Asking needs the extra "vlm"; writing does not.
    if name == "rate_reactions_vlm":
        return import_module(f"{__name__}.vlm").rate_reactions_vlm
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
