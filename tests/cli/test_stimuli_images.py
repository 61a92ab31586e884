"""``affectlab stimuli images``, ``coverage`` and ``prompts --fill``: what they say and write."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from tests.cli.command import run_here

PLAN = """
name = "small"
templates = ["A face of {person} that shows {words}."]
neutral_templates = ["A face of {person} at rest."]
person = "{article} {ethnicity} {gender} of {age} years"
ages = [30, 60]
ethnicities = ["East Asian", "Caribbean"]
[genders]
woman = 1
man = 1
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "plan.toml").write_text(PLAN, encoding="utf-8")
    labels = "Awe,Elation,Longing"
    run_here(
        *("stimuli", "prompts", 12, "--plan", tmp_path / "plan.toml", "--labels", labels),
        *("--out", tmp_path / "prompts.csv"),
    )
    return tmp_path


def images(folder: Path, *more: object, code: int = 0) -> str:
    done = run_here(
        *("stimuli", "images", folder / "prompts.csv", "--out", folder / "faces"),
        *("--set", "size=48", *more),
        code=code,
    )
    return done.stdout if code == 0 else done.stderr


def test_from_prompts_to_a_study(folder: Path) -> None:
    said = images(folder)
    assert "12 pictures made\n" in said
    # Of three labels one is drawn, one has a stand-in, and one is a face at rest.
    assert (
        "8 of 12 pictures, of 2 labels, show another expression than their label"
        in said.replace("\n", " ")
    )
    table = pl.read_csv(folder / "faces" / "manifest.csv")
    assert dict(table.select("label", "drawn").unique().iter_rows()) == {
        "Awe": "",
        "Elation": "excitement",
        "Longing": "neutral",
    }
    assert "0 pictures made; 12 were there" in images(folder)
    study = folder / "study.toml"
    study.write_text(
        '[study]\nname = "faces"\ntitle = "What do these faces show?"\n'
        '[protocol]\nname = "intensity"\n'
        '[stimuli]\ntable = "faces/manifest.csv"\n',
        encoding="utf-8",
    )
    work = json.loads(run_here("study", "check", study, "--json").stdout)
    assert work["result"]["stimuli"] == 12
    assert not any("cannot be opened" in warning for warning in work["warnings"])
    # One label is asked for first where a study says which column names it.
    text = study.read_text().replace("intensity", "verification") + 'intended = "label"\n'
    study.write_text(text)
    assert json.loads(run_here("study", "check", study, "--json").stdout)["result"]["tasks"] == 24


def test_changes_are_named(folder: Path) -> None:
    images(folder)
    said = images(folder, "--set", "intensity=0.5", code=2)
    assert "was made from another set of settings" in said.replace("\n", " ")
    assert "--again" in said
    assert "12 pictures made" in images(folder, "--set", "intensity=0.5", "--again")
    assert "0 pictures made; 12 were there" in images(folder, "--keep")
    assert "contradict each other" in images(folder, "--keep", "--again", code=2)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--generator", "draw"], "unknown image generator 'draw'; did you mean 'drawn'?"),
        (["--set", "size"], "--set: 'size' is not understood; expected NAME=VALUE"),
        (["--set", "size=wide"], "'size' is given twice"),
        (["--set", "intensity=high"], "intensity = 'high': input should be a valid number"),
        (["--set", "steps=3"], "unknown setting 'steps'"),
    ],
)
def test_bad_options(folder: Path, more: list[str], said: str) -> None:
    assert said in images(folder, *more, code=2).replace("\n", " ")
    assert not (folder / "faces" / "manifest.csv").exists()


