"""What the dashboard lets people see."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Path, Query
from fastapi.responses import FileResponse, StreamingResponse

from affectlab.core.files.media import WEB_IMAGES
from affectlab.study.people import list_accounts
from affectlab.study.server.dashboard.access import Access, Token
from affectlab.study.server.dashboard.live import Live
from affectlab.study.server.dashboard.stream import Streams
from affectlab.study.store import Store
from affectlab.study.watch import audit, person, picture, queue, stimulus_coverage

__all__ = ["view_routes"]

Offset = Annotated[int, Query(ge=0, le=1_000_000)]
Limit = Annotated[int, Query(ge=1, le=200)]
LastEvent = Annotated[str, Header(alias="Last-Event-ID", max_length=60)]
Pseudonym = Annotated[str, Path(max_length=40)]
Number = Annotated[int, Path(ge=0, le=2**31 - 1)]


def view_routes(store: Store, live: Live, access: Access) -> APIRouter:
    """Make the routes that change nothing."""
    routes = APIRouter()
    streams = Streams(live, access)

    @routes.get("/overview")
    async def overview(token: Token = "") -> dict[str, Any]:
        """Say how the study goes."""
        await access.may("viewer", token)
        shown = await live.look()
        return {
            "overview": shown.overview,
            "statistics": shown.statistics,
            "problem": shown.problem,
        }

    @routes.get("/stream", include_in_schema=False)
    async def stream(token: Token = "", last: LastEvent = "") -> StreamingResponse:
        """Say how the study goes, whenever that changes (server-sent events)."""
        login = await access.may("viewer", token)
        return streams.reply(login, token, last)

    @routes.get("/stimuli")
    async def stimuli(token: Token = "", offset: Offset = 0, limit: Limit = 50) -> dict[str, Any]:
        """List stimuli, those with the least done first."""
        await access.may("viewer", token)
        total, rows = await live.run(stimulus_coverage, store, offset, limit)
        return {"total": total, "rows": rows}

    @routes.get("/sessions")
    async def sessions(
        which: Literal["waiting", "decided", "under_way"] = "waiting",
        token: Token = "",
        offset: Offset = 0,
        limit: Limit = 50,
    ) -> dict[str, Any]:
        """List sessions that wait for a decision, that have one, or that are not finished."""
        await access.may("viewer", token)
        total, rows = await live.run(queue, store, which, offset, limit)
        return {"total": total, "rows": rows}

    @routes.get("/people/{pseudonym}")
    async def one_person(pseudonym: Pseudonym, token: Token = "") -> dict[str, Any]:
        """Tell what one person did."""
        await access.may("viewer", token)
        return await live.run(person, store, pseudonym)

    @routes.get("/pictures/{stimulus}/{place}")
    async def one_picture(stimulus: Number, place: Number, token: Token = "") -> FileResponse:
        """Give a picture of a stimulus."""
        await access.may("viewer", token)
        path = await live.run(picture, store, stimulus, place)
        return FileResponse(path, media_type=WEB_IMAGES[path.suffix.lower()])

    @routes.get("/audit")
    async def log(token: Token = "", offset: Offset = 0, limit: Limit = 50) -> dict[str, Any]:
        """List who did what, the latest first."""
        await access.may("researcher", token)
        total, rows = await live.run(audit, store, offset, limit)
        return {"total": total, "rows": rows}

    @routes.get("/accounts")
    async def accounts(token: Token = "") -> dict[str, Any]:
        """List accounts."""
        await access.may("owner", token)
        found = await live.run(list_accounts, store)
        rows = [{"name": a.name, "role": a.role, "created_at": a.created_at} for a in found]
        return {"total": len(rows), "rows": rows}

    return routes
