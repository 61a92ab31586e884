"""People and models on the same stimuli and labels, as the arrays that alignment works on."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from affectlab.core.arrays import distinct_codes
from affectlab.core.errors import InputError, check_choices
from affectlab.core.facts import Cause, Reason
from affectlab.core.statistic import Draws
from affectlab.core.types import Bools, Floats, Ints
from affectlab.core.words import some
from affectlab.evaluation.people_and_models import (
    Rounding,
    Sides,
    answer_steps,
    judged_sides,
    of_training,
    people_of,
    scale_map,
)
from affectlab.ratings import HUMAN_KINDS, Answers, ModelRatings, Ratings, Scale, answers_of


@dataclass(frozen=True)
class Copies:
    """How often stimuli and people count in some rows of draws, as compiled code takes it."""

    stimuli: NDArray[np.uint8]
    """Shape (rows, stimuli)."""
    raters: NDArray[np.int32]
    """Shape (rows, people)."""

    @classmethod
    def of(cls, draws: Draws, n_stimuli: int, n_people: int) -> Copies:
        """Count the copies of each."""
        people = np.ones((draws.n_rows, n_people)) if draws.rater is None else draws.rater
        stimuli = np.minimum(draws.weights(n_stimuli), 255)
        return cls(stimuli.astype(np.uint8), people.astype(np.int32))

    @property
    def n_rows(self) -> int:
        """Rows of draws."""
        return int(self.stimuli.shape[0])

    @cached_property
    def kinds(self) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        """Stimuli that count alike in every row, as those of a group that is left out do.

        Returns
        -------
        The kind of each stimulus, and how often a stimulus of each kind counts: (rows, kinds).
        """
        kinds, kind = np.unique(self.stimuli, axis=1, return_inverse=True)
        return kind.reshape(-1).astype(np.int32), kinds


@dataclass(frozen=True)
class LabelPanel:
    """The answers to one label: those of people as lists, those of models as arrays."""

    item: Ints
    """Stimulus of each answer of a person, rising, shape (answers,)."""
    person: Ints
    value: Floats
    models: Floats
    """Answers of models on their own scale, for what looks at ranks: shape (models, stimuli)."""
    exact: Floats
    """The same on the scale of people, with their fractions; ``nan`` where there is no map."""
    steps: Floats
    """The same, on the steps of the scale where it has any."""
    n_people: int

    @property
    def n_items(self) -> int:
        """Stimuli, answered or not."""
        return int(self.models.shape[1])

    @cached_property
    def rated(self) -> Bools:
        """Stimuli that any person answered, shape (stimuli,)."""
        rated = np.zeros(self.n_items, dtype=np.bool_)
        rated[self.item] = True
        return rated

    def people_on(self, stimuli: Bools) -> Bools:
        """Tell who answered any of some stimuli, shape (people,)."""
        return np.bincount(self.person[stimuli[self.item]], minlength=self.n_people) > 0

    @cached_property
    def people_of_models(self) -> Bools:
        """Tell who answered any of the stimuli of each model, shape (models, people)."""
        sets, of_model = self.sets
        return np.stack([self.people_on(one) for one in sets])[of_model]

    @cached_property
    def by_person(self) -> tuple[Ints, NDArray[np.int32], Floats]:
        """Answers person after person: where each starts, stimuli (rising), and values."""
        order = np.argsort(self.person, kind="stable")
        start = np.searchsorted(self.person[order], np.arange(self.n_people + 1)).astype(np.int64)
        return start, self.item[order].astype(np.int32), self.value[order]

    @cached_property
    def by_value(self) -> tuple[Ints, Ints]:
        """Answers of :attr:`by_person` by stimulus and rising value, and where stimuli start."""
        _, item, value = self.by_person
        order = np.lexsort((value, item))
        return order, np.searchsorted(item[order], np.arange(self.n_items + 1)).astype(np.int64)

    @cached_property
    def whole(self) -> bool:
        """Whether every person answered every stimulus that anyone answered."""
        return self.value.size == self.n_people * int(self.rated.sum())

    @cached_property
    def sets(self) -> tuple[Bools, NDArray[np.int32]]:
        """The different sets of rated stimuli that models answered.

        Returns
        -------
        Shape (sets, stimuli), all rated stimuli first; and the set of each model.
        """
        answered = ~np.isnan(self.models) & self.rated
        known = {self.rated.tobytes(): 0}
        rows = [self.rated]
        of_model = np.zeros(len(answered), dtype=np.int32)
        for f, row in enumerate(answered):
            key = row.tobytes()
            if key not in known:
                known[key] = len(rows)
                rows.append(row)
            of_model[f] = known[key]
        return np.stack(rows), of_model


Made = TypeVar("Made")
_NAMED = 5
NO_SCALE = Reason(Cause.NO_COMMON_SCALE)


@dataclass(frozen=True)
class AlignmentPanel:
    """Everything that is compared."""

    labels: tuple[str, ...]
    stimuli: tuple[str, ...]
    """Stimuli that people rated and, where there are models, any of them answered."""
    people: tuple[str, ...]
    models: tuple[str, ...]
    model_kinds: tuple[str, ...]
    scale: Scale
    parts: tuple[LabelPanel, ...]
    """One per label."""
    n_offered: int
    """(Stimulus, label) cells that people rated, answered by models or not."""
    n_offered_stimuli: int
    """Stimuli that people rated."""
    notes: tuple[str, ...] = ()
    """What was done to the answers of people and models, in words."""
    unmapped: Mapping[str, str] = field(default_factory=dict)
    """Why the answers of a model cannot be put on the scale of people, by model; models that are
    not named can."""
    trained: tuple[str, ...] = ()
    """Which models were trained on what they are judged on, in words."""

    def of_each_label(self, function: Callable[[LabelPanel], Made]) -> list[Made]:
        """Compute something of every label, labels side by side.

        On one core each they are faster than each matrix product on all cores.
        """
        from threadpoolctl import threadpool_limits

        from affectlab.core.compiled import in_threads

        made: dict[int, Made] = {}

        def one_label(k: int) -> None:
            made[k] = function(self.parts[k])

        places = range(len(self.parts))
        with threadpool_limits(1 if len(places) > 1 else None, user_api="blas"):
            in_threads(one_label, places)
        return [made[k] for k in places]

    @property
    def ranks_only(self) -> bool:
        """Whether no model can be put on the scale of people, so that only ranks are compared."""
        return bool(self.models) and len(self.unmapped) == len(self.models)

    @property
    def no_scale(self) -> str:
        """Why no model can be put on the scale of people; empty where one can."""
        return "; ".join(dict.fromkeys(self.unmapped.values())) if self.ranks_only else ""

    @property
    def n_people(self) -> int:
        """Number of people."""
        return len(self.people)

    @property
    def ordered(self) -> bool:
        """Whether the categories of the scale have an order."""
        return self.scale.kind != "nominal"

    @cached_property
    def has_steps(self) -> bool:
        """Whether the scale has a step and bounds."""
        scale = self.scale
        return scale.step is not None and scale.low is not None and scale.high is not None

    @cached_property
    def coverage(self) -> Floats:
        """Share of the rated (stimulus, label) cells that each model answered, shape (models,)."""
        n = sum((~np.isnan(part.models) & part.rated).sum(axis=1) for part in self.parts)
        return np.asarray(n, dtype=np.float64) / max(self.n_offered, 1)

    def counts(self, f: int) -> tuple[int, int]:
        """Stimuli and (stimulus, label) cells on which a model and people can be compared."""
        any_label = np.zeros(len(self.stimuli), dtype=np.bool_)
        cells = 0
        for part in self.parts:
            shared = ~np.isnan(part.models[f]) & part.rated
            any_label |= shared
            cells += int(shared.sum())
        return int(any_label.sum()), cells


def panel_of(
    ratings: Ratings,
    models: ModelRatings | None = None,
    *,
    exclude: Collection[str] = (),
    truncate: bool = False,
    alone: bool = False,
) -> AlignmentPanel:
    """Arrange people and models.

    Parameters
    ----------
    ratings, models
        As for ``sides``.
    exclude
        Labels that are left out.
    truncate
        Drop the fractions of models in place of rounding.
    alone
        Take people alone, whether or not there are models.

    Raises
    ------
    InputError
        When a side is missing, nothing is shared, a label to leave out is not known, or the
        answers are texts.
    """
    how: Rounding = "truncate" if truncate else "round"
    if alone:
        if not set(ratings.rater_kinds) & set(HUMAN_KINDS):
            raise InputError("no rater is human; expected the answers of people")
        both = Sides(people_of(ratings), ())
    else:
        both = judged_sides(ratings, models)
    people, tables = both.people, [table.answers() for table in both.tables]
    check_choices("label", exclude, people.label_names, "exclude")
    answers = answers_of(people)
    scale = people.scale
    labels = [name for name in answers.labels if name not in exclude]
    units: tuple[str, ...] = answers.units
    several = len(tables) > 1
    ways = [scale_map(table, scale, together=both.together, named=several) for table in tables]
    notes: tuple[str, ...] = ()
    if tables:
        known = {name for table in tables for name in table.label_names}
        labels = [name for name in labels if name in known]
        answered = {name for table in tables for name in table.stimulus_names}
        units = tuple(name for name in units if name in answered)
        said = [
            ""
            if way.same
            else str(
                way.step(how, "models" if len(tables) == 1 else some(table.rater_names, _NAMED))
            )
            for way, table in zip(ways, tables, strict=True)
            if not way.missing
        ]
        notes = (*both.notes, *answer_steps(people, *tables), *filter(None, said))
    if not labels:
        raise InputError("no label is left to compare people and models on")
    if not units:
        raise InputError("people and models share no stimulus")
    own = _present(answers.on(units, labels))
    none = np.empty((0, len(labels), len(units)))
    grids = [answers_of(table).on(units, labels).grid() for table in tables]
    loose = np.concatenate([none, *grids])
    exact, steps = (
        np.concatenate([none, *(way.apply(one, to) for way, one in zip(ways, grids, strict=True))])
        for to in ("none", how)
    )
    parts = tuple(
        LabelPanel(
            part.unit,
            part.rater,
            part.value,
            loose[:, k],
            exact[:, k],
            steps[:, k],
            len(own.raters),
        )
        for k, part in enumerate(own.by_label())
    )
    return AlignmentPanel(
        tuple(labels),
        units,
        own.raters,
        tuple(name for table in tables for name in table.rater_names),
        tuple(kind for table in tables for kind in table.rater_kinds),
        scale,
        parts,
        _n_cells(answers, labels),
        distinct_codes(answers.unit, len(answers.units)).size,
        notes,
        {
            name: way.missing
            for table, way in zip(tables, ways, strict=True)
            for name in table.rater_names
            if way.missing
        },
        of_training(tables, units),
    )


def _present(answers: Answers) -> Answers:
    """Leave out people without an answer, and number the others anew."""
    present = np.bincount(answers.rater, minlength=len(answers.raters)) > 0
    if present.all():
        return answers
    names = tuple(name for name, here in zip(answers.raters, present, strict=True) if here)
    return replace(answers, rater=(np.cumsum(present) - 1)[answers.rater], raters=names)


def _n_cells(answers: Answers, labels: list[str]) -> int:
    """(Stimulus, label) cells of some labels that anybody answered."""
    wanted = set(labels)
    used = np.array([name in wanted for name in answers.labels], dtype=np.bool_)
    cell = answers.cell[used[answers.label]]
    return int((np.diff(cell, prepend=-1) != 0).sum()) if cell.size else 0
