"""SPSS and Stata: tables whose files say what their numbers stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, get_args

from affectlab.core.errors import InputError
from affectlab.ratings.attributes import asked_of
from affectlab.ratings.files import Labelled, Peek, read_labelled, value_names
from affectlab.ratings.formats.format import Contents, Layout, Sure, file_format
from affectlab.ratings.formats.records import Rejects
from affectlab.ratings.formats.table import PlainTable, find_chosen, find_columns, find_one
from affectlab.ratings.options import ReadOptions, Wide
from affectlab.ratings.scale import Scale
from affectlab.ratings.schema import StepKind
from affectlab.ratings.steps import History, guess, step
from affectlab.ratings.summary import suggested_words
from affectlab.taxonomy import are_labels


@dataclass(frozen=True, kw_only=True)
class LabelledTable(PlainTable):
    """A table of a statistics program, with the scales that names of values tell.

    Parameters
    ----------
    categories
        Columns whose numbers stand for categories without an order; by default those that the file
        calls nominal.
    """

    categories: tuple[str, ...] | None = None
    program: ClassVar[str]

    def recognise(self, head: Peek) -> Sure:
        return Sure.KIND if head.labelled == self.program else Sure.NO

    def opened(self, head: Peek, options: ReadOptions) -> Peek:
        """Say in which columns names of values take the place of numbers."""
        head = replace(head, categories=self.categories)
        # In a column for each label, words are answers only where somebody says so.
        told = self.categories is not None or options.wide == "labels" or bool(options.scale)
        if head.labelled != self.program or told:
            return head
        chosen = None if find_one("value", head.columns) else find_chosen(head.columns)
        named = value_names(head.path, self.program)
        perhaps = (
            n for n, own in named.items() if are_labels(own) or (n == chosen and _apart(own))
        )
        return replace(head, perhaps=tuple(perhaps))

    def describe(self, head: Peek, options: ReadOptions | None = None) -> Layout:
        layout = super().describe(head, options)
        return replace(layout, questions=read_labelled(head.path, self.program).questions)

    def contents(self, head: Peek, options: ReadOptions, rejects: Rejects) -> Contents:
        """Read the table, and take the scales of columns from the names of their values."""
        if head.labelled != self.program:
            raise InputError(f"{head.path} is no file of {self.program}")
        said = read_labelled(head.path, self.program, self.categories, head.perhaps)
        declared = bool(options.scale) or self.categories is not None
        if options.wide == "labels" and self.categories is not None:
            # Words are answers where somebody says so.
            scales = {one: scale for one in self.categories if (scale := _scale(one, said))}
            known = replace(options.scale, by_label={**scales, **options.scale.by_label})
            options = replace(options, scale=known)
        contents = super().contents(head, options, rejects)
        across = getattr(contents, "across", None)
        if across is None:
            names = [find_columns(head.columns, options.columns, where=str(head.path))["value"]]
            contents.scale = _scale(names[0], said)
        else:
            names = [str(one) for one in contents.columns[across].unique(maintain_order=True)]
            scales = {name: scale for name in names if (scale := _scale(name, said)) is not None}
            shared = len(scales) == len(names) and len(set(scales.values())) == 1
            contents.scale = next(iter(scales.values())) if shared else None
            if across == "label" and not shared:
                contents.scale = scales or None
        questions = {name: said.questions.get(name, "") for name in names}
        if across == "stimulus" and contents.stimuli is None:
            contents.stimuli = asked_of(questions)
        elif across == "label":
            contents.history += _asked(questions)
        contents.history += _steps(names, said, self, declared=declared)
        return contents


@file_format("spss", "a file of SPSS (.sav, .zsav) with a table", wide=get_args(Wide))
class Spss(LabelledTable):
    """A long or wide table that SPSS, PSPP or Qualtrics wrote (``.sav``, ``.zsav``).

    Names of values become scales: of a nominal variable its categories, of others the bounds
    that the lowest and highest named value give. What the file declares as missing is no answer,
    and is counted; so are values whose names say it or that are codes far outside (-77, 999), as a
    guess. Names of emotions are categories, as a guess. It needs the library pyreadstat
    (``pip install "affectlab[files]"``).

    Parameters
    ----------
    categories
        Columns whose numbers stand for categories without an order; by default those that the file
        calls nominal and of which all values have names, and those with names of emotions.

    Notes
    -----
    Source: the PSPP developers' guide, "System file format", as ReadStat reads it.
    """

    program = "SPSS"


@file_format("stata", "a file of Stata (.dta) with a table", wide=get_args(Wide))
class Stata(LabelledTable):
    """A long or wide table that Stata wrote (``.dta``).

    As :class:`Spss`. Stata does not say what is nominal, so that named values are levels in the
    order of their numbers unless they are names of emotions or `categories` says so. Missing
    values (``.``, ``.a`` to ``.z``) are no answers.

    Parameters
    ----------
    categories
        Columns whose numbers stand for categories without an order.

    Notes
    -----
    Source: Stata's documentation of its files (``help dta``), as ReadStat reads them.
    """

    program = "Stata"


def _scale(name: str, said: Labelled) -> Scale | None:
    """Give the scale that the names of the values of a column tell."""
    meanings = said.meanings.get(name, {})
    if name in said.named:
        return Scale.nominal(tuple(dict.fromkeys(meanings.values())))
    column = said.columns.get(name)
    given = [] if column is None or not column.dtype.is_numeric() else column.drop_nulls().to_list()
    bounds = sorted(meanings)
    if len(bounds) < 2 or not all(bounds[0] <= one <= bounds[-1] for one in given):
        return None
    whole = all(float(one).is_integer() for one in (*bounds, *given))
    return Scale("ordinal" if whole else "interval", bounds[0], bounds[-1], 1.0 if whole else None)


def _apart(names: Sequence[str]) -> bool:
    """Whether names of values are those of categories, and no steps from low to high."""
    words = all(len(name.split()) == 1 for name in names)
    poles = any(name.strip().casefold().startswith(("neg", "pos")) for name in names)
    return words and not poles and suggested_words(tuple(names)) == suggested_words(())


def _steps(
    names: Sequence[str], said: Labelled, format: LabelledTable, *, declared: bool
) -> History:
    """Say what was taken from the names of values."""
    named = [name for name in names if name in said.named - said.guessed]
    guessed = [name for name in names if name in said.guessed]
    levels = [name for name in names if name in said.meanings and name not in said.named]
    # Where each step has a name, and the file does not say that they have an order, they may not.
    unsure = [name for name in levels if name in said.all_named and not declared]
    steps = []
    if named:
        steps.append(step(StepKind.NAMED_CATEGORIES, columns=named, format=format.name))
    for kind, columns in (
        (StepKind.GUESSED_CATEGORIES, guessed),
        (StepKind.GUESSED_LEVELS, unsure),
    ):
        if columns:
            examples = said.meanings[columns[0]].values()
            steps.append(guess(kind, columns=columns, names=examples, format=format.name))
    if levels := [name for name in levels if name not in unsure]:
        steps.append(step(StepKind.NAMED_LEVELS, columns=levels, format=format.name))
    lost = {name: said.missing[name] for name in names if name in said.missing}
    if lost:
        steps.append(step(StepKind.DECLARED_MISSING, columns=lost, n=sum(lost.values())))
    if said.codes:
        steps.append(
            guess(
                StepKind.GUESSED_MISSING,
                columns=said.codes,
                codes=said.code_names.keys(),
                names=said.code_names.values(),
                n=sum(said.codes.values()),
            )
        )
    return tuple(steps)


def _asked(questions: Mapping[str, str]) -> History:
    """Say what was asked, by label."""
    texts = {name: text for name, text in questions.items() if text}
    if not texts:
        return ()
    return (step(StepKind.QUESTIONS, labels=texts.keys(), texts=texts.values()),)
