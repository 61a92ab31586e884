"""Writing: files, determinism, progress, own sections, bad input."""

from __future__ import annotations

from dataclasses import dataclass

import matplotlib as mpl
import polars as pl
import pytest
from PIL import Image

from affectlab.core.errors import InputError
from affectlab.core.tables import Column, Table
from affectlab.ratings import Ratings
from affectlab.report import draw_figure, write_report
from affectlab.report.page import Paragraph, Picture, ReportPaths, Section


def own_section(name: str = "truth") -> Section:
    frame = pl.DataFrame({"what": ["bias"], "r": [0.98765]})
    table = Table(
        name, "Recovery.", frame, (Column("what", "What", "name"), Column("r", "r", "number"))
    )
    picture = Picture(
        name,
        "Recovery",
        "How well.",
        "r is 0.99.",
        draw_figure("intervals", {"value": [0.99], "low": [0.9], "high": [1.0]}, value_name="r"),
    )
    return Section("recovery", "Recovery of the truth", (Paragraph("Well <done>."), table, picture))


@pytest.fixture(scope="module")
def few() -> Ratings:
    """Answers that make a report of few figures, for what no figure bears on."""
    frame = {"stimulus": ["a", "b", "a", "b"], "rater": ["x", "x", "y", "y"], "value": [1, 5, 2, 4]}
    return Ratings(frame, scale="0-7")


def test_files_beside_the_page(report):
    folder = report.html.parent
    assert report.html == folder / "report.html"
    assert all(path.is_file() and path.parent == folder / "tables" for path in report.tables)
    assert all(path.stat().st_size > 500 for path in report.figures)
    stems = {path.stem for path in report.figures}
    assert len(report.figures) == 2 * len(stems)
    with Image.open(next(p for p in report.figures if p.name == "pairs.png")) as picture:
        assert picture.convert("RGB").getpixel((0, 0)) == (255, 255, 255)
        assert picture.width > 800


@pytest.mark.long
def test_same_input_same_bytes(panel, report, tmp_path, monkeypatch):
    again = write_report(panel, tmp_path, n_boot=200, seed=1)
    for first, second in zip(
        (*report.tables, *report.figures), (*again.tables, *again.figures), strict=True
    ):
        assert first.name == second.name
        assert first.read_bytes() == second.read_bytes()


@pytest.mark.long
def test_date_is_that_of_source_date_epoch(few, tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    pages = [write_report(few, tmp_path / name, n_boot=0).html.read_bytes() for name in ("a", "b")]
    assert pages[0] == pages[1]
    assert b'datetime="1970-01-01"' in pages[0]


@pytest.mark.long
def test_seed_changes_the_intervals_only(panel, report, tmp_path):
    other = write_report(panel, tmp_path, n_boot=200, seed=2)
    first, second = (
        pl.read_csv(next(p for p in paths.tables if p.stem == "fairness_gaps_1"))
        for paths in (report, other)
    )
    assert first["value"].equals(second["value"])
    assert not first["p"].equals(second["p"])


@dataclass
class Written:
    """A report with a section of the caller's, and what was seen while it was written."""

    paths: ReportPaths
    steps: list[tuple[str, int, int]]
    settings: tuple[dict[str, object], dict[str, object]]


@pytest.fixture(scope="module")
def written(panel, tmp_path_factory) -> Written:
    steps: list[tuple[str, int, int]] = []
    before = dict(mpl.rcParams)
    paths = write_report(
        panel,
        tmp_path_factory.mktemp("written"),
        n_boot=0,
        extra_sections=[own_section()],
        progress=lambda *step: steps.append(step),
    )
    return Written(paths, steps, (before, dict(mpl.rcParams)))


@pytest.mark.long
def test_settings_of_the_caller_are_left_alone(written):
    before, after = written.settings
    assert before == after


def test_progress(written):
    steps = written.steps
    assert [done for _, done, _ in steps] == list(range(len(steps)))
    assert steps[-1] == ("done", steps[-1][2], steps[-1][2])
    assert len({total for _, _, total in steps}) == 1


def test_own_sections(written):
    folder = written.paths.html.parent
    text = written.paths.html.read_text(encoding="utf-8")
    assert '<h3 id="recovery-head">Recovery of the truth</h3>' in text
    assert "Well &lt;done&gt;." in text
    assert text.index('id="recovery"') < text.index('id="not-shown"')
    assert pl.read_csv(folder / "tables" / "truth.csv")["r"][0] == 0.98765
    assert (folder / "figures" / "truth.svg").is_file()


@pytest.mark.parametrize("name", ["raters", "../escape", "Upper", ""])
def test_names_of_parts_are_checked(few, tmp_path, name):
    with pytest.raises(InputError, match="table"):
        write_report(few, tmp_path, n_boot=0, extra_sections=[own_section(name)])


def test_bad_arguments(panel, tmp_path):
    file = tmp_path / "file"
    file.write_text("x")
    with pytest.raises(InputError, match="expected a folder for the report, found a file"):
        write_report(panel, file)
    with pytest.raises(InputError, match="expected a folder with pictures"):
        write_report(panel, tmp_path / "a", images=tmp_path / "none")
    with pytest.raises(InputError, match="n_boot -1"):
        write_report(panel, tmp_path / "a", n_boot=-1)
