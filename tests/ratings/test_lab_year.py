"""Files as a lab has them after a year: each is read rightly, or refused in one sentence."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from tests.ratings.lab_year import YEAR, Messy
from tests.ratings.told import kinds

from affectlab.core.errors import InputError
from affectlab.ratings import GuessedColumnsWarning, GuessedScalesWarning, read_ratings

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "messy-files.md"


@pytest.mark.parametrize("messy", YEAR, ids=lambda messy: messy.title[:40])
def test_it_is_read_rightly_or_refused_in_one_sentence(messy: Messy, tmp_path: Path) -> None:
    source = messy.write(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GuessedColumnsWarning)
        warnings.simplefilter("ignore", GuessedScalesWarning)
        if messy.refused is not None:
            with pytest.raises(InputError) as caught:
                read_ratings(source, **messy.options)
            assert messy.refused in str(caught.value)
            assert "\n" not in str(caught.value)
            return
        r = read_ratings(source, **messy.options)
    assert r.stimulus_names == messy.stimuli
    assert r.rater_names == messy.raters
    scales = {name: str(scale).removesuffix(" (inferred)") for name, scale in r.scales.items()}
    assert scales == messy.scales
    assert r.value.tolist() == list(messy.values)
    assert {*messy.steps} <= {*kinds(r)}
    told = [*r.warnings, *map(str, r.set_aside)]
    for sentence in messy.said:
        assert any(sentence in one for one in told), told


def test_the_manual_lists_them() -> None:
    lines = [f"| {messy.title} | {messy.outcome} |" for messy in YEAR]
    assert "\n".join(lines) in PAGE.read_text(encoding="utf-8")
