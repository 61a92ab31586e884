"""What training reached after each epoch, and whether texts beside it chose the epoch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from affectlab.core.errors import InputError
from affectlab.core.words import plural
from affectlab.models.runs import read_json, write_json
from affectlab.models.text.warnings import fingerprints

__all__ = ["EarlyStopping", "read_history", "write_history"]

_FILE = "history.json"


@dataclass(frozen=True)
class EarlyStopping:
    """The texts beside training that chose the epoch whose weights were kept.

    What a model reaches on these texts is too good: they have had a say in its weights, also where
    thresholds and calibration are fitted to one half of them and judged on the other.
    """

    watch: str
    """What counted as progress: ``average_precision`` or ``loss``, or a measure of
    :mod:`affectlab.models.vision`."""
    n_texts: int
    best_epoch: int
    """Epoch whose weights were kept, from 1 on."""
    n_epochs: int
    """Epochs that were trained."""
    fingerprint: str
    """Of the texts, whatever their order."""

    @classmethod
    def of(
        cls, history: Sequence[Mapping[str, float]], watch: str, texts: Sequence[str]
    ) -> EarlyStopping | None:
        """Read off a history; None where it has no score on texts beside training."""
        scored = [entry for entry in history if f"dev {watch}" in entry]
        if not scored:
            return None
        sign = -1 if watch == "loss" else 1
        best = max(scored, key=lambda entry: sign * entry[f"dev {watch}"])
        return cls(watch, len(texts), int(best["epoch"]), len(history), _fingerprint(texts))

    @classmethod
    def at(cls, best_epoch: int, n_epochs: int, watch: str, texts: Sequence[str]) -> EarlyStopping:
        """Say which epoch was kept, by another score than those of this module."""
        return cls(watch, len(texts), best_epoch, n_epochs, _fingerprint(texts))

    def saw(self, texts: Sequence[str]) -> bool:
        """Say whether these are the texts that chose the epoch."""
        return _fingerprint(texts) == self.fingerprint

    def said(self) -> str:
        """Say it in words.

        Examples
        --------
        >>> EarlyStopping("average_precision", 5426, 3, 5, "").said()
        'epoch 3 of 5, chosen by average precision on 5,426 texts beside training'
        """
        return (
            f"epoch {self.best_epoch} of {self.n_epochs}, chosen by "
            f"{self.watch.replace('_', ' ')} on {plural(self.n_texts, 'text')} beside training"
        )


def _fingerprint(texts: Sequence[str]) -> str:
    return blake2b(fingerprints(texts).tobytes(), digest_size=8).hexdigest()


def write_history(
    folder: Path, history: Sequence[Mapping[str, float]], stopped_on: EarlyStopping | None
) -> None:
    """Write what training reached to the folder of a model."""
    write_json(
        folder / _FILE,
        {
            "epochs": [dict(entry) for entry in history],
            "stopped_on": None if stopped_on is None else asdict(stopped_on),
        },
    )


def read_history(folder: Path) -> tuple[list[dict[str, float]], EarlyStopping | None]:
    """Read what :func:`write_history` wrote; nothing where a model was saved without it.

    Raises
    ------
    InputError
        When the file is no such history.
    """
    file = folder / _FILE
    if not file.is_file():
        return [], None
    held: Any = read_json(file)
    try:
        epochs = [{name: float(value) for name, value in e.items()} for e in held["epochs"]]
        given = held["stopped_on"]
        if given is None:
            return epochs, None
        return epochs, EarlyStopping(
            str(given["watch"]),
            int(given["n_texts"]),
            int(given["best_epoch"]),
            int(given["n_epochs"]),
            str(given["fingerprint"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(f"{file}: expected the epochs of a training run") from None
