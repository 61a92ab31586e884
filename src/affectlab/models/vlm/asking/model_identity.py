"""Who answered: the model that was asked, a version of it, or another one."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterable

from affectlab.core.words import joined, plural, shown
from affectlab.models.vlm.asking.ledger import Record

__all__ = [
    "OtherModelWarning",
    "is_rater",
    "is_version_of",
    "other_models",
    "other_models_said",
    "rater_of",
    "unclear_said",
    "warn_of_others",
]

_VERSION = re.compile(
    r"[-@:]("
    r"\d{4}-\d{2}-\d{2}|\d{8}"  # 2026-08-01, 20260801
    r"|\d{2}-\d{2}|\d{2}-\d{4}|\d{4}"  # 08-01, 08-2026, 0801 or 2608
    r"|0\d{2}"  # 001
    r")"
)
"""What stands for a version behind the name of a model: a date, or a number with zeros before it.

A plain number does not: ``claude-sonnet-4-5`` is no version of ``claude-sonnet-4``.
"""
_LATEST = re.compile(r"[-:]latest$")
_DATE = re.compile(r"[-@:](\d{4}-\d{2}-\d{2}|\d{8})")
_RELEASE = re.compile(r"v?\d+(\.\d+)*|preview|exp|experimental")
"""Words that tell a release of a family from another one, and no size (``24b``, ``lite``)."""
_ROUTED = re.compile(r":(free|nitro|floor|beta)$")
"""What OpenRouter takes behind a name for who is to serve the model, and at what price."""
_BY = " (answered by "
_OF_SERVICES = {"openai-api": 2}
"""Providers of inspect-ai in whose model strings more than one part stands before the name."""


class OtherModelWarning(UserWarning):
    """A service answered with another model than the one asked, or with what may be another."""


def is_version_of(served: str, model: str) -> bool:
    """Say whether a service that names `served` answered with the model that was asked.

    It did where the names are the same, or `served` is the name with a version behind it, as an
    alias is resolved. Capitals, and what stands before the name (a provider, a folder of the
    service), do not count where only one of the two has it; neither does what OpenRouter reads
    behind it (``:free``). ``-0`` before a date is left out by who serves it, and a family that is
    asked for as ``latest``, without any number, is answered by any of its releases.

    Parameters
    ----------
    served
        Model in the words of the service.
    model
        Model string of inspect-ai.

    Examples
    --------
    >>> is_version_of("gpt-4o-mini-2024-07-18", "openai/gpt-4o-mini")
    True
    >>> is_version_of("gpt-3.5-turbo", "openai/gpt-4o-mini")
    False
    >>> is_version_of("gpt-4o-2024-08-06", "openai/gpt-4o-2024-05-13")
    False
    >>> is_version_of("claude-sonnet-4-5-20250929", "anthropic/claude-sonnet-4")
    False
    >>> is_version_of("gemini-2.5-flash-preview-09-2025", "google/gemini-flash-latest")
    True
    """
    provider, *parts = model.casefold().split("/")
    asked = parts[_OF_SERVICES.get(provider, 1) - 1 :]
    said = served.casefold().removeprefix("models/").split("/")
    *folders, name = said
    *own, wanted = asked
    if any(one != other for one, other in zip(reversed(folders), reversed(own), strict=False)):
        return False
    if provider == "openrouter":
        name, wanted = _ROUTED.sub("", name), _ROUTED.sub("", wanted)
    family = _LATEST.sub("", wanted)
    if wanted.endswith("-latest") and _is_release(name, family):
        return True
    name, wanted = _LATEST.sub("", name), family
    if name.startswith(wanted):
        return name == wanted or _VERSION.fullmatch(name, len(wanted)) is not None
    whole = wanted.removesuffix("-0")
    return (
        whole != wanted and name.startswith(whole) and _DATE.fullmatch(name, len(whole)) is not None
    )


def _is_release(name: str, family: str) -> bool:
    """Say whether a name is that of a family without a number, with one put in or behind."""
    if re.search(r"\d", family):
        return False
    words = re.split("[-:@]", name)
    return [word for word in words if not _RELEASE.fullmatch(word)] == family.split("-")


def _is_deployment(model: str) -> bool:
    """Say whether who deployed a model chose the name it is asked by, as on Azure."""
    provider, *parts = model.casefold().split("/")
    return provider == "azureai" or "azure" in parts[:-1]


def other_models(
    model: str, records: Iterable[Record], known: Iterable[Record] = ()
) -> tuple[str, ...]:
    """Name the models whose answers are not those of the rater that was asked.

    These are other models than the one asked for; and where an alias was resolved to several
    versions, all but the one that answered first. Who does not say its name counts as asked for.
    So does who answers first for a deployment, whose name says nothing of the model.

    Parameters
    ----------
    model
        Model string of inspect-ai.
    records
        Answers that are looked at.
    known
        All that the ledger holds of this model: who answered first is seen there.
    """
    looked_at = [record for record in records if record.served]
    any_name = _is_deployment(model)
    first = min(
        (
            (record.at, record.served)
            for record in (*known, *looked_at)
            if record.served and (any_name or is_version_of(record.served, model))
        ),
        default=("", ""),
    )
    return tuple(sorted({record.served for record in looked_at} - {first[1]}))


def unclear_said(model: str, records: Iterable[Record]) -> list[str]:
    """Say who answered where it cannot be told whether that is the model that was asked."""
    served = sorted({record.served for record in records if record.served})
    if not _is_deployment(model) or all(is_version_of(one, model) for one in served):
        return []
    return [
        f"{model} is the name of a deployment, from which it cannot be told which model it is; "
        f"{joined([shown(one, 80) for one in served])} answered, as 'served' says of each rater"
    ]


def rater_of(name: str, served: str) -> str:
    """Name the rater of answers that another model gave to the questions of a rater.

    Examples
    --------
    >>> rater_of("openai/gpt-4o zero-shot", "gpt-4o-mini")
    'openai/gpt-4o zero-shot (answered by gpt-4o-mini)'
    """
    return f"{name}{_BY}{shown(served, 80)})"


def is_rater(name: str, asked: str) -> bool:
    """Say whether `name` is the rater that was asked, or one that answered in its place."""
    return name == asked or name.startswith(asked + _BY)


def other_models_said(
    model: str, rater: str, records: Iterable[Record], known: Iterable[Record] = ()
) -> list[str]:
    """Say which answers came from another model than the one that was asked.

    Parameters
    ----------
    rater
        Name of the rater that was asked.
    records, known
        As :func:`other_models` takes them.
    """
    looked_at = list(records)
    counts = Counter(record.served for record in looked_at)
    return [
        f"{model} was asked, and {plural(counts[served], 'answer')} came from "
        f"{'another version, ' if is_version_of(served, model) else ''}{shown(served, 80)}: they "
        f"belong to another rater, {shown(rater_of(rater, served), 160)!r}"
        for served in other_models(model, looked_at, known)
    ]


def warn_of_others(sentences: Iterable[str]) -> None:
    """Warn of other models that answered, for whoever reads nothing but the ratings."""
    for sentence in sentences:
        warnings.warn(sentence, OtherModelWarning, stacklevel=3)
