"""Errors of models as classifiers, distributions they predict, and what became of their answers."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.spatial.distance import jensenshannon
from sklearn.metrics import accuracy_score, confusion_matrix
from statsmodels.stats.proportion import proportion_confint
from tests.report.conftest import LABELS
from tests.report.panels import ratings_of, rows_of, table, text_of

from affectlab.ratings import Ratings
from affectlab.report import write_report

pytestmark = pytest.mark.long


def choices(n: int = 160, people: int = 7, seed: int = 0) -> dict[str, np.ndarray]:
    """Classes by rater: people who err now and then, a twin of theirs, and a guess."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 8, n)

    def noisy() -> np.ndarray:
        return np.where(rng.random(n) < 0.25, rng.integers(0, 8, n), truth)

    made = {f"p{k}": noisy() for k in range(people)}
    return made | {"twin": noisy(), "guess": rng.integers(0, 8, n)}


def nominal(answers: dict[str, np.ndarray], **options) -> Ratings:
    frame = pl.concat(
        pl.DataFrame(
            {
                "stimulus": [f"s{j}" for j in range(codes.size)],
                "rater": [name] * codes.size,
                "value": [LABELS[code] for code in codes],
            }
        )
        for name, codes in answers.items()
    )
    kinds = ["human" if name.startswith("p") else "model" for name in answers]
    return Ratings(
        frame,
        scale="nominal:" + ",".join(LABELS),
        raters={"rater": list(answers), "rater_kind": kinds},
        taxonomy="mikels",
        **options,
    )


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("classes")
    answers = choices()
    return answers, folder, text_of(write_report(nominal(answers), folder, n_boot=100))


class TestClasses:
    def test_accuracy_is_that_beside_the_plurality(self, written):
        answers, folder, _ = written
        people = np.stack([v for k, v in answers.items() if k.startswith("p")])
        votes = np.stack([(people == k).sum(axis=0) for k in range(8)])
        sure = (votes == votes.max(axis=0)).sum(axis=0) == 1
        truth = votes.argmax(axis=0)[sure]
        frame = table(folder, "classification")
        for model in ("twin", "guess"):
            row = frame.row(by_predicate=pl.col("rater") == model, named=True)
            assert row["accuracy"] == pytest.approx(accuracy_score(truth, answers[model][sure]))
            assert row["accuracy_low"] <= row["accuracy"] <= row["accuracy_high"]
            assert row["n_items"] == sure.sum()

    def test_severity_is_told_where_the_taxonomy_has_a_ring(self, written):
        _, folder, page = written
        frame = table(folder, "classification")
        assert {"ecc", "emc", "acc2"} <= set(frame.columns)
        section = page[page.index('<section id="errors"') :]
        assert "twin is right on" in section
        assert "guess is right on" in section
        assert "costs of mistakes: ring, lam 4, 2 to 8." in section

    def test_confusion_is_that_of_the_better_model(self, written):
        answers, _, page = written
        assert "What twin takes for what" in page
        assert "What guess takes for what" not in page
        people = np.stack([v for k, v in answers.items() if k.startswith("p")])
        votes = np.stack([(people == k).sum(axis=0) for k in range(8)])
        sure = (votes == votes.max(axis=0)).sum(axis=0) == 1
        counts = confusion_matrix(votes.argmax(axis=0)[sure], answers["twin"][sure])
        wrong = counts - np.diag(np.diag(counts))
        assert f"most often ({wrong.max()} of " in page

    def test_distributions(self, written):
        answers, folder, page = written
        people = np.stack([v for k, v in answers.items() if k.startswith("p")])
        shares = np.stack([(people == k).mean(axis=0) for k in range(8)], axis=1)
        one = np.eye(8)[answers["twin"]]
        apart = [jensenshannon(p, q, base=2) ** 2 for p, q in zip(shares, one, strict=True)]
        frame = table(folder, "soft_labels")
        row = frame.row(by_predicate=pl.col("rater") == "twin", named=True)
        assert row["jensen_shannon"] == pytest.approx(np.mean(apart))
        assert "guess is no nearer" in page
        assert "Calibration is not shown, because the models give answers" in page

    def test_without_costs_severity_is_left_out(self, tmp_path):
        answers = choices(n=60)
        renamed = pl.concat(
            pl.DataFrame(
                {
                    "stimulus": [f"s{j}" for j in range(codes.size)],
                    "rater": [name] * codes.size,
                    "value": [f"class {code}" for code in codes],
                }
            )
            for name, codes in answers.items()
        )
        kinds = ["human" if name.startswith("p") else "model" for name in answers]
        ratings = Ratings(renamed, raters={"rater": list(answers), "rater_kind": kinds})
        page = text_of(write_report(ratings, tmp_path, n_boot=0))
        assert "ecc" not in table(tmp_path, "classification").columns
        assert "severity is not judged" in page


