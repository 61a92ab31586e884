"""What is known of labels, and what is said where too little or two things are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from affectlab.core.errors import InputError
from affectlab.evaluation.label_facts import label_facts
from affectlab.taxonomy import load_taxonomy


@pytest.mark.parametrize(
    ("taxonomy", "options", "said"),
    [
        (None, {"costs": "ring"}, "costs 'ring': a taxonomy is expected that makes them"),
        (None, {"labels": "joy"}, "expected a list of names, not the one text 'joy'"),
        (None, {"labels": ["joy", 3]}, "labels: expected names, got 3"),
        (None, {"labels": ["joy", "fear", "joy"]}, "label 'joy' stands twice"),
        (None, {"labels": ["joy"], "groups": "sentiment"}, "a taxonomy is expected that has"),
        ("mikels", {"labels": ["awe", "joi"]}, "unknown label 'joi'"),
    ],
)
def test_bad_input_is_one_sentence(taxonomy: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as problem:
        label_facts(taxonomy, **options)
    assert said in str(problem.value)


def test_a_matrix_makes_its_own_costs_and_no_others() -> None:
    costs = load_taxonomy("mikels").cost_matrix()
    for facts in (label_facts(costs), label_facts(None, costs=costs)):
        assert facts is not None
        assert facts.labels == costs.labels
        np.testing.assert_array_equal(facts.costs, costs.matrix)
    with pytest.raises(InputError, match="a taxonomy is expected that makes them"):
        label_facts(costs, costs="groups")


def test_without_anything_nothing_is_known() -> None:
    assert label_facts(None) is None
    facts = label_facts(None, labels=["b", "a"])
    assert facts is not None
    assert facts.labels == ("b", "a")
    assert facts.costs is None
