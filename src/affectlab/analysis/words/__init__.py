"""Which words go with which labels."""

from affectlab.analysis.words.log_odds import LogOdds as LogOdds, log_odds as log_odds
from affectlab.analysis.words.tokens import Tokens as Tokens, tokenize as tokenize
