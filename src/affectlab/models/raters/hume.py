"""Hume's expression measurement: pictures of faces, over HTTP."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from affectlab.core.errors import InputError
from affectlab.models.raters.rater import Answer, Face, Rater
from affectlab.models.raters.services import (
    ApiRequest,
    ExpressionApi,
    UnexpectedReplyError,
    api_rater,
)

__all__ = ["HUME_EXPRESSIONS", "HumeApi", "HumeBatchApi", "hume_batch_rater", "hume_rater"]

HUME_EXPRESSIONS = (
    *("Admiration", "Adoration", "Aesthetic Appreciation", "Amusement", "Anger", "Anxiety"),
    *("Awe", "Awkwardness", "Boredom", "Calmness", "Concentration", "Confusion"),
    *("Contemplation", "Contempt", "Contentment", "Craving", "Desire", "Determination"),
    *("Disappointment", "Disgust", "Distress", "Doubt", "Ecstasy", "Embarrassment"),
    *("Empathic Pain", "Entrancement", "Envy", "Excitement", "Fear", "Guilt", "Horror"),
    *("Interest", "Joy", "Love", "Nostalgia", "Pain", "Pride", "Realization", "Relief"),
    *("Romance", "Sadness", "Satisfaction", "Shame", "Surprise (negative)"),
    *("Surprise (positive)", "Sympathy", "Tiredness", "Triumph"),
)
"""The 48 expressions of a face, as the interface of jobs names them."""
_FILE = "picture.jpg"
"""What every picture is called: its own name may tell what it shows."""
_JOB = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,79}")


class _Hume(ExpressionApi):
    """What both interfaces have in common."""

    key_variable: ClassVar[str] = "HUME_API_KEY"

    def headers(self, key: str) -> Mapping[str, str]:
        """Send the key as Hume's documentation says."""
        return {"X-Hume-Api-Key": key}


class HumeApi(_Hume):
    """The image upload of Hume's Expression Measurement API, version 1 (limited release, 2026).

    ``POST /v1/expression/video/file`` with one JPEG picture answers at once. The probability of an
    expression is the chance that a human rater would name it for this face, independently of the
    others. The service leaves out expressions of 0.1 and below: they are not rated, not 0; where
    that is to be the same, :meth:`affectlab.ratings.Ratings.fill_absent` says so. It may name
    further expressions at any time, which are kept.

    Parameters
    ----------
    threshold
        Confidence from which on something counts as a face, in [0, 1]; None: the service's own.
    min_size
        Shorter side of the smallest face in pixels; None: the service's own.
    """

    name: ClassVar[str] = "hume"
    version: ClassVar[str] = "v1"
    url: ClassVar[str] = "https://api.cloud.hume.ai"
    labels: ClassVar[tuple[str, ...]] = tuple(name.lower() for name in HUME_EXPRESSIONS)
    complete: ClassVar[bool] = False
    others: ClassVar[bool] = True
    largest: ClassVar[int | None] = 2_000_000
    most_pixels: ClassVar[int | None] = 3840 * 2160

    def __init__(self, threshold: float | None = None, min_size: int | None = None) -> None:
        self._face = _face_settings("threshold", threshold, "min_size", min_size, self.name)

    @property
    def settings(self) -> Mapping[str, Any]:
        """What the service is told of faces."""
        return self._face

    def submit(self, picture: bytes) -> ApiRequest:
        """Send the picture; the reply is the answer."""
        config = json.dumps({"face": self._face})
        return ApiRequest(
            "POST",
            "/v1/expression/video/file",
            "upload",
            files=(("file", _FILE, picture, "image/jpeg"),),
            parts=(("config", config, "application/json"),) if self._face else (),
        )

    def read(self, request: ApiRequest, content: Any) -> Sequence[Face]:  # noqa: ARG002
        """Read the faces of the one picture; those that were not measured have no scores."""
        measurements = content["measurements"]
        if len(measurements) != 1:
            raise UnexpectedReplyError(f"{len(measurements)} results for one picture; expected 1")
        listed = measurements[0]["faces"]
        faces = []
        for face in listed:
            if face.get("expressions") is None:
                continue
            left, top, right, bottom = (float(edge) for edge in face["bbox"])
            faces.append(
                Face(
                    {one["name"]: float(one["probability"]) for one in face["expressions"]},
                    (left, top, right - left, bottom - top),
                    float(face["confidence"]),
                )
            )
        if listed and not faces:
            raise UnexpectedReplyError(f"{len(listed)} faces, of which none was measured")
        return faces


