"""What tuning measures: shares of raters, calibration by label, labels without texts, levels."""

from __future__ import annotations

import numpy as np
import pytest

from affectlab import InputError
from affectlab.evaluation import calibration
from affectlab.models.text import TextClassifier
from affectlab.models.text.decisions import LevelTuning
from affectlab.models.text.decisions.tuning import tune_level
from affectlab.taxonomy import Taxonomy


def logit(p):
    return np.log(p) - np.log1p(-p)


@pytest.fixture(scope="module")
def soft():
    """Logits that are right about shares of raters."""
    rng = np.random.default_rng(0)
    shares = rng.choice([0.2, 0.4, 0.6, 0.8], size=(400, 2))
    return logit(shares), shares


def test_calibration_is_fitted_to_shares_and_thresholds_to_a_half(soft) -> None:
    logits, shares = soft
    scaling, rule, tuned = tune_level(logits, shares, ["a", "b"])
    assert scaling.temperature == pytest.approx(1, abs=0.01)
    np.testing.assert_allclose(scaling.apply(logits), shares, atol=0.01)
    # A label is true where half of the raters chose it.
    assert tuned.support == tuple((shares >= 0.5).sum(axis=0).tolist())
    assert rule.thresholds == pytest.approx([0.5, 0.5], abs=0.01)
    assert tuned.macro_f1 == 1
    assert tuned.shares
    assert "half of the raters or more" in tuned.truth_said
    # Both errors are of shares.
    assert tuned.ece_before == pytest.approx(0, abs=1e-9)
    assert tuned.ece == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize("calibrate", ["none", "temperature", "isotonic"])
def test_errors_are_those_of_calibration(calibrate) -> None:
    """Before: the same texts and targets, as evaluation measures them, pooled and by label."""
    rng = np.random.default_rng(1)
    logits = rng.normal(size=(300, 3)) * 3
    truth = rng.random((300, 3)) < 1 / (1 + np.exp(-logits / 3 + 1))
    tuned = tune_level(logits, truth, ["a", "b", "c"], calibrate=calibrate)[2]
    p = 1 / (1 + np.exp(-logits))
    pooled = calibration(p.ravel(), truth.ravel().astype(float))["ece"].value
    each = [calibration(p[:, k], truth[:, k].astype(float))["ece"].value for k in range(3)]
    assert tuned.ece_before == pytest.approx(pooled)
    assert tuned.classwise_ece_before == pytest.approx(each)
    assert tuned.mean_classwise_ece_before == pytest.approx(np.mean(each))
    label, largest = tuned.largest_classwise_ece
    assert largest == max(tuned.classwise_ece)
    assert tuned.classwise_ece["abc".index(label)] == largest
    assert not tuned.shares
    if calibrate == "none":
        assert tuned.classwise_ece == pytest.approx(each)
    else:
        assert tuned.mean_classwise_ece < tuned.mean_classwise_ece_before


def test_one_share_for_every_label_has_no_pooled_error_but_a_classwise_one() -> None:
    truth = np.zeros((100, 2))
    truth[:40, 0] = 1
    logits = np.full((100, 2), logit(0.2))
    tuned = tune_level(logits, truth, ["often", "never"], calibrate="none")[2]
    assert tuned.ece == pytest.approx(0, abs=1e-9)
    assert tuned.mean_classwise_ece == pytest.approx(0.2)


def test_labels_without_texts_have_no_precision() -> None:
    truth = np.array([[1, 0], [0, 0]] * 10)
    logits = np.where(truth, 3.0, -3.0)
    tuned = tune_level(logits, truth, ["a", "b"])[2]
    for name in ("precision", "recall", "f1"):
        first, second = getattr(tuned, name)
        assert first == 1
        assert np.isnan(second)
    assert tuned.macro_f1 == 1
    again = LevelTuning.from_dict(tuned.to_dict())
    assert again == tuned
    assert tuned.to_dict()["f1"] == [1.0, None]
    # As models that were saved before had it.
    old = {k: v for k, v in tuned.to_dict().items() if "classwise" not in k and k != "shares"}
    assert LevelTuning.from_dict(old).worst_said == "–"
    assert np.isnan(LevelTuning.from_dict(old).mean_classwise_ece)


