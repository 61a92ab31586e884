"""The common interface, with the back end that needs nothing: train, tune, answer, save, load."""

from __future__ import annotations

import json
import shutil
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from affectlab import InputError, load_taxonomy
from affectlab.models.text import TextClassifier, group_probabilities
from affectlab.models.text.label_penalty import label_relations
from affectlab.models.text.linear import LinearTextClassifier
from affectlab.models.text.warnings import SeenInTrainingWarning, TestSplitWarning

GOEMOTIONS = load_taxonomy("goemotions")


@pytest.fixture(scope="module")
def model(train, dev):
    made = TextClassifier.make("linear", cost=5.0, name="tiny")
    return made.fit(*train, dev=dev, source="posts")


def test_it_learns_what_words_say(model, dev):
    texts, labels = dev
    truth = np.array([[name in own for name in model.labels] for own in labels])
    seen = truth.any(axis=0)
    predicted = model.predict(texts).astype(bool)
    hits = (predicted & truth)[:, seen].sum(axis=0)
    f1 = 2 * hits / (predicted.sum(axis=0) + truth.sum(axis=0))[seen]
    assert f1.mean() > 0.85
    assert model.tuning[""].macro_f1 == pytest.approx(f1.mean(), abs=0.05)


def test_answers_have_one_column_per_label_in_the_order_of_the_taxonomy(model):
    texts = ["so happy", "scared of it"]
    assert model.labels == GOEMOTIONS.labels
    assert model.predict(texts).shape == (2, 28)
    assert set(np.unique(model.predict(texts))) <= {0, 1}
    probabilities = model.predict_proba(texts)
    assert ((probabilities > 0) & (probabilities < 1)).all()
    assert probabilities[0].argmax() == GOEMOTIONS.index("joy")
    assert model.predict_labels(["scared scared"])[0] == ("fear",)


def test_each_level_has_its_own_columns_and_rules(model):
    assert model.labels_at("sentiment") == ("positive", "negative", "ambiguous", "neutral")
    positive = model.predict_proba(["love love", "i hate it"], "sentiment")[:, 0]
    assert positive[0] > 0.8
    assert positive[1] < 0.2
    assert set(model.decisions) == set(model.tuning) == {"", "ekman", "sentiment"}
    # A level without rules of its own answers all the same.
    assert model.predict(["so happy"], "directed").shape == (1, 3)


@pytest.mark.parametrize("how", ["own", "noisy_or", "max", "blend"])
def test_scores_of_groups(train, how):
    texts, labels = train
    made = LinearTextClassifier(group_scores=how).fit(texts, labels)
    outputs = made._logits(texts[:5])
    p = 1 / (1 + np.exp(-outputs))
    start = 28 + 7
    assert made.plan.outputs[start] == "sentiment: positive"
    own = p[:, start : start + 4]
    found = made.predict_proba(texts[:5], "sentiment")
    if how == "own":
        expected = own
    elif how == "blend":
        joined = group_probabilities(p[:, :28], GOEMOTIONS, "sentiment")
        odds = np.sqrt(own / (1 - own) * joined / (1 - joined))
        expected = odds / (1 + odds)
    else:
        expected = group_probabilities(p[:, :28], GOEMOTIONS, "sentiment", how)
    assert np.allclose(found, expected, atol=1e-7)


def test_groups_from_labels_by_hand():
    given = np.full((1, 28), 0.0)
    given[0, [GOEMOTIONS.index("fear"), GOEMOTIONS.index("nervousness")]] = 0.5, 0.2
    at = list(GOEMOTIONS.groups("ekman")).index("fear")
    assert group_probabilities(given, GOEMOTIONS, "ekman")[0, at] == pytest.approx(0.6)
    assert group_probabilities(given, GOEMOTIONS, "ekman", "max")[0, at] == 0.5


def test_training_at_a_level(train, dev):
    made = TextClassifier.make("linear", level="sentiment", cost=5.0).fit(*train, dev=dev)
    assert made.labels == ("positive", "negative", "ambiguous", "neutral")
    assert made.predict_labels(["so happy and glad"]) == [("positive",)]
    # Names of groups are understood as well.
    groups = GOEMOTIONS.group_of("sentiment")
    named = [[groups[name] for name in own] for own in train[1]]
    again = TextClassifier.make("linear", level="sentiment", cost=5.0).fit(train[0], named)
    same = made._logits(dev[0]) - again._logits(dev[0])
    assert np.abs(same).max() < 1e-6


