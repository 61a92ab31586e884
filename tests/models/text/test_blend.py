"""Blends: the weight, and what it is worth on texts it was not fitted to."""

from __future__ import annotations

import numpy as np
import pytest

from affectlab.core.errors import InputError
from affectlab.models.text import TextClassifier
from affectlab.models.text.blending import BlendTextClassifier, blend, fit_blend_weight
from affectlab.models.text.decisions.scaling import sigmoid
from affectlab.models.text.warnings import SeenInTrainingWarning, TestSplitWarning

from .conftest import posts

LINEAR = {"min_texts": 1, "min_texts_piece": 1, "cost": 5.0}
TAXONOMY = "goemotions"


def simulated(n, noise, seed=0, k=4):
    """Targets, and two sets of logits: truth plus noise of each size, independent."""
    rng = np.random.default_rng(seed)
    truth = (rng.random((n, k)) < 0.3).astype(float)
    clean = 4 * truth - 2
    first, second = (clean + size * rng.normal(size=clean.shape) for size in noise)
    return first, second, truth


@pytest.mark.parametrize("criterion", ["macro_f1", "loss"])
@pytest.mark.parametrize("noise", [(2.0, 2.0), (1.5, 3.0)])
def test_independent_parts_count_the_same(criterion, noise):
    # Calibrated log odds of independent evidence add up, however much each of them knows.
    first, second, truth = simulated(20_000, noise)
    weight, temperatures = fit_blend_weight(first, second, truth, criterion)
    assert weight == pytest.approx(0.5, abs=0.1)
    assert temperatures[1] >= 0.99 * temperatures[0]
    # How loud a part is says nothing: the temperatures take it out.
    louder, heat = fit_blend_weight(first, 10 * second, truth, criterion)
    assert louder == pytest.approx(weight, abs=0.051)
    assert heat[1] == pytest.approx(10 * temperatures[1], rel=0.01)


@pytest.mark.parametrize("criterion", ["macro_f1", "loss"])
def test_a_spoilt_copy_counts_nothing(criterion):
    first, _, truth = simulated(20_000, (2.0, 2.0))
    spoilt = first + 3 * np.random.default_rng(1).normal(size=first.shape)
    assert fit_blend_weight(first, spoilt, truth, criterion)[0] <= 0.15
    assert fit_blend_weight(spoilt, first, truth, criterion)[0] >= 0.85


@pytest.mark.long
def test_loss_weight_is_that_of_a_search_by_hand():
    first, second, truth = simulated(2_000, (2.0, 3.0))
    weight, (a, b) = fit_blend_weight(first, second, truth, "loss")

    def loss(share):
        mixed = (1 - share) * first / a + share * second / b
        heats = np.exp(np.linspace(-2, 2, 401))
        return min((np.logaddexp(0, mixed / heat) - truth * mixed / heat).mean() for heat in heats)

    steps = np.linspace(0, 1, 21)
    assert weight == pytest.approx(steps[np.argmin([loss(step) for step in steps])], abs=0.051)


@pytest.fixture(scope="module")
def parts():
    texts, labels = posts(400)
    words = TextClassifier.make("linear", pieces=None, **LINEAR).fit(texts, labels)
    pieces = TextClassifier.make("linear", pairs=False, **LINEAR).fit(texts, labels)
    return words, pieces


def test_logits_are_the_weighted_mean(parts):
    texts, labels = posts(200, 1)
    found = blend(*parts, texts, labels, name="both", source="dev.tsv")
    a, b = (part._logits(texts) for part in parts)
    expected = (1 - found.weight) * a / found.temperatures[0]
    expected += found.weight * b / found.temperatures[1]
    np.testing.assert_allclose(found._logits(texts), expected)
    heat = found.scalings[""].temperature
    np.testing.assert_allclose(found.predict_proba(texts), sigmoid(expected[:, :28] / heat))
    assert found.name == "both"
    assert "dev.tsv" in found.decisions[""].fitted_on


def test_saved_and_read_back(parts, tmp_path):
    texts, labels = posts(200, 1)
    found = blend(*parts, texts, labels)
    again = TextClassifier.load(found.save(tmp_path / "model"))
    assert isinstance(again, BlendTextClassifier)
    new = posts(30, 7)[0]
    np.testing.assert_array_equal(again.predict_proba(new), found.predict_proba(new))
    np.testing.assert_array_equal(again.predict(new, "ekman"), found.predict(new, "ekman"))
    (tmp_path / "model" / "weights.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match="expected a weight and two temperatures"):
        TextClassifier.load(tmp_path / "model")


def test_no_text_is_judged_by_a_weight_that_was_fitted_to_it(parts):
    texts, labels = posts(120, 1)
    found = blend(*parts, texts, labels)
    a, b = (part._logits(texts) for part in parts)
    targets = found._targets(labels, len(texts), "labels")
    apart = found._out_of_fold(a, b, targets)
    # Turning the labels of the first half round must leave the mix of the first half as it was.
    order = np.random.default_rng(found.seed).permutation(len(texts))
    half = order[:60]
    turned = targets.copy()
    turned[half] = 1 - turned[half]
    other = found._out_of_fold(a, b, turned)
    np.testing.assert_array_equal(other[half], apart[half])


def test_trained_by_name():
    texts, labels = posts(300)
    model = TextClassifier.make(
        "blend",
        first="linear",
        second="linear",
        first_settings={**LINEAR, "pieces": None},
        second_settings={**LINEAR, "pairs": False},
        criterion="loss",
    )
    model.fit(texts, labels, dev=posts(150, 1))
    assert model.tuning[""].macro_f1 > 0.6
    again = BlendTextClassifier(**model.settings())
    assert again.settings() == model.settings()


def test_what_cannot_be_blended(parts):
    texts, labels = posts(60, 1)
    with pytest.raises(InputError, match="a blend needs dev texts"):
        TextClassifier.make("blend", second="linear").fit(texts, labels)
    with pytest.raises(InputError, match="has other outputs than the blend"):
        blend(
            parts[0],
            TextClassifier.make("linear", taxonomy="ekman", **LINEAR).fit(
                ["so happy", "afraid"], ["joy", "fear"]
            ),
            texts,
            labels,
        )
    with pytest.raises(InputError, match="not trained yet"):
        blend(parts[0], TextClassifier.make("linear"), texts, labels)
    with pytest.raises(InputError, match="unknown criterion 'f1'"):
        BlendTextClassifier(second="linear", criterion="f1")
    with pytest.raises(InputError, match="this part is a classifier"):
        BlendTextClassifier(first=parts[0], second="linear", first_settings={"cost": 1.0})


def test_weights_are_not_fitted_to_test_or_train(parts):
    texts, labels = posts(400)
    with pytest.warns(SeenInTrainingWarning, match="weight, calibration and thresholds"):
        blend(*parts, texts, labels)
    with pytest.warns(TestSplitWarning):
        blend(*parts, *posts(100, 1), source="test.tsv")
