"""Which words go with which labels."""

from affectlab.analysis.words.log_odds import LogOdds, log_odds
from affectlab.analysis.words.tokens import Tokens, tokenize

__all__ = [
    "LogOdds",
    "Tokens",
    "log_odds",
    "tokenize",
]
