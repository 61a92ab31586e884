"""Each step on a handful of comments, where one can count along."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import polars as pl
import pytest
from tests.stimuli.curation import pools
from tests.stimuli.curation.pools import Comment, take

from affectlab.core.errors import InputError
from affectlab.stimuli.curation import CurationPlan, Step
from affectlab.stimuli.curation.plan import AdultGroups, BigGroups, Cap, Sample, Sentiment
from affectlab.stimuli.curation.pool import Pool
from affectlab.stimuli.curation.steps.balance import (
    EmotionBalance,
    GroupBalance,
    LengthBalance,
    RandomSample,
)
from affectlab.stimuli.curation.steps.build import build_steps, read_decisions
from affectlab.stimuli.curation.steps.duplicates import NearDuplicatesStep, Repeated
from affectlab.stimuli.curation.steps.gates import Identity
from affectlab.stimuli.curation.steps.groups import AdultGroupsStep, BigGroupsStep, SentimentStep


def many(n: int, start: str = "c", **told: object) -> list[Comment]:
    """Make comments that differ by their ids only."""
    return [Comment(f"{start}{k}", **told) for k in range(n)]  # type: ignore[arg-type]


def test_big_groups_at_the_edge(tmp_path: Path) -> None:
    comments = [*many(3, "a", group="three"), *many(2, "b", group="two")]
    taken = take(comments, [BigGroupsStep(BigGroups(least=3))], tmp_path)
    assert set(taken.dropped.values()) == {("big_groups", "small_group")}
    assert taken.kept == ["a0", "a1", "a2"]
    assert taken.entries[0].found == "1 of 2 groups kept; the largest is three with 3 comments"


def test_comments_without_a_group_are_no_big_group(tmp_path: Path) -> None:
    comments = [*many(4, "a", group="four"), *many(9, "b", group=""), *many(1, "c", group="one")]
    taken = take(comments, [BigGroupsStep(BigGroups(least=3))], tmp_path)
    assert taken.kept == ["a0", "a1", "a2", "a3"]
    assert taken.entries[0].dropped == {"no_group": 9, "small_group": 1}
    assert taken.entries[0].found == "1 of 2 groups kept; the largest is four with 4 comments"


def test_adult_groups_by_any_way_to_write_them(tmp_path: Path) -> None:
    groups = ["r/Hentai", "/r/hentai", "HENTAI", "r/nsfw_pics", "hentai2", "foodporn"]
    comments = [Comment(group, group=group) for group in groups]
    taken = take(comments, [AdultGroupsStep(listed=("hentai", "nsfw*"))], tmp_path)
    assert taken.kept == ["hentai2", "foodporn"]
    assert taken.entries[0].dropped == {"adult_group": 4}
    same = take(comments, [AdultGroupsStep(listed=("r/hentai", "/r/nsfw*"))], tmp_path / "same")
    assert same.kept == taken.kept


def test_adult_groups_listed_and_by_share(tmp_path: Path) -> None:
    comments = [
        *many(9, "a", group="calm"),
        Comment("a9", group="calm", vulgar=True, offensive=True),
        *many(19, "b", group="Loud"),
        Comment("b19", group="Loud", vulgar=True),
        *many(2, "c", group="NSFW_pictures"),
        *many(2, "d", group="xnsfw"),
    ]
    step = AdultGroupsStep(AdultGroups(share=0.1), ("nsfw*", "other"))
    taken = take(comments, [step], tmp_path, 3)
    # One of ten, counted once though it holds both kinds of words, reaches the share.
    assert taken.entries[0].dropped == {"profane_group": 10, "adult_group": 2}
    assert {one[0] for one in taken.kept} == {"b", "d"}


def test_gates_and_their_order(tmp_path: Path) -> None:
    comments = [
        Comment("a", deleted=True, english=False),
        Comment("b", english=False),
        Comment("c", offensive=True, identity=True),
        Comment("d", vulgar=True),
        Comment("e", tokens=2),
        Comment("f", tokens=3),
        Comment("g", tokens=30),
        Comment("h", tokens=31),
        Comment("i", identity=True),
    ]
    names = ["deleted", "language", "offensive", "identity", "length"]
    taken = take(comments, build_steps(CurationPlan(), names, None), tmp_path)
    assert taken.dropped == {
        0: ("deleted", "deleted"),
        1: ("language", "other_language"),
        2: ("offensive", "offensive"),
        4: ("length", "too_short"),
        7: ("length", "too_long"),
        8: ("identity", "for_review"),
    }


def test_decisions_of_reviewers(tmp_path: Path) -> None:
    decisions = pl.DataFrame({"stimulus": ["a", "b", "x"], "decision": ["keep", " Drop", ""]})
    comments = [Comment(one, identity=one != "d") for one in "abcd"]
    taken = take(comments, [Identity(read_decisions(decisions))], tmp_path)
    assert taken.dropped == {1: ("identity", "reviewed"), 2: ("identity", "for_review")}
    assert taken.entries[0].found == "2 decisions of reviewers, 1 to keep"
    nobody = take(comments, [Identity(read_decisions(decisions.head(0)))], tmp_path / "none")
    assert len(nobody.dropped) == 3


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({"id": ["a"], "keep": ["maybe"]}, "decision 'maybe' of a: expected keep or drop"),
        ({"id": ["a", "a"], "keep": [True, False]}, "a has two different decisions"),
        ({"id": ["a"], "told": ["keep"]}, "expected the columns id and decision"),
    ],
)
def test_decisions_that_cannot_be_used(table: dict[str, list[object]], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        read_decisions(pl.DataFrame(table))


def test_length_is_capped_at_the_median_length(tmp_path: Path) -> None:
    """Of 3, 3, 3, 3, 5, 5, 8, 8, 8 tokens the fifth comment has 5, as two comments have."""
    comments = [
        *many(4, "a", tokens=3),
        *many(2, "b", tokens=5),
        *many(3, "c", tokens=8),
    ]
    taken = take(comments, [LengthBalance(seed=1)], tmp_path, 2)
    assert taken.entries[0].found == "cap 2, 2 of 3 above it; median length 5 tokens"
    assert taken.entries[0].dropped == {"over_cap": 3}
    expected = {
        one.id
        for start in "abc"
        for one in sorted(
            (one for one in comments if one.id[0] == start),
            key=lambda one: pools.plain_draw("length_balance", 1, one.id),
        )[:2]
    }
    assert set(taken.kept) == expected


def test_sentiment_shares_and_edges(tmp_path: Path) -> None:
    def group(name: str, *labels: tuple[str, ...]) -> list[Comment]:
        return [Comment(f"{name}{k}", group=name, emotions=one) for k, one in enumerate(labels)]

    joy, anger, surprise, neutral = ("joy",), ("anger",), ("surprise",), ("neutral",)
    even = (joy, anger, surprise, joy, anger, surprise, joy, neutral, neutral, neutral)
    comments = [
        *group("even", *even),  # neutral 30 %, each other 20 % or more: kept
        *group("plain", joy, anger, surprise, neutral, neutral),
        *group("glad", joy, joy, surprise, surprise, ()),
        *group("both", ("joy", "anger"), surprise, (), (), ("joy", "love")),
        *group("sure", joy, anger, joy, anger),
        *group("grim", anger, anger, surprise, surprise),
    ]
    taken = take(comments, [SentimentStep(Sentiment())], tmp_path)
    why = {comments[row].group: reason for row, (_, reason) in taken.dropped.items()}
    assert why == {
        "plain": "neutral",
        "glad": "few_negative",
        "sure": "few_ambiguous",
        "grim": "few_positive",
    }
    assert taken.entries[0].found == "2 of 6 groups kept"


def test_emotions_are_capped_at_the_median_emotion(tmp_path: Path) -> None:
    comments = [
        *many(5, "j", emotions=("joy", "anger")),
        *many(3, "a", emotions=("anger",)),
        *many(2, "s", emotions=("surprise",)),
        *many(1, "l", emotions=("love",)),
        *many(4, "n"),
    ]
    taken = take(comments, [EmotionBalance()], tmp_path)
    # Of 1, 2, 3, 5 the lower median is 2; comments without an emotion do not enter it.
    assert taken.pool is not None
    after = dict(taken.pool.counts("emotion").iter_rows())
    assert after == {"joy": 2, "anger": 2, "surprise": 2, "love": 1, "": 2}


def test_groups_cap_and_fixed_cap(tmp_path: Path) -> None:
    comments = [*many(6, "a", group="x"), *many(3, "b", group="y"), *many(1, "c", group="z")]
    by_median = take(comments, [GroupBalance()], tmp_path / "median")
    assert len(by_median.kept) == 3 + 3 + 1
    fixed = take(comments, [GroupBalance(Cap(cap=2))], tmp_path / "fixed")
    assert len(fixed.kept) == 2 + 2 + 1


def test_sample_sizes(tmp_path: Path) -> None:
    comments = many(30)
    for size, n in [(4, 4), (30, 30), (31, 30), (None, 30)]:
        taken = take(comments, [RandomSample(Sample(size=size))], tmp_path / str(size), 4)
        assert len(taken.kept) == n
    other = take(comments, [RandomSample(Sample(size=4), seed=1)], tmp_path / "other", 4)
    same = take(comments, [RandomSample(Sample(size=4))], tmp_path / "again", 2)
    first = take(comments, [RandomSample(Sample(size=4))], tmp_path / "first", 1)
    assert same.kept == first.kept != other.kept


def test_repeated_ids_across_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from affectlab.stimuli.curation.steps import duplicates as _repeated

    ids = ["a", "b", "a", "c", "b", "a", "d"]
    comments = [Comment(one) for one in ids]
    whole = take(comments, [Repeated()], tmp_path / "one", 3)
    assert sorted(whole.dropped) == [2, 4, 5]
    assert whole.entries[0].found == "2 ids come more than once"
    monkeypatch.setattr(_repeated, "_AT_ONCE", 2)
    assert take(comments, [Repeated()], tmp_path / "ranges", 2).dropped == whole.dropped


class Odd(Step):
    """A user's own step: it looks at all comments, and drops small lengths."""

    name = "odd"
    reasons: ClassVar[dict[str, str]] = {"rare": "a length of one comment"}
    on = "tokens"

    def learn(self, pool: Pool) -> pl.DataFrame:
        return pool.counts("tokens")

    def reason(self) -> pl.Expr:
        return pl.when(pl.col("n") == 1).then(pl.lit("rare"))


