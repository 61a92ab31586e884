"""What other tools are given, read as these tools read it."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest

from affectlab import InputError, Ratings, read_ratings
from affectlab.cli._main import main
from affectlab.ratings import export_ratings, list_exports

NAMES = [export.name for export in list_exports()]
LABELS = {"joy": "1-5", "mood": 'nominal:calm,"wild"', "sad!": "binary", "ALL": "binary"}


@pytest.fixture
def ratings() -> Ratings:
    """People and a model; steps, categories, choices; names that tools do not take as they are."""
    answers = {
        ("a", "ann"): (1, "calm", 1, 0),
        ("a", "bo"): (4, '"wild"', 0, 0),
        ("a", "net"): (5, '"wild"', 1, 1),
        ("b", "ann"): (2, "calm", 0, 1),
        ("b", "net"): (3, "calm", 0, 0),
    }
    rows = [
        {"stimulus": s, "rater": r, "label": label, "value": str(value)}
        for (s, r), values in answers.items()
        for label, value in zip(LABELS, values, strict=True)
    ]
    raters: dict[str, list[str | None]] = {
        "rater": ["ann", "bo", "net"],
        "rater_kind": ["human", "human", "model"],
    }
    raters["mood"] = ["=1+1", "tired", None]
    return Ratings(
        pl.DataFrame(rows),
        scale=LABELS,
        raters=pl.DataFrame(raters),
        stimuli=pl.DataFrame({"stimulus": ["a", "b"], "image": ["a.png", "b.png"]}),
        source="/home/ann/Study 1.csv",
    )


def test_every_export_is_documented() -> None:
    docs = Path(__file__).parents[2] / "docs"
    reference, howto = (
        (docs / page).read_text() for page in ("reference/ratings.md", "howto/files.md")
    )
    for export in list_exports():
        kind = type(export)
        assert f".. autoclass:: {kind.__module__}.{kind.__qualname__}\n" in reference
        assert f"| `{export.name}` |" in howto


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_is_whole_or_not_there(tmp_path: Path, ratings: Ratings, name: str) -> None:
    if name == "mteb":
        ratings, name = with_truth(ratings), "mteb,label=joy"
    folder = ratings.export(name, tmp_path / "new" / "out")
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert files
    assert not any("/home" in file.read_text("utf-8", errors="replace") for file in files)
    with pytest.raises(InputError, match=r"out holds other files; expected a new folder"):
        ratings.export(name, folder)
    assert [entry.name for entry in folder.parent.iterdir()] == ["out"]


def with_truth(ratings: Ratings) -> Ratings:
    known = {"stimulus": ["a", "b"], "truth": ["2", "1"], "mood": ['"wild"', "Calm"]}
    return ratings.with_stimuli(pl.DataFrame(known))


def test_mteb(tmp_path: Path, ratings: Ratings) -> None:
    known = with_truth(ratings)
    spec = "mteb,label=mood,truth=mood,task=EmotionClassification"
    folder = known.export(spec, tmp_path / "out") / "Human" / "human_evaluation"
    task = json.loads((folder / "EmotionClassification.json").read_text("utf-8"))
    (entry,) = task["scores"]["test"]
    # Ann says calm of both, Bo wild of the first alone; the model does not count.
    half, whole = entry["scores_per_experiment"]
    assert half == {
        "accuracy": 0.5,
        "f1": pytest.approx(1 / 3),
        "f1_weighted": pytest.approx(1 / 3),
    }
    assert whole == {"accuracy": 1.0, "f1": 1.0, "f1_weighted": 1.0}
    assert entry["main_score"] == entry["accuracy"] == 0.75
    assert set(task) == {
        *("dataset_revision", "task_name", "mteb_version", "scores", "evaluation_time"),
        "kg_co2_emissions",
    }
    again = read_ratings(folder / "EmotionClassification.json")
    assert (again.rater_names, again.value.tolist()) == (("Human",), [0.75])
    numbers = known.export("mteb,label=joy", tmp_path / "joy") / "Human" / "human_evaluation"
    (entry,) = json.loads((numbers / "joy.json").read_text("utf-8"))["scores"]["test"]
    assert entry["scores_per_experiment"] == [
        {"spearman": pytest.approx(-1), "pearson": pytest.approx(-1)}
    ]
    with pytest.raises(InputError, match=r"there are 4 labels .* name one \('mteb,label=joy'\)"):
        known.export("mteb", tmp_path / "no")
    glad = known.with_stimuli(pl.DataFrame({"stimulus": ["a"], "mood": ["glad"]}))
    with pytest.raises(InputError, match="unknown mood 'glad'"):
        glad.export(spec, tmp_path / "no")


def test_what_cannot_be_written_leaves_nothing(tmp_path: Path, ratings: Ratings) -> None:
    with pytest.raises(InputError, match=r"unknown rater 'nte'.*net"):
        export_ratings(ratings, "argilla,rater=nte", tmp_path / "out")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputError, match=r"unknown export 'psychds'.*psych-ds"):
        export_ratings(ratings, "psychds", tmp_path / "out")
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="file is a file; expected a new folder"):
        ratings.export("wide", tmp_path / "file")


def test_psych_ds(tmp_path: Path, ratings: Ratings) -> None:
    folder = ratings.export("psych-ds,study=Moods of 2026", tmp_path / "out")
    about = json.loads((folder / "dataset_description.json").read_text("utf-8"))
    assert (about["@type"], about["name"]) == ("Dataset", "Moods of 2026")
    described = {one["name"]: one for one in about["variableMeasured"]}
    files = list((folder / "data").iterdir())
    assert len(files) == 3
    for file in files:
        assert re.fullmatch(r"([a-z]+-[a-zA-Z0-9]+)(_[a-z]+-[a-zA-Z0-9]+)*_data\.csv", file.name)
        with file.open(newline="", encoding="utf-8") as lines:
            assert set(next(csv.reader(lines))) <= set(described)
    assert "joy: ordinal 1 to 5" in described["value"]["description"]


def test_hugging_face(tmp_path: Path, ratings: Ratings, monkeypatch: pytest.MonkeyPatch) -> None:
    datasets = pytest.importorskip("datasets")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    folder = ratings.export("hugging-face", tmp_path / "out")
    cache = str(tmp_path / "cache")
    for part, table in (("ratings", ratings.frame), ("stimuli", ratings.stimuli)):
        loaded = datasets.load_dataset(str(folder), part, split="train", cache_dir=cache)
        assert loaded.num_rows == table.height
        assert loaded.column_names == table.columns
    assert read_ratings(folder / "data" / "ratings.parquet").equals(
        ratings.__class__(
            ratings.to_frame(),
            scale=dict(ratings.scales),
            raters=ratings.raters,
            stimuli=ratings.stimuli,
        )
    )


def test_label_studio(tmp_path: Path, ratings: Ratings) -> None:
    folder = ratings.export("label-studio", tmp_path / "out")
    view = ElementTree.parse(folder / "config.xml").getroot()
    controls = {tag.get("name"): tag for tag in view if tag.get("toName")}
    assert {name: tag.tag for name, tag in controls.items()} == {
        "labels": "Choices",
        "joy": "Rating",
        "mood": "Choices",
    }
    assert [tag.get("value") for tag in view if tag.tag == "Image"] == ["$image"]
    tasks = json.loads((folder / "tasks.json").read_text("utf-8"))
    assert [task["data"] for task in tasks] == [
        {"stimulus": "a", "image": "a.png"},
        {"stimulus": "b", "image": "b.png"},
    ]
    for task in tasks:
        assert [one["model_version"] for one in task["predictions"]] == ["net"]
        for result in task["predictions"][0]["result"]:
            control = controls[result["from_name"]]
            assert result["type"] == control.tag.lower()
            options = {choice.get("value") for choice in control}
            assert set(result["value"].get("choices", [])) <= options
    of_a = {one["from_name"]: one["value"] for one in tasks[0]["predictions"][0]["result"]}
    assert of_a == {
        "labels": {"choices": ["sad!", "ALL"]},
        "joy": {"rating": 5},
        "mood": {"choices": ['"wild"']},
    }


def test_argilla(tmp_path: Path, ratings: Ratings) -> None:
    folder = ratings.export("argilla", tmp_path / "out")
    settings = json.loads((folder / ".argilla" / "settings.json").read_text("utf-8"))
    kinds = {one["name"]: one["type"] for one in settings["questions"]}
    assert kinds == {"labels": "multi_label_selection", "joy": "rating", "mood": "label_selection"}
    records = json.loads((folder / "records.json").read_text("utf-8"))
    assert [one["id"] for one in records] == ["a", "b"]
    suggested = {name: one["value"] for name, one in records[0]["suggestions"].items()}
    assert suggested == {"labels": ["sad!", "ALL"], "joy": 5, "mood": '"wild"'}
    # Nothing was chosen of the labels, and a suggestion cannot say so.
    assert set(records[1]["suggestions"]) == {"joy", "mood"}
    answer = {"stimulus": "a", "rater": "vlm", "label": "joy", "value": 2, "rater_kind": "model"}
    other = Ratings(pl.DataFrame([answer]), scale="1-5")
    both = ratings.select(labels="joy").merge(other)
    with pytest.raises(InputError, match=r"2 models .*'argilla,rater=NAME'"):
        both.export("argilla", tmp_path / "both")
    assert both.export("argilla,rater=vlm", tmp_path / "both").is_dir()


def test_names_of_questions_that_a_server_takes(tmp_path: Path) -> None:
    two = {"stimulus": "ab", "rater": "rr", "label": ["Wut!", "wut?"], "value": [1, 3]}
    r = Ratings({name: list(cells) for name, cells in two.items()}, scale="-3..3")
    folder = r.export("argilla", tmp_path / "out")
    asked = json.loads((folder / ".argilla" / "settings.json").read_text())["questions"]
    assert [(one["name"], one["title"], one["type"]) for one in asked] == [
        ("wut", "Wut!", "text"),
        ("wut_2", "wut?", "text"),
    ]


def test_wide_holds_every_answer(tmp_path: Path, ratings: Ratings) -> None:
    folder = ratings.export("wide", tmp_path / "out")
    table = pl.read_csv(folder / "answers.csv")
    assert table.columns == [
        *("stimulus", "rater", "joy", "mood", "sad", "v_ALL", "rater_kind", "rater_mood", "image"),
    ]
    assert table["joy"].to_list() == [1, 4, 5, 2, 3]
    assert table["mood"].to_list() == ["calm", '"wild"', '"wild"', "calm", "calm"]
    assert table["rater_mood"][0] == "'=1+1"
    codebook = pl.read_csv(folder / "codebook.csv")
    assert codebook["variable"].to_list() == table.columns
    assert codebook["missing"].to_list() == [column.null_count() for column in table]
    assert dict(codebook.select("variable", "values").iter_rows())["mood"] == 'calm; "wild"'


def test_repeated_answers_are_counted_and_failed_ones_empty(tmp_path: Path) -> None:
    answers = {
        "stimulus": ["a", "a", "b"],
        "rater": ["r", "r", "r"],
        "trial": [7, 8, 9],
        "value": [1.5, 2.0, None],
        "outcome": ["ok", "ok", "refused"],
    }
    folder = Ratings(answers, scale="0-10 interval").export("wide", tmp_path / "out")
    table = pl.read_csv(folder / "answers.csv")
    assert table.select("repeat", "rating").rows() == [(1, 1.5), (2, 2.0), (1, None)]


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_r_reads_it(tmp_path: Path, ratings: Ratings) -> None:
    folder = ratings.export("wide", tmp_path / "out")
    said = subprocess.run(
        [
            "Rscript",
            "-e",
            'source("read.R"); cat(levels(answers$mood), sum(answers$joy), '
            'attr(answers$joy, "label"), sep = "|")',
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout == "calm|\"wild\"|15|Answers about 'joy', ordinal 1 to 5, step 1."


@pytest.mark.skipif(shutil.which("pspp") is None, reason="PSPP is not installed")
def test_spss_syntax_is_read(tmp_path: Path, ratings: Ratings) -> None:
    folder = ratings.export("wide", tmp_path / "out")
    with (folder / "read.sps").open("a") as syntax:
        syntax.write("SAVE TRANSLATE /OUTFILE='again.csv' /TYPE=CSV /FIELDNAMES.\n")
    subprocess.run(["pspp", "read.sps"], cwd=folder, capture_output=True, check=True)
    again = pl.read_csv(folder / "again.csv")
    assert again.columns == pl.read_csv(folder / "answers.csv").columns
    assert again["joy"].to_list() == [1, 4, 5, 2, 3]
    assert again["mood"].str.strip_chars().to_list()[:2] == ["calm", '"wild"']


def test_the_verb(tmp_path: Path, ratings: Ratings, capsys: pytest.CaptureFixture[str]) -> None:
    file = ratings.write(tmp_path / "ratings.csv")
    with pytest.raises(SystemExit, match="0"):
        main(["ratings", "convert", str(file), "--as", "wide", "--out", str(tmp_path / "out")])
    said = capsys.readouterr().out
    assert "answers.csv, answers.csv.mapping.toml, codebook.csv, read.R, read.sps" in " ".join(
        said.split()
    )
