"""The verdicts of a preference study in plain words."""

from __future__ import annotations

from affectlab._words import count, number, percent
from affectlab.estimates import Estimates
from affectlab.evaluation._preferences_tally import no_verdict

__all__ = ["verdict_sentences"]


def verdict_sentences(table: Estimates, rule: str = "majority") -> tuple[str, ...]:
    """Say what the verdicts are in plain words.

    Parameters
    ----------
    table
        The result of :func:`preference_verdicts`.
    rule
        What makes a verdict.

    Examples
    --------
    >>> from affectlab.evaluation import preference_verdicts, preferences
    >>> counts = {"machine": 91, "human": 233, "both good": 47, "both bad": 11}
    >>> said = verdict_sentences(preference_verdicts(preferences(counts), sampled=500))
    >>> said[0]
    'human is preferred 2.56 times as often as machine (233 to 91; interval 2.00 to 3.30).'
    """
    rows = {row["statistic"]: row for row in table.frame.to_dicts()}
    ratio = rows["ratio"]
    more, _, less = ratio["of_what"].rpartition(" to ")
    said = []
    if ratio["status"] == "ok":
        said.append(
            f"{more} is preferred {number(ratio['value'])} times as often as {less} "
            f"({count(ratio['count'])} to {count(ratio['of'])}; interval "
            f"{number(ratio['low'])} to {number(ratio['high'])})."
        )
    if "good" in rows:
        good = rows["good"]
        said.append(
            f"{good['of_what']} is good on {count(good['count'])} of {count(good['of'])} items "
            f"with a verdict ({percent(good['value'], 1)}, {percent(good['low'], 1)} to "
            f"{percent(good['high'], 1)}): preferred, or as good."
        )
    decided = rows["decided"]
    left = decided["of"] - decided["count"]
    if left:
        said.append(
            f"{count(left)} of {count(decided['of'])} items have no verdict "
            f"({no_verdict('majority') if rule == 'majority' else 'tied'}, "
            f"{percent(1 - decided['value'], 1)})"
            + (
                f"; whatever they are, between {percent(rows['good, at least']['value'], 1)} and "
                f"{percent(rows['good, at most']['value'], 1)} of all items are good."
                if "good" in rows
                else "."
            )
        )
    return tuple(said)
