"""Tables of metrics: intervals that mean something, shared draws, clusters, statuses."""

from __future__ import annotations

import math

import numpy as np
import pytest

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason
from affectlab.evaluation import classification_metrics, confusion, precision_recall_f1
from affectlab.evaluation.classification import CLASSIFICATION_METRICS, metrics_of_confusion
from affectlab.taxonomy import cost_from_correlation, load_taxonomy

MIKELS = load_taxonomy("mikels")
NAMES = np.array(MIKELS.labels)


def classifier(n, seed, sharpness=1.0):
    """True labels, and predictions that err towards what lies close."""
    rng = np.random.default_rng(seed)
    true = rng.integers(0, 8, n)
    chance = np.exp(-sharpness * (MIKELS.cost_matrix().matrix - 1))
    chance /= chance.sum(axis=1, keepdims=True)
    predicted = (rng.random(n)[:, None] > np.cumsum(chance[true], axis=1)).sum(axis=1)
    return NAMES[true], NAMES[predicted], chance


def naive_bootstrap(true, predicted, n_boot, seed, weights=None, clusters=None):
    """Resample items, or clusters of them, one by one."""
    rng = np.random.default_rng(seed)
    weights = np.ones(len(true)) if weights is None else np.asarray(weights, dtype=float)
    clusters = np.arange(len(true)) if clusters is None else np.asarray(clusters)
    members = [np.flatnonzero(clusters == name) for name in np.unique(clusters)]
    rows = []
    for _ in range(n_boot):
        drawn = np.concatenate([members[k] for k in rng.integers(0, len(members), len(members))])
        seen = confusion(true[drawn], predicted[drawn], "mikels", sample_weight=weights[drawn])
        found = metrics_of_confusion(seen.counts, seen.labels, "mikels")
        rows.append([float(found[name]) for name in CLASSIFICATION_METRICS])
    return np.array(rows)


def test_values_are_those_of_the_confusion():
    true, predicted, _ = classifier(300, 0)
    table = classification_metrics(true, predicted, "mikels", n_boot=0)
    seen = confusion(true, predicted, "mikels")
    assert [key for (key,), _ in table] == list(CLASSIFICATION_METRICS)
    for (name,), estimate in table:
        assert estimate.value == pytest.approx(seen.metric(name), abs=1e-12)
        assert estimate.status == "ok"
        assert np.isnan(estimate.se)
        assert estimate.target == "none"
        assert (estimate.n_items, estimate.n_ratings) == (300, 300)
    assert table["mean_emotional_distance"].statistic == "mean emotional distance"
    better = dict(zip(table.frame["metric"], table.frame["better"], strict=True))
    assert better["emc"] == "higher"
    assert better["mean_emotional_distance"] == "lower"


@pytest.mark.long
@pytest.mark.parametrize("how", ["items", "weights", "clusters", "few alike"])
def test_replicates_are_those_of_a_loop(how):
    true, predicted, _ = classifier(60 if how == "few alike" else 400, 3, sharpness=0.4)
    rng = np.random.default_rng(4)
    options = {
        "weights": {"sample_weight": rng.exponential(size=400)},
        "clusters": {"clusters": rng.integers(0, 40, 400)},
    }.get(how, {})
    table = classification_metrics(
        true, predicted, "mikels", interval="percentile", n_boot=8000, seed=1, **options
    )
    loop = naive_bootstrap(
        true,
        predicted,
        800,
        2,
        weights=options.get("sample_weight"),
        clusters=options.get("clusters"),
    )
    assert np.allclose(table.frame["se"].to_numpy(), loop.std(axis=0, ddof=1), rtol=0.12)
    span = loop.std(axis=0, ddof=1)
    for end, quantile in (("low", 0.025), ("high", 0.975)):
        assert np.all(
            np.abs(table.frame[end].to_numpy() - np.quantile(loop, quantile, axis=0)) < 0.35 * span
        )
    assert set(table.frame["target"]) == {"clusters" if how == "clusters" else "stimuli"}


@pytest.mark.long
def test_interval_covers_the_truth():
    _, _, chance = classifier(1, 0)
    expected = metrics_of_confusion(chance / 8, NAMES, "mikels")
    names = ["accuracy", "ecc", "emc", "macro_f1", "weighted_kappa"]
    hits = dict.fromkeys(names, 0)
    n = 150
    for seed in range(n):
        true, predicted, _ = classifier(300, 1000 + seed)
        table = classification_metrics(
            true, predicted, "mikels", metrics=names, n_boot=400, seed=seed
        )
        for name in names:
            estimate = table[name]
            hits[name] += estimate.low <= float(expected[name]) <= estimate.high
    for name, count in hits.items():
        assert 0.88 <= count / n <= 1, (name, count / n)


