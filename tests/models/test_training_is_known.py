"""What a model was trained on is counted where it rates, and said where it is judged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from affectlab.evaluation import (
    alignment,
    alt_test,
    compare_models,
    evaluate_classification,
    evaluate_soft_labels,
    published_tables,
)
from affectlab.models.embedding import Embeddings
from affectlab.models.embedding.card import EncoderCard
from affectlab.models.heads import HeadBank, HeadShape, Stage
from affectlab.models.text import TextClassifier
from affectlab.models.vision import VisionClassifier
from affectlab.ratings import Ratings, read_models, read_ratings
from affectlab.report import write_report
from affectlab.report.statistics import Study

WORDS = {"joy": "happy glad laughing", "fear": "scared afraid terror", "anger": "furious hate mad"}
N = 60
CARD = EncoderCard("mine", "image", 8, "0ab1")


def texts(seed: int, n: int = N) -> tuple[list[str], list[str]]:
    rng = np.random.default_rng(seed)
    labels = [list(WORDS)[at % 3] for at in range(n)]
    words = [WORDS[label].split() for label in labels]
    return [f"{' '.join(rng.choice(own, 4))} {seed} {at}" for at, own in enumerate(words)], labels


@pytest.fixture(scope="module")
def classifier(tmp_path_factory: pytest.TempPathFactory) -> TextClassifier:
    given, labels = texts(1)
    made = TextClassifier.make("linear", taxonomy="ekman", name="tiny")
    made.fit(given, [[label] for label in labels], dev=None)
    return TextClassifier.load(made.save(tmp_path_factory.mktemp("model") / "tiny"))


@pytest.fixture(scope="module")
def rated(classifier: TextClassifier) -> tuple[Ratings, dict[str, str]]:
    """A third of what was rated was seen; and the truth."""
    old, labels = texts(1)
    new, more = texts(2, 2 * N)
    names = [f"t{at}" for at in range(3 * N)]
    truth = dict(zip(names, labels + more, strict=True))
    return classifier.rate([*old, *new], names), truth


def of(ratings: Ratings) -> tuple[int, float]:
    return ratings.raters.select("n_seen", "share_seen").row(0)


@pytest.mark.parametrize("name", ["found.parquet", "found.csv", "found.jsonl"])
def test_texts_of_training_are_counted_and_survive_files(
    rated: tuple[Ratings, dict[str, str]], tmp_path: Path, name: str
) -> None:
    found, truth = rated
    assert of(found) == (N, pytest.approx(1 / 3))
    marked = found.frame.filter("in_training")["stimulus"].unique().to_list()
    assert {str(one) for one in marked} == {f"t{at}" for at in range(N)}
    again = read_ratings(found.write(tmp_path / name))
    assert again.equals(found)
    people = Ratings(
        {"stimulus": list(truth), "rater": ["gold"] * len(truth), "value": list(truth.values())}
    )
    (models,) = read_models(tmp_path / name, people)
    said = evaluate_classification(people, models, n_boot=0).sentences[0]
    assert said.startswith(f"tiny was trained on {N} of the {3 * N} stimuli that it is judged on")


def test_only_what_is_judged_counts(rated: tuple[Ratings, dict[str, str]]) -> None:
    found, truth = rated
    gold = {name: label for name, label in truth.items() if int(name[1:]) >= N}
    people = Ratings(
        {"stimulus": list(gold), "rater": ["gold"] * len(gold), "value": list(gold.values())}
    )
    assert "trained" not in evaluate_classification(people, found, n_boot=0).sentences[0]
    # Judging without these stimuli is a selection.
    rest = found.where(~pl.col("in_training"))
    assert rest.n_stimuli == 2 * N
    judged = evaluate_classification(people, rest, n_boot=0).estimates["tiny", "accuracy"]
    assert (
        judged.value
        == evaluate_classification(people, found, n_boot=0).estimates["tiny", "accuracy"].value
    )


def test_every_verdict_on_classes_says_so_first(rated: tuple[Ratings, dict[str, str]]) -> None:
    found, truth = rated
    names = list(truth)[:N] + list(truth)[N : N + 20]
    people = Ratings(
        {
            "stimulus": names * 3,
            "rater": np.repeat(["a", "b", "c"], len(names)).tolist(),
            "value": [truth[name] for name in names] * 3,
        },
        scale="nominal:" + ",".join(found.label_names),
    )
    other = Ratings(
        {"stimulus": names, "rater": ["other"] * len(names), "value": ["joy"] * len(names)},
        raters={"rater": ["other"], "rater_kind": ["model"]},
    )
    models = [found, other]
    sentences = [
        evaluate_classification(people, models, n_boot=0).sentences,
        evaluate_soft_labels(people, models, n_boot=0).sentences,
        compare_models(people, models, n_boot=0, n_permutations=100).sentences,
    ]
    for said in sentences:
        assert said[0].startswith(f"tiny was trained on {N} of the {N + 20} stimuli")
        assert not any("other was trained" in sentence for sentence in said)


def clouds(seed: int, n: int) -> Embeddings:
    rng = np.random.default_rng(seed)
    names = tuple(f"s{seed}-{at:02d}" for at in range(n))
    hashes = tuple(f"{seed}{at:063d}" for at in range(n))
    return Embeddings(rng.normal(size=(n, 8)).astype(np.float16), names, hashes, CARD)


@pytest.fixture(scope="module")
def heads(tmp_path_factory: pytest.TempPathFactory) -> HeadBank:
    old = clouds(1, 40)
    truth = np.clip(3.5 + 2 * np.asarray(old.values[:, :2], dtype=float), 0, 7)
    bank = HeadBank.make(["joy", "fear"], shape=HeadShape((8,)), name="heads")
    bank.fit(old, truth, stage=Stage(epochs=20, learning_rate=0.02, batch=8), cap=None)
    return HeadBank.load(bank.save(tmp_path_factory.mktemp("heads") / "heads"))


def answers(heads: HeadBank, given: Embeddings) -> tuple[Ratings, Ratings]:
    model = heads.rate(given)
    rng = np.random.default_rng(5)
    parts = []
    for name in ("ann", "ben", "cem", "dia"):
        values = np.clip(np.rint(model.value + rng.normal(0, 1.5, model.value.size)), 0, 7)
        frame = model.to_frame().select("stimulus", "label")
        parts.append(
            Ratings(frame.with_columns(rater=pl.lit(name), value=pl.Series(values)), scale="0-7")
        )
    return parts[0].merge(*parts[1:]), model


def test_verdicts_on_heads_say_what_they_learned_from(heads: HeadBank, tmp_path: Path) -> None:
    people, model = answers(heads, clouds(1, 40))
    assert of(model) == (40, 1.0)
    said = "heads was trained on all 40 stimuli that it is judged on"
    for found in (
        alignment(people, model, target="sample"),
        alt_test(people, model),
        published_tables(people, model, n_boot=0),
    ):
        assert found.sentences[0].startswith(said)
    study = Study(people, model, n_boot=0)
    assert study.beside.alignment is not None
    paths = write_report(people, tmp_path / "page", models=model, n_boot=0)
    (answer,) = (answer for answer in paths.answers if said in answer)
    assert answer.index(said) < answer.index("people: its")
    assert said in Path(paths.html).read_text(encoding="utf-8")
    people, model = answers(heads, clouds(2, 40))
    assert of(model) == (0, 0.0)
    assert "in_training" not in model.frame.columns
    assert "trained" not in " ".join(alignment(people, model, target="sample").sentences)


def test_a_table_of_raters_may_say_it(heads: HeadBank) -> None:
    people, model = answers(heads, clouds(2, 40))
    told = model.with_raters({"rater": ["heads"], "rater_kind": ["model"], "n_seen": [12]})
    said = alignment(people, told, target="sample").sentences[0]
    assert said.startswith("heads was trained on 12 of the 40 stimuli")


def test_a_vision_model_knows_its_images(tmp_path: Path) -> None:
    old = clouds(1, 40)
    labels = ["awe" if row[0] > 0 else "fear" for row in old.values]
    model = VisionClassifier("mikels", backbone="embedding:mine")
    model.fit(old, labels, epochs=2, device="cpu")
    again = VisionClassifier.load(model.save(tmp_path / "model"))
    both = Embeddings.concat([old, clouds(2, 20)])
    assert of(again.rate(both)) == (40, pytest.approx(2 / 3))
    assert of(again.rate(clouds(2, 20))) == (0, 0.0)
