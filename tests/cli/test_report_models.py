"""``affectlab report`` with the answers of models in files of their own."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.cli.command import Done, run_here

LABELS = ("joy", "fear")


def run(*arguments: str | Path, code: int = 0) -> Done:
    return run_here("report", *arguments, code=code)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Answers of six people, a row each; and of two models, a column per label."""
    folder = tmp_path_factory.mktemp("files")
    rng = np.random.default_rng(0)
    truth = rng.uniform(0, 7, (60, 2))
    rows = [
        (f"s{j}", f"p{k}", label, float(np.clip(np.rint(truth[j, m] + rng.normal(0, 1)), 0, 7)))
        for k in range(6)
        for j in range(60)
        for m, label in enumerate(LABELS)
    ]
    found = {"people": folder / "people.csv"}
    columns = ["stimulus", "rater", "label", "value"]
    pl.DataFrame(rows, schema=columns, orient="row").write_csv(found["people"])
    for name, values in (("close", truth), ("far", rng.uniform(0, 7, truth.shape))):
        found[name] = folder / f"{name}.csv"
        pl.DataFrame(
            {
                "stimulus": [f"s{j}" for j in range(60)],
                **{label: values[:, m].round(2) for m, label in enumerate(LABELS)},
            }
        ).write_csv(found[name])
    return found


def test_models_are_named_by_their_files(files: dict[str, Path], tmp_path: Path) -> None:
    models = ("--models", files["close"], "--models", files["far"])
    out = tmp_path / "out"
    done = run(files["people"], "--scale", "0-7", *models, "--out", out, "--n-boot", "50", "--json")
    found = json.loads(done.stdout)["result"]
    page = Path(found["html"]).read_text(encoding="utf-8")
    assert "6 people and 2 models" in page
    assert "Ratings in people.csv" in page
    frame = pl.read_csv(out / "tables" / "models.csv")
    assert dict(frame.select("rater", "verdict").rows())["far"] == "below"


def test_a_file_of_models_that_fits_nothing(files: dict[str, Path], tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text("stimulus,surprise\ns1,3\ns2,4\n", encoding="utf-8")
    out = tmp_path / "out"
    run(files["people"], "--scale", "0-7", "--models", other, "--out", out, "--n-boot", "0")
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "people and models share no label" in page
