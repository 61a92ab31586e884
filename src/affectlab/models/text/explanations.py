"""Which words moved a prediction, and by how much."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from affectlab.core.errors import check_choice
from affectlab.core.types import Floats
from affectlab.core.words import number, shown
from affectlab.models.text.features import EDGES, TfidfFeatures, cut, pieces_of

if TYPE_CHECKING:
    from affectlab.core.render.grid import Table

__all__ = ["Contributions", "explain_linear"]

_SHOWN = 3


@dataclass(frozen=True, eq=False, repr=False)
class Contributions:
    """What each token of a text adds to the logit of each label."""

    text: str
    tokens: tuple[str, ...]
    """The text in tokens, in order."""
    labels: tuple[str, ...]
    parts: Floats
    """Shape (tokens, labels)."""
    bias: Floats
    """What each label starts from, shape (labels,)."""
    probabilities: Floats
    """As predicted, shape (labels,)."""
    method: str
    """How the parts were found, and whether they add up."""

    @property
    def logits(self) -> Floats:
        """Bias plus all parts, shape (labels,)."""
        total: Floats = self.bias + self.parts.sum(axis=0)
        return total

    def of(self, label: str) -> tuple[tuple[str, float], ...]:
        """Tokens in order, with what they add to a label.

        Raises
        ------
        InputError
            When there is no such label.
        """
        check_choice("label", label, self.labels)
        column = self.parts[:, self.labels.index(label)]
        return tuple(zip(self.tokens, column.tolist(), strict=True))

    def top(self, label: str, n: int = 5) -> tuple[tuple[str, float], ...]:
        """Tokens that move a label most, up or down, the strongest first."""
        return tuple(sorted(self.of(label), key=lambda part: -abs(part[1]))[:n])

    def strongest(self, n: int = _SHOWN) -> tuple[str, ...]:
        """Labels with the highest probabilities, the highest first."""
        order = np.argsort(-self.probabilities, kind="stable")[:n]
        return tuple(self.labels[place] for place in order)

    def to_frame(self) -> pl.DataFrame:
        """One row per token and label: position, token, label, contribution."""
        n, k = self.parts.shape
        return pl.DataFrame(
            {
                "position": np.repeat(np.arange(1, n + 1), k),
                "token": pl.Series([token for token in self.tokens for _ in range(k)]),
                "label": pl.Series(list(self.labels) * n, dtype=pl.String),
                "contribution": self.parts.ravel(),
            }
        )

    def __repr__(self) -> str:
        label = self.strongest(1)[0]
        words = ", ".join(f"{word} {value:+.2f}" for word, value in self.top(label, 3))
        return f"Contributions({label} {self.probabilities.max():.2f}: {words})"

    def __rich__(self) -> Table:
        from rich.text import Text

        from affectlab.core.render.grid import Table

        table = Table(box=None, header_style="bold")
        table.add_column("")
        chosen = self.strongest()
        for label in chosen:
            table.add_column(Text(shown(label, 20)), justify="right")
        places = [self.labels.index(label) for label in chosen]

        def row(name: str, values: Any, style: str = "") -> None:
            cells = [Text(number(value), style=style or _style(value)) for value in values]
            table.add_row(Text(shown(name, 30), style=style), *cells)

        for token, values in zip(self.tokens, self.parts[:, places], strict=True):
            row(token, values)
        row("(start)", self.bias[places], "dim")
        row("sum", self.logits[places], "bold")
        row("probability", self.probabilities[places], "bold")
        return table


def _style(value: float) -> str:
    return "green" if value > 0.1 else "red" if value < -0.1 else "dim"


def explain_linear(
    text: str,
    features: TfidfFeatures,
    weights: Any,
    bias: Floats,
    labels: tuple[str, ...],
    probabilities: Floats,
) -> Contributions:
    """Share what every feature adds among the words that hold it."""
    tokens = cut(text)
    row = features.transform([text])
    width = len(features.tokens)
    # Of each occurrence: the feature, and the words it belongs to.
    held: list[tuple[int, tuple[int, ...]]] = []
    for place, token in enumerate(tokens):
        held.append((features.token_place.get(token, -1), (place,)))
        if features.settings.pieces is not None:
            for piece in pieces_of(token, features.settings.pieces):
                at = features.piece_place.get(piece, -1)
                held.append((width + at if at >= 0 else -1, (place,)))
    if features.settings.pairs and tokens:
        chain = [EDGES[0], *tokens, EDGES[1]]
        for place, pair in enumerate(pairwise(chain)):
            owners = tuple(at for at in (place - 1, place) if 0 <= at < len(tokens))
            held.append((features.token_place.get(" ".join(pair), -1), owners))
    times = np.bincount([at for at, _ in held if at >= 0], minlength=features.n_features)
    value = np.zeros(features.n_features)
    value[row.indices] = row.data
    parts = np.zeros((len(tokens), len(labels)))
    for at, owners in held:
        if at >= 0:
            share = value[at] / times[at] / len(owners) * weights[at].astype(np.float64)
            for owner in owners:
                parts[owner] += share
    return Contributions(
        text,
        tuple(tokens),
        labels,
        parts,
        np.asarray(bias, dtype=np.float64),
        probabilities,
        "exact: start and parts sum to the logit before calibration",
    )