def test_failures_are_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A generator of another package that will not draw one label."""
    (folder / "half_faces.py").write_text(
        "from PIL import Image\n"
        "def half():\n"
        "    def make(batch):\n"
        "        if batch[0].label == 'Longing':\n"
        "            raise RuntimeError('out of ink')\n"
        "        return [Image.new('RGB', (8, 8))]\n"
        "    return make\n"
    )
    info = folder / "half_faces-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: half-faces\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[affectlab.image_generators]\nhalf = half_faces:half\n")
    monkeypatch.syspath_prepend(str(folder))
    given = ("stimuli", "images", folder / "prompts.csv", "--out", folder / "faces")
    done = run_here(*given, "--generator", "half", "--patience", 9)
    assert "8 pictures made" in done.stdout
    assert "warning: 4 prompts without a picture, face-" in done.stderr.replace("\n", " ")
    assert "out of ink" in done.stderr.replace("\n", " ")
    found = json.loads(run_here(*given, "--generator", "half", "--json").stdout)
    assert found["result"]["n_failed"] == 4
    assert found["warnings"][0].startswith("4 prompts without a picture")
    # Prompts without a picture count as asked for, and their names stay theirs.
    said = json.loads(
        run_here(
            *("stimuli", "coverage", folder / "faces", "--out", folder / "map"),
            *("--per-label", 4, "--json"),
        ).stdout
    )["result"]
    assert (said["n_prompts"], said["n_images"], said["n_accepted"]) == (12, 8, 8)
    assert said["under_covered"][0]["label"] == "Longing"
    run_here(
        *("stimuli", "prompts", "--fill", folder / "faces" / "manifest.csv", "--per-label", 4),
        *("--labels", "Longing,Awe,Elation", "--plan", folder / "plan.toml"),
        *("--out", folder / "more.csv"),
    )
    more = pl.read_csv(folder / "more.csv")
    assert more["label"].to_list() == ["Longing"] * 4
    assert more["stimulus"].to_list() == [f"face-{k:05d}" for k in range(13, 17)]


def test_a_picture_that_cannot_be_made_again_stays(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "dry_faces.py").write_text(
        "def dry():\n"
        "    def make(batch):\n"
        "        raise RuntimeError('out of ink')\n"
        "    return make\n"
    )
    info = folder / "dry_faces-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: dry-faces\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[affectlab.image_generators]\ndry = dry_faces:dry\n")
    monkeypatch.syspath_prepend(str(folder))
    images(folder)
    given = ("stimuli", "images", folder / "prompts.csv", "--out", folder / "faces", "--again")
    done = run_here(*given, "--generator", "dry")
    said = done.stderr.replace("\n", " ")
    assert "12 pictures could not be made again and stay as they were, face-" in said
    assert "without a picture" not in said
    assert "12 pictures in" in done.stdout
    found = json.loads(run_here(*given, "--generator", "dry", "--json").stdout)["result"]
    assert (found["n_images"], found["n_failed"], found["n_not_made_again"]) == (12, 0, 12)
    # Each is one prompt, although it stands in both tables.
    counted = json.loads(
        run_here("stimuli", "coverage", folder / "faces", "--out", folder / "map", "--json").stdout
    )["result"]
    assert (counted["n_prompts"], counted["n_images"]) == (12, 12)


def test_pictures_that_await_a_review(folder: Path) -> None:
    images(folder)
    manifest, decisions = folder / "faces" / "manifest.csv", folder / "decisions.parquet"
    table = pl.read_csv(manifest).sort("label")
    keep = pl.Series("keep", [False, None, *[True] * 10])
    pl.DataFrame([table["stimulus"], keep]).write_parquet(decisions)
    given = ("--decisions", decisions, "--per-label", 4, "--plan", folder / "plan.toml")
    said = run_here("stimuli", "coverage", manifest, "--out", folder / "map", *given).stdout
    assert "1 picture not yet settled by the review" in said
    counts = pl.read_csv(folder / "map" / "coverage.csv")
    assert set(counts.filter(attribute="age")["due"]) == {2.0}
    for undecided, n in (("coming", 1), ("lacking", 2)):
        said = run_here(
            *("stimuli", "prompts", "--fill", manifest, *given, "--labels", "awe,Elation,Longing"),
            *("--undecided", undecided, "--out", folder / "more.csv"),
        ).stdout
        assert f"1 picture not yet settled by the review, counted as {undecided}" in said
        assert pl.read_csv(folder / "more.csv")["label"].to_list() == ["Awe"] * n


def test_coverage_and_fill(folder: Path) -> None:
    images(folder)
    table = pl.read_csv(folder / "faces" / "manifest.csv")
    lost = table.filter(label="Elation")["stimulus"].to_list()[:3]
    decisions = folder / "decisions.csv"
    table.select("stimulus", keep=~pl.col("stimulus").is_in(lost)).write_csv(decisions)
    given = ("--decisions", decisions, "--per-label", 4)
    said = run_here(
        "stimuli", "coverage", folder / "faces" / "manifest.csv", "--out", folder / "map", *given
    ).stdout
    assert "12 prompts, 12 pictures, 9 accepted, of 3 labels" in said
    assert "Elation" in said
    files = {file.name for file in (folder / "map").iterdir()}
    assert files == {
        "coverage.csv",
        "prompts.png",
        "prompts.svg",
        "accepted-pictures.png",
        "accepted-pictures.svg",
    }
    counts = pl.read_csv(folder / "map" / "coverage.csv")
    assert counts.filter(label="Elation", attribute="all")["n_accepted"].item() == 1
    filled = run_here(
        *("stimuli", "prompts", "--fill", folder / "faces" / "manifest.csv", *given),
        *("--labels", "Awe,Elation,Longing", "--plan", folder / "plan.toml"),
        *("--out", folder / "more.csv"),
    ).stdout
    assert "3 prompts written to" in filled.replace("\n", " ")
    done = run_here(
        "stimuli", "images", folder / "more.csv", "--out", folder / "faces", "--set", "size=48"
    )
    assert "3 pictures made" in done.stdout
    assert "15 pictures in" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "either the number of prompts, or --fill with --per-label"),
        ([3, "--fill", "m.csv", "--per-label", 4], "either the number of prompts, or --fill"),
        (["--fill", "m.csv"], "--fill and --per-label go together"),
        ([3, "--decisions", "d.csv"], "--fill and --per-label go together"),
        (["--fill", "m.csv", "--per-label", 4, "--neutral"], "leave out --neutral"),
        (["--fill", "m.csv", "--per-label", 4, "--labels", "Awe=2"], "labels have no weights"),
        (["--fill", "none.csv", "--per-label", 4], "none.csv: there is no such file"),
    ],
)
def test_bad_fills(tmp_path: Path, arguments: list[object], said: str) -> None:
    out = tmp_path / "prompts.csv"
    done = run_here("stimuli", "prompts", *arguments, "--out", out, code=2)
    assert said in done.stderr.replace("\n", " ")
    assert not out.exists()


def test_a_pipeline_that_is_not_there(folder: Path) -> None:
    given = ("stimuli", "images", folder / "prompts.csv", "--out", folder / "x")
    done = run_here(*given, "--generator", "diffusers:./none", code=2)
    assert "there is no folder ./none" in done.stderr.replace("\n", " ")
    assert not (folder / "x").exists()
