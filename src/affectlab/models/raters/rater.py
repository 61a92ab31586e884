"""What a rater is: a function from stimuli to scores, with a name, labels and a scale."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

from affectlab.core.errors import InputError, check_choice, check_once
from affectlab.core.words import plural, shown
from affectlab.evaluation import OUTCOMES
from affectlab.models.ask import on_this_machine
from affectlab.ratings import Scale

__all__ = [
    "Answer",
    "Face",
    "Judged",
    "Notes",
    "Rater",
    "Rates",
    "Spoken",
    "answer_of",
    "judge",
    "largest",
    "said",
]


@dataclass(frozen=True, slots=True)
class Face:
    """One face that a rater found in a picture.

    Examples
    --------
    >>> Face({"joy": 0.9}, box=(10, 10, 50, 60)).area
    3000.0
    """

    scores: Mapping[str, float]
    """Score of each label."""
    box: tuple[float, float, float, float] | None = None
    """Left, top, width and height in pixels."""
    confidence: float = math.nan
    """How sure the rater is that this is a face, in [0, 1]."""

    @property
    def area(self) -> float:
        """Area of the box in square pixels, ``nan`` without one."""
        return math.nan if self.box is None else float(self.box[2]) * float(self.box[3])


@dataclass(frozen=True, slots=True)
class Answer:
    """What a rater said about one stimulus.

    Raises
    ------
    InputError
        When the outcome is not known.

    Examples
    --------
    >>> Answer("empty", problem="no face found").scores
    {}
    """

    outcome: str = "ok"
    """One of ``OUTCOMES``."""
    scores: Mapping[str, float] = field(default_factory=dict)
    faces: int | None = None
    """Faces that were found, None where the rater does not look for faces."""
    problem: str = ""
    """Why there are no scores, in one line."""
    retries: int = 0
    """How often it was asked again after transport errors."""

    def __post_init__(self) -> None:
        check_choice("outcome", self.outcome, OUTCOMES)


Judged: TypeAlias = Any
"""What a rater gives for a stimulus: scores by label; a list of :class:`Face`, of which the largest
counts; an :class:`Answer`; or an exception, where it could not rate this one."""
Rates: TypeAlias = Callable[[Sequence[Any]], Sequence[Judged]]
"""Rates stimuli, and gives something for each, in their order: pictures (upright, RGB), texts, or
sounds (:class:`affectlab.models.raters.Sound`)."""
Takes: TypeAlias = Literal["image", "text", "sound"]
NOUNS: Mapping[Takes, str] = {"image": "picture", "text": "text", "sound": "sound"}
"""What one stimulus of each kind is called."""


class Notes:
    """What a rater that needs several steps must not forget when the work is interrupted.

    Examples
    --------
    >>> notes = Notes()
    >>> notes.keep({"job": "17"})
    >>> notes.state
    {'job': '17'}
    """

    def __init__(
        self,
        state: dict[str, Any] | None = None,
        write: Callable[[dict[str, Any]], None] | None = None,
        leaves: Callable[[], None] | None = None,
    ) -> None:
        self.state = state
        """What was kept last, perhaps by an earlier run; None where there is nothing."""
        self.lost = False
        """Whether the picture was sent and no reply came: it may have been rated, and paid for."""
        self._write = write
        self._leaves = leaves

    def leave(self) -> None:
        """Note that the picture is about to be sent, so that a later run knows that it was.

        Nothing needs to be said where there is a `state` that leads to the answer.
        """
        if self._leaves is not None:
            self._leaves()

    def keep(self, state: dict[str, Any]) -> None:
        """Keep something that JSON can hold, at once."""
        self.state = state
        if self._write is not None:
            self._write(state)


@dataclass(frozen=True, slots=True)
class Spoken:
    """What the labels of a rater are in a taxonomy of affectlab."""

    taxonomy: str
    """Name of the taxonomy."""
    targets: Mapping[str, str]
    """Its label for labels of the rater."""
    reasons: Mapping[str, str]
    """Why the other labels of the rater have none."""


@dataclass(frozen=True, eq=False)
class Rater:
    """A function from stimuli to scores, with all that a table of ratings says of it.

    Raises
    ------
    InputError
        When the name is empty, labels are missing or stand twice, the scale is none of numbers, or
        a number is below 1.

    Examples
    --------
    >>> from PIL import Image
    >>> calm = Rater("calm", lambda pictures: [{"joy": 0.5} for _ in pictures], labels=("joy",))
    >>> calm([Image.new("RGB", (8, 8))])
    [{'joy': 0.5}]
    """

    name: str
    rate: Rates
    labels: tuple[str, ...]
    """Labels that it scores, in its own spelling; empty, with `others`, where the answers tell."""
    takes: Takes = "image"
    """What it rates."""
    version: str = ""
    """Changes when the same stimulus gets other scores."""
    scale: str = "0-1 interval"
    """Scale of the scores, as :meth:`affectlab.ratings.Scale.parse` reads it."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What decides about the scores beside the stimulus; never a key."""
    batch: int = 1
    """Stimuli that it is given at a time."""
    complete: bool = True
    """Whether an answer must score all labels; where not, labels may be left out of an answer, and
    what is left out is unknown, not 0."""
    others: bool = False
    """Whether answers may name labels beyond `labels`, as services do that add some at any time;
    they are kept where labels are not mapped."""
    join: Literal["max", "sum"] = "max"
    """How scores of labels that become one are joined; ``"sum"`` is for shares that add up to 1."""
    spoken: Spoken | None = None
    """What its labels are in a taxonomy of affectlab, where that is known."""
    ask: Callable[[Any, Notes], Judged] | None = None
    """Rates one stimulus in several steps that are noted down, so that an interrupted run goes on
    with a job that was handed in; None for raters that answer at once."""
    finish: Callable[[], None] | None = None
    """Called when a run is over, to close what was opened for it."""
    stop: Callable[[], None] | None = None
    """Called from another thread when a run ends before its time: `ask` is to wait no longer, and
    to try nothing again."""
    concurrency: int = 1
    """Stimuli that are asked about at the same time, where there is `ask`."""
    address: str = ""
    """Where stimuli are sent; "" for a rater that keeps them on this machine."""
    notes: Callable[[], Sequence[str]] | None = None
    """What is to be said of the run when it is over, such as how many texts were cut."""

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise InputError("a rater needs a name, got none")
        where = f"rater {self.name!r}"
        if not self.labels and not self.others:
            raise InputError(f"{where}: no labels; expected those that it scores")
        check_once("label", self.labels, where)
        if self.levels.categories or self.levels.kind == "text":
            raise InputError(f"{where}: scale {self.scale!r}; expected one of numbers")
        check_choice("stimuli", self.takes, tuple(NOUNS), where)
        for name in ("batch", "concurrency"):
            if getattr(self, name) < 1:
                raise InputError(f"{where}: {name} = {getattr(self, name)}; expected 1 or more")
        check_choice("way to join scores", self.join, ("max", "sum"), where)

    @cached_property
    def levels(self) -> Scale:
        """The scale, parsed."""
        return Scale.parse(self.scale)

    @property
    def noun(self) -> str:
        """What one of its stimuli is called."""
        return NOUNS[self.takes]

    @property
    def sent_to(self) -> str | None:
        """Who gets the stimuli; None where they stay on this machine."""
        if not self.address or on_this_machine(self.address):
            return None
        return f"{self.name} at {urlsplit(self.address).hostname}"

    @property
    def fingerprint(self) -> str:
        """Changes whenever answers of another time could not stand for those of now."""
        parts = [self.name, self.version, self.scale, list(self.labels), dict(self.settings)]
        text = json.dumps(parts, sort_keys=True, ensure_ascii=False, default=str)
        return hashlib.sha256(text.encode()).hexdigest()

    def __call__(self, stimuli: Sequence[Any]) -> Sequence[Judged]:
        """Rate some stimuli."""
        return self.rate(stimuli)


