"""What a researcher should know of a study's checks before it begins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from affectlab._words import plural
from affectlab.study._design import Study
from affectlab.study._live_policy import live_policy
from affectlab.study._sequences import block_of
from affectlab.study._stimulus import Stimulus

__all__ = ["alike", "cautions", "missing_checks"]


def cautions(study: Study) -> list[str]:
    """Say what will not work as the file seems to want it, in sentences."""
    protocol, design = study.protocol, study.design
    found = []
    block = block_of(protocol)
    if block > design.sessions.trials and design.sessions.batch is None:
        found.append(
            f"a sequence takes {block} comparisons, so a session has {block} trials, which is more "
            f"than sessions.trials = {design.sessions.trials}"
        )
    policy = live_policy(study)
    if design.policy and (policy is None or policy.name.startswith("checks of protocol ")):
        scale = protocol.scale
        found.append(
            f"policy {design.policy!r} judges nothing while the study runs: "
            + (
                f"its rules need numbers, and the scale is {scale}"
                if scale.kind in ("nominal", "text")
                else "it compares raters with each other; until the report, "
                + ("nothing is rejected" if policy is None else "the protocol's checks decide")
            )
        )
    if protocol.checks.min_movement and not protocol.input.log_movement:
        found.append("checks.min_movement needs input.log_movement, which is off")
    for key in ("golden", "repeat"):
        wanted = getattr(protocol.checks, "reject_golden" if key == "golden" else "reject_repeats")
        if wanted is not None and getattr(protocol.checks, f"{key}_tolerance") is None:
            found.append(
                f"checks.reject_{key}{'s' if key == 'repeat' else ''} needs "
                f"checks.{key}_tolerance, which is not set"
            )
    if protocol.checks.bonus is not None and not design.recruitment.bonus:
        found.append("the protocol promises a bonus; set recruitment.bonus, or other instructions")
    return found


def alike(stimuli: Iterable[Stimulus]) -> list[str]:
    """Say which stimuli compare two options that look the same."""
    same = [one.name for one in stimuli if one.options and len({x.shown for x in one.options}) < 2]
    if not same:
        return []
    shown = ", ".join(same[:3]) + (", …" if len(same) > 3 else "")
    return [f"{plural(len(same), 'stimulus', 'stimuli')} with two equal options: {shown}"]


def missing_checks(study: Study, stimuli: Iterable[Stimulus]) -> list[str]:
    """Say which checks have fewer stimuli than the protocol wants of them."""
    counts = Counter(one.kind for one in stimuli)
    checks = study.protocol.checks
    # Without a number of golden trials, its limits say how many it needs at least.
    golden = checks.reject_golden or 0 if checks.golden is None else checks.golden
    found = []
    for kind, wanted in (("training", checks.training), ("golden", golden)):
        if counts[kind] < wanted:
            key = "stimuli.training and stimuli.golden" if kind == "training" else "stimuli.golden"
            found.append(
                f"the protocol wants {wanted} {kind} trials, and there are {counts[kind]} {kind} "
                f"stimuli; name them in {key}"
            )
    return found
