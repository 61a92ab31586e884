"""Whether people give like reasons for the same emotion: against reactions that are unrelated."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from affectlab.analysis.reactions import wording
from affectlab.analysis.reactions.means import codes_of
from affectlab.core.arrays import ratio
from affectlab.core.errors import InputError, check_number
from affectlab.core.estimates import Estimate
from affectlab.core.inference import infer
from affectlab.core.result import Result
from affectlab.core.statistic import from_weights
from affectlab.core.types import Floats, Ints

# How alike two reactions are, without a model: by the words that they share.


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


_TRIES = 200
"""Draws per wanted random pair before it is said that there are too few."""
_BLOCK = 1 << 22
"""Entries of the tables of weights that are held at once."""
_MOST_LEFT_OUT = 1000
"""Pairs up to which each is left out by itself; groups of them beyond."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ReactionAgreement(Result):
    """Scores of reactions to the same and of unrelated ones.

    Made by :func:`agreement_of_reactions`.
    """

    higher: Estimate
    """How often two reactions to the same pair and emotion score higher than two unrelated ones."""
    scorer: str
    same: Floats
    """Scores of reactions to the same pair and emotion, shape (s,)."""
    random: Floats
    """Scores of unrelated reactions, shape (r,)."""
    same_pairs: Ints
    """Rows of the reactions in `same`, shape (s, 2)."""
    random_pairs: Ints
    """Rows of the reactions in `random`, shape (r, 2)."""
    n_possible: int
    """Pairs of reactions to the same pair and emotion that there are."""


