"""Gaps between groups: planted ones are found, absent ones are not, and words say so."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest
from scipy.stats import t
from tests.evaluation.groups import study, values

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason
from affectlab.evaluation import fairness
from affectlab.evaluation.group_fairness.wording import no_gap, people_not_judged, small_groups
from affectlab.ratings import Ratings


def test_values_by_hand():
    people, model = study(n=20)
    found = fairness(people, model, by="stimulus.gender", n_permutations=0)
    frame = people.to_frame().group_by("stimulus", "label").agg(pl.col("value").mean())
    both = frame.join(model.to_frame(), on=["stimulus", "label"], suffix="_model")
    both = both.join(people.stimuli.cast({"stimulus": pl.String}), on="stimulus")
    error = both.with_columns((pl.col("value_model") - pl.col("value")).alias("gap"))
    expected = error.group_by("gender").agg(
        pl.col("gap").abs().mean(), pl.col("gap").mean().alias("b")
    )
    for gender, mae, bias in expected.rows():
        assert values(found)[gender] == pytest.approx(mae)
        signed = fairness(people, model, by="stimulus.gender", metric="bias", n_permutations=0)
        assert values(signed)[gender] == pytest.approx(bias)
    assert found.groups["net", "man"].n_items == 10
    assert found.groups["net", "man"].n_ratings == 20
    # A gap between two groups is one gap.
    assert len(found.gaps) == 1
    assert found.gaps.frame["p"].is_nan().all()


def test_groups_of_people_count_each_person_once():
    people, model = study(n=20, raters=6)
    found = fairness(people, model, by="rater.gender", n_permutations=0)
    joined = people.to_frame().join(model.to_frame(), on=["stimulus", "label"], suffix="_model")
    own = joined.group_by("rater").agg(
        (pl.col("value_model") - pl.col("value")).abs().mean().alias("e")
    )
    raters = people.raters.cast({"rater": pl.String})
    expected = dict(own.join(raters, on="rater").group_by("gender").agg(pl.col("e").mean()).rows())
    assert values(found) == pytest.approx(expected)
    assert found.groups["net", "f"].n_raters == 3
    assert found.settings["things"] == "people"


def test_how_much_higher_a_group_of_people_rates():
    people, _ = study(n=200, rater_gap=0.5)
    means = fairness(people, by="rater.gender", metric="mean", seed=1)
    found = fairness(people, by="rater.gender", metric="bias", n_boot=500, seed=1)
    gap = found.gaps["people", "m", "f"]
    assert gap.value == pytest.approx(-0.5, abs=0.05)
    # Everybody rated everything, so the bias is the difference of the means.
    assert gap.value == pytest.approx(means.gaps["people", "m", "f"].value)
    assert gap.high < 0
    assert found.flagged().height == 1


def test_a_planted_gap_is_found_and_said():
    people, model = study(gap=0.8, groups=("man", "nonbinary", "woman"))
    found = fairness(people, model, by="stimulus.gender", metric="bias", n_boot=500, seed=2)
    row = found.gaps["net", "woman", "rest"]
    assert row.value == pytest.approx(0.8, abs=0.25)
    assert row.low < row.value < row.high
    flags = dict(found.gaps.frame.select("group", "flagged").rows())
    assert flags["woman"]
    assert len(found.sentences) == sum(flags.values())


def test_a_gap_in_one_label_is_found_there():
    people, model = study(gap=0.8, label_gap=(1.0, -1.0))
    pooled = fairness(people, model, by="stimulus.gender", metric="bias", n_boot=99, seed=1)
    assert not pooled.gaps.frame["flagged"].any()
    found = fairness(
        people, model, by="stimulus.gender", metric="bias", by_label=True, n_boot=99, seed=1
    )
    assert found.gaps["net", "joy", "woman", "man"].value > 0.4
    assert found.gaps["net", "fear", "woman", "man"].value < -0.4
    assert found.gaps.frame["flagged"].all()
    assert len(found.sentences) == 2
    only = fairness(people, model, by="stimulus.gender", labels=["joy"], n_permutations=0)
    assert only.groups["net", "man"].n_ratings == 60


def test_small_groups_are_shown_and_not_tested():
    people, model = study(n=60)
    stimuli = people.stimuli.with_columns(
        gender=pl.when(pl.int_range(60) < 3).then(pl.lit("other")).otherwise(pl.col("gender"))
    )
    people = people.with_stimuli(stimuli)
    found = fairness(people, model, by="stimulus.gender", n_boot=50, seed=1)
    small = Reason(Cause.FEW_UNITS, 3, 5, "stimuli")
    assert found.groups["net", "other"].reason == small
    assert found.groups.frame.filter(group="other")["test"].item() == "small"
    assert np.isfinite(found.groups["net", "other"].value)
    row = found.gaps["net", "other", "rest"]
    assert row.reason == small
    assert found.gaps.frame.filter(group="other")["test"].item() == "none"
    assert np.isnan(row.value)
    assert found.settings["n_tests"] == 2
    assert found.notes == (small_groups(5, "stimuli", ["other (3)"]),)
    all_small = fairness(people, model, by="stimulus.gender", min_items=50, n_boot=50, seed=1)
    assert all_small.settings["n_tests"] == 0
    largest = fairness(people, model, by="stimulus.gender", min_items=50, against="largest", seed=1)
    why = Reason(Cause.FEWER, least=2, of="groups of 50 stimuli")
    assert Reason.of_row(largest.gaps.frame["reason"][0]) == why


def test_small_gaps_do_not_matter():
    people, model = study(gap=0.8)
    found = fairness(
        people, model, by="stimulus.gender", metric="bias", min_gap=2, n_boot=200, seed=1
    )
    assert not found.gaps.frame["flagged"].any()
    assert found.gaps.frame["p_corrected"].min() < 0.05
    assert found.gaps.frame["value"].abs().max() < 2


def test_no_gap_says_what_could_have_been_missed():
    people, model = study()
    found = fairness(people, model, by="stimulus.gender", n_boot=300, seed=1)
    row = found.gaps.frame.row(0, named=True)
    assert row["detectable"] == pytest.approx((1.959964 + 0.841621) * row["se"], rel=1e-5)
    what = "mean absolute error by stimulus.gender"
    sentence = no_gap("net", what, [row["detectable"]], "60 stimuli")
    assert found.sentences == (sentence,)
    none = fairness(people, model, by="stimulus.gender", n_boot=0, seed=1)
    assert none.sentences == (no_gap("net", what, [], "60 stimuli"),)


def test_numbers_are_cut_at_edges_and_attributes_are_crossed():
    people, _ = study(n=10)
    found = fairness(people, by="rater.age", edges={"age": [30, 50]}, min_items=2, n_permutations=0)
    assert list(values(found)) == ["under 30", "30 to under 50", "50 and over"]
    assert [e.n_raters for _, e in found.groups] == [3, 5, 4]
    crossed = fairness(
        people, by="rater.gender x rater.age", edges=[40], min_items=2, n_permutations=0
    )
    names = ["f, under 40", "f, 40 and over", "m, under 40", "m, 40 and over"]
    assert list(values(crossed)) == names
    listed = fairness(
        people, by=["rater.gender", "age"], edges={"rater.age": [40]}, n_permutations=0
    )
    assert list(values(listed)) == names
    with pytest.raises(InputError, match=r"has 12 different numbers; give edges.*--edges age="):
        fairness(people, by="rater.age")


def test_missing_attributes_are_left_out_and_counted():
    people, model = study(n=40)
    stimuli = people.stimuli.with_columns(
        gender=pl.when(pl.int_range(40) < 6).then(None).otherwise(pl.col("gender"))
    )
    found = fairness(people.with_stimuli(stimuli), model, by="stimulus.gender", n_permutations=0)
    assert found.notes[0] == "6 of 40 stimuli are left out: no stimulus.gender is known."
    assert sum(e.n_items for _, e in found.groups) == 34


def test_truth_and_falsehood_few_numbers_and_both_tables():
    people, model = study(n=40)
    flags = people.stimuli.with_columns(smile=pl.int_range(40) % 4 == 0, size=pl.int_range(40) % 3)
    people = people.with_stimuli(flags)
    assert list(values(fairness(people, model, by="smile", n_permutations=0))) == ["yes", "no"]
    assert list(values(fairness(people, model, by="size", n_permutations=0))) == ["0", "1", "2"]
    bare = people.with_stimuli(people.stimuli.select("stimulus"))
    there = model.with_stimuli(flags.cast({"stimulus": pl.String}).select("stimulus", "smile"))
    assert list(values(fairness(bare, there, by="smile", n_permutations=0))) == ["yes", "no"]


def test_classes_and_a_truth_beside_people():
    rng = np.random.default_rng(1)
    n = 60
    names = [f"s{k}" for k in range(n)]
    truth = rng.choice(["awe", "fear", "anger"], n)
    wrong = (np.arange(n) % 2 == 1) & (np.arange(n) % 4 == 1)
    said = np.where(wrong, np.where(truth == "awe", "fear", "awe"), truth)
    stimuli = {"stimulus": names, "skin": ["light", "dark"] * (n // 2), "expression": truth}
    model = Ratings(
        {"stimulus": names, "rater": ["net"] * n, "value": said},
        scale="nominal:awe,fear,anger",
        stimuli=stimuli,
        raters={"rater": ["net"], "rater_kind": ["model"]},
        taxonomy="mikels",
    )
    options = {"by": "skin", "truth": "attribute:expression", "seed": 1}
    found = fairness(model, metric="accuracy", n_boot=100, **options)
    assert values(found) == {"dark": 0.5, "light": 1.0}
    assert found.flagged().height == 1
    milder = fairness(model, metric="emc", n_boot=100, **options)
    assert milder.groups["net", "light"].status == "undefined"
    assert milder.gaps.frame["status"][0] == "undefined"
    assert values(fairness(model, metric="ecc", n_permutations=0, **options))["light"] == 1


def test_models_alone_have_no_groups_of_people():
    rows = {"stimulus": ["a", "b"] * 2, "rater": ["m", "m", "n", "n"], "value": ["awe"] * 4}
    models = Ratings(
        rows,
        scale="nominal:awe,fear",
        stimuli={"stimulus": ["a", "b"], "expression": ["awe", "fear"]},
        raters={"rater": ["m", "n"], "rater_kind": ["model"] * 2, "family": ["small", "large"]},
    )
    with pytest.raises(InputError, match="no rater is human"):
        fairness(models, by="rater.family", metric="accuracy", truth="attribute:expression")


def test_same_seed_same_bytes():
    people, model = study(n=40)
    frames = [
        fairness(people, model, by="stimulus.gender", n_boot=50, seed=5).to_frame() for _ in "12"
    ]
    assert frames[0].equals(frames[1])
    assert frames[0]["part"].unique(maintain_order=True).to_list() == ["group", "gap"]


@pytest.mark.parametrize(
    "metric", ["mae", "spearman", "quadratic_kappa", "alpha", "accuracy", "mean"]
)
@pytest.mark.parametrize("by", ["stimulus.gender", "rater.gender"])
def test_every_metric_by_every_carrier(metric, by):
    people, model = study(n=30, raters=10)
    found = fairness(people, model, by=by, metric=metric, n_boot=20, n_permutations=19, seed=1)
    frame = found.groups.frame
    assert frame["value"].is_not_nan().all()
    expected = "people" if metric == "alpha" or (metric, by) == ("mean", "rater.gender") else "net"
    assert set(frame["rater"]) == {expected}
    assert found.gaps.frame["p"].is_not_nan().all()
    if metric not in ("quadratic_kappa", "alpha"):
        both = fairness(people, model, by=by, metric=metric, people=True, n_permutations=0, seed=1)
        assert "people" in set(both.groups.frame["rater"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"by": "gender"}, "raters and stimuli both have it"),
        ({"by": "stimulus.gendr"}, "did you mean 'stimulus.gender'"),
        ({"by": "stimulus.gender x rater.gender"}, "crosses attributes of raters"),
        ({"by": "stimulus.gender x stimulus.gender"}, "attribute 'stimulus.gender' stands twice"),
        ({"by": ""}, "expected an attribute"),
        ({"by": "stimulus.gender", "edges": [3]}, "0 attributes are numbers"),
        ({"by": "stimulus.gender", "edges": {"gender": [3]}}, "holds words, not numbers"),
        ({"by": "stimulus.gender", "edges": {"age": [3]}}, "unknown attribute 'age'"),
        ({"by": "rater.age", "edges": [50, 30]}, "expected rising numbers"),
        ({"by": "rater.age", "edges": [500]}, "there is one group, 'under 500'"),
        ({"by": "stimulus.gender", "against": "womn"}, "did you mean 'woman'"),
        (
            {"by": "stimulus.gender", "metric": "ecc"},
            f"metric 'ecc': {re.escape(str(Reason(Cause.NO_COSTS)))}",
        ),
        (
            {"by": "stimulus.gender", "metric": "accuracy", "by_label": True},
            "one class per stimulus",
        ),
        ({"by": "stimulus.gender", "labels": ["joi"]}, "unknown label 'joi'"),
        ({"by": "stimulus.gender", "cluster": "rater.age"}, "is an attribute of the rater"),
        ({"by": "rater.gender", "cluster": "rater.gender x"}, "unknown attribute"),
        (
            {"by": "stimulus.actor", "cluster": "stimulus.gender"},
            "expected each cluster in one group",
        ),
        ({"by": "stimulus.gender", "alpha": 5}, "alpha = 5"),
        ({"by": "stimulus.gender", "min_gap": -1}, "min_gap = -1"),
        ({"by": "stimulus.gender", "min_items": 0}, "min_items = 0"),
        ({"by": "stimulus.gender", "correction": "bonferroni"}, "unknown correction"),
        ({"by": "stimulus.gender", "n_boot": -1}, "n_boot -1"),
        ({"by": "stimulus.gender", "confidence": 95}, "confidence"),
    ],
)
def test_bad_input(options, words):
    people, model = study(n=20)
    with pytest.raises(InputError, match=words):
        fairness(people, model, **options)


def test_kappa_needs_models_and_errors_a_scale_in_common():
    people, model = study(n=20)
    with pytest.raises(InputError, match="'alpha' compares people"):
        fairness(people, by="stimulus.gender", metric="quadratic_kappa")
    loose = model.with_values(model.value, "interval", step="no bounds")
    with pytest.raises(
        InputError, match=r"'mae' needs models and people on one scale.*has no bounds.*'spearman'"
    ):
        fairness(people, loose, by="stimulus.gender")
    found = fairness(people, loose, by="stimulus.gender", metric="spearman", n_permutations=0)
    assert found.groups["net", "man"].ok


@pytest.mark.parametrize("metric", ["mae", "bias", "quadratic_kappa", "spearman"])
def test_a_declared_scale_of_models_is_mapped_to_that_of_people(metric):
    people, model = study(n=40)
    shares = model.with_values(model.value / 7, "0-1 interval", step="shares")
    options = {"by": "stimulus.gender", "metric": metric, "n_permutations": 0}
    own, other = fairness(people, model, **options), fairness(people, shares, **options)
    for group in ("man", "woman"):
        assert other.groups["net", group].value == pytest.approx(own.groups["net", group].value)
    assert len(other.notes) == (metric != "spearman")  # How the scale was mapped.


def test_control_runs_are_not_judged():
    people, model = study()
    blind = Ratings(
        model.to_frame().select("stimulus", "label", "value").with_columns(rater=pl.lit("blind")),
        scale=model.scale,
        raters={
            "rater": ["blind"],
            "rater_kind": ["model"],
            "control": ["no_image"],
            "of": ["net"],
        },
    )
    options = {"by": "stimulus.gender", "n_permutations": 99, "seed": 1}
    both = fairness(people, model.merge(blind), **options)
    assert "blind" not in both.groups.frame["rater"].to_list()
    assert both.notes[0] == "1 control run not judged: blind"
    assert both.settings["n_tests"] == fairness(people, model, **options).settings["n_tests"]


def test_a_bias_that_is_zero_by_its_making_is_not_tested():
    people, model = study()
    options = {"by": "stimulus.gender", "metric": "bias", "n_permutations": 99, "seed": 1}
    found = fairness(people, model, people=True, **options)
    assert set(found.groups.frame["rater"]) == set(model.rater_names)
    assert found.settings["n_tests"] == 1
    assert people_not_judged("mean signed difference") in found.notes
    with pytest.raises(InputError, match="is 0 whatever they answer"):
        fairness(people, **options)


def test_intervals_leave_out_each_stimulus_with_welchs_degrees_of_freedom() -> None:
    people, model = study(7, n=40)
    found = fairness(people, model, by="stimulus.gender", metric="bias", n_permutations=0)
    gap = found.gaps.frame.row(0, named=True)
    group = {row["group"]: row for row in found.groups.frame.iter_rows(named=True)}
    sides = [group[gap[side]] for side in ("group", "against")]
    variances = np.array([side["se"] ** 2 for side in sides])
    counts = np.array([side["n_items"] for side in sides])
    df = variances.sum() ** 2 / (variances**2 / (counts - 1)).sum()
    assert gap["se"] == pytest.approx(np.sqrt(variances.sum()))
    half = t.ppf(0.975, df) * gap["se"]
    assert (gap["low"], gap["high"]) == pytest.approx((gap["value"] - half, gap["value"] + half))
    for side in sides:
        half = t.ppf(0.975, side["n_items"] - 1) * side["se"]
        assert side["low"] == pytest.approx(side["value"] - half)
