"""Who may do what on the dashboard: logins, roles, tokens of pages, and limits."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from fastapi import Cookie, Header, Request, Response

from affectlab.core.errors import InputError
from affectlab.study.errors import StudyError, forbidden, invalid
from affectlab.study.people import LOGIN_HOURS, Login, Role, find_login
from affectlab.study.server.dashboard.live import Live
from affectlab.study.server.limits import Limiter, address_of
from affectlab.study.server.settings import Settings
from affectlab.study.store import Store

__all__ = ["Access", "Before", "Csrf", "Token"]

_COOKIE = "affectlab_dashboard"
_BEFORE = "affectlab_dashboard_before"
"""Cookie of a browser that is about to log in, to which the token of the login page belongs."""
_KNOWN = "affectlab_dashboard_known"
"""Cookie of a browser in which an account was logged in before; it opens nothing."""
_KNOWN_SECONDS = 180 * 86400
_PATH = "/dashboard"

Token = Annotated[str, Cookie(alias=_COOKIE, max_length=100)]
Before = Annotated[str, Cookie(alias=_BEFORE, max_length=100)]
Csrf = Annotated[str, Header(alias="X-CSRF", max_length=100)]

T = TypeVar("T")


class Access:
    """Lets requests of the dashboard through, or refuses them.

    Parameters
    ----------
    store
        The open study.
    live
        Runs what waits for the database.
    settings
        How the server is run.
    """

    def __init__(self, store: Store, live: Live, settings: Settings) -> None:
        self._store, self._live, self._settings = store, live, settings
        rate = settings.requests_per_second
        self._requests = Limiter(rate, max(1, int(4 * rate)))
        # Guessing a password is slow from any place and, from all places together, for any name.
        # A browser in which the account was logged in before is counted by itself: strangers can
        # use up what all strangers have, and never lock the account's owner out.
        self._by_address = Limiter(20 / 60, 20)
        self._by_both = Limiter(6 / 60, 6)
        self._by_name = Limiter(30 / 60, 30)
        self._by_browser = Limiter(6 / 60, 6)

    async def login(self, token: str) -> Login | None:
        """Give the login of a browser; None where it has none."""
        return await self._live.run(find_login, self._store, token)

    async def may(self, role: Role, token: str) -> Login:
        """Let somebody who has a role look at something.

        Raises
        ------
        StudyError
            When nobody is logged in, the role does not suffice, or too much is asked for.
        """
        login = await self.login(token)
        if login is None:
            raise StudyError(401, "not_logged_in", "Please log in.")
        if not self._requests.allows(login.digest):
            raise StudyError(429, "too_many", "Too many requests; please wait a moment.")
        if not login.account.may(role):
            raise forbidden(f"This needs the role {role}; yours is {login.account.role}.")
        return login

    async def may_change(self, role: Role, token: str, csrf: str) -> Login:
        """Let somebody who has a role change something, from a page of ours alone."""
        login = await self.may(role, token)
        _same(self.csrf(token), csrf)
        return login

    def may_log_in(self, request: Request, name: str, before: str, csrf: str) -> None:
        """Let a page of ours try a password, not too often."""
        _same(self.csrf_before(before), csrf)
        self.may_try(request, name)

    def may_try(self, request: Request, name: str) -> None:
        """Refuse to try too many passwords."""
        address = address_of(request, self._settings)
        name = name.lower()
        browser, _, proof = request.cookies.get(_KNOWN, "").partition(".")
        if proof and hmac.compare_digest(self._known(name, browser).encode(), proof.encode()):
            if self._by_browser.allows(f"{browser} {name}"):
                return
            raise StudyError(429, "too_many", "Too many attempts; please wait a minute.")
        allowed = (
            self._by_address.allows(address),
            self._by_both.allows(f"{address} {name}"),
            self._by_name.allows(name),
        )
        if not all(allowed):
            raise StudyError(429, "too_many", "Too many attempts; please wait a minute.")

    def csrf(self, token: str) -> str:
        """Give the token that pages of a login must send."""
        return self._store.digest("dashboard-csrf", token)

    def csrf_before(self, before: str) -> str:
        """Give the token that the login page must send."""
        return self._store.digest("dashboard-before", before) if before else ""

    def begin(self, response: Response) -> str:
        """Prepare a browser for logging in; give the token of its page."""
        before = secrets.token_urlsafe(24)
        self._set(response, _BEFORE, before, 3600)
        return self.csrf_before(before)

    def remember(self, response: Response, token: str) -> None:
        """Give a browser the cookie of its login."""
        self._set(response, _COOKIE, token, LOGIN_HOURS * 3600)
        response.delete_cookie(_BEFORE, path=_PATH)

    def know(self, response: Response, name: str) -> None:
        """Remember that an account was logged in here, beyond the end of its login."""
        browser = secrets.token_urlsafe(12)
        self._set(response, _KNOWN, f"{browser}.{self._known(name, browser)}", _KNOWN_SECONDS)

    def forget(self, response: Response) -> None:
        """Take the cookie of a login back."""
        response.delete_cookie(_COOKIE, path=_PATH)

    async def change(self, task: Callable[..., T], *given: Any, **named: Any) -> T:
        """Run something that may find its input wrong, and say so to the page."""
        try:
            return await self._live.run(task, *given, **named)
        except InputError as error:
            raise invalid(f"{error}.") from None

    def _known(self, name: str, browser: str) -> str:
        return self._store.digest("dashboard-known", f"{name} {browser}")

    def _set(self, response: Response, name: str, value: str, seconds: int) -> None:
        response.set_cookie(
            name,
            value,
            max_age=seconds,
            path=_PATH,
            httponly=True,
            samesite="strict",
            secure=self._settings.https,
        )


def _same(expected: str, given: str) -> None:
    if not expected or not hmac.compare_digest(expected.encode(), given.encode()):
        raise forbidden("This request does not come from a page of the dashboard; load it again.")
