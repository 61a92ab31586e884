"""A metric learned from preferences: what it learns, and that nothing leaks into its judgement."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from affectlab.core.errors import InputError
from affectlab.models.preference_metric import (
    BestSingleMetric,
    PreferenceMetric,
    preference_features,
)
from affectlab.models.preference_metric.data import PreferenceFeatures
from affectlab.models.preference_metric.metric import grouped_folds


def features(x: Any, good: Any, clusters: Any = None) -> PreferenceFeatures:
    n, k = x.shape
    return PreferenceFeatures(
        items=tuple(f"i{at}" for at in range(n)),
        metrics=tuple(f"m{at}" for at in range(k)),
        x=np.asarray(x, dtype=float),
        good=np.asarray(good, dtype=bool),
        clusters=np.arange(n) if clusters is None else np.asarray(clusters),
        system="model",
        n_left_out=0,
    )


def planted(seed: int, n: int = 240) -> tuple[Any, Any]:
    """Two metrics that see one half each, and one that is blind; far from 0 on odd scales."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 3))
    good = z[:, 0] + z[:, 1] + rng.normal(size=n) > 0.5
    return z * [0.01, 30.0, 1.0] + [0.7, -500.0, 0.0], good


def test_the_fit_is_that_of_scikit_learn() -> None:
    x, good = planted(0)
    ours = PreferenceMetric(cs=(0.3,)).fit(x, good)
    learner = LogisticRegression(C=0.3, max_iter=5000, tol=1e-10)
    theirs = make_pipeline(StandardScaler(), learner).fit(x, good)
    np.testing.assert_allclose(ours.decision_function(x), theirs.decision_function(x), atol=1e-4)
    np.testing.assert_allclose(ours.predict_proba(x), theirs.predict_proba(x), atol=1e-5)
    assert ours.C_ == 0.3


def test_folds_part_no_group_and_test_every_item_once() -> None:
    rng = np.random.default_rng(0)
    clusters = rng.integers(0, 25, 120)
    good = rng.random(120) < 0.4
    tested: list[int] = []
    for train, test in grouped_folds(good, clusters, 5, 3):
        assert not set(clusters[train]) & set(clusters[test])
        tested += test.tolist()
    assert sorted(tested) == list(range(120))


@pytest.mark.long
def test_learning_helps_where_two_metrics_see_one_half_each() -> None:
    x, good = planted(1, 400)
    metric = PreferenceMetric()
    report = metric.cross_validate(features(x, good), repeats=2)
    rows = {row["method"]: row for row in report.to_frame().to_dicts()}
    assert rows["learned"]["value"] > 0.8
    assert rows["learned"]["low"] > 0.75
    assert rows["best single metric"]["value"] < rows["learned"]["value"]
    assert rows["difference"]["low"] > 0
    metric.fit(features(x, good).table, good)
    weights = metric.weights()["weight"].to_numpy()
    assert weights[0] == pytest.approx(weights[1], rel=0.5)
    assert abs(weights[2]) < 0.4 * weights[0]


def areas_at_random(n_seeds: int, clusters_of: Any) -> np.ndarray:
    """Areas where labels are drawn at random for each group of near-copies."""
    found = []
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        group = np.repeat(np.arange(40), 5)
        x = rng.normal(size=(40, 12))[group] + 0.1 * rng.normal(size=(200, 12))
        good = (rng.random(40) < 0.4)[group]
        data = features(x, good, clusters_of(group))
        report = PreferenceMetric(seed=seed, inner_folds=3).cross_validate(
            data, repeats=1, n_boot=0
        )
        found.append(report.to_frame()["value"].to_list()[:2])
    return np.array(found)


@pytest.mark.long
def test_with_random_labels_the_area_is_one_half() -> None:
    areas = areas_at_random(8, lambda group: group)
    assert areas[:, 0].mean() == pytest.approx(0.5, abs=0.09)
    assert areas[:, 1].mean() == pytest.approx(0.5, abs=0.09)


def test_folds_that_part_groups_would_find_what_is_not_there() -> None:
    # The same as above but for the groups, so that the test above can fail.
    areas = areas_at_random(3, lambda group: np.arange(group.size))
    assert areas[:, 0].mean() > 0.65


def test_choosing_the_best_metric_on_all_items_would_find_what_is_not_there() -> None:
    inside, outside = [], []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        x, good = rng.normal(size=(80, 40)), rng.random(80) < 0.5
        report = PreferenceMetric(cs=(0.1,), seed=seed).cross_validate(
            features(x, good), folds=4, repeats=1, n_boot=0
        )
        inside.append(report.to_frame()["value"][1])
        outside.append(roc_auc_score(good, BestSingleMetric().fit(x, good).decision_function(x)))
    assert np.mean(inside) == pytest.approx(0.5, abs=0.08)
    assert np.mean(outside) > 0.6


def test_nothing_of_the_test_items_enters() -> None:
    x, good = planted(2, 100)
    data = features(x, good)
    parts = grouped_folds(good, data.clusters, 4, 0)
    changed = x.copy()
    changed[parts[2][1][0]] += 1e4
    metric = PreferenceMetric(inner_folds=3)
    one, two = (
        cross_validate(metric, z, good, cv=parts, params={"groups": data.clusters},
                       return_estimator=True)["estimator"]
        for z in (x, changed)
    )  # fmt: skip
    # No mean, SD or C of the fold that tests it saw it; those of the others did.
    assert one[2].C_ == two[2].C_
    np.testing.assert_array_equal(one[2].coef_, two[2].coef_)
    assert not np.array_equal(one[1].coef_, two[1].coef_)


