"""The answers of each run of a model, and which run controls which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from affectlab.core.errors import InputError, check_choice, unknown_name
from affectlab.core.types import Bools, Floats
from affectlab.core.words import plural, some
from affectlab.evaluation.people_and_models.scale_map import on_people
from affectlab.evaluation.people_and_models.sides import Sides, sides
from affectlab.ratings import (
    HUMAN_KINDS,
    Answers,
    ModelRatings,
    Ratings,
    Scale,
    StepKind,
    answers_of,
    row_column,
    step,
)

if TYPE_CHECKING:
    import polars as pl


CONTROLS = ("none", "no_image", "wrong_image", "decoy_hint")
"""What the rater attribute ``control`` may say; ``none``, or an empty cell, is a main run."""


@dataclass(frozen=True)
class Control:
    """A run that controls another."""

    run: str
    kind: str
    of: str


@dataclass(frozen=True, eq=False)
class ControlledRuns:
    """People, models, and which run of a model controls which."""

    scale: Scale
    people: Answers | None
    """None where there are no people; else about the same stimuli and labels as ``models``."""
    models: Answers
    main: tuple[str, ...]
    """Runs of models that control nothing."""
    controls: tuple[Control, ...]

    @property
    def stimuli(self) -> tuple[str, ...]:
        """All stimuli, of people or of models."""
        return self.models.units

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels, of people or of models."""
        return self.models.labels

    @cached_property
    def _grid(self) -> Floats:
        return self.models.grid()

    def matrix(self, run: str) -> Floats:
        """Answers of a run, shape (stimuli, labels), ``nan`` where there is none."""
        return np.ascontiguousarray(self._grid[self.models.raters.index(run)].T)

    @cached_property
    def target(self) -> Floats:
        """What people say in the middle, shape (stimuli, labels), ``nan`` where they say nothing.

        The median; on a nominal scale the most frequent category, and ``nan`` where two tie.
        """
        if self.people is None:
            return np.full((len(self.stimuli), len(self.labels)), np.nan)
        nominal = self.scale.kind == "nominal"
        middle = _plurality(self.people) if nominal else self.people.middle()
        return np.ascontiguousarray(middle.T)


def _plurality(answers: Answers) -> Floats:
    """Take the most frequent category, ``nan`` where two tie, shape (labels, units)."""
    pairs, size = np.unique(np.stack([answers.cell, answers.value]), axis=1, return_counts=True)
    order = np.lexsort((-size, pairs[0]))
    cells, first = np.unique(pairs[0][order], return_index=True)
    top, size = order[first], size[order]
    tied = np.append(pairs[0][order][1:] == pairs[0][order][:-1], False)[first]
    tied &= np.append(size[1:] == size[:-1], False)[first]
    middle = np.full((len(answers.labels), len(answers.units)), np.nan)
    middle.ravel()[cells.astype(np.int64)] = np.where(tied, np.nan, pairs[1][top])
    return middle


def main_runs(ratings: Ratings) -> Ratings:
    """Leave out the runs that control another, such as those without the image.

    Parameters
    ----------
    ratings
        Any ratings; the attribute ``control`` of a rater says whether its answers are a control.

    Raises
    ------
    InputError
        When an attribute ``control`` is not one of those known, or nothing is left.

    Examples
    --------
    >>> table = Ratings({"stimulus": ["a", "a"], "rater": ["net", "blind"], "value": [1, 0]},
    ...                 raters={"rater": ["net", "blind"], "rater_kind": ["model", "model"],
    ...                         "control": [None, "no_image"], "of": [None, "net"]})
    >>> main_runs(table).rater_names
    ('net',)
    """
    kinds = _control_kinds(ratings)
    if set(kinds.values()) == {"none"}:
        return ratings
    main = np.array([kinds[name] == "none" for name in ratings.rater_names])
    done = step(StepKind.CONTROLS_LEFT_OUT, n=int((~main).sum()))
    return ratings.where(main[ratings.rater_code], step=done)


def controlled_runs(ratings: Ratings, models: ModelRatings | None) -> ControlledRuns:
    """Bring people and the runs of models together.

    Raises
    ------
    InputError
        When there is no model, scales cannot be compared, or a control run names no main run.
    """
    people, judged = None, ratings
    # The checks that need no people do without them.
    if models is not None or set(ratings.rater_kinds) & set(HUMAN_KINDS):
        both = sides(ratings, models)
        people = both.people
        for scale in (table.scale for table in both.tables):
            if "nominal" in (people.scale.kind, scale.kind) and people.scale != scale:
                raise InputError(
                    f"people answer on {people.scale}, models on {scale}; expected one scale"
                )
        judged = on_people(both, "none").all()
    given = [answers_of(table) for table in (people, judged) if table is not None]
    stimuli = tuple(dict.fromkeys(name for part in given for name in part.units))
    labels = tuple(dict.fromkeys(name for part in given for name in part.labels))
    sides_ = [part.on(stimuli, labels) for part in given]
    controls = _controls(judged)
    control_names = {control.run for control in controls}
    return ControlledRuns(
        scale=judged.scale if people is None else people.scale,
        people=None if people is None else sides_[0],
        models=sides_[-1],
        main=tuple(name for name in judged.rater_names if name not in control_names),
        controls=controls,
    )


