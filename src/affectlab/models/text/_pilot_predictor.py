"""What predicts the emotions of a pool: a model in a folder, on this machine and on others."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from affectlab.models.text._base import TextClassifier

__all__ = ["PilotPredictor"]


@dataclass(frozen=True)
class PilotPredictor:
    """Gives the labels of texts, the most likely first: one at least, and none for an empty text.

    It can be pickled, and reads its model when it is first used, so that other processes and
    machines that see the folder can use it.
    """

    folder: Path
    """Folder of a model."""
    name: str
    """Told by what is in the folder: another model has another name."""
    _kept: list[TextClassifier] = field(default_factory=list, compare=False, repr=False)

    @classmethod
    def of_folder(cls, path: str | Path) -> PilotPredictor:
        """Make one of the folder of a model.

        Raises
        ------
        InputError
            When the folder holds no model.
        """
        place = Path(path)
        model = TextClassifier.load(place)
        digest = hashlib.sha256()
        for file in sorted(one for one in place.rglob("*") if one.is_file()):
            digest.update(file.relative_to(place).as_posix().encode())
            digest.update(hashlib.sha256(file.read_bytes()).digest())
        return cls(place.resolve(), f"{model.name}-{digest.hexdigest()[:12]}", [model])

    def __getstate__(self) -> dict[str, Any]:
        return {"folder": self.folder, "name": self.name, "_kept": []}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for key, value in state.items():
            object.__setattr__(self, key, value)

    @property
    def model(self) -> TextClassifier:
        """The model, read when it is first asked for."""
        if not self._kept:
            self._kept.append(TextClassifier.load(self.folder))
        return self._kept[0]

    def __call__(self, texts: list[str]) -> list[list[str]]:
        """Give the labels that the model's rule chooses, or the likeliest where it chooses none."""
        found: list[list[str]] = [[] for _ in texts]
        there = [row for row, text in enumerate(texts) if text and not text.isspace()]
        if not there:
            return found
        labels = self.model.labels
        probabilities = self.model.predict_proba([texts[row] for row in there])
        chosen = self.model.decision().decide(probabilities)
        order = np.argsort(-probabilities, axis=1, kind="stable")
        for row, of_row, places in zip(there, chosen, order, strict=True):
            own = [labels[place] for place in places if of_row[place]]
            found[row] = own or [labels[places[0]]]
        return found
