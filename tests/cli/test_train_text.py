"""``affectlab train text``, run as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from affectlab.cli import main

WORDS = {
    "joy": ["happy", "glad", "yay"],
    "love": ["love", "adore"],
    "anger": ["hate", "furious"],
    "fear": ["scared", "afraid"],
    "neutral": ["table", "monday"],
}
GOEMOTIONS = {"joy": 17, "love": 18, "anger": 2, "fear": 14, "neutral": 27}


def posts(path: Path, n: int, seed: int) -> Path:
    """Write posts whose words say the label, in the form of the published splits."""
    rng = np.random.default_rng(seed)
    lines = []
    for row in range(n):
        label = list(WORDS)[rng.integers(5)]
        words = [
            *rng.choice(["the", "a", "of", "we", "it", "is", "to", "on"], 5),
            *rng.choice(WORDS[label], 2),
        ]
        rng.shuffle(words)
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


TRAIN = ("train", "text", "train.tsv", "--out", "model", "--set", "cost=5.0")


def test_a_model_with_its_card_and_thresholds(run: Run, tmp_path: Path) -> None:
    done = run(*TRAIN, "--dev", "dev.tsv", "--figures", "figures")
    assert "model: linear, trained on 200 texts of train.tsv" in done.out
    assert "On dev.tsv (100 texts), cross-fitted" in done.out
    for words in ("labels", "ekman", "sentiment", "macro F1", "joy", "a threshold for each label"):
        assert words in done.out
    files = {path.name for path in (tmp_path / "model").iterdir()}
    assert {"README.md", "model.json", "thresholds.toml", "thresholds-ekman.toml"} <= files
    assert "200 texts of train.tsv" in (tmp_path / "model/README.md").read_text(encoding="utf-8")
    assert {path.name for path in (tmp_path / "figures").iterdir()} >= {"reliability-labels.png"}


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
        *("--level", "sentiment", "--thresholds", "global", "--calibration", "isotonic"),
        *("--at-least-one", "--name", "mine", "--quiet", "--seed", "3"),
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


def test_without_dev_it_says_that_nothing_is_chosen(run: Run) -> None:
    done = run(*TRAIN)
    assert "labels are chosen from probability 0.5 on" in done.err
    assert "cross-fitted" not in done.out


def test_a_test_split_and_seen_texts_are_warned_of(run: Run, tmp_path: Path) -> None:
    (tmp_path / "test.tsv").write_bytes((tmp_path / "dev.tsv").read_bytes())
    assert "use a dev split" in run(*TRAIN, "--dev", "test.tsv").err
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
    meta = json.loads((tmp_path / "soft/model.json").read_text(encoding="utf-8"))
    assert meta["training"]["soft"] is True
    assert meta["training"]["texts_per_label"]["joy"] == pytest.approx(22.5)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--backend", "linaer"], ["unknown back end 'linaer'", "'linear'"]),
        (["--set", "costs=1"], ["costs"]),
        (["--set", "cost"], ["--set: 'cost'", "KEY=VALUE"]),
        (["--level", "ekmann"], ["unknown level 'ekmann'", "'ekman'"]),
        (["--taxonomy", "mikels"], ["mikels"]),
        (["--dev", "none.tsv"], ["none.tsv", "no such file"]),
        (["--agree", "most"], ["--agree: 'most'"]),
        (["--figures", "f"], ["--dev"]),
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
    ],
)
def test_bad_files_are_one_sentence(run: Run, tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "bad.csv").write_text(text, encoding="utf-8")
    done = run("train", "text", "bad.csv", "--out", "m", "--taxonomy", "goemotions", code=2)
    assert words in done.err
    assert done.err.count("\n") == 1
