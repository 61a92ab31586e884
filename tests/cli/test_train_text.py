"""``affectlab train text``, run as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from affectlab.cli import main
from affectlab.core.errors import InputError
from affectlab.models.text import TextClassifier, read_labelled_texts
from affectlab.report import write_text_report

WORDS = {
    "joy": ["happy", "glad", "yay"],
    "love": ["love", "adore"],
    "anger": ["hate", "furious"],
    "fear": ["scared", "afraid"],
    "neutral": ["table", "monday"],
}
GOEMOTIONS = {"joy": 17, "love": 18, "anger": 2, "fear": 14, "neutral": 27}


def posts(path: Path, n: int, seed: int, noise: float = 0.0) -> Path:
    """Write posts whose words say the label, in the form of the published splits.

    With `noise`, such a share of them gets any label.
    """
    rng = np.random.default_rng(seed)
    lines = []
    for row in range(n):
        label = list(WORDS)[rng.integers(5)]
        words = [
            *rng.choice(["the", "a", "of", "we", "it", "is", "to", "on"], 5),
            *rng.choice(WORDS[label], 2),
        ]
        rng.shuffle(words)
        if noise and rng.random() < noise:
            label = list(WORDS)[rng.integers(5)]
        lines.append(f"{' '.join(words)}\t{GOEMOTIONS[label]}\t{seed}a{row:05d}\n")
    path.write_text("".join(lines), encoding="utf-8")
    return path


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


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    posts(tmp_path / "train.tsv", 200, 1)
    posts(tmp_path / "dev.tsv", 100, 2)
    return Run(capsys)


def noisy(folder: Path) -> None:
    """Write posts of which a model cannot get all right."""
    posts(folder / "train.tsv", 200, 1, noise=0.2)
    posts(folder / "dev.tsv", 100, 2, noise=0.2)


TRAIN = ("train", "text", "train.tsv", "--out", "model", "--set", "cost=5.0")


def test_a_model_with_its_card_and_thresholds(run: Run, tmp_path: Path) -> None:
    done = run(*TRAIN, "--dev", "dev.tsv", "--figures", "figures")
    assert "model: linear, trained on 200 texts of train.tsv" in done.out
    assert "On dev.tsv (100 texts), cross-fitted" in done.out
    for words in ("labels", "ekman", "sentiment", "Macro F1", "joy", "a threshold for each label"):
        assert words in done.out
    files = {path.name for path in (tmp_path / "model").iterdir()}
    assert {"README.md", "model.json", "thresholds.toml", "thresholds-ekman.toml"} <= files
    assert "200 texts of train.tsv" in (tmp_path / "model/README.md").read_text(encoding="utf-8")
    assert {path.name for path in (tmp_path / "figures").iterdir()} >= {"reliability-labels.png"}


@pytest.mark.long
def test_report_shows_what_was_measured(run: Run, tmp_path: Path) -> None:
    """The numbers of the page are those of the model, and the words those of the texts."""
    noisy(tmp_path)
    done = run(*TRAIN, "--dev", "dev.tsv", "--report", "out/report", "--config", "licence=CC0-1.0")
    assert "report: out/report/report.html" in done.out
    folder = tmp_path / "out/report"
    tuned = TextClassifier.load("model").tuning[""]
    table = pl.read_csv(folder / "tables/per_label.csv")
    f1 = dict(table.select("label", "f1").iter_rows())
    for label, value, n in zip(tuned.labels, tuned.f1, tuned.support, strict=True):
        assert f1[label] == (pytest.approx(value) if n else None)
    # Labels that no text has come last, and have no F1.
    assert table["f1"].null_count() == 23
    assert table["f1"][:5].null_count() == 0
    ece = dict(table.select("label", "ece").iter_rows())
    assert ece == pytest.approx(dict(zip(tuned.labels, tuned.classwise_ece, strict=True)))
    assert sum(table["trained_on"]) == 200
    # Each text has one label, and each row of the confusions sums over what was chosen.
    assert np.diagonal(tuned.confusion) == pytest.approx(
        np.nan_to_num(tuned.recall) * np.array(tuned.support)
    )
    lists = pl.read_csv(folder / "tables/word_lists.csv")
    first = dict(lists.select("label", "first").iter_rows())
    words = {word.partition(" (")[0] for word in first["joy"].split(", ")[:3]}
    assert words == {"happy", "glad", "yay"}
    page = (folder / "report.html").read_text(encoding="utf-8")
    for words in (
        "Pooled ECE",
        "Classwise ECE",
        "Model card",
        "CC0-1.0",
        "Not for",
        "Map",
        "Labels chosen for labels",
    ):
        assert words in page
    assert {path.name for path in (folder / "figures").glob("*.png")} == {
        "confusions.png",
        "map.png",
        "reliability.png",
        "words.png",
    }
    assert "CC0-1.0" in (tmp_path / "model/README.md").read_text(encoding="utf-8")


@pytest.mark.long
def test_report_at_one_level_and_again(run: Run, tmp_path: Path) -> None:
    noisy(tmp_path)
    run(*TRAIN, "--dev", "dev.tsv", "--report", "r", "--level", "sentiment", "--quiet")
    first = pl.read_csv(tmp_path / "r/tables/per_label.csv")["label"].to_list()
    assert set(first) == {"positive", "negative", "ambiguous", "neutral"}
    # In the same folder again, from a model as it was saved.
    train, dev = (read_labelled_texts(f"{name}.tsv") for name in ("train", "dev"))
    model = TextClassifier.load("model")
    before = (tmp_path / "r/tables/confused.csv").read_bytes()
    assert write_text_report(model, "r", train=train, dev=dev).html.is_file()
    assert (tmp_path / "r/tables/confused.csv").read_bytes() == before
    with pytest.raises(InputError, match=r"train.tsv: 200 texts; expected the 100"):
        write_text_report(model, "r", train=train, dev=train)
    model.tuning = {}
    with pytest.raises(InputError, match="no thresholds are fitted"):
        write_text_report(model, "r", train=train, dev=dev)


@pytest.mark.parametrize("size", ["WORLD_SIZE", "OMPI_COMM_WORLD_SIZE"])
def test_processes_that_share_no_work_stop(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, size: str
) -> None:
    monkeypatch.setenv(size, "2")
    monkeypatch.setenv(size.replace("SIZE", "RANK"), "0")
    done = run(*TRAIN, code=2)
    said = " ".join(done.err.split())
    assert "training of the back end 'linear' runs in one process, and 2 were started" in said
    assert not (tmp_path / "model").exists()
    needs = {"heads": ("--embeddings", "e"), "semi": (), "difference": (), "preference": ()}
    for verb, more in needs.items():
        done = run("train", verb, "nothing", "--out", "x", *more, code=2)
        assert f"affectlab train {verb} runs in one process" in " ".join(done.err.split())


def test_a_rank_among_one_is_the_first(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A scheduler may leave a rank behind for a run of one process."""
    monkeypatch.setenv("WORLD_SIZE", "1")
    monkeypatch.setenv("RANK", "1")
    assert "model: linear, trained" in run(*TRAIN).out


