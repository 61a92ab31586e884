"""Pictures of the words of reactions, and of how much people differ."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from affectlab.core.words import plural
from affectlab.report.figures import fig_emotion_words, fig_pair_emotions
from affectlab.report.pictures.picture import Picture

if TYPE_CHECKING:
    from affectlab.analysis.reactions import EmotionDiversity, EmotionMap

__all__ = ["pictures_of_reactions"]

_DRAWN = 25


def pictures_of_reactions(mapped: EmotionMap, diversity: EmotionDiversity) -> tuple[Picture, ...]:
    """Draw the commonest words with their labels, and how many emotions a pair has."""
    frame = mapped.to_frame().head(_DRAWN)
    words = frame["word"].to_list()
    return (
        Picture(
            "emotion_words",
            "Most frequent emotions",
            f"{plural(len(words), 'emotion')} of {diversity.n_emotions:,}, with the label of each "
            f"in {mapped.taxonomy.name} and its polarity.",
            partial(
                fig_emotion_words,
                words,
                frame["n"].to_list(),
                labels=frame["label"].to_list(),
                polarities=[mapped.polarity(word) for word in words],
                taxonomy=mapped.taxonomy.name,
            ),
        ),
        Picture(
            "pair_emotions",
            "How much people differ about a pair",
            f"{plural(diversity.n_pairs, 'pair')}: different emotions of each, and the chance "
            "that two people's emotions are of opposite polarity.",
            partial(
                fig_pair_emotions,
                diversity.pairs["n_emotions"].to_list(),
                diversity.pairs["conflict"].to_list(),
            ),
        ),
    )
