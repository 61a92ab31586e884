"""Faces of the same actors are left out together where models predict the answers of people."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

from affectlab.cli import main
from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason
from affectlab.core.tables import Table
from affectlab.evaluation import calibration, evaluate_soft_labels, soft_label_metrics
from affectlab.evaluation.soft_labels import model_calibration, soft_label_comparison
from affectlab.evaluation.soft_labels.calibration import Bins
from affectlab.ratings import Ratings, write_ratings
from affectlab.report.page import Section
from affectlab.report.sections.classes import soft_section
from affectlab.report.statistics import Study

ACTORS, FACES, PEOPLE = 12, 10, 6
LABELS = ["joy", "fear", "awe"]
ACTOR = np.repeat(np.arange(ACTORS), FACES)
NAMES = [f"s{k:03d}" for k in range(ACTOR.size)]
ONE = "a person against the others"


def sides(seed: int = 1) -> tuple[Ratings, Ratings]:
    """People, and a model that errs alike on all faces of an actor, on some actors more."""
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet(np.ones(3), ACTOR.size)
    wrong = rng.dirichlet(np.full(3, 0.5), ACTORS)[ACTOR]
    weight = rng.random(ACTORS)[ACTOR, None]
    said = (1 - weight) * truth + weight * wrong
    votes = [[LABELS[rng.choice(3, p=share)] for _ in range(PEOPLE)] for share in truth]
    people = Ratings(
        {
            "stimulus": np.repeat(NAMES, PEOPLE),
            "rater": [f"p{k}" for k in range(PEOPLE)] * ACTOR.size,
            "value": np.ravel(votes),
            "actor": [f"a{k}" for k in np.repeat(ACTOR, PEOPLE)],
        },
        scale="nominal:joy,fear,awe",
    )
    model = Ratings(
        {
            "stimulus": np.repeat(NAMES, 3),
            "rater": ["net"] * (3 * ACTOR.size),
            "label": LABELS * ACTOR.size,
            "value": said.ravel(),
        },
        scale="0-1 interval",
    )
    return people, model


def test_errors_are_those_of_leaving_out_actors() -> None:
    people, model = sides()
    options = {"metrics": ["brier"], "n_splits": 1}
    found = soft_label_metrics(people, model, **options)
    apart = soft_label_comparison(people, model, **options)
    sure = model_calibration(people, model, n_bins=5)["net"]
    rows = [found["net", "brier"], apart["net", ONE, "brier"], sure["overconfidence"]]
    left_out = []
    for k in range(ACTORS):
        kept = np.array(NAMES)[k != ACTOR].tolist()
        part = people.select(stimuli=kept), model.select(stimuli=kept)
        left_out.append(
            [
                soft_label_metrics(*part, n_boot=0, **options)["net", "brier"].value,
                soft_label_comparison(*part, n_boot=0, **options)["net", ONE, "brier"].value,
                model_calibration(*part, n_bins=5, n_boot=0)["net"]["overconfidence"].value,
            ]
        )
    by_hand = np.sqrt((ACTORS - 1) * np.var(left_out, axis=0))
    assert [row.se for row in rows] == pytest.approx(by_hand.tolist(), rel=1e-9)
    assert {row.target for row in rows} == {"actors"}


def test_intervals_are_wider_where_actors_go_together() -> None:
    people, model = sides()
    found = evaluate_soft_labels(people, model, n_bins=5)
    alone = evaluate_soft_labels(people, model, n_bins=5, cluster="none")
    assert (found.settings["units"], alone.settings["units"]) == ("actors", "stimuli")
    of = dict(zip(NAMES, ACTOR.tolist(), strict=True))
    same = evaluate_soft_labels(people, model, n_bins=5, cluster=of)
    width = []
    for one in (found, alone, same):
        rows = [
            one.metrics["net", "jensen_shannon"],
            one.comparison["net", ONE, "jensen_shannon"],
            one.calibration["net"]["overconfidence"],
            one.calibration["net"]["ece"],
        ]
        width.append([row.high - row.low for row in rows])
    assert np.all(np.array(width[0]) > 1.15 * np.array(width[1]))
    assert width[2] == pytest.approx(width[0], rel=1e-9)
    # A test counts actors as well.
    p, of_faces = (one.comparison.frame["p"].to_numpy() for one in (found, alone))
    wider = found.comparison.frame["se"].to_numpy() > alone.comparison.frame["se"].to_numpy()
    assert wider.any()
    assert (p[wider] > of_faces[wider]).all()
    bins, single = (one.calibration["net"].bins.filter(pl.col("n") > 0) for one in (found, alone))
    spans = [part["share_high"] - part["share_low"] for part in (bins, single)]
    assert (spans[0] >= spans[1] - 1e-12).all()


def test_few_actors_have_no_interval() -> None:
    people, model = sides()
    part = [side.select(stimuli=np.array(NAMES)[ACTOR < 4].tolist()) for side in (people, model)]
    found = evaluate_soft_labels(*part, n_bins=5)
    row = found.metrics["net", "jensen_shannon"]
    assert np.isnan(row.low)
    assert row.reason == Reason(Cause.FEW_UNITS, 4, 5, "actors")
    row = found.calibration["net"]["ece"]
    assert np.isnan(row.high)
    assert row.reason == Reason(Cause.FEW_UNITS, 4, 5, "actors")


def test_distributions_alone_are_told() -> None:
    people, model = sides()
    found = evaluate_soft_labels(people, model)
    given = found.people, dict(found.predictions)
    plain = soft_label_metrics(*given, metrics=["brier"])["net", "brier"]
    told = soft_label_metrics(*given, metrics=["brier"], cluster=ACTOR.tolist())["net", "brier"]
    assert (plain.target, told.target) == ("stimuli", "clusters")
    assert told.se > 1.2 * plain.se
    with pytest.raises(InputError, match="cluster"):
        soft_label_metrics(*given, cluster="actor")
    with pytest.raises(InputError, match="film"):
        soft_label_metrics(people, model, cluster="film")


def test_noise_of_bins_by_hand() -> None:
    """Covariance of the means of bins over clusters, against its plain double sum."""
    rng = np.random.default_rng(3)
    c, values, code = rng.random(60), rng.normal(size=60), np.arange(60) // 6
    bins = Bins.of(c, np.array([0, 0.3, 0.7, 1.0]))
    n, units, covariance = bins.errors(values, code)
    each = np.zeros((10, 3))
    for b in range(3):
        inside = bins.place == b
        for g in range(10):
            mine = inside & (code == g)
            each[g, b] = (values[mine] - values[inside].mean()).sum() / inside.sum()
        assert (n[b], units[b]) == (inside.sum(), np.unique(code[inside]).size)
    few = np.sqrt(units / (units - 1))
    np.testing.assert_allclose(covariance, each.T @ each * np.outer(few, few), atol=1e-15)
    # Items one by one: the usual standard errors, and bins that have nothing to do with another.
    n, _, covariance = bins.errors(values, np.arange(60))
    by_bin = [values[bins.place == b].var(ddof=1) / n[b] for b in range(3)]
    np.testing.assert_allclose(covariance, np.diag(by_bin), atol=1e-15)


def test_clusters_of_single_items_change_nothing() -> None:
    rng = np.random.default_rng(4)
    sure = rng.random(200)
    right = (rng.random(200) < sure).astype(float)
    plain = calibration(sure, right, n_bins=5)
    single = calibration(sure, right, n_bins=5, clusters=np.arange(200))
    for name in ("low", "high"):
        np.testing.assert_allclose(single.frame[name], plain.frame[name], rtol=1e-9)
    with pytest.raises(InputError, match="one per item"):
        calibration(sure, right, clusters=[1, 2])


def test_the_verb_takes_a_column(tmp_path, capsys) -> None:
    people, model = sides()
    files = [str(tmp_path / name) for name in ("people.parquet", "net.parquet")]
    for ratings, file in zip((people, model), files, strict=True):
        write_ratings(ratings, file)
    run = ["evaluate", "soft-labels", files[0], "--models", files[1], "--json"]
    units = []
    for more in ([], ["--cluster", "none"]):
        with pytest.raises(SystemExit, match="0"):
            main([*run, *more])
        units.append(json.loads(capsys.readouterr().out)["result"]["settings"]["units"])
    assert units == ["actors", "stimuli"]


def test_pages_say_the_same() -> None:
    people, model = sides()
    for cluster in (None, "none"):
        section = soft_section(Study(people, model, cluster=cluster, n_boot=20))
        assert isinstance(section, Section)
        tables = {block.name: block.frame for block in section.blocks if isinstance(block, Table)}
        own = soft_label_metrics(people, model, cluster=cluster, n_boot=20)["net", "jensen_shannon"]
        row = tables["soft_labels"].row(0, named=True)
        assert [row["jensen_shannon_low"], row["jensen_shannon_high"]] == [own.low, own.high]
        sure = model_calibration(people, model, cluster=cluster, n_boot=20)["net"]["overconfidence"]
        assert tables["calibration"]["overconfidence_low"][0] == sure.low