def test_blind_metrics_are_not_said_to_see() -> None:
    rng = np.random.default_rng(3)
    report = PreferenceMetric().cross_validate(
        features(rng.normal(size=(200, 3)), rng.random(200) < 0.4), repeats=2
    )
    learned, _, ahead = report.to_frame().to_dicts()
    assert learned["low"] < 0.5
    assert ahead["low"] < 0


def test_features_stand_beside_verdicts() -> None:
    said = {"a": "model", "b": "human", "c": "both", "d": "neither", "e": "human"}
    rows = [("b", "x", 1.0), ("a", "x", 2.0), ("c", "x", 3.0), ("d", "x", 4.0), ("e", "x", 5.0)]
    rows += [("a", "y", 6.0), ("b", "y", 7.0), ("c", "y", 8.0)]
    table = pl.DataFrame(rows, schema=["item", "metric", "score"], orient="row").with_columns(
        pair=pl.Series(["p", "p", "q", "q", "r", "p", "p", "q"])
    )
    data = preference_features(said, table, cluster="pair")
    assert data.items == ("a", "b", "c")
    assert data.good.tolist() == [True, False, True]
    np.testing.assert_array_equal(data.x, [[2, 6], [1, 7], [3, 8]])
    assert data.clusters.tolist() == [0, 0, 1]
    assert data.n_left_out == 1
    items = pl.DataFrame({"item": ["a", "b", "c"], "pair": ["s", "t", "t"]})
    assert preference_features(said, table, items=items, cluster="pair").clusters.tolist() == [
        0,
        1,
        1,
    ]
    with pytest.raises(InputError, match="nothing says the 'story'"):
        preference_features(said, table, cluster="story")
    with pytest.raises(InputError, match="no decided item has a score of every metric"):
        preference_features(said, {"item": ["d"], "metric": ["x"], "score": [1.0]})


def test_it_is_saved_loaded_and_scores(tmp_path: Path) -> None:
    x, good = planted(4, 90)
    data = features(x, good)
    metric = PreferenceMetric("mine")
    report = metric.cross_validate(data, folds=3, repeats=1)
    again = PreferenceMetric("mine").cross_validate(data, folds=3, repeats=1)
    assert again.to_frame().equals(report.to_frame(), null_equal=True)
    metric.fit(data.table, good, groups=data.clusters).save(tmp_path / "m")
    again = PreferenceMetric.load(tmp_path / "m")
    rows = [(i, m, x[a, b]) for a, i in enumerate(data.items) for b, m in enumerate(data.metrics)]
    table = pl.DataFrame(rows[::-1], schema=["item", "metric", "score"], orient="row")
    ours, theirs = metric.score_items(table), again.score_items(table)
    assert ours.equals(theirs)
    assert ours["metric"].unique().to_list() == ["mine"]
    by_item = dict(zip(ours["item"], ours["score"], strict=True))
    np.testing.assert_allclose(
        [by_item[i] for i in data.items], metric.decision_function(data.table)
    )
    assert again.validation == json.loads(json.dumps(metric.validation))
    with pytest.raises(InputError, match="no score of 'm0'"):
        again.score_items({"item": ["a"], "metric": ["m1"], "score": [1.0]})
    with pytest.raises(InputError, match="learned nothing"):
        PreferenceMetric().score_items(table)


def test_bad_input_is_one_sentence() -> None:
    x, good = planted(6, 60)
    data = features(x, good)
    for options, words in (
        ({"cs": []}, r"cs \[\]"),
        ({"cs": [0.0]}, "above 0"),
        ({"inner_folds": 1}, "'inner_folds' parameter"),
        ({"seed": -1}, "'seed' parameter"),
    ):
        with pytest.raises(InputError, match=words):
            PreferenceMetric(**options).fit(x, good)  # type: ignore[arg-type]
    for options, words in (
        ({"folds": 1}, "folds 1"),
        ({"repeats": 0}, "repeats 0"),
        ({"n_boot": -1}, "n_boot -1"),
        ({"folds": 50}, "too few for 50 folds"),
    ):
        with pytest.raises(InputError, match=words):
            PreferenceMetric().cross_validate(data, **options)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="1 groups of items with a good one are too few"):
        PreferenceMetric().fit(x, good, groups=np.where(good, 0, np.arange(60)))


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("weights", [1.0], "expected 3 finite numbers"),
        ("scale", [1.0, 0.0, 1.0], "not above 0"),
        ("mean", ["a", 1.0, 2.0], "expected 3 finite numbers"),
        ("intercept", None, "expected 1 finite numbers"),
        ("metrics", [], "expected names"),
        ("settings", {"seed": 5, "x": 1}, "settings cannot be used"),
        ("settings", [], "settings cannot be used"),
        ("settings", {"seed": "5"}, "settings cannot be used"),
        ("schema", "affectlab/text-model/1", "schema"),
    ],
)
def test_bad_folders_are_one_sentence(tmp_path: Path, key: str, value: Any, words: str) -> None:
    x, good = planted(7, 60)
    folder = PreferenceMetric().fit(features(x, good).table, good).save(tmp_path / "m")
    content = json.loads((folder / "model.json").read_text())
    content[key] = value
    (folder / "model.json").write_text(json.dumps(content))
    with pytest.raises(InputError, match=words):
        PreferenceMetric.load(folder)


def test_folders_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        PreferenceMetric.load(tmp_path / "none")
    (tmp_path / "file").write_text("x")
    x, good = planted(8, 60)
    with pytest.raises(InputError, match="is a file"):
        PreferenceMetric().fit(features(x, good).table, good).save(tmp_path / "file")
