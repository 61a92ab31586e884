"""What each way of learning predicts: by formula, by scikit-learn, and where truth is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.utils.estimator_checks import check_estimator

from affectlab.core.errors import InputError
from affectlab.models.crowd import CrowdClassifier

OF_RATERS = ("crowd_layer", "rater_embedding", "per_rater")


def softmax(logits: Any) -> Any:
    raised = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return raised / raised.sum(axis=-1, keepdims=True)


def by_hand(model: CrowdClassifier, x: Any, rater: int) -> Any:
    """The formulas of the documentation, one label, one row at a time."""
    w, c = model.weights_, len(model.classes_)
    rows = []
    for row in (x - model.mean_) / model.length_:
        logits = w["base"] + w["bias"] + row @ w["weight"]
        one = np.append(row, 1.0)
        if model.how == "per_rater":
            logits = logits + one @ w["own"][rater]
        elif model.how == "rater_embedding":
            parts = (one @ w["directions"]).reshape(model.width, c)
            logits = logits + sum(e * v for e, v in zip(w["embedding"][rater], parts, strict=True))
        elif model.how == "crowd_layer":
            known = np.log(softmax(logits))
            logits = known + np.append(known, 1.0) @ w["own"][rater, 0]
        rows.append(softmax(logits))
    return np.array(rows)


def two_readings(n: int = 80, seed: int = 0) -> tuple[Any, Any, Any, Any]:
    """Three raters say which side a point lies on, one says the contrary."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    side = (x[:, 0] > 0).astype(int)
    answers = np.concatenate([side, side, side, 1 - side])
    raters = np.repeat(["a", "b", "c", "d"], n)
    return x, answers, raters, np.tile(np.arange(n), 4)


@pytest.mark.parametrize("how", ["soft", "rater_embedding"])
def test_it_is_an_estimator(how: str) -> None:
    check_estimator(CrowdClassifier(how, max_iter=20), on_skip=None)


@pytest.mark.parametrize("how", OF_RATERS)
def test_predictions_follow_the_formula_and_minimise_the_loss(how: str) -> None:
    x, y, raters, items = two_readings(30)
    model = CrowdClassifier(how, penalty=0.5, shrinkage=0.7, width=2, max_iter=1000)
    model.fit(x, y, raters=raters, items=items)
    every = [by_hand(model, x, at) for at in range(4)]
    for at, name in enumerate("abcd"):
        assert np.allclose(model.predict_proba_for(x, name), every[at], atol=1e-10)
    assert np.allclose(model.predict_proba(x), np.mean(every, axis=0), atol=1e-10)

    def loss() -> float:
        code = np.searchsorted(list("abcd"), raters)
        p = np.stack([by_hand(model, x, at) for at in range(4)])[code, items, y]
        own = ("own", "embedding", "directions")
        return float(
            -np.log(p).sum()
            + sum(
                0.5 * (0.7 if name in own else 0.5) * (one**2).sum()
                for name, one in model.weights_.items()
                if name != "base"
            )
        )

    least, rng = loss(), np.random.default_rng(1)
    for name, one in model.weights_.items():
        if name != "base":
            kept = one.copy()
            for _ in range(4):
                one[...] = kept + rng.normal(0, 0.02, one.shape)
                assert loss() > least - 1e-4, name
            one[...] = kept


def test_soft_labels_are_logistic_regression() -> None:
    rng = np.random.default_rng(0)
    half = rng.normal(size=(60, 3))
    y = (half @ [1.0, -1.0, 0.5] + rng.normal(size=60) > 0).astype(int)
    # Turned upside down, so that no side has an intercept.
    x, y = np.concatenate([half, -half]), np.concatenate([y, 1 - y])
    ours = CrowdClassifier("soft", penalty=0.4, max_iter=1000).fit(x, y)
    theirs = LogisticRegression(C=2 / 0.4, fit_intercept=False, tol=1e-10).fit(x / ours.length_, y)
    assert np.allclose(ours.predict_proba(x), theirs.predict_proba(x / ours.length_), atol=2e-3)


@pytest.mark.parametrize("how", OF_RATERS)
def test_raters_who_read_the_contrary_are_told_apart(how: str) -> None:
    x, y, raters, items = two_readings()
    new = np.random.default_rng(9).normal(size=(200, 3))
    truth = (new[:, 0] > 0).astype(int)
    model = CrowdClassifier(how, penalty=0.1, shrinkage=0.1).fit(x, y, raters=raters, items=items)
    assert (model.predict_for(new, "a") == truth).mean() > 0.9
    assert (model.predict_for(new, "d") == 1 - truth).mean() > 0.9
    # One in four is of another mind, and so is everybody who is not known.
    assert abs(model.predict_proba(new)[range(200), truth].mean() - 0.75) < 0.1
    assert np.array_equal(model.predict_proba_for(new, "nobody"), model.predict_proba(new))
    mixed = model.predict_proba_for(new[:3], ["d", "nobody", "a"])
    assert np.allclose(mixed[0], model.predict_proba_for(new[:1], "d")[0])
    assert np.allclose(mixed[1], model.predict_proba(new[1:2])[0])


