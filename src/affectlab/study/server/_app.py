"""The web application of a study."""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles

from affectlab._version import __version__
from affectlab.study._errors import StudyError
from affectlab.study._service import Service
from affectlab.study._store import Store
from affectlab.study.server._guard import Guard, error_body
from affectlab.study.server._participant import participant_routes
from affectlab.study.server._settings import Settings

__all__ = ["create_app"]

_CODES = {400: "invalid", 404: "not_found", 405: "not_allowed"}
_PAGES = Path(__file__).parent.parent / "pages"


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
    settings = settings or Settings()
    service = Service(store)
    app = FastAPI(
        title=store.study.design.study.title,
        version=__version__,
        docs_url=None,
        redoc_url=None,
    )
    app.state.service = service
    app.include_router(participant_routes(service, settings))
    app.mount("/static", StaticFiles(directory=_PAGES), name="static")

    @app.get("/health", include_in_schema=False)
    def health() -> dict[str, str]:
        """Say that the server and its database answer."""
        store.database.check()
        return {"status": "ok"}

    @app.get("/", include_in_schema=False)
    @app.get("/take", include_in_schema=False)
    @app.get("/p/{invitation}", include_in_schema=False)
    def page() -> FileResponse:
        """Give the page in which everything else happens."""
        return FileResponse(_PAGES / "take.html", media_type="text/html")

    @app.exception_handler(StudyError)
    def refused(_request: Request, error: StudyError) -> JSONResponse:
        return JSONResponse(error_body(error.code, str(error)), error.status)

    @app.exception_handler(RequestValidationError)
    def misformed(_request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"] if part != "body")
        sentence = f"{place}: {first['msg']}" if place else str(first["msg"])
        return JSONResponse(error_body("invalid", sentence), 422)

    @app.exception_handler(HTTPException)
    def failed(_request: Request, error: HTTPException) -> JSONResponse:
        code = _CODES.get(error.status_code, "refused")
        body = error_body(code, str(error.detail))
        return JSONResponse(body, error.status_code, headers=error.headers)

    app.add_middleware(Guard, settings=settings)
    return app
