"""``affectlab evaluate preference-metrics`` and ``preference --show verdicts``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.cli.command import Done, run_here

SCALE = ("--scale", "nominal:A,B,both,neither")
VERBS = {"metrics": ["preference-metrics"], "verdicts": ["preference", "--show", "verdicts"]}
PUBLISHED = "machine=91,human=233,both good=47,both bad=11"


def run(verb: str, *arguments: object, code: int = 0) -> Done:
    return run_here("evaluate", *VERBS[verb], *arguments, code=code)


def flat(text: str) -> str:
    return " ".join(text.replace("\u00a0", " ").split())


def result(verb: str, *arguments: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(verb, *arguments, "--json").stdout)["result"]
    return found


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """Judgements of three judges, what the items are about, and scores of two metrics."""
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("study")
    judged = ["stimulus,rater,value"]
    items = ["stimulus,A,B,pair,emotion,source"]
    scores = ["item,metric,score,n_tokens"]
    for k in range(180):
        liked = rng.normal()
        a, b = ("machine", "human") if rng.random() < 0.5 else ("human", "machine")
        emotion, source = rng.choice(["sad", "hopeful"]), rng.choice(["bbc", "guardian"])
        items.append(f"item{k},{a},{b},p{k // 2},{emotion},{source}")
        for judge in range(3):
            drawn = liked + 0.6 * rng.normal() - 0.4
            side = "A" if (drawn > 0) == (a == "machine") else "B"
            said = "both" if abs(drawn) < 0.15 else "neither" if rng.random() < 0.1 else side
            judged.append(f"item{k},j{judge},{said}")
        scores.append(f"item{k},sees,{liked + rng.normal():.4f},{k}")
        scores.append(f"item{k},blind,{rng.normal():.4f},{k}")
    files = [folder / name for name in ("judged.csv", "items.csv", "scores.csv")]
    for file, lines in zip(files, (judged, items, scores), strict=True):
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return files[0], files[1], files[2]


def test_published_counts_with_the_items_that_were_judged() -> None:
    text = flat(run("verdicts", PUBLISHED, "--sampled", 500).stdout)
    assert (
        "human is preferred 2.56 times as often as machine (233 to 91; interval 2.00 to 3.30)"
        in text
    )
    assert "machine is good on 138 of 382 items with a verdict (36.1 %" in text
    assert "118 of 500 items have no verdict" in text
    shares = result("verdicts", PUBLISHED, "--sampled", 500)["verdict_shares"]
    rows = {(row["measure"], row["of_what"]): row for row in shares}
    assert rows["ratio", "human to machine"]["value"] == pytest.approx(233 / 91)
    assert rows["decided", "items"]["count"] == 382
    assert "sampled 100" in flat(run("verdicts", PUBLISHED, "--sampled", 100, code=2).stderr)
    # Where counts are not known to be of items, nothing is said of verdicts: 30 people who look at
    # 30 pictures make 900 votes, not 900 items.
    votes = run_here("evaluate", "preference", "rank=487,plain=242,indistinct=171")
    assert "items with a verdict" not in votes.stdout
    assert "items have no verdict" not in votes.stdout


def test_which_metric_sees_it(study: tuple[Path, Path, Path], tmp_path: Path) -> None:
    judged, items, scores = study
    options = (judged, *SCALE, "--stimuli", items, "--scores", scores, "--by", "emotion,source")
    areas, figures = tmp_path / "areas.csv", tmp_path / "figures"
    told = result("metrics", *options, "--n-boot", 200, "--out", areas, "--figures", figures)
    about = told["settings"]
    rows = {(row["metric"], row["by"], row["group"]): row for row in told["areas"]}
    assert rows["sees", "", "all"]["verdict"] == "sees"
    assert rows["blind", "", "all"]["verdict"] == "does not show that it sees"
    assert len(rows) == 10
    assert about["cluster"] == "pair"
    assert about["n_clusters"] <= 90
    assert about["system"] == "machine"
    groups = {"machine", "human", "both", "good", "poor", "good less poor"}
    assert groups == {row["group"] for row in told["means"]}
    assert told["differences"][0]["verdict"] == "sees sees more"
    kept = about["n_good"] + about["n_poor"] + sum(about["set_aside"].values())
    assert kept == 180
    written = pl.read_csv(areas)
    assert written.height == 10
    assert written["value"][0] == pytest.approx(rows["sees", "", "all"]["value"])
    names = {path.name for path in figures.glob("*.svg")}
    assert {
        "preference_metrics.svg",
        "preference_metrics_by_emotion.svg",
        "preference_metrics_by_source.svg",
    } <= names
    shares = result("verdicts", judged, *SCALE, "--stimuli", items)["verdict_shares"]
    decided = {row["measure"]: row for row in shares}["decided"]
    assert decided["of"] == 180
    text = run("metrics", *options, "--n-boot", 200).stdout
    assert max(map(len, text.splitlines())) <= 100
    said = flat(text)
    assert "Which metric sees what people prefer?" in said
    assert "sees: AUC 0." in said
    assert "blind: AUC 0." in said
    assert "does not show that it sees what people prefer" in said
    assert "groups of items that share a pair" in said
    assert "By emotion; the interval holds for all 4 areas at once" in said


def test_votes_margins_and_systems(study: tuple[Path, Path, Path]) -> None:
    judged, items, scores = study
    options = (judged, *SCALE, "--stimuli", items, "--scores", scores, "--n-boot", 100)
    of_votes = result("metrics", *options, "--unit", "vote")["settings"]
    assert of_votes["unit"] == "vote"
    assert of_votes["n_good"] + of_votes["n_poor"] + sum(of_votes["set_aside"].values()) == 540
    wide = result("metrics", *options, "--margin", 0.3)["areas"]
    verdict = {row["metric"]: row["verdict"] for row in wide}
    assert verdict["blind"] == "sees no more than the margin"
    other = result("metrics", *options, "--system", "human")
    assert other["settings"]["system"] == "human"
    assert other["areas"][0]["value"] < 0.5


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--scores", "{folder}/none.csv"], "no such file"),
        (["--scores", "{judged}"], "column 'item' is missing"),
        (["--scores", "{scores}", "--by", "mood"], "nothing says the 'mood'"),
        (["--scores", "{scores}", "--cluster", "story"], "nothing says the 'story'"),
        (["--scores", "{scores}", "--margin", "0.7"], "margin = 0.7"),
        (["--scores", "{scores}", "--systems", "human,gpt"], "unknown system 'gpt'"),
        (["--scores", "{scores}", "--system", "gpt"], "unknown system 'gpt'"),
    ],
)
def test_bad_input_is_one_sentence(
    options: list[str], words: str, study: tuple[Path, Path, Path]
) -> None:
    judged, items, scores = study
    given = [part.format(folder=judged.parent, judged=judged, scores=scores) for part in options]
    done = run("metrics", judged, *SCALE, "--stimuli", items, *given, code=2)
    assert done.stdout == ""
    assert words in flat(done.stderr)
    assert "Traceback" not in done.stderr


def test_items_without_any_verdict_are_said(tmp_path: Path) -> None:
    file = tmp_path / "tied.csv"
    rows = [f"i{k},j{judge},{'AB'[judge]},human,model" for k in range(5) for judge in range(2)]
    file.write_text("stimulus,rater,value,A,B\n" + "\n".join(rows) + "\n", encoding="utf-8")
    assert "no item has a verdict" in run("verdicts", file, *SCALE, code=2).stderr


def test_verdicts_of_a_pair_go_together(study: tuple[Path, Path, Path]) -> None:
    judged, items, _ = study
    given = ("verdicts", judged, *SCALE, "--stimuli", items)
    assert "jackknife over clusters; decided: Wilson interval" in flat(run(*given).stdout)
    assert "share of two" in flat(run(*given, "--n-boot", 0).stdout)
    assert "sampled 20: there are 180 items" in flat(run(*given, "--sampled", 20, code=2).stderr)
