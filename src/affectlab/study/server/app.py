"""The web application of a study."""

from __future__ import annotations

import logging
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse
from sqlalchemy.exc import InterfaceError, OperationalError
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles

from affectlab._version import __version__
from affectlab.study.errors import StudyError
from affectlab.study.pilot import prepare_pilot
from affectlab.study.recruit import ProlificClient
from affectlab.study.server.dashboard import Live, dashboard_routes
from affectlab.study.server.frame import frame_routes, with_room
from affectlab.study.server.guard import Guard, error_body, mark_refused
from affectlab.study.server.limits import Refusals, door
from affectlab.study.server.participant import participant_routes
from affectlab.study.server.settings import Settings
from affectlab.study.service import Service
from affectlab.study.store import Store

__all__ = ["create_app"]

_CODES = {400: "invalid", 404: "not_found", 405: "not_allowed"}
_USUAL = (401, 410, 429)
"""Replies that are no attack: somebody is not logged in, comes too late, or is too quick; the last
would only repeat what was written down before."""
_PAGES = Path(__file__).parent.parent / "pages"
_LOG = logging.getLogger("uvicorn.error")


def create_app(store: Store, settings: Settings | None = None) -> FastAPI:
    """Make the web application of a study.

    Parameters
    ----------
    store
        The open study.
    settings
        How the server is run.

    Returns
    -------
    An ASGI application: the participant pages, and the interface that they use. Every error is
    JSON, ``{"error": {"code": …, "sentence": …}}``.
    """
    settings = with_room(settings or Settings(), store)
    if settings.pilot:
        prepare_pilot(store)
    if store.study.design.recruitment.verify:
        # Said now, not to the first visitor.
        ProlificClient.from_environment().close()
    service = Service(store)
    app = FastAPI(
        title=store.study.design.study.title,
        version=__version__,
        docs_url=None,
        redoc_url=None,
    )
    app.state.service = service
    app.state.live = live = Live(store, settings.statistics_seconds)
    app.include_router(participant_routes(service, settings))
    app.include_router(frame_routes(store))
    app.include_router(dashboard_routes(store, settings, live))
    app.mount("/static", StaticFiles(directory=_PAGES), name="static")

    @app.api_route("/health", methods=["GET", "HEAD"], include_in_schema=False)
    def health() -> dict[str, str]:
        """Say that the server and its database answer."""
        store.database.check()
        return {"status": "ok"}

    # Proxies and monitors ask for the head alone.
    @app.api_route("/", methods=["GET", "HEAD"], include_in_schema=False)
    @app.api_route("/take", methods=["GET", "HEAD"], include_in_schema=False)
    @app.api_route("/p/{invitation}", methods=["GET", "HEAD"], include_in_schema=False)
    def page() -> FileResponse:
        """Give the page in which everything else happens."""
        return FileResponse(_PAGES / "take.html", media_type="text/html")

    @app.exception_handler(StudyError)
    def refused(request: Request, error: StudyError) -> JSONResponse:
        if error.status not in _USUAL:
            mark_refused(request.scope, error.code)
        return JSONResponse(error_body(error.code, str(error)), error.status)

    @app.exception_handler(OperationalError)
    @app.exception_handler(InterfaceError)
    def unreachable(_request: Request, error: Exception) -> JSONResponse:
        """Nothing was stored: pages send the same again, and it is stored once."""
        _LOG.warning("the database does not answer: %s", str(error).splitlines()[0])
        body = error_body("unavailable", "The study cannot be reached for a moment.")
        return JSONResponse(body, 503, headers={"Retry-After": "1"})

    @app.exception_handler(RequestValidationError)
    def misformed(request: Request, error: RequestValidationError) -> JSONResponse:
        mark_refused(request.scope, "invalid")
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"] if part != "body")
        sentence = f"{place}: {first['msg']}" if place else str(first["msg"])
        return JSONResponse(error_body("invalid", sentence), 422)

    @app.exception_handler(HTTPException)
    def failed(request: Request, error: HTTPException) -> JSONResponse:
        code = _CODES.get(error.status_code, "refused")
        if door(request.scope["path"]) != "other":
            # Browsers ask every site for icons and the like.
            mark_refused(request.scope, code)
        body = error_body(code, str(error.detail))
        return JSONResponse(body, error.status_code, headers=error.headers)

    app.add_middleware(Guard, settings=settings, refusals=Refusals(store))
    return app
