"""How alike two reactions are, without a model: by the words that they share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from affectlab._types import Floats
from affectlab.errors import InputError

__all__ = ["PairScorer", "TfidfScorer", "score_pairs", "scorer_name"]

PairScorer = Callable[[list[str], list[str]], Any]
"""Takes n texts and n others and gives n scores, higher for more alike."""


class TfidfScorer:
    """Cosine of the words of two texts, each weighted by how few texts hold it.

    Parameters
    ----------
    texts
        All texts, from which the weights of words are learnt.

    Examples
    --------
    >>> scorer = TfidfScorer(["the sea is calm", "the calm sea", "a dog barks"])
    >>> found = scorer(["the calm sea"] * 2, ["the sea is calm", "a dog barks"])
    >>> [round(float(score), 2) for score in found]
    [0.8, 0.0]
    """

    name = "TF-IDF cosine"

    def __init__(self, texts: Sequence[str]) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        self._vectors = TfidfVectorizer(token_pattern=r"(?u)\w+(?:'\w+)*", dtype=np.float64)
        try:
            self._vectors.fit(texts)
        except ValueError:
            raise InputError("none of the reactions holds a word; expected texts") from None

    def __call__(self, texts: list[str], others: list[str]) -> Floats:
        """Score n pairs, from 0 (no word in common) to 1 (the same words)."""
        one, two = self._vectors.transform(texts), self._vectors.transform(others)
        found: Floats = np.asarray(one.multiply(two).sum(axis=1), dtype=np.float64).ravel()
        return found


def score_pairs(scorer: PairScorer, texts: list[str], others: list[str]) -> Floats:
    """Ask a scorer for n scores and check them.

    Raises
    ------
    InputError
        When it gives another number of them, or one that is no number.
    """
    found = np.asarray(scorer(texts, others), dtype=np.float64)
    if found.shape != (len(texts),):
        raise InputError(
            f"{scorer_name(scorer)}: gave scores of shape {found.shape}; expected {(len(texts),)}"
        )
    if np.isnan(found).any():
        at = int(np.flatnonzero(np.isnan(found))[0])
        raise InputError(
            f"{scorer_name(scorer)}: gave no number for {texts[at]!r:.40} and {others[at]!r:.40}"
        )
    return found


def scorer_name(scorer: PairScorer) -> str:
    """Say what a scorer is called."""
    own = getattr(scorer, "name", None) or getattr(scorer, "__name__", None)
    return str(own or type(scorer).__name__)