def test_se_of_accuracy_is_binomial():
    true, predicted, _ = classifier(2000, 7)
    estimate = classification_metrics(true, predicted, "mikels", n_boot=5000, seed=0)["accuracy"]
    p = estimate.value
    assert estimate.se == pytest.approx(np.sqrt(p * (1 - p) / 2000), rel=0.05)


def test_same_seed_same_bytes():
    true, predicted, _ = classifier(200, 1)
    one, again, other = (
        classification_metrics(true, predicted, "mikels", interval="percentile", seed=seed).frame
        for seed in (5, np.random.default_rng(5), 6)
    )
    assert one.equals(again)
    assert not one.equals(other)


def test_models_share_the_draws():
    true, predicted, _ = classifier(300, 1)
    table = classification_metrics(true, {"x": predicted, "y": predicted}, "mikels", seed=1)
    assert table.keys == ("model", "metric")
    for name in CLASSIFICATION_METRICS:
        first, second = table["x", name], table["y", name]
        for part in ("value", "se", "low", "high"):
            # Sums over labels may be rounded otherwise at another place in memory.
            assert getattr(first, part) == pytest.approx(
                getattr(second, part), rel=1e-12, nan_ok=True
            )
    by_row = classification_metrics(true, np.stack([predicted, predicted]), "mikels", seed=1)
    assert by_row["0", "ecc"] == table["x", "ecc"]
    named = classification_metrics(
        true, [list(predicted), list(true)], "mikels", names=["m", "gold"], n_boot=0
    )
    assert named["gold", "ecc"].value == 1
    assert named["m", "ecc"].value == table["x", "ecc"].value


def test_many_models_of_many_labels():
    goemotions = load_taxonomy("goemotions")
    rng = np.random.default_rng(0)
    true = rng.integers(0, 28, 500)
    models = {f"m{k}": np.where(rng.random(500) < 0.3 + 0.1 * k, true, 3) for k in range(5)}
    table = classification_metrics(
        true, models, "goemotions", labels=goemotions.labels, n_boot=200, seed=0
    )
    assert len(table) == 5 * len(CLASSIFICATION_METRICS)
    accuracies = [table[f"m{k}", "accuracy"].value for k in range(5)]
    assert accuracies == sorted(accuracies)
    alone = classification_metrics(
        true, models["m2"], "goemotions", labels=goemotions.labels, n_boot=2000, seed=3
    )
    for name in ("ecc", "macro_f1", "kappa"):
        assert table["m2", name].value == pytest.approx(alone[name].value)
        assert table["m2", name].se == pytest.approx(alone[name].se, rel=0.25)


def test_status_says_why():
    perfect = classification_metrics(["awe", "fear"] * 5, ["awe", "fear"] * 5, "mikels", seed=0)
    assert perfect["emc"].reason == Reason(Cause.NONE, of="mistakes")
    assert np.isnan(perfect["emc"].value)
    assert np.isnan(perfect["emc"].low)
    assert perfect["ecc"].value == 1
    assert perfect["ecc"].reason == Reason(Cause.NO_VARIATION)
    one = classification_metrics(["awe"] * 3, ["awe"] * 3, "mikels", seed=0)
    assert one["kappa"].reason == Reason(Cause.ONE_LABEL)
    nothing = classification_metrics([], [], "mikels", seed=0)
    assert "items" in {why["of"] for why in nothing.frame["reason"]}
    assert nothing.frame["value"].is_nan().all()


def test_rare_mistakes_have_no_interval():
    true = ["awe"] * 50
    predicted = ["awe"] * 49 + ["fear"]
    estimate = classification_metrics(true, predicted, "mikels", seed=0)["emc"]
    assert estimate.value == pytest.approx(1 / 5)
    assert np.isnan(estimate.low)
    assert estimate.reason is not None


def test_intervals_of_few_mistakes():
    """1 to 9 mistakes in 100: the bootstrap of macro F1 holds in 87 %, and that of EMC in 81 %."""
    share = np.array([0.4, 0.2, 0.15, 0.1, 0.06, 0.04, 0.03, 0.02])
    chance = (1 / np.maximum(MIKELS.cost_matrix().matrix - 1, 1)) * (1 - np.eye(8))
    chance *= 0.05 / chance.sum(axis=1, keepdims=True)
    chance += 0.95 * np.eye(8)
    names = ["macro_f1", "macro_recall", "emc", "accuracy"]
    expected = metrics_of_confusion(share[:, None] * chance, NAMES, "mikels", metrics=names)
    rng = np.random.default_rng(8)
    held = dict.fromkeys(("macro_f1", "macro_recall"), 0)
    n = 0
    while n < 200:
        true = rng.choice(8, 100, p=share)
        said = (rng.random(100)[:, None] > np.cumsum(chance[true], axis=1)).sum(axis=1)
        if not 1 <= (true != said).sum() < 10:
            continue
        n += 1
        table = classification_metrics(NAMES[true], NAMES[said], "mikels", metrics=names)
        assert np.isnan(table["emc"].low)
        assert np.isnan(table["emc"].se)
        assert table["emc"].reason is not None
        assert table["emc"].reason.of == "mistakes"
        for name in held:
            assert 0 <= table[name].low < table[name].high <= 1
            held[name] += table[name].low <= float(expected[name]) <= table[name].high
    for name, count in held.items():
        assert count / n > 0.9, (name, count / n)