class HumeBatchApi(_Hume):
    """Hume's interface of jobs, ``/v0/batch/jobs``: a job is started, asked for, and fetched.

    Hume itself ended it on 15 June 2026; it is here for servers that still speak it, and shows how
    an adapter does jobs. The job's name is noted in the ledger, so that a run that was interrupted
    asks for the job it has started and starts no other.

    Parameters
    ----------
    prob_threshold
        Confidence from which on something counts as a face, in [0, 1]; None: the service's own.
    min_face_size
        Side of the smallest face in pixels; None: the service's own.
    every
        Seconds between questions whether a job is done.
    """

    name: ClassVar[str] = "hume-batch"
    version: ClassVar[str] = "v0"
    url: ClassVar[str] = "https://api.hume.ai"
    labels: ClassVar[tuple[str, ...]] = HUME_EXPRESSIONS

    def __init__(
        self,
        prob_threshold: float | None = None,
        min_face_size: int | None = None,
        every: float = 2.0,
    ) -> None:
        self._face = _face_settings(
            "prob_threshold", prob_threshold, "min_face_size", min_face_size, self.name
        )
        if not 0 < every < float("inf"):
            raise InputError(f"rater {self.name!r}: every = {every}; expected seconds above 0")
        self._every = every

    @property
    def settings(self) -> Mapping[str, Any]:
        """What the service is told of faces."""
        return self._face

    def submit(self, picture: bytes) -> ApiRequest:
        """Start a job for the picture."""
        told = json.dumps({"models": {"face": self._face}})
        return ApiRequest(
            "POST",
            "/v0/batch/jobs",
            "start",
            files=(("file", _FILE, picture, "image/jpeg"),),
            parts=(("json", told, "application/json"),),
        )

    def read(self, request: ApiRequest, content: Any) -> Sequence[Face] | Answer | ApiRequest:
        """Read what became of the job; ask again as long as it is not done."""
        if request.step == "start":
            job = content["job_id"]
            if not isinstance(job, str) or not _JOB.fullmatch(job):
                raise UnexpectedReplyError("the name of the job is not one")
            return ApiRequest("GET", f"/v0/batch/jobs/{job}", "state", wait=self._every)
        if request.step == "state":
            return self._state(request, content["state"])
        return _batch_faces(content)

    def _state(self, request: ApiRequest, state: Any) -> Answer | ApiRequest:
        status = state["status"]
        if status in ("QUEUED", "IN_PROGRESS"):
            return ApiRequest("GET", request.path, "state", wait=self._every)
        if status == "COMPLETED":
            return ApiRequest("GET", f"{request.path}/predictions", "predictions")
        if status == "FAILED":
            return Answer("rejected", problem=f"the job failed: {state.get('message', '')}")
        raise UnexpectedReplyError(f"status {status!r} of a job")


def _batch_faces(content: Any) -> Sequence[Face] | Answer:
    if len(content) != 1:
        raise UnexpectedReplyError(f"{len(content)} sources for one picture; expected 1")
    if content[0].get("error"):
        return Answer("rejected", problem=str(content[0]["error"]))
    results = content[0]["results"]
    if results.get("errors"):
        return Answer("rejected", problem=str(results["errors"][0]["message"]))
    faces = []
    for prediction in results["predictions"]:
        for group in prediction["models"]["face"]["grouped_predictions"]:
            for face in group["predictions"]:
                box = face["box"]
                faces.append(
                    Face(
                        {one["name"]: float(one["score"]) for one in face["emotions"]},
                        (float(box["x"]), float(box["y"]), float(box["w"]), float(box["h"])),
                        float(face["prob"]),
                    )
                )
    return faces


def _face_settings(
    threshold_name: str, threshold: float | None, size_name: str, size: int | None, rater: str
) -> dict[str, Any]:
    if threshold is not None and not 0 <= threshold <= 1:
        raise InputError(
            f"rater {rater!r}: {threshold_name} = {threshold}; expected a number from 0 to 1"
        )
    if size is not None and size < 1:
        raise InputError(f"rater {rater!r}: {size_name} = {size}; expected 1 or more")
    told = {threshold_name: threshold, size_name: size}
    return {name: value for name, value in told.items() if value is not None}


def hume_rater(
    threshold: float | None = None,
    min_size: int | None = None,
    *,
    url: str | None = None,
    concurrency: int = 4,
    per_second: float | None = None,
    retries: int = 5,
    pause: float = 1.0,
    timeout: float = 60.0,
) -> Rater:
    """Make the rater ``hume``; see :class:`HumeApi` and :func:`api_rater` for the settings."""
    return api_rater(
        HumeApi(threshold, min_size),
        url=url,
        concurrency=concurrency,
        per_second=per_second,
        retries=retries,
        pause=pause,
        timeout=timeout,
    )


def hume_batch_rater(
    prob_threshold: float | None = None,
    min_face_size: int | None = None,
    *,
    every: float = 2.0,
    url: str | None = None,
    concurrency: int = 4,
    per_second: float | None = None,
    retries: int = 5,
    pause: float = 1.0,
    timeout: float = 60.0,
    longest: float = 600.0,
) -> Rater:
    """Make the rater ``hume-batch``; see :class:`HumeBatchApi` and :func:`api_rater`."""
    return api_rater(
        HumeBatchApi(prob_threshold, min_face_size, every),
        url=url,
        concurrency=concurrency,
        per_second=per_second,
        retries=retries,
        pause=pause,
        timeout=timeout,
        longest=longest,
    )
