"""The generated tables as ratings."""

from __future__ import annotations

from typing import Any

from tests.golden import inputs


def make(al: Any, name: str) -> Any:
    """Make the table of :mod:`tests.golden.inputs` that has this name."""
    table = inputs.TABLES[name]()
    return al.Ratings(table.answers, scale=table.scale, raters=table.raters, stimuli=table.stimuli)
