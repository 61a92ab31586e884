"""A table of what to pay, for platforms that are paid on their own pages."""

from __future__ import annotations

from collections.abc import Iterable

from affectlab._types import pl
from affectlab.study._store import Store
from affectlab.study.recruit._decisions import decisions
from affectlab.study.recruit._payments import BonusLine

__all__ = ["payments_table"]


def payments_table(store: Store, bonuses: Iterable[BonusLine] = ()) -> pl.DataFrame:
    """List the completed sessions of a platform, with what was decided and their bonuses.

    The table holds the platform's names of people: it is for paying, and never to be published.

    Returns
    -------
    ``session``, ``participant``, ``submission``, ``decision`` (``approve``, ``reject``,
    ``undecided``), ``message`` and ``category`` of a rejection, ``bonus`` and ``bonus_reasons``.
    """
    import polars as pl

    owed: dict[int, list[tuple[float, str]]] = {}
    for session, amount, reason in bonuses:
        owed.setdefault(session, []).append((amount, reason))
    rows = [
        {
            "session": one.session,
            "participant": one.participant,
            "submission": one.submission,
            "decision": one.action,
            "message": one.message,
            "category": one.category,
            "bonus": round(sum(amount for amount, _ in owed.get(one.session, [])), 2),
            "bonus_reasons": "; ".join(reason for _, reason in owed.get(one.session, [])),
        }
        for one in decisions(store)
    ]
    text = dict.fromkeys(
        ("participant", "submission", "decision", "message", "category"), pl.String
    )
    schema = {"session": pl.Int64, **text, "bonus": pl.Float64, "bonus_reasons": pl.String}
    return pl.DataFrame(rows, schema=schema)