def test_json_has_everything(run: Run) -> None:
    done = run(*TRAIN, "--dev", "dev.tsv", "--json")
    content = json.loads(done.out)
    assert content["schema"] == "affectlab/train-text/1"
    result = content["result"]
    assert (result["n_train"], result["n_dev"], result["backend"]) == (200, 100, "linear")
    assert set(result["dev"]) == {"labels", "ekman", "sentiment"}
    assert result["dev"]["sentiment"]["macro_f1"] > 0.9
    assert result["decisions"]["labels"]["fitted_on"] == "dev.tsv (100 texts)"
    assert content["warnings"] == []


def test_settings_reach_the_model(run: Run, tmp_path: Path) -> None:
    run(
        *("train", "text", "train.tsv", "--dev", "dev.tsv", "--out", "other"),
        *("--set", "pieces=[2, 3]", "--set", "label_penalty=sentiment", "--set", "pairs=false"),
        *("--level", "sentiment", "--thresholds", "global", "--config", "calibration=isotonic"),
        *("--config", "at_least_one=true", "--name", "mine", "--quiet", "--seed", "3"),
    )
    meta = json.loads((tmp_path / "other/model.json").read_text(encoding="utf-8"))
    assert meta["settings"]["pieces"] == [2, 3]
    assert meta["settings"]["label_penalty"] == "sentiment"
    assert meta["settings"]["pairs"] is False
    assert (meta["level"], meta["name"], meta["seed"]) == ("sentiment", "mine", 3)
    assert meta["labels"] == ["positive", "negative", "ambiguous", "neutral"]
    assert meta["decisions"][""]["kind"] == "global"
    assert meta["decisions"][""]["at_least_one"] is True
    assert meta["scalings"][""]["kind"] == "isotonic"


