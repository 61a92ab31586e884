"""Bringing together terms that are one word: inflected, derived, or called the same by a plug."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from affectlab.core.errors import InputError
from affectlab.stimuli.taxonomy.candidates import Candidates
from affectlab.stimuli.taxonomy.lexicon import adjective_forms, noun_forms, verb_forms

__all__ = ["merge_terms"]


def merge_terms(
    candidates: Candidates,
    *,
    similarity: Callable[[Sequence[str]], ArrayLike] | None = None,
    at: float = 0.9,
) -> Candidates:
    """Merge terms that are forms of one word, and on demand those that are alike.

    What the lexicon knows is one word already ("joyful" is counted as "joy"). Here terms that it
    does not know are compared with each other: plurals, adjectives and adverbs, forms of verbs, and
    nouns or adjectives made from one another by -ful, -ness, -ment or -ous. The form that stands in
    more blocks stays.

    Parameters
    ----------
    candidates
        Terms with their mentions.
    similarity
        Takes n terms and gives an (n, n) array of similarities up to 1, for example cosines of
        embeddings: synonyms, too, become one term then.
    at
        Similarity from which on two terms are one.

    Returns
    -------
    New candidates, whose ``merges`` say what went where and why.

    Raises
    ------
    InputError
        When `similarity` gives anything but an (n, n) array of numbers.

    Examples
    --------
    >>> from affectlab.stimuli.taxonomy import emotion_candidates, text_blocks
    >>> blocks = text_blocks(["a", "b", "c"])
    >>> told = iter([["gloat"], ["gloating"], ["gloating"]])
    >>> merged = merge_terms(emotion_candidates(blocks, lambda text: next(told)))
    >>> merged.terms()["term"].to_list(), merged.merges.select("term", "into", "why").rows()
    (['gloating'], [('gloat', 'gloating', 'a form of it')])
    """
    import polars as pl

    table = candidates.terms()
    terms = table["term"].to_list()
    into: dict[str, tuple[str, str, float | None]] = {}
    unknown = [term for term in terms if term not in candidates.lexicon]
    for term in unknown:
        # Terms come in the order of how widespread they are: an earlier one stays.
        for earlier in unknown[: unknown.index(term)]:
            if earlier not in into and _one_word(term, earlier):
                into[term] = (earlier, "a form of it", None)
                break
    if similarity is not None:
        left = [term for term in terms if term not in into]
        alike = _matrix(similarity(left), len(left))
        for k, term in enumerate(left):
            for j in np.flatnonzero(alike[k, :k] >= at):
                if left[j] not in into:
                    into[term] = (left[j], "alike", float(alike[k, j]))
                    break
    rows = [
        {"term": term, "into": _end(target, into), "why": why, "similarity": value}
        for term, (target, why, value) in into.items()
    ]
    schema = {"term": pl.String, "into": pl.String, "why": pl.String, "similarity": pl.Float64}
    merges = pl.DataFrame(rows, schema=schema)
    ends = dict(merges.select("term", "into").iter_rows())
    mentions = candidates.mentions.with_columns(
        pl.col("term").replace(ends) if ends else pl.col("term")
    )
    before = candidates.merges
    return replace(
        candidates,
        mentions=mentions,
        merges=merges if before is None else pl.concat([before, merges]),
    )


def _end(term: str, into: dict[str, tuple[str, str, float | None]]) -> str:
    while term in into:
        term = into[term][0]
    return term


def _one_word(one: str, other: str) -> bool:
    """Whether two terms are forms of one word; of phrases the last word may differ."""
    *first, last = one.split()
    *before, end = other.split()
    if first != before:
        return False
    return last in _derived(end) or end in _derived(last)


def _derived(word: str) -> set[str]:
    """Give what rules make of a word, one step of derivation and one of inflection."""
    made = {word, *(f"{word}{ending}" for ending in ("ful", "ous", "ment", "ness", "ity"))}
    if word.endswith("y"):
        made |= {f"{word[:-1]}iful", f"{word[:-1]}ious"}
    if word.endswith("e"):
        made |= {f"{word[:-1]}ous", f"{word[:-1]}ity", f"{word[:-1]}ion"}
    if word.endswith("t"):
        made |= {f"{word}ion", f"{word[:-1]}ce", f"{word[:-1]}cy"}
    return {
        form
        for one in made
        for make in (noun_forms, adjective_forms, verb_forms)
        for form in make(one)
    }


def _matrix(given: ArrayLike, n: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    try:
        matrix = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("similarity: expected an array of numbers") from None
    if matrix.shape != (n, n):
        raise InputError(f"similarity: expected an array of shape ({n}, {n}), got {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise InputError("similarity: expected finite numbers")
    return matrix
