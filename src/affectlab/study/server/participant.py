"""The interface that the participant pages use."""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import APIRouter, Cookie, Header, Request, Response
from fastapi.responses import JSONResponse
from pydantic import Field

from affectlab.core.files.media import WEB_IMAGES
from affectlab.study.delivery import Submission
from affectlab.study.errors import StudyError, forbidden, invalid, not_found
from affectlab.study.people import enter
from affectlab.study.recruit import Visitor, verify
from affectlab.study.server.guard import COOKIE, mark_refused
from affectlab.study.server.limits import Limiter, address_of
from affectlab.study.server.messages import Message
from affectlab.study.server.settings import Settings
from affectlab.study.service import Service

__all__ = [
    "Advance",
    "Answer",
    "Enter",
    "PageEvent",
    "Skip",
    "participant_routes",
]

# What browsers send, and what is told of it in the description of the interface.


TrialId = Annotated[str, Field(pattern=r"^[0-9]{1,18}$")]


class Enter(Message):
    """Begin a session, with what the address of the page says."""

    invitation: str | None = Field(default=None, max_length=100)
    code: str = Field(default="", max_length=200)
    language: str = Field(default="", max_length=20)
    prolific_pid: str | None = Field(default=None, min_length=1, max_length=200)
    participant_id: str | None = Field(default=None, min_length=1, max_length=200)
    external_session: str | None = Field(default=None, max_length=200)
    external_study: str | None = Field(default=None, max_length=200)
    told: dict[Annotated[str, Field(max_length=40)], Annotated[str, Field(max_length=200)]] = Field(
        default_factory=dict, max_length=20
    )


class Advance(Message):
    """Finish a stage that is not a trial."""

    stage: str = Field(max_length=20)
    data: dict[str, Any] = Field(default_factory=dict)


