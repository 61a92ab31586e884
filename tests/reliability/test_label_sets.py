"""Krippendorff's alpha of whole sets of labels."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings, strategies as st

from affectlab.core.errors import InputError
from affectlab.ratings import Ratings, read_ratings
from affectlab.reliability import krippendorff_alpha, rater_agreement
from affectlab.reliability.agreement.wording import NO_EMPTY_SETS, not_binary

Chosen = Sequence[Sequence[frozenset[str] | None]]
TWO_CODERS = """
l1,l2|l1 l1,l2|l1,l2 l1|l1 l3|l3 l3|l1,l3 l4|l4 l2|l4 l1,l2|l1 l1,l2|l1,l2,l3 l1|l1 l1|l1
"""
"""Two coders of eleven items (stats.stackexchange 407453)."""


def of_sets(chosen: Chosen, labels: str = "abc") -> Ratings:
    """Chosen sets of raters (rows) of stimuli (columns); None where there is no answer."""
    rows = [
        (f"s{unit:02}", f"r{rater}", label, float(label in one))
        for rater, row in enumerate(chosen)
        for unit, one in enumerate(row)
        if one is not None
        for label in labels
    ]
    names = ("stimulus", "rater", "label", "value")
    return Ratings(dict(zip(names, zip(*rows, strict=True), strict=True)), scale="binary")


def alpha_of(ratings: Ratings, level: str, **options: object) -> float:
    found = krippendorff_alpha(ratings, level=level, **options)
    assert found.frame["label"].to_list() == ["label sets"]
    return found["label sets"].value


def masi(first: frozenset[str], second: frozenset[str]) -> float:
    """The distance as Passonneau writes it, one pair at a time."""
    if first == second:
        return 0.0
    shared = len(first & second)
    monotony = 2 / 3 if first <= second or second <= first else 1 / 3
    return 1 - shared / len(first | second) * monotony


def jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    return 0.0 if first == second else 1 - len(first & second) / len(first | second)


def two_coders() -> Ratings:
    pairs = [pair.split("|") for pair in TWO_CODERS.split()]
    sets = [[frozenset(one.split(",")) for one in coder] for coder in zip(*pairs, strict=True)]
    return of_sets(sets, ("l1", "l2", "l3", "l4"))


def test_two_coders() -> None:
    ratings = two_coders()
    assert alpha_of(ratings, "masi") == pytest.approx(0.540, abs=5e-4)
    by_label = krippendorff_alpha(ratings, target="sample").frame["value"].to_list()
    assert by_label == pytest.approx([0.800, 0.400, 0.753, 0.632], abs=5e-4)


def test_the_shared_case_is_the_one_above() -> None:
    path = Path(__file__).parents[3] / "shared/cases/data/two_coders_several_labels.csv"
    if not path.exists():
        pytest.skip("shared/cases is not beside the checkout")
    rows = list(csv.reader(path.read_text().splitlines()))[1:]
    assert [
        "|".join(cell.replace(" ", "") for cell in row[1:]) for row in rows
    ] == TWO_CODERS.split()


sets = st.frozensets(st.sampled_from("abc"))
panels = st.integers(2, 4).flatmap(
    lambda n: st.lists(
        st.lists(st.one_of(st.none(), sets), min_size=6, max_size=6), min_size=n, max_size=n
    )
)


@pytest.mark.parametrize(("level", "distance"), [("masi", masi), ("jaccard", jaccard)])
@given(chosen=panels)
@settings(max_examples=60, deadline=None)
def test_equals_alpha_from_all_pairs(level, distance, chosen) -> None:
    # By the definition: mean distance within stimuli over that of all pairs of pairable answers.
    units = [[row[k] for row in chosen if row[k] is not None] for k in range(6)]
    units = [unit for unit in units if len(unit) > 1]
    every = [one for unit in units for one in unit]
    assume(len(set(every)) > 1 and frozenset() in every)
    observed = sum(sum(distance(a, b) for a in u for b in u) / (len(u) - 1) for u in units)
    expected = sum(distance(a, b) for a in every for b in every) / (len(every) - 1)
    assert alpha_of(of_sets(chosen), level, target="sample") == pytest.approx(
        1 - observed / expected, abs=1e-9
    )


@pytest.mark.parametrize("level", ["masi", "jaccard"])
def test_equals_nltk(level) -> None:
    agreement = pytest.importorskip("nltk.metrics.agreement")
    metrics = pytest.importorskip("nltk.metrics")
    rng = np.random.default_rng(3)
    # nltk divides by zero where both sets are empty.
    draw = [
        [frozenset(rng.choice(list("abc"), rng.integers(1, 4), replace=False)) for _ in range(20)]
        for _ in range(3)
    ]
    task = agreement.AnnotationTask(
        [(f"r{r}", f"s{s}", one) for r, row in enumerate(draw) for s, one in enumerate(row)],
        distance=getattr(metrics, f"{level}_distance"),
    )
    # nltk rounds the monotony of MASI to .67 and .33.
    near = 0.01 if level == "masi" else 1e-9
    assert alpha_of(of_sets(draw), level) == pytest.approx(task.alpha(), abs=near)


@given(seed=st.integers(0, 1000))
@settings(max_examples=10, deadline=None)
def test_leaving_out_is_the_same_as_computing_without(seed) -> None:
    # More than 64 distinct sets are summed in sparse tables, and left out in another way.
    rng = np.random.default_rng(seed)
    draw = [
        [
            frozenset(rng.choice(list("abcdefgh"), rng.integers(0, 5), replace=False))
            for _ in "." * 60
        ]
        for _ in range(3)
    ]
    ratings = of_sets(draw, "abcdefgh")
    assert len({one for row in draw for one in row}) > 64
    left_out = krippendorff_alpha(ratings, level="jaccard", target="stimuli").jackknife
    for unit in (0, 59):
        without = ratings.where(np.array(ratings.frame["stimulus"] != f"s{unit:02}"))
        expected = alpha_of(without, "jaccard", target="sample")
        assert left_out.parts[0].values[unit, 0] == pytest.approx(expected, abs=1e-12)


def test_sets_that_are_not_whole_are_left_out_and_said() -> None:
    ratings = two_coders()
    first = (ratings.frame["stimulus"] == "s00") & (ratings.frame["label"] == "l4")
    found = krippendorff_alpha(ratings.where(np.array(~first)), level="masi")["label sets"]
    assert found.n_items == 10
    assert "without 2 incomplete sets" in found.options


def test_lists_of_what_was_chosen_are_sets() -> None:
    # Without a zero anywhere, a label that is not listed was not chosen.
    ratings = two_coders()
    listed = ratings.where(np.array(ratings.frame["value"] == 1))
    assert alpha_of(listed, "masi") == alpha_of(ratings, "masi")


def test_lists_do_not_say_who_chose_nothing(tmp_path: Path) -> None:
    chosen = [[frozenset("ab"), frozenset("a"), frozenset()], [frozenset("ab"), frozenset("b")] * 2]
    whole = of_sets([row[:3] for row in chosen])
    assert not krippendorff_alpha(whole, level="masi").notes
    listed = whole.where(np.array(whole.frame["value"] == 1))
    listed.frame.write_csv(tmp_path / "listed.csv")
    filled = read_ratings(tmp_path / "listed.csv", scale="binary", absent="zero")
    for ratings in (listed, filled):
        found = krippendorff_alpha(ratings, level="masi")
        assert found.notes[0] == NO_EMPTY_SETS
        assert not any("empty" in note for note in krippendorff_alpha(ratings).notes)
        assert found.notes[0] in rater_agreement(ratings).notes
    # A file with a column for each label has a row for who chose nothing.
    wide = whole.frame.filter(pl.col("value") == 1).pivot(
        "label", index=["stimulus", "rater"], values="value"
    )
    nothing = pl.DataFrame({"stimulus": ["s02"], "rater": ["r0"]})
    pl.concat([wide, nothing], how="diagonal").write_csv(tmp_path / "wide.csv")
    read = read_ratings(tmp_path / "wide.csv", scale="binary", wide="labels", absent="zero")
    assert not krippendorff_alpha(read, level="masi").notes
    labels = ("a", "b")
    assert alpha_of(read, "masi") == pytest.approx(alpha_of(whole.select(labels=labels), "masi"))


def test_agreement_shows_whole_sets_beside_labels() -> None:
    found = rater_agreement(two_coders()).to_frame("label_sets")
    assert found["distance"].to_list() == ["MASI", "Jaccard"]
    assert found["value"][0] == pytest.approx(0.540, abs=5e-4)
    one_each = of_sets([[frozenset("a"), frozenset("b"), frozenset()]] * 2)
    assert "label_sets" not in {table.name for table in rater_agreement(one_each).tables}


@pytest.mark.parametrize(
    ("ratings", "match"),
    [
        ([[1, 0], [0, 1]], not_binary(2, [])),
        (
            Ratings({"stimulus": ["a", "a"], "rater": ["r", "s"], "value": [1, 0]}, scale="binary"),
            not_binary(1, ["binary, 0 or 1"]),
        ),
        (
            Ratings(
                {"stimulus": ["a"] * 2, "rater": ["r"] * 2, "label": ["x", "y"], "value": [1, 7]},
                scale="0-7",
            ),
            not_binary(2, ["ordinal 0 to 7, step 1"]),
        ),
    ],
)
def test_what_is_no_set_is_refused(ratings, match) -> None:
    with pytest.raises(InputError, match=f"level 'masi' needs yes/no answers.*{re.escape(match)}"):
        krippendorff_alpha(ratings, level="masi")


def test_level_and_distance_exclude_each_other() -> None:
    with pytest.raises(InputError, match="not both"):
        krippendorff_alpha(two_coders(), level="masi", distance=np.eye(2))