def test_calibration_is_told_pooled_and_by_label(run: Run, tmp_path: Path) -> None:
    noisy(tmp_path)
    done = run(*TRAIN, "--dev", "dev.tsv")
    tuned = TextClassifier.load("model").tuning[""]
    for words in ("Pooled ECE", "Classwise", f"{tuned.mean_classwise_ece:.3f}", tuned.worst_said):
        assert words in done.out
    # Of labels that no text has there is nothing to be said.
    (grief,) = [line.split() for line in done.out.splitlines() if line.split()[:1] == ["grief"]]
    assert grief[2:5] == ["–", "–", "–"]
    card = (tmp_path / "model/README.md").read_text(encoding="utf-8")
    for words in ("pooled ECE", "classwise ECE", tuned.worst_said, "need not be those of the"):
        assert words in card
    told = json.loads(run(*TRAIN, "--dev", "dev.tsv", "--json").out)["result"]["dev"]["labels"]
    label, largest = tuned.largest_classwise_ece
    assert told["largest_classwise_ece"] == {"label": label, "ece": pytest.approx(largest)}
    assert told["mean_classwise_ece"] == pytest.approx(tuned.mean_classwise_ece)


def test_more_labels_than_the_terminal_shows_stand_in_the_card(run: Run, tmp_path: Path) -> None:
    rows = [f"so w{k} w{k},label{k}\n" for k in range(45) for _ in range(2)]
    for name in ("many", "more"):
        (tmp_path / f"{name}.csv").write_text("text,labels\n" + "".join(rows), encoding="utf-8")
    done = run("train", "text", "many.csv", "--dev", "more.csv", "--out", "m")
    assert "5 more rows; all stand in m/README.md" in " ".join(done.out.split())
    assert "label9 |" in (tmp_path / "m/README.md").read_text(encoding="utf-8")


def test_names_are_printed_without_control_codes(run: Run) -> None:
    done = run(*TRAIN, "--name", "red \x1b[31m", "--taxonomy", "goemotions")
    assert "\x1b[31m" not in done.out
    assert "red  [31m: linear" in done.out


@pytest.mark.long
def test_a_level_that_cannot_name_a_file(run: Run, tmp_path: Path) -> None:
    text = 'name = "odd"\nlevels = ["Up/Down"]\n' + "".join(
        f'[[labels]]\nname = "{label}"\ngroups = {{ "Up/Down" = "{group}" }}\n'
        for label, group in (("joy", "up"), ("love", "up"), ("anger", "down"), ("fear", "down"))
    )
    (tmp_path / "odd.toml").write_text(text, encoding="utf-8")
    for name, seed in (("a", 1), ("b", 2)):
        rng = np.random.default_rng(seed)
        rows = [
            f"so {rng.choice(WORDS[label])} {seed} {k},{label}\n"
            for k in range(15)
            for label in ("joy", "love", "anger", "fear")
        ]
        (tmp_path / f"{name}.csv").write_text("text,labels\n" + "".join(rows), encoding="utf-8")
    run("train", "text", "a.csv", "--dev", "b.csv", "--out", "m", "--taxonomy", "odd.toml",
        "--figures", "f", "--report", "r")  # fmt: skip
    assert TextClassifier.load("m").tuning.keys() == {"", "Up/Down"}
    assert len(list((tmp_path / "f").glob("reliability-up_down-*.png"))) == 1
    assert len(list((tmp_path / "r/tables").glob("per_up_down-*.csv"))) == 1


def test_without_dev_it_says_that_nothing_is_chosen(run: Run) -> None:
    done = run(*TRAIN)
    assert "labels are chosen from probability 0.5 on" in done.err
    assert "cross-fitted" not in done.out


def test_a_test_split_and_seen_texts_are_warned_of(run: Run, tmp_path: Path) -> None:
    (tmp_path / "test.tsv").write_bytes((tmp_path / "dev.tsv").read_bytes())
    assert "warning: calibration and" in run(*TRAIN, "--dev", "test.tsv").err
    # It says so when quiet, too, and the model keeps it.
    said = run(*TRAIN, "--dev", "test.tsv", "--quiet").err
    assert "use a dev split" in " ".join(said.split())
    assert "use a dev split" in (tmp_path / "model/README.md").read_text(encoding="utf-8")
    assert "use a dev split" in TextClassifier.load("model").training["warnings"][0]
    again = json.loads(run(*TRAIN, "--dev", "train.tsv", "--json").out)["warnings"]
    assert len(again) == 1
    assert "were seen in training" in again[0]


