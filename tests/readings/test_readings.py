"""Every input is read as it was when readings were last frozen; see :mod:`tests.readings`."""

from __future__ import annotations

from functools import cache

import pytest
from tests.readings.frozen import FILE, Part, Reading, differences, now, read, told
from tests.readings.inputs import inputs

_AGAIN = "if that is meant, freeze it anew (make readings), and say why in the commit"


@cache
def _frozen() -> dict[str, Reading]:
    return read()


@pytest.mark.parametrize("name", inputs())
def test_it_is_read_as_it_was(name: str) -> None:
    differ = differences(_frozen().get(name, []), now(name))
    assert not differ, f"{told({name: differ})}\n{_AGAIN}"


def test_every_reading_belongs_to_an_input() -> None:
    assert _frozen().keys() == inputs().keys()
    assert FILE.stat().st_size < 300_000


def test_what_differs_is_told() -> None:
    one, other = Part("answer", "a", "x", "joy", 3.0), Part("answer", "a", "y", "joy", 3.0)
    assert differences([one, other, other], [other, one, other]) == []
    assert differences([one], [other, other]) == [("gone", one), ("new", other), ("new", other)]
    nan = float("nan")
    assert differences([one._replace(value=nan)], [one._replace(value=nan)]) == []
    assert told({"cases/few": [("gone", one), ("new", other)]}).splitlines() == [
        "cases/few",
        "  gone answer: stimulus 'a', rater 'x', label 'joy', value 3.0",
        "  new answer: stimulus 'a', rater 'y', label 'joy', value 3.0",
    ]
