"""Finding the images that two models get wrong in different ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from affectlab.errors import InputError, unknown_name
from affectlab.evaluation._both_wrong_result import BothWrong
from affectlab.evaluation._classes import Classes
from affectlab.evaluation._classes_costs import Costs, judging_of
from affectlab.evaluation._classes_of import classes_of
from affectlab.evaluation._classes_truth import Truth
from affectlab.ratings import Ratings
from affectlab.taxonomy import CostMatrix, Taxonomy

if TYPE_CHECKING:
    import polars as pl

__all__ = ["both_wrong"]


def both_wrong(
    ratings: Ratings | Classes | Mapping[str, Sequence[str]],
    models: Ratings | None = None,
    *,
    truth: Truth | Sequence[str] = "people",
    stimuli: Sequence[str] | None = None,
    systems: Sequence[str] | None = None,
    taxonomy: str | Taxonomy | None = None,
    costs: Costs | None = None,
    **options: Any,
) -> BothWrong:
    """Find the stimuli that two models both misclassify, and into different classes.

    Parameters
    ----------
    ratings, models
        Answers, as for :func:`evaluate_classification`; or :class:`Classes` made before; or the
        label that each of two models gives each stimulus, by name of the model.
    truth
        As for :func:`classes_of`; with labels by model, the true label of each stimulus in order.
    stimuli
        With labels by model: names of the stimuli in order; None: numbers from 1 on.
    systems
        The two models, where there are more.
    taxonomy
        Of the classes; by default that of the ratings.
    costs
        As for :func:`evaluate_classification`: what says which of two wrong labels is nearer.
    options
        Of :func:`classes_of`, such as ``scores="chosen"`` for what a model decided by cost.

    Returns
    -------
    BothWrong, in the order of the stimuli.

    Raises
    ------
    InputError
        When there are not two models, they share no stimulus that has a truth, or there is no such
        image at all.

    References
    ----------
    Zhao et al. (2024), To Err Like Human, user study: of the images that both models misclassify
    into different classes, 50 are drawn, and 30 kept that show a clear emotion.

    Examples
    --------
    >>> said = {"net": ["awe", "fear", "awe"], "other": ["fear", "fear", "awe"]}
    >>> found = both_wrong(said, truth=["anger", "anger", "awe"], taxonomy="mikels")
    >>> found.frame.select("stimulus", "label_first", "label_second", "nearer").rows()
    [('1', 'awe', 'fear', 'other')]
    >>> found.n_both, found.n_different
    (2, 1)
    """
    if isinstance(ratings, Mapping):
        classes = _of_labels(ratings, truth, stimuli, taxonomy)
    elif isinstance(ratings, Classes):
        classes = ratings
    else:
        if stimuli is not None:
            raise InputError("stimuli goes with labels by model; ratings name theirs themselves")
        classes = classes_of(ratings, models, truth=truth, taxonomy=taxonomy, **options)  # type: ignore[arg-type]
    if classes.multilabel:
        raise InputError("the answers are sets of classes; expected one class for each stimulus")
    pair = _pair(classes, systems)
    rows = np.flatnonzero(classes.answered[pair[0]] & classes.answered[pair[1]])
    names = tuple(classes.raters[place] for place in pair)
    if not rows.size:
        raise InputError(
            f"{names[0]!r} and {names[1]!r} share no stimulus that has a truth; expected some"
        )
    true = classes.truth[rows]
    first, second = (classes.predicted[place][rows] for place in pair)
    both = (first != true) & (second != true)
    kept = both & (first != second)
    if not kept.any():
        raise InputError(
            f"{names[0]!r} and {names[1]!r} get {int(both.sum()):,} of {rows.size:,} stimuli both "
            "wrong, and take each of these for the same class; there is nothing to choose between"
        )
    matrix = judging_of(classes, costs, None).costs
    return BothWrong(
        frame=_frame(classes, rows[kept], true[kept], first[kept], second[kept], names, matrix),
        systems=(names[0], names[1]),
        n_judged=int(rows.size),
        n_wrong=(int((first != true).sum()), int((second != true).sum())),
        n_both=int(both.sum()),
        n_different=int(kept.sum()),
        costs=matrix,
    )


def _frame(
    classes: Classes,
    rows: Any,
    true: Any,
    first: Any,
    second: Any,
    systems: Sequence[str],
    costs: CostMatrix | None,
) -> pl.DataFrame:
    import polars as pl

    labels = np.array(classes.labels, dtype=object)
    columns: dict[str, Any] = {"stimulus": [classes.stimuli[row] for row in rows.tolist()]}
    said = {"truth": true, "label_first": first, "label_second": second}
    columns |= {name: labels[codes].tolist() for name, codes in said.items()}
    frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
    if costs is None:
        return frame
    one, other = (
        np.array([costs.cost(a, b) for a, b in frame.select("truth", name).iter_rows()])
        for name in ("label_first", "label_second")
    )
    nearer = np.where(one == other, "same", np.where(one < other, *systems))
    return frame.with_columns(
        pl.Series("cost_first", one, dtype=pl.Float64),
        pl.Series("cost_second", other, dtype=pl.Float64),
        pl.Series("nearer", nearer.tolist(), dtype=pl.String),
    )


def _pair(classes: Classes, systems: Sequence[str] | None) -> tuple[int, int]:
    """Places of the two models."""
    wanted = list(classes.raters) if systems is None else list(systems)
    if isinstance(systems, str) or len(wanted) != 2 or wanted[0] == wanted[1]:
        known = ", ".join(map(repr, classes.raters)) or "none"
        raise InputError(
            f"two different models are wanted, and there is {known}; expected systems to name two"
        )
    for name in wanted:
        if name not in classes.raters:
            raise unknown_name("model", str(name), classes.raters)
    first, second = (classes.raters.index(name) for name in wanted)
    return first, second


def _of_labels(
    given: Mapping[str, Sequence[str]],
    truth: Any,
    stimuli: Sequence[str] | None,
    taxonomy: str | Taxonomy | None,
) -> Classes:
    """Make classes of labels by model."""
    if isinstance(truth, str | Mapping | Ratings):
        raise InputError(
            "labels by model go with the true label of each stimulus in order; got another truth"
        )
    true = [str(name) for name in truth]
    names = (
        [str(k) for k in range(1, len(true) + 1)] if stimuli is None else list(map(str, stimuli))
    )
    if len(set(names)) < len(names) or len(names) != len(true):
        raise InputError(
            f"{len(names)} stimuli and {len(true)} true labels; expected a different name for each"
        )
    for model, labels in given.items():
        if isinstance(labels, str) or len(labels) != len(true):
            raise InputError(
                f"model {model!r}: {len(labels)} labels, and {len(true)} true ones; expected one "
                "for each stimulus"
            )
    if not true or not given:
        raise InputError("there is no stimulus or no model; expected labels of two models")
    models = [str(model) for model in given]
    answers = Ratings(
        {
            "stimulus": names * len(models),
            "rater": [model for model in models for _ in names],
            "value": [str(label) for labels in given.values() for label in labels],
        },
        raters={"rater": models, "rater_kind": ["model"] * len(models)},
        taxonomy=taxonomy,
    )
    return classes_of(answers, truth=dict(zip(names, true, strict=True)), taxonomy=taxonomy)