def test_shares_of_raters(run: Run, tmp_path: Path) -> None:
    """Four raters split three to one over each text."""
    head = "stimulus,rater,label,value,text\n"
    rows = [
        f"s{k},r{r},{label},{int((label == 'joy') == (r > 0))},so happy {k % 3}\n"
        for k in range(30)
        for r in range(4)
        for label in ("joy", "fear")
    ]
    (tmp_path / "people.csv").write_text(head + "".join(rows), encoding="utf-8")
    run("train", "text", "people.csv", "--out", "soft", "--soft", "--taxonomy", "ekman",
        "--set", "cost=100.0")  # fmt: skip
    done = run("train", "text", "people.csv", "--dev", "people.csv", "--out", "tuned", "--soft",
               "--taxonomy", "ekman", "--set", "cost=100.0")  # fmt: skip
    assert "half of the raters or more" in " ".join(done.out.split())
    assert "half of the raters or more" in (tmp_path / "tuned/README.md").read_text("utf-8")
    probabilities = TextClassifier.load("tuned").predict_proba(["so happy 1"])
    assert probabilities[0, 3] == pytest.approx(0.75, abs=0.05)
    meta = json.loads((tmp_path / "soft/model.json").read_text(encoding="utf-8"))
    assert meta["training"]["soft"] is True
    assert meta["training"]["texts_per_label"]["joy"] == pytest.approx(22.5)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--backend", "linaer"], ["unknown back end 'linaer'", "'linear'"]),
        (["--set", "costs=1"], ["unknown setting 'costs'; did you mean 'cost'", "pairs"]),
        (["--set", "pairs=no"], ["pairs = 'no': expected true or false"]),
        (["--set", "levels=sentiment"], ["levels = 'sentiment': expected a list"]),
        (["--set", "seed=3"], ["'seed' has an option of its own; expected --seed 3"]),
        (["--set", "taxonomy=ekman"], ["expected --taxonomy ekman"]),
        (["--set", "max_epochs=0"], ["max_epochs = 0: expected a whole number from 1 on"]),
        (["--set", "tolerance=abc"], ["tolerance = 'abc': expected a number above 0 and finite"]),
        (["--set", "pairs=true", "--set", "pairs=false"], ["'pairs' is given twice"]),
        (["--soft", "--config", "agree=2"], ["agree", "--soft"]),
        (["--set", "cost"], ["--set: 'cost'", "NAME=VALUE"]),
        (["--level", "ekmann"], ["unknown level 'ekmann'", "'ekman'"]),
        (["--taxonomy", "mikels"], ["mikels"]),
        (["--dev", "none.tsv"], ["none.tsv", "no such file"]),
        (["--config", "agree=most"], ["most", "agree"]),
        (["--figures", "f"], ["--dev"]),
        (["--report", "r"], ["--report", "--dev"]),
        (["--dev", "dev.tsv", "--report", "dev.tsv/r"], ["dev.tsv is a file", "report"]),
        (["--out", "train.tsv"], ["train.tsv is a file"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_bad_input_is_one_sentence(run: Run, options: list[str], words: list[str]) -> None:
    done = run(*TRAIN, *options, "--quiet", code=2)
    assert done.err.startswith("affectlab: ")
    assert done.err.count("\n") == 1
    for word in words:
        assert word in done.err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("text,labels\nso happy,joy\n,fear\n", "row 2: the text is empty"),
        ("text,labels\nso happy,joy\nso,hapy\n", "row 2: unknown label 'hapy'"),
        ("text,labels\nso happy,joy\nso,28\n", "label number 28 is out of range"),
        ("text,label\nso happy,joy\n", "there is no column 'labels', only 'text' and 'label'"),
        ("comment,labels\nso happy,joy\n", "expected the columns 'text' and 'labels'"),
    ],
)
def test_bad_files_are_one_sentence(run: Run, tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "bad.csv").write_text(text, encoding="utf-8")
    done = run("train", "text", "bad.csv", "--out", "m", "--taxonomy", "goemotions", code=2)
    assert words in done.err
    assert done.err.count("\n") == 1
