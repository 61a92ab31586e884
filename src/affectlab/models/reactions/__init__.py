"""Models that write why people feel what they feel, as raters of the protocol ``reaction``.

A :class:`ReactionGenerator` is BLIP-2 with a FLAN-T5 inside, or a T5 alone, asked in the words of
Socratis; it writes reactions and says how likely given ones are. :func:`rate_reactions_vlm` asks
any vision-language model the same.
"""

from typing import TYPE_CHECKING

from affectlab.core.interface.lazy import lazily
from affectlab.models.reactions.decoding import PAPER_TOKENS as PAPER_TOKENS, Decoding
from affectlab.models.reactions.generator import ReactionGenerator
from affectlab.models.reactions.items import (
    PersonReaction as PersonReaction,
    ReactionItem as ReactionItem,
    read_items,
    read_reactions,
)
from affectlab.models.reactions.prompt import FewShot, reaction_prompt as reaction_prompt

if TYPE_CHECKING:
    from affectlab.models.reactions.vlm import (
        VlmReactions as VlmReactions,
        plan_reactions_vlm as plan_reactions_vlm,
        rate_reactions_vlm,
    )

__all__ = [
    "Decoding",
    "FewShot",
    "ReactionGenerator",
    "rate_reactions_vlm",
    "read_items",
    "read_reactions",
]

if not TYPE_CHECKING:
    # Asking needs the extra "vlm"; writing does not.
    __getattr__, __dir__ = lazily(__name__, __all__)