def test_soft_labels_are_learned_as_shares():
    """Raters split 3 to 1 over one word: the model says three quarters."""
    texts = ["alpha"] * 200 + ["beta"] * 200
    targets = np.zeros((400, 6))
    targets[:200, 0], targets[200:, 0] = 0.75, 0.1
    made = LinearTextClassifier(taxonomy="ekman", cost=50.0).fit(texts, targets)
    assert made.predict_proba(["alpha", "beta"])[:, 0] == pytest.approx([0.75, 0.1], abs=0.01)
    assert made.training["soft"]


def test_relations_between_labels(train):
    sentiment = label_relations("sentiment", GOEMOTIONS, np.zeros((1, 28)))
    joy, love, fear = (GOEMOTIONS.index(name) for name in ("joy", "love", "fear"))
    assert (sentiment[joy, love], sentiment[joy, fear], sentiment[joy, joy]) == (1, 0, 0)
    y = np.array([[1, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1]], dtype=float)
    from affectlab.taxonomy import Taxonomy

    three = Taxonomy.from_labels(["a", "b", "c"])
    found = label_relations("correlation", three, y)
    assert found[0, 1] == pytest.approx(np.corrcoef(y.T)[0, 1])
    assert found[0, 2] == 0  # negative in the data
    made = LinearTextClassifier(label_penalty="sentiment", penalty_weight=50.0).fit(*train)
    free = LinearTextClassifier().fit(*train)

    def apart(one):
        weights = one.regression.coef_.T
        return np.linalg.norm(weights[:, joy] - weights[:, love])

    assert apart(made) < 0.3 * apart(free)


def test_rating_texts(model):
    ratings = model.rate(["so happy", "scared"], ["a", "b"], "me")
    assert ratings.rater_kinds == ("model",)
    assert str(ratings.scale) == "interval 0 to 1"
    assert ratings.label_names == model.labels
    assert ratings.stimuli["text"].to_list() == ["so happy", "scared"]
    values = ratings.frame["value"].to_numpy().reshape(2, 28)
    assert np.allclose(values, model.predict_proba(["so happy", "scared"]))
    chosen = ratings.frame["chosen"].to_numpy().reshape(2, 28)
    assert np.array_equal(chosen, model.predict(["so happy", "scared"]))
    assert model.rate(["x y"]).stimulus_names == ("text 1",)
    assert model.rate(["x y"], level="ekman").label_names == model.labels_at("ekman")


def test_explanations_add_up_exactly(model):
    text = "[NAME] was soooo happy happy, and then scared 😢 zzz"
    for level in (None, "ekman"):
        found = model.explain(text, level)
        logits = model._logits([text])[0, model.plan.part(level)]
        assert found.logits == pytest.approx(logits, abs=1e-5)
    found = model.explain(text)
    assert found.top("joy", 1)[0][0] == "happy"
    assert dict(found.of("fear"))["scared"] > 1
    assert found.of("joy")[-1] == ("zzz", pytest.approx(0.0, abs=0.05))
    assert found.to_frame().height == len(found.tokens) * 28
    with pytest.raises(InputError, match="level 'directed' has no outputs of its own"):
        model.explain(text, "directed")


def test_parts_are_what_a_word_adds_when_it_is_alone():
    """Without pairs and pieces, and two words of equal weight: weight times 1/sqrt(2)."""
    made = LinearTextClassifier(
        taxonomy="ekman", pairs=False, pieces=None, min_texts=1, cost=10.0
    ).fit(["up"] * 5 + ["down"] * 5, ["joy"] * 5 + ["fear"] * 5)
    place = made.features.token_place
    column = made.labels.index("joy")
    parts = dict(made.explain("up down").of("joy"))
    for word in ("up", "down"):
        weight = made.regression.coef_.T[place[word], column]
        assert parts[word] == pytest.approx(weight / np.sqrt(2), rel=1e-5)


def test_saving_and_loading_gives_the_same_answers(model, dev, tmp_path):
    folder = model.save(tmp_path / "model")
    again = TextClassifier.load(folder)
    assert isinstance(again, LinearTextClassifier)
    for level in (None, "ekman", "directed"):
        assert np.array_equal(
            again.predict_proba(dev[0], level), model.predict_proba(dev[0], level)
        )
        assert np.array_equal(again.predict(dev[0], level), model.predict(dev[0], level))
    assert again.tuning == model.tuning
    assert again.settings() == model.settings()
    # Saved again it is the same folder, byte for byte.
    other = again.save(tmp_path / "other")
    for file in folder.iterdir():
        if file.name != "README.md":
            assert file.read_bytes() == (other / file.name).read_bytes(), file.name


