"""Two options to choose from: showing them blind, and storing what was chosen.

Which option stands on the left is drawn by the server and stored with the trial. Pages say "left"
and "right"; what is stored is the option itself, by the name that the protocol's scale has for it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from affectlab.protocols import Protocol
from affectlab.study.design import BETWEEN, sides_of, systems_of
from affectlab.study.errors import invalid

if TYPE_CHECKING:
    from sqlalchemy import RowMapping

    from affectlab.study.store import Store

__all__ = [
    "choices_shown",
    "name_shown",
    "option_columns",
    "option_rows",
    "options_shown",
    "stored_choice",
    "which_left",
]

_SIDES = ("left", "right")
_LETTERS = ("A", "B")
"""What pages call the two sides, whichever option stands there."""


# Storing, as part of what the database holds of a stimulus.


# Showing.


def options_shown(content: Mapping[str, Any], *, swapped: bool) -> list[dict[str, Any]]:
    """Give what a page shows of each option, the left one first, and nothing of whose it is.

    Returns
    -------
    ``image``, the place of its picture among all pictures of the trial or None; ``text``; and
    ``labels``.
    """
    shown = []
    place = len(content["files"])
    for one in _in_order(content, swapped):
        shown.append(
            {
                "image": None if one["file"] is None else place,
                "text": one["text"],
                "labels": one["labels"],
            }
        )
        place += one["file"] is not None
    return shown


def option_rows(content: Mapping[str, Any], *, swapped: bool) -> list[str]:
    """Give all pictures of a trial in the order in which a page shows them."""
    files = [one["file"] for one in _in_order(content, swapped) if one["file"] is not None]
    return [*content["files"], *files]


def _in_order(content: Mapping[str, Any], swapped: bool) -> list[dict[str, Any]]:
    options: list[dict[str, Any]] = content.get("options", [])
    return options[::-1] if swapped else options


def choices_shown(protocol: Protocol) -> list[dict[str, str]]:
    """Give the buttons of a page: the value that each sends, and its name."""
    sides = zip(_SIDES, _LETTERS, strict=True)
    others = protocol.scale.categories[2:]
    return [
        *({"value": side, "name": letter} for side, letter in sides),
        *({"value": other, "name": other} for other in others),
    ]


# Answers.


def stored_choice(store: Store, trial: RowMapping, answer: dict[str, Any]) -> dict[str, Any]:
    """Turn a side into the option that stood there; other answers stay as they are.

    Raises
    ------
    StudyError
        When a choice is neither a side nor one of the other choices: an option's own name is not
        taken, since only the server knows where it stood.
    """
    if "options" not in store.content[trial["stimulus_id"]]:
        return answer
    protocol = store.study.protocol
    value = answer.get("value")
    others = protocol.scale.categories[2:]
    if isinstance(value, str) and value in _SIDES:
        return {**answer, "value": _by_side(protocol, trial)[value]}
    if not isinstance(value, str) or value not in others:
        raise invalid(f"value: expected one of: {', '.join((*_SIDES, *others))}.")
    return answer


def name_shown(store: Store, trial: RowMapping, value: object) -> object:
    """Give the name under which a page showed a stored choice; other values as they are."""
    if "options" not in store.content[trial["stimulus_id"]]:
        return value
    letters = dict(zip(_by_side(store.study.protocol, trial).values(), _LETTERS, strict=True))
    return letters.get(str(value), value)


def which_left(store: Store, trial: RowMapping) -> str | None:
    """Give the option that stood on the left, by its name on the scale; None without options."""
    if "options" not in store.content[trial["stimulus_id"]]:
        return None
    return _by_side(store.study.protocol, trial)["left"]


def _by_side(protocol: Protocol, trial: RowMapping) -> dict[str, str]:
    first, second = sides_of(protocol)
    swapped = json.loads(trial["layout"]).get("swapped", False)
    return dict(zip(_SIDES, (second, first) if swapped else (first, second), strict=True))


def option_columns(store: Store, content: Mapping[str, Any]) -> dict[str, str]:
    """Give what an export says of the options: what was shown, and whose each was.

    Systems stand in columns named like the choices, where an evaluation looks for them.
    """
    found: dict[str, str] = {}
    for letter, one in zip("ab", content.get("options", ()), strict=False):
        shown = {
            f"option_{letter}": one["text"],
            f"option_{letter}_file": "" if one["file"] is None else Path(one["file"]).name,
            f"labels_{letter}": f"{BETWEEN} ".join(one["labels"]),
        }
        found |= {name: value for name, value in shown.items() if value}
    return found | systems_of(store.study.protocol, content)
