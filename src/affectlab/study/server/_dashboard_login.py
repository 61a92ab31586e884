"""Logging in and out of the dashboard, and the first account."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from affectlab.study._accounts import set_password
from affectlab.study._accounts_login import (
    Login,
    check_password,
    close_login,
    open_login,
    set_up,
)
from affectlab.study._errors import StudyError
from affectlab.study._store import Store
from affectlab.study.server._dashboard_access import Access, Before, Csrf, Token
from affectlab.study.server._dashboard_live import Live
from affectlab.study.server._dashboard_messages import Credentials, OwnPassword, SetUp

__all__ = ["LEAST_REASON", "login_routes"]

LEAST_REASON = 10
"""Fewest characters of a reason to reject; what platforms want besides is put around it later."""


def login_routes(store: Store, live: Live, access: Access) -> APIRouter:
    """Make the routes for those who are not logged in yet, or not any more."""
    routes = APIRouter()

    def told(login: Login, token: str) -> dict[str, Any]:
        return {
            "name": login.account.name,
            "role": login.account.role,
            "expires_at": login.expires_at,
            "csrf": access.csrf(token),
            "least_reason": LEAST_REASON,
        }

    async def logged_in(
        response: Response, name: str, password: str, before: str
    ) -> dict[str, Any]:
        # Always a new token: one that somebody else put into the browser opens nothing.
        token = await live.run(open_login, store, name, password, before=before)
        access.remember(response, token)
        access.know(response, name)
        login = await access.login(token)
        if login is None:
            raise StudyError(401, "not_logged_in", "Please log in.")
        return told(login, token)

    @routes.get("/login")
    async def prepare(response: Response, token: Token = "") -> dict[str, Any]:
        """Give the login page its token, and say whether it is needed at all."""
        return {
            "csrf": access.begin(response),
            "title": store.study.design.study.title,
            "logged_in": await access.login(token) is not None,
        }

    @routes.post("/login")
    async def log_in(
        message: Credentials,
        request: Request,
        response: Response,
        token: Token = "",
        before: Before = "",
        csrf: Csrf = "",
    ) -> dict[str, Any]:
        """Log in."""
        access.may_log_in(request, message.name, before, csrf)
        return await logged_in(response, message.name.lower(), message.password, token)

    @routes.post("/setup")
    async def make_first(
        message: SetUp, request: Request, response: Response, before: Before = "", csrf: Csrf = ""
    ) -> dict[str, Any]:
        """Make the first account, an owner, with the link that the server printed; log it in."""
        access.may_log_in(request, message.name, before, csrf)
        name = message.name.lower()
        await access.change(set_up, store, message.secret, name, message.password)
        return await logged_in(response, name, message.password, "")

    @routes.get("/me")
    async def me(token: Token = "") -> dict[str, Any]:
        """Say who is logged in."""
        return told(await access.may("viewer", token), token)

    @routes.post("/logout", status_code=204)
    async def log_out(token: Token = "", csrf: Csrf = "") -> Response:
        """Log out."""
        await access.may_change("viewer", token, csrf)
        await live.run(close_login, store, token)
        reply = Response(status_code=204)
        access.forget(reply)
        return reply

    @routes.post("/password", status_code=204)
    async def change_password(
        message: OwnPassword, request: Request, token: Token = "", csrf: Csrf = ""
    ) -> Response:
        """Change the own password; other logins of the account end."""
        login = await access.may_change("viewer", token, csrf)
        name = login.account.name
        access.may_try(request, name)
        await live.run(check_password, store, name, message.old)
        await access.change(set_password, store, name, message.new, by=name, keep=login.digest)
        return Response(status_code=204)

    return routes
