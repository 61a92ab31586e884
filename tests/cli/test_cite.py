"""``affectlab cite``, and ``--methods`` of verbs that show a result."""

from __future__ import annotations

import io
import json
import re
import shlex
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from tests.cli.command import run_here

from affectlab import __version__
from affectlab.core.citations import references
from affectlab.ratings import read_ratings
from affectlab.reliability import rater_agreement

FILES = Path(__file__).resolve().parents[2] / "examples" / "fairness"
PEOPLE = (FILES / "people.csv", "--scale", "0-7")


def test_statistics_are_cited_behind_the_package() -> None:
    done = run_here("cite", "krippendorff_alpha", "icc")
    heads = [line for line in done.stdout.splitlines() if line.startswith("@")]
    assert heads == [
        "@software{affectlab,",
        "@techreport{krippendorff2011,",
        "@article{hayes2007,",
        "@inproceedings{passonneau2006,",
        "@article{mcgraw1996,",
        "@article{shrout1979,",
    ]
    assert f"version = {{{__version__}}}" in done.stdout


def test_all_works_go_into_a_file(tmp_path: Path) -> None:
    to = tmp_path / "works.bib"
    done = run_here("cite", "--all", "--out", to, "--json")
    assert set(json.loads(done.stdout)["result"]["keys"]) == set(references())
    assert to.read_text(encoding="utf-8").count("\n@") + 1 == len(references())


def test_what_is_not_known_gets_a_hint() -> None:
    done = run_here("cite", "krippendorff_alpa", code=2)
    assert "unknown statistic 'krippendorff_alpa'; did you mean 'krippendorff_alpha'" in done.stderr


def test_the_paragraph_is_that_of_the_result() -> None:
    people = read_ratings(PEOPLE[0], scale="0-7")
    wanted = rater_agreement(people).methods(missing=people.missing)
    done = run_here("reliability", "agreement", *PEOPLE, "--methods", width=4000)
    assert f"Methods\n{wanted}\n" in done.stdout
    done = run_here("reliability", "agreement", *PEOPLE, "--methods", "--json")
    assert json.loads(done.stdout)["result"]["methods"] == wanted
    assert "Methods" not in run_here("reliability", "agreement", *PEOPLE).stdout


def test_the_guide_shows_what_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (FILES.parents[1] / "docs" / "howto" / "write-the-methods.md").read_text("utf-8")
    monkeypatch.chdir(FILES)
    command, _ = re.findall(r"```sh\naffectlab (.*)\n```", text)
    (block,) = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    printed = run_here(*shlex.split(command), width=80).stdout.replace("\u00a0", " ")
    assert " ".join(block.split()) in " ".join(printed.split())
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    with redirect_stdout(io.StringIO()) as out:
        exec(code, {})
    assert "We computed Krippendorff's alpha" in out.getvalue()
    assert "@techreport{krippendorff2011" in out.getvalue()
