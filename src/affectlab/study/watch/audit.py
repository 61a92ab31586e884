"""Who did what to a study: the part of the events that people other than participants made."""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import func, select

from affectlab.study.store import Store
from affectlab.study.tables import events

__all__ = ["AUDITED", "audit"]

AUDITED = (
    "study_begun",
    "study_changed",
    "study_status",
    "invited",
    "erased",
    "accepted",
    "rejected",
    "pay_decided",
    "payment",
    "pilot_begun",
    "golden_adopted",
    "setup_made",
    "account_added",
    "account_removed",
    "account_role",
    "account_password",
    "dashboard_login",
    "dashboard_login_failed",
    "dashboard_logout",
    "refused",
)

_TOLD = (
    "by",
    "account",
    "role",
    "before",
    "status",
    "reason",
    "pay",
    "action",
    "state",
    "n",
    "code",
    "path",
    "unlogged",
)


def audit(store: Store, offset: int = 0, limit: int = 50) -> tuple[int, list[dict[str, Any]]]:
    """Give what was done: how much there is, and some of it, the latest first.

    The events behind it are never changed or deleted; the database itself refuses that.
    """
    chosen = events.c.kind.in_(AUDITED)
    with store.database.read() as connection:
        total = int(connection.execute(select(func.count()).where(chosen)).scalar_one())
        rows = connection.execute(
            select(events).where(chosen).order_by(events.c.id.desc()).offset(offset).limit(limit)
        ).mappings()
        return total, [
            {
                "id": row["id"],
                "at": row["at"],
                "kind": row["kind"],
                "session": row["session_id"],
                "told": _told(json.loads(row["body"])),
            }
            for row in rows
        ]


def _told(body: dict[str, Any]) -> dict[str, Any]:
    """Keep what pages show: not whole study files, nor what a platform said about somebody."""
    return {name: body[name] for name in _TOLD if name in body}
