"""Text models of ours in ``affectlab rate``, and their answers in ``affectlab evaluate``."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from affectlab import read_ratings
from affectlab.cli import main
from affectlab.models.text import TextClassifier, read_labelled_texts

WORDS = {2: ["hate", "furious"], 14: ["scared", "afraid"], 17: ["happy", "yay"], 27: ["table"]}


class Run:
    """Runs ``affectlab`` in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, *arguments: str | Path, code: int = 0) -> Any:
        with pytest.raises(SystemExit) as ended:
            main(list(map(str, arguments)))
        done = self.capsys.readouterr()
        assert (ended.value.code or 0) == code, done.err
        return done

    def result(self, *arguments: str | Path) -> dict[str, Any]:
        return json.loads(self(*arguments, "--json").out)["result"]


def posts(n: int, seed: int) -> str:
    """Posts of one or two labels, in the form of the published splits."""
    rng = np.random.default_rng(seed)
    lines = []
    for row in range(n):
        own = sorted(rng.choice(list(WORDS), size=1 + (rng.random() < 0.3), replace=False))
        words = list(rng.choice(["the", "a", "of", "we", "it", "is", "to", "on"], 5))
        words += [rng.choice(WORDS[label]) for label in own]
        rng.shuffle(words)
        lines.append(f"{' '.join(words)}\t{','.join(map(str, own))}\t{seed}a{row:05d}\n")
    return "".join(lines)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model, and the texts that it was trained and tuned on."""
    place = tmp_path_factory.mktemp("rate")
    for name, n, seed in (("train", 300, 1), ("dev", 120, 2)):
        (place / f"{name}.tsv").write_text(posts(n, seed), encoding="utf-8")
    train, dev = (read_labelled_texts(place / f"{name}.tsv") for name in ("train", "dev"))
    model = TextClassifier.make("linear", cost=5.0, name="tiny")
    model.fit(train.texts, train.targets, dev=(dev.texts, dev.targets)).save(place / "model")
    return place


@pytest.fixture
def run(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    folder: Path,
) -> Run:
    shutil.copytree(folder, tmp_path / "work")
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("COLUMNS", "100")
    return Run(capsys)


RATE = ("rate", "model", "dev.tsv", "--out")


@pytest.mark.parametrize("name", ["r.parquet", "r.csv", "r.jsonl"])
def test_answers_are_ratings(run: Run, name: str) -> None:
    done = run(*RATE, name)
    assert "tiny rated 120 stimuli on 28 labels, interval 0 to 1" in done.out
    ratings = read_ratings(name)
    assert ratings.rater_kinds == ("model",)
    assert ratings.n_ratings == 120 * 28
    assert str(ratings.scale) == "interval 0 to 1"
    model = TextClassifier.load("model")
    texts = ratings.stimuli["text"].to_list()
    values = ratings.frame["value"].to_numpy().reshape(120, 28)
    assert np.allclose(values, model.predict_proba(texts), atol=1e-12)


def test_evaluate_finds_the_labels_that_the_model_chose(run: Run) -> None:
    """Without any threshold given, sets are those of the model: same F1 as by hand."""
    run(*RATE, "r.parquet", "--quiet")
    sets = ("evaluate", "classification", "dev.tsv", "--models", "r.parquet", "--multilabel",
            "--n-boot", "0")  # fmt: skip
    found = run.result(*sets)
    dev = read_labelled_texts("dev.tsv")
    predicted = TextClassifier.load("model").predict(dev.texts)
    truth = dev.targets.astype(bool)
    hits = (predicted & truth).sum(axis=0)
    whole = predicted.sum(axis=0) + truth.sum(axis=0)
    by_hand = np.mean([2 * h / w for h, w in zip(hits, whole, strict=True) if w])
    assert macro_f1(found, "tiny") == pytest.approx(by_hand)
    assert macro_f1(found, "tiny") > 0.8
    # The file of thresholds in the folder says the same.
    again = run.result(*sets, "--threshold", "model/thresholds.toml")
    assert macro_f1(again, "tiny") == pytest.approx(by_hand)


def test_evaluate_at_a_level(run: Run) -> None:
    run(*RATE, "r.parquet", "--set", "level=sentiment", "--quiet")
    found = run.result(
        *("evaluate", "classification", "dev.tsv", "--models", "r.parquet", "--multilabel"),
        *("--label-map", "goemotions:sentiment", "--n-boot", "0"),
    )
    assert found["settings"]["classes"] == ["positive", "negative", "ambiguous", "neutral"]
    assert macro_f1(found, "tiny") > 0.8


def macro_f1(found: dict[str, Any], rater: str) -> float:
    (value,) = [
        row["value"]
        for row in found["metrics"]
        if (row["rater"], row["metric"]) == (rater, "macro_f1")
    ]
    return float(value)


def test_words_that_moved_it(run: Run, tmp_path: Path) -> None:
    Path("one.txt").write_text("so happy today\n", encoding="utf-8")
    asked = ("rate", "model", "one.txt", "--out", "r.csv", "--config")
    done = run(*asked, "explain=3", "--config", "figures=figures")
    assert "“so happy today”" in done.out
    assert "(start)" in done.out
    assert {path.name for path in Path("figures").iterdir()} == {"words-1.png", "words-1.svg"}
    told = run.result(*asked, "explain=1")["explained"][0]
    parts = {row["token"]: row["contribution"] for row in told["parts"] if row["label"] == "joy"}
    assert max(parts, key=parts.get) == "happy"


def test_json_and_a_name_of_its_own(run: Run) -> None:
    found = run.result(*RATE, "r.parquet", "--config", "rater=me", "--set", "level=ekman")
    assert (found["rater"], found["n_stimuli"]) == ("me", 120)
    assert {row["label"] for row in found["per_label"]} == set(found["labels"])
    assert sum(row["share chosen"] for row in found["per_label"]) > 0
    assert "chosen by a threshold for each label" in found["about"]["answers"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--set", "level=ekmann"], ["unknown level 'ekmann'"]),
        (["--set", "coherent=true"], ["coherent", "expected --set level=NAME as well"]),
        (["--set", "levels=ekman"], ["unknown setting 'levels'"]),
        (["--config", "figures=figures"], ["figures", "expected both"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_bad_input_is_one_sentence(run: Run, options: list[str], words: list[str]) -> None:
    done = run(*RATE, "r.parquet", *options, "--quiet", code=2)
    assert done.err.startswith("affectlab: ")
    assert done.err.count("\n") == 1
    for word in words:
        assert word in done.err


def test_a_place_without_a_model(run: Run) -> None:
    done = run("rate", ".", "dev.tsv", "--out", "r.csv", code=2)
    assert "holds no model" in done.err
    done = run("rate", "none", "dev.tsv", "--out", "r.csv", code=2)
    assert "unknown rater 'none'" in done.err


@pytest.mark.parametrize("name", ["r.txt", "none/r.csv", "model", "kept.csv"])
def test_where_to_write_is_looked_at_before_anything_is_rated(
    run: Run, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rating may take hours; a place that cannot be written is refused at once."""
    Path("kept.csv").mkdir()

    def load(folder: Path) -> TextClassifier:
        raise AssertionError(f"{folder} was read first")

    monkeypatch.setattr(TextClassifier, "load", load)
    done = run(*RATE, name, code=2)
    assert done.err.startswith(f"affectlab: {name}")
    assert done.err.count("\n") == 1


