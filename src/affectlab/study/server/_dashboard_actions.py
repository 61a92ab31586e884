"""What the dashboard lets people do. All of it is logged, with who did it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Response

from affectlab.study._accounts import add_account, remove_account, set_password, set_role
from affectlab.study._errors import conflict, forbidden, invalid
from affectlab.study._overview_people import session_state
from affectlab.study._review import accept_session, reject_session
from affectlab.study._store import Store
from affectlab.study.server._dashboard_access import Access, Csrf, Token
from affectlab.study.server._dashboard_live import Live
from affectlab.study.server._dashboard_login import LEAST_REASON
from affectlab.study.server._dashboard_messages import (
    AccountRole,
    NewAccount,
    NewPassword,
    Status,
    Verdict,
)

__all__ = ["action_routes"]

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