def test_thresholds_stand_in_the_folder_as_evaluate_reads_them(model, tmp_path):
    from affectlab.evaluation.classes import load_thresholds

    folder = model.save(tmp_path / "model")
    for name, level in (("thresholds.toml", None), ("thresholds-ekman.toml", "ekman")):
        taxonomy = GOEMOTIONS if level is None else GOEMOTIONS.coarsen(level)
        row = load_thresholds(folder / name).row(model.labels_at(level), taxonomy)
        assert row.tolist() == list(model.decision(level).thresholds)


def test_the_card_says_what_the_model_is(model, tmp_path):
    card = (model.save(tmp_path / "model") / "README.md").read_text(encoding="utf-8")
    for words in (
        "600 texts of posts",
        "| joy |",
        "## Limits",
        "## Licence",
        "Intended use",
        "Cross-fitted",
        "affectlab rate model FILE",
    ):
        assert words in card
    assert f"{model.tuning[''].macro_f1:.3f}" in card


def test_calibration_makes_probabilities_truer(train, dev):
    made = LinearTextClassifier(cost=1000.0).fit(*train)
    before = made.reliability(*dev)["ece"].value
    loss = {}
    truth = np.array([[name in own for name in made.labels] for own in dev[1]])
    for kind in ("none", "temperature", "isotonic"):
        made.tune(*dev, calibrate=kind)
        p = np.clip(made.predict_proba(dev[0]), 1e-6, 1 - 1e-6)
        loss[kind] = -(truth * np.log(p) + ~truth * np.log(1 - p)).mean()
    assert loss["temperature"] < loss["none"]
    assert loss["isotonic"] <= loss["temperature"]
    assert made.reliability(*dev)["ece"].value < before


def test_training_that_stops_too_early_warns(train):
    with pytest.warns(ConvergenceWarning, match="stopped after 2 epochs"):
        LinearTextClassifier(max_epochs=2, tolerance=1e-7).fit(*train)


def test_seed_and_same_bytes(train):
    one, two = (LinearTextClassifier(seed=4).fit(*train) for _ in range(2))
    assert np.array_equal(one.regression.coef_.T, two.regression.coef_.T)


def test_tuning_on_test_or_on_training_texts_warns(model, train, dev, tmp_path):
    again = TextClassifier.load(model.save(tmp_path / "model"))
    with pytest.warns(TestSplitWarning, match="use a dev split"):
        again.tune(*dev, split="test")
    with pytest.warns(SeenInTrainingWarning, match="100 % were seen|100\u00a0% were seen"):
        again.tune(*train)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again.tune(*dev, split="dev")


@pytest.mark.parametrize(
    ("texts", "labels", "words"),
    [
        (["a", ""], ["joy", "fear"], "texts, row 2: the text is empty"),
        (["a", " \n"], ["joy", "fear"], "texts, row 2: the text is empty"),
        (["a", None], ["joy", "fear"], "texts, row 2: None is no text"),
        (["a", 3.5], ["joy", "fear"], "texts, row 2: 3.5 is no text"),
        ("one text", ["joy"], "expected a list of texts"),
        ([], [], "there are none"),
        (["a", "b"], ["joy", "hapy"], "labels, row 2: unknown label 'hapy'"),
        (["a", "b"], [0, 28], "labels, row 2: label number 28 is out of range; expected 0 to 27"),
        (["a", "b"], [[0], [-1]], "label number -1 is out of range"),
        (["a", "b"], ["joy"], "1 entries; expected one for each of 2 texts"),
        (["a", "b"], ["joy", None], "row 2: None is no label"),
        (["a", "b"], np.zeros((2, 5)), r"shape \(2, 5\)"),
        (["a", "b"], np.full((2, 28), 2.0), "row 1, admiration: 2; expected"),
    ],
)
def test_bad_texts_and_labels_are_one_sentence(texts, labels, words):
    with pytest.raises(InputError, match=words) as caught:
        LinearTextClassifier(min_texts=1).fit(texts, labels)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("work", "words"),
    [
        (lambda: TextClassifier.make("linaer"), "did you mean 'linear'"),
        (lambda: TextClassifier.make("linear", costs=1), "costs"),
        (lambda: LinearTextClassifier(level="emotion"), "unknown level 'emotion'"),
        (lambda: LinearTextClassifier(levels=["ekmann"]), "did you mean 'ekman'"),
        (lambda: LinearTextClassifier(group_scores="min"), "unknown group_scores"),
        (lambda: LinearTextClassifier(cost=-1), "cost = -1"),
        (lambda: LinearTextClassifier(pieces=[3]), "expected the shortest and the longest"),
        (lambda: LinearTextClassifier().predict(["x"]), "not trained yet"),
        (lambda: LinearTextClassifier().save("x"), "not trained yet"),
        (lambda: TextClassifier.load("no-such-folder"), "no such folder"),
    ],
)
def test_bad_settings_are_one_sentence(work, words):
    with pytest.raises(InputError, match=words):
        work()