class TestSetsOfLabels:
    def votes(self, seed: int = 0) -> tuple[dict[str, np.ndarray], np.ndarray]:
        rng = np.random.default_rng(seed)
        truth = rng.random((120, 8)) < 0.25
        made = {f"p{k}": truth ^ (rng.random(truth.shape) < 0.08) for k in range(5)}
        made["twin"] = truth ^ (rng.random(truth.shape) < 0.08)
        made["guess"] = rng.random(truth.shape) < 0.25
        return {name: value.astype(float) for name, value in made.items()}, truth

    def test_exact_matches_and_figure(self, tmp_path):
        answers, _ = self.votes()
        ratings = ratings_of(answers, scale="binary", taxonomy="mikels")
        page = text_of(write_report(ratings, tmp_path, n_boot=50))
        people = np.stack([v for k, v in answers.items() if k.startswith("p")])
        truth = people.mean(axis=0) >= 0.5
        frame = table(tmp_path, "classification")
        row = frame.row(by_predicate=pl.col("rater") == "twin", named=True)
        assert row["exact_match"] == pytest.approx(
            (truth == answers["twin"].astype(bool)).all(axis=1).mean()
        )
        assert "each true one is set against each predicted one" in page

    def test_probabilities_are_calibrated(self, tmp_path):
        """A model that says as much as the share of people is near 0; one that is sure is not."""
        rng = np.random.default_rng(3)
        chance = rng.dirichlet(np.full(4, 0.6), 400)
        labels = LABELS[:4]
        picks = {f"p{k}": np.eye(4)[[rng.choice(4, p=row) for row in chance]] for k in range(8)}
        people = Ratings(rows_of(picks, labels), scale="binary")
        sure = chance**4 / (chance**4).sum(axis=1, keepdims=True)
        models = Ratings(
            rows_of({"honest": chance, "sure": sure}, labels),
            scale="0-1 interval",
            raters={"rater": ["honest", "sure"], "rater_kind": ["model"] * 2},
        )
        page = text_of(write_report(people, tmp_path, models=models, n_boot=0))
        frame = table(tmp_path, "calibration")
        ece = dict(frame.select("rater", "ece").rows())
        assert ece["honest"] < 0.05 < 0.1 < ece["sure"]
        assert "The most probable label of honest is off by" in page
        for name in ("honest", "sure"):
            assert (tmp_path / "figures" / f"reliability_{name}.png").exists()


class TestOutcomes:
    def ratings(self) -> Ratings:
        rows = []
        for name, failed in (("p0", 0), ("p1", 0), ("p2", 0), ("fine", 0), ("shy", 30)):
            for j in range(100):
                bad = j < failed
                value = None if bad else float((j + len(name)) % 8)
                rows.append((f"s{j}", name, value, "refused" if bad else "ok"))
        frame = pl.DataFrame(rows, schema=["stimulus", "rater", "value", "outcome"], orient="row")
        kinds = ["human"] * 3 + ["model"] * 2
        return Ratings(
            frame,
            scale="0-7",
            raters={"rater": ["p0", "p1", "p2", "fine", "shy"], "rater_kind": kinds},
        )

    def test_shares_and_intervals(self, tmp_path):
        page = text_of(write_report(self.ratings(), tmp_path, n_boot=0))
        frame = table(tmp_path, "outcomes")
        assert frame["rater"].to_list() == ["fine", "shy"]
        row = frame.row(1, named=True)
        low, high = proportion_confint(70, 100, method="wilson")
        assert (row["value"], row["low"], row["high"]) == pytest.approx((0.7, low, high))
        assert row["refused"] == 30
        assert "Of 200 answers, 85.0 % can be used (refused 30)." in page.replace("\u00a0", " ")

    def test_all_fine(self, tmp_path):
        ratings = self.ratings().select(raters=["p0", "p1", "fine"])
        page = text_of(write_report(ratings, tmp_path, n_boot=0))
        assert "None of 100 answers was refused, lost or unreadable." in page


class TestControls:
    def ratings(self) -> Ratings:
        """A model that looks, and its run without the image, which is noise."""
        rng = np.random.default_rng(4)
        truth = rng.uniform(0, 7, (120, 2))
        answers = {f"p{k}": truth + rng.normal(0, 1, truth.shape) for k in range(5)}
        answers["net"] = truth + rng.normal(0, 1, truth.shape)
        answers["net blind"] = rng.uniform(0, 7, truth.shape)
        ratings = ratings_of(answers)
        control = {
            "rater": list(answers),
            "control": [None] * 6 + ["no_image"],
            "of": [None] * 6 + ["net"],
        }
        return ratings.with_raters(ratings.raters.join(pl.DataFrame(control), on="rater"))

    def test_control_runs_are_judged_as_such_and_by_nothing_else(self, tmp_path):
        page = text_of(write_report(self.ratings(), tmp_path, n_boot=50))
        assert "5 people and 1 model gave" in page
        assert table(tmp_path, "models")["rater"].to_list() == ["net"]
        runs = table(tmp_path, "control_runs")
        assert (runs["kept"] < 0.2).all()
        assert "without the image it keeps" in page

    def test_different_answers_do_not_become_the_same_by_rounding(self, tmp_path):
        rng = np.random.default_rng(5)
        low = rng.uniform(0, 0.4, (120, 2))
        people = {f"p{k}": rng.integers(0, 8, low.shape) for k in range(3)}
        models = Ratings(
            rows_of({"net": low, "blind": low + 0.01}, LABELS[:2]),
            scale="0-7 interval",
            raters={
                "rater": ["net", "blind"],
                "rater_kind": ["model"] * 2,
                "control": [None, "no_image"],
                "of": [None, "net"],
            },
        )
        write_report(ratings_of(people), tmp_path, models=models, n_boot=0)
        repeated = table(tmp_path, "control_duplicates")
        assert repeated.filter(rater="net")["value"].to_list() == [0.0]

    def test_an_attribute_of_that_name_may_mean_something_else(self, tmp_path):
        ratings = self.ratings()
        groups = ratings.raters.drop("control", "of").with_columns(control=pl.lit("group B"))
        page = text_of(write_report(ratings.with_raters(groups), tmp_path, n_boot=0))
        assert "5 people and 2 models gave" in page
        assert "no rater is marked as a control run" in page
