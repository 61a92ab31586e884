"""Counts of prompts and pictures by label and person, and prompts for what is lacking."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from affectlab.errors import InputError
from affectlab.stimuli import face_prompts, load_prompt_plan
from affectlab.stimuli._coverage import accepted_images, coverage_map
from affectlab.stimuli._fill_prompts import fill_prompts

ASKED = face_prompts(300, weights={"Awe": 1, "Fear": 1, "Shame": 1}, seed=2).to_frame()


@settings(max_examples=25)
@given(st.integers(0, 2**16), st.floats(0, 1), st.sampled_from([None, 50, 100]))
def test_against_plain_counting(seed: int, share: float, target: int | None) -> None:
    rng = np.random.default_rng(seed)
    images = ASKED.filter(pl.Series(rng.random(ASKED.height) < share))
    keep = [[True, False, None][k] for k in rng.integers(0, 3, images.height)]
    decisions = pl.DataFrame(
        {"stimulus": images["stimulus"], "keep": keep}, schema_overrides={"keep": pl.Boolean}
    )
    found = coverage_map(ASKED, images, decisions=decisions, target=target, least=0.7)
    kept = {name for name, kept in decisions.iter_rows() if kept}
    due = len(kept) / 3 if target is None else target
    asked, made = ASKED.to_dicts(), images.to_dicts()
    for row in found.counts.iter_rows(named=True):

        def inside(one: dict[str, object], row: dict[str, object] = row) -> bool:
            same = row["attribute"] == "all" or str(one[str(row["attribute"])]) == row["value"]
            return same and one["label"] == row["label"]

        n_accepted = sum(inside(one) for one in made if one["stimulus"] in kept)
        assert row["n_prompts"] == sum(map(inside, asked))
        assert row["n_images"] == sum(map(inside, made))
        assert row["n_accepted"] == n_accepted
        value = [str(one.get(row["attribute"], "all")) for one in asked]
        mine = due * value.count(row["value"]) / len(asked)
        assert row["due"] == pytest.approx(mine)
        few = n_accepted < 0.7 * mine - 1e-9
        assert row["under_covered"] == (few and mine - n_accepted >= 1 - 1e-9)


def test_empty_cells_are_cells() -> None:
    images = ASKED.filter((pl.col("label") != "Fear") & (pl.col("gender") != "man"))
    found = coverage_map(ASKED, images, target=100)
    table = found.table("gender")
    assert table.columns == ["label", "man", "non-binary person", "woman"]
    assert table.filter(label="Fear").row(0) == ("Fear", 0, 0, 0)
    short = found.under_covered()
    assert short.row(0)[:3] == ("Fear", "all", "all")
    named = set(short.select("label", "attribute", "value").iter_rows())
    assert ("Awe", "gender", "man") in named
    assert ("Awe", "gender", "woman") not in named
    # To each of fourteen ethnicities of a label seven pictures are due, and eleven are there.
    assert found.table("ethnicity").shape == (3, 15)


def test_an_unknown_value_is_named() -> None:
    asked = ASKED.with_columns(
        age=pl.when(pl.col("stimulus") == "face-00001").then(None).otherwise("age")
    )
    found = coverage_map(asked).counts.filter(attribute="age", value="not known")
    assert found["n_prompts"].sum() == 1


def test_decisions_from_a_file_and_of_others() -> None:
    table = pl.DataFrame({"stimulus": ["face-00001", "face-00002"], "keep": ["true", ""]})
    assert accepted_images(ASKED, table)["stimulus"].to_list() == ["face-00001"]
    with pytest.raises(InputError, match="about none of the pictures"):
        accepted_images(ASKED, pl.DataFrame({"stimulus": ["x"], "keep": [True]}))
    with pytest.raises(InputError, match="no column 'keep'; found: stimulus"):
        accepted_images(ASKED, pl.DataFrame({"stimulus": ["x"]}))


def test_bad_maps() -> None:
    with pytest.raises(InputError, match="target = 0"):
        coverage_map(ASKED, target=0)
    for least in (0.0, 1.1, float("nan")):
        with pytest.raises(InputError, match="least = "):
            coverage_map(ASKED, least=least)
    with pytest.raises(InputError, match="the prompts have no column 'colour'"):
        coverage_map(ASKED, attributes=["colour"])
    with pytest.raises(InputError, match="there are no prompts"):
        coverage_map(ASKED[:0])
    with pytest.raises(InputError, match="'colour': expected one of: all, ethnicity, age, gender"):
        coverage_map(ASKED).table("colour")


class TestFill:
    @settings(max_examples=20)
    @given(st.integers(0, 2**16), st.integers(1, 120), st.floats(0, 1))
    def test_labels_come_to_the_target(self, seed: int, target: int, share: float) -> None:
        rng = np.random.default_rng(seed)
        images = ASKED.filter(pl.Series(rng.random(ASKED.height) < share))
        labels = ["Awe", "Fear", "Shame"]
        have = Counter(images["label"])
        lacking = {label: target - have[label] for label in labels if have[label] < target}
        if not lacking:
            with pytest.raises(InputError, match="nothing is lacking"):
                fill_prompts(images, target, labels=labels, seed=seed)
            return
        made = fill_prompts(images, target, labels=labels, seed=seed)
        table = made.to_frame()
        assert Counter(table["label"]) == lacking
        assert table["stimulus"].n_unique() == table.height
        assert not set(table["stimulus"]) & set(images["stimulus"])
        balance = made.balance()
        assert (balance["n"] == balance["wanted"]).all()
        # No value is asked for beyond its share, unless there is no other way to the target.
        genders = load_prompt_plan().genders
        for label in lacking:
            before = images.filter(label=label)
            after = Counter([*before["gender"], *table.filter(label=label)["gender"]])
            for gender, part in genders.items():
                there = before.filter(gender=gender).height
                assert after[gender] <= max(there, np.ceil(part * target))

    def test_from_nothing_every_quota_is_met(self) -> None:
        """Where no picture is there, totals over labels are those of prompts from the start."""
        none = ASKED[:0]
        labels = ["Awe", "Fear", "Shame", "Anger", "Sadness"]
        table = fill_prompts(none, 20, labels=labels).to_frame()
        assert Counter(table["gender"]) == {"man": 45, "woman": 45, "non-binary person": 10}
        for attribute, k in (("age", 7), ("ethnicity", 14)):
            counts = Counter(table[attribute])
            assert len(counts) == k
            assert max(counts.values()) - min(counts.values()) <= 1

    def test_missing_people_are_asked_for(self) -> None:
        images = ASKED.filter((pl.col("gender") == "man") & (pl.col("ethnicity") != "Caribbean"))
        table = fill_prompts(images, 100, labels=["Awe"]).to_frame()
        genders = Counter(table["gender"])
        assert genders["man"] < 7
        assert genders["woman"] > 4 * genders["non-binary person"]
        people = Counter(table["ethnicity"])
        assert people["Caribbean"] == max(people.values())

    def test_rejected_pictures_do_not_count_and_names_go_on(self) -> None:
        images = ASKED.filter(label="Awe")
        decisions = pl.DataFrame(
            {"stimulus": images["stimulus"], "keep": [k >= 10 for k in range(images.height)]}
        )
        taken = ["face-00500", "other"]
        made = fill_prompts(images, 100, decisions=decisions, labels=["awe"], taken=taken)
        assert made.to_frame()["stimulus"].to_list() == [f"face-{k:05d}" for k in range(501, 511)]

    def test_same_seed_same_prompts(self) -> None:
        one, again, other = (
            fill_prompts(ASKED, 120, labels=["Awe"], seed=seed).to_frame() for seed in (1, 1, 2)
        )
        assert one.equals(again)
        assert not one.equals(other)

    def test_bad_input(self) -> None:
        with pytest.raises(InputError, match="target = 0"):
            fill_prompts(ASKED, 0)
        with pytest.raises(InputError, match="did you mean 'Anger'"):
            fill_prompts(ASKED, 3, labels=["angre"])
        with pytest.raises(InputError, match="no column 'ethnicity'"):
            fill_prompts(ASKED.drop("ethnicity"), 3)
