"""The prompt of the paper, alone and behind examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from affectlab.core.errors import InputError
from affectlab.models.reactions.items import PersonReaction, ReactionItem, key_of, same_pair, tidy

__all__ = ["PROMPT", "SOURCE", "FewShot", "reaction_prompt"]

SOURCE = "Socratis (Deng, Ray et al., 2023), section 3"
"""Where :data:`PROMPT` stands."""
PROMPT = (
    "Question: Why does a person feel {emotion} after seeing this image and reading the news "
    "caption '{caption}'? Answer:"
)
"""The question put to a model, with places for the emotion and the caption."""


@dataclass(frozen=True)
class FewShot:
    """Examples in the prompt, drawn from what people wrote about other pairs.

    The draw depends on the seed and on the item, not on the items beside it. Of one pair at most
    one reaction is shown, and never one to the pair that is asked about. The images of examples
    are not shown: BLIP-2 reads one image.

    Parameters
    ----------
    reactions
        What people wrote.
    shots
        Examples in each prompt.
    seed
        Draws them.

    Raises
    ------
    InputError
        When there are too few reactions, or one lacks a text.

    Examples
    --------
    >>> said = [PersonReaction("a", "Storm hits coast", "sad", "Homes are lost."),
    ...         PersonReaction("b", "Cup won", "happy", "Their team has won.")]
    >>> few = FewShot(said, shots=1)
    >>> [one.stimulus for one in few.draw(ReactionItem("a", "Storm hits coast", "awe"))]
    ['b']
    """

    reactions: Sequence[PersonReaction]
    shots: int = 3
    seed: int = 0

    def __post_init__(self) -> None:
        if self.shots < 1:
            raise InputError(f"shots {self.shots}: expected 1 or more")
        # Sorted, so that the order of a file decides nothing.
        given = sorted(
            set(self.reactions),
            key=lambda one: (one.stimulus, one.emotion, one.text, one.caption, one.rater),
        )
        for one in given:
            for name in ("caption", "emotion", "text"):
                if not tidy(getattr(one, name)):
                    raise InputError(
                        f"example about {one.stimulus!r}: the {name} is empty; expected text"
                    )
        if not given:
            raise InputError("no example is given; expected reactions of people to other pairs")
        object.__setattr__(self, "reactions", tuple(given))

    def draw(self, item: ReactionItem) -> tuple[PersonReaction, ...]:
        """Draw the examples of an item.

        Raises
        ------
        InputError
            When people reacted to fewer other pairs than examples are wanted.
        """
        name = key_of(str(self.seed), item.stimulus, item.label)
        rng = np.random.Generator(np.random.PCG64(int(name[:32], 16)))
        drawn: list[PersonReaction] = []
        for place in rng.permutation(len(self.reactions)):
            one = self.reactions[place]
            if not same_pair(item, one) and not any(same_pair(known, one) for known in drawn):
                drawn.append(one)
            if len(drawn) == self.shots:
                return tuple(drawn)
        raise InputError(
            f"{self.shots} examples for {item.stimulus!r}: there are reactions to {len(drawn)} "
            "other pairs; expected as many as examples, or fewer shots"
        )

    def told(self) -> str:
        """Say how examples are drawn, for the attributes of a rater."""
        content = [part for one in self.reactions for part in (one.caption, one.emotion, one.text)]
        return (
            f"{self.shots} of {len(self.reactions)} reactions of people to other pairs, seed "
            f"{self.seed}, {key_of(*content)[:16]}"
        )


def reaction_prompt(item: ReactionItem, examples: Sequence[PersonReaction] = ()) -> str:
    """Put an item into the question of the paper, with solved examples before it.

    Parameters
    ----------
    item
        The caption and the emotion, which are put in as they are written.
    examples
        Each is the same question with its answer behind it; an empty line parts them.

    Notes
    -----
    Source: Socratis, section 3. Examples are what its section 6 asks for; how they are laid out
    is ours.

    Examples
    --------
    >>> print(reaction_prompt(ReactionItem("a", "Storm hits coast", "awe")))
    Question: Why does a person feel awe after seeing this image and reading the news caption \
'Storm hits coast'? Answer:
    """
    solved = [
        f"{PROMPT.format(emotion=one.emotion, caption=one.caption)} {tidy(one.text)}"
        for one in examples
    ]
    return "\n\n".join([*solved, PROMPT.format(emotion=item.emotion, caption=item.caption)])
