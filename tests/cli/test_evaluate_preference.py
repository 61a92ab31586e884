"""``affectlab evaluate preference``, run as a user runs it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.command import Done, run_here

SCALE = ("--scale", "nominal:A,B,both,neither")


def run(*arguments: str | Path, verb: str = "preference", code: int = 0) -> Done:
    return run_here("evaluate", *verb.split(), *arguments, code=code)


def result(*arguments: str | Path, verb: str = "preference") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(*arguments, "--json", verb=verb).stdout)
    return found


def write(file: Path, systems: tuple[str, ...], items: int = 40, judges: int = 6) -> Path:
    """Write judgements in which the first system is better, and the last worst."""
    rng = np.random.default_rng(0)
    rows = ["item,judge,answer,A,B,left"]
    for item in range(items):
        a, b = rng.choice(len(systems), 2, replace=False)
        for judge in range(judges):
            first = rng.random() < 1 / (1 + np.exp(1.2 * (a - b)))
            choice = "both" if rng.random() < 0.1 else "A" if first else "B"
            left = "AB"[rng.integers(0, 2)]
            rows.append(f"pair{item},j{judge},{choice},{systems[a]},{systems[b]},{left}")
    file.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return file


@pytest.fixture
def judgements(tmp_path: Path) -> Path:
    return write(tmp_path / "judgements.csv", ("human", "model"))


def test_published_counts() -> None:
    text = run("human=707,model=292").stdout.replace("\u00a0", " ")
    assert "human is preferred to model: 707 of 999 decided votes (70.8 %" in text
    assert "67.8 to 73.6 %" in text
    found = result("rank=487,plain=242,undecided=171")["result"]["shares"]
    assert [(row["choice"], row["count"]) for row in found[:3]] == [
        ("rank", 487),
        ("plain", 242),
        ("undecided", 171),
    ]


def test_a_study_with_its_figures(judgements: Path, tmp_path: Path) -> None:
    to, folder = tmp_path / "shares.csv", tmp_path / "figures"
    content = result(judgements, *SCALE, "--out", to, "--figures", folder)
    assert content["schema"] == "affectlab/evaluate-preference/1"
    found = content["result"]
    rows = {(r["about"], r["choice"]): r for r in found["shares"]}
    assert rows["votes", "human"]["of"] == 240
    assert rows["decided votes", "human"]["low"] > 0.5
    assert rows["side", "left"]["p"] > 0.001
    assert len(found["verdicts"]) == 40
    assert found["agreement"][0]["status"] == "ok"
    assert len(to.read_text(encoding="utf-8").splitlines()) == 1 + len(found["shares"])
    assert {path.name for path in folder.glob("*.svg")} == {
        "preference.svg",
        "preference_by_item.svg",
    }
    text = run(judgements, *SCALE).stdout
    assert max(map(len, text.splitlines())) <= 100
    said = content["result"]["sentences"][0].replace("\u00a0", " ")
    assert said in " ".join(text.replace("\u00a0", " ").split())


def test_more_than_two_systems_get_a_scale(tmp_path: Path) -> None:
    file = write(tmp_path / "arena.csv", ("human", "large", "small"), items=60)
    options = ("--figures", tmp_path / "figures", "--out", tmp_path / "scale.csv")
    found = result(file, *SCALE, *options, verb="preference --show scale")["result"]
    assert [row["system"] for row in found["scale"]] == ["human", "large", "small"]
    assert len(found["pairs"]) == 3
    assert (tmp_path / "figures" / "preference_scale.png").stat().st_size > 0
    modelled = ("--ties", "davidson", "--position", "--target", "both")
    text = run(file, *SCALE, *modelled, verb="preference --show scale").stdout
    assert "human is strongest" in text
    assert "left one is chosen" in text
    assert "about other items and other judges" in text
    pair = result(file, *SCALE, "--systems", "human,small")["result"]["shares"]
    assert [row["choice"] for row in pair[:2]] == ["human", "small"]
    without = (file, *SCALE, "--target", "sample", "--config", "model=thurstone")
    probit = result(*without, verb="preference --show scale")["result"]
    assert 0 < probit["scale"][0]["value"] < found["scale"][0]["value"]
    assert "systems to name two" in run(file, *SCALE, code=2).stderr


def test_does_a_metric_see_it(judgements: Path, tmp_path: Path) -> None:
    judged = result(judgements, *SCALE)["result"]["verdicts"]
    verdicts = {row["item"]: row["verdict"] for row in judged}
    metric = tmp_path / "clip.csv"
    rows = [f"{item},{0.9 if said == 'model' else 0.2}" for item, said in verdicts.items()]
    metric.write_text("item,value\n" + "\n".join(rows) + "\n", encoding="utf-8")
    given = (judgements, *SCALE, "--models", metric, "--n-boot", "50")
    found = result(*given, verb="preference-metrics")["result"]["areas"]
    assert found[0]["metric"] == "clip"
    assert found[0]["value"] == 1.0
    assert "clip: AUC 1.00" in run(*given, verb="preference-metrics").stdout
    done = run(judgements, *SCALE, verb="preference-metrics", code=2)
    assert "--scores scores.csv or --models" in done.stderr


def test_a_metric_that_shows_nothing_is_not_called_blind(tmp_path: Path) -> None:
    judged, metric = tmp_path / "judged.csv", tmp_path / "clip.csv"
    rows = [f"i{k},j,{'human' if k % 2 else 'model'}" for k in range(40)]
    judged.write_text("stimulus,rater,value\n" + "\n".join(rows) + "\n", encoding="utf-8")
    values = [f"i{k},{k // 2}" for k in range(40)]
    metric.write_text("item,value\n" + "\n".join(values) + "\n", encoding="utf-8")
    given = (judged, "--scale", "nominal:human,model,both", "--models", metric, "--n-boot", "50")
    text = " ".join(run(*given, verb="preference-metrics").stdout.split())
    assert "does not show that it sees what people prefer" in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["human=x"], "'human=x' is not understood"),
        (["a=1,a=2"], "not understood"),
        (["a=1"], "two systems"),
        (["{file}", *SCALE, "--systems", "human,gpt"], "unknown system 'gpt'"),
        (["{file}x", *SCALE], "{file}x"),
    ],
)
def test_bad_input_is_one_sentence(arguments: list[str], words: str, judgements: Path) -> None:
    done = run(*(part.format(file=judgements) for part in arguments), code=2)
    assert done.stdout == ""
    assert done.stderr.splitlines()[-1].startswith("affectlab: ")
    assert words.format(file=judgements) in done.stderr.replace("\n", " ")


def test_numbers_are_no_preferences(tmp_path: Path) -> None:
    file = tmp_path / "ratings.csv"
    file.write_text("stimulus,rater,value\na,r,3\n", encoding="utf-8")
    assert "nominal scale" in run(file, "--scale", "0-7", code=2).stderr


def test_the_published_counts_of_the_guide_are_real() -> None:
    guide = Path(__file__).resolve().parents[2] / "docs" / "howto" / "preference-study.md"
    shown, verdicts = re.findall(r"```text\n(.*?)```", guide.read_text(encoding="utf-8"), re.DOTALL)
    printed = run("human=707,model=292").stdout
    rows = {" ".join(row.split()) for row in printed.splitlines()}
    assert {" ".join(row.split()) for row in shown.splitlines()} <= rows
    counts = "machine=91,human=233,both good=47,both bad=11"
    printed = run(counts, "--sampled", "500", verb="preference --show verdicts").stdout
    assert " ".join(verdicts.split()) in " ".join(printed.split())