# From whatever a rater gives to an answer that a table of ratings can hold.


_LONGEST = 300


def judge(rater: Rater, stimuli: Sequence[Any]) -> list[Answer]:
    """Have stimuli rated; where that fails, an answer says why.

    A batch that fails as a whole is rated in halves, so that one stimulus cannot take others along,
    and what is too much at once for the memory is tried in smaller parts.
    """
    try:
        given = list(rater(stimuli))
        if len(given) != len(stimuli):
            raise ValueError(f"gave {len(given)} answers for {plural(len(stimuli), rater.noun)}")
    # A rater is anybody's code: whatever it raises is recorded with the stimulus.
    except Exception as problem:  # noqa: BLE001
        if len(stimuli) == 1:
            return [answer_of(problem, rater)]
        half = (len(stimuli) + 1) // 2
        return [*judge(rater, stimuli[:half]), *judge(rater, stimuli[half:])]
    return [answer_of(one, rater) for one in given]


def answer_of(judged: Judged, rater: Rater) -> Answer:
    """Give what a rater gave for a picture as an answer.

    Examples
    --------
    >>> rater = Rater("x", lambda pictures: [[] for _ in pictures], labels=("joy",))
    >>> answer_of([], rater).problem
    'no face found'
    >>> two = [Face({"joy": 0.1}, (0, 0, 5, 5)), Face({"joy": 0.7}, (0, 0, 9, 9))]
    >>> answer_of(two, rater).scores, answer_of(two, rater).faces
    ({'joy': 0.7}, 2)
    >>> answer_of({"joy": 7}, rater).outcome
    'schema_invalid'
    """
    if isinstance(judged, Exception):
        return Answer("rejected", problem=said(judged))
    if isinstance(judged, Answer):
        if judged.outcome != "ok":
            return judged
        return _checked(judged.scores, judged.faces, judged.retries, rater)
    if isinstance(judged, Mapping):
        return _checked(judged, None, 0, rater)
    faces = list(judged) if isinstance(judged, Sequence) and not isinstance(judged, str) else None
    if faces is None or not all(isinstance(face, Face) for face in faces):
        kind = type(judged).__name__
        return Answer("unparseable", problem=f"gave {kind}; expected scores or faces")
    if not faces:
        return Answer("empty", faces=0, problem="no face found")
    return _checked(largest(faces).scores, len(faces), 0, rater)


