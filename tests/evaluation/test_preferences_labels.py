"""Label sets and the blind pairs of a study, from making them to their verdicts."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from affectlab.core.errors import InputError
from affectlab.evaluation import preference_pairs, preferences
from affectlab.evaluation.preference import top_labels
from affectlab.ratings import Ratings

LABELS = ["joy", "awe", "fear", "anger", "pride", "shame", "relief"]


def faces(seed: int = 0, stimuli: int = 9, models: tuple[str, ...] = ("net",)) -> Ratings:
    rng = np.random.default_rng(seed)
    raters = ["ann", "ben", "cem", *models]
    rows = [(f"f{s}", r, label) for s in range(stimuli) for r in raters for label in LABELS]
    return Ratings(
        {
            "stimulus": [s for s, _, _ in rows],
            "rater": [r for _, r, _ in rows],
            "label": [label for _, _, label in rows],
            "value": rng.integers(0, 8, len(rows)),
        },
        scale="0-7",
        raters={"rater": list(models), "rater_kind": ["model"] * len(models)},
    )


@given(seed=st.integers(0, 1000), k=st.integers(1, 8))
def test_top_labels_equal_a_plain_sort(seed: int, k: int) -> None:
    people = faces(seed, 3).humans()
    found = top_labels(people, k=k)
    frame = people.to_frame()
    for stimulus in frame["stimulus"].unique():
        scores = []
        for label in LABELS:
            here = frame.filter((pl.col("stimulus") == stimulus) & (pl.col("label") == label))
            values = here["value"].to_numpy()
            scores.append((-np.median(values), -round(values.mean(), 12), label))
        expected = sorted(scores)
        ours = found.filter(pl.col("stimulus") == stimulus)
        assert ours["label"].to_list() == [label for *_, label in expected[:k]]
        assert ours["rank"].to_list() == list(range(1, min(k, 7) + 1))
        if k < 7:
            cut = expected[k][0]
            assert ours["tied"].to_list() == [score[0] == cut for score in expected[:k]]
        else:
            assert not ours["tied"].any()


def test_ties_follow_the_taxonomy() -> None:
    table = {"stimulus": ["a"] * 3, "rater": ["x"] * 3, "label": ["fear", "anger", "joy"]}
    named = Ratings({**table, "value": [4, 4, 4]}, scale="0-7", taxonomy="ekman")
    assert named.taxonomy is not None
    order = [label for label in named.taxonomy.labels if label in table["label"]]
    assert top_labels(named, k=2)["label"].to_list() == order[:2]
    assert top_labels(named, k=2)["tied"].all()


def test_labels_that_nobody_rated_are_not_taken() -> None:
    r = Ratings(
        {"stimulus": ["a", "b", "b"], "rater": ["x"] * 3, "label": ["joy", "joy", "awe"]}
        | {"value": [5, 3, 1]},
        scale="0-7",
    )
    assert top_labels(r, k=5)["label"].to_list() == ["joy", "joy", "awe"]


def test_pairs_are_blind_and_balanced() -> None:
    ratings = faces(1, 20, ("net", "other"))
    pairs = preference_pairs(ratings, k=3, seed=4)
    assert pairs.height == 40
    assert pairs["stimulus"].n_unique() == 40
    for model in ("net", "other"):
        of_model = pairs.filter((pl.col("A") == model) | (pl.col("B") == model))
        assert (of_model["A"] == "human").sum() == 10
    # Neither the name nor the place of an item tells which model or side it is.
    assert pairs["shown"].head(20).to_list() != sorted(pairs["shown"].head(20).to_list())
    assert not any("net" in name or "human" in name for name in pairs["stimulus"])
    assert pairs.equals(preference_pairs(ratings, k=3, seed=4))
    assert not pairs.equals(preference_pairs(ratings, k=3, seed=5))


def test_pairs_hold_the_sets_of_their_owners() -> None:
    ratings = faces(2, 12)
    human = top_labels(ratings.humans(), k=2)
    model = top_labels(ratings.models(), k=2, by="rater")

    def joined(top: pl.DataFrame, stimulus: str) -> str:
        return "; ".join(top.filter(pl.col("stimulus") == stimulus)["label"])

    for row in preference_pairs(ratings, k=2, seed=0).to_dicts():
        sets = {"human": joined(human, row["shown"]), "net": joined(model, row["shown"])}
        assert row["labels_A"] == sets[row["A"]]
        assert row["labels_B"] == sets[row["B"]]
        same = set(sets["human"].split("; ")) == set(sets["net"].split("; "))
        assert row["same"] == same


def test_from_pairs_to_verdicts() -> None:
    """Judges who always know people's set are traced back to it, whatever the side."""
    pairs = preference_pairs(faces(3, 10), k=3, seed=1)
    answers = [
        (row["stimulus"], judge, "A" if row["A"] == "human" else "B")
        for row in pairs.to_dicts()
        for judge in ("j1", "j2")
    ]
    table: dict[str, Any] = {
        "stimulus": [item for item, _, _ in answers],
        "rater": [judge for _, judge, _ in answers],
        "value": [choice for _, _, choice in answers],
    }
    found = preferences(Ratings(table, scale="nominal:A,B,both,neither", stimuli=pairs))
    assert found["votes", "human"].value == 1.0
    assert found["side", "A"].value == 0.5


def test_input_that_cannot_be_used() -> None:
    ratings = faces()
    with pytest.raises(InputError, match="k = 0: expected a whole number from 1 on"):
        top_labels(ratings, k=0)
    with pytest.raises(InputError, match="unknown by"):
        top_labels(ratings, by="label")  # type: ignore[arg-type]
    plain = Ratings({"stimulus": ["a"], "rater": ["x"], "value": [1]}, scale="0-7")
    with pytest.raises(InputError, match="no labels"):
        top_labels(plain)
    with pytest.raises(InputError, match="no rater is a model"):
        preference_pairs(ratings.humans())
    with pytest.raises(InputError, match="called 'human'"):
        preference_pairs(faces(models=("human",)))


def test_control_runs_are_not_shown() -> None:
    table = faces(models=("net", "blind"))
    kinds = {"rater": ["net", "blind"], "rater_kind": ["model"] * 2}
    marked = table.with_raters(kinds | {"control": [None, "wrong_image"], "of": [None, "net"]})
    pairs = preference_pairs(marked, k=5, seed=0)
    assert set(pairs["A"]) | set(pairs["B"]) == {"human", "net"}
    assert pairs.height == 9
