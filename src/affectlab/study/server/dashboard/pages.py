"""The dashboard: its pages, and the interface that they use."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import APIRouter
from fastapi.responses import FileResponse, RedirectResponse

from affectlab.study.server.dashboard.access import Access, Token
from affectlab.study.server.dashboard.actions import action_routes, login_routes
from affectlab.study.server.dashboard.live import Live
from affectlab.study.server.dashboard.views import view_routes
from affectlab.study.server.settings import Settings
from affectlab.study.store import Store

__all__ = ["dashboard_routes"]

_PAGES = Path(__file__).parent.parent.parent / "pages"


def dashboard_routes(store: Store, settings: Settings, live: Live) -> APIRouter:
    """Make the routes of the dashboard.

    Parameters
    ----------
    store
        The open study.
    settings
        How the server is run.
    live
        What is shown; it is closed when the application ends.
    """
    access = Access(store, live, settings)

    @asynccontextmanager
    async def lifespan(_app: Any) -> AsyncIterator[None]:
        yield
        live.close()

    routes = APIRouter(prefix="/dashboard", lifespan=lifespan)
    interface = APIRouter(prefix="/api", tags=["dashboard"])
    for part in (login_routes, view_routes, action_routes):
        interface.include_router(part(store, live, access))
    routes.include_router(interface)

    @routes.get("", include_in_schema=False, response_model=None)
    async def page(token: Token = "") -> FileResponse | RedirectResponse:
        """Give the page to those who are logged in; others are asked to log in."""
        if await access.login(token) is None:
            return RedirectResponse("/dashboard/login", status_code=303)
        return FileResponse(_PAGES / "dashboard.html", media_type="text/html")

    @routes.get("/login", include_in_schema=False)
    @routes.get("/setup", include_in_schema=False)
    async def enter() -> FileResponse:
        """Give the page that asks for name and password."""
        return FileResponse(_PAGES / "dashboard-login.html", media_type="text/html")

    return routes
