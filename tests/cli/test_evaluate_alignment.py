"""``affectlab evaluate alignment``, run as a user runs it."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.cli.command import Done, run_here

EXAMPLES = Path(__file__).parents[2] / "examples" / "human-level"


def run(*arguments: str | Path, code: int = 0, width: int = 100, verb: str = "alignment") -> Done:
    return run_here("evaluate", verb, *arguments, code=code, width=width)


def published(*arguments: str | Path, code: int = 0) -> Done:
    return run_here("emonet-face", "published", *arguments, code=code, width=100)


def plain(text: str) -> str:
    return " ".join(text.split())


LABELS = ("awe", "fear", "joy")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Twelve people and four models of two families; one run of the good model is a control."""
    rng = np.random.default_rng(1)
    folder = tmp_path_factory.mktemp("alignment")
    n, people = 200, 12
    truth = rng.normal(3, 2, (n, len(LABELS)))
    stimuli = [f"face{k:03d}" for k in range(n)]

    def answers(name: str, noise: float, *, steps: bool) -> pl.DataFrame:
        value = np.clip(truth + noise * rng.normal(size=truth.shape), 0, 7)
        value = np.rint(value) if steps else value.round(2)
        columns = {label: value[:, k] for k, label in enumerate(LABELS)}
        return pl.DataFrame({"stimulus": stimuli, "rater": [name] * n, **columns})

    panel = pl.concat([answers(f"person {k:02d}", 1.5, steps=True) for k in range(people)])
    runs = {"large": 1.5, "small": 3.0, "gazer": 4.0, "large, no image": 9.0}
    models = pl.concat([answers(name, noise, steps=False) for name, noise in runs.items()])
    # One model answered three stimuli in four.
    models = models.filter(
        (pl.col("rater") != "gazer") | (pl.col("stimulus").str.ends_with("3").not_())
    )
    table = pl.DataFrame(
        {
            "rater": [*runs, "nobody"],
            "rater_kind": ["model"] * 4 + ["human"],
            "family": ["insight", "insight", "vlm", "insight", None],
            "control": [None, None, None, "no_image", None],
            "of": [None, None, None, "large", None],
        }
    )
    paths = {name: folder / f"{name}.csv" for name in ("people", "models", "raters")}
    panel.write_csv(paths["people"])
    models.write_csv(paths["models"])
    table.write_csv(paths["raters"])
    return paths


def reading(files: dict[str, Path], *more: str | Path) -> list[str | Path]:
    return [
        *(files["people"], "--wide", "labels", "--scale", "0-7"),
        *("--models", files["models"], "--raters", files["raters"], *more),
    ]


def test_one_sentence_per_model_and_what_it_rests_on(files: dict[str, Path]) -> None:
    done = run(*reading(files))
    words = plain(done.stdout)
    assert "large is inside the human range: its mean quadratic kappa with people is 0." in words
    assert "small is below the human range" in words
    assert "180 of 200 stimuli, 3 labels, 90.0 % of what people rated" in words
    assert "1 control run not judged: large, no image." in words
    assert words.count("the human range") == 3
    assert "People left out one by one, against the other people." in words
    assert all(len(line) <= 100 for line in done.stdout.splitlines())
    done = published(*reading(files, "--n-boot", "200"))
    words = plain(done.stdout)
    rule = "quadratic kappa, fractions of models dropped; SD over labels"
    assert f"Every rater with people ({rule})" in words
    assert "human-human" in words
    assert "people less models: difference of means" in words
    assert "cells are taken as independent, which overstates certainty" in words
    assert all(len(line) <= 100 for line in done.stdout.splitlines())


def test_it_fits_a_narrow_terminal(files: dict[str, Path]) -> None:
    done = run(*reading(files), width=80)
    lines = done.stdout.splitlines()
    assert all(len(line) <= 80 for line in lines)
    table = lines[lines.index("Models with people, and people with one another.") + 1 :]
    assert "Coverage" in table[0]
    assert not any("…" in line for line in table[:6])


def test_groups_of_models(files: dict[str, Path]) -> None:
    words = plain(published(*reading(files, "--n-boot", "50", "--groups", "family")).stdout)
    assert "people less insight: difference of means" in words
    assert "95 % interval" in words
    assert "insight less vlm: difference of means" in words
    bad = published(*reading(files, "--groups", "brand"), code=2)
    assert "unknown attribute of raters 'brand'" in bad.stderr
    assert bad.stderr.count("\n") == 1


