"""Verdicts of a preference study: the published counts, intervals and what is without a verdict."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.proportion import multinomial_proportions_confint, proportion_confint

from affectlab.core.errors import InputError
from affectlab.core.facts import Formula, IntervalFact
from affectlab.evaluation import preference_verdicts, preferences
from affectlab.ratings import Ratings

PUBLISHED = {"machine": 91, "human": 233, "both good": 47, "both bad": 11}
"""Socratis (2023), Table 1: 382 items with a majority, of 500."""


def test_the_published_counts_say_what_the_paper_says() -> None:
    table = preference_verdicts(preferences(PUBLISHED), sampled=500)
    ratio = table["ratio", "human to machine"]
    assert ratio.value == pytest.approx(233 / 91)
    # "Over two times": so it is, and the interval just allows no less.
    exact = stats.binomtest(233, 324).proportion_ci(0.95, method="exact")
    assert ratio.low == pytest.approx(exact.low / (1 - exact.low))
    assert ratio.high == pytest.approx(exact.high / (1 - exact.high))
    assert 2.0 < ratio.low < 2.01
    assert ratio.high == pytest.approx(3.30, abs=0.005)
    good = table["good", "machine"]
    assert good.value == pytest.approx(138 / 382)
    assert (good.low, good.high) == pytest.approx(proportion_confint(138, 382, method="wilson"))
    decided = table["decided", "items"]
    assert decided.value == pytest.approx(382 / 500)
    assert (decided.low, decided.high) == pytest.approx(
        proportion_confint(382, 500, method="wilson")
    )
    assert table["good, at least", "machine"].value == pytest.approx(138 / 500)
    assert table["good, at most", "machine"].value == pytest.approx(256 / 500)
    assert np.isnan(table["good, at most", "machine"].low)
    frame = table.to_frame()
    shares = frame.filter(frame["measure"] == "verdict")
    assert shares["count"].to_list() == [91, 233, 47, 11]
    assert shares["value"].sum() == pytest.approx(1)
    theirs = multinomial_proportions_confint([91, 233, 47, 11], alpha=0.05, method="goodman")
    np.testing.assert_allclose(shares.select("all_low", "all_high").to_numpy(), theirs, atol=1e-10)
    assert len(table.sentences) == 3


def study(n: int = 60, seed: int = 0) -> Ratings:
    rng = np.random.default_rng(seed)
    names = ("human", "machine", "both good", "both bad")
    rows: dict[str, list[str]] = {"stimulus": [], "rater": [], "value": []}
    for item in range(n):
        liked = rng.dirichlet([6, 3, 1.5, 0.6])
        for judge in range(3):
            rows["stimulus"].append(f"i{item}")
            rows["rater"].append(f"j{judge}")
            rows["value"].append(str(rng.choice(names, p=liked)))
    return Ratings(rows, scale="nominal:human,machine,both good,both bad")


def test_items_without_a_majority_are_counted() -> None:
    ratings = study()
    found = preferences(ratings)
    table = preference_verdicts(found)
    by_item: dict[str, list[str]] = {}
    for row in ratings.to_frame().to_dicts():
        said = ratings.scale.categories[int(row["value"])]
        by_item.setdefault(row["stimulus"], []).append(said)
    majority = {
        item: next((said for said in votes if votes.count(said) >= 2), "no majority")
        for item, votes in by_item.items()
    }
    rows = {(r["measure"], r["of_what"]): r for r in table.to_frame().to_dicts()}
    for name in PUBLISHED:
        assert rows["verdict", name]["count"] == list(majority.values()).count(name)
    left = list(majority.values()).count("no majority")
    assert left > 0
    assert rows["decided", "items"]["count"] == 60 - left
    assert rows["decided", "items"]["of"] == 60
    assert rows["good, at most", "machine"]["count"] == rows["good", "machine"]["count"] + left


def test_leaving_out_items_agrees_with_wilson_and_with_draws_of_items() -> None:
    found = preferences(PUBLISHED)
    plain, left_out = preference_verdicts(found), preference_verdicts(found, n_boot=1)
    for key in (("good", "machine"), ("verdict", "human"), ("ratio", "human to machine")):
        assert left_out[key].value == plain[key].value
        assert left_out[key].low == pytest.approx(plain[key].low, abs=0.08 * plain[key].value)
        assert left_out[key].high == pytest.approx(plain[key].high, abs=0.08 * plain[key].value)
    rng = np.random.default_rng(5)
    items = np.repeat(np.arange(4), [91, 233, 47, 11])
    ratios = []
    for _ in range(2000):
        again = np.bincount(items[rng.integers(0, 382, 382)], minlength=4)
        ratios.append(again[1] / again[0])
    low, high = np.quantile(ratios, [0.025, 0.975])
    ratio = left_out["ratio", "human to machine"]
    assert (ratio.low, ratio.high) == pytest.approx((low, high), rel=0.04)
    assert ratio.interval == IntervalFact("jackknife", ("items",))


def test_items_of_a_pair_go_together() -> None:
    ratings = study(40)
    frame = ratings.to_frame()
    choices = ratings.scale.categories
    copies = [
        (row["stimulus"] + copy, row["rater"], choices[int(row["value"])])
        for copy in "abcd"
        for row in frame.to_dicts()
    ]
    same = Ratings(
        dict(zip(("stimulus", "rater", "value"), zip(*copies, strict=True), strict=True)),
        scale=ratings.scale,
    )
    found = preferences(same)
    pair = {item: item[:-1] for item in found.tally.items}
    apart = preference_verdicts(found, n_boot=1)["good", "machine"]
    together = preference_verdicts(found, cluster=pair, n_boot=1)["good", "machine"]
    assert together.high - together.low == pytest.approx(2 * (apart.high - apart.low), rel=0.3)
    assert together.interval == IntervalFact("jackknife", ("clusters",))
    # Intervals that hold for all choices at once are never the narrower ones.
    frame = preference_verdicts(found, cluster=pair, n_boot=1).to_frame()
    shares = frame.filter(frame["measure"] == "verdict").to_dicts()
    assert len(shares) == 4
    for row in shares:
        assert row["all_low"] <= row["low"] <= row["high"] <= row["all_high"]


def test_a_choice_that_nobody_made_is_not_certain_to_be_made_by_nobody() -> None:
    found = preferences({"human": 30, "machine": 10, "both": 0, "neither": 0})
    drawn = preference_verdicts(found, n_boot=1)["verdict", "both"]
    assert drawn.low == 0
    assert drawn.high == pytest.approx(proportion_confint(0, 40, method="wilson")[1])
    assert drawn.interval == IntervalFact("analytic", formula=Formula.WILSON)


def test_large_counts_take_no_memory() -> None:
    many = preferences({"human": 7 * 10**11, "machine": 3 * 10**11, "both": 0})
    table = preference_verdicts(many, sampled=2 * 10**12)
    assert table["verdict", "human"].value == pytest.approx(0.7)
    assert table["decided", "items"].value == pytest.approx(0.5)


def test_bounds_and_odd_counts() -> None:
    only = preference_verdicts(preferences({"human": 5, "machine": 0}))
    assert not only["ratio", "human to machine"].ok
    assert len(only.sentences) == 1
    named = preference_verdicts(preferences({"cat": 5, "dog": 3}))
    assert "good" not in named.to_frame()["measure"].to_list()
    judged = preference_verdicts(preferences({"cat": 5, "dog": 3}), system="dog")
    assert judged["good", "dog"].value == pytest.approx(3 / 8)
    for options, words in (
        ({"sampled": 100}, "sampled 100"),
        ({"n_boot": -1}, "n_boot -1"),
        ({"confidence": 0.0}, "confidence"),
        ({"system": "gpt"}, "unknown system 'gpt'"),
    ):
        with pytest.raises(InputError, match=words):
            preference_verdicts(preferences(PUBLISHED), **options)
