"""The policy that judges sessions while a study runs: the study's own, or its protocol's checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from affectlab.protocols import Protocol
from affectlab.study.design.study_file import Study

if TYPE_CHECKING:
    from affectlab.reliability.screening import Policy

__all__ = ["live_policy", "policy_of_checks"]

_OF_ONE_SESSION = frozenset(
    (
        "spread",
        "run",
        "movement",
        "speed",
        "session_number",
        "seen_before",
        "golden",
        "repeats",
        "together",
    )
)
"""Checks that need no other person's answers, so that they can decide while a study runs."""


def live_policy(study: Study) -> Policy | None:
    """Give the policy that judges sessions while the study runs; None when nothing does.

    Raises
    ------
    InputError
        When the study names a policy that is not there, or cannot be read.
    """
    if study.protocol.scale.kind in ("nominal", "text"):
        # The rules measure distances, of which there are none.
        return None
    if study.design.policy:
        from affectlab.reliability import load_policy

        policy = load_policy(study.policy_place)
        if policy.per == "session" and all(rule.check in _OF_ONE_SESSION for rule in policy.rules):
            return policy
    return policy_of_checks(study.protocol)


def policy_of_checks(protocol: Protocol) -> Policy | None:
    """Give the limits of a protocol's checks as a policy; None when there are none.

    They decide about use alone: what a protocol says of quality takes nobody's pay.
    """
    checks = protocol.checks
    rules: list[dict[str, Any]] = []
    for name, check, below in (
        ("equal ratings", "spread", checks.min_spread),
        ("still slider", "movement", checks.min_movement),
    ):
        if below:
            rules.append({"name": name, "check": check, "below": below, "units": "points"})
    counted = []
    for name, check, tolerance, at_least, of in (
        ("golden trials", "golden", checks.golden_tolerance, checks.reject_golden, checks.golden),
        ("repeats", "repeats", checks.repeat_tolerance, checks.reject_repeats, checks.repeats),
    ):
        if tolerance is None or not of:
            continue
        limits = {"tolerance": tolerance, "units": "points", "of": of}
        # Without a limit of its own a rule still counts for both together.
        rules.append({"name": name, "check": check, "at_least": at_least or of, **limits})
        counted.append((name, at_least is not None))
    decides = {name for name, own in counted if own} | {"equal ratings", "still slider"}
    both = "golden trials and repeats"
    if checks.reject_total is not None and len(counted) == 2:
        total = (checks.golden or 0) + checks.repeats
        rules.append(
            {
                "name": both,
                "check": "together",
                "rules": [name for name, _ in counted],
                "at_least": checks.reject_total,
                "of": total,
            }
        )
        decides.add(both)
    use = [rule["name"] for rule in rules if rule["name"] in decides]
    if not use:
        return None
    from affectlab.reliability.screening import Policy

    return Policy.model_validate(
        {
            "name": f"checks of protocol {protocol.name}",
            "per": "session",
            "rules": rules,
            "use": {"rules": use},
        }
    )
