"""Reactions to images with captions: what people felt, why, and how far it can be relied on."""

from affectlab.analysis.reactions.agreement import PairScorer as PairScorer, agreement_of_reactions
from affectlab.analysis.reactions.copies import near_copies
from affectlab.analysis.reactions.diversity import emotion_diversity
from affectlab.analysis.reactions.machine_written import machine_signs
from affectlab.analysis.reactions.mapping import map_emotions
from affectlab.analysis.reactions.popularity import popular_emotions
from affectlab.analysis.reactions.sentiment import (
    Sentiment as Sentiment,
    sentiment_match,
    sentiments_of as sentiments_of,
)
from affectlab.analysis.reactions.summary import (
    figures_of_reactions as figures_of_reactions,
    summarise_reactions,
)
from affectlab.analysis.reactions.table import reaction_table
from affectlab.analysis.reactions.words import EmotionWords as EmotionWords, normalise_emotions

__all__ = [
    "agreement_of_reactions",
    "emotion_diversity",
    "machine_signs",
    "map_emotions",
    "near_copies",
    "normalise_emotions",
    "popular_emotions",
    "reaction_table",
    "sentiment_match",
    "summarise_reactions",
]
