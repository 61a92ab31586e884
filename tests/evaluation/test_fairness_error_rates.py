"""Gaps between groups: how often they are found where they are, and where they are not."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import kstest, permutation_test
from tests.evaluation.groups import classified, study, values

from affectlab.core.facts import Cause, Reason
from affectlab.core.inference import benjamini_hochberg
from affectlab.evaluation import fairness
from affectlab.evaluation.group_fairness.wording import nothing_can_be_shown
from affectlab.ratings import Ratings


@pytest.mark.long
def test_power_and_error_rate():
    found, false = 0, 0
    for seed in range(60):
        for gap in (0.0, 0.45):
            people, model = study(seed, n=60, raters=5, gap=gap, groups=("a", "b", "c"))
            flagged = fairness(
                people, model, by="stimulus.gender", metric="bias", n_permutations=499, seed=seed
            ).gaps.frame["flagged"]
            if gap:
                found += bool(flagged[2])
            else:
                false += bool(flagged.any())
    # Holm keeps the chance of any false flag at 5 %; 8 of 60 happens once in a hundred.
    assert false <= 8
    assert found >= 30


def test_without_correction_many_tests_flag_more():
    people, model = study(3, n=60, groups=tuple("abcdefgh"))
    options = {"by": "stimulus.gender", "by_label": True, "n_permutations": 999, "seed": 1}
    p = {
        how: fairness(people, model, correction=how, **options).gaps.frame["p_corrected"].to_numpy()
        for how in ("holm", "bh", "none")
    }
    assert (p["none"] <= p["bh"]).all()
    assert (p["bh"] <= p["holm"]).all()
    assert (p["none"] < p["holm"]).any()


def test_benjamini_hochberg_against_scipy():
    from scipy.stats import false_discovery_control

    p = np.random.default_rng(1).random(30) ** 2
    np.testing.assert_allclose(benjamini_hochberg(p), false_discovery_control(p))


@pytest.mark.long
def test_p_is_uniform_where_groups_are_alike():
    p = []
    for seed in range(150):
        people, model = study(seed, n=30, raters=3)
        found = fairness(people, model, by="stimulus.gender", n_permutations=199, seed=seed)
        p.append(found.gaps.frame["p"][0])
    assert kstest(p, "uniform").pvalue > 0.001
    assert np.mean(np.array(p) <= 0.05) < 0.12


def test_p_is_that_of_scipy():
    people, model = study(4, n=40, gap=0.3)
    found = fairness(
        people, model, by="stimulus.gender", metric="bias", n_permutations=9999, seed=1
    )
    frame = people.to_frame().group_by("stimulus", "label").agg(pl.col("value").mean())
    both = frame.join(model.to_frame(), on=["stimulus", "label"], suffix="_model")
    item = both.group_by("stimulus").agg(
        (pl.col("value_model") - pl.col("value")).mean().alias("e")
    )
    item = item.join(people.stimuli.cast({"stimulus": pl.String}), on="stimulus")
    one, other = (item.filter(pl.col("gender") == g)["e"].to_numpy() for g in ("woman", "man"))
    peer = permutation_test((one, other), lambda a, b: a.mean() - b.mean(), n_resamples=9999, rng=1)
    assert found.gaps.frame["value"][0] == pytest.approx(peer.statistic)
    assert found.gaps.frame["p"][0] == pytest.approx(peer.pvalue, abs=0.02)


@pytest.mark.long
def test_unequal_spread_is_no_gap():
    """A small group scatters more about the same level: a permutation alone flags every third."""
    false = 0
    for seed in range(80):
        rng = np.random.default_rng(seed)
        group = (np.arange(100) < 12).astype(int)
        truth = rng.uniform(1, 6, 100)
        said = truth + rng.normal(0, np.where(group == 1, 1.5, 0.4))
        stimuli = [f"s{k}" for k in range(100)]
        people = Ratings(
            {"stimulus": stimuli, "rater": ["a"] * 100, "value": truth},
            scale="-20-30 interval",
            stimuli={"stimulus": stimuli, "g": np.array(["x", "y"])[group].tolist()},
        )
        model = Ratings(
            {"stimulus": stimuli, "rater": ["m"] * 100, "value": said}, scale="-20-30 interval"
        )
        found = fairness(
            people, model, by="stimulus.g", metric="bias", n_permutations=199, seed=seed
        )
        false += found.flagged().height > 0
    assert false <= 9


@pytest.mark.long
def test_a_group_with_fewer_mistakes_has_no_milder_ones():
    options = {"by": "stimulus.g", "metric": "emc", "truth": "attribute:truth"}
    options |= {"taxonomy": "mikels", "n_permutations": 199}
    false = 0
    for seed in range(60):
        table = classified(np.tile([0.88, 0.45], 120), seed)
        false += fairness(table, **options, seed=seed).flagged().height > 0
    assert false <= 8
    few = fairness(classified(np.tile([0.97, 0.45], 60), 1), **options, n_boot=50, seed=1)
    why = few.gaps.frame["reason"][0]
    assert (why["cause"], why["least"], why["of"]) == (Cause.FEW_UNITS, 10, "mistakes")
    assert few.gaps.frame["test"][0] == "none"
    assert few.gaps.frame["p"].is_nan().all()
    assert few.gaps.frame["low"].is_nan().all()
    without = few.groups.frame.filter(pl.col("low").is_nan()).to_dicts()
    assert [row["reason"]["of"] for row in without] == ["mistakes"]
    assert "could be tested (" in few.sentences[0]


def test_clusters_are_kept_whole():
    # Actors differ, genders do not: taking stimuli for independent finds gaps that are none.
    alone, clustered = 0, 0
    for seed in range(25):
        people, model = study(seed, n=120, raters=3, actor=0.6)
        options = {"by": "stimulus.gender", "metric": "bias", "n_permutations": 299, "seed": seed}
        alone += fairness(people, model, **options).gaps.frame["flagged"].any()
        found = fairness(people, model, cluster="stimulus.actor", n_boot=20, **options)
        clustered += found.gaps.frame["flagged"].any()
        assert set(found.gaps.frame["target"]) == {"clusters"}
    assert alone >= 10
    assert clustered <= 5


def test_too_few_clusters_cannot_show_anything():
    people, model = study(gap=3)
    stimuli = people.stimuli.with_columns(actor=pl.col("gender"))
    people = people.with_stimuli(stimuli)
    found = fairness(
        people, model, by="stimulus.gender", cluster="stimulus.actor", n_boot=20, seed=1
    )
    assert found.gaps.frame["test"][0] == "hopeless"
    why = Reason(Cause.FEW_WAYS, 2, of="2 clusters")
    assert Reason.of_row(found.gaps.frame["reason"][0]) == why
    what = "mean absolute error by stimulus.gender"
    assert found.sentences == (nothing_can_be_shown("net", what, str(why)),)


@pytest.mark.long
def test_largest_gap_is_tested_as_the_largest():
    p = []
    for seed in range(100):
        people, model = study(seed, n=40, raters=2, groups=tuple("abcd"))
        options = {"by": "stimulus.gender", "metric": "bias", "n_permutations": 199, "seed": seed}
        found = fairness(people, model, against="largest", **options)
        p.append(found.gaps.frame["p"][0])
        assert found.gaps.frame["value"][0] == pytest.approx(
            max(values(found).values()) - min(values(found).values())
        )
    assert kstest(p, "uniform").pvalue > 0.001
    assert fairness(people, model, against="a", **options).gaps.frame.height == 3


@pytest.mark.long
def test_intervals_cover():
    covered = 0
    for seed in range(80):
        people, model = study(seed, n=80, raters=3, gap=0.5)
        found = fairness(
            people,
            model,
            by="stimulus.gender",
            metric="bias",
            n_boot=200,
            n_permutations=0,
            seed=seed,
        ).gaps["net", "woman", "man"]
        covered += found.low <= 0.5 <= found.high
    assert covered >= 69
