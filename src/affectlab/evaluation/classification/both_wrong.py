"""Finding the images that two models get wrong in different ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from affectlab.core.errors import InputError, check_choices, check_number
from affectlab.core.result import Result
from affectlab.core.tables import Key, Number, Table, Text
from affectlab.core.words import plural
from affectlab.evaluation.classes import Classes, Costs, Truth, classes_of, judging_of
from affectlab.evaluation.classification import wording
from affectlab.evaluation.classification.result import settings_of
from affectlab.evaluation.preference import random_sides
from affectlab.ratings import ModelRatings, Ratings
from affectlab.taxonomy import CostMatrix, Taxonomy

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
        check_number("sample", n, 1, whole=True)
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
        first = random_sides([self.systems[0]] * len(self), rng)
        stands = pl.lit(pl.Series(first, dtype=pl.Boolean))
        pairs = {
            "labels": (pl.col("label_first"), pl.col("label_second")),
            "system": tuple(map(pl.lit, self.systems)),
        }
        made = self.to_frame().with_columns(
            pl.when(stands if side == "a" else ~stands)
            .then(one)
            .otherwise(other)
            .alias(f"{name}_{side}")
            for name, (one, other) in pairs.items()
            for side in ("a", "b")
        )
        if files is not None:
            for name in made["stimulus"]:
                if not files.get(name):
                    raise InputError(f"stimulus {name!r} has no file; expected one for each")
            own = [str(files[name]) for name in made["stimulus"]]
            made = made.with_columns(pl.Series("file", own, dtype=pl.String))
        wanted = ("stimulus", "file", "labels_a", "labels_b", "system_a", "system_b", "truth")
        return made.select(name for name in (*wanted, "nearer") if name in made.columns)


def both_wrong(
    ratings: Ratings | Classes | Mapping[str, Sequence[str]],
    models: ModelRatings | None = None,
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
        Answers, as for :func:`evaluate_classification`; or ``Classes`` made before; or the
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
        options = {"multilabel": False, **options}
        classes = classes_of(ratings, models, truth=truth, taxonomy=taxonomy, **options)  # type: ignore[arg-type]
    if classes.multilabel:
        raise InputError("the answers are sets of classes; expected one class for each stimulus")
    one, other = _pair(classes, systems)
    answers = classes.to_frame()
    said = [pl.nth(2 + classes.raters.index(name)) for name in (one, other)]
    answers = answers.select(
        "stimulus", "truth", said[0].alias("label_first"), said[1].alias("label_second")
    ).drop_nulls()
    if answers.is_empty():
        raise InputError(f"{one!r} and {other!r} share no stimulus that has a truth; expected some")
    wrong = [pl.col(name) != pl.col("truth") for name in ("label_first", "label_second")]
    n_wrong = tuple(answers.select(wrong).sum().row(0))
    both = answers.filter(wrong)
    frame = both.filter(pl.col("label_first") != pl.col("label_second"))
    n_judged, n_both, n_different = answers.height, both.height, frame.height
    if not n_different:
        raise InputError(
            f"{one!r} and {other!r} get {n_both:,} of {n_judged:,} stimuli both wrong, and take "
            "each of these for the same class; there is nothing to choose between"
        )
    columns = [
        Key("stimulus"),
        Text("truth"),
        Text("label_first", one, verbatim=True),
        Text("label_second", other, verbatim=True),
    ]
    matrix = judging_of(classes, costs, None).costs
    if matrix is not None:
        price = {
            f"cost_{place}": pl.Series(
                [matrix.cost(*pair) for pair in frame.select("truth", f"label_{place}").iter_rows()]
            )
            for place in ("first", "second")
        }
        nearer = pl.when(pl.col("cost_first") < pl.col("cost_second")).then(pl.lit(one))
        same = pl.when(pl.col("cost_first") == pl.col("cost_second")).then(pl.lit("same"))
        frame = frame.with_columns(**price).with_columns(
            same.otherwise(nearer.otherwise(pl.lit(other))).alias("nearer")
        )
        numbers = (Number(f"cost_{place}", f"cost of {place}") for place in ("first", "second"))
        columns += [*numbers, Text("nearer")]
    return BothWrong(
        (Table("both_wrong", "What both take for another class.", frame, tuple(columns)),),
        (wording.both_wrong((one, other), n_wrong, n_judged, n_both, n_different),),
        settings=settings_of(classes, matrix),
        systems=(one, other),
        n_judged=n_judged,
        n_wrong=n_wrong,
        n_both=n_both,
        n_different=n_different,
        costs=matrix,
    )


def _pair(classes: Classes, systems: Sequence[str] | None) -> tuple[str, str]:
    """Give the two models."""
    wanted = list(classes.raters) if systems is None else list(systems)
    if isinstance(systems, str) or len(wanted) != 2 or wanted[0] == wanted[1]:
        known = ", ".join(map(repr, classes.raters)) or "none"
        raise InputError(
            f"two different models are wanted, and there is {known}; expected systems to name two"
        )
    check_choices("model", wanted, classes.raters)
    return wanted[0], wanted[1]


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
