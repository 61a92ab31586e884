"""Gaps that are planted are told, groups that are alike are not accused."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest
from tests.report.conftest import LABELS
from tests.report.panels import planted, ratings_of, table, text_of

from affectlab.ratings import Ratings
from affectlab.report import write_report
from affectlab.report.sections.fairness import _attributes


def grouped(gap: float = 2.0, n: int = 150, **more) -> Ratings:
    """A twin of people, and a net that is off by ``gap`` on every second stimulus."""
    answers = planted("twin", n=n)
    off = np.arange(n) % 2 == 0
    rng = np.random.default_rng(1)
    truth = np.mean([v for k, v in answers.items() if k.startswith("p")], axis=0)
    answers["net"] = truth + rng.normal(0, 1, truth.shape) + gap * off[:, None]
    ratings = ratings_of(answers)
    stimuli = {
        "stimulus": [f"s{j}" for j in range(n)],
        "half": np.where(off, "even", "odd"),
        "age": np.arange(n),
        "file": [f"{j}.png" for j in range(n)],
        **more,
    }
    return ratings.with_stimuli(pl.DataFrame(stimuli))


class TestGaps:
    @pytest.fixture(scope="class")
    @staticmethod
    def written(tmp_path_factory):
        folder = tmp_path_factory.mktemp("fairness")
        return folder, text_of(write_report(grouped(), folder, n_boot=200, seed=1))

    def test_the_planted_gap_is_the_only_one_shown(self, written):
        folder, page = written
        half, age = (table(folder, f"fairness_gaps_{place}") for place in (1, 2))
        assert half.filter("flagged")["rater"].to_list() == ["net"]
        assert not age["flagged"].any()
        section = page[page.index('<section id="fairness"') :]
        assert "lower for odd than for even" in section

    def test_values_are_mean_absolute_errors_beside_the_mean_of_people(self, written):
        folder, _ = written
        ratings = grouped()
        frame = ratings.to_frame().join(ratings.stimuli, on="stimulus")
        person = pl.col("rater").str.starts_with("p")
        mean = frame.filter(person).group_by("stimulus", "label").agg(mean=pl.col("value").mean())
        mine = frame.filter(rater="net").join(mean, on=["stimulus", "label"])
        expected = mine.group_by("half").agg(error=(pl.col("value") - pl.col("mean")).abs().mean())
        found = table(folder, "fairness_groups_1").filter(rater="net")
        both = found.join(expected, left_on="group", right_on="half")
        assert both.height == 2
        np.testing.assert_allclose(both["value"], both["error"])

    def test_only_gaps_that_are_shown_are_drawn(self, written):
        folder, page = written
        assert (folder / "figures" / "fairness_1.png").exists()
        assert not (folder / "figures" / "fairness_2.png").exists()
        assert "By half of the stimuli" in page

    @pytest.mark.long
    def test_all_attributes_share_the_error_rate(self, tmp_path):
        """Twenty attributes of chance: no more than one report in a while may cry wolf."""
        rng = np.random.default_rng(0)
        chance = {f"a{k}": rng.choice(["x", "y"], 60) for k in range(20)}
        page = text_of(write_report(grouped(0.0, n=60, **chance), tmp_path, n_boot=100, seed=2))
        assert "Of 22 attributes the first 6 are looked at." in page
        gaps = [table(tmp_path, f"fairness_gaps_{place}") for place in range(1, 7)]
        assert not any(one["flagged"].any() for one in gaps)

    @pytest.mark.long
    def test_without_intervals_nothing_is_tested(self, tmp_path):
        page = text_of(write_report(grouped(), tmp_path, n_boot=0))
        assert "Gaps are not tested, because intervals were not asked for." in page
        assert set(table(tmp_path, "fairness_gaps_1")["said"]) == {"not tested"}

    @pytest.mark.long
    def test_classes_are_compared_by_accuracy(self, tmp_path):
        rng = np.random.default_rng(0)
        truth = rng.integers(0, 4, 80)
        rows = []
        for name in ("p0", "p1", "p2", "net"):
            wrong = (np.arange(80) % 2 == 0) & (name == "net")
            codes = np.where(wrong, (truth + 1) % 4, truth)
            rows += [(f"s{j}", name, LABELS[code]) for j, code in enumerate(codes)]
        ratings = Ratings(
            pl.DataFrame(rows, schema=["stimulus", "rater", "value"], orient="row"),
            scale="nominal:" + ",".join(LABELS),
            raters={"rater": ["p0", "p1", "p2", "net"], "rater_kind": ["human"] * 3 + ["model"]},
            stimuli={"stimulus": [f"s{j}" for j in range(80)], "half": ["even", "odd"] * 40},
            taxonomy="mikels",
        )
        write_report(ratings, tmp_path, n_boot=100, seed=1)
        groups = table(tmp_path, "fairness_groups_1")
        assert dict(groups.select("group", "value").rows()) == {"even": 0.0, "odd": 1.0}
        assert table(tmp_path, "fairness_gaps_1")["flagged"].all()


class TestAttributes:
    def found(self, **columns) -> list[tuple[str, tuple[float, ...]]]:
        n = len(next(iter(columns.values())))
        frame = pl.DataFrame({"stimulus": [f"s{k}" for k in range(n)], **columns})
        return [(one.name, one.edges) for one in _attributes(frame, "stimulus")]

    def test_two_to_eight_groups_of_five(self):
        assert self.found(a=["x", "y"] * 10) == [("a", ())]
        assert self.found(a=["x"] * 20) == []
        assert self.found(a=["x"] * 17 + ["y"] * 3) == []
        assert self.found(a=[f"{k % 9}" for k in range(90)]) == []
        assert self.found(a=[None] * 20) == []

    def test_numbers_are_cut_into_thirds(self):
        assert self.found(age=list(range(20, 80))) == [("age", (40.0, 59.0))]
        assert self.found(level=[1, 2, 3] * 10) == [("level", ())]
        assert self.found(age=[1.5] * 30 + [2.5]) == []

    def test_names_of_files_and_controls_make_no_groups(self):
        assert self.found(file=["a", "b"] * 10, control=["no_image", "x"] * 10) == []


@pytest.mark.parametrize(
    ("ratings", "reason"),
    [
        (ratings_of(planted("twin", n=40)), "no attribute of the stimuli or of the people"),
        (ratings_of(planted(n=40)), "this needs people and models"),
    ],
    ids=["no attributes", "no models"],
)
def test_a_reader_learns_why_it_is_absent(ratings, reason, tmp_path):
    page = text_of(write_report(ratings, tmp_path, n_boot=0))
    assert reason in re.search(r"<b>Fairness:</b> (.*?)</li>", page)[1]


@pytest.mark.long
def test_groups_are_told_safely(tmp_path):
    """HTML in a group, and in the name of an attribute, is text."""
    bad = "<script>alert(1)</script>"
    ratings = grouped(n=60, **{bad: np.where(np.arange(60) % 2, "<b>odd</b>", "<i>even</i>")})
    page = write_report(ratings, tmp_path, n_boot=100).html.read_text("utf-8")
    assert bad not in page
    assert "<b>odd</b>" not in page
