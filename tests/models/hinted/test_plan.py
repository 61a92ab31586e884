"""The file of a loop, and annotators that packages add."""

from __future__ import annotations

from pathlib import Path

import pytest

from affectlab.core.errors import InputError
from affectlab.models.hinted import (
    HintedPlan,
    annotate_until,
    load_hinted_plan,
)

FULL = """
taxonomy = "emonet_face"
labels = ["awe", "Fear"]
target = 5000
at_most = 0
scale = "0-7 interval"
images = "faces"
initial = 10
decoys = 0.1
rounds = 3
per_round = 50
budget = 100
expected = 0.4
floor = 0.1
patience = 2
words = 3
batch = 4
seed = 7
"""


def test_all_keys(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(FULL)
    plan = load_hinted_plan(tmp_path / "plan.toml")
    assert plan.wanted() == tuple(label for label in plan.known().labels if label in plan_labels())
    assert plan.at_most is None
    assert Path(str(plan.images)) == tmp_path / "faces"
    assert (plan.budget, plan.seed) == (100, 7)


def plan_labels() -> set[str]:
    return {"Awe", "Fear"}


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
        ("initial = 1\nexpected = 0", "expected = 0"),
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


def test_how_far_to_go_is_no_part_of_what_was_done() -> None:
    plan = HintedPlan(initial=2)
    later = plan.model_copy(update={"target": 7, "rounds": 1, "budget": 50, "floor": 0.5})
    assert later.fingerprint == plan.fingerprint
    assert plan.model_copy(update={"decoys": 0.5}).fingerprint != plan.fingerprint