def test_json_holds_every_table(files: dict[str, Path], tmp_path: Path) -> None:
    to = tmp_path / "models.csv"
    options = ("--out", to, "--json")
    content: dict[str, Any] = json.loads(run(*reading(files, *options)).stdout)
    assert content["schema"] == "affectlab/evaluate-alignment/1"
    found = content["result"]
    assert len(found["sentences"]) == 3
    tables = {
        "models": 3,
        "difference": 2 * 3,
        "agreement": 2 * 3,
        "by_label": 2 * 3 * 3,
        "ceiling": 2,
        "people": 2 * 12,
        "alt_test": 3,
        "alt_test_people": 3 * 12,
        "models_and_people": 3 + 12,
    }
    words = {"notes", "provenance", "sentences", "settings"}
    assert {name: len(rows) for name, rows in found.items() if name not in words} == tables
    models = found["models"]
    assert models[0]["test_low"] > models[0]["low"]
    assert [row["rater"] for row in models] == ["large", "small", "gazer"]
    written = pl.read_csv(to)
    assert written["rater"].to_list() == ["large", "small", "gazer"]
    assert written["difference"].to_list() == pytest.approx([row["difference"] for row in models])
    again = json.loads(run(*reading(files, *options)).stdout)
    assert again["result"] == found
    options = ("--n-boot", "40", "--groups", "family", "--json")
    tables = {
        "raters": 12 + 3,
        "kinds": 3,
        "kinds_by_label": 9,
        "spearman_kinds": 3,
        "groups": 3,
        "kind_groups": 3,
        "with_median": 3,
        "alpha": 9,
        "discrepancy": 9,
    }
    found = json.loads(published(*reading(files, *options)).stdout)["result"]
    assert {name: len(found[name]) for name in tables} == tables


def test_figures(files: dict[str, Path], tmp_path: Path) -> None:
    run(*reading(files, "--figures", tmp_path))
    published(*reading(files, "--n-boot", "40", "--groups", "family", "--figures", tmp_path))
    names = (
        *(
            "people_range",
            "people_range_spearman",
            "equivalence",
            "kinds_of_pairs",
            "kinds_by_label",
        ),
        *("heatmap", "spearman", "discrepancy", "alpha", "groups"),
    )
    for name in names:
        assert (tmp_path / f"{name}.png").stat().st_size > 5_000
        assert (tmp_path / f"{name}.svg").stat().st_size > 0
    assert "large: inside" in (tmp_path / "equivalence.svg").read_text(encoding="utf-8")
    assert "Medians: people " in (tmp_path / "groups.svg").read_text(encoding="utf-8")


def test_without_groups_there_is_no_figure_of_them(files: dict[str, Path], tmp_path: Path) -> None:
    published(*reading(files, "--n-boot", "0", "--figures", tmp_path))
    assert not (tmp_path / "groups.png").exists()


def test_the_margin_decides(files: dict[str, Path]) -> None:
    strict = run(*reading(files, "--margin", "0.001", "--json"))
    models = json.loads(strict.stdout)["result"]["models"]
    assert models[0]["verdict"] == "not shown"
    bad = run(*reading(files, "--margin", "0"), code=2)
    assert "margin = 0.0: expected a number above 0" in bad.stderr


def test_nominal_answers_have_no_ranks(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    n = 60
    truth = rng.integers(0, 3, n)

    def rows(name: str, kind: str, errors: float) -> pl.DataFrame:
        said = np.where(rng.random(n) < errors, rng.integers(0, 3, n), truth)
        return pl.DataFrame(
            {
                "stimulus": [f"s{k}" for k in range(n)],
                "rater": [name] * n,
                "rater_kind": [kind] * n,
                "value": [LABELS[k] for k in said],
            }
        )

    table = pl.concat([*(rows(f"p{k}", "human", 0.3) for k in range(5)), rows("net", "model", 0.3)])
    file = tmp_path / "answers.csv"
    table.write_csv(file)
    done = run(file, "--figures", tmp_path / "figures")
    words = plain(done.stdout)
    assert "its mean kappa with people" in words
    assert "Spearman" not in words
    published(file, "--n-boot", "50", "--figures", tmp_path / "figures")
    assert (tmp_path / "figures" / "heatmap.png").exists()
    assert not (tmp_path / "figures" / "spearman.png").exists()


def test_the_example_of_the_tutorial() -> None:
    options = ("--wide", "labels", "--scale", "0-7", "--models", EXAMPLES / "model.csv")
    words = plain(run(EXAMPLES / "people.csv", *options).stdout)
    assert words.startswith(
        "The answers of gus, who is taken to be careless, do not count; with them every verdict "
        "would be the same. model is not shown"
    )
    assert "model is not shown to be inside the human range" in words
    assert "6 people, 120 stimuli, 8 labels)" in words
    everyone = plain(run(EXAMPLES / "people.csv", *options, "--without", "none").stdout)
    assert "7 people, 120 stimuli, 8 labels)" in everyone
    assert "gus (0.000)" in everyone


def test_people_alone(files: dict[str, Path]) -> None:
    bad = run(files["people"], "--wide", "labels", "--scale", "0-7", code=2)
    assert "no rater is a model" in bad.stderr
    assert bad.stderr.count("\n") == 1


def test_what_the_guide_shows_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every block of output in the guide stands in what its command prints."""
    guide = (EXAMPLES.parents[1] / "docs" / "howto" / "human-level.md").read_text(encoding="utf-8")
    shutil.copytree(EXAMPLES, tmp_path / "files")
    monkeypatch.chdir(tmp_path / "files")
    printed, n_shown = "", 0
    for kind, block in re.findall(r"```(sh|text)\n(.*?)```", guide, re.DOTALL):
        if kind == "text":
            assert plain(block) in printed
            n_shown += 1
            continue
        for line in block.splitlines():
            words = shlex.split(line)
            if words[0] == "cd":
                continue
            done = run_here(*words[1:])
            if words[1] in ("evaluate", "emonet-face"):
                printed += plain(done.stdout)
    assert n_shown == 3
