"""Models beside people: planted models are placed where they stand."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import cohen_kappa_score
from tests.report.conftest import LABELS
from tests.report.panels import planted, ratings_of, rows_of, table, text_of

from affectlab.evaluation import alignment
from affectlab.ratings import Ratings
from affectlab.report import write_report
from affectlab.report.first_page import models_question
from affectlab.report.page import in_words
from affectlab.report.statistics.study import Study

pytestmark = pytest.mark.long


class TestVerdict:
    def test_a_twin_is_inside_and_noise_is_below(self, tmp_path):
        ratings = ratings_of(planted("twin", "random"))
        paths = write_report(ratings, tmp_path, n_boot=300, seed=1)
        page = text_of(paths)
        assert (
            "Of 2 models twin is as good as people; random is not as good as people (within a "
            "margin of 0.05 of quadratic kappa)."
        ) in page
        frame = table(tmp_path, "models")
        assert dict(frame.select("rater", "verdict").rows()) == {
            "twin": "inside",
            "random": "below",
        }
        section = page[page.index('<section id="models"') :]
        assert "twin is inside the human range" in section
        assert "random is below the human range" in section

    @pytest.mark.parametrize(
        ("model", "placed"),
        [
            ("twin", "twin is as good as people: "),
            ("random", "random is not as good as people: "),
            ("oracle", "oracle agrees with people better than they do with one another: "),
        ],
    )
    def test_one_model(self, model, placed):
        study = Study(ratings_of(planted(model)), n_boot=300, seed=1)
        question = models_question(study)
        assert question.title == "Is the model as good as people?"
        row = study.beside.alignment.to_frame().row(0, named=True)
        answer = in_words(question)
        assert answer.startswith(placed)
        assert f"people is {row['agreement']:.2f}, theirs with one another" in answer
        assert f"interval {row['low']:.2f} to {row['high']:.2f})".replace("-", "−") in answer
        assert answer.split(", margin 0.05. ")[1] == study.bias.finding

    def test_without_intervals_nothing_is_said_of_models(self, tmp_path):
        ratings = ratings_of(planted("twin"))
        assert in_words(models_question(Study(ratings, n_boot=0))).startswith(
            "twin may or may not be"
        )
        paths = write_report(ratings, tmp_path, n_boot=0)
        assert not (tmp_path / "figures" / "model_differences.png").exists()
        assert "NaN" not in text_of(paths)

    def test_few_stimuli_show_nothing(self):
        answer = in_words(models_question(Study(ratings_of(planted("twin", n=20)), n_boot=100)))
        assert answer == "20 stimuli are too few to say."

    def test_many_people_are_cut_to_those_with_the_most_answers(self, tmp_path):
        ratings = ratings_of(planted("twin", people=60, n=40, labels=1))
        paths = write_report(ratings, tmp_path, n_boot=0)
        assert "Of 60 people the 50 with the most answers are compared." in text_of(paths)
        assert table(tmp_path, "models")["n_people"].to_list() == [50]


class TestNotShown:
    def reasons(self, ratings: Ratings, folder) -> dict[str, str]:
        page = text_of(write_report(ratings, folder, n_boot=0))
        return dict(re.findall(r"<b>([^<:]*):</b> (.*?)</li>", page))

    def test_no_models(self, tmp_path):
        ratings = ratings_of(planted())
        said = self.reasons(ratings, tmp_path)
        assert said["Models beside people"] == "there are no models among the raters."
        assert "people and models" in said["Errors"]
        assert "people and models" in said["Soft labels"]

    def test_no_people(self, tmp_path):
        answers = {k: v for k, v in planted("twin", "random").items() if not k.startswith("p")}
        said = self.reasons(ratings_of(answers), tmp_path)
        assert said["Models beside people"] == "there are no people among the raters."

    def test_one_person(self, tmp_path):
        ratings = ratings_of(planted("twin", people=1))
        said = self.reasons(ratings, tmp_path)
        assert said["Models beside people"] == "one person alone cannot show how far people agree."

    def test_points_of_a_scale_are_no_classes(self, tmp_path):
        ratings = ratings_of(planted("twin"))
        said = self.reasons(ratings, tmp_path)
        assert "points of a scale" in said["Errors"]
        assert "points of a scale" in said["Soft labels"]
        assert "no column outcome" in said["Outcomes of the answers"]

    def test_rounds_of_votes(self, tmp_path):
        rng = np.random.default_rng(1)
        rows = []
        for j in range(300):
            for rater in ("a", "b", "net"):
                yes = int(rng.random() < 0.8)
                rows.append((f"s{j}", rater, yes))
                if not yes:
                    break
        frame = pl.DataFrame(rows, schema=["stimulus", "rater", "value"], orient="row")
        kinds = {"rater": ["a", "b", "net"], "rater_kind": ["human", "human", "model"]}
        said = self.reasons(Ratings(frame, scale="binary", raters=kinds), tmp_path)
        assert "votes that stop at a no" in said["Models beside people"]


class TestNumbers:
    def test_people_and_models_against_an_independent_computation(self, report, panel):
        frame = pl.read_csv(
            next(path for path in report.tables if path.stem == "models_and_people")
        )
        answers = panel.answers()
        names = list(answers.rater_names)
        people = [k for k, kind in enumerate(answers.rater_kinds) if kind == "human"]
        matrices = [answers.matrix(label) for label in answers.label_names]
        assert frame["rater_kind"].to_list() == ["model"] * 2 + ["person"] * 5
        for row in frame.iter_rows(named=True):
            k = names.index(row["rater"])
            others = [p for p in people if p != k]
            kappas = [_kappa(matrix[k], matrix[p]) for matrix in matrices for p in others]
            assert row["kappa"] == pytest.approx(np.mean(kappas))
            if k in people:
                found = [
                    _spearman(matrix[k], np.nanmedian(matrix[others], axis=0))
                    for matrix in matrices
                ]
            else:
                found = [
                    _spearman(
                        np.where(np.isnan(matrix[left_out]), np.nan, matrix[k]),
                        np.nanmedian(matrix[[p for p in people if p != left_out]], axis=0),
                    )
                    for matrix in matrices
                    for left_out in people
                ]
            assert row["spearman"] == pytest.approx(np.mean(found))

    def test_people_below_a_model_are_counted(self, tmp_path):
        write_report(ratings_of(planted("twin", "random", "oracle")), tmp_path, n_boot=0)
        everybody = table(tmp_path, "models_and_people")
        people = everybody.filter(rater_kind="person")
        for row in everybody.filter(rater_kind="model").iter_rows(named=True):
            assert row["people_below"] == (people["kappa"] < row["kappa"]).sum()
        assert everybody["people_below"].to_list()[:3].count(8) >= 1

    def test_models_are_counted_as_the_table_says(self, tmp_path):
        ratings = ratings_of(planted("twin", "random", "random too", "oracle"))
        write_report(ratings, tmp_path, n_boot=300, seed=1)
        verdicts = table(tmp_path, "models")["verdict"].to_list()
        assert sorted(verdicts) == ["above", "below", "below", "inside"]
        assert in_words(models_question(Study(ratings, n_boot=300, seed=1))).startswith(
            "Of 4 models oracle agrees with people better than they do with one another; twin is "
            "as good as people; 2 are not as good as people"
        )

    def test_table_is_that_of_the_alignment(self, report, panel):
        frame = pl.read_csv(next(path for path in report.tables if path.stem == "models"))
        theirs = alignment(panel, seed=1).to_frame()
        for name in ("agreement", "difference", "low", "high", "spearman", "winning_rate"):
            np.testing.assert_allclose(frame[name], theirs[name])
        assert frame["verdict"].to_list() == theirs["verdict"].to_list()

    def test_models_meet_panels_as_large_as_people_do(self):
        """A model that answers as people do must not stand above them by a larger panel."""
        above = []
        for seed in range(12):
            ratings = ratings_of(planted("twin", n=150, people=3, labels=1, seed=seed))
            frame = Study(ratings, n_boot=0).beside.alignment.to_frame("models_and_people")
            above.append(frame["spearman"][0] - frame["spearman"][1:].mean())
        assert abs(np.mean(above)) < 0.015


def _kappa(first: np.ndarray, second: np.ndarray) -> float:
    both = ~np.isnan(first) & ~np.isnan(second)
    pair = (part[both].astype(int) for part in (first, second))
    return cohen_kappa_score(*pair, labels=range(8), weights="quadratic")


def _spearman(first: np.ndarray, second: np.ndarray) -> float:
    both = ~np.isnan(first) & ~np.isnan(second)
    return spearmanr(first[both], second[both]).statistic


class TestModelsOfTheirOwn:
    """People in one table, models in another."""

    def two(self, *models: str, **options) -> tuple[Ratings, Ratings]:
        answers = planted(*models, **options)
        people = ratings_of({k: v for k, v in answers.items() if k.startswith("p")})
        fine = {k: np.clip(v, 0, 7) for k, v in answers.items() if not k.startswith("p")}
        raters = {"rater": list(fine), "rater_kind": ["model"] * len(fine)}
        labels = LABELS[: next(iter(fine.values())).shape[1]]
        return people, Ratings(rows_of(fine, labels), scale="0-7 interval", raters=raters)

    def test_any_number_is_rounded_for_kappa_and_kept_for_correlation(self, tmp_path):
        people, models = self.two("twin", "random")
        paths = write_report(people, tmp_path, models=models, n_boot=200, seed=3)
        theirs = alignment(people, models, seed=3).to_frame()
        frame = table(tmp_path, "models")
        np.testing.assert_allclose(frame["difference"], theirs["difference"])
        np.testing.assert_allclose(frame["spearman"], theirs["spearman"])
        page = text_of(paths)
        assert "answers of models: rounded to steps" in page
        assert "8 people and 2 models" in page

    def test_models_that_are_called_people_are_judged_all_the_same(self):
        people, models = self.two("twin")
        named = models.with_raters({"rater": ["twin"], "rater_kind": ["human"]})
        assert Study(people, named, n_boot=0).ratings.rater_kinds[-1] == "model"

    def test_models_in_both_tables_stand_together(self, tmp_path):
        answers = planted("twin", "random")
        first = ratings_of({k: v for k, v in answers.items() if k != "random"})
        second = ratings_of({"random": answers["random"]})
        write_report(first, tmp_path, models=second, n_boot=0)
        assert table(tmp_path, "models")["rater"].to_list() == ["twin", "random"]


def test_answers_of_several_people_are_left_out(tmp_path):
    answers = planted("twin", people=4)
    everybody = np.stack([v for k, v in answers.items() if k.startswith("p")])
    answers["p-all"] = everybody.mean(axis=0)
    ratings = ratings_of(answers)
    marked = ratings.with_raters(ratings.raters.with_columns(aggregated=pl.col("rater") == "p-all"))
    page = text_of(write_report(marked, tmp_path, n_boot=0))
    assert "p-all is excluded from this report" in page
    assert "4 people and 1 model gave" in page
    write_report(
        ratings.select(raters=[n for n in answers if n != "p-all"]), tmp_path / "b", n_boot=0
    )
    for name in ("agreement", "models", "raters"):
        ours, theirs = table(tmp_path, name), table(tmp_path / "b", name)
        assert ours.select(theirs.columns).equals(theirs)


def test_the_only_person_stays_though_it_stands_for_several():
    answers = {"p0": planted()["p0"], "m0": planted("twin")["twin"]}
    ratings = ratings_of(answers)
    marked = ratings.with_raters(ratings.raters.with_columns(aggregated=pl.col("rater") == "p0"))
    assert Study(marked, n_boot=0).stand_ins == ()
