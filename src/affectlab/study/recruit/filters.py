"""The rules of a study as the filters of recruiting platforms."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from affectlab.core.errors import InputError, unknown_name
from affectlab.study.design import Design, Eligibility
from affectlab.study.recruit.places import COUNTRIES, LANGUAGES

__all__ = ["PlatformFilter", "platform_filters", "with_choices"]

Platform = Literal["prolific", "connect", "mturk"]

_MOST = 10_000
"""Upper end of Prolific's filter of approved submissions."""
_SELECTED = {"current-country-of-residence", "fluent-languages"}


@dataclass(frozen=True)
class PlatformFilter:
    """One rule, as one platform has it."""

    platform: Platform
    rule: str
    """The rule's name in the study file."""
    terms: str
    """What to choose on the platform's page, in words."""
    request: dict[str, Any] | None = None
    """The object for the platform's interface; None where there is none for this rule."""


def platform_filters(design: Design, platform: str | None = None) -> tuple[PlatformFilter, ...]:
    """Say how the eligibility rules of a study are set on a recruiting platform.

    Parameters
    ----------
    design
        The study; see :attr:`affectlab.study.design.Study.design`.
    platform
        ``prolific``, ``connect`` or ``mturk``. By default the study's own, or all three when it
        names none.

    Returns
    -------
    One filter per rule and platform. Prolific numbers its choices, and may number them anew, so
    countries and languages stand here by name; :func:`with_choices` puts in the numbers that
    Prolific gives now. MTurk takes no new customers since 30 July 2026; those it has go on, so that
    its qualifications are given for them, and by default only where a study names no platform.

    Raises
    ------
    InputError
        When the platform is not known.

    Examples
    --------
    >>> design = Design.model_validate({
    ...     "study": {"name": "faces", "title": "Faces"}, "protocol": {"name": "intensity"},
    ...     "stimuli": {"faces": 4}, "recruitment": {"platform": "prolific"},
    ...     "eligibility": {"approval_rate": 0.98, "approved": 50, "countries": ["US", "UK"]}})
    >>> for one in platform_filters(design):
    ...     print(one.request)
    {'filter_id': 'approval_rate', 'selected_range': {'lower': 98, 'upper': 100}}
    {'filter_id': 'approval_numbers', 'selected_range': {'lower': 50, 'upper': 10000}}
    {'filter_id': 'current-country-of-residence',
     'selected_values': ['United States', 'United Kingdom']}
    """
    known = get_args(Platform)
    if platform is not None and platform not in known:
        raise unknown_name("platform", platform, known)
    own = design.recruitment.platform
    wanted = (platform,) if platform else (own,) if own != "none" else known
    return tuple(one for name in wanted for one in _MAPS[name](design.eligibility))


def with_choices(
    filters: Iterable[PlatformFilter], catalogue: Iterable[Mapping[str, Any]]
) -> tuple[PlatformFilter, ...]:
    """Put in the numbers of Prolific's choices in place of their names.

    Parameters
    ----------
    filters
        Filters of :func:`platform_filters`; those of other platforms are given back as they are.
    catalogue
        What Prolific lists: objects with ``filter_id`` and ``choices``.

    Raises
    ------
    InputError
        When Prolific has no such filter or choice.
    """
    choices = {str(one.get("filter_id")): one.get("choices") or {} for one in catalogue}
    found = []
    for one in filters:
        request = one.request
        if one.platform != "prolific" or request is None:
            found.append(one)
            continue
        name = request["filter_id"]
        if name not in choices:
            raise InputError(
                f"eligibility.{one.rule}: Prolific has no filter {name!r} now; set it on its page"
            )
        if name in _SELECTED:
            numbers = {str(text).casefold(): str(key) for key, text in choices[name].items()}
            missing = [x for x in request["selected_values"] if x.casefold() not in numbers]
            if missing:
                raise InputError(
                    f"eligibility.{one.rule}: Prolific offers no choice {missing[0]!r} for {name!r}"
                )
            picked = [numbers[x.casefold()] for x in request["selected_values"]]
            request = {**request, "selected_values": picked}
        found.append(replace(one, request=request))
    return tuple(found)


