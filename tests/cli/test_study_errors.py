"""``affectlab study init --protocol preference-errors``: from predictions to votes."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from PIL import Image
from tests.cli.command import run_here

from affectlab.ratings import Ratings
from affectlab.study import load_study
from affectlab.study.design.stimuli import stimuli_of

pytest.importorskip("sqlalchemy")
pytest.importorskip("fastapi")

N = 12
KIND = ("--protocol", "preference-errors")
BOTH = ("--models", "plain.csv", "--models", "rank.csv", "--taxonomy", "mikels")


def predictions(wrong: tuple[str, str]) -> dict[str, list[str]]:
    """Of twelve sad pictures nine got wrong in different ways, two alike, and one by one alone."""
    return {
        "plain": [wrong[0]] * 9 + ["fear", "fear", "sadness"],
        "rank": [wrong[1]] * 9 + ["fear", "fear", "fear"],
    }


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    names = [f"s{k:02d}" for k in range(N)]
    for k, name in enumerate(names):
        file = tmp_path / "pictures" / f"{name}.png"
        file.parent.mkdir(exist_ok=True)
        Image.new("RGB", (40, 30), (20 * k, 90, 200 - 10 * k)).save(file)
    pl.DataFrame(
        {"stimulus": names, "file": [f"pictures/{name}.png" for name in names], "label": "sadness"}
    ).write_csv("truth.csv")
    for model, labels in predictions(("awe", "anger")).items():
        pl.DataFrame({"stimulus": names, "prediction": labels}).write_csv(f"{model}.csv")
    return tmp_path


def draw(*more: str, code: int = 0) -> dict[str, object]:
    arguments = ("study", "init", "drawn.toml", *KIND, *BOTH, "--truth", "truth.csv", *more)
    done = run_here(*arguments, "--json", code=code)
    found: dict[str, object] = json.loads(done.stdout)
    return found


@pytest.mark.long
def test_from_predictions_to_votes(place: Path) -> None:
    answer = draw("--sample", "8", "--seed", "3")
    found = answer["result"]
    assert isinstance(found, dict)
    assert (found["n_judged"], found["n_wrong"]) == (12, [11, 12])
    assert (found["n_both_wrong"], found["n_different"], found["n_items"]) == (11, 9, 8)
    table = pl.read_csv("drawn-errors.csv")
    assert set(table["stimulus"]) <= {f"s{k:02d}" for k in range(9)}
    assert table["stimulus"].to_list() != sorted(table["stimulus"])
    assert (table["system_a"] == "plain").sum() == 4
    assert set(table["nearer"]) == {"rank"}

    run_here("stimuli", "review", "drawn-errors.csv", "--kind", "emotions", "--out", "review")
    assert load_study("review/review.toml").protocol.name == "review_emotions"
    left_out, open_one = table["stimulus"].to_list()[:2]
    rows = [
        (name, rater, label, int((label == "fine") != (name == left_out)))
        for name in table["stimulus"]
        for rater in ("ana", "ben")
        for label in ("fine", "no emotion")
        if (name, rater) != (open_one, "ben")
    ]
    names = ["stimulus", "rater", "label", "value"]
    pl.DataFrame(rows, schema=names, orient="row").write_csv("answers.csv")
    decide = ("stimuli", "review", "drawn-errors.csv", "--out", "review")
    said = run_here(*decide, "--answers", "answers.csv").stdout
    assert "6 kept, 1 left out, 1 undecided, of 8" in said

    kept = ("--items", "drawn-errors.csv", "--decisions", "review/decisions.csv", "--most", "5")
    said = run_here("study", "init", "errors.toml", *KIND, *kept, "--raters", "12").stdout
    assert "5 images of 8 kept" in said
    assert "1 image not settled by the review, and left out" in said
    study = load_study("errors.toml")
    assert study.protocol.routing.raters == 12
    shown = stimuli_of(study)
    assert [one.name for one in shown] == table["stimulus"].to_list()[2:7]
    for one in shown:
        assert {option.labels for option in one.options} == {("awe",), ("anger",)}
        assert one.files[0].read_bytes() == Path(f"pictures/{one.name}.png").read_bytes()

    run_here("study", "simulate", "errors.toml", "--people", 12, "--careless", 0)
    run_here("study", "export", "errors.toml", "--out", "votes")
    done = run_here(
        *("evaluate", "preference", "votes/ratings.parquet", "--figures", "figures", "--json")
    )
    result = json.loads(done.stdout)["result"]
    shares = {(row["about"], row["choice"]): row for row in result["shares"]}
    assert {choice for about, choice in shares if about == "decided items"} == {"plain", "rank"}
    votes = {choice: shares["votes", choice]["count"] for choice in ("plain", "rank", "indistinct")}
    assert sum(votes.values()) == 60
    # What was planted is found: simulated people lean to the label that costs less.
    assert votes["rank"] > votes["plain"]
    assert shares["items", "rank"]["count"] > shares["items", "plain"]["count"]
    assert 0 <= shares["decided items", "rank"]["p"] <= 1
    assert len(result["verdicts"]) == 5
    assert Path("figures/preference_by_item.svg").exists()


@pytest.mark.long
def test_what_is_planted_for_simulated_people(place: Path) -> None:
    draw("--sample", "9")
    run_here("study", "simulate", "drawn.toml", "--people", 2, "--careless", 0)
    truth = dict(pl.read_csv("drawn.affectlab/truth.csv").iter_rows())
    # The option of rank is nearer on all items.
    assert truth["rank"] == -truth["plain"] > 0


def test_without_models_it_works_as_it_is(place: Path) -> None:
    said = run_here("study", "init", "example.toml", *KIND).stdout
    assert "written: example-errors.csv" in said
    for one in stimuli_of(load_study("example.toml")):
        a, b = (option.labels[0] for option in one.options)
        assert one.attributes["truth"] not in (a, b)
        assert {option.system for option in one.options} == {"plain", "rank"}


def test_fewer_than_wanted_are_all_taken(place: Path) -> None:
    answer = draw()
    assert answer["result"]["n_items"] == 9  # type: ignore[index]
    assert "there are 9 such images, fewer than 50" in answer["warnings"]  # type: ignore[operator]


def test_one_image_is_one(place: Path) -> None:
    names = [f"s{k:02d}" for k in range(N)]
    for model, label in (("plain", "awe"), ("rank", "fear")):
        labels = [label] + ["sadness"] * (N - 1)
        pl.DataFrame({"stimulus": names, "prediction": labels}).write_csv(f"{model}.csv")
    assert "there is 1 such image, fewer than 50" in draw()["warnings"]  # type: ignore[operator]


def test_probabilities_and_decisions_by_cost(place: Path) -> None:
    for model, (first, second) in {"one": ("awe", "fear"), "two": ("awe", "anger")}.items():
        rows = [
            (f"s{k:02d}", model, label, value, int(label == second))
            for k in range(N)
            for label, value in ((first, 0.6), (second, 0.3), ("sadness", 0.1))
        ]
        names = ["stimulus", "rater", "label", "value", "chosen"]
        Ratings(
            pl.DataFrame(rows, schema=names, orient="row"),
            scale="0-1 interval",
            raters={"rater": [model], "rater_kind": ["model"]},
            taxonomy="mikels",
        ).write(f"{model}.parquet")
    models = ("--models", "one.parquet", "--models", "two.parquet", "--truth", "truth.csv")
    done = run_here("study", "init", "drawn.toml", *KIND, *models, code=2)
    assert "take each of these for the same class" in done.stderr.replace("\n", " ")
    run_here("study", "init", "drawn.toml", *KIND, *models, "--score", "chosen")
    table = pl.read_csv("drawn-errors.csv")
    assert table.height == N
    assert set(table["labels_a"]) | set(table["labels_b"]) == {"fear", "anger"}


def test_a_split_of_test_alone(place: Path) -> None:
    table = pl.read_csv("truth.csv")
    split = ["train"] * 6 + ["test"] * 6
    table.with_columns(split=pl.Series(split)).write_csv("truth.csv")
    answer = draw()
    assert answer["result"]["n_judged"] == 6  # type: ignore[index]
    assert set(pl.read_csv("drawn-errors.csv")["stimulus"]) == {"s06", "s07", "s08"}


def test_pictures_elsewhere(place: Path) -> None:
    (place / "studies").mkdir()
    arguments = ("study", "init", "studies/drawn.toml", *KIND, *BOTH, "--truth", "truth.csv")
    said = run_here(*arguments, width=300).stdout
    assert "--images ." in said
    study = load_study("studies/drawn.toml")
    assert len(stimuli_of(study)) == 9
    asked = ("stimuli", "review", "studies/drawn-errors.csv", "--kind", "emotions")
    done = run_here(*asked, "--out", "other", code=2)
    assert "is not in" in done.stderr.replace("\n", " ")
    run_here(*asked, "--images", ".", "--out", "review")
    assert len(stimuli_of(load_study("review/review.toml"))) == 9


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--protocol", "multilabel", *BOTH), "--models is for --protocol preference-errors"),
        (("--protocol", "preference", "--most", "3"), "--most is for --protocol preference-errors"),
        ((*KIND, *BOTH), "expected --models, --truth"),
        ((*KIND, "--truth", "truth.csv"), "expected --models, --truth"),
        ((*KIND, *BOTH, "--truth", "none.csv"), "none.csv: there is no such file"),
        ((*KIND, *BOTH, "--truth", "odd.csv"), "unknown"),
        (
            (*KIND, *BOTH[:2], *BOTH[4:], "--truth", "truth.csv"),
            "answers of 'plain'; expected those of two",
        ),
        ((*KIND, *BOTH[:4], "--truth", "truth.csv"), "expected --taxonomy"),
        ((*KIND, *BOTH, "--truth", "truth.csv", "--most", "3"), "expected one of them"),
        ((*KIND, "--most", "3"), "expected --items"),
        ((*KIND, "--decisions", "d.csv"), "expected --items"),
        ((*KIND, "--items", "none.csv"), "none.csv: there is no such file"),
        ((*KIND, "--items", "truth.csv"), "column 'labels_a' is missing"),
        ((*KIND, "--items", "empty.csv"), "there is no item to ask about"),
        ((*KIND, "--items", "gap.csv"), "row 1: system_b is empty"),
        ((*KIND, "--items", "out.csv"), "lies outside"),
        ((*KIND, "--items", "away.csv"), "'nowhere.png' is not in"),
        ((*KIND, "--items", "good.csv", "--decisions", "none-kept.csv"), "keeps none of 1 image"),
        ((*KIND, "--items", "good.csv", "--decisions", "odd-keep.csv"), "keep 'perhaps'"),
    ],
)
def test_what_makes_no_study(place: Path, arguments: tuple[str, ...], sentence: str) -> None:
    head = "stimulus,file,labels_a,labels_b,system_a,system_b\n"
    for name, row in {
        "empty": "",
        "gap": "s,pictures/s00.png,awe,fear,plain,\n",
        "out": "s,../x.png,awe,fear,plain,rank\n",
        "away": "s,nowhere.png,awe,fear,plain,rank\n",
        "good": "s,pictures/s00.png,awe,fear,plain,rank\n",
    }.items():
        Path(f"{name}.csv").write_text(head + row)
    Path("none-kept.csv").write_text("stimulus,keep\ns,false\n")
    Path("odd-keep.csv").write_text("stimulus,keep\ns,perhaps\n")
    Path("odd.csv").write_text("stimulus,file,label\ns00,pictures/s00.png,hunger\n")
    done = run_here("study", "init", "new.toml", *arguments, code=2, width=300)
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    assert not Path("new.toml").exists()
    assert not Path("new-errors.csv").exists()


def test_what_is_there_is_kept(place: Path) -> None:
    draw()
    before = Path("drawn-errors.csv").read_bytes()
    done = run_here("study", "init", "drawn.toml", *KIND, *BOTH, "--truth", "truth.csv", code=2)
    assert "drawn.toml is there already" in done.stderr
    Path("drawn.toml").unlink()
    done = run_here("study", "init", "drawn.toml", *KIND, *BOTH, "--truth", "truth.csv", code=2)
    assert "drawn-errors.csv is there already" in done.stderr
    assert Path("drawn-errors.csv").read_bytes() == before


def test_a_study_named_as_its_protocol(place: Path) -> None:
    arguments = ("--truth", "truth.csv", "--seed", "5", "--raters", "2")
    run_here("study", "init", "preference_errors.toml", *KIND, *BOTH, *arguments)
    study = load_study("preference_errors.toml")
    assert (study.design.study.seed, study.protocol.routing.raters) == (5, 2)
