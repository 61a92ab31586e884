"""When a pilot speaks for dropping, merging or adding a label."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from affectlab.core.files.toml import parse_toml, read_toml

__all__ = ["RevisionPolicy", "load_revision_policy"]

_Share = Annotated[float, Field(ge=0, le=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Scarce(_Strict):
    """Labels that raters hardly choose."""

    below: _Share
    """Share of the stimuli below which a label is scarce; 0 for never."""
    votes: Annotated[int, Field(ge=1)] = 1
    """Raters who must choose the label for a stimulus to count."""
    bound: Literal["high", "value"] = "high"
    """What must lie below: the upper end of the interval, or the share itself."""


class LowAgreement(_Strict):
    """Labels about which raters do not agree."""

    below: Annotated[float, Field(ge=-1, le=1)]
    """Agreement below which it is low; -1 for never."""
    bound: Literal["high", "value"] = "high"
    """What must lie below: the upper end of the interval, or the agreement itself."""
    needs: Annotated[int, Field(ge=1)] = 20
    """Stimuli with several raters for which the label was chosen; fewer say nothing."""


class Confused(_Strict):
    """Labels that raters put in place of one another."""

    above: Annotated[float, Field(gt=0)]
    """Correlation of two labels, corrected for noise, from which on they are one."""
    bound: Literal["low", "value"] = "low"
    """What must lie above: the lower end of the interval, or the correlation itself."""
    n_boot: Annotated[int, Field(ge=50, le=100_000)] = 500
    """Bootstrap replicates for its interval."""
    needs: Annotated[int, Field(ge=1)] = 20
    """Stimuli with several raters for which each of the two was chosen."""


class Suggested(_Strict):
    """Labels that raters miss."""

    above: _Share
    """Share of the stimuli for which a label must be suggested."""
    raters: Annotated[int, Field(ge=1)] = 2
    """Different raters who must suggest it."""
    bound: Literal["low", "value"] = "low"
    """What must lie above: the lower end of the interval, or the share itself."""


class RevisionPolicy(_Strict):
    """Limits for a revision, each with the bound that must pass it.

    With the outer bound of an interval (``high`` or ``low``) nothing is decided by noise: a pilot
    whose interval holds the limit is too small to decide. With ``value`` it always decides.
    """

    name: Annotated[str, Field(min_length=1)]
    source: str = ""
    """Where the limits come from."""
    confidence: Annotated[float, Field(gt=0, lt=1)] = 0.95
    scarce: Scarce
    agreement: LowAgreement
    confused: Confused
    suggested: Suggested


def load_revision_policy(path: str | Path | RevisionPolicy | None = None) -> RevisionPolicy:
    """Read the limits of a revision; without a path the built-in ones.

    Raises
    ------
    InputError
        When the file cannot be used; the sentence names the key and what was expected.

    Examples
    --------
    >>> policy = load_revision_policy()
    >>> policy.scarce.below, policy.agreement.below
    (0.01, 0.1)
    """
    if isinstance(path, RevisionPolicy):
        return path
    if path is not None:
        return read_toml(path, RevisionPolicy)
    text = (files("affectlab.stimuli.taxonomy") / "data" / "revision.toml").read_text("utf-8")
    return parse_toml(text, RevisionPolicy, where="built-in revision.toml")
