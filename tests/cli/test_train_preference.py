"""``affectlab train preference``, run as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.cli.command import Done, run_here
from tests.models.tiny_text_models import save_bart

from affectlab.models.preference_metric import PreferenceMetric, TunedBartScore

SCALE = ("--scale", "nominal:A,B,both,neither")
WARM, COLD = "they feel warm inside and at home", "a thing is a thing"


def run(*arguments: object, code: int = 0) -> Done:
    return run_here("train", "preference", *arguments, code=code)


def flat(text: str) -> str:
    return " ".join(text.replace("\u00a0", " ").split())


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("study")
    lines: dict[str, list[str]] = {
        "judged": ["stimulus,rater,value"],
        "items": ["stimulus,A,B,pair"],
        "texts": ["stimulus,text,option_a,system_a,option_b,system_b"],
        "scores": ["item,metric,score"],
    }
    for k in range(80):
        warm = rng.random() < 0.45
        a, b = ("model", "human") if rng.random() < 0.5 else ("human", "model")
        of = {"model": WARM if warm else COLD, "human": COLD if warm else WARM}
        lines["items"].append(f"i{k},{a},{b},p{k // 2}")
        lines["texts"].append(f"i{k},the sea {k // 2},{of[a]} {k},{a},{of[b]} {k},{b}")
        chosen = "model" if warm else "human"
        for judge in range(3):
            said = "A" if chosen == a else "B"
            lines["judged"].append(f"i{k},j{judge},{said if rng.random() < 0.9 else 'both'}")
        lines["scores"].append(f"i{k},one,{1.5 * warm + rng.normal():.4f}")
        lines["scores"].append(f"i{k},two,{warm + rng.normal():.4f}")
    files = {}
    for name, rows in lines.items():
        files[name] = folder / f"{name}.csv"
        files[name].write_text("\n".join(rows) + "\n", encoding="utf-8")
    return files


def test_metrics_are_weighed(study: dict[str, Path], tmp_path: Path) -> None:
    given = (study["judged"], *SCALE, "--stimuli", study["items"], "--scores", study["scores"])
    options = (
        "--config",
        "folds=4",
        "--config",
        "repeats=2",
        "--config",
        "n_boot=100",
        "--table",
        tmp_path / "areas.csv",
    )
    text = run(*given, *options, "--out", tmp_path / "metric").stdout
    assert max(map(len, text.splitlines())) <= 100
    said = flat(text)
    assert "Items that share a pair are never parted" in said
    assert pl.read_csv(tmp_path / "areas.csv")["method"].to_list() == [
        "learned",
        "best single metric",
        "difference",
    ]
    done = run(*given, *options, "--out", tmp_path / "metric", "--json", "--name", "mine")
    found: dict[str, Any] = json.loads(done.stdout)["result"]
    assert found["areas"][0]["value"] > 0.6
    assert found["cluster"] == "pair"
    assert found["settings"]["folds"] == 4
    metric = PreferenceMetric.load(tmp_path / "metric")
    assert metric.name == "mine"
    assert metric.score_items(study["scores"]).height == 80
    weighed = tmp_path / "learned.csv"
    metric.score_items(study["scores"]).write_csv(weighed)
    again = run_here(
        "evaluate", "preference-metrics", study["judged"], *SCALE, "--stimuli", study["items"],
        "--scores", weighed, "--config", "n_boot=50",
    )  # fmt: skip
    assert "mine: AUC 0." in flat(again.stdout)


@pytest.mark.long
def test_a_bart_is_tuned(study: dict[str, Path], tmp_path: Path) -> None:
    bart = save_bart(tmp_path / "bart", layers=1, width=16)
    given = (study["judged"], *SCALE, "--stimuli", study["items"], "--texts", study["texts"])
    options = (
        *(
            "--model",
            bart,
            "--examples",
            "16",
            "--config",
            "folds=2",
            "--config",
            "n_boot=50",
            "--config",
            "device=cpu",
        ),
        *("--set", "epochs=3", "--set", "learning_rate=3e-3", "--out", tmp_path / "tuned"),
    )
    done = run(*given, *options, "--json")
    found: dict[str, Any] = json.loads(done.stdout)["result"]
    assert [row["examples"] for row in found["curve"]] == [0, 16]
    assert found["curve"][1]["accuracy"] > 0.8
    assert found["cluster"] == "pair"
    metric = TunedBartScore.load(tmp_path / "tuned", device="cpu")
    assert metric.name == "tuned"
    warm, cold = metric.score([WARM, COLD], ["the sea", "the sea"])
    assert warm > cold
    text = flat(run(*given, *options).stdout)
    assert "tuned on 16 pairs" in text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "either --scores FILE to weigh metrics, or --model NAME to tune"),
        (["--scores", "{scores}", "--model", "x"], "either --scores FILE"),
        (["--scores", "{scores}", "--texts", "{texts}"], "--texts is for --model"),
        (["--scores", "{scores}", "--set", "depth=3"], "unknown setting 'depth'"),
        (["--scores", "{scores}", "--set", "cs=few"], "is not understood"),
        (["--scores", "{scores}", "--set", "inner_folds=0"], "'inner_folds' parameter"),
        (["--scores", "{scores}", "--config", "folds=70"], "too few for 70 folds"),
        (["--scores", "{scores}", "--config", "cluster=story"], "nothing says the 'story'"),
        (["--scores", "{scores}", "--config", "system=gpt"], "unknown system 'gpt'"),
        (["--model", "./none"], "do not hold the texts"),
        (["--model", "./none", "--texts", "{texts}x"], "no such file"),
        (["--model", "./none", "--texts", "{texts}"], "./none: no such folder"),
        (["--model", "./none", "--texts", "{texts}", "--examples", "few"], "--examples: 'few'"),
        (["--model", "./none", "--texts", "{texts}", "--set", "batch_size=3"], "'batch_size'"),
        (
            ["--model", "./none", "--texts", "{texts}", "--config", "context=story"],
            "'story' is missing",
        ),
        (["--model", "./none", "--texts", "{scores}"], "'i0' stands twice"),
        (["--model", "./none", "--texts", "{judged}"], "stands twice"),
        (["--model", "./none", "--texts", "{items}"], "column 'text' is missing"),
    ],
)
def test_bad_input_is_one_sentence(
    options: list[str], words: str, study: dict[str, Path], tmp_path: Path
) -> None:
    given = [part.format(**study) for part in options]
    done = run(
        study["judged"], *SCALE, "--stimuli", study["items"], *given, "--out", tmp_path / "m",
        code=2,
    )  # fmt: skip
    assert done.stdout == ""
    assert words in flat(done.stderr)
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "m" / "model.json").exists()


def test_a_folder_with_other_files_is_kept(study: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep me")
    done = run(
        study["judged"], *SCALE, "--stimuli", study["items"], "--scores", study["scores"], "--out",
        tmp_path, code=2,
    )  # fmt: skip
    assert "holds other files" in flat(done.stderr)
    assert (tmp_path / "mine.txt").read_text() == "keep me"
