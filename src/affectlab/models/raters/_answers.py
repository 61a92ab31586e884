"""From whatever a rater gives to an answer that a table of ratings can hold."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from affectlab._words import shown
from affectlab.models.raters._rater import Face, FaceAnswer, FaceRater, Judged
from affectlab.ratings import Scale

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["answer_of", "judge", "largest", "said"]

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
