"""Diversity, quality and signs: known answers, and slow plain versions of the fast ones."""

from __future__ import annotations

import time
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from affectlab.analysis.reactions import (
    agreement_of_reactions,
    emotion_diversity,
    machine_signs,
    near_copies,
    popular_emotions,
    sentiment_match,
)
from affectlab.analysis.reactions.diversity import chao_shen_entropy, plain_entropy
from affectlab.analysis.reactions.sentiment import sentiments_of
from affectlab.analysis.reactions.wording import Sign
from affectlab.core.errors import InputError

ROWS = st.lists(
    st.tuples(
        st.sampled_from("ab"), st.sampled_from("rst"), st.sampled_from(["sad", "joy", "awe"])
    ),
    min_size=1,
    max_size=14,
)


def test_entropies() -> None:
    assert plain_entropy([1, 1, 1, 1]) == 2
    assert chao_shen_entropy([5, 5]) == pytest.approx(1 / (1 - 0.5**10))
    assert np.isnan(chao_shen_entropy([1]))
    truth = np.full(12, 1 / 12)
    rng = np.random.default_rng(0)
    drawn = [rng.multinomial(16, truth) for _ in range(300)]
    plain, corrected = (
        np.mean([f(one) for one in drawn]) for f in (plain_entropy, chao_shen_entropy)
    )
    assert abs(corrected - np.log2(12)) < abs(plain - np.log2(12)) / 2
    with pytest.raises(InputError, match="none below 0"):
        plain_entropy([-1])


@settings(max_examples=60, deadline=None)
@given(ROWS)
def test_difference_is_that_of_all_pairs_of_people(rows: list[tuple[str, str, str]]) -> None:
    found = emotion_diversity(*map(list, zip(*rows, strict=True))).to_frame("pairs")
    for stimulus, value in found.select("stimulus", "difference").rows():
        own = [row for row in rows if row[0] == stimulus]
        differ = [a[2] != b[2] for a, b in permutations(own, 2) if a[1] != b[1]]
        assert value == (pytest.approx(np.mean(differ)) if differ else None)


def test_conflict_of_polarity() -> None:
    pole = ["positive", "negative", "negative", None]
    found = emotion_diversity(list("aaab"), list("rstr"), list("wxyz"), polarities=pole)
    assert found.to_frame("pairs")["conflict"].to_list() == [pytest.approx(2 / 3), None]
    assert found.to_frame("pairs")["both_poles"].to_list() == [True, None]
    assert found.means["n_raters"].value == 2
    assert (found.n_pairs, found.n_raters, found.n_reactions, found.n_emotions) == (2, 3, 4, 4)
    with pytest.raises(InputError, match="expected one of each"):
        emotion_diversity(["a"], ["r"], [])


def test_sentiment_match_and_its_interval() -> None:
    rng = np.random.default_rng(1)
    n = 400
    word = rng.choice(["positive", "negative"], n)
    other = np.where(word == "positive", "negative", "positive")
    text = np.where(rng.random(n) < 0.87, word, other)
    raters = [f"r{k // 4}" for k in range(n)]
    found = sentiment_match(["e"] * n, list(word), list(text), stimuli=raters, raters=raters)
    assert found.match.value == np.mean(word == text)
    assert found.match.low < 0.87 < found.match.high
    assert found.match.se == pytest.approx((0.87 * 0.13 / n) ** 0.5, rel=0.3)
    assert found.to_frame("sentiments")["n"].sum() == n
    assert sentiments_of(["x", "", "x"], lambda texts: [text.upper() for text in texts]) == [
        "X",
        None,
        "X",
    ]
    with pytest.raises(InputError, match="gave 2 answers to 1 texts"):
        sentiments_of(["x"], lambda texts: ["a", "b"])


def test_agreement_against_all_comparisons() -> None:
    rng = np.random.default_rng(2)
    stimuli = [f"s{k}" for k in rng.integers(0, 12, 90)]
    raters = [f"r{k}" for k in rng.integers(0, 20, 90)]
    emotions = [f"e{k}" for k in rng.integers(0, 3, 90)]
    words = [f"{a} {b}" for a, b in zip(stimuli, emotions, strict=True)]
    texts = [word if rng.random() < 0.4 else f"w{rng.integers(4)}" for word in words]
    found = agreement_of_reactions(stimuli, raters, emotions, texts, n_random=80)
    own = np.mean([(s > r) + (s == r) / 2 for s in found.same for r in found.random])
    assert found.higher.value == pytest.approx(own)
    assert found.higher.low <= own <= found.higher.high
    for a, b in found.same_pairs:
        assert (stimuli[a], emotions[a]) == (stimuli[b], emotions[b])
        assert raters[a] != raters[b]
    for a, b in found.random_pairs:
        assert stimuli[a] != stimuli[b]
        assert emotions[a] != emotions[b]
    wanted = sum(
        stimuli[a] == stimuli[b] and emotions[a] == emotions[b] and raters[a] != raters[b]
        for a, b in combinations(range(90), 2)
    )
    assert found.n_possible == wanted
    chance = agreement_of_reactions(
        stimuli, raters, emotions, texts, lambda a, b: rng.random(len(a)), n_random=500
    )
    assert chance.higher.low < 0.5 < chance.higher.high


