"""Who annotates: any function from image files and hints to values of labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from affectlab.core.errors import InputError, check_choice
from affectlab.core.registry import Registry, callables
from affectlab.core.words import shown
from affectlab.evaluation import OUTCOMES
from affectlab.models.hinted.plan import HintedPlan
from affectlab.models.images import ImageFile
from affectlab.ratings import Scale
from affectlab.taxonomy import Taxonomy

__all__ = [
    "DECOY",
    "MAIN",
    "Annotator",
    "Answered",
    "Question",
    "ask",
    "checked",
    "left_out_by",
    "list_image_annotators",
    "load_image_annotator",
]

Annotator: TypeAlias = Callable[[Sequence[ImageFile], Sequence[str]], Sequence[Any]]
"""Answers about image files with a hint each, a label or ``""``: values of labels, or an outcome
(a key of ``OUTCOMES``). Labels that are left out have the lowest value.
An error of affectlab that it raises (:class:`affectlab.core.errors.InputError`) says that nobody
was asked, such as without a key, or that it keeps itself what came. Its attributes ``name`` and
``version`` are taken over where it has them, and one whose attribute ``left_out`` says
``"not rated"`` is refused."""
_ANNOTATORS = Registry[Annotator](
    kind="annotator",
    group="affectlab.image_annotators",
    accept=callables,
    expected="a function",
)


MAIN, DECOY = "main", "decoy"
"""Who is asked: the annotator as it is used, or as it is audited with wrong hints."""


@dataclass(frozen=True)
class Answered:
    """One answer about one picture, checked."""

    role: str
    stimulus: str
    sha256: str
    """Hash of the picture that it is about."""
    round: int
    hint: str
    """Label that was hinted at, ``""`` for none."""
    target: str
    """Label that the picture was made for, ``""`` where it was made for none."""
    outcome: str
    values: Mapping[str, float]
    """What was given to labels, in the spelling of the taxonomy."""
    problem: str = ""


def list_image_annotators() -> tuple[str, ...]:
    """Names of the annotators that installed packages add.

    A package adds one by an entry point in the group ``affectlab.image_annotators`` that leads to a
    function of image files and hints; see :func:`annotate_until`.

    Examples
    --------
    >>> isinstance(list_image_annotators(), tuple)
    True
    """
    return _ANNOTATORS.names()


def load_image_annotator(name: str) -> Annotator:
    """Load the annotator that a package adds.

    Raises
    ------
    InputError
        When there is none of that name, or it cannot be loaded.
    """
    return _ANNOTATORS.load(name)


def left_out_by(annotator: Annotator) -> str:
    """Say what labels without a value mean to an annotator: ``"zero"`` unless it says otherwise.

    Examples
    --------
    >>> left_out_by(lambda images, hints: [{}])
    'zero'
    """
    from affectlab.models.vlm import VlmAnnotator

    if isinstance(annotator, VlmAnnotator):
        # What its prompt says, whatever its settings leave to the protocol.
        return annotator.rater.design().blank().left_out
    return str(getattr(annotator, "left_out", "zero"))


Checked: TypeAlias = tuple[str, dict[str, float], str]
"""Outcome, values by label, and what is wrong with them."""


def checked(given: Any, taxonomy: Taxonomy, scale: Scale, at_most: int | None) -> Checked:
    """Check what an annotator gave for one picture.

    Examples
    --------
    >>> from affectlab.taxonomy import load_taxonomy
    >>> known, scale = load_taxonomy("emonet_face"), Scale.parse("0-7")
    >>> checked({"awe": 4}, known, scale, 5)
    ('ok', {'Awe': 4.0}, '')
    >>> checked({"Awe": 4, "Fear": 2}, known, scale, 1)[2]
    '2 labels above 0; expected at most 1'
    """
    if isinstance(given, str):
        check_choice("outcome", given, OUTCOMES, "annotator")
        without = given == "ok"
        return ("schema_invalid", {}, "outcome ok without values") if without else (given, {}, "")
    if not isinstance(given, Mapping):
        kind = type(given).__name__
        return "unparseable", {}, f"gave {kind}; expected values of labels"
    values: dict[str, float] = {}
    for name, value in given.items():
        if name not in taxonomy:
            return "schema_invalid", {}, f"{shown(name, 40)!r} is no label"
        label = taxonomy.name_of(name)
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        if not bool(scale.contains([number])[0]):
            return "schema_invalid", {}, f"{label} = {shown(value, 40)}: expected {scale}"
        if label in values:
            return "schema_invalid", {}, f"{label} was rated twice"
        values[label] = number
    low = scale.low or 0.0
    above = sum(value > low for value in values.values())
    if at_most is not None and above > at_most:
        return "rule_violation", {}, f"{above} labels above {low:g}; expected at most {at_most}"
    return "ok", values, ""


class Question(NamedTuple):
    """A picture that is to be asked about."""

    role: str
    file: ImageFile
    sha256: str
    hint: str
    target: str

    def named(self) -> dict[str, str]:
        """Give what names it in the ledger."""
        told = {"role": self.role, "stimulus": self.file.stimulus}
        return told | {"sha256": self.sha256, "hint": self.hint}


def ask(
    annotator: Annotator,
    plan: HintedPlan,
    where: str,
    round: int,
    asked: Sequence[Question],
    unsent: Callable[[], None],
) -> list[Answered]:
    """Ask an annotator about some pictures.

    Parameters
    ----------
    unsent
        Called when it says itself why it does not answer; of whatever else it raises nobody knows
        whether the pictures had left.

    Raises
    ------
    InputError
        When it fails, or gives another number of answers.
    """
    images = [one.file for one in asked]
    try:
        answers = list(annotator(images, [one.hint for one in asked]))
    except InputError:
        unsent()
        raise
    # An annotator is anybody's code.
    except Exception as problem:
        said = f"{type(problem).__name__}: {shown(problem, 200)}"
        raise InputError(
            f"{where} failed on {len(images)} pictures, {images[0].stimulus!r} first ({said}); "
            "what was answered before is kept"
        ) from problem
    if len(answers) != len(images):
        raise InputError(
            f"{where} gave {len(answers)} answers about {len(images)} pictures; expected one each"
        )
    known, scale = plan.known(), Scale.parse(plan.scale)
    return [
        Answered(
            **one.named(),
            round=round,
            target=one.target,
            outcome=outcome,
            values=values,
            problem=problem,
        )
        for one, said in zip(asked, answers, strict=True)
        for outcome, values, problem in [checked(said, known, scale, plan.at_most)]
    ]
