"""A preference study in plain sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from affectlab._words import count, number, percent, plural
from affectlab.estimates import Estimate, Estimates
from affectlab.evaluation._preferences_tally import Rule, no_verdict

__all__ = ["p_value", "sentences"]

_Row: TypeAlias = Mapping[str, Any]
_Rows: TypeAlias = Mapping[tuple[str, str], _Row]


def sentences(
    table: Estimates,
    choices: tuple[str, ...],
    rule: Rule,
    agreement: Estimate | None,
    confidence: float,
) -> tuple[str, ...]:
    """Say who is preferred, on how many items, how far judges agree, and whether a side was."""
    rows = {(row["about"], row["choice"]): row for row in table.frame.to_dicts()}
    said = [_preferred(rows, choices[0], choices[1], confidence)]
    neither = [
        f"{choice} {count(rows['votes', choice]['count'])}"
        for choice in choices[2:]
        if rows["votes", choice]["count"]
    ]
    if neither:
        total = count(rows["votes", choices[0]]["of"])
        said.append(f"Votes for neither side, of all {total}: {', '.join(neither)}.")
    if ("items", "tied") in rows:
        said += [_about_items(rows, choices[0], choices[1]), _about_verdicts(rows, choices, rule)]
    if agreement is not None:
        said.append(
            f"Judges agree with an alpha of {number(agreement.value)} over all choices."
            if agreement.ok
            else f"Agreement of the judges is {agreement.status}."
        )
    side = next((row for (about, _), row in rows.items() if about == "side"), None)
    if side is not None and side["of"]:
        said.append(_about_side(side))
    return tuple(said)


def _preferred(rows: _Rows, first: str, second: str, confidence: float) -> str:
    pair = [rows["decided votes", system] for system in (first, second)]
    if not pair[0]["of"]:
        return f"No vote decides between {first} and {second}."
    better, worse = sorted(pair, key=lambda row: -row["count"])
    votes = f"{count(better['count'])} of {count(better['of'])} decided votes"
    share = percent(better["value"], 1)
    if better["low"] == better["low"]:
        ends = f"{percent(better['low'], 1)} to {percent(better['high'], 1)}"
        share += f", {percent(confidence)} interval {ends}"
    if better["low"] > 0.5:
        return f"{better['choice']} is preferred to {worse['choice']}: {votes} ({share})."
    if better["count"] == worse["count"]:
        return f"{first} and {second} have {count(better['count'])} decided votes each ({share})."
    return (
        f"Neither {first} nor {second} is clearly preferred: {better['choice']} has {votes} "
        f"({share})."
    )


def _about_items(rows: _Rows, first: str, second: str) -> str:
    a, b, tied = (rows["items", name] for name in (first, second, "tied"))
    decided = rows["decided items", first]
    test = f"; sign test p {p_value(decided['p'])}" if decided["of"] else ""
    return (
        f"More judges prefer {first} on {count(a['count'])} of {plural(a['of'], 'item')}, "
        f"{second} on {count(b['count'])}, and {count(tied['count'])} are tied{test}."
    )


def _about_verdicts(rows: _Rows, choices: tuple[str, ...], rule: Rule) -> str:
    parts = [f"{name} {count(rows['verdicts', name]['count'])}" for name in choices]
    none = rows["verdicts", no_verdict(rule)]
    return f"Verdicts by {rule}: {', '.join(parts)}; {no_verdict(rule)} {count(none['count'])}."


def _about_side(side: _Row) -> str:
    where = "the left" if side["choice"] == "left" else f"option {side['choice']}"
    found = f"{percent(side['value'], 1)} of decided votes went to {where}"
    if side["p"] != side["p"]:
        return f"{found}; each system stood on one side only, so that a bias cannot be told."
    verdict = "a sign of side bias" if side["p"] < 0.05 else "no sign of side bias"
    return f"{found}: {verdict} (p {p_value(side['p'])})."


def p_value(p: float) -> str:
    """Write a p-value with its sign.

    Examples
    --------
    >>> p_value(0.0312), p_value(1e-9)
    ('= 0.031', '< 0.001')
    """
    if p != p:
        return "not known"
    return "< 0.001" if p < 0.001 else f"= {p:.3f}"
