"""Checking at entry what is told of a visitor against the rules of the study."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from affectlab.study.design import Eligibility, Recruitment

__all__ = [
    "RULES",
    "Check",
    "Visitor",
    "check_eligibility",
    "passes",
    "verify",
]

RULES = ("approval_rate", "approved", "countries", "languages", "degree_verified")
"""The rules, under the names that the study file and the address of the page give them."""

Source = Literal["address", "platform", "filter", "nobody"]


@dataclass(frozen=True)
class Check:
    """One rule, held against what is told of one visitor."""

    rule: str
    wanted: Any
    told: Any
    """None when nothing was told."""
    by: Source
    """Who told: the ``address`` of the page (which a visitor can change), the ``platform`` itself,
    the ``filter`` of the platform, which lets only fitting people in and says nothing of them, or
    ``nobody``."""
    passed: bool | None
    """None when nothing was told."""

    def as_dict(self) -> dict[str, Any]:
        """Give the check as it is stored with the participant."""
        return asdict(self)


def check_eligibility(
    rules: Eligibility,
    told: Mapping[str, str],
    *,
    platform: str = "none",
    by: Source = "address",
) -> tuple[Check, ...]:
    """Hold every rule of a study against what is told of a visitor.

    Parameters
    ----------
    rules
        What the study file wants; rules that it does not set are left out.
    told
        Texts by the names of the rules. ``approval_rate`` from 0 to 1, or in percent where above 1;
        several ``languages`` parted by commas.
    platform
        Name of the recruiting platform, whose filters stand for what is not told.
    by
        Who told it.

    Returns
    -------
    One check per rule that is set. What is told and cannot be read does not pass.

    Examples
    --------
    >>> rules = Eligibility(approval_rate=0.98, approved=50, countries=("US", "GB"))
    >>> told = {"approval_rate": "99", "countries": "DE"}
    >>> found = check_eligibility(rules, told, platform="prolific")
    >>> [(one.rule, one.by, one.passed) for one in found]
    [('approval_rate', 'address', True), ('approved', 'filter', None),
     ('countries', 'address', False)]
    """
    found = []
    for rule in RULES:
        wanted = getattr(rules, rule)
        if wanted is None or wanted is False or wanted == ():
            continue
        text = told.get(rule)
        if text is None:
            silent: Source = "nobody" if platform == "none" else "filter"
            found.append(Check(rule, _plain(wanted), None, silent, None))
            continue
        value = _TOLD[rule](text)
        found.append(Check(rule, _plain(wanted), value, by, _fits(rule, wanted, value)))
    return tuple(found)


def passes(checks: tuple[Check, ...]) -> bool:
    """Say whether nothing that was told speaks against the visitor."""
    return all(one.passed is not False for one in checks)


def _plain(wanted: Any) -> Any:
    return list(wanted) if isinstance(wanted, tuple) else wanted


def _fits(rule: str, wanted: Any, value: Any) -> bool:
    if value is None:
        return False
    if rule in ("approval_rate", "approved"):
        return bool(value >= wanted)
    if rule == "degree_verified":
        return bool(value)
    return bool(set(value) & set(wanted))


def _number(text: str) -> float | None:
    try:
        value = float(text.strip().removesuffix("%"))
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _rate(text: str) -> float | None:
    value = _number(text)
    if value is None:
        return None
    # 1 is everything; nobody filters for one per cent.
    share = value / 100 if value > 1 or text.strip().endswith("%") else value
    return share if share <= 1 else None


def _codes(text: str, *, upper: bool) -> list[str]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    parts = [part.upper() if upper else part.lower() for part in parts]
    return ["GB" if upper and part == "UK" else part for part in parts]


_TOLD: dict[str, Callable[[str], Any]] = {
    "approval_rate": _rate,
    "approved": _number,
    "countries": lambda text: _codes(text, upper=True),
    "languages": lambda text: _codes(text, upper=False),
    "degree_verified": lambda text: text.strip().lower() in ("1", "true", "yes"),
}

# Asking Prolific at entry whether a visitor is who the address says.


_SECONDS = 5.0
"""How long a visitor waits at most for Prolific's word."""


def verify(
    recruitment: Recruitment, visitor: Visitor
) -> Literal["", "yes", "no", "not known", "not reached"]:
    """Ask Prolific about a visitor, where the study wants that.

    Anyone can write an address with names in it; Prolific knows whether this person has this
    submission open.

    Returns
    -------
    ``""`` when nobody was asked; ``yes`` when the submission is this person's and of this study;
    ``no`` when it is not. When Prolific cannot be reached, ``not reached``: the visitor is let in,
    since that is not the visitor's fault, and what is stored says so.
    """
    if not recruitment.verify or recruitment.platform != "prolific" or visitor.source == "link":
        return ""
    from affectlab.study.recruit.prolific import ProlificClient, ProlificError

    submission = visitor.external_session
    if not submission or not submission.isalnum():
        return "no"
    with ProlificClient.from_environment(timeout=_SECONDS, attempts=1) as client:
        try:
            found = client.submission(submission)
        except ProlificError as error:
            return "no" if error.status == 404 else "not reached"
    same = found.participant == visitor.external_id
    of_study = not recruitment.study_id or found.study == recruitment.study_id
    return "yes" if same and of_study else "no"


@dataclass(frozen=True)
class Visitor:
    """Someone who opens the address of a study, and what the address says of them."""

    source: str = "open"
    """``open``, ``link``, ``prolific`` or ``connect``."""
    external_id: str | None = None
    """The platform's name for the person."""
    external_session: str | None = None
    """The platform's name for this piece of work."""
    invitation: str | None = None
    """Secret of a personal link."""
    code: str = ""
    """Word of an open link."""
    language: str = ""
    told: Mapping[str, str] = field(default_factory=dict)
    """What is told of the person, by the names of the eligibility rules."""
    study_id: str | None = None
    """The platform's name for the study from which the visitor comes."""
    verified: str = ""
    """What the platform said when it was asked about the visitor; empty when it was not asked."""
    token: str = ""
    """Secret of the session that this browser was given before, by which an open link knows it."""
    batch: str = "main"
    """``pilot`` for those who come while the server runs the pilot."""
