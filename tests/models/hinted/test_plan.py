"""The file of a loop."""

from __future__ import annotations

from pathlib import Path

import pytest

from affectlab.core.errors import InputError
from affectlab.models.hinted import HintedPlan, annotate_until, load_hinted_plan


def test_a_plan_with_changes(tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    file.write_text('labels = ["awe", "Fear"]\nimages = "faces"\nat_most = 0\nseed = 7\n')
    plan = load_hinted_plan(file, rounds=2, budget=None)
    assert set(plan.wanted()) == {"Awe", "Fear"}
    assert Path(str(plan.images)) == tmp_path / "faces"
    assert (plan.rounds, plan.budget, plan.seed, plan.at_most) == (2, None, 7, 0)
    with pytest.raises(InputError, match=r"plan: rounds = -1"):
        load_hinted_plan(file, rounds=-1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("target = 3", "nothing to begin with"),
        ("initial = 1\ntarget = 0", "target = 0"),
        ("initial = 1\nscale = 'binary?'", "scale = 'binary?'"),
        ("initial = 1\nscale = '-3..3'", "of which the lower says 'not at all'"),
        ("initial = 1\nscale = 'interval'", "expected two bounds"),
        ("initial = 9\nbudget = 5", "initial = 9 is above the budget of 5"),
        ("initial = 1\ndecoys = 1.5", "decoys = 1.5"),
        ("initial = 1\nfloor = nan", "floor = nan"),
        ("initial = 1\nhints = true", "key 'hints' is not known here"),
        ("initial = 'x'", "initial = 'x'"),
    ],
)
def test_bad_plans(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(text)
    with pytest.raises(InputError, match=r"plan\.toml: ") as refused:
        load_hinted_plan(tmp_path / "plan.toml")
    assert said in str(refused.value)


def test_labels_and_files_that_are_not_there(tmp_path: Path) -> None:
    def nobody(images: object, hints: object) -> list[object]:
        raise AssertionError("nobody is asked")

    for given, said in (
        ({"labels": ["Glee"]}, "unknown label 'Glee'"),
        ({"taxonomy": "nowhere"}, "nowhere"),
        ({"prompts": str(tmp_path / "no.toml")}, "no such file"),
    ):
        with pytest.raises(InputError, match=said):
            annotate_until(HintedPlan(initial=2, **given), "drawn", nobody, tmp_path / "r")  # type: ignore[arg-type]
        assert not (tmp_path / "r").exists()
    with pytest.raises(InputError, match="there is no such file or folder"):
        annotate_until(HintedPlan(images=str(tmp_path / "none")), "drawn", nobody, tmp_path / "r")
    with pytest.raises(InputError, match="expected a function, not str"):
        annotate_until(HintedPlan(initial=2), "drawn", "x", tmp_path / "r")  # type: ignore[arg-type]