def largest(faces: Sequence[Face]) -> Face:
    """Choose the largest face; without boxes the surest one, of equals the first."""
    if all(face.area == face.area for face in faces):
        return max(faces, key=lambda face: face.area)
    sure = [-math.inf if math.isnan(face.confidence) else face.confidence for face in faces]
    return faces[sure.index(max(sure))]


def said(problem: BaseException) -> str:
    """Put what was raised into one line."""
    text = shown(" ".join(str(problem).split()))
    kind = type(problem).__name__
    return f"{kind}: {text}"[:_LONGEST] if text else kind


def _number(value: Any) -> float:
    try:
        return float(value)
    # A whole number may be too large for any scale.
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _checked(given: Mapping[str, Any], faces: int | None, retries: int, rater: Rater) -> Answer:
    scores = {str(label): _number(value) for label, value in given.items()}
    known = set(rater.labels)
    wrong = ""
    unknown = [label for label in scores if label not in known]
    if unknown and not rater.others:
        wrong = f"label {shown(unknown[0], 40)!r} is none of the rater's"
    inside = rater.levels.contains([_number(value) for value in given.values()])
    for (label, value), good in zip(given.items(), inside, strict=True):
        if not good:
            wrong = f"{label} = {shown(value, 40)}: expected {rater.levels}"
            break
    lacking = [label for label in rater.labels if label not in scores]
    if not wrong and lacking and rater.complete:
        wrong = f"label {lacking[0]!r} is missing"
    if wrong:
        return Answer("schema_invalid", faces=faces, problem=wrong, retries=retries)
    order = dict.fromkeys((*rater.labels, *scores))
    ordered = {label: scores[label] for label in order if label in scores}
    return Answer("ok", ordered, faces, retries=retries)
