"""What the dashboard lets people do. All of it is logged, with who did it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Request, Response
from pydantic import Field

from affectlab.study.errors import StudyError, conflict, forbidden, invalid
from affectlab.study.people import (
    Login,
    add_account,
    check_password,
    close_login,
    open_login,
    remove_account,
    set_password,
    set_role,
    set_up,
)
from affectlab.study.server.dashboard.access import Access, Before, Csrf, Token
from affectlab.study.server.dashboard.live import Live
from affectlab.study.server.messages import Message
from affectlab.study.store import Store
from affectlab.study.verdicts import accept_session, reject_session
from affectlab.study.watch import session_state

__all__ = [
    "LEAST_REASON",
    "AccountRole",
    "Credentials",
    "NewAccount",
    "NewPassword",
    "OwnPassword",
    "SetUp",
    "Status",
    "Verdict",
    "action_routes",
    "login_routes",
]

# What the dashboard sends.


Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9._@+-]{1,60}$")]
Password = Annotated[str, Field(max_length=200)]
RoleName = Literal["viewer", "researcher", "owner"]


class Credentials(Message):
    """Log in."""

    name: Name
    password: Password


class SetUp(Message):
    """Make the first account, with the secret of the link that the server printed."""

    secret: str = Field(max_length=100, pattern=r"^[A-Za-z0-9_-]+$")
    name: Name
    password: Password


class OwnPassword(Message):
    """Change the own password."""

    old: Password
    new: Password


class NewAccount(Message):
    """Add an account."""

    name: Name
    role: RoleName
    password: Password


class AccountRole(Message):
    """Give an account another role."""

    role: RoleName


class NewPassword(Message):
    """Give somebody else's account another password."""

    password: Password


class Status(Message):
    """Open, pause or close the study."""

    status: Literal["open", "paused", "closed"]


class Verdict(Message):
    """Decide on a session."""

    verdict: Literal["accepted", "rejected"]
    # No control characters but line breaks: databases refuse some, and nobody can read them.
    reason: str = Field(default="", max_length=2000, pattern=r"^[^\x00-\x09\x0b-\x1f\x7f]*$")
    seen: str = Field(default="", max_length=20, pattern=r"^[a-z_]*$")
    """The verdict that the page showed; where it is another one by now, nothing is changed."""
    pay: bool | None = None
    """Whether work that is rejected is paid all the same; None leaves it at what was said."""


# Logging in and out of the dashboard, and the first account.


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


SessionId = Annotated[int, Path(ge=1, le=2**31 - 1)]
AccountName = Annotated[str, Path(pattern=r"^[A-Za-z0-9._@+-]{1,60}$")]


def action_routes(store: Store, live: Live, access: Access) -> APIRouter:
    """Make the routes that change something."""
    routes = APIRouter()

    def decide(session: int, message: Verdict, by: str) -> int:
        stage, _, n = session_state(store, session)
        if stage not in ("complete", "ended"):
            raise conflict("This session is still under way; decide when it is finished.")
        if stage == "ended" and not n:
            raise conflict("Nothing was answered in this session; there is nothing to decide.")
        reason = message.reason.strip()
        if message.verdict == "accepted":
            return accept_session(store, session, reason, by=by, expected=message.seen, pay=True)
        if len(reason) < LEAST_REASON:
            raise invalid(
                f"reason: expected at least {LEAST_REASON} characters; the person may read it."
            )
        return reject_session(store, session, reason, by=by, expected=message.seen, pay=message.pay)

    def set_status(status: str, by: str, *, owner: bool) -> None:
        if not owner and "closed" in (status, store.status):
            raise forbidden("Only an owner closes a study, or opens one that is closed.")
        if store.status != status:
            store.set_status(status, by=by)

    @routes.post("/sessions/{session}/verdict")
    async def verdict(
        session: SessionId, message: Verdict, token: Token = "", csrf: Csrf = ""
    ) -> dict[str, Any]:
        """Accept or reject a session; what was rejected is asked again."""
        login = await access.may_change("researcher", token, csrf)
        n = await live.run(decide, session, message, login.account.name)
        await live.look(fresh=True)
        return {"session": session, "verdict": message.verdict, "answers": n}

    @routes.post("/status")
    async def status(message: Status, token: Token = "", csrf: Csrf = "") -> dict[str, str]:
        """Open, pause or close the study."""
        login = await access.may_change("researcher", token, csrf)
        owner = login.account.may("owner")
        await live.run(set_status, message.status, login.account.name, owner=owner)
        await live.look(fresh=True)
        return {"status": message.status}

    @routes.post("/accounts", status_code=201)
    async def add(message: NewAccount, token: Token = "", csrf: Csrf = "") -> dict[str, str]:
        """Add an account."""
        login = await access.may_change("owner", token, csrf)
        name, by = message.name.lower(), login.account.name
        await access.change(add_account, store, name, message.password, message.role, by=by)
        return {"name": name, "role": message.role}

    @routes.post("/accounts/{name}/role")
    async def role(
        name: AccountName, message: AccountRole, token: Token = "", csrf: Csrf = ""
    ) -> dict[str, str]:
        """Give an account another role."""
        login = await access.may_change("owner", token, csrf)
        await access.change(set_role, store, name, message.role, by=login.account.name)
        return {"name": name, "role": message.role}

    @routes.post("/accounts/{name}/password", status_code=204)
    async def password(
        name: AccountName, message: NewPassword, token: Token = "", csrf: Csrf = ""
    ) -> Response:
        """Give somebody else's account another password; its logins end."""
        login = await access.may_change("owner", token, csrf)
        if name == login.account.name:
            raise conflict("Change your own password with the present one.")
        await access.change(set_password, store, name, message.password, by=login.account.name)
        return Response(status_code=204)

    @routes.post("/accounts/{name}/remove", status_code=204)
    async def remove(name: AccountName, token: Token = "", csrf: Csrf = "") -> Response:
        """Remove an account; its logins end."""
        login = await access.may_change("owner", token, csrf)
        await access.change(remove_account, store, name, by=login.account.name)
        return Response(status_code=204)

    return routes
