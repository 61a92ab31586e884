"""Panels with planted models, and what a report wrote of them."""

from __future__ import annotations

import html

import numpy as np
import polars as pl
from tests.report.conftest import LABELS

from affectlab.ratings import Ratings


def table(folder, name: str) -> pl.DataFrame:
    return pl.read_csv(folder / "tables" / f"{name}.csv", schema_overrides={"rater": pl.String})


def text_of(paths) -> str:
    return html.unescape(paths.html.read_text(encoding="utf-8"))


def rows_of(answers: dict[str, np.ndarray], labels: tuple[str, ...]) -> pl.DataFrame:
    """Rows of answers by rater, each of shape (stimuli, labels)."""
    return pl.concat(
        pl.DataFrame(
            {
                "stimulus": [f"s{j}" for j in range(len(values)) for _ in labels],
                "rater": [name] * values.size,
                "label": list(labels) * len(values),
                "value": values.ravel(),
            }
        )
        for name, values in answers.items()
    )


def planted(
    *models: str, n: int = 150, people: int = 8, labels: int = 2, seed: int = 0
) -> dict[str, np.ndarray]:
    """People with errors of one size; a twin answers like them, another model at random."""
    rng = np.random.default_rng(seed)
    truth = rng.uniform(0, 7, (n, labels))
    made = {f"p{k}": truth + rng.normal(0, 1.2, truth.shape) for k in range(people)}
    kinds = {
        "twin": lambda: truth + rng.normal(0, 1.2, truth.shape),
        "oracle": lambda: truth,
        "random": lambda: rng.uniform(0, 7, truth.shape),
    }
    return made | {name: kinds[name.split()[0]]() for name in models}


def ratings_of(answers: dict[str, np.ndarray], *, scale: str = "0-7", **options) -> Ratings:
    labels = LABELS[: next(iter(answers.values())).shape[1]]
    whole = {name: np.clip(np.rint(values), 0, 7) for name, values in answers.items()}
    kinds = ["human" if name.startswith("p") else "model" for name in answers]
    raters = {"rater": list(answers), "rater_kind": kinds}
    return Ratings(rows_of(whole, labels), scale=scale, raters=raters, **options)
