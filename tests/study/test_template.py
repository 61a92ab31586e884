"""Study files to start from: one for every protocol that is known."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from tests.cli.command import run_here

from affectlab import InputError
from affectlab.protocols import list_protocols
from affectlab.ratings import Scale, read_ratings
from affectlab.study import export, load_study, open_store, simulate_study, workload, write_template
from affectlab.study.dataset.ratings import collect

from .test_codebook import described

MINE = """\
name = "{name}"
title = "How \\"strong\\" is it?"
stimulus = "{stimulus}"
question = "How strong is the feeling?"
answer = "value"
scale = "{scale}"
"""


# What takes long when a study is rehearsed, and shows nothing more: many pictures to draw, and runs
# of fifty comparisons.
SHORTER = {
    "faces = 24": "faces = 3",
    "faces = 3\nframes = 41": "faces = 1\nframes = 9",
    "staircase = { catch = 5 }": "staircase = { trials = 5, catch = 1 }",
    "trials = 110": "trials = 12",
}


@pytest.mark.long
@pytest.mark.parametrize("name", list_protocols())
def test_every_protocol_has_a_study_file_that_works(name: str, tmp_path: Path) -> None:
    path = tmp_path / "my study.toml"
    run_here("study", "init", path, "--protocol", name)
    text = path.read_text(encoding="utf-8")
    assert "STUDY-" not in text
    study = load_study(path)
    assert study.design.protocol.name == name
    # It promises nothing that only its author can know.
    assert study.design.consent is not None
    for place in ("[how many]", "[purpose of the study]", "[when]", "[whom]"):
        assert place in study.design.consent.text
    assert not re.search(r"\d+ minutes", study.design.consent.text)
    warnings = workload(study).warnings
    assert any("consent.text has places to fill in" in one for one in warnings)
    assert not [one for one in warnings if "golden" in one or "the pages" in one]
    for long, short in SHORTER.items():
        text = text.replace(long, short)
    path.write_text(text, encoding="utf-8")
    assert simulate_study(path, people=2, careless=0, seed=1).completed == 2
    with open_store(load_study(path)) as store:
        written = export(store, tmp_path / "out")
    assert written.n_raters == 2
    described(tmp_path / "out")
    if study.protocol.answer != "trials":
        assert read_ratings(tmp_path / "out" / "ratings.parquet").n_raters == 2


@pytest.mark.long
@pytest.mark.parametrize(
    ("stimulus", "scale"),
    [("image", "1-9"), ("text", "nominal:weak,strong"), ("text", "binary")],
)
def test_a_protocol_file(stimulus: str, scale: str, tmp_path: Path) -> None:
    (tmp_path / "protocols").mkdir()
    (tmp_path / "studies").mkdir()
    mine = tmp_path / "protocols" / "mine.toml"
    mine.write_text(MINE.format(name="intensity", stimulus=stimulus, scale=scale), encoding="utf-8")
    path, *_ = write_template(tmp_path / "studies" / "s.toml", str(mine))
    written = tomllib.loads(path.read_text(encoding="utf-8"))
    assert written["protocol"]["name"] == "../protocols/mine.toml"
    assert written["study"]["title"] == 'How "strong" is it?'
    assert load_study(path).protocol.title == 'How "strong" is it?'
    path.write_text(path.read_text("utf-8").replace("faces = 24", "faces = 3"), "utf-8")
    assert simulate_study(path, people=1, careless=0, seed=1).completed == 1
    with open_store(load_study(path)) as store:
        ratings = collect(store)
    assert ratings is not None
    assert ratings.scale == Scale.parse(scale)
    assert len(set(ratings.value)) > 1


def test_a_protocol_of_an_installed_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "site" / "moods-1.dist-info"
    place.mkdir(parents=True)
    (place / "METADATA").write_text("Metadata-Version: 2.1\nName: moods\nVersion: 1\n")
    (place / "entry_points.txt").write_text(
        "[affectlab.protocols]\nmood-of-text = moods:PROTOCOL\n"
    )
    (place.parent / "moods.py").write_text(
        "from affectlab.protocols import load_protocol\n"
        "mood = {'taxonomy': 'ekman', 'group_by': []}\n"
        "PROTOCOL = load_protocol('multilabel').revise(name='mood', asks=mood)\n"
    )
    monkeypatch.syspath_prepend(str(place.parent))
    assert "mood-of-text" in list_protocols()
    path = tmp_path / "s.toml"
    files = write_template(path, "mood-of-text")
    assert [file.name for file in files] == ["s.toml", "s-texts.csv"]
    assert load_study(path).protocol.labels()[:2] == ("anger", "disgust")
    assert workload(load_study(path)).stimuli > 0


def test_a_name_of_ours_means_ours_in_any_spelling(tmp_path: Path) -> None:
    one, *_ = write_template(tmp_path / "a" / "s.toml", "preference-errors")
    other, *_ = write_template(tmp_path / "b" / "s.toml", "preference_errors")
    assert one.read_text(encoding="utf-8") == other.read_text(encoding="utf-8")


def test_unknown_protocols_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown protocol 'revieuw'; did you mean 'review'"):
        write_template(tmp_path / "s.toml", "revieuw")
    with pytest.raises(InputError, match=r"none\.toml"):
        write_template(tmp_path / "s.toml", "none.toml")
    assert not (tmp_path / "s.toml").exists()
