"""The scales of the labels of a table: declared by label, or guessed from the answers."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from affectlab.core.errors import InputError, unknown_name
from affectlab.core.words import option
from affectlab.ratings.scale import Scale
from affectlab.ratings.steps import Step
from affectlab.taxonomy import Taxonomy

_SHOWN = 6
_MOST_LEVELS = 11
_LEAST_LEVELS = 5
"""Levels of a rating scale that others are told from by where they begin and end."""
_PLAINLY_FARTHER = 5
"""How many times as far as a rating scale the answers of a slider reach, to be told from it."""
_MOSTLY_FRACTIONS = 0.5
"""Share of whole numbers up to which answers are on a scale without steps."""


class GuessedScalesWarning(UserWarning):
    """Scales were not declared, and the answers of labels do not look like one scale."""

    __module__ = "affectlab.ratings"


class GuessedColumnsWarning(UserWarning):
    """What a column of a file holds was guessed, and should be said.

    Parameters
    ----------
    *steps
        The steps of the history that were guessed.
    """

    __module__ = "affectlab.ratings"

    def __init__(self, *steps: Step) -> None:
        super().__init__(" ".join(f"Guessed: {one.text}." for one in steps))
        self.steps = steps


@dataclass(frozen=True)
class DeclaredScales:
    """What is known of scales before the answers are read.

    Examples
    --------
    >>> declared = DeclaredScales.parse("1-7, category=nominal:joy,fear, arousal=1-9")
    >>> [str(scale) for scale in declared.of(["valence", "category"])]
    Traceback (most recent call last):
    affectlab.InputError: scale: unknown label 'arousal'; expected one of: valence, category
    >>> [str(scale) for scale in declared.of(["valence", "category", "arousal"])]
    ['ordinal 1 to 7, step 1', 'nominal: joy, fear', 'ordinal 1 to 9, step 1']
    """

    default: Scale | None = None
    """Scale of the labels that have none of their own; None: guessed."""
    by_label: Mapping[str, Scale] = field(default_factory=dict)
    expected: frozenset[str] = frozenset()
    """Labels that must occur, since the user named them and may have misspelt one."""

    def __bool__(self) -> bool:
        return self.default is not None or bool(self.by_label)

    @property
    def all(self) -> tuple[Scale, ...]:
        """All scales that are known."""
        own = () if self.default is None else (self.default,)
        return (*own, *self.by_label.values())

    @property
    def categories(self) -> bool:
        """Whether the answers to some label are known to be names."""
        return any(scale.categories for scale in self.all)

    @classmethod
    def parse(cls, given: ScaleLike | None) -> DeclaredScales:
        """Read scales in any form.

        Parameters
        ----------
        given
            A scale or its short form, for all labels; a mapping from labels to these; or the short
            form by label, such as ``"1-7, category=nominal:a,b, arousal=1-9"``, in which a part
            without a label holds for all labels that are not named. A label with a comma stands
            in quotation marks, as in CSV.

        Raises
        ------
        InputError
            When a scale is not understood, or a label is named twice.
        """
        if given is None:
            return cls()
        if isinstance(given, DeclaredScales):
            return given
        if isinstance(given, Mapping):
            by_label = {str(label): Scale.parse(one) for label, one in given.items()}
            return cls(None, by_label, frozenset(by_label))
        if isinstance(given, Scale) or not isinstance(given, str) or "=" not in given:
            return cls(Scale.parse(given))
        return cls._by_label(given)

    @classmethod
    def _by_label(cls, text: str) -> DeclaredScales:
        parts: list[tuple[str | None, list[str]]] = []
        for token in next(csv.reader([text], skipinitialspace=True)):
            name, equals, first = token.partition("=")
            if equals:
                parts.append((name.strip(), [first]))
            elif parts:
                parts[-1][1].append(token)
            else:
                parts.append((None, [token]))
        scales: dict[str | None, Scale] = {}
        for label, tokens in parts:
            if label == "" or label in scales:
                wrong = "a part names no label" if not label else f"label {label!r} is named twice"
                raise InputError(f"scale {text!r}: {wrong}; expected for example 'valence=1-7'")
            try:
                scales[label] = Scale.parse(",".join(tokens))
            except InputError as error:
                of = "" if label is None else f" (label {label!r})"
                raise InputError(f"{error}{of}") from None
        default = scales.pop(None, None)
        by_label = {str(label): scale for label, scale in scales.items()}
        return cls(default, by_label, frozenset(by_label))

    def over(self, known: DeclaredScales) -> DeclaredScales:
        """Put what the user says over what a file says."""
        if self.default is not None or not known:
            return self
        return DeclaredScales(known.default, {**known.by_label, **self.by_label}, self.expected)

    def known(self) -> DeclaredScales:
        """Leave out what was inferred, which other answers may say anew, but for categories."""

        def kept(scale: Scale | None) -> bool:
            return scale is not None and (scale.declared or bool(scale.categories))

        by_label = {name: scale for name, scale in self.by_label.items() if kept(scale)}
        default = self.default if kept(self.default) else None
        return replace(self, default=default, by_label=by_label)

    def of(
        self,
        labels: Sequence[str],
        taxonomy: Taxonomy | None = None,
        *,
        has_labels: bool = True,
    ) -> list[Scale | None]:
        """Give the scale of each label, None where it is to be guessed.

        Raises
        ------
        InputError
            When a label is named that does not occur.
        """
        named = {}
        for name, scale in self.by_label.items():
            known = taxonomy is not None and name not in labels and name in taxonomy
            own = taxonomy.name_of(name) if taxonomy is not None and known else name
            if own not in labels and name in self.expected:
                if not has_labels:
                    raise InputError(
                        f"scale: the answers have no labels, so none is called {name!r}; "
                        f"expected one scale ({option('scale', str(scale))})"
                    )
                raise unknown_name("label", name, labels, "scale")
            named[own] = scale
        return [named.get(label, self.default) for label in labels]


ScaleLike: TypeAlias = str | Scale | Mapping[str, str | Scale] | DeclaredScales
"""A scale, its short form, or scales by label."""


def alike(one: Scale, other: Scale) -> bool:
    """Say whether two scales are the same, whether declared or inferred."""
    return replace(one, declared=True) == replace(other, declared=True)


def one_scale(scales: Mapping[str, Scale]) -> Scale:
    """Give the scale that all labels share; it is inferred where that of a label is.

    Raises
    ------
    InputError
        When labels are on different scales; the sentence names them.
    """
    found = list(dict.fromkeys(scales.values()))
    if not all(alike(found[0], other) for other in found[1:]):
        raise InputError(
            f"the labels are on different scales ({format_by_label(scales)}); expected labels on "
            f"one scale: choose them with {option('select(labels=…)', cli='--keep-labels')}"
        )
    return next((scale for scale in found if not scale.declared), found[0])


def shared_scale(scales: Mapping[str, Scale]) -> Scale | None:
    """Give the scale of all labels; None where they are on several."""
    found = set(scales.values())
    return found.pop() if len(found) == 1 else None


def by_scale(scales: Mapping[str, Scale]) -> list[tuple[list[str], str]]:
    """List the different scales in words, each with the labels that are on it."""
    labels: dict[str, list[str]] = {}
    for name, scale in scales.items():
        labels.setdefault(str(scale), []).append(name)
    return [(names, scale) for scale, names in labels.items()]


def format_by_label(scales: Mapping[str, Scale]) -> str:
    """List scales with the labels that are on them, in one line.

    Examples
    --------
    >>> by = DeclaredScales.parse({"valence": "1-7", "joy": "binary", "fear": "binary"}).by_label
    >>> format_by_label(by)
    'valence: ordinal 1 to 7, step 1; joy, fear: binary, 0 or 1'
    """
    parts = [
        f"{', '.join(names[:_SHOWN])}{', …' if len(names) > _SHOWN else ''}: {scale}"
        for names, scale in by_scale(scales)
    ]
    return "; ".join(parts[:_SHOWN]) + ("; …" if len(parts) > _SHOWN else "")


# Guessing: labels share a scale unless their answers plainly are on different ones.


@dataclass(frozen=True, eq=False)
class _Answered:
    """What the answers to one label look like."""

    low: float
    high: float
    whole: float
    """Share of the answers that are whole numbers."""
    zeros: float
    """Share of the answers that are 0."""
    levels: NDArray[np.float64]
    """The different answers in rising order."""

    @property
    def reach(self) -> float:
        return max(abs(self.low), abs(self.high))

    @property
    def rating(self) -> bool:
        """Whether all levels of a rating scale were used, and it is no intensity mostly absent."""
        n = self.levels.size
        ends = self.high - self.low
        return self.whole == 1.0 and 3 <= n <= _MOST_LEVELS and n == ends + 1 and self.zeros < 0.5

    @property
    def bipolar(self) -> bool:
        """Whether answers go both ways from 0, and about as far."""
        return 2 * min(-self.low, self.high) >= self.reach > 0

    @property
    def share(self) -> bool:
        return self.low >= 0.0 and self.high <= 1.0 and self.whole <= _MOSTLY_FRACTIONS


def guess_scales(
    label: NDArray[np.int32], value: NDArray[np.float64], wanted: Sequence[int], n_labels: int
) -> dict[int, Scale]:
    """Guess the scales of some labels from numbers.

    All labels share the scale that :meth:`Scale.infer` gives for all answers, since a label whose
    end points nobody chose is still on the scale of the others, **unless** some labels plainly are
    on another one. Whether they are is judged beside the *rating scales* among them: labels of
    whole numbers, of which every level from the lowest to the highest answer occurs (3 to 11 of
    them), and of which less than half are 0. On a scale of their own are then

    - labels that reach five times as far as any rating scale, with three or more different answers
      beyond it (a slider to 100 beside 1 to 7), and with them others that lie beyond it;
    - labels of shares, most of them no whole numbers, all between 0 and 1;
    - labels of numbers of which most are not whole, and some lie beyond every rating scale (a
      continuous scale to 9 beside 1 to 5);
    - labels with both 0 and 1 and nothing else, beside rating scales that all begin at 1 and have
      five levels or more;
    - labels with answers below 0, of which one goes about as far up as down (valence from -3 to
      3), beside a rating scale of five levels or more without such answers that goes farther up
      than any of them goes either way (arousal from 1 to 7).

    Two rating scales of different length (1 to 7 and 1 to 9) may be one that a label did not use
    to its end: they share the longer one, and must be declared to be apart.

    Parameters
    ----------
    label
        Code of the label of each answer, shape (n_answers,).
    value
        Answers, ``nan`` where there is none, shape (n_answers,).
    wanted
        Codes of the labels whose scale is not declared.
    n_labels
        Number of labels.

    Examples
    --------
    >>> label = np.repeat([0, 1], 6).astype(np.int32)
    >>> mixed, alike = [1, 2, 3, 4, 5, 3, 0, 80, 55, 9, 7, 2], [1, 2, 3, 4, 5, 3, 0, 7, 5, 0, 2, 1]
    >>> [str(one) for one in guess_scales(label, np.array(mixed, float), [0, 1], 2).values()]
    ['ordinal 1 to 5, step 1 (inferred)', 'interval 0 to 80, step 1 (inferred)']
    >>> [str(one) for one in guess_scales(label, np.array(alike, float), [0, 1], 2).values()]
    ['ordinal 0 to 7, step 1 (inferred)', 'ordinal 0 to 7, step 1 (inferred)']
    """
    if not wanted:
        return {}
    if len(wanted) < n_labels:
        rows = np.isin(label, wanted)
        label, value = label[rows], value[rows]
    together = Scale.infer(value)
    if len(wanted) == 1 or together.kind == "binary":
        return dict.fromkeys(wanted, together)
    group = _groups([_answered(value[label == code]) for code in wanted])
    scales = {
        number: Scale.infer(value[np.isin(label, np.array(wanted)[group == number])])
        for number in np.unique(group).tolist()
    }
    return {code: scales[int(number)] for code, number in zip(wanted, group, strict=True)}


def _answered(value: NDArray[np.float64]) -> _Answered | None:
    given = value[np.isfinite(value)]
    if not given.size:
        return None
    return _Answered(
        float(given.min()) + 0.0,
        float(given.max()),
        float((given == np.rint(given)).mean()),
        float((given == 0).mean()),
        np.unique(given),
    )


def _groups(found: Sequence[_Answered | None]) -> NDArray[np.intp]:
    """Number the scales: 0 is that of the rating scales, and of all where none is plainly apart."""
    group = np.zeros(len(found), dtype=np.intp)
    ratings = [one for one in found if one is not None and one.rating]
    below = [one for one in found if one is not None and one.low < 0]
    upwards = [one for one in ratings if one.low >= 0]
    reached = max((one.reach for one in below), default=np.inf)
    beyond = any(one.levels.size >= _LEAST_LEVELS and one.high > reached for one in upwards)
    if beyond and any(one.bipolar for one in below):
        group[[one in below for one in found]] = 4
        ratings = upwards
    if not ratings:
        return group
    low, high = min(one.low for one in ratings), max(one.high for one in ratings)
    reach = max(one.reach for one in ratings)
    farther = any(one is not None and _farther(one, reach) for one in found)
    from_one = low == 1.0 == max(one.low for one in ratings) and all(
        one.levels.size >= _LEAST_LEVELS for one in ratings
    )
    for code, one in enumerate(found):
        if one is None or one.rating or group[code]:
            continue
        inside = low <= one.low and one.high <= high
        if one.share:
            group[code] = 2
        elif from_one and one.levels.size == 2 and (one.low, one.high) == (0.0, 1.0):
            group[code] = 3
        elif farther and not inside:
            group[code] = 1
        elif one.whole <= _MOSTLY_FRACTIONS and one.high > high:
            group[code] = 5
    return group


def _farther(one: _Answered, reach: float) -> bool:
    """Whether answers reach much farther than rating scales; a single one may be a slip."""
    beyond = int((np.abs(one.levels) > reach).sum())
    return one.reach >= _PLAINLY_FARTHER * reach and beyond >= 3
