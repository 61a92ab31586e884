"""``affectlab evaluate soft-labels``, run as a user runs it, and the guide that shows it."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from affectlab.cli import main

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "classifier"
GUIDE = ROOT / "docs" / "howto" / "soft-labels.md"
HARD = ("people.csv", "--models", "gentle.csv", "--models", "harsh.csv", "--taxonomy", "mikels")
SOFT = ("people.csv", "--models", "spread.csv", "--models-scale", "0-1 interval")


@dataclass
class Done:
    stdout: str
    stderr: str


class Run:
    """Runs ``affectlab evaluate soft-labels`` in this process, in the folder of the examples."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, *arguments: str | Path, code: int = 0) -> Done:
        with pytest.raises(SystemExit) as ended:
            main(["evaluate", "soft-labels", *map(str, arguments)])
        done = Done(*self.capsys.readouterr())
        assert (ended.value.code or 0) == code, done.stderr
        return done

    def result(self, *arguments: str | Path) -> dict[str, Any]:
        content = json.loads(self(*arguments, "--json").stdout)
        assert content["schema"] == "affectlab/evaluate-soft-labels/1"
        return content["result"]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(EXAMPLES)
    monkeypatch.setenv("COLUMNS", "100")
    return Run(capsys)


def value(rows: list[dict[str, Any]], **keys: str) -> float:
    (row,) = [row for row in rows if all(row[key] == wanted for key, wanted in keys.items())]
    return row["value"]


def test_models_that_name_one_label(run: Run, tmp_path: Path) -> None:
    to, figures = tmp_path / "out", tmp_path / "figures"
    options = ("--n-boot", "50", "--out", to, "--figures", figures)
    found = run.result(*HARD, *options)
    # By hand: gentle is right where people agree, and W - 1 away otherwise.
    metrics, comparison = (found[name] for name in ("metrics", "comparison"))
    distance = value(metrics, rater="gentle", metric="earth_movers_distance")
    assert distance < value(metrics, rater="harsh", metric="earth_movers_distance")
    assert {row["role"] for row in metrics} == {"model", "people", "baseline"}
    assert {row["against"] for row in comparison if row["rater"] == "gentle"} == {
        *("a person against the others", "half the people against half"),
        *("mean of all stimuli", "harsh"),
    }
    assert "calibration" not in found
    assert len(found["sentences"]) == 2
    assert all("it claims no probabilities" in sentence for sentence in found["sentences"])
    assert pl.read_csv(to / "metrics.csv").height == len(metrics)
    written = pl.read_csv(to / "shares.csv")
    assert written.height == 72 * 8
    assert written.group_by("stimulus").agg(pl.col("share").sum())["share"].to_list() == (
        pytest.approx([1.0] * 72)
    )
    assert {path.name for path in figures.glob("*.png")} == {
        *("soft_labels_jensen_shannon.png", "soft_labels_earth_movers_distance.png"),
        "soft_labels_cross_entropy.png",
    }


def test_distance_is_that_of_the_plain_sum(run: Run) -> None:
    found = run.result(
        "people.csv", "--models", "gentle.csv", "--n-boot", "0", "--metrics", "brier"
    )
    people = pl.read_csv(EXAMPLES / "people.csv")
    said = dict(pl.read_csv(EXAMPLES / "gentle.csv").iter_rows())
    total = []
    for (image,), rows in people.group_by("image"):
        share = dict(rows["answer"].value_counts(normalize=True).iter_rows())
        names = {*share, said[image]}
        total.append(sum((share.get(k, 0.0) - (k == said[image])) ** 2 for k in names))
    metrics = found["metrics"]
    assert value(metrics, rater="gentle", metric="brier") == pytest.approx(np.mean(total))


def test_models_that_score_each_label(run: Run, tmp_path: Path) -> None:
    figures = tmp_path / "figures"
    found = run.result(*SOFT, "--taxonomy", "mikels", "--n-boot", "50", "--figures", figures)
    named = {(row["rater"], row["metric"]) for row in found["calibration_metrics"]}
    assert named >= {("spread", name) for name in ("ece", "overconfidence", "brier")}
    assert sum(row["n"] for row in found["bins"]) == 72
    assert "half of the people (2) judged by the other half" in found["sentences"][0]
    assert (figures / "reliability_spread.svg").stat().st_size > 0
    text = run(*SOFT, "--n-boot", "0", "--by-person", "--truth", "majority").stdout
    assert "Surer than right" in text
    # The labels are those of a wheel, so their distances are known without being told.
    assert "No earth mover's distance" not in text
    assert "earth_movers_distance" in {row["metric"] for row in found["metrics"]}
    assert " anna " in text
    assert max(map(len, text.splitlines())) <= 100


