"""Finding the images that two models get wrong in different ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.result import Result
from affectlab.core.tables import Key, Number, Table, Text
from affectlab.core.words import plural
from affectlab.evaluation.classes import Classes, Costs, Truth, classes_of, judging_of
from affectlab.evaluation.classification.result import settings_of
from affectlab.ratings import Ratings
from affectlab.taxonomy import CostMatrix, Taxonomy

__all__ = [
    "BothWrong",
    "both_wrong",
]

# Images that two models get wrong in different ways: what a study of errors shows people.


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class BothWrong(Result):
    """Stimuli that two models take for different classes, neither of which is true.

    Made by :func:`both_wrong`. The table has one row per stimulus: ``stimulus``, ``truth``,
    ``label_first`` and ``label_second`` (what the first and the second model said); and where costs
    are known ``cost_first``, ``cost_second``, and ``nearer``: the model whose label costs less, or
    ``same``.
    """

    systems: tuple[str, str]
    """The first and the second model."""
    n_judged: int
    """Stimuli with a truth that both models answered."""
    n_wrong: tuple[int, int]
    """Mistakes of each model on these."""
    n_both: int
    """Stimuli that both get wrong, alike or not."""
    n_different: int
    """Of these, stimuli that they take for different classes."""
    costs: CostMatrix | None

    def __len__(self) -> int:
        """Count the stimuli that are held."""
        return self.to_frame().height

    def sample(self, n: int, *, seed: int | np.random.Generator | None = 0) -> BothWrong:
        """Draw some of them at random, each as likely as any other.

        Parameters
        ----------
        n
            How many; the published study drew 50.
        seed
            Seed or generator; the same seed gives the same stimuli in the same order.

        Raises
        ------
        InputError
            When there are fewer than `n`.

        Examples
        --------
        >>> from affectlab.evaluation import both_wrong
        >>> said = {"net": ["awe", "fear", "awe"], "other": ["fear", "awe", "awe"]}
        >>> both_wrong(said, truth=["anger", "anger", "awe"], taxonomy="mikels").sample(1)
        BothWrong(net gets 2 of 3 wrong and other 2; both 2, of which 2 into different classes.)
        """
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
            raise InputError(f"sample {n!r}: expected a whole number from 1 on")
        if n > len(self):
            raise InputError(
                f"sample {n}: {self.systems[0]!r} and {self.systems[1]!r} get "
                f"{plural(len(self), 'stimulus', 'stimuli')} wrong in different ways; expected a "
                "sample no larger than that"
            )
        rows = np.random.default_rng(seed).permutation(len(self))[:n]
        (table,) = self.tables
        return replace(self, tables=(replace(table, frame=table.frame[rows.tolist()]),))

    def items(
        self,
        files: Mapping[str, str] | None = None,
        *,
        seed: int | np.random.Generator | None = 0,
    ) -> pl.DataFrame:
        """Make the items of a blind study: the two wrong labels as options, sides drawn at random.

        Parameters
        ----------
        files
            File of each stimulus, by its name; None: the table has no column ``file``.
        seed
            Seed or generator. The first model's label stands as option A on half (to one).

        Returns
        -------
        One row per stimulus, in their order: ``stimulus``, ``file``, ``labels_a`` and ``labels_b``,
        ``system_a`` and ``system_b`` (whose each is, **not to be shown**), ``truth``, and
        ``nearer`` where costs are known. It is the stimulus table of a study of protocol
        ``preference_errors``, and can be reviewed with :func:`affectlab.stimuli.review_queue`
        before.

        Raises
        ------
        InputError
            When a stimulus has no file.

        Examples
        --------
        >>> from affectlab.evaluation import both_wrong
        >>> said = {"net": ["awe", "fear", "awe"], "other": ["fear", "awe", "awe"]}
        >>> found = both_wrong(said, truth=["anger", "anger", "awe"], taxonomy="mikels")
        >>> found.items(seed=0).select("labels_a", "system_a", "nearer").rows()
        [('awe', 'net', 'other'), ('awe', 'other', 'net')]
        """
        rng = np.random.default_rng(seed)
        n = len(self)
        half = n // 2 + int(n % 2 and rng.random() < 0.5)
        first = np.zeros(n, dtype=bool)
        first[rng.permutation(n)[:half]] = True
        stands = pl.Series("first", first, dtype=pl.Boolean)
        names = [pl.lit(name) for name in self.systems]
        told = [pl.col("label_first"), pl.col("label_second")]

        def sides(pair: Sequence[pl.Expr], name: str) -> list[pl.Expr]:
            one, other = pair
            return [
                pl.when(stands).then(one).otherwise(other).alias(f"{name}_a"),
                pl.when(stands).then(other).otherwise(one).alias(f"{name}_b"),
            ]

        made = self.to_frame().with_columns(*sides(told, "labels"), *sides(names, "system"))
        if files is not None:
            made = made.with_columns(_files(files, made["stimulus"].to_list()))
        wanted = ("stimulus", "file", "labels_a", "labels_b", "system_a", "system_b", "truth")
        return made.select(name for name in (*wanted, "nearer") if name in made.columns)


def _files(files: Mapping[str, str], stimuli: Sequence[str]) -> pl.Series:
    for name in stimuli:
        if not files.get(name):
            raise InputError(f"stimulus {name!r} has no file; expected one for each")
    return pl.Series("file", [str(files[name]) for name in stimuli], dtype=pl.String)


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
    >>> found.to_frame().select("stimulus", "label_first", "label_second", "nearer").rows()
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
    frame = _frame(classes, rows[kept], true[kept], first[kept], second[kept], names, matrix)
    n_wrong = int((first != true).sum()), int((second != true).sum())
    n_both, n_different = int(both.sum()), int(kept.sum())
    heads = {"label_first": names[0], "label_second": names[1]}
    columns = [
        Key("stimulus"),
        *(Text(name, heads.get(name, ""), verbatim=name in heads) for name in frame.columns[1:4]),
    ]
    if matrix is not None:
        numbers = (Number(f"cost_{place}", f"cost of {place}") for place in ("first", "second"))
        columns += [*numbers, Text("nearer")]
    return BothWrong(
        (Table("both_wrong", "What both take for another class.", frame, tuple(columns)),),
        (
            f"{names[0]} gets {n_wrong[0]:,} of {rows.size:,} wrong and {names[1]} {n_wrong[1]:,}; "
            f"both {n_both:,}, of which {n_different:,} into different classes.",
        ),
        settings=settings_of(classes, matrix),
        systems=(names[0], names[1]),
        n_judged=int(rows.size),
        n_wrong=n_wrong,
        n_both=n_both,
        n_different=n_different,
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
