"""How alike emotion terms are, by one kind of evidence at a time; ``nan`` where it says nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from affectlab._types import Floats
from affectlab.errors import InputError
from affectlab.stimuli.taxonomy._candidates import Candidates
from affectlab.stimuli.taxonomy._guards import function_words
from affectlab.stimuli.taxonomy._in_text import forms_of
from affectlab.stimuli.taxonomy._lexicon import Lexicon, tokens_of

__all__ = ["by_blocks", "by_context", "by_embedding", "by_lexicon"]

_SAME_POLARITY = 0.2
"""Similarity of two families of one polarity: enough to prefer it, too little to join them."""
_WINDOW = 5


def by_lexicon(candidates: Candidates, terms: Sequence[str]) -> Floats:
    """Compare families: 1 within one, .2 for one polarity, 0 otherwise; shape (n, n).

    Examples
    --------
    >>> from affectlab.stimuli.taxonomy import emotion_candidates, text_blocks
    >>> found = emotion_candidates(text_blocks(["joy, happiness, hope and rage"]))
    >>> by_lexicon(found, ["joy", "happiness", "hope", "rage"])[0].tolist()
    [1.0, 1.0, 0.2, 0.0]
    """
    lexicon = candidates.lexicon
    families = [lexicon.family(term) for term in terms]
    matrix = np.full((len(terms), len(terms)), np.nan)
    for k, one in enumerate(families):
        for j, other in enumerate(families):
            if one is None or other is None:
                continue
            polarity = lexicon.polarity(terms[k])
            near = polarity is not None and polarity == lexicon.polarity(terms[j])
            matrix[k, j] = 1.0 if one == other else _SAME_POLARITY if near else 0.0
    np.fill_diagonal(matrix, 1.0)
    return matrix


def by_context(candidates: Candidates, terms: Sequence[str], *, needs: int = 10) -> Floats:
    """Compare the words around terms by cosines of positive mutual information; shape (n, n).

    Counts words up to five away; words that say little by themselves are left out. A term that
    stands in the texts fewer than `needs` times has no similarity with others.
    """
    around = _contexts(candidates, terms)
    vocabulary = {word: k for k, word in enumerate(sorted(set().union(*map(set, around.values()))))}
    counts = np.zeros((len(terms), max(len(vocabulary), 1)))
    seen = np.zeros(len(terms))
    for row, term in enumerate(terms):
        for word, n in around[term].items():
            counts[row, vocabulary[word]] = n
        seen[row] = around[term].total()
    total = counts.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = counts * total / counts.sum(axis=1, keepdims=True) / counts.sum(axis=0)
        weight = np.where(counts > 0, np.maximum(np.log(ratio), 0), 0.0)
        matrix = _cosines(weight)
    often = dict(candidates.terms().select("term", "n").iter_rows())
    few = np.array([often.get(term, 0) < needs for term in terms]) | (seen == 0)
    matrix[few] = np.nan
    matrix[:, few] = np.nan
    np.fill_diagonal(matrix, 1.0)
    return matrix


def by_blocks(candidates: Candidates, terms: Sequence[str]) -> Floats:
    """Compare where terms occur: blocks that name both, over the root of the product; shape (n, n).

    Opposites are often named together, so this is evidence to read and, by default, none to
    cluster by.
    """
    numbers = candidates.blocks["block"].to_list()
    place = {number: k for k, number in enumerate(numbers)}
    row = {term: k for k, term in enumerate(terms)}
    there = np.zeros((len(terms), len(numbers)))
    for term, block in candidates.mentions.select("term", "block").unique().iter_rows():
        if term in row:
            there[row[term], place[block]] = 1.0
    matrix = _cosines(there)
    np.fill_diagonal(matrix, 1.0)
    return matrix


def by_embedding(embed: Callable[[Sequence[str]], ArrayLike], terms: Sequence[str]) -> Floats:
    """Compare embeddings of the terms by their cosines, negative ones as 0; shape (n, n).

    Raises
    ------
    InputError
        When `embed` does not give one row of finite numbers per term.
    """
    try:
        vectors = np.asarray(embed(list(terms)), dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise InputError(f"embed: expected an array of numbers ({problem})") from None
    if vectors.ndim != 2 or len(vectors) != len(terms) or not np.isfinite(vectors).all():
        raise InputError(
            f"embed: expected {len(terms)} rows of finite numbers, got shape {vectors.shape}"
        )
    matrix = np.maximum(_cosines(vectors), 0.0)
    np.fill_diagonal(matrix, 1.0)
    return matrix


def _cosines(vectors: Floats) -> Floats:
    """Cosines of rows; 0 for rows of zeros."""
    length = np.sqrt((vectors**2).sum(axis=1, keepdims=True))
    unit = np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0)
    cosines: Floats = np.clip(unit @ unit.T, -1.0, 1.0)
    return cosines


def _contexts(candidates: Candidates, terms: Sequence[str]) -> dict[str, Counter[str]]:
    wanted = set(terms)
    around: dict[str, Counter[str]] = {term: Counter() for term in terms}
    lexicon = candidates.lexicon
    common = function_words().common
    forms = {form: term for term in terms if term not in lexicon for form in forms_of(term)}
    for block in candidates.texts:
        for text in block.texts:
            tokens = tokens_of(text)
            for place, term in _places(tokens, lexicon, forms):
                if term not in wanted:
                    continue
                near = tokens[max(place - _WINDOW, 0) : place + _WINDOW + 1]
                around[term].update(
                    word
                    for word in near
                    if word not in common and word[0] not in ".!?;:'" and word != tokens[place]
                )
    return around


def _places(tokens: list[str], lexicon: Lexicon, forms: dict[str, str]) -> list[tuple[int, str]]:
    found = [(mention.place, mention.term) for mention in lexicon.mentions(tokens)]
    if forms:
        found += [(k, forms[token]) for k, token in enumerate(tokens) if token in forms]
    return found
