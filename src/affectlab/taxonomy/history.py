"""How a taxonomy came to be what it is: its versions, and each decision with its evidence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from affectlab.core.errors import InputError

ACTIONS = ("keep", "rename", "add", "merge", "drop")


@dataclass(frozen=True)
class LabelChange:
    """What was decided about one label, or one term that could have become one.

    Raises
    ------
    InputError
        When the action is not known, or a number of the evidence is not finite.

    Examples
    --------
    >>> LabelChange("drop", "boredom", reason="chosen for 3 of 3,000 texts").action
    'drop'
    """

    action: str
    """``keep``, ``rename``, ``add``, ``merge`` or ``drop``."""
    label: str
    """The label as it was before, or the term."""
    into: str = ""
    """Name of the label it is now, where that is another one."""
    reason: str = ""
    evidence: Mapping[str, float | int | str] = field(default_factory=dict, hash=False)
    """The numbers behind the decision, by name."""

    def __post_init__(self) -> None:
        if self.action not in ACTIONS:
            raise InputError(
                f"change of {self.label!r}: action {self.action!r} is not known; expected one of: "
                + ", ".join(ACTIONS)
            )
        for key, value in self.evidence.items():
            if isinstance(value, float) and not math.isfinite(value):
                raise InputError(
                    f"change of {self.label!r}: evidence {key} = {value}; expected a finite number"
                )


@dataclass(frozen=True)
class TaxonomyRevision:
    """One version of a taxonomy: what it was made from, and all decisions."""

    version: str
    parent: str = ""
    """Version it revises; empty for the first."""
    parent_sha256: str = ""
    """Digest of the TOML text of the parent, to tell which file that was."""
    source: str = ""
    """What the decisions rest on: texts, a pilot, a review."""
    changes: tuple[LabelChange, ...] = ()