def test_a_model_of_shares_keeps_them_through_tuning() -> None:
    """What raters are divided over, the model says divided, tuned or not."""
    shares = dict(zip(("alpha", "beta", "gamma", "delta"), (0.2, 0.4, 0.6, 0.8), strict=True))
    texts = [f"{word} {k}" for word in shares for k in range(60)]
    targets = np.repeat(list(shares.values()), 60)[:, None] * [1, -1] + [0, 1]
    known = Taxonomy.from_labels(["yes", "no"])
    model = TextClassifier.make("linear", taxonomy=known, min_texts=5, cost=50.0)
    model.fit(texts, targets)
    dev = [f"{word} {k}" for word in shares for k in range(100, 140)]
    wanted = np.repeat(list(shares.values()), 40)[:, None] * [1, -1] + [0, 1]
    before = model.reliability(dev, wanted)["ece"].value
    model.tune(dev, wanted)
    said = model.predict_proba(list(shares))[:, 0]
    assert said == pytest.approx(list(shares.values()), abs=0.03)
    after = model.reliability(dev, wanted)["ece"].value
    assert after < before + 0.005
    # The table says what reliability says: of the same truth.
    assert model.tuning[""].ece_before == pytest.approx(before, abs=1e-6)


def test_groups_of_the_chosen_labels(train, dev) -> None:
    model = TextClassifier.make("linear", cost=5.0).fit(*train, dev=dev)
    texts = dev[0]
    labels = model.predict(texts).astype(bool)
    for level in ("ekman", "sentiment", "directed"):
        group = model.taxonomy.group_of(level)
        names = model.labels_at(level)
        by_hand = [
            {group[name] for name, yes in zip(model.labels, row, strict=True) if yes}
            for row in labels
        ]
        found = model.predict(texts, level, coherent=True)
        assert [{n for n, yes in zip(names, row, strict=True) if yes} for row in found] == by_hand
        rated = model.rate(texts, level=level, coherent=True)
        chosen = rated.frame["chosen"].to_numpy().reshape(found.shape)
        np.testing.assert_array_equal(chosen, found)
        assert "groups of labels chosen by" in rated.raters["answers"][0]
    assert (model.predict(texts, "ekman") != model.predict(texts, "ekman", coherent=True)).any()
    np.testing.assert_array_equal(model.predict(texts, coherent=True), labels)


@pytest.mark.long
def test_dev_that_also_stopped_training_is_told(train, dev, tmp_path) -> None:
    pytest.importorskip("torch")
    from affectlab.recipes.goemotions.bilstm import BilstmTextClassifier

    settings = {"epochs": 2, "hidden": 8, "width": 8, "device": "cpu"}
    model = BilstmTextClassifier(**settings).fit(*train, dev=dev)
    (said,) = model.training["early_stopping"]
    assert said.startswith("bilstm: epoch ")
    again = BilstmTextClassifier.load(model.save(tmp_path / "model"))
    assert again.training["early_stopping"] == [said]
    card = (tmp_path / "model" / "README.md").read_text(encoding="utf-8")
    assert f"The texts of dev also stopped training early ({said})" in card
    # Loaded and tuned on the same texts in another order it still is, and on others it is not.
    again.tune(dev[0][::-1], dev[1][::-1])
    assert again.training["early_stopping"] == [said]
    again.tune([f"{text} !" for text in dev[0]], dev[1])
    assert again.training["early_stopping"] == []
    words = TextClassifier.make("linear").fit(*train, dev=dev)
    assert words.training["early_stopping"] == []


# -- labels as lists -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("taxonomy", "rows", "words"),
    [
        ("ekman", [[0, 0, 0, 1, 0, 0], [1, 0, 0, 0, 0, 0]], "row 1: a number is repeated"),
        ("ekman", [[3], [1, 1]], "row 2: a number is repeated"),
        ("ekman", [(0, 0, 0, 1, 0, 0), "joy"], "row 1: a number is repeated"),
        ("two", [[0, 1], [1, 0]], "may be numbers of both labels, or 0/1 for each"),
    ],
)
def test_rows_of_0_and_1_in_lists_are_refused(taxonomy, rows, words) -> None:
    known = Taxonomy.from_labels(["a", "b"]) if taxonomy == "two" else taxonomy
    model = TextClassifier.make("linear", taxonomy=known, min_texts=1)
    with pytest.raises(InputError, match=words) as caught:
        model.fit(["x y", "z w"], rows)
    assert "numpy.array(labels)" in str(caught.value)
    if taxonomy != "two":
        assert model.truth_of([[3], [0, 1]], 2).sum() == 3
        assert model.truth_of(np.eye(6, dtype=int)[[3, 0]], 2)[0, 3]
