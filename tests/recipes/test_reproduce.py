"""Recipes: published figures beside ours, with a verdict only where the data is the paper's."""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure
from tests.cli.command import run_here

from affectlab.core.errors import InputError
from affectlab.core.registry import Registry
from affectlab.recipes import (
    Finding,
    Parts,
    Recipe,
    RecipeFigure,
    RecipeRun,
    list_recipes,
    load_published,
    reproduce,
)
from affectlab.recipes.published_figures import PublishedFigure, PublishedFigures
from affectlab.recipes.recipe import SETTING
from affectlab.recipes.reproduction import Comparison

pytestmark = pytest.mark.long


def _figure(value: float, tolerance: float = 0.0) -> PublishedFigure:
    return PublishedFigure(key="k", name="n", where="Table 1", value=value, tolerance=tolerance)


@pytest.mark.parametrize(
    ("finding", "verdict"),
    [
        (Finding(0.75106), "reproduced"),
        (Finding(0.7512), "differs"),
        (Finding(0.7512, 0.74, 0.76), "reproduced"),
        (Finding(0.7512, 0.74, 0.76, sampling=True), "differs"),
        (Finding(low=0.7, high=0.8, why="totals"), "inside bounds"),
        (Finding(low=0.76, high=0.8, why="totals"), "outside bounds"),
        (Finding(), "no verdict: not part of this run"),
        (Finding(why="the file is absent"), "no verdict: the file is absent"),
    ],
)
def test_verdicts(finding: Finding, verdict: str) -> None:
    figure = _figure(0.7511, 0.00005)
    assert Comparison(figure, finding, own_data=True).verdict == verdict
    simulated = Comparison(figure, finding, own_data=False)
    assert simulated.verdict == "no verdict: simulated data"


def test_a_marked_figure_and_a_constant_have_no_verdict_and_end_with_0(
    use: Callable[[Recipe], None], tmp_path: Path
) -> None:
    marked = Comparison(_marked("why"), Finding(2.0), own_data=True)
    assert marked.verdict == "no verdict: the printed figure contradicts others of the paper (†)"
    constant = Comparison(_figure(0.5), Finding(0.5, doubt=SETTING), own_data=True)
    assert constant.verdict == f"no verdict: {SETTING}"
    use(replace(_recipe(Finding(0.5)), run=lambda _f, _q: RecipeRun({"m": Finding(2.0)})))
    run_here("reproduce", "tiny", "--data", str(tmp_path), code=0)
    use(replace(_recipe(Finding(0.7)), run=lambda _f, _q: RecipeRun({"k": Finding(0.7)})))
    run_here("reproduce", "tiny", "--data", str(tmp_path), code=1)


def test_what_is_not_defined_has_neither_a_verdict_nor_an_interval() -> None:
    undefined = Comparison(_figure(0.5), Finding(float("nan"), float("nan"), 0.6), own_data=True)
    assert undefined.verdict == "no verdict: not defined for these answers"
    point = Finding(0.5, float("nan"), float("nan"))
    assert (point.low, point.high) == (None, None)
    assert Comparison(_figure(0.5), point, own_data=True).verdict == "reproduced"


@pytest.mark.parametrize("name", ["emonet_face"])
def test_published_figures_are_in_range(name: str) -> None:
    published = load_published(name)
    for figure in published.figure:
        if figure.unit == "share":
            assert 0 <= figure.value <= 1
        if figure.unit == "count":
            assert figure.value.is_integer()


@pytest.mark.data
def test_emonet_face_binary_consensus(shared_data: Path) -> None:
    result = reproduce("emonet-face", data=shared_data)
    verdicts = {row.figure.key: row.verdict for row in result.rows}
    assert verdicts.pop("binary.batch1.agreement") == "inside bounds"
    assert verdicts.pop("binary.batch4.agreement") == "inside bounds"
    of_table_2 = r"binary\.(answers|images|batch\d\.(items|share|agreement))"
    judged = {key: said for key, said in verdicts.items() if re.fullmatch(of_table_2, key)}
    assert len(judged) == 10
    assert set(judged.values()) == {"reproduced"}
    assert len(result.provenance["inputs"][0]["sha256"]) == 64


