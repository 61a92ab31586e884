"""What every request and reply goes through: size, origin, and headers that browsers obey."""

from __future__ import annotations

import json
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from affectlab.study.design import FRAMES
from affectlab.study.server.frame import FRAME_HEADERS
from affectlab.study.server.limits import Refusals
from affectlab.study.server.settings import Settings

__all__ = ["COOKIE", "Guard", "error_body", "mark_refused"]

COOKIE = "affectlab_session"
"""Cookie of a participant's session."""
_REFUSED = "affectlab.refused"
"""Where a request's scope says why it was refused."""

_HEADERS = (
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        b"connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'self'; "
        b"frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=(), interest-cohort=()"),
)
_TOO_LARGE = (413, "too_large", "The request is too large.")
_FAILED = (500, "failed", "Something went wrong here. What was confirmed before is stored.")
_HSTS = (b"strict-transport-security", b"max-age=31536000")


class _TooLargeError(Exception):
    """The body of a request is longer than allowed."""


class Guard:
    """Refuses bodies that are too large and requests of other sites; adds headers to replies.

    What was refused, here or behind it, is written down once the visitor has the reply.

    Parameters
    ----------
    app
        The application behind it.
    settings
        Limits.
    refusals
        Writes down what was refused.
    """

    def __init__(self, app: ASGIApp, settings: Settings, refusals: Refusals) -> None:
        self.app, self.settings, self._refusals = app, settings, refusals

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        try:
            await self._answer(scope, receive, send)
        finally:
            if _REFUSED in scope:
                token = Request(scope).cookies.get(COOKIE, "")[:100]
                note = self._refusals.note
                await run_in_threadpool(note, scope[_REFUSED], scope["path"], token)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        reply = self._with_headers(send, scope["path"])
        refused = self._refusal(scope["method"], headers)
        if refused is not None:
            mark_refused(scope, refused[1])
            await _refuse(reply, *refused)
            return
        received = 0
        refused_late = begun = False

        async def limited() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self.settings.largest_body:
                raise _TooLargeError
            return message

        async def watched(message: Message) -> None:
            nonlocal refused_late, begun
            begun = begun or message["type"] == "http.response.start"
            if received <= self.settings.largest_body:
                await reply(message)
            elif not refused_late:
                # Whatever the application made of the error, this is what was wrong.
                refused_late = True
                mark_refused(scope, _TOO_LARGE[1])
                await _refuse(reply, *_TOO_LARGE)

        try:
            await self.app(scope, limited, watched)
        except _TooLargeError:
            if not refused_late:
                mark_refused(scope, _TOO_LARGE[1])
                await _refuse(reply, *_TOO_LARGE)
        except Exception:
            # The server logs what went wrong; the visitor need not know more than that it did.
            if not begun:
                await _refuse(reply, *_FAILED)
            raise

    def _refusal(self, method: str, headers: dict[bytes, bytes]) -> tuple[int, str, str] | None:
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > self.settings.largest_body:
            return _TOO_LARGE
        if method in ("GET", "HEAD", "OPTIONS"):
            return None
        # Browsers say where a request comes from; other programs have no cookies to abuse.
        if headers.get(b"sec-fetch-site", b"same-origin") not in (b"same-origin", b"none"):
            return 403, "other_site", "This request comes from another site."
        if not headers.get(b"content-type", b"").lower().startswith(b"application/json"):
            return 415, "not_json", "Expected a body of type application/json."
        return None

    def _with_headers(self, send: Send, path: str) -> Send:
        extra = list(FRAME_HEADERS if path.startswith(FRAMES) else _HEADERS)
        if self.settings.https:
            extra.append(_HSTS)
        private = not path.startswith(("/static/", "/media/", FRAMES))

        async def reply(message: Message) -> None:
            if message["type"] == "http.response.start":
                kept = list(message.get("headers", ())) + extra
                if private:
                    kept.append((b"cache-control", b"no-store"))
                message = {**message, "headers": kept}
            await send(message)

        return reply


def mark_refused(scope: Scope, code: str) -> None:
    """Have it written down that a request was refused, and why."""
    scope[_REFUSED] = code


def error_body(code: str, sentence: str) -> dict[str, Any]:
    """Give the body of every reply that says what went wrong."""
    return {"error": {"code": code, "sentence": sentence}}


async def _refuse(send: Send, status: int, code: str, sentence: str) -> None:
    body = json.dumps(error_body(code, sentence)).encode()
    head = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": head})
    await send({"type": "http.response.body", "body": body})