def test_own_step(tmp_path: Path) -> None:
    comments = [*many(2, "a", tokens=4), Comment("b", tokens=9)]
    steps = build_steps(CurationPlan(), ["repeated", Odd()], None)
    assert take(comments, steps, tmp_path).dropped == {2: ("odd", "rare")}


class Clumsy(Odd):
    """Learns a column that the comments have already."""

    def learn(self, pool: Pool) -> pl.DataFrame:
        return pool.counts("tokens").with_columns(group=pl.lit("x"))


class Double(Odd):
    """Learns two rows of one value."""

    def learn(self, pool: Pool) -> pl.DataFrame:
        counts = pool.counts("tokens")
        return pl.concat([counts, counts])


@pytest.mark.parametrize(
    ("step", "sentence"),
    [
        (Clumsy(), "step odd: the comments have a column group already"),
        (Double(), "step odd: what was learned has a value of tokens twice"),
    ],
)
def test_own_step_that_does_not_fit(step: Step, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=sentence):
        take(many(3), [step], tmp_path)


@pytest.mark.parametrize(
    ("steps", "sentence"),
    [
        (["delete"], "unknown step 'delete'; did you mean 'deleted'"),
        ([], "expected at least one step"),
        ([Odd(), Odd()], "step 'odd' stands twice"),
    ],
)
def test_steps_that_cannot_be_taken(steps: list[str | Step], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        build_steps(CurationPlan(), steps, None)


def test_thresholds_are_in_the_reasons() -> None:
    told = [
        text for step in build_steps(CurationPlan(), None, None) for text in step.reasons.values()
    ]
    for words in ("10,000", "10.0", "3 tokens", "30 tokens", "30.0", "20.0", "58,000"):
        assert any(words in text for text in told), words
    assert "or by a chain, by texts alike to 80" in NearDuplicatesStep().reasons["near_duplicate"]
