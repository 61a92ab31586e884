"""Counts of prompts and pictures by label and person, and prompts for what is lacking."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from affectlab.core.errors import InputError
from affectlab.stimuli import face_prompts, load_prompt_plan, neutral_prompts
from affectlab.stimuli.prompts.coverage import accepted_images, awaiting_review, coverage_map
from affectlab.stimuli.prompts.fill import fill_prompts

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
    found = coverage_map(ASKED, images, decisions=decisions, per_label=target, least=0.7)
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
    found = coverage_map(ASKED, images, per_label=100)
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
    names = ["face-00001", "face-00002", "face-00003"]
    table = pl.DataFrame({"stimulus": names, "keep": ["TRUE", "", " False "]})
    assert accepted_images(ASKED, table)["stimulus"].to_list() == ["face-00001"]
    waiting = awaiting_review(ASKED, table)["stimulus"].to_list()
    assert waiting == [name for name in ASKED["stimulus"] if name not in (names[0], names[2])]
    assert awaiting_review(ASKED, None).height == 0
    with pytest.raises(InputError, match="decisions, row 2: keep '1': expected true, false or"):
        accepted_images(ASKED, table.with_columns(keep=pl.Series(["true", "1", "0"])))
    with pytest.raises(InputError, match="about none of the pictures"):
        accepted_images(ASKED, pl.DataFrame({"stimulus": ["x"], "keep": [True]}))
    with pytest.raises(InputError, match=r"column 'keep' is missing; expected .* found stimulus"):
        accepted_images(ASKED, pl.DataFrame({"stimulus": ["x"]}))


def test_a_picture_that_was_made_again_is_not_accepted() -> None:
    images = ASKED[:3].with_columns(sha256=pl.Series(["1", "2", "3"]))
    decided = images.select("stimulus", keep=True, sha256=pl.Series(["1", "old", ""]))
    names = images["stimulus"].to_list()
    # Where a digest is not known, the name says which picture it is.
    assert accepted_images(images, decided)["stimulus"].to_list() == [names[0], names[2]]
    assert awaiting_review(images, decided)["stimulus"].to_list() == [names[1]]


def test_what_is_due_does_not_shift_with_prompts_for_what_is_missing() -> None:
    """The map and the prompts that fill it go by the same shares, round after round."""
    plan = load_prompt_plan()
    labels = ["Awe", "Fear", "Shame"]
    there = ASKED.filter((pl.col("gender") != "woman") | (pl.col("label") != "Shame"))
    more = fill_prompts(there, 100, labels=labels, taken=ASKED["stimulus"]).to_frame()
    assert more.filter(gender="woman").height > 0.9 * more.height
    asked = pl.concat([ASKED, more])
    for prompts in (ASKED, asked):
        counts = coverage_map(prompts, there, per_label=100, plan=plan).counts
        due = counts.filter(attribute="gender", label="Shame").select("value", "due")
        assert dict(due.iter_rows()) == pytest.approx(
            {"man": 45, "woman": 45, "non-binary person": 10}
        )
    # Shares among all prompts, for want of a plan, do shift.
    drifted = coverage_map(asked, there, per_label=100).counts
    assert drifted.filter(attribute="gender", label="Shame", value="woman")["due"].item() > 47
    done = coverage_map(asked, pl.concat([there, more]), per_label=100, plan=plan, least=0.99)
    assert done.under_covered().height == 0


def test_a_plan_names_cells_that_nobody_asked_for() -> None:
    plan = load_prompt_plan()
    asked = ASKED.filter(pl.col("gender") != "woman").with_columns(
        ethnicity=pl.lit("of another plan")
    )
    counts = coverage_map(asked, per_label=10, plan=plan).counts
    women = counts.filter(attribute="gender", value="woman")
    assert women["n_prompts"].to_list() == [0, 0, 0]
    assert women["due"].to_list() == pytest.approx([4.5] * 3)
    assert counts.filter(value="of another plan")["due"].to_list() == [0.0] * 3
    assert counts.filter(attribute="ethnicity")["due"].sum() == pytest.approx(30)


def test_bad_maps() -> None:
    with pytest.raises(InputError, match="per_label = 0"):
        coverage_map(ASKED, per_label=0)
    for least in (0.0, 1.1, float("nan")):
        with pytest.raises(InputError, match="least = "):
            coverage_map(ASKED, least=least)
    with pytest.raises(InputError, match="the table of prompts: column 'colour' is missing"):
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

    def test_labels_are_understood_as_the_taxonomy_does(self) -> None:
        """A manifest that names them otherwise lacks no more than one that does not."""
        images = ASKED.with_columns(pl.col("label").str.to_uppercase())
        one, other = (
            fill_prompts(there, 120, labels=["Awe"]).to_frame() for there in (ASKED, images)
        )
        assert one.height == 20
        assert one.equals(other)
        neutral = neutral_prompts(5).to_frame().with_columns(pl.lit("n").alias("stimulus"))
        rest = pl.concat([ASKED, neutral], how="diagonal_relaxed")
        assert fill_prompts(rest, 120, labels=["Awe"]).to_frame().height == 20
        strange = ASKED.with_columns(label=pl.lit("Awful"))
        with pytest.raises(InputError, match=r"the pictures: .*'Awful'"):
            fill_prompts(strange, 120, labels=["Awe"])

    def test_pictures_that_await_a_review_are_coming(self) -> None:
        images = ASKED.filter(label="Awe")
        keep = [False] * 10 + [None] * 15 + [True] * (images.height - 30)
        decisions = pl.DataFrame({"stimulus": images["stimulus"][:-5], "keep": keep})
        given = {"decisions": decisions, "labels": ["Awe"]}
        made = fill_prompts(images, 100, **given)  # type: ignore[arg-type]
        assert made.to_frame().height == 10
        lacking = fill_prompts(images, 100, undecided="lacking", **given)  # type: ignore[arg-type]
        assert lacking.to_frame().height == 30
        with pytest.raises(InputError, match="unknown way with undecided pictures 'lost'"):
            fill_prompts(images, 100, undecided="lost", **given)  # type: ignore[arg-type]

    def test_same_seed_same_prompts(self) -> None:
        one, again, other = (
            fill_prompts(ASKED, 120, labels=["Awe"], seed=seed).to_frame() for seed in (1, 1, 2)
        )
        assert one.equals(again)
        assert not one.equals(other)

    def test_bad_input(self) -> None:
        with pytest.raises(InputError, match="per_label = 0"):
            fill_prompts(ASKED, 0)
        with pytest.raises(InputError, match="did you mean 'Anger'"):
            fill_prompts(ASKED, 3, labels=["angre"])
        with pytest.raises(InputError, match="column 'ethnicity' is missing"):
            fill_prompts(ASKED.drop("ethnicity"), 3)
