"""Reactions to images with captions: what people felt, why, and how far it can be relied on."""

from affectlab.analysis.reactions.agreement import (
    PairScorer,
    ReactionAgreement,
    TfidfScorer,
    agreement_of_reactions,
)
from affectlab.analysis.reactions.copies import NearCopies, near_copies
from affectlab.analysis.reactions.diversity import (
    EmotionDiversity,
    chao_shen_entropy,
    emotion_diversity,
    plain_entropy,
)
from affectlab.analysis.reactions.machine_written import MachineSigns, machine_signs
from affectlab.analysis.reactions.mapping import EmotionMap, MappedWord, map_emotions
from affectlab.analysis.reactions.popularity import popular_emotions
from affectlab.analysis.reactions.sentiment import SentimentMatch, sentiment_match, sentiments_of
from affectlab.analysis.reactions.summary import (
    ReactionSummary,
    figures_of_reactions,
    summarise_reactions,
)
from affectlab.analysis.reactions.table import reaction_table
from affectlab.analysis.reactions.words import EmotionWords, normalise_emotions

__all__ = [
    "EmotionDiversity",
    "EmotionMap",
    "EmotionWords",
    "MachineSigns",
    "MappedWord",
    "NearCopies",
    "PairScorer",
    "ReactionAgreement",
    "ReactionSummary",
    "SentimentMatch",
    "TfidfScorer",
    "agreement_of_reactions",
    "chao_shen_entropy",
    "emotion_diversity",
    "figures_of_reactions",
    "machine_signs",
    "map_emotions",
    "near_copies",
    "normalise_emotions",
    "plain_entropy",
    "popular_emotions",
    "reaction_table",
    "sentiment_match",
    "sentiments_of",
    "summarise_reactions",
]