def _prolific(rules: Eligibility) -> list[PlatformFilter]:
    def one(rule: str, terms: str, request: dict[str, Any] | None) -> PlatformFilter:
        return PlatformFilter("prolific", rule, terms, request)

    found = []
    if rules.approval_rate is not None:
        least = _percent(rules.approval_rate)
        span = {"lower": least, "upper": 100}
        request: dict[str, Any] = {"filter_id": "approval_rate", "selected_range": span}
        found.append(one("approval_rate", f"Approval rate: {least} to 100", request))
    if rules.approved is not None:
        least = rules.approved
        span = {"lower": least, "upper": max(_MOST, least)}
        request = {"filter_id": "approval_numbers", "selected_range": span}
        found.append(one("approved", f"Number of approvals: {least:,} or more", request))
    for rule, filter_id, title, table in (
        ("countries", "current-country-of-residence", "Current country of residence", COUNTRIES),
        ("languages", "fluent-languages", "Fluent languages", LANGUAGES),
    ):
        codes = getattr(rules, rule)
        if not codes:
            continue
        names = [table.get(code, code) for code in codes]
        terms = f"{title}: {', '.join(names)}"
        known = all(code in table for code in codes)
        request = {"filter_id": filter_id, "selected_values": names}
        found.append(one(rule, terms, request if known else None))
    if rules.degree_verified:
        terms = "Verified degree: a group of participants that Prolific has verified (allow list)"
        found.append(one("degree_verified", terms, None))
    return found


def _connect(rules: Eligibility) -> list[PlatformFilter]:
    said = {
        "approval_rate": None
        if rules.approval_rate is None
        else f"Reputation: approval rating of {_percent(rules.approval_rate)} % or more",
        "approved": None
        if rules.approved is None
        else f"Reputation: {rules.approved:,} or more approved projects",
        "countries": f"Country: {_names(rules.countries, COUNTRIES)}" if rules.countries else None,
        "languages": f"Languages spoken: {_names(rules.languages, LANGUAGES)}"
        if rules.languages
        else None,
        "degree_verified": "Verified degree: a group of participants of your own"
        if rules.degree_verified
        else None,
    }
    # Connect has no public interface for projects: its page is where this is set.
    return [PlatformFilter("connect", rule, terms) for rule, terms in said.items() if terms]


def _mturk(rules: Eligibility) -> list[PlatformFilter]:
    found = []
    for rule, kind, value, terms in (
        (
            "approval_rate",
            "000000000000000000L0",
            None if rules.approval_rate is None else _percent(rules.approval_rate),
            "HIT approval rate of {} % or more",
        ),
        ("approved", "00000000000000000040", rules.approved, "{} or more approved HITs"),
    ):
        if value is not None:
            request: dict[str, Any] = {
                "QualificationTypeId": kind,
                "Comparator": "GreaterThanOrEqualTo",
                "IntegerValues": [value],
            }
            found.append(PlatformFilter("mturk", rule, terms.format(value), request))
    if rules.countries:
        request = {
            "QualificationTypeId": "00000000000000000071",
            "Comparator": "In",
            "LocaleValues": [{"Country": code} for code in rules.countries],
        }
        terms = f"Location: {_names(rules.countries, COUNTRIES)}"
        found.append(PlatformFilter("mturk", "countries", terms, request))
    for rule, wanted in (
        ("languages", _names(rules.languages, LANGUAGES)),
        ("degree_verified", "verified degree" if rules.degree_verified else ""),
    ):
        if wanted:
            terms = f"A qualification of your own: {wanted}"
            found.append(PlatformFilter("mturk", rule, terms))
    return found


def _percent(share: float) -> int:
    """Whole per cent; rounded up, so that nobody below the rule is let in."""
    return math.ceil(round(share * 100, 6))


def _names(codes: tuple[str, ...], table: dict[str, str]) -> str:
    return ", ".join(table.get(code, code) for code in codes)


_MAPS = {"prolific": _prolific, "connect": _connect, "mturk": _mturk}
