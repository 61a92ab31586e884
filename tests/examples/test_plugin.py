"""The example of a package that adds to affectlab, installed as pip would, and used by verbs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.long

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PLUGIN = EXAMPLES / "plugin"
GROUPS = ("taxonomies", "protocols", "metrics", "raters", "text_metrics", "recipes", "formats")

Done = subprocess.CompletedProcess[str]
Run = Callable[..., Done]


def _describe(site: Path, name: str, version: str, points: dict[str, dict[str, str]]) -> None:
    """Write what an installer writes beside the modules: name, version, entry points."""
    told = site / f"{name.replace('-', '_')}-{version}.dist-info"
    told.mkdir()
    about = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    (told / "METADATA").write_text(about, encoding="utf-8")
    lines = [
        line
        for group, added in points.items()
        for line in (f"[{group}]", *(f"{key} = {value}" for key, value in added.items()))
    ]
    (told / "entry_points.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of packages with the example in it, laid out from its own pyproject.toml.

    The build back end need not be installed, and nothing is downloaded.
    """
    folder = tmp_path_factory.mktemp("site")
    content = tomllib.loads((PLUGIN / "pyproject.toml").read_text(encoding="utf-8"))
    for package in content["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]:
        shutil.copytree(
            PLUGIN / package,
            folder / Path(package).name,
            ignore=shutil.ignore_patterns("__pycache__"),
        )
    project = content["project"]
    _describe(folder, project["name"], project["version"], project["entry-points"])
    return folder


def _runner(folder: Path, *sites: Path) -> Run:
    places = [str(site) for site in sites]
    if os.environ.get("PYTHONPATH"):
        places.append(os.environ["PYTHONPATH"])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(places)}

    def run(*arguments: str | Path) -> Done:
        code = "from affectlab.cli import main; main()"
        return subprocess.run(
            [sys.executable, "-c", code, *map(str, arguments)],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.fixture
def run(site: Path, tmp_path: Path) -> Run:
    return _runner(tmp_path, site)


def _result(done: Done) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["result"]


def test_without_the_package_nothing_has_its_names(tmp_path: Path) -> None:
    done = _runner(tmp_path)("taxonomy", "show", "weather")
    assert done.returncode == 2
    assert "unknown taxonomy 'weather'" in done.stderr


def test_taxonomy(run: Run) -> None:
    listed = _result(run("taxonomy", "show", "--json"))["taxonomies"]
    assert {"name": "weather", "n_labels": 4, "title": "Moods of the weather"} in listed
    assert "mikels" in {entry["name"] for entry in listed}


def test_protocol(run: Run) -> None:
    done = run("study", "check", PLUGIN / "study.toml", "--json")
    found = _result(done)
    assert (found["protocol"], found["labels"], found["tasks"]) == ("weather", 4, 4)
    assert "the pages were made for" not in done.stdout


def test_rater_and_metric(run: Run, tmp_path: Path) -> None:
    pictures = EXAMPLES / "study-pictures"
    rated = _result(run("rate", "sky", pictures, "--out", "sky.parquet", "--json"))
    assert (rated["rater"], rated["n_stimuli"], rated["outcomes"]) == ("sky", 4, {"ok": 4})
    assert set(rated["labels"]) == {"sunny", "breezy", "foggy", "stormy"}
    judged = _result(
        run(
            *("evaluate", "fairness", PLUGIN / "data" / "answers.csv", "--scale", "0-4"),
            *("--models", tmp_path / "sky.parquet"),
            *("--stimuli", PLUGIN / "data" / "pictures.csv", "--by", "stimulus.place"),
            *("--metric", "within_one", "--n-boot", "0", "--json"),
        )
    )
    settings = judged["settings"]
    assert (settings["metric"], settings["title"]) == ("within_one", "share within one step")
    values = {group["group"]: group["value"] for group in judged["groups"]}
    assert values == _within_one(tmp_path / "sky.parquet")


def _within_one(file: Path) -> dict[str, float]:
    """Count by hand what the metric of the package is to give."""
    import polars as pl

    keys = ["stimulus", "label"]
    people = pl.read_csv(PLUGIN / "data" / "answers.csv").group_by(keys).agg(pl.col("value").mean())
    mean = {(stimulus, label): value for stimulus, label, value in people.iter_rows()}
    place = dict(pl.read_csv(PLUGIN / "data" / "pictures.csv").iter_rows())
    hits: dict[str, list[bool]] = {}
    for row in pl.read_parquet(file).iter_rows(named=True):
        near = abs(row["value"] - mean[row["stimulus"], row["label"]]) <= 1
        hits.setdefault(place[row["stimulus"]], []).append(near)
    return {name: sum(found) / len(found) for name, found in hits.items()}


def test_recipe(run: Run, tmp_path: Path) -> None:
    rows = _result(run("reproduce", "weather-moods", "--data", PLUGIN / "data", "--json"))["rows"]
    assert [row["verdict"] for row in rows] == ["reproduced"] * 5
    simulated = run("reproduce", "weather-moods", "--simulate", "--quick", "--json")
    assert {row["verdict"] for row in _result(simulated)["rows"]} == {"no verdict: simulated data"}
    absent = run("reproduce", "weather-moods", "--data", tmp_path)
    assert absent.returncode == 2
    assert "does not hold answers.csv" in absent.stderr
    unknown = run("reproduce", "weather-mood", "--simulate")
    assert "did you mean 'weather-moods'?" in unknown.stderr


def test_text_metric(run: Run, tmp_path: Path) -> None:
    if find_spec("torch") is None:
        pytest.skip("scores of texts need the extra models")
    table = "item,candidate,reference\na,Sun and wind,The sun is out\nb,A grey day,Fog all day\n"
    (tmp_path / "texts.csv").write_text(table, encoding="utf-8")
    scores = tmp_path / "scores.csv"
    done = run("evaluate", "text", "texts.csv", "--metric", "weather_words", "--out", scores)
    assert done.returncode == 0, done.stderr
    rows = [line.split(",") for line in scores.read_text(encoding="utf-8").splitlines()]
    place = rows[0].index("score")
    assert [float(row[place]) for row in rows[1:]] == [1.0, 0.0]


@pytest.fixture
def broken(site: Path, tmp_path: Path) -> Run:
    """Verbs beside a second package, whose import fails whatever is wanted of it."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "broken_weather.py").write_text('raise RuntimeError("no weather today")\n')
    points = {f"affectlab.{group}": {"hail": "broken_weather:HAIL"} for group in GROUPS}
    _describe(other, "broken-weather", "1", points)
    return _runner(tmp_path, site, other)


def _sentence(group: str) -> str:
    return (
        f"entry point 'hail' (broken_weather:HAIL) of group 'affectlab.{group}' cannot be loaded: "
        "no weather today"
    )


@pytest.mark.parametrize(
    ("group", "arguments"),
    [
        ("taxonomies", ("taxonomy", "show", "hail")),
        ("recipes", ("reproduce", "hail", "--simulate")),
        ("formats", ("ratings", "describe", PLUGIN / "data" / "answers.csv", "--format", "hail")),
        (
            "raters",
            ("rate", "hail", EXAMPLES / "study-pictures", "--out", "x.csv"),
        ),
    ],
)
def test_a_broken_package_is_told_in_one_sentence(
    group: str, arguments: tuple[str | Path, ...], broken: Run
) -> None:
    done = broken(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"affectlab: {_sentence(group)}\n"


def test_a_broken_package_leaves_other_verbs_alone(broken: Run) -> None:
    listed = broken("taxonomy", "show", "--json")
    assert {"weather", "mikels"} <= {entry["name"] for entry in _result(listed)["taxonomies"]}
    assert _result(listed)["notes"] == [_sentence("taxonomies")]
    done = broken("reproduce", "weather-moods", "--data", PLUGIN / "data", "--json")
    assert {row["verdict"] for row in _result(done)["rows"]} == {"reproduced"}
    # A look at a table asks every format whether the table is its own.
    assert done.stderr == f"affectlab: {_sentence('formats')}; it is left out\n"
    ours = broken("reproduce", "emonet-face", "--simulate", "--quick", "--json")
    assert len(_result(ours)["rows"]) > 5