class Answer(Message):
    """Answer the next trial."""

    trial: TrialId
    answer: dict[str, Any]
    key: str = Field(min_length=8, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")
    widget: str = Field(max_length=20)
    rt_ms: int | None = Field(default=None, ge=0, le=86_400_000)
    movement: list[tuple[float, float]] | None = Field(default=None, max_length=2000)


class Skip(Message):
    """Leave out the next trial, because what it shows could not be loaded."""

    trial: TrialId
    reason: str = Field(default="", max_length=200)


class PageEvent(Message):
    """Something that the page noticed."""

    kind: str = Field(max_length=40)
    body: dict[str, Any] = Field(default_factory=dict)


Token = Annotated[str, Cookie(alias=COOKIE, max_length=100)]
Csrf = Annotated[str, Header(alias="X-CSRF", max_length=100)]
_AT_ONCE = 2
"""Entries, and steps from stage to stage, that one process works on at a time."""
_ANSWERS_AT_ONCE = {True: 2, False: 32}
"""Answers that one process works on at a time: on SQLite, with its one writer, and else.

More threads than that only take the interpreter away from the one that writes, which makes
everybody wait longer; and those who wait for a thread are served in the order in which they came.
"""


def participant_routes(service: Service, settings: Settings) -> APIRouter:
    """Make the routes under which participants take part."""
    routes = APIRouter()
    entries = Limiter(settings.entries_per_minute / 60, max(1, settings.entries_per_minute))
    requests = Limiter(settings.requests_per_second, max(1, int(4 * settings.requests_per_second)))
    few = CapacityLimiter(_AT_ONCE)
    writers = CapacityLimiter(_ANSWERS_AT_ONCE[service.store.database.is_sqlite])

    async def in_turn(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Do work that takes long in a thread, with few others of its kind.

        When many people begin at once, those who already answer do not wait behind all of them.
        """
        return await run_sync(work, limiter=few)

    def known(token: str) -> str:
        """Refuse requests without a session, and too many of one."""
        if not token:
            raise StudyError(401, "no_session", "There is no session in this browser yet.")
        if not requests.allows(token):
            raise StudyError(429, "too_many", "Too many requests; please wait a moment.")
        return token

    def trusted(token: str, csrf: str) -> str:
        """Refuse requests that do not come from our own pages."""
        if not hmac.compare_digest(_csrf(service, known(token)).encode(), csrf.encode()):
            raise forbidden("This request does not come from the page of the study.")
        return token

    def told(token: str, state: dict[str, Any]) -> dict[str, Any]:
        return {**state, "csrf": _csrf(service, token)}

    @routes.post("/api/enter")
    async def begin(
        message: Enter, request: Request, response: Response, token: Token = ""
    ) -> dict[str, Any]:
        """Begin a session, or take up the one that was begun."""
        if not entries.allows(address_of(request, settings)):
            raise StudyError(429, "too_many", "Too many people enter from here; please wait.")
        visitor = _visitor(message, service, "pilot" if settings.pilot else "main")
        # Prolific is asked before the transaction: nobody waits for a network in a database.
        verified = await run_sync(verify, service.store.study.design.recruitment, visitor)
        if verified == "no":
            raise forbidden("Prolific does not know this visit. Please open the study there again.")

        def entered() -> dict[str, Any]:
            own = enter(service.store, replace(visitor, verified=verified, token=token))
            response.set_cookie(
                COOKIE,
                own,
                httponly=True,
                samesite="lax",
                secure=settings.https,
                max_age=30 * 86400,
            )
            return told(own, service.state(own))

        return await in_turn(entered)

    @routes.get("/api/session", responses={204: {"description": "No session in this browser."}})
    def session(request: Request, token: Token = "") -> Any:
        """Describe the session of this browser; nothing when there is none."""
        try:
            return told(known(token), service.state(token))
        except StudyError as error:
            if error.code not in ("no_session", "not_found"):
                raise
            if token:
                # Nothing is wrong for the page, but somebody sent a cookie that is not ours.
                mark_refused(request.scope, error.code)
            return Response(status_code=204)

    @routes.post("/api/advance")
    async def advance(message: Advance, token: Token = "", csrf: Csrf = "") -> dict[str, Any]:
        """Finish a stage that is not a trial."""
        trusted(token, csrf)
        return await in_turn(
            lambda: told(token, service.advance(token, message.stage, message.data))
        )

    @routes.post("/api/answers", response_model=dict[str, Any])
    async def answer(message: Answer, token: Token = "", csrf: Csrf = "") -> JSONResponse:
        """Store the answer to the next trial; it is on the disk when the reply comes."""
        trusted(token, csrf)
        movement = None if message.movement is None else [list(pair) for pair in message.movement]
        given = Submission(
            int(message.trial),
            message.answer,
            message.key,
            message.widget,
            message.rt_ms,
            movement,
        )
        # Written by the thread that stored it: the reply is plain data already.
        return await run_sync(
            lambda: JSONResponse(told(token, service.answer(token, given))), limiter=writers
        )

    @routes.post("/api/skip")
    def skip(message: Skip, token: Token = "", csrf: Csrf = "") -> dict[str, Any]:
        """Leave out the next trial, which could not be shown."""
        trusted(token, csrf)
        return told(token, service.skip(token, int(message.trial), message.reason))

    @routes.post("/api/withdraw")
    def withdraw(token: Token = "", csrf: Csrf = "") -> dict[str, Any]:
        """Withdraw, under way or after the end; the study says what becomes of the answers."""
        trusted(token, csrf)
        return told(token, service.withdraw(token))

    @routes.post("/api/events", status_code=204)
    def event(message: PageEvent, token: Token = "", csrf: Csrf = "") -> Response:
        """Note something that the page noticed."""
        trusted(token, csrf)
        if len(json.dumps(message.body)) > 1000:
            raise invalid("body: expected at most 1,000 characters.")
        service.report(token, message.kind, message.body)
        return Response(status_code=204)

    @routes.get("/media/{address}")
    def media(address: str, token: Token = "") -> Response:
        """Give a picture of the session's own trials."""
        path = service.picture(known(token), address)
        if path is None:
            raise not_found("There is no such picture.")
        # Read by this thread: handing a picture on piece by piece takes longer than reading it.
        return Response(
            path.read_bytes(),
            media_type=WEB_IMAGES[path.suffix.lower()],
            headers={"Cache-Control": "private, max-age=86400, immutable"},
        )

    return routes


def _csrf(service: Service, token: str) -> str:
    return service.store.digest("csrf", token)


def _visitor(message: Enter, service: Service, batch: str) -> Visitor:
    platform = service.store.study.design.recruitment.platform
    if message.invitation is not None:
        return Visitor(
            "link",
            invitation=message.invitation,
            language=message.language,
            told=message.told,
            batch=batch,
        )
    named = {"prolific": message.prolific_pid, "connect": message.participant_id}.get(platform)
    if platform != "none" and named is None:
        raise forbidden("This address is not complete. Please open the study from your platform.")
    return Visitor(
        "open" if named is None else platform,
        external_id=named,
        external_session=message.external_session,
        code=message.code,
        language=message.language,
        told=message.told,
        study_id=message.external_study,
        batch=batch,
    )