def test_agreement_needs_pairs_and_numbers() -> None:
    with pytest.raises(InputError, match="no two people"):
        agreement_of_reactions(["a", "b"], ["r", "s"], ["x", "x"], ["t", "u"])
    with pytest.raises(InputError, match="hardly any"):
        agreement_of_reactions(["a", "a"], ["r", "s"], ["x", "x"], ["t", "u"])
    columns = (["a", "a", "b"], ["r", "s", "t"], ["x", "x", "y"], ["one", "two", "three"])
    with pytest.raises(InputError, match="gave no number"):
        agreement_of_reactions(*columns, lambda a, b: np.full(len(a), np.nan))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.text("ab c", min_size=0, max_size=14), max_size=9),
    st.sampled_from([0.3, 0.5, 0.8, 1.0]),
)
def test_near_copies_are_all_that_are_alike(texts: list[str], threshold: float) -> None:
    names = [f"r{k}" for k in range(len(texts))]
    found = near_copies(texts, names, names, threshold=threshold, ngram=2, min_words=1)
    plain = [" ".join(text.split()) for text in texts]

    def grams(text: str) -> set[str]:
        padded = f" {text} "
        return {padded[k : k + 2] for k in range(len(padded) - 1)}

    alike = set()
    group = list(range(len(plain)))
    for a, b in combinations([k for k, text in enumerate(plain) if text], 2):
        one, two = grams(plain[a]), grams(plain[b])
        if len(one & two) / len(one | two) >= threshold - 1e-12:
            alike |= {a, b}
            group = [group[a] if one == group[b] else one for one in group]
    assert set(found.to_frame()["row"]) == alike
    ours = dict(found.to_frame().select("row", "group").rows())
    for a, b in combinations(sorted(alike), 2):
        assert (ours[a] == ours[b]) == (group[a] == group[b])
    for a, b, similarity in found.to_frame("links").rows():
        one, two = grams(plain[a]), grams(plain[b])
        assert similarity == pytest.approx(len(one & two) / len(one | two))


def test_many_copies_are_found_in_little_time_and_space() -> None:
    """Sentences of few words, and a text that was sent thousands of times with another number."""
    rng = np.random.default_rng(4)
    words = np.array(
        [
            "it",
            "makes",
            "me",
            "sad",
            "to",
            "see",
            "them",
            "go",
            "home",
            "and",
            "I",
            "feel",
            "so",
            "lost",
            "with",
            "no",
            "help",
        ]
    )
    texts = [" ".join(rng.choice(words, n)) for n in rng.integers(8, 18, 1500)]
    texts += [f"I feel sad as it was taken in the year {k} when I was there" for k in range(1500)]
    names = [str(k) for k in range(3000)]
    start = time.process_time()
    found = near_copies(texts, names, names)
    assert time.process_time() - start < 8
    assert found.to_frame().filter(group=1)["row"].to_list() == list(range(1500, 3000))
    assert found.to_frame("links").height < 3000


def test_kinds_of_copies_and_captions() -> None:
    same = "I would feel very sad about this."
    texts = [same, same, same.upper(), "The storm hits the coast of Wales", "so sad"]
    found = near_copies(
        texts, list("rrstu"), list("abacd"), captions=["Storm hits the coast of Wales now"] * 5
    )
    assert found.to_frame().select("row", "n", "n_raters", "kind").rows() == [
        (0, 3, 2, "same person"),
        (1, 3, 2, "same person"),
        (2, 3, 2, "same pair"),
    ]
    assert found.to_frame("captions")["row"].to_list() == [3]
    with pytest.raises(InputError, match="threshold = 0"):
        near_copies(["a"], ["r"], ["s"], threshold=0)


def test_signs_of_machines() -> None:
    rng = np.random.default_rng(3)
    texts = ["word " * int(n) for n in rng.integers(3, 40, 400)]
    raters = [f"r{k % 40}" for k in range(400)]
    texts += [f"This image clearly shows {k} of it all today" for k in range(10)]
    raters += ["machine"] * 10
    texts += ["As an AI, I can't view it.", "It EVOKES a sense of calm", "as an aide to him"]
    raters += ["x", "y", "z"]
    found = machine_signs(texts, raters)
    assert found.to_frame().select("rater", "sign").unique().sort("rater").rows() == [
        ("x", Sign.ASSISTANT),
        ("y", Sign.STOCK),
    ]
    # The others repeat one word, whose openings are the same.
    own = found.to_frame("sign_raters").filter(rater="machine")
    assert own["sign"].to_list() == [Sign.LENGTHS, Sign.OPENINGS]
    even = found.to_frame("sign_raters").filter(sign=Sign.LENGTHS.value)
    assert even["rater"].to_list() == ["machine"]


def test_bonus_is_that_of_studies() -> None:
    found = popular_emotions(
        list("aaaaabb"), list("rstuvrs"), ["sad", "Sadness", "hope", "hopeful", "awe", "sad", "sad"]
    )
    assert found.to_frame("popular").rows() == [("a", "hope; sad", 2, 5), ("b", "sad", 2, 2)]
    # Nobody is their own majority: one other who named it is too few.
    assert not found.to_frame()["earned"].any()
    more = popular_emotions(["a"] * 7, list("rstuvwx"), ["sad"] * 4 + ["joy"] * 3)
    # Without the own answer three named each; of those who named joy, four others named sad.
    assert more.to_frame()["earned"].to_list() == [True] * 4 + [False] * 3
