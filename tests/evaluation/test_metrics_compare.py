"""Comparing two models: tests against brute force, verdicts, margins, behaviour under the null."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason
from affectlab.core.inference import holm
from affectlab.core.jackknife import around
from affectlab.evaluation import classification_metrics, compare_predictions, confusion
from affectlab.evaluation.paired_tests import exact_mcnemar, permutation_p, tango_p
from affectlab.taxonomy import cost_from_correlation, load_taxonomy

MIKELS = load_taxonomy("mikels")
NAMES = np.array(MIKELS.labels)


def predictions(true, share_right, rng, near=True):
    """Right with this probability, else a neighbour on the wheel or any label."""
    steps = rng.choice([1, 7], true.size) if near else rng.integers(1, 8, true.size)
    return np.where(rng.random(true.size) < share_right, true, (true + steps) % 8)


def data(n, seed, right=(0.6, 0.6), near=(True, True)):
    rng = np.random.default_rng(seed)
    true = rng.integers(0, 8, n)
    return [NAMES[true]] + [
        NAMES[predictions(true, share, rng, close)]
        for share, close in zip(right, near, strict=True)
    ]


def test_values_are_those_of_each_model():
    true, a, b = data(300, 0, right=(0.7, 0.5))
    result = compare_predictions(true, a, b, "mikels", n_boot=0, n_permutations=99, seed=0)
    for (name,), estimate in result:
        row = result.frame.filter(metric=name).row(0, named=True)
        one = confusion(true, a, "mikels").metric(name)
        other = confusion(true, b, "mikels").metric(name)
        assert (row["value_a"], row["value_b"]) == pytest.approx((one, other))
        assert estimate.value == pytest.approx(one - other)
        assert np.isnan(estimate.low)


def brute_force(true, a, b, metric):
    """The p value over all ways to trade predictions, of the items where they differ."""
    differ = np.flatnonzero(a != b)
    gaps = []
    # Trading where they agree changes nothing, and trading all the others as well turns the sign.
    for swap in product([False, True], repeat=differ.size - 1):
        traded = np.zeros(a.size, dtype=bool)
        traded[differ[1:]] = swap
        one, other = np.where(traded, b, a), np.where(traded, a, b)
        first, second = (confusion(true, said, "mikels").metric(metric) for said in (one, other))
        gaps.append(abs(first - second))
    return np.mean([not gap < gaps[0] - 1e-12 for gap in gaps])


@pytest.mark.parametrize("metric", ["ecc", "mean_emotional_distance"])
def test_permutation_is_that_of_brute_force(metric):
    true = np.array(["awe", "awe", "fear", "fear", "anger", "sadness", "sadness", "disgust"])
    a = np.array(["awe", "contentment", "sadness", "fear", "anger", "fear", "sadness", "anger"])
    b = np.array(["fear", "disgust", "awe", "fear", "awe", "disgust", "amusement", "awe"])
    found = compare_predictions(
        true, a, b, "mikels", metrics=[metric], n_boot=0, n_permutations=20_000, seed=1
    )
    expected = brute_force(true, a, b, metric)
    assert found.frame["p_value"][0] == pytest.approx(expected, abs=0.012)
    assert found.frame["test"][0] == "paired permutation, 20000 draws"


@pytest.mark.long
@pytest.mark.parametrize("metric", ["macro_f1", "kappa"])
def test_a_ratio_passes_two_tests(metric):
    """The larger of brute force's p value and that of a t test from a plain jackknife."""
    true, a, b = data(14, 3, right=(0.8, 0.35))
    found = compare_predictions(
        true,
        a,
        b,
        "mikels",
        metrics=[metric],
        labels=NAMES,
        n_boot=200,
        n_permutations=20_000,
        seed=1,
    )

    def gap(rows):
        one, other = (
            confusion(true[rows], said[rows], "mikels", labels=NAMES).metric(metric)
            for said in (a, b)
        )
        return one - other

    n = true.size
    left = np.array([gap(np.arange(n) != k) for k in range(n)])
    shift = left.mean() - left
    se = np.sqrt((n - 1) / n * (shift**2).sum())
    df = np.clip((shift**2).sum() ** 2 / (shift**4).sum() - 1, 4, n - 1)
    row = found.frame.row(0, named=True)
    of_t = 2 * stats.t.sf(abs(row["value"]) / se, df)
    assert row["p_value"] == pytest.approx(max(brute_force(true, a, b, metric), of_t), abs=0.012)
    assert row["test"] == "paired permutation, 20000 draws, and jackknife t"
    least = -2.0 if metric == "kappa" else -1.0
    bias = np.array([(n - 1) * (left.mean() - row["value"])])
    ends = around(np.array([row["value"]]), np.array([se]), df, 0.95, (least, -least), bias=bias)
    assert (row["se"], row["low"], row["high"]) == pytest.approx([end[0] for end in ends])


