"""Models on the range of people, beside a loop over pandas tables, scikit-learn and scipy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._harness import Size, Workload, require_close

if TYPE_CHECKING:
    import pandas as pd

    from affectlab.ratings import Ratings

_SHAPES = {"tiny": (5, 40, 3), "quick": (12, 500, 10), "full": (30, 2500, 40)}
"""People, stimuli, labels."""
_REPLICATES = 1000
_ROWS = 1 + 100 + 30 + 20 + 20 + 20 * 20
"""Data as they are, and without stimuli, people, and both: rows that are computed."""
_LABELS = 2
"""Labels that the peer does."""
_DRAWN = 1
"""Replicates that the peer does, beside the data as they are."""
_ANSWERED = 0.74
"""Share of the stimuli that the second model answered: 1,847 of 2,500."""


@dataclass(frozen=True)
class _Data:
    people: Ratings
    models: Ratings
    frame: pd.DataFrame
    """The same for the peer: stimulus, rater, label, value, whether a model."""
    labels: tuple[str, ...]


def make(size: Size) -> _Data:
    """Simulate people who differ in noise and bias, a good model, and a poor one with gaps."""
    import pandas as pd

    from affectlab.ratings import Ratings

    n_people, n, n_labels = _SHAPES[size]
    rng = np.random.default_rng(8)
    truth = np.maximum(rng.normal(0, 2.5, (n_labels, n)), 0)
    noise, bias = rng.uniform(0.8, 2, n_people), rng.normal(0, 0.4, n_people)
    said = (
        truth
        + bias[:, None, None]
        + noise[:, None, None] * rng.normal(size=(n_people, n_labels, n))
    )
    people = np.clip(np.rint(said), 0, 7)
    models = np.clip(
        truth + np.array([1.2, 2.5])[:, None, None] * rng.normal(size=(2, n_labels, n)), 0, 7
    )
    models[1, :, rng.random(n) > _ANSWERED] = np.nan
    labels = tuple(f"emotion {k:02d}" for k in range(n_labels))
    own = _long(people, "person", labels)
    theirs = _long(models, "model", labels)
    kinds = {"rater": ["model 0", "model 1"], "rater_kind": ["model"] * 2}
    return _Data(
        Ratings(own, scale="0-7"),
        Ratings(theirs, scale="0-7 interval", raters=kinds),
        pd.concat([own.assign(model=False), theirs.assign(model=True)], ignore_index=True),
        labels,
    )


def _long(cube: NDArray[np.float64], prefix: str, labels: tuple[str, ...]) -> pd.DataFrame:
    import pandas as pd

    rater, label, unit = np.nonzero(~np.isnan(cube))
    width = len(str(len(cube) - 1))
    return pd.DataFrame(
        {
            "stimulus": np.array([f"s{k:05d}" for k in range(cube.shape[2])])[unit],
            "rater": np.array([f"{prefix} {k:0{width}d}" for k in range(len(cube))])[rater],
            "label": np.array(labels)[label],
            "value": cube[rater, label, unit],
        }
    )


def ours(data: _Data) -> Any:
    """Verdicts with all that they rest on, and every table as published."""
    from affectlab.evaluation import alignment, published_tables

    tables = published_tables(data.people, data.models, n_boot=_REPLICATES, seed=0)
    return alignment(data.people, data.models, seed=0), tables


def theirs(data: _Data) -> NDArray[np.float64]:
    """Agreement of models, and of people beside them, label by label, and the same once redrawn.

    Returns
    -------
    Of the data as they are: shape (labels, models, measures, 2), the model and people.
    """
    rng = np.random.default_rng(0)
    found = []
    for label in data.labels[:_LABELS]:
        part = data.frame[data.frame["label"] == label]
        table = part.pivot_table(index="stimulus", columns="rater", values="value")
        models = sorted(part.loc[part["model"], "rater"].unique())
        people = [name for name in table.columns if name not in models]
        found.append(_agreement(table, people, models))
        for _ in range(_DRAWN):
            rows = table.sample(frac=1, replace=True, random_state=rng)
            drawn = list(rng.choice(people, len(people)))
            _agreement(rows, drawn, models)
    return np.array(found)


def _agreement(table: pd.DataFrame, people: list[str], models: list[str]) -> list[Any]:
    """Kappa with each person, and Spearman with the median of the others, of models and people."""
    from itertools import combinations

    from scipy.stats import spearmanr
    from sklearn.metrics import cohen_kappa_score

    def kappa(a: str, b: str, rows: pd.DataFrame) -> float:
        both = rows[[a, b]].dropna().round().astype(int)
        return float(cohen_kappa_score(both[a], both[b], weights="quadratic", labels=range(8)))

    found = []
    for model in models:
        rows = table[table[model].notna()]
        pairs = [kappa(a, b, rows) for a, b in combinations(people, 2) if a != b]
        of_model, of_person = [], []
        for person in people:
            others = [name for name in people if name != person]
            median = rows[others].median(axis=1)
            of_model.append(spearmanr(rows[model], median).statistic)
            of_person.append(spearmanr(rows[person], median).statistic)
        with_people = [kappa(model, person, rows) for person in people]
        found.append(
            [
                [np.mean(with_people), np.mean(pairs)],
                [np.mean(of_model), np.mean(of_person)],
            ]
        )
    return found


def check(data: _Data, mine: Any, peer: NDArray[np.float64]) -> str:
    """Compare the values of the labels that the peer did."""
    result, _ = mine
    frame = result.by_label.frame
    shape = (2, 2, len(data.labels))
    values = np.stack([frame[name].to_numpy().reshape(shape) for name in ("agreement", "people")])
    # From (side, measure, model, label) to (label, model, measure, side).
    said = require_close(values.transpose(3, 2, 1, 0)[:_LABELS], peer, 1e-9, "agreements")
    return f"{said} on {_LABELS} labels; what is left out is compared in the tests"


def _share(data: _Data) -> float:
    return len(data.labels) / _LABELS * _ROWS / (_DRAWN + 1)


WORKLOADS = (
    Workload(
        name="alignment of 2 models with 30 people, 2,500 stimuli, 40 labels, with intervals",
        peer="pandas, scikit-learn's cohen_kappa_score and scipy's spearmanr in a loop",
        make=make,
        ours=ours,
        theirs=theirs,
        check=check,
        faster=1000,
        scale=_share,
        extrapolated=(
            f"the peer's loop over {_LABELS} of 40 labels, with {_DRAWN} of {_ROWS - 1} "
            f"resamples, times 40 / {_LABELS} and {_ROWS} / {_DRAWN + 1}"
        ),
        packages=("pandas", "scikit-learn", "scipy"),
        note="Ours also leaves out each person, does the alternative-annotator test and all tables "
        "as published; the peer does kappas and correlations alone. One model answered 74 % of "
        "the stimuli, and people are compared on the same part.",
        rounds=3,
    ),
)
