"""Simulated comments, what raters tick on them, and texts of another kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from affectlab.core.types import Bools, Floats, Ints
from affectlab.recipes.goemotions.data import Corpus

if TYPE_CHECKING:
    from collections.abc import Sequence

    from affectlab.models.text import LabelledTexts
    from affectlab.ratings import Ratings


__all__ = [
    "AROUND",
    "ASIDE",
    "CUES",
    "DIARY",
    "TARGET",
    "Planted",
    "simulated_corpus",
]

# Words of simulated comments: what is said with each emotion, and what stands around it.


def _listed(words: str) -> tuple[str, ...]:
    return tuple(words.split())


CUES: dict[str, tuple[str, ...]] = {
    "admiration": ("impressive", "brilliant", "masterful", "superb", "talented"),
    "amusement": ("haha", "hilarious", "giggling", "comedy", "lmao"),
    "anger": ("furious", "rage", "hateful", "enraged", "outrage"),
    "annoyance": ("annoying", "irritating", "nagging", "tiresome", "bothersome"),
    "approval": ("agreed", "exactly", "correct", "indeed", "valid"),
    "caring": ("careful", "hugs", "comfort", "safe", "protect"),
    "confusion": ("confused", "puzzling", "unclear", "baffled", "muddled"),
    "curiosity": ("curious", "wondering", "whose", "which", "details"),
    "desire": ("wish", "crave", "longing", "yearn", "want"),
    "disappointment": ("disappointed", "letdown", "underwhelming", "unfortunately", "meh"),
    "disapproval": ("disagree", "nope", "wrong", "objection", "shouldnt"),
    "disgust": ("disgusting", "gross", "revolting", "nasty", "vile"),
    "embarrassment": ("embarrassing", "awkward", "cringe", "blushing", "ashamed"),
    "excitement": ("excited", "thrilling", "pumped", "woohoo", "hyped"),
    "fear": ("scared", "terrified", "horror", "frightening", "afraid"),
    "gratitude": ("thanks", "grateful", "thankful", "appreciated", "thx"),
    "grief": ("mourning", "funeral", "bereaved", "condolences", "departed"),
    "joy": ("happy", "delighted", "joyful", "cheerful", "smiling"),
    "love": ("love", "adore", "sweetheart", "beloved", "darling"),
    "nervousness": ("nervous", "anxious", "worried", "uneasy", "jittery"),
    "optimism": ("hopefully", "soon", "promising", "hopeful", "brighter"),
    "pride": ("proud", "accomplished", "achievement", "milestone", "honoured"),
    "realization": ("realized", "noticed", "turns", "suddenly", "dawned"),
    "relief": ("relieved", "phew", "finally", "unburdened", "spared"),
    "remorse": ("sorry", "regret", "apologies", "guilty", "forgive"),
    "sadness": ("sad", "crying", "miserable", "tears", "heartbroken"),
    "surprise": ("wow", "surprised", "unexpected", "omg", "astonished"),
}
"""Five words that go with each emotion."""

AROUND: dict[str, tuple[str, ...]] = {
    "positive": ("nice", "good", "great", "cool"),
    "negative": ("bad", "ugh", "poor", "worse"),
    "ambiguous": ("hm", "huh", "odd", "somehow"),
    "neutral": ("okay", "today", "there", "also"),
}
"""Words that only hint at a sentiment."""

ASIDE = _listed(
    """
    the a to and of in it is that this for on with was my at be have are so they just but
    not like one all about out get if people when can time game up he some know would
    think what there no make more by from team season play year guy show movie post read
    here watch back well even thing really much go where work day after over other only
    last two into too first right because could still man she something going life point
    old never first every new house car way friend story world long left music song book
    link video question part place around
    """
)
"""Words that say nothing of an emotion, the most frequent ones first."""

DIARY = _listed(
    """
    when i my a was the had at in to school with father mother exam friend during home
    night left saw heard told after before alone class brother sister bus village teacher
    letter hospital we our went failed passed years ago party
    """
)
"""Words of the other data set, in which people tell of themselves."""

TARGET: dict[str, tuple[str, ...]] = {
    "anger": ("anger", "annoyance"),
    "disgust": ("disgust",),
    "fear": ("fear", "nervousness"),
    "guilt": ("remorse",),
    "joy": ("joy", "relief"),
    "sadness": ("sadness", "grief"),
    "shame": ("embarrassment",),
}
"""Labels of the other data set, and the emotions whose words go with them."""

RATERS = 82
_NEUTRAL = 0.24
"""Share of comments without an emotion."""
_SECOND = 0.12
"""Share of the others that express two emotions."""
_RANGE = 30.0
"""Admiration is so many times as frequent as grief."""
_HINTS = ("approval", "realization", "annoyance", "disappointment", "nervousness", "grief")
"""Emotions that are told by hints rather than by words of their own."""
_UNCLEAR = 0.06
"""Share of answers without a label that are ticked as very unclear."""


@dataclass(frozen=True)
class Planted:
    """What is known of simulated comments before anyone rates them."""

    frequency: dict[str, float]
    """Share of each emotion among the comments that express one."""
    plain: dict[str, float]
    """Share of the comments with an emotion that have one of its words."""
    cues: dict[str, tuple[str, ...]]
    """Words of each emotion."""


def simulated_corpus(n: int, n_target: int, seed: int) -> tuple[Corpus, Planted]:
    """Let raters read n simulated comments, and make texts of another kind.

    Three raters tick what they see in a comment, and two more where no two of them agree. A comment
    that says its emotion in words of its own is clear to them; hints are not. Labels that two
    raters agree on are split 80:10:10, as in the paper.
    """
    from affectlab.models.text import labelled_texts

    rng = np.random.default_rng([20_200_501, seed])
    planted = _plant()
    labels = tuple(planted.cues)
    first = _drawn(n, labels, planted, rng)
    clear = _clear(first, labels, planted, rng)
    second = _related(first, labels, rng)
    texts = _comments(first, second, clear, labels, rng)
    strength = np.where(clear, rng.uniform(0.75, 1.0, n), rng.uniform(0.3, 0.7, n))
    ticks, rater = _ticks(first, second, strength, labels, seed)
    raw = _raw(texts, *_asked(ticks, rater, rng), labels)
    whole = labelled_texts(raw, agree=2, source="simulated comments")
    parts = _parts(whole, rng)
    corpus = Corpus(*parts, raw=raw, complete=True, target=_diaries(n_target, rng))
    return corpus, planted


def _plant() -> Planted:
    """Frequencies fall evenly on a logarithmic scale, from admiration to grief."""
    others = [name for name in CUES if name not in ("admiration", "grief")]
    order = np.random.default_rng(27).permutation(others).tolist()
    ranked = ["admiration", *order, "grief"]
    weight = _RANGE ** -(np.arange(len(ranked)) / (len(ranked) - 1))
    shares = dict(zip(ranked, (weight / weight.sum()).tolist(), strict=True))
    ways = np.linspace(0.95, 0.6, len(CUES) - len(_HINTS))
    told = iter(np.random.default_rng(28).permutation(ways).tolist())
    plain = {name: 0.3 if name in _HINTS else next(told) for name in CUES}
    return Planted({name: shares[name] for name in CUES}, plain, dict(CUES))


def _drawn(n: int, labels: Sequence[str], planted: Planted, rng: np.random.Generator) -> Ints:
    """Draw the emotion of each comment, -1 for none."""
    chance = np.array([planted.frequency[name] for name in labels])
    found = rng.choice(len(labels), n, p=chance / chance.sum())
    return np.where(rng.random(n) < _NEUTRAL, -1, found).astype(np.int64)


def _clear(first: Ints, labels: Sequence[str], planted: Planted, rng: np.random.Generator) -> Bools:
    plain = np.array([*(planted.plain[name] for name in labels), 0.0])
    found: Bools = rng.random(first.size) < plain[first]
    return found


def _related(first: Ints, labels: Sequence[str], rng: np.random.Generator) -> Ints:
    """Draw a second emotion of the same sentiment for some comments, -1 for none."""
    polarity = _polarity()
    second = np.full(first.size, -1)
    for at in np.flatnonzero((first >= 0) & (rng.random(first.size) < _SECOND)):
        own = labels[first[at]]
        near = [k for k, name in enumerate(labels) if polarity[name] == polarity[own] != name]
        near.remove(int(first[at]))
        second[at] = rng.choice(near)
    return second.astype(np.int64)


def _polarity() -> dict[str, str]:
    from affectlab.taxonomy import load_taxonomy

    return {name: said or "" for name, said in load_taxonomy("goemotions").polarity.items()}


def _comments(
    first: Ints, second: Ints, clear: Bools, labels: Sequence[str], rng: np.random.Generator
) -> list[str]:
    """Write a comment of 4 to 20 words around words of its emotions, or around a hint."""
    polarity = _polarity()
    common = 1.0 / (3.0 + np.arange(len(ASIDE)))
    common /= common.sum()
    made = []
    for one, other, plain in zip(first.tolist(), second.tolist(), clear.tolist(), strict=True):
        words = rng.choice(ASIDE, int(rng.integers(4, 19)), p=common).tolist()
        said = []
        if one >= 0 and plain:
            said += rng.choice(CUES[labels[one]], 1 + (rng.random() < 0.25)).tolist()
        if (one >= 0 and not plain) or rng.random() < 0.1:
            said.append(rng.choice(AROUND[polarity[labels[one]] if one >= 0 else "neutral"]))
        if other >= 0:
            said.append(rng.choice(CUES[labels[other]]))
        for word in said:
            words.insert(int(rng.integers(len(words) + 1)), word)
        made.append(" ".join(words))
    return made


def _ticks(
    first: Ints, second: Ints, strength: Floats, labels: Sequence[str], seed: int
) -> tuple[Bools, Ints]:
    """Ask five raters per comment; ticks of shape (comments, 5, labels), raters (comments, 5)."""
    from affectlab.simulate import panel, simulate_raters, simulate_truth
    from affectlab.simulate.raters import Truth

    def truth(codes: Ints, share: Floats, at: int) -> Any:
        said = ["neutral" if code < 0 else labels[code] for code in codes.tolist()]
        return simulate_truth(
            codes.size,
            "goemotions",
            "binary",
            seed=np.random.default_rng([seed, at]),
            expressions=said,
            intensities=share,
            tau=0.6,
            spread=0.02,
        )

    one, other = truth(first, strength, 1), truth(second, 0.85 * strength, 2)
    both = Truth(np.maximum(one.value, other.value), one.stimuli, one.labels, one.scale)
    people = panel(RATERS, seed, scale="binary", careless=0.0, missing=0.0)
    frame = simulate_raters(both, people, seed=seed, raters_per_stimulus=5).ratings.frame
    at = [both.labels.index(name) for name in labels]
    every = len(both.labels)
    value = frame["value"].to_numpy().reshape(-1, every)[:, at] > 0
    # Codes of a table follow the order of first use; names say which is which.
    stimulus = _places(frame["stimulus"][::every].to_list(), both.stimuli)
    rater = _places(frame["rater"][::every].to_list(), [one.name for one in people])
    order = np.lexsort((rater, stimulus)).reshape(first.size, 5)
    return value[order], rater[order]


def _places(names: Sequence[str], known: Sequence[str]) -> Ints:
    at = {name: place for place, name in enumerate(known)}
    return np.array([at[name] for name in names], dtype=np.int64)


def _asked(ticks: Bools, rater: Ints, rng: np.random.Generator) -> tuple[Bools, Ints, Bools]:
    """Take three raters in a random order, and all five where no two of the three agree.

    Whoever ticked no emotion ticks neutral, the last label, or that the comment is very unclear.
    Gives ticks and raters as before, and which of them were asked.
    """
    n = len(ticks)
    order = rng.permuted(np.tile(np.arange(5), (n, 1)), axis=1)
    ticks = np.take_along_axis(ticks, order[:, :, None], axis=1)
    none = ~ticks.any(axis=2)
    unclear = none & (rng.random(none.shape) < _UNCLEAR)
    ticks = np.concatenate([ticks, (none & ~unclear)[:, :, None]], axis=2)
    agreed = (ticks[:, :3].sum(axis=1) >= 2).any(axis=1)
    asked = np.ones((n, 5), dtype=bool)
    asked[agreed, 3:] = False
    return ticks, np.take_along_axis(rater, order, axis=1), asked


def _raw(
    texts: Sequence[str], ticks: Bools, rater: Ints, asked: Bools, labels: Sequence[str]
) -> Ratings:
    """Make ratings as the reader of the raw file does."""
    import polars as pl

    from affectlab.ratings import Ratings

    names = [*labels, "neutral"]
    comments = [f"c{at:06d}" for at in range(len(texts))]
    people = [f"r{at + 1:02d}" for at in range(RATERS)]
    row, place = np.nonzero(asked)
    value = ticks[row, place]
    unclear = np.asarray(~value.any(axis=1))
    k = len(names)
    answer = np.where(unclear[:, None], np.nan, value.astype(np.float64)).ravel()
    frame = pl.DataFrame(
        {
            "stimulus": pl.Series(comments).gather(np.repeat(row, k)),
            "rater": pl.Series(people).gather(np.repeat(rater[row, place], k)),
            "label": pl.Series(names).gather(np.tile(np.arange(k), row.size)),
            "value": pl.Series(answer).fill_nan(None),
            "unclear": np.repeat(unclear, k),
            "outcome": pl.Series(["ok", "refused"]).gather(np.repeat(unclear, k).astype(np.int64)),
        }
    )
    return Ratings(
        frame,
        scale="binary",
        taxonomy="goemotions",
        stimuli=pl.DataFrame({"stimulus": comments, "text": list(texts)}),
        raters=pl.DataFrame({"rater": people, "rater_kind": "simulated"}),
        source="simulated comments",
    )


def _parts(
    whole: LabelledTexts, rng: np.random.Generator
) -> tuple[LabelledTexts, LabelledTexts, LabelledTexts]:
    """Split at random into train (80 %), dev and test (10 % each)."""
    from affectlab.recipes.goemotions.data import rows_of

    order = rng.permutation(len(whole))
    tenth = len(whole) // 10
    train, dev, test = order[2 * tenth :], order[:tenth], order[tenth : 2 * tenth]
    return (
        rows_of(whole, train, "train"),
        rows_of(whole, dev, "dev"),
        rows_of(whole, test, "test"),
    )


def _diaries(n: int, rng: np.random.Generator) -> LabelledTexts:
    """Write texts in which people tell of one of seven emotions."""
    from affectlab.models.text import LabelledTexts
    from affectlab.taxonomy import Taxonomy

    taxonomy = Taxonomy.from_labels(list(TARGET), name="diaries")
    codes = rng.integers(len(TARGET), size=n)
    common = 1.0 / (3.0 + np.arange(len(DIARY)))
    common /= common.sum()
    texts = []
    for code in codes.tolist():
        words = rng.choice(DIARY, int(rng.integers(8, 22)), p=common).tolist()
        if rng.random() < 0.8:
            source = rng.choice(TARGET[tuple(TARGET)[code]])
            words.insert(int(rng.integers(len(words) + 1)), str(rng.choice(CUES[str(source)])))
        texts.append(" ".join(words))
    return LabelledTexts(
        tuple(texts),
        np.eye(len(TARGET))[codes],
        tuple(f"d{at:05d}" for at in range(n)),
        taxonomy,
        "simulated diaries",
        "",
        (),
    )