def test_simulated_run_has_values_and_no_verdict() -> None:
    first, second = (reproduce("emonet-face", simulate=True, quick=True, seed=3) for _ in range(2))
    assert first.to_frame().equals(second.to_frame())
    other = reproduce("emonet-face", simulate=True, quick=True, seed=4)
    assert not first.to_frame().equals(other.to_frame())
    assert all(row.verdict == "no verdict: simulated data" for row in first.rows)
    assert sum(row.finding.value is not None for row in first.rows) >= 8


@pytest.mark.parametrize("name", list_recipes())
def test_missing_data_says_all_that_is_needed_and_what_to_do(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        reproduce(name, data=tmp_path)
    said = str(caught.value)
    assert said.startswith(f"{name}: {tmp_path} does not hold ")
    needs = list_recipes()[name].needs
    assert needs
    for need in needs:
        assert all(part in said for part in (need.file, need.what, need.published, need.licence))
    assert "--simulate" in said
    assert "\n" not in said


@pytest.mark.parametrize("name", list_recipes())
def test_a_run_is_on_data_or_simulated(name: str, tmp_path: Path) -> None:
    need = list_recipes()[name].needs[0]
    with pytest.raises(InputError, match=r"neither .*--data DIR.*--simulate") as caught:
        reproduce(name)
    assert need.published in str(caught.value)
    with pytest.raises(InputError, match=r"both --data .* and --simulate are given; expected one"):
        reproduce(name, data=tmp_path, simulate=True)
    with pytest.raises(InputError, match="no such folder") as caught:
        reproduce(name, data=tmp_path / "none")
    assert need.file in str(caught.value)


def test_names_are_looked_up() -> None:
    with pytest.raises(InputError, match="did you mean 'emonet-face'"):
        reproduce("emonet-fase")
    assert {"emonet-face", "face-expressions", "socratis", "to-err-like-human"} <= set(
        list_recipes()
    )


def _picture(name: str) -> RecipeFigure:
    return RecipeFigure(name, "A picture", "Nothing.", Figure)


def _recipe(found: Finding, **run: Any) -> Recipe:
    published = PublishedFigures(
        paper="p", title="T", citation="C", figure=(_figure(0.5), _marked("why"))
    )
    return Recipe(
        "tiny",
        lambda: published,
        (),
        lambda _folder, _quick: RecipeRun({"k": found}, **run),
        lambda _seed, _quick: RecipeRun({"k": found}, **run),
    )


def _marked(why: str) -> PublishedFigure:
    return PublishedFigure(key="m", name="marked", where="Table 2", value=1, inconsistent=why)


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Callable[[Recipe], None]:
    def replace(recipe: Recipe) -> None:
        ours: Any = Registry.all["affectlab.recipes"].ours
        monkeypatch.setitem(ours, "tiny", recipe)

    return replace


def test_marks_are_explained_once(use: Callable[[Recipe], None]) -> None:
    use(_recipe(Finding(0.5)))
    assert reproduce("tiny", simulate=True).notes == ("† marked: why.",)
    use(_recipe(Finding(0.5), notes=("First.", "† marked: as the run says it.")))
    notes = reproduce("tiny", simulate=True).notes
    assert notes == ("First.", "† marked: as the run says it.")


def test_a_finding_without_a_published_figure_is_refused(use: Callable[[Recipe], None]) -> None:
    recipe = _recipe(Finding(0.5))
    use(replace(recipe, simulate=lambda _seed, _quick: RecipeRun({"other": Finding(1.0)})))
    with pytest.raises(InputError, match="'other', which is no published figure"):
        reproduce("tiny", simulate=True)


def test_a_failing_part_is_reported_and_the_others_go_on(
    use: Callable[[Recipe], None], tmp_path: Path
) -> None:
    def run(_folder: Path, _quick: bool) -> RecipeRun:
        parts = Parts()
        with parts("first", "k"):
            parts.add({"k": Finding(0.5)}, figures=[_picture("whole")])
        with parts("second", "m"):
            parts.add({"m": Finding(1.0)}, ["Half a note."], [_picture("half")])
            raise ZeroDivisionError("division by zero")
        with parts("third"):
            raise InputError("there is one text; expected several.")
        return parts.to_run()

    use(replace(_recipe(Finding(0.5)), run=run))
    found = reproduce("tiny", data=tmp_path)
    assert [row.verdict for row in found.rows] == [
        "reproduced",
        "no verdict: failed in second: ZeroDivisionError: division by zero",
    ]
    reasons = ["ZeroDivisionError: division by zero", "there is one text; expected several"]
    assert [one.reason for one in found.failures] == reasons
    # Half of what a part would have said is not said.
    assert "Half a note." not in found.notes
    assert [one.name for one in found.figures] == ["whole"]
    defect, bad_data = found.provenance["failures"]
    assert (defect["part"], defect["reason"]) == ("second", reasons[0])
    assert "Traceback" in defect["traceback"]
    assert f'"{__file__}"' in defect["traceback"]
    assert bad_data == {"part": "third", "reason": reasons[1]}
    done = run_here("reproduce", "tiny", "--data", str(tmp_path), code=1)
    assert "Failed\n- second: ZeroDivisionError: division by zero\n- third: there is" in done.stdout
    told = json.loads(
        run_here("reproduce", "tiny", "--data", str(tmp_path), "--json", code=1).stdout
    )
    assert [one["part"] for one in told["result"]["failures"]] == ["second", "third"]


def test_the_user_ends_a_run() -> None:
    parts = Parts()
    with pytest.raises(KeyboardInterrupt), parts("first"):
        raise KeyboardInterrupt
    assert not parts.failures


def test_a_remark_stands_below_its_row(use: Callable[[Recipe], None]) -> None:
    use(_recipe(Finding(0.5, 0.4, 0.6, remark="utilisation 12 %")))
    shown = run_here("reproduce", "tiny", "--simulate", width=80).stdout
    assert "; utilisation 12 %" in shown or "\n    utilisation 12 %" in shown
    assert reproduce("tiny", simulate=True).to_frame()["remark"].to_list()[0] == "utilisation 12 %"


def test_provenance_says_what_a_run_was_computed_with(
    use: Callable[[Recipe], None], tmp_path: Path
) -> None:
    file = tmp_path / "answers.csv"
    file.write_bytes(b"abc")
    use(_recipe(Finding(0.5), inputs=(file,), seeds=(4, 5)))
    told, again = (
        reproduce("tiny", data=tmp_path, quick=True, seed=3).provenance for _ in range(2)
    )
    assert told == again
    assert told["inputs"] == [{"file": "answers.csv", "sha256": hashlib.sha256(b"abc").hexdigest()}]
    assert (told["recipe"], told["data"], told["quick"]) == ("tiny", "given", True)
    assert (told["seed"], told["seeds"]) == (3, [4, 5])
    assert told["platform"] == platform.platform()
    libraries = told["libraries"]
    for name in ("numpy", "scipy", "polars", "numba", "scikit-learn"):
        assert libraries[name] == version(name)
    installed = {name for name in ("torch", "transformers") if find_spec(name)}
    assert installed <= set(libraries)
    simulated = reproduce("tiny", simulate=True).provenance
    assert simulated["data"] == "simulated"


def test_the_verb_lists_recipes() -> None:
    alone, listed = run_here("reproduce"), run_here("reproduce", "--list")
    assert alone.stdout == listed.stdout
    for name, recipe in list_recipes().items():
        assert f"{name}\n" in listed.stdout
        words = " ".join(listed.stdout.split())
        for need in recipe.needs:
            assert need.published in words
            assert need.licence in words
        assert recipe.published().title in words
    told = json.loads(run_here("reproduce", "--list", "--json").stdout)["result"]["recipes"]
    assert [one["recipe"] for one in told] == sorted(list_recipes())
    one = json.loads(run_here("reproduce", "socratis", "--list", "--json").stdout)["result"]
    assert [entry["recipe"] for entry in one["recipes"]] == ["socratis"]
    assert one["recipes"][0]["data"][0]["file"].endswith("_formatted.json")


def test_the_verb_refuses_what_has_no_recipe() -> None:
    assert "given without a recipe" in run_here("reproduce", "--simulate", code=2).stderr
    assert "did you mean" in run_here("reproduce", "socrates", "--list", code=2).stderr


def test_the_help_names_all_recipes() -> None:
    helped = " ".join(run_here("reproduce", "--help").stdout.replace("│", " ").split())
    for name in list_recipes():
        assert name in helped
