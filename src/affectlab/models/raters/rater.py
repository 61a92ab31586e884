"""What a face rater is: a function from pictures to scores, with a name, labels and a scale."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from PIL import Image

from affectlab.core.errors import InputError, check_choice, check_once
from affectlab.core.words import shown
from affectlab.evaluation import OUTCOMES
from affectlab.ratings import Scale

__all__ = [
    "Face",
    "FaceAnswer",
    "FaceRater",
    "Judged",
    "Notes",
    "RatesFaces",
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
class FaceAnswer:
    """What a rater said about one picture.

    Raises
    ------
    InputError
        When the outcome is not known.

    Examples
    --------
    >>> FaceAnswer("empty", problem="no face found").scores
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
"""What a rater gives for a picture: scores by label; a list of :class:`Face`, of which the largest
counts; a :class:`FaceAnswer`; or an exception, where it could not rate this one."""
RatesFaces: TypeAlias = Callable[[Sequence[Image.Image]], Sequence[Judged]]
"""Rates pictures (upright, RGB), and gives something for each, in their order."""


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
class FaceRater:
    """A function from pictures to scores, with all that a table of ratings says of it.

    Raises
    ------
    InputError
        When the name is empty, labels are missing or stand twice, the scale has no bounds, or a
        number is below 1.

    Examples
    --------
    >>> from PIL import Image
    >>> calm = FaceRater("calm", lambda pictures: [{"joy": 0.5} for _ in pictures], labels=("joy",))
    >>> calm([Image.new("RGB", (8, 8))])
    [{'joy': 0.5}]
    """

    name: str
    rate: RatesFaces
    labels: tuple[str, ...]
    """Labels that it scores, in its own spelling."""
    version: str = ""
    """Changes when the same picture gets other scores."""
    scale: str = "0-1 interval"
    """Scale of the scores, as :meth:`affectlab.ratings.Scale.parse` reads it."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What decides about the scores beside the picture; never a key."""
    batch: int = 1
    """Pictures that it is given at a time."""
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
    ask: Callable[[Image.Image, Notes], Judged] | None = None
    """Rates one picture in several steps that are noted down, so that an interrupted run goes on
    with a job that was handed in; None for raters that answer at once."""
    finish: Callable[[], None] | None = None
    """Called when a run is over, to close what was opened for it."""
    stop: Callable[[], None] | None = None
    """Called from another thread when a run ends before its time: `ask` is to wait no longer, and
    to try nothing again."""
    concurrency: int = 1
    """Pictures that are asked about at the same time, where there is `ask`."""

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise InputError("a face rater needs a name, got none")
        where = f"face rater {self.name!r}"
        if not self.labels:
            raise InputError(f"{where}: no labels; expected those that it scores")
        check_once("label", self.labels, where)
        scale = Scale.parse(self.scale)
        if scale.categories or scale.low is None or scale.high is None:
            raise InputError(f"{where}: scale {self.scale!r}; expected numbers with two bounds")
        for name in ("batch", "concurrency"):
            if getattr(self, name) < 1:
                raise InputError(f"{where}: {name} = {getattr(self, name)}; expected 1 or more")
        check_choice("way to join scores", self.join, ("max", "sum"), where)

    @property
    def fingerprint(self) -> str:
        """Changes whenever answers of another time could not stand for those of now."""
        parts = [self.name, self.version, self.scale, list(self.labels), dict(self.settings)]
        text = json.dumps(parts, sort_keys=True, ensure_ascii=False, default=str)
        return hashlib.sha256(text.encode()).hexdigest()

    def __call__(self, pictures: Sequence[Image.Image]) -> Sequence[Judged]:
        """Rate some pictures."""
        return self.rate(pictures)


# From whatever a rater gives to an answer that a table of ratings can hold.


_LONGEST = 300


def judge(rater: FaceRater, pictures: Sequence[Image.Image]) -> list[FaceAnswer]:
    """Have pictures rated; where that fails, an answer says why.

    A batch that fails as a whole is rated one by one, so that one picture cannot take others along.
    """
    try:
        given = list(rater(pictures))
        if len(given) != len(pictures):
            raise ValueError(f"gave {len(given)} answers for {len(pictures)} pictures")
    # A rater is anybody's code: whatever it raises is recorded with the picture.
    except Exception as problem:  # noqa: BLE001
        if len(pictures) == 1:
            return [answer_of(problem, rater)]
        return [one for picture in pictures for one in judge(rater, [picture])]
    return [answer_of(one, rater) for one in given]


def answer_of(judged: Judged, rater: FaceRater) -> FaceAnswer:
    """Give what a rater gave for a picture as an answer.

    Examples
    --------
    >>> rater = FaceRater("x", lambda pictures: [[] for _ in pictures], labels=("joy",))
    >>> answer_of([], rater).problem
    'no face found'
    >>> two = [Face({"joy": 0.1}, (0, 0, 5, 5)), Face({"joy": 0.7}, (0, 0, 9, 9))]
    >>> answer_of(two, rater).scores, answer_of(two, rater).faces
    ({'joy': 0.7}, 2)
    >>> answer_of({"joy": 7}, rater).outcome
    'schema_invalid'
    """
    if isinstance(judged, Exception):
        return FaceAnswer("rejected", problem=said(judged))
    if isinstance(judged, FaceAnswer):
        if judged.outcome != "ok":
            return judged
        return _checked(judged.scores, judged.faces, judged.retries, rater)
    if isinstance(judged, Mapping):
        return _checked(judged, None, 0, rater)
    faces = list(judged) if isinstance(judged, Sequence) and not isinstance(judged, str) else None
    if faces is None or not all(isinstance(face, Face) for face in faces):
        kind = type(judged).__name__
        return FaceAnswer("unparseable", problem=f"gave {kind}; expected scores or faces")
    if not faces:
        return FaceAnswer("empty", faces=0, problem="no face found")
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


def _checked(
    given: Mapping[str, Any], faces: int | None, retries: int, rater: FaceRater
) -> FaceAnswer:
    scale = Scale.parse(rater.scale)
    scores: dict[str, float] = {}
    wrong = ""
    for label, value in given.items():
        try:
            number = float(value)
        # A whole number may be too large for any scale.
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if label not in rater.labels and not rater.others:
            wrong = f"label {shown(label, 40)!r} is none of the rater's"
        elif not bool(scale.contains([number])[0]):
            wrong = f"{label} = {shown(value, 40)}: expected {scale}"
        scores[str(label)] = number
    lacking = [label for label in rater.labels if label not in scores]
    if not wrong and lacking and rater.complete:
        wrong = f"label {lacking[0]!r} is missing"
    if wrong:
        return FaceAnswer("schema_invalid", faces=faces, problem=wrong, retries=retries)
    order = dict.fromkeys((*rater.labels, *scores))
    ordered = {label: scores[label] for label in order if label in scores}
    return FaceAnswer("ok", ordered, faces, retries=retries)
