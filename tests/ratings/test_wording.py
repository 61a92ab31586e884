"""The words of a room stand in one place, and every kind of fact has a template."""

from __future__ import annotations

from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from affectlab.core.errors import InputError
from affectlab.ratings import Step, StepKind
from affectlab.ratings.steps import step
from affectlab.ratings.wording import STEPS, facts_of

pytestmark = pytest.mark.wording

WORDS = Path(__file__).with_name("wording.txt")
OF_TYPE: dict[str, Any] = {
    "int": 3,
    "float": 7.0,
    "bool": True,
    "Names": ("a", "b"),
    **dict.fromkeys(("Sequence[int]", "Sequence[float]"), (1, 2)),
}
SEVERAL = ("columns", "names", "words", "marks", "raters", "others", "left", "answers")
OF_NAME: dict[str, Any] = {
    **dict.fromkeys(SEVERAL, ("a", "b")),
    **dict.fromkeys(("n", "to", "n_left"), 3),
    "low": 1.0,
    "high": 7.0,
    "factor": 7.0,
    "total": 10.0,
}
CHOSEN = {
    StepKind.WIDE_KIND: {"why": "rater alone"},
    StepKind.MODEL_COLUMN: {"why": "fractions"},
    StepKind.MODEL_SCALE: {"way": "bounds"},
    StepKind.STIMULI_JOINED: {"by": "name"},
    StepKind.SHEETS_JOINED: {"why": "unnamed", "role": "rater"},
    StepKind.KEYS_NAME: {"what": "stimulus", "role": "stimulus"},
    StepKind.MATRIX_ROWS: {"rows": "labels"},
    StepKind.SCALE_MAPPED: {"ends": (0, 1, 0, 7)},
    StepKind.ROWS_KEPT: {"of": 5},
    StepKind.NEUTRAL_SUBTRACTED: {"beyond": 2},
    StepKind.SCREENED: {"of": 5, "unit": "session", "rows": 10, "of_rows": 20},
    StepKind.SHAPE: {"rule": "column per rater"},
    StepKind.CUT: {"value": 0.5},
    StepKind.SIDES: {"left": "A"},
    StepKind.LISTS_BY_RATER: {"rater": "who"},
    StepKind.NO_NAMES: {"columns": "subjects"},
    StepKind.ATTRIBUTE_REPLACED: {"unit": "stimulus"},
    StepKind.ATTRIBUTE_VARIES: {"unit": "rater"},
}


def example(kind: StepKind) -> Step:
    """Make a step of a kind, with plain facts."""
    template = STEPS[kind]
    if callable(template):
        parameters = signature(template).parameters.values()
        facts = {one.name: OF_TYPE.get(str(one.annotation), one.name.upper()) for one in parameters}
    else:
        facts = {name: OF_NAME.get(name, name.upper()) for name in facts_of(template)}
    return step(kind, **{**facts, **CHOSEN.get(kind, {})})


def test_every_kind_of_step_is_worded_as_written_down() -> None:
    lines = [f"{kind}: {example(kind)}" for kind in StepKind]
    assert "\n".join(lines) + "\n" == WORDS.read_text(encoding="utf-8")


def test_what_facts_hold_is_not_read_again() -> None:
    odd = "<scale|{n}> {x}"
    done = step(StepKind.PRACTICE_COUNTS, n=2, column=odd)
    assert str(done).count(odd) == 2


@pytest.mark.parametrize("kind", StepKind)
def test_steps_come_back_from_json(kind: StepKind) -> None:
    one = example(kind)
    assert Step.parse(one.to_dict()) == one


def test_what_is_no_step_is_refused() -> None:
    with pytest.raises(InputError, match="unknown step 'fill'"):
        Step.parse({"kind": "fill", "facts": {}})
    with pytest.raises(InputError, match="step 'votes': KeyError: 'n'"):
        Step.parse({"kind": "votes", "facts": {}})
