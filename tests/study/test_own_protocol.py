"""A protocol with a name of its own is served by the pages for what it asks."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("fastapi")

from affectlab.study import load_study, simulate_study, workload

STUDY = """\
[study]
name = "mine"
title = "Mine"
contact = "someone@example.org"
[protocol]
name = "mine.toml"
[stimuli]
{stimuli}
[consent]
text = "Yes?"
on_withdrawal = "drop"
"""


def _study(folder: Path, stimulus: str, stimuli: str) -> Path:
    (folder / "mine.toml").write_text(
        f'name = "mine"\nstimulus = "{stimulus}"\nquestion = "How much {{label}}?"\n'
        'answer = "ratings"\nscale = "0-3"\n[asks]\nlabels = ["joy", "fear"]\n'
        'per_trial = "all"\nshow = ["label"]\n',
        encoding="utf-8",
    )
    file = folder / "study.toml"
    file.write_text(STUDY.format(stimuli=stimuli), encoding="utf-8")
    return file


def _said(file: Path) -> list[str]:
    return [
        text for text in workload(load_study(file)).warnings if "the pages were made for" in text
    ]


@pytest.mark.long
def test_ratings_of_an_image_are_served(tmp_path: Path) -> None:
    file = _study(tmp_path, "image", "faces = 4")
    assert _said(file) == []
    assert simulate_study(file, people=3, careless=0, seed=1) is not None


def test_what_no_page_was_made_for_is_told(tmp_path: Path) -> None:
    (tmp_path / "texts.csv").write_text("stimulus,text\na,One.\nb,Two.\n", encoding="utf-8")
    (said,) = _said(_study(tmp_path, "text", 'table = "texts.csv"'))
    assert said.startswith("protocol 'mine' asks for ratings about text, which none ")
