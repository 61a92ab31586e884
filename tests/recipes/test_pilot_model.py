"""A pilot's model: what it learns from, how often it answers, and when it is trained again."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from affectlab.core.errors import InputError
from affectlab.ratings import Ratings
from affectlab.recipes.goemotions.pilot import PilotModel, PilotPredictor, train_pilot_model
from affectlab.taxonomy import Taxonomy

SAID = {
    "joy": "so happy and glad about the lake",
    "fear": "scared of the dark cellar stairs",
    "neutral": "the shop opens at nine today",
}
Row = tuple[str, str, str, int]


def answers(
    rows: Iterable[Row], texts: dict[str, str] | None = None, **columns: list[object]
) -> Ratings:
    """Ratings of rows of stimulus, rater, label and value."""
    table = pl.DataFrame(list(rows), schema=["stimulus", "rater", "label", "value"], orient="row")
    names = table["stimulus"].unique(maintain_order=True).to_list()
    told = {name: said(name) for name in names} if texts is None else texts
    stimuli = {"stimulus": list(told), "text": list(told.values())}
    return Ratings(
        table.with_columns(**{k: pl.Series(v) for k, v in columns.items()}),
        scale="binary",
        stimuli=stimuli,
    )


def meant(name: str) -> str:
    return list(SAID)[int(name) % 3]


def said(name: str) -> str:
    return f"{SAID[meant(name)]} {name}"


def agreed(n: int, start: int = 0) -> list[Row]:
    """Two raters who agree about each of n texts."""
    names = [str(k) for k in range(start, start + n)]
    return [(name, rater, meant(name), 1) for name in names for rater in ("a", "b")]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> PilotModel:
    return train_pilot_model(answers(agreed(90)), tmp_path_factory.mktemp("pilot") / "model")


def test_it_learns_what_raters_agree_on(model: PilotModel) -> None:
    assert (model.n_answered, model.n_agreed, model.n_dev, model.agree) == (90, 90, 18, 2)
    assert (model.macro_f1, model.micro_f1) == (1.0, 1.0)
    assert 0.3 < model.chance_f1 < 0.8
    assert (model.trained_now, model.replaced) == (True, False)
    assert model.predictor(["scared of the cellar", "happy and glad"]) == [["fear"], ["joy"]]


def test_texts_without_agreement_and_refused_answers_are_left_out(tmp_path: Path) -> None:
    rows: list[Row] = [*agreed(60), ("60", "a", "joy", 1), ("60", "b", "fear", 1)]
    unclear = [("61", "a", "joy", 0), ("61", "b", "joy", 0)]
    golden = [(str(k), rater, "anger", 1) for k in range(62, 72) for rater in ("a", "b")]
    kinds = ["main"] * (len(rows) + len(unclear)) + ["golden"] * len(golden)
    made = train_pilot_model(
        answers([*rows, *unclear, *golden], trial_kind=kinds), tmp_path / "model"
    )
    assert (made.n_answered, made.n_agreed) == (62, 60)
    assert made.predictor.model.training["texts_per_label"]["anger"] == 0


@pytest.mark.parametrize(("second", "agree"), [(20, 1), (40, 2)])
def test_one_rater_will_do_where_most_texts_have_no_other(
    second: int, agree: int, tmp_path: Path
) -> None:
    rows = [(str(k), "a", meant(str(k)), 1) for k in range(60)]
    rows += [(str(k), "b", meant(str(k)), 1) for k in range(second)]
    made = train_pilot_model(answers(rows), tmp_path / "model")
    assert made.agree == agree
    assert made.n_agreed == (60 if agree == 1 else second)


def test_labels_are_predicted_as_often_as_raters_choose_them(tmp_path: Path) -> None:
    """Words say next to nothing here, so that the best F1 would answer labels nearly always."""
    rng = np.random.default_rng(5)
    words = np.array([f"w{chr(97 + k)}{chr(97 + k)}" for k in range(26)])
    labels = rng.choice(["joy", "fear", "anger", "neutral"], 800, p=[0.45, 0.25, 0.1, 0.2])
    texts = {str(k): " ".join(rng.choice(words, 8)) for k in range(800)}
    rows = [(str(k), "a", str(label), 1) for k, label in enumerate(labels)]
    made = train_pilot_model(answers(rows, texts), tmp_path / "model")
    told = made.predictor([" ".join(rng.choice(words, 8)) for _ in range(2000)])
    shares = {
        label: np.mean([label in each for each in told])
        for label in ("joy", "fear", "anger", "neutral")
    }
    assert shares == pytest.approx(
        {"joy": 0.45, "fear": 0.25, "anger": 0.1, "neutral": 0.2}, abs=0.12
    )
    assert np.mean([len(each) for each in told]) == pytest.approx(1, abs=0.2)
    # Nothing was there to be learned, and it is no better than chance.
    assert made.micro_f1 <= made.chance_f1


def test_the_card_says_which_thresholds_its_results_are_of(model: PilotModel) -> None:
    card = (model.folder / "README.md").read_text(encoding="utf-8")
    assert "fitted on 18 texts of the pilot, to match its shares of labels" in card
    assert "reach a macro F1 of 1.000 and a micro F1 of 1.000 on them, cross-fitted" in card


def test_same_answers_are_not_learned_twice(tmp_path: Path) -> None:
    place = tmp_path / "model"
    first = train_pilot_model(answers(agreed(60)), place)
    name = first.predictor.name
    # The order of rows means nothing.
    again = train_pilot_model(answers(reversed(agreed(60))), place)
    assert (again.trained_now, again.replaced) == (False, False)
    assert (again.macro_f1, again.n_dev) == (first.macro_f1, first.n_dev)
    assert again.predictor.name == name
    more = train_pilot_model(answers(agreed(63)), place)
    assert (more.trained_now, more.replaced, more.n_agreed) == (True, True, 63)
    assert more.predictor.name != name
    assert train_pilot_model(answers(agreed(63)), place, resume=False).trained_now


@pytest.mark.parametrize("note", ["", "{}", "[1]", '{"key": "x", "n_dev": 2}'])
def test_a_note_that_is_no_more_ours_has_it_trained_again(note: str, tmp_path: Path) -> None:
    place = tmp_path / "model"
    train_pilot_model(answers(agreed(60)), place)
    (tmp_path / "model.pilot.json").write_text(note)
    assert train_pilot_model(answers(agreed(60)), place).trained_now


def test_a_model_that_is_not_complete_is_trained_again(tmp_path: Path) -> None:
    place = tmp_path / "model"
    train_pilot_model(answers(agreed(60)), place)
    (place / "weights.npz").unlink()
    assert train_pilot_model(answers(agreed(60)), place).trained_now
    assert json.loads((tmp_path / "model.pilot.json").read_text())["n_agreed"] == 60


def test_a_taxonomy_that_changed_under_its_name_is_another(tmp_path: Path) -> None:
    place = tmp_path / "model"
    for labels in (["joy", "fear", "neutral"], ["joy", "fear", "neutral", "awe"]):
        known = Taxonomy.from_labels(labels, name="mine")
        made = train_pilot_model(answers(agreed(60)), place, taxonomy=known)
        assert made.trained_now
        assert made.predictor.model.labels == tuple(labels)


def same_text(rows: list[Row]) -> Ratings:
    return answers(rows, {name: "always the same" for name, *_ in rows})


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (lambda: answers(agreed(39)), "39 texts have a label that 2 raters chose; expected 40"),
        (lambda: answers([(n, r, "glee", v) for n, r, _, v in agreed(60)]), "label 'glee'"),
        (lambda: same_text(agreed(60)), "nearly all texts are the same"),
        (lambda: answers(agreed(60), {str(k): " " * k for k in range(60)}), "'0' has no text"),
        (
            lambda: Ratings(
                {"stimulus": ["a"], "rater": ["r"], "label": ["joy"], "value": [1]}, scale="binary"
            ),
            "no attribute 'text'",
        ),
        (
            lambda: Ratings(
                {"stimulus": ["a", "b"], "rater": ["r", "r"], "value": [3.5, 70]},
                scale="interval",
                stimuli={"stimulus": ["a", "b"], "text": ["x", "y"]},
            ),
            "expected yes or no to each label",
        ),
    ],
)
def test_answers_that_cannot_be_learned_from(
    given: Callable[[], Ratings], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=sentence):
        train_pilot_model(given(), tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_a_folder_with_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text("mine")
    with pytest.raises(InputError, match="holds other files"):
        train_pilot_model(answers(agreed(60)), tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["letters.txt"]


def test_the_predictor_travels_without_its_model(model: PilotModel) -> None:
    predict = model.predictor
    sent = pickle.dumps(predict)
    assert len(sent) < 1000
    arrived = pickle.loads(sent)
    assert arrived == predict
    texts = [said(str(k)) for k in range(9)]
    assert arrived(texts) == predict(texts)


def test_the_likeliest_label_is_first_and_empty_texts_have_none(model: PilotModel) -> None:
    predict = model.predictor
    texts = ["glad about the dark cellar stairs", "", " \n", "the shop opens and I am scared"]
    told = predict(texts)
    assert [bool(each) for each in told] == [True, False, False, True]
    labels = predict.model.labels
    for text, each in zip(texts, told, strict=True):
        if each:
            likely = predict.model.predict_proba([text])[0]
            values = [likely[labels.index(label)] for label in each]
            assert values == sorted(values, reverse=True)
    assert predict(["", ""]) == [[], []]
    assert predict([]) == []


def test_a_folder_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        PilotPredictor.of_folder(tmp_path / "absent")