def agreement_of_reactions(
    stimuli: Sequence[str],
    raters: Sequence[str],
    emotions: Sequence[str],
    texts: Sequence[str],
    scorer: PairScorer | None = None,
    *,
    n_random: int = 1000,
    most: int | None = None,
    confidence: float = 0.95,
    seed: int = 0,
) -> ReactionAgreement:
    r"""Compare reactions of different people to the same pair and emotion with unrelated ones.

    With :math:`S` the scores of reactions to the same image, caption and emotion and :math:`R`
    those of `n_random` reactions whose pair and emotion both differ,

    .. math:: P = P(S > R) + P(S = R) / 2

    A half says that the measure sees no agreement. The same caption alone makes two reactions
    alike, by words that they take from it: the figure is about reactions in their setting.

    Parameters
    ----------
    stimuli, raters, emotions, texts
        Pair, person, emotion and reason of each reaction, shape (n,); empty texts are left out.
        Bring the emotions together first (:func:`normalise_emotions`).
    scorer
        Any measure of two lists of n texts, such as BARTScore; the cosine of weighted words when
        not given. Where its direction matters, the order within a pair is drawn.
    n_random
        Unrelated pairs that are drawn.
    most
        Draw so many of the pairs of reactions to the same, for measures that cost time; all when
        not given.
    confidence
        Coverage of the interval, which leaves out whole image-caption pairs.
    seed
        Seed of all that is drawn.

    Returns
    -------
    ReactionAgreement
        ``higher`` is the estimate of P; ``same`` and ``random`` are the scores,
        ``same_pairs`` and ``random_pairs`` the rows that they are of, ``n_possible`` how
        many pairs there are.

    Raises
    ------
    InputError
        When the lengths differ, no two people reacted to the same pair with the same emotion,
        there are no unrelated reactions, or the measure does not give a number per pair.

    Notes
    -----
    Source: Socratis (2023), section 2.2: 78 % with BARTScore and 1,000 random pairs.

    Examples
    --------
    >>> found = agreement_of_reactions(
    ...     ["a", "a", "b", "b"], ["r", "s", "t", "u"], ["sad", "sad", "awe", "awe"],
    ...     ["homes are lost", "they lost homes", "so vast a sky", "a vast sky"], n_random=50)
    >>> found.higher.value
    1.0
    """
    for name, wanted in (("n_random", n_random), ("most", 1 if most is None else most)):
        check_number(name, wanted, 1, whole=True)
    columns = (stimuli, raters, emotions, texts)
    if len({len(column) for column in columns}) > 1:
        raise InputError("stimuli, raters, emotions and texts differ in length; expected one each")
    rng = np.random.default_rng(seed)
    # What is drawn does not depend on the order in which the reactions come.
    every = sorted(range(len(texts)), key=lambda k: tuple(column[k] for column in columns))
    rows = np.array([k for k in every if texts[k].strip()], dtype=np.int64)
    pair, n_pairs = codes_of([stimuli[k] for k in rows])
    person, n_people = codes_of([raters[k] for k in rows])
    emotion, _ = codes_of([emotions[k] for k in rows])
    same = _same(pair, person, emotion)
    n_possible = len(same)
    if not n_possible:
        raise InputError(
            "no two people gave a reason for the same emotion about the same pair; expected at "
            "least one such pair of reactions"
        )
    if most is not None and n_possible > most:
        same = same[np.sort(rng.choice(n_possible, most, replace=False))]
    same = _turned(same, rng)
    random = _unrelated(pair, emotion, n_random, rng)
    measure = scorer or TfidfScorer([texts[k] for k in rows])
    both = rows[np.concatenate([same, random])]
    scores = score_pairs(measure, [texts[k] for k in both[:, 0]], [texts[k] for k in both[:, 1]])
    of_same, of_random = scores[: len(same)], scores[len(same) :]
    areas = _areas(of_same, pair[same[:, 0]], of_random, pair[random])
    statistic = from_weights(
        {"of": ["agreement"]},
        n_pairs,
        areas,
        method=[wording.agreement_method(scorer_name(measure))],
        undefined="",
        n_items=n_pairs,
        n_raters=n_people,
        n_ratings=len(rows),
        bounds=(0.0, 1.0),
        n_groups=_MOST_LEFT_OUT,
        n_rows=max(1, _BLOCK // (len(same) + len(random))),
    )
    found = infer(statistic, interval="jackknife", confidence=confidence, seed=rng)
    higher = found["agreement"]
    table = found.tables[0]
    ends = {"value": higher.value, "low": higher.low, "high": higher.high}
    sentence = wording.agreement_text(ends, confidence, scorer_name(measure), of_same.size)
    return ReactionAgreement(
        (
            replace(
                table,
                name="agreement",
                caption=wording.AGREEMENT,
            ),
        ),
        (sentence,),
        higher=higher,
        scorer=scorer_name(measure),
        same=of_same,
        random=of_random,
        same_pairs=rows[same],
        random_pairs=rows[random],
        n_possible=n_possible,
    )


def _same(pair: Ints, person: Ints, emotion: Ints) -> Ints:
    """Rows of different people with the same pair and emotion, two by two."""
    cells: dict[tuple[int, int], list[int]] = defaultdict(list)
    for k, cell in enumerate(zip(pair.tolist(), emotion.tolist(), strict=True)):
        cells[cell].append(k)
    found = [
        two
        for rows in cells.values()
        for two in combinations(rows, 2)
        if person[two[0]] != person[two[1]]
    ]
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def _turned(pairs: Ints, rng: np.random.Generator) -> Ints:
    """Put the two of each pair in an order that is drawn."""
    turned = rng.random(len(pairs)) < 0.5
    return np.where(turned[:, None], pairs[:, ::-1], pairs)


def _unrelated(pair: Ints, emotion: Ints, n: int, rng: np.random.Generator) -> Ints:
    """Draw rows, two by two, that differ in pair and in emotion."""
    found: list[Ints] = []
    have = 0
    for _ in range(_TRIES):
        drawn = rng.integers(0, len(pair), size=(2 * n, 2))
        one, two = drawn[:, 0], drawn[:, 1]
        kept = drawn[(pair[one] != pair[two]) & (emotion[one] != emotion[two])]
        found.append(kept)
        have += len(kept)
        if have >= n:
            return np.concatenate(found)[:n]
    raise InputError(
        "there are hardly any reactions that differ in both pair and emotion; expected reactions "
        "to several pairs with several emotions"
    )


def _areas(
    same: Floats, of_same: Ints, random: Floats, of_random: Ints
) -> Callable[[Floats], Floats]:
    """P(higher) by weights of pairs; a random pair of reactions weighs the product of its two."""
    order = np.argsort(random, kind="stable")
    ordered = random[order]
    below = np.searchsorted(ordered, same, side="left")
    upto = np.searchsorted(ordered, same, side="right")

    def areas(weights: Floats) -> Floats:
        mine = weights[:, of_same]
        theirs = (weights[:, of_random[:, 0]] * weights[:, of_random[:, 1]])[:, order]
        run = np.concatenate([np.zeros((len(weights), 1)), theirs.cumsum(axis=1)], axis=1)
        won = (mine * (run[:, below] + run[:, upto])).sum(axis=1) / 2
        total = mine.sum(axis=1) * run[:, -1]
        return ratio(won, total)[:, None]

    return areas
