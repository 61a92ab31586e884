"""A model of raters in a folder: trained, judged and asked, in Python and on the command line."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from benchmarks.crowd import simulated
from tests.cli.command import run_here

from affectlab.core.errors import InputError
from affectlab.evaluation import disagreement_metrics
from affectlab.models.crowd import CrowdModel
from affectlab.models.embedding import Embeddings, EncoderCard
from affectlab.ratings import Ratings, read_ratings

QUICK: dict[str, Any] = {"n_splits": 2, "penalties": [0.5], "shrinkages": [1.0]}


def embedded(features: dict[str, Any], *, fingerprint: str = "0ab1") -> Embeddings:
    """Embeddings of the stimuli, and of one that nobody has rated."""
    names = (*features, "new")
    values = np.array([*features.values(), np.zeros(12)], dtype=np.float16)
    hashes = tuple(sha256(name.encode()).hexdigest() for name in names)
    return Embeddings(values, names, hashes, EncoderCard("mine", "image", 12, fingerprint))


@pytest.fixture(scope="module")
def people() -> tuple[Ratings, Embeddings]:
    ratings, features = simulated("spam", 1)
    return ratings, embedded(features)


@pytest.fixture(scope="module")
def model(people: tuple[Ratings, Embeddings]) -> CrowdModel:
    return CrowdModel.train(*people, how="per_rater", name="us", **QUICK)[0]


def test_it_answers_as_people_and_for_all_of_them(
    people: tuple[Ratings, Embeddings], model: CrowdModel, tmp_path: Path
) -> None:
    ratings, embeddings = people
    loaded = CrowdModel.load(model.save(tmp_path / "us"))
    as_people = loaded.rate(embeddings, people=["all"])
    assert as_people.to_frame().equals(model.rate(embeddings, people=["all"]).to_frame())
    assert set(as_people.to_frame()["answers_as"]) == set(ratings.rater_names)
    # It has learned from these answers, and knows of each who gave them.
    judged = disagreement_metrics(ratings, as_people).to_frame()
    assert judged.filter(measure="MER")["value"].item() < 0.1
    together = loaded.rate(embeddings, rater="crowd")
    assert together.rater_names == ("crowd",)
    shares = together.to_frame().join(
        ratings.to_frame().group_by("stimulus", "label").agg(pl.col("value").mean()),
        on=["stimulus", "label"],
    )
    assert shares.select(pl.corr("value", "value_right")).item() > 0.8
    assert together.raters["n_seen"].item() == 60
    assert together.n_stimuli == 61


def test_embeddings_and_people_that_do_not_fit(
    people: tuple[Ratings, Embeddings], model: CrowdModel, tmp_path: Path
) -> None:
    with pytest.raises(InputError):
        model.rate(embedded({}, fingerprint="ff"))
    with pytest.raises(InputError):
        model.rate(people[1], people=["nobody"])
    with pytest.raises(InputError):
        model.rate(tmp_path)


@pytest.mark.parametrize(
    "harm",
    [
        lambda meta: meta["shape"].update(n_raters=3),
        lambda meta: meta["shape"].update(how="most"),
        lambda meta: meta.update(raters=[]),
        lambda meta: meta.update(scale={"kind": "colour"}),
        lambda meta: meta["settings"].update(depth=3),
        lambda meta: meta.pop("labels"),
    ],
)
def test_a_folder_that_was_changed_is_refused(harm: Any, model: CrowdModel, tmp_path: Path) -> None:
    folder = model.save(tmp_path / "us")
    meta = json.loads((folder / "model.json").read_text())
    harm(meta)
    (folder / "model.json").write_text(json.dumps(meta))
    with pytest.raises(InputError):
        CrowdModel.load(folder)


@pytest.mark.parametrize("scale", ["nominal:anger,fear", "1-3"])
def test_one_question(scale: str) -> None:
    rng = np.random.default_rng(0)
    features = {f"s{at}": rng.normal(size=12) for at in range(30)}
    side = np.array([row[0] > 0 for row in features.values()]).astype(int)
    value = np.array(["anger", "fear"])[side] if scale[0] == "n" else 1 + 2 * side
    table = {
        "stimulus": list(features) * 3,
        "rater": np.repeat(["a", "b", "c"], 30),
        "value": np.tile(value, 3),
    }
    ratings = Ratings(table, scale=scale)
    model = CrowdModel.train(ratings, embedded(features), how="soft", **QUICK)[0]
    as_people = model.rate(embedded(features), people=["a"]).to_frame()
    # Categories are known by their places.
    coded = side if scale[0] == "n" else value
    given = dict(zip(features, coded.tolist(), strict=True))
    right = [
        given[s] == v for s, v in as_people.select("stimulus", "value").iter_rows() if s != "new"
    ]
    assert np.mean(right) > 0.9
    together = model.rate(embedded(features)).to_frame()
    assert together.height == 31 * (2 if scale[0] == "n" else 1)


def test_on_the_command_line(people: tuple[Ratings, Embeddings], tmp_path: Path) -> None:
    ratings, embeddings = people
    ratings.write(tmp_path / "people.csv")
    embeddings.save(tmp_path / "emb")
    out, guessed = tmp_path / "us", tmp_path / "guessed.csv"
    told = ("--embeddings", tmp_path / "emb", "--n-splits", "2", "--how", "per_rater")
    done = run_here(
        "train", "crowd", tmp_path / "people.csv", *told, "--out", out, "--predictions", guessed,
        "--json",
    )  # fmt: skip
    found = json.loads(done.stdout)["result"]
    assert found["how"] == "per_rater"
    assert {row["how"] for row in found["comparison"]["gains"]} == {"soft", "per_rater"}
    kept = json.loads((out / "model.json").read_text(encoding="utf-8"))["comparison"]
    assert sum(row["how"] == "per_rater" for row in kept["measures"] + kept["gains"]) == 12
    assert (out / "README.md").is_file()
    assert set(read_ratings(guessed).rater_names) == {"majority", "soft", "per_rater"}
    run_here(
        "rate", out, tmp_path / "emb", "--out", tmp_path / "r.csv", "--set", "people=r001,r002"
    )
    assert read_ratings(tmp_path / "r.csv").to_frame()["answers_as"].n_unique() == 2
    run_here("rate", out, tmp_path / "people.csv", "--out", tmp_path / "no.csv", code=2)