@pytest.mark.parametrize(("right", "n"), [((0.95, 0.45), 200), ((0.9, 0.6), 400)])
def test_no_winner_on_the_severity_of_equally_bad_mistakes(right, n):
    """Mistakes of both are drawn alike, but one makes many more of them."""
    named, clear = 0, 0
    for seed in range(120):
        true, a, b = data(n, seed, right=right, near=(False, False))
        row = compare_predictions(
            true, a, b, "mikels", metrics=["emc"], n_boot=40, n_permutations=199, seed=seed
        ).frame.row(0, named=True)
        named += row["better"] != ""
        clear += row["low"] > 0 or row["high"] < 0
        # A verdict never goes against its interval.
        assert not row["better"] or row["low"] * row["high"] > 0
    # 13 of 120 happens once in two hundred at 5 %; permutations alone name 30 of 100.
    assert named <= 13
    assert clear <= 13


def test_a_handful_of_mistakes_is_not_tested():
    true, a, b = data(80, 2, right=(0.95, 0.4), near=(False, False))
    result = compare_predictions(true, a, b, "mikels", metrics=["emc"], margin=0.9, seed=0)
    row = result.frame.row(0, named=True)
    few = int((a != true).sum())
    assert 0 < few < 10
    assert result["emc"].reason == Reason(Cause.FEW_UNITS, few, 10, "mistakes")
    assert row["test"].startswith("not tested")
    assert np.isnan(row["p_value"])
    assert np.isnan(row["low"])
    assert (row["better"], row["equivalent"]) == ("", False)


def test_few_items_show_no_equivalence():
    """Shares 0.08 apart, a margin of 0.05: 20 items can hardly ever tell."""
    said = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        right = rng.random(20) < 0.9
        other = np.where(rng.random(20) < 0.1, ~right, right)
        names = np.array(["fear", "awe"])
        found = compare_predictions(
            ["awe"] * 20,
            names[right.astype(int)],
            names[other.astype(int)],
            "mikels",
            metrics=["accuracy", "ecc"],
            margin=0.05,
            n_boot=0,
            n_permutations=9,
            seed=seed,
        )
        said += found.frame["equivalent"].any()
    assert said <= 10
    two = compare_predictions(["awe", "fear"], ["awe", "fear"], ["awe", "fear"], "mikels",
                              margin=0.01, seed=0)  # fmt: skip
    assert not two.frame["equivalent"].drop_nulls().any()
    assert "equivalent" not in two.finding


@pytest.mark.parametrize(("b", "c", "n", "against"), [(2, 9, 60, -0.3), (0, 0, 40, -0.1),
                                                     (12, 3, 50, 0.1)])  # fmt: skip
def test_score_test_of_equivalence(b, c, n, against):
    """The likeliest shares under the null, searched for on a grid."""
    share = np.linspace(1e-9, (1 - abs(against)) / 2 - 1e-9, 200_001)
    only_second = share + max(-against, 0)
    only_first = only_second + against
    with np.errstate(divide="ignore"):
        likely = (
            b * np.log(only_first)
            + c * np.log(only_second)
            + (n - b - c) * np.log(1 - only_first - only_second)
        )
    best = only_second[np.nanargmax(likely)]
    spread = n * (2 * best + against * (1 - against))
    expected = stats.norm.sf((b - c - n * against) / np.sqrt(spread))
    assert tango_p(b, c, n, against) == pytest.approx(expected, rel=1e-3)