def test_a_crowd_layer_knows_who_does_not_look() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(150, 3))
    truth = (x[:, 0] > 0).astype(int)
    careful = [np.where(rng.random(150) < 0.1, 1 - truth, truth) for _ in range(3)]
    answers = np.concatenate([*careful, *[np.zeros(150, int)] * 5])
    told = {"raters": np.repeat([f"r{k}" for k in range(8)], 150), "items": np.tile(range(150), 8)}
    layer = CrowdClassifier("crowd_layer", penalty=0.1, shrinkage=0.1).fit(x, answers, **told)
    soft = CrowdClassifier("soft", penalty=0.1).fit(x, answers, **told)
    assert (soft.predict(x) == truth).mean() < 0.7
    assert (layer.predict_for(x, "r0") == truth).mean() > 0.95
    assert (layer.predict_for(x, "r7") == 0).all()
    assert roc_auc_score(truth, layer.latent_proba(x)[:, 1]) > 0.99


def test_few_answers_are_shrunken_to_what_all_share() -> None:
    x, y, raters, items = two_readings()
    # One more reads as the contrary one does, and answers twice.
    items, y = np.append(items, items[-80:]), np.append(y, y[-80:])
    raters = np.append(raters, ["e"] * 80)
    few = (raters != "e") | (items < 2)
    told = {"raters": raters[few], "items": items[few]}
    model = CrowdClassifier("per_rater", penalty=0.1, shrinkage=1.0).fit(x, y[few], **told)
    centre = model.latent_proba(x)
    moved = {r: np.abs(model.predict_proba_for(x, r) - centre).mean() for r in "de"}
    assert 0 < moved["e"] < moved["d"] / 2
    stiff = CrowdClassifier("per_rater", penalty=0.1, shrinkage=1e4).fit(x, y[few], **told)
    soft = CrowdClassifier("soft", penalty=0.1).fit(x, y[few], items=items[few])
    assert np.allclose(stiff.predict_proba_for(x, "d"), soft.predict_proba(x), atol=0.01)


def test_one_rater_one_answer_and_labels_that_were_not_answered() -> None:
    x = np.arange(12.0).reshape(6, 2)
    alone = CrowdClassifier("per_rater").fit(x, [0, 0, 0, 1, 1, 1], raters=["a"] * 6)
    assert np.allclose(alone.predict_proba_for(x, "a"), alone.predict_proba(x))
    for how in ("majority", "soft", *OF_RATERS):
        same = CrowdClassifier(how, classes=[0, 1]).fit(x, [1] * 6, raters=list("aabbcc"))
        assert (same.predict(x) == 1).all()
        assert np.isfinite(same.predict_proba(x)).all()
    y = np.array([[0, np.nan], [0, 1], [1, np.nan], [1, 0], [np.nan, np.nan], [1, 0]])
    several = CrowdClassifier("per_rater", hidden=3).fit(x, y, raters=list("aabbcc"))
    found = several.predict_proba(x)
    assert found.shape == (6, 2, 2)
    assert np.allclose(found.sum(axis=2), 1)
    # The answers without a label are those of nobody.
    assert several.n_answers_.sum() == 5


def test_of_majority_and_soft_labels_one_knows_how_many() -> None:
    x, items = np.array([[-1.0], [1.0]]), [0] * 5 + [1] * 5
    y = [0, 0, 0, 1, 1, 1, 1, 1, 0, 0]
    told = {"raters": list("abcde") * 2, "items": items}
    soft = CrowdClassifier("soft", penalty=1e-4).fit(x, y, **told)
    most = CrowdClassifier("majority", penalty=1e-4).fit(x, y, **told)
    assert np.allclose(soft.predict_proba(x), [[0.6, 0.4], [0.4, 0.6]], atol=0.01)
    assert most.predict_proba(x)[0, 0] > 0.95


@pytest.mark.parametrize(
    ("settings", "given"),
    [
        ({"how": "most"}, {}),
        ({"penalty": 0}, {}),
        ({"shrinkage": float("nan")}, {}),
        ({"hidden": -1}, {}),
        ({}, {"raters": ["a"]}),
        ({}, {"items": [0, 1, 2, 9]}),
        ({}, {"items": [0.0, 1.0, 2.0, 3.0]}),
        ({"classes": [0, 2]}, {}),
        ({}, {"y": np.full((4, 2), np.nan)}),
    ],
)
def test_what_cannot_be_used_is_refused(settings: dict[str, Any], given: dict[str, Any]) -> None:
    arguments = {"y": [0, 1, 0, 1], **given}
    with pytest.raises(InputError):
        CrowdClassifier(**settings).fit(np.eye(4), **arguments)
