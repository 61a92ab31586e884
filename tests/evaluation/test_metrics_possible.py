"""Whether published figures are possible."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays

from affectlab.core.errors import InputError
from affectlab.core.facts import Cause, Reason
from affectlab.evaluation.classification import Confusion, figures_possible, severity_bounds
from affectlab.taxonomy import cost_from_correlation, load_taxonomy

MIKELS = load_taxonomy("mikels")


@pytest.mark.data
def test_flags_the_published_cells_that_cannot_be(shared_data):
    reference = json.loads((shared_data / "ecc" / "ecc_reference.json").read_text())
    flagged = []
    for data, backbone, loss, *figures in reference["table2"]["rows"]:
        acc, acc2, ecc, emc = (figure / 100 for figure in figures)
        if not figures_possible(acc=acc, acc2=acc2, ecc=ecc, emc=emc):
            flagged.append((data, backbone, loss))
    assert {data for data, *_ in flagged} == {"EmoSet"}
    assert len(flagged) == 6
    flagged = []
    for rank, backbone, *figures in reference["table3"]["rows"]:
        acc, ecc, emc = (figure / 100 for figure in figures)
        if not figures_possible(acc=acc, ecc=ecc, emc=emc):
            flagged.append((rank, backbone))
    assert flagged == [("RA", "R18"), ("Our", "R18")]


@given(arrays(np.int64, (8, 8), elements=st.integers(0, 30)))
@settings(max_examples=40)
def test_what_is_real_is_possible(counts):
    counts[0, 0] += 1
    seen = Confusion.from_counts(counts, MIKELS.labels, "mikels")
    bounds = severity_bounds(seen.accuracy, seen.acc2)
    assert bounds.ecc[0] - 1e-9 <= seen.ecc <= bounds.ecc[1] + 1e-9
    figures = {"acc": seen.accuracy, "acc2": seen.acc2, "ecc": seen.ecc}
    if seen.accuracy < 1:
        assert bounds.emc[0] - 1e-9 <= seen.emc <= bounds.emc[1] + 1e-9
        figures["emc"] = seen.emc
    rounded = {name: round(figure, 3) for name, figure in figures.items()}
    assert figures_possible(**rounded)


def test_bounds_are_reached():
    """A matrix whose mistakes are all as mild, or as harsh, as can be."""
    for predicted, end in ((("contentment", "anger"), 1), (("excitement", "fear"), 0)):
        counts = np.zeros((8, 8))
        for name, n in zip(("amusement", *predicted), (6, 3, 1), strict=True):
            counts[0, MIKELS.index(name)] = n
        seen = Confusion.from_counts(counts, MIKELS.labels, "mikels")
        bounds = severity_bounds(0.6, 0.9)
        assert seen.ecc == pytest.approx(bounds.ecc[end])
        assert seen.emc == pytest.approx(bounds.emc[end])


def test_other_costs_and_edges():
    costs = cost_from_correlation(np.eye(3), ["a", "b", "c"])
    assert severity_bounds(0.5, taxonomy=costs).ecc == pytest.approx((0.6, 0.6))
    assert figures_possible(acc=0.5, ecc=0.6, taxonomy=costs)
    assert not figures_possible(acc=0.5, ecc=0.7, taxonomy=costs)
    perfect = severity_bounds(1.0, 1.0)
    assert perfect.ecc == (1, 1)
    assert np.isnan(perfect.emc).all()
    assert figures_possible(acc=1.0, acc2=1.0, ecc=1.0)
    below = figures_possible(acc=0.9, acc2=0.8)
    assert not below.possible
    assert below.reason.startswith("ACC2 0.800 is not possible: with accuracy 0.900 it is from")


def test_bad_input():
    with pytest.raises(InputError, match=r"accuracy = 65\.8: expected a share from 0 to 1"):
        figures_possible(acc=65.8)
    with pytest.raises(InputError, match=r"acc2 = 0\.5: expected no less than the accuracy, 0\.6"):
        severity_bounds(0.6, 0.5)
    with pytest.raises(InputError, match="the labels have no costs"):
        severity_bounds(0.6, taxonomy="russell")
    costs = cost_from_correlation(np.eye(3), ["a", "b", "c"])
    with pytest.raises(
        InputError, match=re.escape(f"ACC2: {Reason(Cause.COSTS_WITHOUT_POLARITY)}")
    ):
        severity_bounds(0.6, 0.7, costs)
    with pytest.raises(InputError, match="no pair of this kind"):
        severity_bounds(0.6, 0.7, costs, groups={"a": "x", "b": "x", "c": "x"})