def _control_kinds(ratings: Ratings) -> dict[str, str]:
    kinds = _per_rater(ratings, "control", "none")
    for name, kind in kinds.items():
        check_choice("control", kind, CONTROLS, f"rater {name!r}")
    return kinds


def _controls(models: Ratings) -> tuple[Control, ...]:
    kinds, controlled = _control_kinds(models), _per_rater(models, "of", "")
    found = []
    for run, kind in kinds.items():
        if kind == "none":
            continue
        of = controlled[run]
        if not of:
            raise InputError(
                f"rater {run!r} is a {kind} run, but its attribute 'of' is empty; expected the "
                "name of the rater it controls"
            )
        if of not in kinds:
            main = [name for name in kinds if kinds[name] == "none"]
            raise unknown_name("rater", of, main, f"rater {run!r}, attribute 'of'")
        if kinds[of] != "none":
            raise InputError(
                f"rater {run!r} controls {of!r}, which is itself a {kinds[of]} run; expected a "
                "main run"
            )
        found.append(Control(run, kind, of))
    return tuple(found)


def _per_rater(ratings: Ratings, name: str, absent: str) -> dict[str, str]:
    """Give an attribute of each rater as text, wherever the table keeps it.

    A file of one rater cannot tell its attributes from those of its stimuli, and keeps them with
    the stimuli unless their name begins with ``rater_``.
    """
    given: list[object] = [None] * ratings.n_raters
    for column in (name, f"rater_{name}"):
        if column in ratings.stimuli.columns and ratings.n_raters > 1:
            raise InputError(
                f"column {column!r} was read as an attribute of the stimuli; name it "
                f"'rater_{name}' or put it into a table of raters, so that it says which run is "
                "meant"
            )
    for column in (name, f"rater_{name}"):
        found = row_column(ratings, column)
        if found is not None and found.null_count() < ratings.n_rows:
            given = _only_value(ratings, found, column)
            break
    said = ("" if value is None else str(value).strip() for value in given)
    return {rater: text or absent for rater, text in zip(ratings.rater_names, said, strict=True)}


def _only_value(ratings: Ratings, column: pl.Series, name: str) -> list[object]:
    first = np.zeros(ratings.n_raters, dtype=np.int64)
    first[ratings.rater_code[::-1]] = np.arange(ratings.n_rows - 1, -1, -1)
    if not column.eq_missing(column.gather(first[ratings.rater_code])).all():
        raise InputError(f"attribute {name!r} differs within a rater; expected one value each")
    return column.gather(first).to_list()


def present(values: Floats) -> Bools:
    """Say which stimuli have an answer to at least one label."""
    return np.asarray(np.any(~np.isnan(values), axis=1))


# The runs of models that are judged: all but those that control another.


_NAMED = 5


def judged_runs(tables: Sequence[Ratings]) -> tuple[tuple[Ratings, ...], tuple[str, ...]]:
    """Leave out control runs, such as those without the image, and say so in a sentence.

    Raises
    ------
    InputError
        When the attribute ``control`` of a rater is not understood, or nothing is left.
    """
    kinds = [_control_kinds(table) for table in tables]
    controls = [[name for name, kind in own.items() if kind != "none"] for own in kinds]
    left = [name for own in controls for name in own]
    if not left:
        return tuple(tables), ()
    only = [len(own) == table.n_raters for own, table in zip(controls, tables, strict=True)]
    kept = tuple(
        main_runs(table)
        for table, whole in zip(tables, only, strict=True)
        if not whole or all(only)
    )
    return kept, (f"{plural(len(left), 'control run')} not judged: {some(left, _NAMED)}",)


# People, and the runs of models that are judged.


def judged_sides(ratings: Ratings, models: ModelRatings | None = None) -> Sides:
    """Tell people and models apart; runs of models that control another are not judged.

    A run without the image, or with a wrong one, says something about the run that it controls, and
    is no model: see :func:`affectlab.evaluation.control_checks`.

    Raises
    ------
    InputError
        As ``sides``; also when a person and a model have one name, or
        every run of models is a control.
    """
    both = sides(ratings, models)
    same = set(both.people.rater_names) & set(both.model_names)
    if same:
        raise InputError(
            f"{min(same)!r} is the name of a person and of a model; expected different names"
        )
    if not any(map(_names_controls, both.tables)):
        return both
    # Once more: what only control runs answered does not make models and people comparable.
    kept, notes = judged_runs(both.tables)
    found = sides(both.people, kept)
    return replace(found, notes=(*notes, *found.notes), together=both.together)


def _names_controls(models: Ratings) -> bool:
    """Say whether an attribute ``control`` means control runs; of stimuli it may mean anything."""
    names = ("control", "rater_control")
    if set(names) & {*models.raters.columns, *models.coded_frame.columns}:
        return True
    return any(
        {str(value) for value in models.stimuli[name].unique() if value is not None} <= {*CONTROLS}
        for name in names
        if name in models.stimuli.columns
    )
