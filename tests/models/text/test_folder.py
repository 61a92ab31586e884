"""Folders of models: what a stranger may have put into one, and what an interrupted save leaves."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from affectlab import InputError, load_taxonomy
from affectlab.models.runs.folders import write_json
from affectlab.models.text import TextClassifier
from affectlab.models.text.decisions import DecisionRule, Scaling
from affectlab.taxonomy import Taxonomy

EKMAN = ("anger", "disgust", "fear", "joy", "sadness", "surprise")
SMALL = {"taxonomy": "ekman", "min_texts": 1, "min_texts_piece": 1, "cost": 20.0}


def made(words: str = "happy scared", *, tuned: bool = True, **settings) -> TextClassifier:
    joy, fear = words.split()
    texts = [f"so {joy} {k}" for k in range(10)] + [f"so {fear} {k}" for k in range(10)]
    labels = ["joy"] * 10 + ["fear"] * 10
    model = TextClassifier.make("linear", **{**SMALL, **settings}).fit(texts, labels)
    if tuned:
        model.tune([f"{text}!" for text in texts], labels)
    return model


def spoil(folder, change) -> None:
    file = folder / "model.json"
    meta = json.loads(file.read_text(encoding="utf-8"))
    change(meta)
    file.write_text(json.dumps(meta), encoding="utf-8")


# -- what a stranger writes ------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["cache", "checkpoints", "device", "micro_batch"])
def test_settings_that_save_does_not_write_are_refused(tmp_path, name, encoder_model) -> None:
    """A folder of vectors, say, would be made and written to wherever the file says."""
    folder = encoder_model.save(tmp_path / "model")
    held = {"micro_batch": 1, "device": "cpu"}.get(name, str(tmp_path / "elsewhere"))
    spoil(folder, lambda meta: meta["settings"].update({name: held}))
    with pytest.raises(InputError, match=f"setting '{name}' is none that save writes") as caught:
        TextClassifier.load(folder)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "elsewhere").exists()


@pytest.fixture(scope="module")
def encoder_model(tmp_path_factory) -> TextClassifier:
    """An embedding model, of an encoder with random weights."""
    pytest.importorskip("transformers")
    from .tiny import save_bert, texts_of

    place = save_bert(tmp_path_factory.mktemp("bert"), layers=1)
    settings = {"encoder": place, "epochs": 1, "batch_size": 8, "device": "cpu"}
    model = TextClassifier.make("embedding", taxonomy="ekman", **settings)
    return model.fit(*texts_of(16))


def _rule(meta):
    return meta["decisions"][""]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: _rule(m).update(thresholds=["abc"] * 6), "could not convert"),
        (lambda m: _rule(m).update(thresholds=[2.0] * 6), "'anger' = 2.0: expected a probability"),
        (lambda m: _rule(m).update(labels=list(EKMAN[::-1])), "not of these labels in this order"),
        (lambda m: _rule(m).update(labels=["x", *EKMAN[1:]]), "not of these labels in this order"),
        (lambda m: m["tuning"][""].update(labels=list(EKMAN[::-1])), "results of the labels"),
        (lambda m: m["tuning"][""].update(f1=[0.5]), "f1: 1 values"),
        (lambda m: m["tuning"][""].update(macro_f1="high"), "'high' is of another kind"),
        (lambda m: m["tuning"][""].update(recall_at=1), "expected what to_dict gives"),
        (lambda m: m["decisions"].update(mood=_rule(m)), "not of the same levels"),
        (lambda m: m["scalings"][""].update(temperature=-1), "temperature = -1"),
        (lambda m: m["scalings"][""].update(temperature=0), "temperature = 0"),
        (lambda m: m["scalings"][""].update(kind="cubic"), "unknown calibration 'cubic'"),
        (
            lambda m: m["scalings"][""].update(kind="isotonic", knots=[[[0, 1], [5, -3]]] * 6),
            "probabilities that do not fall",
        ),
        (
            lambda m: m["scalings"][""].update(kind="isotonic", knots=[[[0, 1], [0, 1]]]),
            "calibration of the labels is of 1 labels",
        ),
        (lambda m: m["settings"].update(pairs="no"), "pairs = 'no': expected true or false"),
        (lambda m: m["settings"].update(cost=None), "cost = None"),
        (lambda m: m.update(seed="x"), "seed = 'x'"),
        (lambda m: m.update(name=3), "name = 3"),
        (lambda m: m.update(taxonomy="x = " + "[" * 20000), "cannot be used"),
        (lambda m: m["training"].update(texts_per_label={"joy": "many"}), "a number of texts"),
    ],
)
def test_a_description_that_does_not_fit_is_one_sentence(tmp_path, change, words) -> None:
    folder = made().save(tmp_path / "model")
    spoil(folder, change)
    with pytest.raises(InputError, match=words) as caught:
        TextClassifier.load(folder)
    assert "model.json" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text", ["[" * 200_000, '{"a": NaN}', '{"a": Infinity}', '{"a": ' + "1" * 9999]
)
def test_json_that_python_alone_would_take_or_die_of(tmp_path, text) -> None:
    folder = made().save(tmp_path / "model")
    (folder / "model.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"model\.json"):
        TextClassifier.load(folder)


def test_weights_are_finite_numbers_in_an_archive(tmp_path) -> None:
    folder = made().save(tmp_path / "model")
    file = folder / "weights.npz"
    with np.load(file) as held:
        arrays = dict(held)
    for value in (np.nan, np.inf):
        np.savez(file, **{**arrays, "bias": np.full_like(arrays["bias"], value)})
        with pytest.raises(InputError, match=r"weights\.npz, bias: expected finite numbers"):
            TextClassifier.load(folder)
    np.savez(file, **{**arrays, "bias": np.array(["a"] * len(arrays["bias"]))})
    with pytest.raises(InputError, match="bias: expected finite numbers"):
        TextClassifier.load(folder)
    with file.open("wb") as alone:
        np.save(alone, arrays["weights"])
    with pytest.raises(InputError, match=r"weights\.npz cannot be read"):
        TextClassifier.load(folder)


def test_weights_of_a_network_are_finite(tmp_path, encoder_model) -> None:
    from safetensors.torch import load_file, save_file

    folder = encoder_model.save(tmp_path / "model")
    weights = load_file(folder / "head.safetensors")
    weights["output.bias"][0] = math.nan
    save_file(weights, folder / "head.safetensors")
    with pytest.raises(InputError, match=r"weights 'output\.bias' are not all finite"):
        TextClassifier.load(folder)


@pytest.mark.parametrize(
    ("work", "words"),
    [
        (lambda: DecisionRule("global", ("a",), (math.nan,)), "'a' = nan: expected a probability"),
        (lambda: DecisionRule.from_dict({"kind": "global"}), "a rule cannot be read"),
        (lambda: Scaling("temperature", math.nan), "temperature = nan"),
        (lambda: Scaling("temperature", math.inf), "temperature = inf"),
        (lambda: Scaling("isotonic"), "knots: expected those of each label"),
        (lambda: Scaling("isotonic", knots=(((0.0,), (math.nan,)),)), "knots of label 1"),
        (lambda: Scaling("isotonic", knots=(((1.0, 0.0), (0.0, 1.0)),)), "knots of label 1"),
        (lambda: Scaling.from_dict({"kind": "none", "temperature": "x", "knots": []}), "be read"),
    ],
)
def test_rules_and_calibrations_check_themselves(work, words) -> None:
    with pytest.raises(InputError, match=words):
        work()


# -- saving ----------------------------------------------------------------------------------------


def test_a_save_that_fails_leaves_the_old_model(tmp_path, monkeypatch) -> None:
    folder = made().save(tmp_path / "model")
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    new = made("glad afraid")

    def fail(path, content, *, lines=False):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("affectlab.models.text.folder.write_json", fail)
    with pytest.raises(InputError, match="No space left"):
        new.save(folder)
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before
    # A first save that fails leaves nothing, and can be done again.
    with pytest.raises(InputError, match="No space left"):
        new.save(tmp_path / "first")
    assert not (tmp_path / "first").exists()
    monkeypatch.undo()
    assert TextClassifier.load(new.save(tmp_path / "first")).predict_labels(["glad"]) == [("joy",)]


def test_a_save_that_stops_while_files_are_put_into_place(tmp_path, monkeypatch) -> None:
    """Half of one model and half of another is never loaded, and can be saved over."""
    from pathlib import Path

    folder = made().save(tmp_path / "model")
    new = made("glad afraid")
    moved = Path.replace

    def stop(self, target):
        if self.name == "model.json":
            raise KeyboardInterrupt
        return moved(self, target)

    monkeypatch.setattr(Path, "replace", stop)
    with pytest.raises(KeyboardInterrupt):
        new.save(folder)
    monkeypatch.undo()
    with pytest.raises(InputError, match="saving was interrupted; save the model there again"):
        TextClassifier.load(folder)
    assert TextClassifier.load(new.save(folder)).predict_labels(["glad"]) == [("joy",)]


def test_an_untuned_model_leaves_no_thresholds_of_a_tuned_one(tmp_path) -> None:
    folder = made().save(tmp_path / "model")
    assert (folder / "thresholds.toml").is_file()
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    made(tuned=False).save(folder)
    assert not list(folder.glob("thresholds*"))
    assert (folder / "notes.txt").read_text(encoding="utf-8") == "mine"
    assert TextClassifier.load(folder).tuning == {}


def test_levels_whose_names_cannot_be_names_of_files(tmp_path) -> None:
    ekman = load_taxonomy("ekman")
    entries = tuple(
        replace(entry, groups={"up/down": "up" if entry.name == "joy" else "down"})
        for entry in ekman.entries
    )
    taxonomy = Taxonomy("odd", entries, levels=("up/down",))
    model = made(taxonomy=taxonomy)
    folder = model.save(tmp_path / "model")
    (file,) = folder.glob("thresholds-*.toml")
    assert file.name.startswith("thresholds-up_down-")
    again = TextClassifier.load(folder)
    assert again.predict_labels(["so happy"], "up/down") == [("up",)]
    blank = tuple(replace(entry, groups={"": "x"}) for entry in ekman.entries)
    with pytest.raises(InputError, match="a level has no name"):
        made(taxonomy=Taxonomy("odd", blank, levels=("",)))


def test_warnings_of_method_stay_with_the_model(tmp_path) -> None:
    model = made(tuned=False)
    texts, labels = ["so happy !", "so scared !"], ["joy", "fear"]
    with pytest.warns(UserWarning, match="use a dev split"):
        model.tune(texts, labels, source="posts-test.csv")
    folder = model.save(tmp_path / "model")
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert "Warning: calibration and thresholds are fitted on 'posts-test.csv'" in card
    (said,) = TextClassifier.load(folder).training["warnings"]
    assert "cannot be tested on it" in said
    # Tuned again on other texts, there is nothing to warn of.
    model.tune(texts, labels, source="posts-dev.csv")
    assert model.training["warnings"] == []


def test_json_is_written_without_numbers_that_json_has_not(tmp_path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        write_json(tmp_path / "x.json", {"a": math.nan})
    folder = made().save(tmp_path / "model")
    tuned = json.loads((folder / "model.json").read_text(encoding="utf-8"))["tuning"][""]
    assert tuned["f1"][0] is None  # No text has anger.