def test_bad_answers_are_one_sentence(model):
    with pytest.raises(InputError, match="unknown level 'ekmann'"):
        model.predict(["x"], "ekmann")
    with pytest.raises(InputError, match="1 names; expected one for each of 2 texts"):
        model.rate(["x", "y"], ["a"])
    with pytest.raises(InputError, match="stands in row 1 already"):
        model.rate(["x", "y"], ["a", "a"])
    with pytest.raises(InputError, match="row 1: the text is empty"):
        model.rate([""])


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda meta: meta.update(schema="affectlab/text-model/9", affectlab="7.0"), "7.0"),
        (lambda meta: meta.update(backend="tree"), "unknown back end 'tree'"),
        (lambda meta: meta.pop("taxonomy"), "key 'taxonomy' is missing"),
        (lambda meta: meta["labels"].reverse(), "the labels are not those"),
        (lambda meta: meta["settings"].update(weight=1), "cannot be used"),
        (lambda meta: meta["decisions"][""].pop("kind"), "cannot be used"),
    ],
)
def test_folder_of_another_version_or_spoilt(model, tmp_path, spoil, words):
    folder = model.save(tmp_path / "model")
    file = folder / "model.json"
    meta = json.loads(file.read_text(encoding="utf-8"))
    spoil(meta)
    file.write_text(json.dumps(meta), encoding="utf-8")
    with pytest.raises(InputError, match=words) as caught:
        TextClassifier.load(folder)
    assert "\n" not in str(caught.value)


def test_folder_that_is_not_complete_or_not_ours(model, tmp_path):
    folder = model.save(tmp_path / "model")
    bare = tmp_path / "bare"
    bare.mkdir()
    with pytest.raises(InputError, match=r"holds no model\.json"):
        TextClassifier.load(bare)
    (bare / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="holds other files"):
        model.save(bare)
    for name in ("weights.npz", "features.json"):
        part = tmp_path / f"without-{name}"
        shutil.copytree(folder, part)
        (part / name).unlink()
        with pytest.raises(InputError, match="not complete"):
            TextClassifier.load(part)
        (part / name).write_bytes(b"PK garbage")
        with pytest.raises(InputError, match=r"cannot be read|not valid JSON"):
            TextClassifier.load(part)


def test_arrays_that_hold_code_are_refused(model, tmp_path):
    folder = model.save(tmp_path / "model")
    np.savez(folder / "weights.npz", weights=np.array([{"a": 1}], dtype=object))
    with pytest.raises(InputError, match=r"weights\.npz cannot be read"):
        TextClassifier.load(folder)


def test_another_package_can_add_a_back_end(monkeypatch, train):
    """An entry point leads to a subclass, which plugs in with five methods."""
    from importlib.metadata import EntryPoint

    point = EntryPoint("always", f"{__name__}:Always", "affectlab.text_backends")
    monkeypatch.setattr(EntryPoint, "load", lambda self: Always)
    monkeypatch.setattr("affectlab.core.registry.entry_points", lambda group: [point])
    made = TextClassifier.make("always", taxonomy="ekman").fit(["x"], ["joy"])
    assert made.predict_labels(["anything"]) == [made.labels]
    with pytest.raises(InputError, match="does not say which words"):
        made.explain("x")


class Always(TextClassifier):
    """Says yes to everything."""

    backend = "always"

    def _fit(self, texts, targets, dev, progress):
        self.width = targets.shape[1]

    def _logits(self, texts, progress=None):
        return np.ones((len(texts), self.width))

    def settings(self):
        return {}

    def _save(self, folder):
        (folder / "width").write_text(str(self.width), encoding="utf-8")

    def _load(self, folder):
        self.width = int((folder / "width").read_text(encoding="utf-8"))
