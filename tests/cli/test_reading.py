"""Sentences about a file: what the command line says can be typed there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from tests.cli.command import run_here

from affectlab import read_ratings
from affectlab.core.errors import InputError

READ = {
    "rater": ("image,person,value\na,x,1\n", (), "columns"),
    "wide": ("image,anna,bob\na,1,2\nb,3,3\nc,2,1\n", (), "wide"),
    "encoding": ("image,rater,value\nмир,x,1\n".encode("cp1251"), (), "encoding"),
    "delimiter": ("image;x\na;1\n", ("--delimiter", ","), "delimiter"),
    "stimuli": ("participant,a,b\nann,1,2\n", ("--wide", "labels"), "wide"),
    "set aside": ("image,rater,value\na,x,-1\n", ("--scale", "0-7"), "on_bad"),
    "scale": ("image,rater,value\na,x,1\na,y,5\n", (), "scale"),
}
"""What a file holds, how it is read, and the parameter that a sentence proposes."""
FLAG = {"on_bad": "--set-aside"}


@pytest.mark.parametrize("case", READ)
def test_a_sentence_names_options_to_users_and_parameters_to_programs(
    case: str, tmp_path: Path
) -> None:
    content, given, name = READ[case]
    file = tmp_path / "r.csv"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    refused = case != "scale"
    verb = ("reliability", "agreement") if refused else ("ratings", "describe")
    done = run_here(*verb, file, *given, code=2 if refused else 0, width=500)
    typed = FLAG.get(name, f"--{name} ")
    said = done.stderr if refused else done.stdout
    assert typed in said
    assert f"{name}=" not in said
    options = {given[at].lstrip("-"): given[at + 1] for at in range(0, len(given), 2)}
    try:
        written = " ".join(read_ratings(file, **options).warnings)
    except InputError as error:
        written = str(error)
    assert f"{name}=" in written
    assert "--" not in written


def test_no_column_is_proposed_as_the_rater(tmp_path: Path) -> None:
    file = tmp_path / "r.csv"
    file.write_text("image,trial_date,value\na,monday,1\n")
    said = run_here("ratings", "describe", file, code=2, width=500).stderr
    assert "--columns rater=NAME" in said
    assert "rater=trial_date" not in said


def test_what_is_proposed_can_be_typed(tmp_path: Path) -> None:
    file = tmp_path / "r.csv"
    file.write_text("image,rater,value\na,x,0.5\na,y,47\n")
    said = run_here("ratings", "describe", file, width=500).stdout
    proposed = re.search(r"for example with (--scale .*?)\.", said)
    assert proposed is not None
    run_here("ratings", "describe", file, *shlex.split(proposed[1]))


@pytest.mark.parametrize(
    "given",
    [
        ("--scale", "-1..1 interval"),
        ("--scale=-1..1 interval",),
        ("--missing-codes", "-99", "--scale", "-1..1 interval"),
        ("--missing-codes", "-99,-98", "--scale", "-1..1 interval", "--quiet"),
    ],
)
def test_a_value_may_begin_with_a_minus(given: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "r.csv"
    file.write_text("image,rater,value\na,x,-1\na,y,0.5\n")
    said = run_here("ratings", "describe", file, *given).stdout
    assert "interval -1 to 1" in said


def test_an_option_is_no_value_of_another(tmp_path: Path) -> None:
    file = tmp_path / "r.csv"
    file.write_text("image,rater,value\na,x,-1\na,y,0.5\n")
    said = run_here("ratings", "describe", file, "--scale", "--json", code=2).stderr
    assert "--scale requires an argument" in said


PEOPLE = (
    "image,annotator,emotion\na,r1,joy\na,r2,joy\nb,r1,anger\nb,r2,anger\nc,r1,fear\nc,r2,fear\n"
)


@pytest.mark.parametrize("verb", ["alignment", "classification", "soft-labels"])
def test_numbers_of_classes_are_refused_with_a_remedy_that_can_be_typed(
    tmp_path: Path, verb: str
) -> None:
    people, model = tmp_path / "people.csv", tmp_path / "net.csv"
    people.write_text(PEOPLE)
    model.write_text("image,prediction\na,2\nb,0\nc,1\n")
    run = ("evaluate", verb, people, "--models", model)
    said = run_here(*run, code=2, width=500).stderr
    remedy = re.search(r"\((--scale nominal:\S+)\)", said)
    assert remedy is not None
    assert remedy[1] == "--scale nominal:anger,fear,joy"
    run_here(*run, *shlex.split(remedy[1]))
    model.write_text("image,prediction\na,2\nb,0\nc,3\n")
    said = run_here(*run, *shlex.split(remedy[1]), code=2, width=500).stderr
    assert "value 3 is off the scale" in said


def test_a_file_of_one_rater_is_read_when_the_rater_is_named(tmp_path: Path) -> None:
    gold, model = tmp_path / "gold.csv", tmp_path / "net.csv"
    gold.write_text("image,label\na,joy\nb,anger\nc,fear\n")
    model.write_text("image,prediction\na,joy\nb,anger\nc,joy\n")
    run = ("evaluate", "classification", gold, "--models", model)
    done = run_here(*run, "--rater", "expert", "--n-boot", "20", width=500)
    assert "net is right on 66.7" in done.stdout


def test_a_report_says_why_scores_stand_beside_nobody(tmp_path: Path) -> None:
    people, model = tmp_path / "people.csv", tmp_path / "net.csv"
    people.write_text(PEOPLE)
    model.write_text("image,joy,anger,fear\na,0.7,0.2,0.1\nb,0.1,0.6,0.3\nc,0.2,0.1,0.7\n")
    run = ("evaluate", "alignment", people, "--models", model)
    assert "'affectlab evaluate soft-labels'" in run_here(*run, code=2, width=500).stderr
    done = run_here("report", people, "--models", model, "--out", tmp_path / "report", width=500)
    assert "report.html" in done.stdout
