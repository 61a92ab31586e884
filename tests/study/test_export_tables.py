"""The tables beside the ratings: sessions, cells that compute, names of columns, the card."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from affectlab import InputError
from affectlab.study import load_study, open_store
from affectlab.study.dataset.ratings import export
from affectlab.study.dataset.release import release
from affectlab.study.dataset.sessions import guard_csv
from affectlab.study.people.entry import enter
from affectlab.study.recruit.eligibility import Visitor
from affectlab.study.service import Service
from affectlab.study.store import pseudonym

from .answering import complete
from .conftest import FACES
from .withdrawing import (
    ABOUT,
    CONSENT,
    Maker,
    take_part,
)


class TestLeavingTheStudy:
    """What leaves the study says what a methods section needs, and runs nothing."""

    def test_sessions_tell_what_went_wrong(self, make_study: Maker, tmp_path: Path) -> None:
        store = make_study(FACES + CONSENT)
        service, token, state = take_part(store, most=1)
        service.report(token, "blur", {})
        service.report(token, "blur", {})
        service.report(token, "image_retry", {"attempt": 1})
        state = service.state(token)
        service.skip(token, int(state["trial"]["id"]), "image failed")
        export(store, tmp_path / "out")
        row = pl.read_csv(tmp_path / "out" / "sessions.csv").row(0, named=True)
        wanted = {
            "stage": "trials",
            "answers": 1,
            "skipped": 1,
            "broken_images": 1,
            "image_retries": 1,
            "blurs": 2,
            "consent_version": 1,
            "quiz_attempts": 0,
            "pay": None,
            "finished_at": None,
            "rater": pseudonym(store, 1),
        }
        assert {key: row[key] for key in wanted} == wanted
        assert row["started_at"][:2] == "20"

    def test_a_formula_is_text(self, make_study: Maker, tmp_path: Path) -> None:
        store = make_study(FACES + ABOUT)
        service = Service(store)
        token = enter(store, Visitor())
        evil = '=HYPERLINK("http://evil","x")'
        service.advance(token, "demographics", {"answers": {"town": evil}})
        state = service.advance(token, "instructions", {})
        complete(service, token, state)
        export(store, tmp_path / "out")
        release(store, tmp_path / "set")
        for file in [*(tmp_path / "out").glob("*.csv"), *(tmp_path / "set").glob("*.csv")]:
            table = pl.read_csv(file, infer_schema=False)
            for cell in (cell for row in table.rows() for cell in row if cell):
                assert cell[0] not in "=+@\t", (file.name, cell)
        # Parquet holds what was written.
        from affectlab.ratings import read_ratings

        raters = read_ratings(tmp_path / "out" / "ratings.parquet").raters
        assert raters["town"].to_list() == [evil]


@pytest.mark.parametrize("cell", ["=1+1", "+1 (555)", "-x", "@a", "\ta", "\rx"])
def test_cells_that_compute(tmp_path: Path, cell: str) -> None:
    path = tmp_path / "t.csv"
    pl.DataFrame({"a": [cell], "b": ["-1.5e-3"], "c": ["fine, = here"]}).write_csv(path)
    guard_csv(path)
    read = pl.read_csv(path, infer_schema=False).row(0)
    assert read == (f"'{cell}", "-1.5e-3", "fine, = here")


def test_a_cell_longer_than_the_csv_module_takes_by_default(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    long = "=" + "x, " * 100_000
    pl.DataFrame({"a": [long], "b": [1]}).write_csv(path)
    guard_csv(path)
    assert pl.read_csv(path).row(0) == (f"'{long}", 1)


@pytest.mark.parametrize("name", ["rater", "rater_kind", "language", "stimulus", "movement"])
def test_a_question_cannot_take_the_name_of_a_column(make_study: Maker, name: str) -> None:
    with pytest.raises(InputError, match=f"'{name}' is a column of the export"):
        make_study(FACES + ABOUT.replace("town", name))


def test_the_card_counts_main_answers_as_data(make_study: Maker, tmp_path: Path) -> None:
    (tmp_path / "golden.csv").write_text("stimulus,label,value\nface-001,awe,3\n", "utf-8")
    probe = make_study(FACES)
    name = next(iter(probe.content.values()))["name"]
    (tmp_path / "golden.csv").write_text(f"stimulus,label,value\n{name},awe,3\n", "utf-8")
    probe.close()
    (tmp_path / "study.toml").unlink()
    text = (
        FACES.replace("faces = 6", 'faces = 6\ngolden = "golden.csv"')
        .replace("group_by = [] }", "group_by = [] }, checks = { golden = 1 }")
        .replace('name = "faces"', 'name = "golden"')
    )
    path = tmp_path / "golden.toml"
    path.write_text(text, encoding="utf-8")
    with open_store(load_study(path)) as store:
        take_part(store)
        release(store, tmp_path / "out")
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "\n3 ratings of 3 stimuli by 1 person. Not counted here: 1 row of" in card