def test_alike_items_are_permuted_one_by_one():
    """Many alike items are drawn together; the spread is still that of single items."""
    true = np.repeat(["awe", "fear"], 60)
    a = np.repeat(["contentment", "fear", "fear", "anger"], 30)
    b = np.repeat(["awe", "contentment", "awe", "fear"], 30)
    result = compare_predictions(
        true, a, b, "mikels", metrics=["ecc"], n_boot=0, n_permutations=20_000, seed=0
    )
    costs = MIKELS.cost_matrix()
    gap = np.array(
        [1 / costs.cost(t, p) - 1 / costs.cost(t, q) for t, p, q in zip(true, a, b, strict=True)]
    )
    rng = np.random.default_rng(3)
    flips = rng.choice([-1, 1], (20_000, gap.size)) @ gap
    expected = np.mean(np.abs(flips) >= abs(gap.sum()) - 1e-9)
    assert result.frame["p_value"][0] == pytest.approx(expected, abs=0.012)


def test_mcnemar_counts_discordant_items():
    true, a, b = data(200, 4, right=(0.7, 0.55))
    result = compare_predictions(true, a, b, "mikels", n_boot=0, n_permutations=9, seed=0)
    right = [np.sum((a == true) & (b != true)), np.sum((b == true) & (a != true))]
    row = result.frame.filter(metric="accuracy").row(0, named=True)
    assert row["test"] == "exact McNemar"
    assert row["p_value"] == pytest.approx(float(exact_mcnemar(*map(np.asarray, right))))
    assert exact_mcnemar(np.array(0), np.array(0)) == 1


def test_holm_and_permutation_p():
    assert holm([0.01, 0.02, 0.03]).tolist() == pytest.approx([0.03, 0.04, 0.04])
    assert holm([]).tolist() == []
    assert permutation_p(np.array([1.0]), np.zeros((99, 1)))[0] == pytest.approx(0.01)
    undefined = permutation_p(np.array([1.0, np.nan]), np.full((9, 2), np.nan))
    assert undefined[0] == 1
    assert np.isnan(undefined[1])


def test_finds_what_was_simulated():
    """a is right more often; b errs further away."""
    true, a, b = data(1500, 1, right=(0.7, 0.5), near=(True, False))
    result = compare_predictions(true, a, b, "mikels", names=("near", "far"), seed=0)
    assert set(result.frame["better"]) == {"near"}
    mirrored = compare_predictions(true, b, a, "mikels", names=("far", "near"), seed=0)
    assert mirrored.finding == result.finding
    assert set(mirrored.frame["better"]) == {"near"}
    assert mirrored["ecc"].value == pytest.approx(-result["ecc"].value)
    for name in ("ecc", "mean_emotional_distance"):
        assert result[name].low * result[name].high > 0


def test_better_on_one_thing_and_worse_on_another():
    true, a, b = data(4000, 2, right=(0.72, 0.65), near=(False, True))
    found = compare_predictions(true, a, b, "mikels", names=("sure", "mild"), seed=0)
    better = dict(found.frame.select("metric", "better").rows())
    assert (better["accuracy"], better["emc"]) == ("sure", "mild")


@pytest.mark.long
def test_interval_of_the_difference_is_paired():
    true, a, b = data(800, 5)
    paired = compare_predictions(true, a, b, "mikels", seed=1, n_boot=4000, n_permutations=9)
    both = classification_metrics(true, {"a": a, "b": b}, "mikels", n_boot=4000, seed=1)
    rng = np.random.default_rng(0)
    gaps = []
    for _ in range(800):
        rows = rng.integers(0, 800, 800)
        gaps.append(
            confusion(true[rows], a[rows], "mikels").ecc
            - confusion(true[rows], b[rows], "mikels").ecc
        )
    assert paired["ecc"].se == pytest.approx(np.std(gaps, ddof=1), rel=0.1)
    # Draws are shared, so the same seed gives what the table of both would give.
    assert paired["ecc"].value == pytest.approx(both["a", "ecc"].value - both["b", "ecc"].value)


@pytest.mark.long
def test_null_is_rejected_as_often_as_said():
    """Two equal models: p values below 5 % in about 5 % of the studies, corrected ones in fewer."""
    metrics = ["accuracy", "ecc", "emc", "macro_f1"]
    low = dict.fromkeys(metrics, 0)
    any_shown, n = 0, 200
    for seed in range(n):
        true, a, b = data(150, 100 + seed)
        result = compare_predictions(
            true, a, b, "mikels", metrics=metrics, n_boot=0, n_permutations=199, seed=seed
        )
        for name, p in result.frame.select("metric", "p_value").iter_rows():
            low[name] += p <= 0.05
        any_shown += (result.frame["better"] != "").any()
    for name, count in low.items():
        assert count / n <= 0.1, name
    assert low["ecc"] / n >= 0.01
    assert any_shown / n <= 0.09


