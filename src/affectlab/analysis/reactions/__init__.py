"""Reactions to images with captions: what people felt, why, and how far it can be relied on."""

from affectlab.analysis.reactions._agreement import ReactionAgreement, agreement_of_reactions
from affectlab.analysis.reactions._copies import NearCopies, near_copies
from affectlab.analysis.reactions._diversity import EmotionDiversity, emotion_diversity
from affectlab.analysis.reactions._entropy import chao_shen_entropy, plain_entropy
from affectlab.analysis.reactions._machine_written import MachineSigns, machine_signs
from affectlab.analysis.reactions._mapping import EmotionMap, MappedWord, map_emotions
from affectlab.analysis.reactions._pair_scorers import PairScorer, TfidfScorer
from affectlab.analysis.reactions._popular import PopularEmotions, popular_emotions
from affectlab.analysis.reactions._sentiment import (
    SentimentMatch,
    sentiment_match,
    sentiments_of,
)
from affectlab.analysis.reactions._table import reaction_table
from affectlab.analysis.reactions._words import EmotionWords, normalise_emotions

__all__ = [
    "EmotionDiversity",
    "EmotionMap",
    "EmotionWords",
    "MachineSigns",
    "MappedWord",
    "NearCopies",
    "PairScorer",
    "PopularEmotions",
    "ReactionAgreement",
    "SentimentMatch",
    "TfidfScorer",
    "agreement_of_reactions",
    "chao_shen_entropy",
    "emotion_diversity",
    "machine_signs",
    "map_emotions",
    "near_copies",
    "normalise_emotions",
    "plain_entropy",
    "popular_emotions",
    "reaction_table",
    "sentiment_match",
    "sentiments_of",
]