def test_ten_mistakes_are_enough_for_a_mean_over_mistakes():
    true = np.array(["fear"] * 50 + ["awe"] * 50, dtype=object)
    said = {"nine": true.copy(), "ten": true.copy()}
    for n, labels in zip((9, 10), said.values(), strict=True):
        labels[:n], labels[:4] = "awe", "sadness"
    table = classification_metrics(true, said, "mikels")
    assert table["nine", "emc"].reason == Reason(Cause.FEW_UNITS, 9, 10, "mistakes")
    assert table["ten", "emc"].high > table["ten", "emc"].low
    alone = classification_metrics(true, said["nine"], "mikels")
    assert alone["macro_f1"].low == pytest.approx(table["nine", "macro_f1"].low, abs=1e-12)


def test_what_the_labels_allow():
    plain = classification_metrics(["a", "b"], ["a", "a"], n_boot=0)
    assert "ecc" not in plain.frame["metric"]
    assert "acc2" not in plain.frame["metric"]
    costs = cost_from_correlation(np.eye(2), ["a", "b"])
    table = classification_metrics(["a", "b"], ["a", "a"], costs, n_boot=10, seed=0)
    assert table["acc2"].reason == Reason(Cause.COSTS_WITHOUT_POLARITY)
    assert table["ecc"].value == pytest.approx((1 + 1 / 5) / 2)
    grouped = classification_metrics(
        ["a", "b"], ["a", "a"], costs, groups={"a": "x", "b": "y"}, n_boot=0
    )
    assert grouped["acc2"].value == 0.5


def test_macro_says_how_it_treats_what_is_undefined():
    true, predicted = ["a", "a", "b"], ["a", "a", "a"]
    zero = classification_metrics(true, predicted, n_boot=0)
    left_out = classification_metrics(true, predicted, n_boot=0, zero_division=np.nan)
    assert zero["macro_precision"].value == pytest.approx((2 / 3 + 0) / 2)
    assert left_out["macro_precision"].value == pytest.approx(2 / 3)
    assert zero["macro_precision"].options == ("undefined labels count as 0",)
    assert left_out["macro_precision"].options == ("undefined labels left out",)


@pytest.mark.parametrize(
    ("y_pred", "options", "message"),
    [
        (["awe"], {"n_boot": -1}, "n_boot -1: expected 0 or the number"),
        (["awe"], {"confidence": 95}, "confidence 95: expected a share"),
        (["awe"], {"interval": "bca"}, "unknown interval 'bca'"),
        (["awe"], {"metrics": ["eccc"]}, "unknown metric 'eccc'; did you mean 'ecc'"),
        (["awe"], {"names": ["m"]}, "names: expected predictions of several models"),
        ({"m": ["awe"]}, {"names": ["m"]}, "names: the predictions are named already"),
        ({}, {}, "y_pred: it holds no model"),
        ([["awe"], ["fear"]], {"names": ["m"]}, "expected 2 different names"),
        (np.zeros((1, 1, 1)), {}, "y_pred: shape"),
        ({"m": ["awe", "fear"]}, {}, "m: 2 labels; expected one per item, 1"),
        (["awe"], {"clusters": ["a", "b"]}, "clusters: 2 names; expected one per item, 1"),
        (["awe"], {"clusters": [None]}, "clusters, item 0: it belongs to no cluster"),
    ],
)
def test_bad_input(y_pred, options, message):
    with pytest.raises(InputError, match=message):
        classification_metrics(["awe"], y_pred, "mikels", **options)


def test_a_missing_interval_says_why() -> None:
    true = ["joy", "fear"] * 10
    varies = ["joy", *true[1:-1], "joy"]
    single = classification_metrics(true, varies, clusters=["one"] * 20, seed=1, n_boot=50)
    assert single["macro_f1"].reason == Reason(Cause.FEW_UNITS, 1, 5, "clusters")
    weight = [1.0] * 19 + [0.0]
    light = classification_metrics(true, varies, sample_weight=weight, seed=1, n_boot=50)
    assert light["accuracy"].value == 1.0
    assert light["macro_f1"].reason == Reason(Cause.NO_VARIATION)
    said = [["joy"]] * 15 + [["joy", "fear"]] * 5
    told = [["joy"]] * 20
    sets = precision_recall_f1(
        said, told, labels=["joy", "fear"], zero_division=1.0, n_boot=50, seed=1
    )
    precise = sets.averages["macro", "precision"]
    assert (precise.value, math.isnan(precise.low)) == (1.0, True)
    assert precise.reason == Reason(Cause.NO_VARIATION)