def test_clusters_widen_and_change_the_test():
    rng = np.random.default_rng(0)
    actors = np.repeat(np.arange(30), 20)
    true = rng.integers(0, 8, 600)
    wins = rng.random(30)[actors]
    a = np.where(rng.random(600) < wins, true, (true + 1) % 8)
    b = np.where(rng.random(600) < 0.8 * (1 - wins), true, (true + 1) % 8)
    options = {"labels": MIKELS.labels, "n_permutations": 999, "seed": 0}
    flat = compare_predictions(true, a, b, "mikels", **options)
    grouped = compare_predictions(true, a, b, "mikels", clusters=actors, **options)
    assert grouped["accuracy"].se > 1.5 * flat["accuracy"].se
    assert grouped["accuracy"].target == "clusters"
    permuted = "paired permutation, 999 draws"
    assert set(grouped.frame["test"]) == {permuted, f"{permuted}, and jackknife t"}
    assert grouped.frame["p_value"][0] > flat.frame["p_value"][0]


def test_margin():
    true, a, b = data(4000, 3)
    result = compare_predictions(true, a, b, "mikels", margin=0.05, seed=0, n_permutations=999)
    row = {r["metric"]: r for r in result.frame.iter_rows(named=True)}
    assert row["ecc"]["equivalent"] is True
    # One number does not serve a distance, whose unit is another.
    assert row["mean_emotional_distance"]["equivalent"] is None
    strict = compare_predictions(
        true, a, b, "mikels", margin={"ecc": 1e-5, "mean_emotional_distance": 1.0}, seed=0
    )
    row = {r["metric"]: r for r in strict.frame.iter_rows(named=True)}
    assert row["ecc"]["equivalent"] is False
    assert row["mean_emotional_distance"]["equivalent"] is True
    assert row["accuracy"]["equivalent"] is None


def test_same_predictions_are_equivalent():
    true, a, _ = data(500, 0)
    result = compare_predictions(true, a, a, "mikels", margin=0.01, seed=0)
    assert result["ecc"].value == 0
    assert set(result.frame["p_value"]) == {1.0}
    assert result.frame.filter(metric="ecc")["equivalent"][0]
    without = compare_predictions(true, a, a, "mikels", seed=0)
    assert set(without.frame["better"]) == {""}


def test_undefined_metrics_are_named():
    true, a, _ = data(60, 0)
    result = compare_predictions(true, true, a, "mikels", names=("oracle", "model"), seed=0)
    assert result["emc"].reason == Reason(Cause.NONE, of="mistakes (oracle)")
    costs = cost_from_correlation(np.eye(8), NAMES)
    plain = compare_predictions(true, true, a, costs, seed=0)
    assert plain["acc2"].reason == Reason(Cause.COSTS_WITHOUT_POLARITY)
    nothing = compare_predictions([], [], [], "mikels", seed=0)
    assert nothing.frame["value"].is_nan().all()


def test_same_seed_same_bytes():
    true, a, b = data(200, 8)
    one = compare_predictions(true, a, b, "mikels", seed=3).frame
    assert one.equals(compare_predictions(true, a, b, "mikels", seed=3).frame)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"names": ("m", "m")}, "expected two different names"),
        ({"alpha": 0.7}, r"alpha = 0\.7: expected a number between 0 and 0\.5"),
        ({"n_permutations": 0}, "n_permutations = 0: expected a whole number from 1 on"),
        ({"margin": -0.1}, r"margin = -0\.1: expected a number above 0"),
        ({"margin": {"exc": 0.1}}, "margin: unknown metric 'exc'; did you mean"),
        ({"metrics": ["eccc"]}, "unknown metric 'eccc'"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(InputError, match=message):
        compare_predictions(["awe"], ["awe"], ["fear"], "mikels", **options)
    with pytest.raises(InputError, match="b: 2 labels; expected one per item, 1"):
        compare_predictions(["awe"], ["awe"], ["fear", "awe"], "mikels")
