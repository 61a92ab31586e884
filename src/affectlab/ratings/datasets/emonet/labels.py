"""How the files of EmoNet-Face spell labels, and what they hold beside the 40 emotions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from affectlab.core.errors import InputError
from affectlab.ratings.datasets.common import Rejects, shown
from affectlab.ratings.scale import Scale
from affectlab.taxonomy import Taxonomy

__all__ = ["IntensityRows", "intensity_scale"]

_EXTRA = "Extra Dimensions"


class IntensityRows:
    """Collects intensities given as ``{"Category|Emotion": number}``, one mapping per entry.

    An emotion that a mapping does not name gets no row here; its meaning is that of the format.
    Keys of the category ``Extra Dimensions`` are no emotions, and are counted as set aside.
    """

    def __init__(self, taxonomy: Taxonomy, rejects: Rejects) -> None:
        self._taxonomy = taxonomy
        self._ledger = rejects
        self._labels: dict[str, str | None] = {}
        self.entry: list[int] = []
        """Entry of each row."""
        self.unnamed: list[int] = []
        """Entries whose mapping names no emotion."""
        self.label: list[str] = []
        self.value: list[float] = []

    def add(self, entry: int, given: Mapping[str, Any], place: str, *, factor: float = 1.0) -> int:
        """Take the ratings of one entry over, each times `factor`; gives their number."""
        before = len(self.value)
        if all(key.startswith(_EXTRA + "|") for key in given):
            self.unnamed.append(entry)
        for key, value in given.items():
            if key.startswith(_EXTRA + "|"):
                self._ledger.skip(place, f"'{key}' is no emotion of the taxonomy")
                continue
            label = self._label(key, place)
            if label is None:
                continue
            if value is None:
                self._ledger.skip(place, "no answer")
            elif isinstance(value, bool) or not isinstance(value, int | float) or value != value:
                self._ledger.reject(
                    place,
                    "value not understood",
                    f"{label} is {shown(value)}; expected a number from 0 to 7",
                )
            else:
                self.entry.append(entry)
                self.label.append(label)
                self.value.append(float(value) * factor)
        return len(self.value) - before

    def rate_unnamed(self) -> tuple[str, ...]:
        """Rate one emotion of entries that name none with 0, so that all of them are absent ones.

        Returns
        -------
        What was done, for the history.
        """
        for entry in self.unnamed:
            self.entry.append(entry)
            self.label.append(self.label[0])
            self.value.append(0.0)
        n = len(self.unnamed)
        noun = "entry names" if n == 1 else "entries name"
        return (f"{n:,} {noun} no emotion: {self.label[0]} = 0, the others absent",) if n else ()

    def _label(self, key: str, place: str) -> str | None:
        if key not in self._labels:
            try:
                self._labels[key] = self._taxonomy.name_of(key.rpartition("|")[2])
            except InputError as error:
                self._ledger.reject(place, "label not in the taxonomy", str(error))
                self._labels[key] = None
        elif self._labels[key] is None:
            self._ledger.skip(place, "label not in the taxonomy")
        return self._labels[key]


def intensity_scale(values: list[float]) -> Scale:
    """Give the scale 0 to 7: in steps of 1 as for people, or without steps when models use none."""
    whole = all(value.is_integer() for value in values)
    return Scale("ordinal", 0.0, 7.0, 1.0) if whole else Scale("interval", 0.0, 7.0)