def test_groups_of_the_chosen_labels(run: Run) -> None:
    run(*RATE, "r.parquet", "--set", "level=ekman", "--set", "coherent=true", "--quiet")
    ratings = read_ratings("r.parquet")
    model = TextClassifier.load("model")
    texts = ratings.stimuli["text"].to_list()
    chosen = ratings.frame["chosen"].to_numpy().reshape(len(texts), -1)
    np.testing.assert_array_equal(chosen, model.predict(texts, "ekman", coherent=True))


def test_a_table_without_texts_is_told_of_the_column(run: Run) -> None:
    Path("posts.csv").write_text("comment,likes\nso happy,3\n", encoding="utf-8")
    done = run("rate", "model", "posts.csv", "--out", "r.csv", code=2)
    assert "there is no column 'text', only 'comment' and 'likes'" in done.err


def test_empty_texts(run: Run) -> None:
    Path("posts.csv").write_text("text\nso happy\n \n", encoding="utf-8")
    given = ("rate", "model", "posts.csv", "--out", "r.csv")
    assert "posts.csv, row 2: the text is empty" in run(*given, code=2).err
    assert "set aside: 1 empty text" in run(*given, "--config", "set_aside=true").err


def test_model_of_another_version(run: Run) -> None:
    file = Path("model/model.json")
    file.write_text(
        file.read_text(encoding="utf-8").replace("text-model/1", "text-model/2"), encoding="utf-8"
    )
    done = run(*RATE, "r.parquet", code=2)
    assert "train the model again" in done.err
    assert done.err.count("\n") == 1


def test_a_text_to_which_no_label_is_given(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "one.txt").write_text("the of it\n", encoding="utf-8")
    asked = ["rate", folder / "model", tmp_path / "one.txt", "--out", tmp_path / "one.csv"]
    found = Run(capsys).result(*asked)
    assert {row["share chosen"] for row in found["per_label"]} == {0}


@pytest.mark.parametrize("model", ["model", "results.csv", "openai/gpt-x", "mse"])
def test_labels_that_are_not_mapped_here_are_not_passed_over(run: Run, model: str) -> None:
    Path("results.csv").write_text("stimulus,label,value\na,joy,1\n", encoding="utf-8")
    done = run("rate", model, RATE[2], "--out", "r.csv", "--taxonomy", "ekman", code=2)
    assert "--taxonomy" in done.err
    assert done.err.count("\n") == 1
