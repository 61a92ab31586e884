"""Prompts for pictures of faces: exact quotas, balanced crossings, own files, bad input."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from affectlab.core.errors import InputError
from affectlab.stimuli import face_prompts, load_prompt_plan, neutral_prompts
from affectlab.stimuli.prompts import FacePrompts
from affectlab.stimuli.quotas import deal, largest_remainder
from affectlab.taxonomy import load_taxonomy

SHARES = {
    "man": Fraction(45, 100),
    "woman": Fraction(45, 100),
    "non-binary person": Fraction(1, 10),
}


class TestLargestRemainder:
    def test_known_answers(self) -> None:
        """Seats of a textbook apportionment: 100 votes in parts of 47, 16, 15.8, 12, 6.1, 3.1."""
        votes = [47_000, 16_000, 15_800, 12_000, 6_100, 3_100]
        assert largest_remainder(votes, 10).tolist() == [5, 2, 1, 1, 1, 0]

    @given(st.lists(st.integers(0, 50), min_size=1, max_size=12), st.integers(0, 10_000))
    def test_against_exact_fractions(self, weights: list[int], total: int) -> None:
        if not sum(weights):
            return
        found = largest_remainder(weights, total)
        exact = [Fraction(weight * total, sum(weights)) for weight in weights]
        floors = [share.numerator // share.denominator for share in exact]
        order = sorted(range(len(exact)), key=lambda k: floors[k] - exact[k])
        for k in order[: total - sum(floors)]:
            floors[k] += 1
        assert found.tolist() == floors

    @pytest.mark.parametrize("weights", [[], [0, 0], [1, -1], [1, float("nan")], [[1, 2], [3, 4]]])
    def test_bad_weights(self, weights: object) -> None:
        with pytest.raises(InputError, match="expected numbers of 0 or more"):
            largest_remainder(weights, 3)

    def test_bad_total(self) -> None:
        with pytest.raises(InputError, match="total = -1"):
            largest_remainder([1], -1)


@given(st.lists(st.integers(0, 40), min_size=1, max_size=6).filter(any), st.integers(0, 5))
def test_every_stretch_has_its_share(quotas: list[int], seed: int) -> None:
    dealt = deal(quotas, np.random.default_rng(seed))
    n = sum(quotas)
    assert np.bincount(dealt, minlength=len(quotas)).tolist() == quotas
    for value, quota in enumerate(quotas):
        ahead = np.concatenate([[0], np.cumsum(dealt == value)])
        assert np.abs(ahead - np.arange(n + 1) * quota / n).max() < len(quotas)


@pytest.fixture(scope="module")
def published() -> FacePrompts:
    return face_prompts(203_201)


class TestPublishedSize:
    def test_quotas_are_exact(self, published: FacePrompts) -> None:
        balance = published.balance()
        assert (balance["n"] == balance["wanted"]).all()
        count = dict(balance.filter(attribute="gender").select("value", "n").rows())
        for gender, share in SHARES.items():
            assert abs(count[gender] - share * 203_201) < 1
        for attribute, k in (("label", 40), ("age", 7), ("ethnicity", 14)):
            counts = balance.filter(attribute=attribute)["n"].to_list()
            assert Counter(counts) == Counter(
                {203_201 // k: k - 203_201 % k, 203_201 // k + 1: 203_201 % k}
            )

    def test_crossings_are_balanced(self, published: FacePrompts) -> None:
        """What is dealt within what came before is nowhere more than 1 off its share."""
        share = pl.col("gender").replace_strict({k: float(v) for k, v in SHARES.items()})
        for within, cells in ((["age"], 7), (["age", "ethnicity"], 98)):
            found = published.prompts.group_by("label", "gender", *within).len()
            exact = share * 203_201 / 40 / cells
            assert found.height == 40 * 3 * cells
            assert found.select((pl.col("len") - exact).abs().max()).item() < 1.5

    def test_other_crossings(self, published: FacePrompts) -> None:
        """Attributes that are not nested lie within a percent of independence, too."""
        for one, other in (("gender", "ethnicity"), ("age", "ethnicity"), ("template", "age")):
            cells = published.coverage(one, other).drop(one).to_numpy().astype(float)
            expected = np.outer(cells.sum(axis=1), cells.sum(axis=0)) / cells.sum()
            assert np.abs(cells / expected - 1).max() < 0.01

    def test_rows_say_what_they_ask_for(self, published: FacePrompts) -> None:
        words = load_taxonomy("emonet_face").words
        for row in published.prompts.sample(200, seed=1).iter_rows(named=True):
            assert f"{row['ethnicity']} {row['gender']} of {row['age']} years" in row["prompt"]
            assert row["words"] == ", ".join(words[row["label"]])
            assert row["words"] in row["prompt"]
        assert published.prompts["stimulus"].n_unique() == 203_201


def test_neutral() -> None:
    made = neutral_prompts(1700)
    assert made.prompts.height == 1700
    assert made.prompts["words"].unique().to_list() == [""]
    balance = made.balance()
    assert (balance["n"] == balance["wanted"]).all()
    assert balance.filter(attribute="gender")["n"].to_list() == [765, 765, 170]


def test_weights_aim_at_labels() -> None:
    made = face_prompts(300, weights={"Shame": 2, "embarrassment": 1})
    counts = made.prompts.group_by("label").len().sort("label").rows()
    assert counts == [("Embarrassment", 100), ("Shame", 200)]


def test_some_of_the_words() -> None:
    known = load_taxonomy("emonet_face").words
    made = face_prompts(400, words=2, seed=5)
    for label, words in made.prompts.select("label", "words").iter_rows():
        drawn = words.split(", ")
        assert len(drawn) == min(2, len(known[label]))
        assert set(drawn) <= set(known[label])
    assert made.prompts.filter(label="Amusement")["words"].n_unique() > 1


def test_same_seed_same_prompts() -> None:
    first, again, other = (face_prompts(100, seed=seed).prompts for seed in (1, 1, 2))
    assert first.equals(again)
    assert not first.equals(other)


PLAN = """
name = "own"
templates = ["{person} with {words}"]
person = "{article} {ethnicity} {gender}, {age}"
ages = [30]
ethnicities = ["Alpine"]
[genders]
woman = 1
"""


def test_a_plan_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text(PLAN, encoding="utf-8")
    plan = load_prompt_plan(file)
    made = face_prompts(3, plan=plan, weights={"Awe": 1}, words=1)
    assert all(prompt.startswith("an Alpine woman, 30 with ") for prompt in made.prompts["prompt"])
    with pytest.raises(InputError, match="'own' have no neutral_templates"):
        neutral_prompts(3, plan=plan)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("{person} with {words}", "{person} alone", "has not just the fields {person} and {words}"),
        ("{person} with {words}", "{person} {words} {x}", "has not just the fields"),
        ("{person} with {words}", "{person} {words", "expected '}'"),
        ("ages = [30]", "ages = [12]", "greater than or equal to 18"),
        ("ages = [30]", "ages = [30, 30]", "30 stands twice"),
        ("woman = 1", "woman = 0", "greater than 0"),
        ('name = "own"', "", "key 'name' is missing"),
    ],
)
def test_bad_plans(tmp_path: Path, old: str, new: str, said: str) -> None:
    file = tmp_path / "own.toml"
    file.write_text(PLAN.replace(old, new), encoding="utf-8")
    with pytest.raises(InputError) as raised:
        load_prompt_plan(file)
    assert said in str(raised.value)
    assert "own.toml" in str(raised.value)


def test_bad_numbers_and_labels() -> None:
    with pytest.raises(InputError, match="n = 0"):
        face_prompts(0)
    with pytest.raises(InputError, match="n = 0"):
        neutral_prompts(0)
    with pytest.raises(InputError, match="words = 0"):
        face_prompts(1, words=0)
    with pytest.raises(InputError, match="did you mean 'Anger'"):
        face_prompts(1, weights={"angre": 1})
    with pytest.raises(InputError, match="attribute 'colour': expected one of: label"):
        face_prompts(1).coverage("label", "colour")