def test_people_alone(run: Run, tmp_path: Path) -> None:
    done = run("people.csv", "--out", tmp_path / "spread")
    assert "000.jpg   fear 50\u00a0%, anger 25\u00a0%, sadness 25\u00a0%" in done.stdout
    assert pl.read_csv(tmp_path / "spread" / "shares.csv").height == 72 * 8
    found = run.result("people.csv")
    assert found["settings"]["n_stimuli"] == 72
    assert len(found["shares"]) == 72 * 8


def test_intensities_and_a_matrix_of_costs(run: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = ["stimulus,rater,good,bad,flat"]
    rows += [
        f"s{k},{name},{','.join(map(str, rng.integers(0, 8, 3)))}"
        for k in range(12)
        for name in ("ann", "ben", "cy")
    ]
    people, model = tmp_path / "people.csv", tmp_path / "net.csv"
    people.write_text("\n".join(rows) + "\n", encoding="utf-8")
    rows = ["stimulus,good,bad,flat"]
    rows += [f"s{k},{','.join(f'{v:.2f}' for v in rng.uniform(0, 7, 3))}" for k in range(12)]
    model.write_text("\n".join(rows) + "\n", encoding="utf-8")
    options = ("--scale", "0-7", "--wide", "labels", "--costs", "moods_costs.csv", "--n-boot", "20")
    found = run.result(people, "--models", model, *options)
    assert found["settings"]["rule"].startswith("mean intensity")
    assert 0 < value(found["metrics"], rater="net", metric="earth_movers_distance") < 7
    top = run.result(people, "--models", model, *options, "--rule", "top")
    assert top["settings"]["rule"].startswith("share of the raters for whom")


def test_scores_that_add_up_to_one_are_probabilities(run: Run) -> None:
    given = ("people.csv", "--models", "spread.csv", "--n-boot", "20")
    declared = run.result(*given, "--models-scale", "0-1 interval")
    assert run.result(*given)["metrics"] == declared["metrics"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((*HARD, "--metrics", "emd"), "unknown metric 'emd'"),
        ((*HARD, "--costs", "wheel"), "unknown kind of cost matrix 'wheel'"),
        ((*HARD, "--rule", "intensity"), "these answers have no order"),
        ((*HARD, "--labels", "joy"), "unknown label 'joy'"),
    ],
)
def test_bad_input_is_one_sentence(run: Run, arguments: tuple[str, ...], words: str) -> None:
    done = run(*arguments, code=2)
    assert done.stdout == ""
    assert words in " ".join(done.stderr.split())


def test_control_runs_are_left_out(run: Run, tmp_path: Path) -> None:
    gentle = pl.read_csv("gentle.csv")
    models = pl.concat(
        [
            gentle.with_columns(rater=pl.lit("gentle"), control=pl.lit(None, pl.String)),
            gentle.with_columns(rater=pl.lit("gentle-blind"), control=pl.lit("no_image")),
        ]
    )
    file = tmp_path / "models.csv"
    models.with_columns(of=pl.when(pl.col("control") == "no_image").then(pl.lit("gentle"))).rename(
        {"control": "rater_control", "of": "rater_of"}
    ).write_csv(file)
    found = run.result("people.csv", "--models", file, "--n-boot", "0")
    models = {row["rater"] for row in found["metrics"] if row["role"] == "model"}
    assert models == {"gentle"}
    assert found["notes"] == ["1 control run not judged: gentle-blind"]


# -- the guide ----------------------------------------------------------------------------------


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)


def commands() -> list[str]:
    lines = [line for block in blocks("sh") for line in block.splitlines() if line]
    return [line for line in lines if line.startswith("affectlab evaluate soft-labels")]


def test_outputs_of_the_guide_are_real(run: Run, tmp_path: Path) -> None:
    assert len(GUIDE.read_text(encoding="utf-8").splitlines()) <= 120
    printed = ""
    for line in commands():
        words = [
            str(tmp_path / word) if before in ("--figures", "--out") else word
            for before, word in zip(["", *shlex.split(line)], shlex.split(line), strict=False)
        ]
        printed += run(*words[3:]).stdout
    rows = {" ".join(row.split()) for row in printed.splitlines()}
    said = " ".join(printed.split())
    for block in blocks("text"):
        for row in filter(None, block.splitlines()):
            plain = " ".join(row.split())
            assert plain in rows or plain.removeprefix("- ") in said, row
