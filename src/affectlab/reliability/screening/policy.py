"""Policies: which rules there are, and what follows from breaking them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from affectlab.core.files.toml import parse_toml
from affectlab.core.registry import Definitions
from affectlab.reliability.screening.panel_rules import (
    Agreement,
    Careless,
    Centrality,
    Drift,
    EqualLabels,
    Inconsistency,
    Severity,
)
from affectlab.reliability.screening.rules import (
    Combined,
    Correlation,
    Duplicates,
    Golden,
    Movement,
    Outliers,
    Repeats,
    Run,
    SeenBefore,
    SessionNumber,
    Speed,
    Spread,
    TomlTable,
)

AnyRule = Annotated[
    Spread
    | Run
    | Movement
    | Speed
    | SessionNumber
    | SeenBefore
    | Golden
    | Repeats
    | Combined
    | Correlation
    | Duplicates
    | Outliers
    | Careless
    | EqualLabels
    | Severity
    | Centrality
    | Inconsistency
    | Agreement
    | Drift,
    Field(discriminator="check"),
]


class Verdict(TomlTable):
    """When a session, or a rater, is refused."""

    rules: tuple[str, ...] = ()
    """Names of rules; none means that nobody is refused."""
    at_least: int = Field(default=1, ge=1)
    """How many of them must be violated."""


class Block(TomlTable):
    """When a rater may not go on."""

    rules: tuple[str, ...] = ()
    """Rules of which one violation blocks at once."""
    rejected_sessions: int | None = Field(default=None, ge=1)
    """Sessions refused pay that block the rater."""


class Policy(TomlTable):
    """Rules with limits, and the verdicts *pay*, *use* and *block* that rest on them.

    Written in TOML; see the built-in ones. ``pay``: is the work paid? ``use``: do the answers go
    into statistics? ``block``: may the rater take another session?
    """

    name: str = Field(min_length=1)
    title: str = ""
    source: str = ""
    """Where the limits come from."""
    per: Literal["session", "rater"] = "rater"
    """What pay and use are decided on. Without sessions in the ratings, raters are judged."""
    rules: tuple[AnyRule, ...] = Field(min_length=1)
    pay: Verdict = Verdict()
    use: Verdict = Verdict()
    block: Block = Block()

    @model_validator(mode="after")
    def _names_are_known(self) -> Policy:
        known: set[str] = set()
        for rule in self.rules:
            if rule.name in known:
                raise ValueError(f"two rules are named {rule.name!r}")
            if isinstance(rule, Combined):
                for name in rule.rules:
                    if name not in known:
                        raise ValueError(f"rule {rule.name!r}: there is no rule {name!r} above it")
            known.add(rule.name)
        for verdict, names in (
            ("pay", self.pay.rules),
            ("use", self.use.rules),
            ("block", self.block.rules),
        ):
            for name in names:
                if name not in known:
                    raise ValueError(f"{verdict}: there is no rule {name!r}")
        for verdict, part in (("pay", self.pay), ("use", self.use)):
            if part.rules and part.at_least > len(part.rules):
                raise ValueError(
                    f"{verdict}: at_least {part.at_least} of {len(part.rules)} rules cannot be"
                )
        return self


_REGISTRY = Definitions(
    kind="policy",
    group="affectlab.policies",
    package="affectlab.reliability.screening",
    accept=Policy,
    expected="a path or a Policy",
    parse=lambda text, where: parse_toml(text, Policy, where=where),
)


def load_policy(name_or_path: str | Path | Policy) -> Policy:
    """Load a screening policy.

    Parameters
    ----------
    name_or_path
        The name of a built-in policy, or of one that an installed package adds through the
        entry-point group ``affectlab.policies``; or the path of a TOML file. A policy is given
        back as it is.

    Raises
    ------
    InputError
        When the name is not known, or the file cannot be used; the sentence says where and why.

    Examples
    --------
    >>> [rule.name for rule in load_policy("p913").rules]
    ['outliers after bias']
    """
    return _REGISTRY.load(name_or_path)


def list_policies() -> tuple[str, ...]:
    """Names that :func:`load_policy` knows, sorted.

    Examples
    --------
    >>> list_policies()
    ('bt500', 'bt500_upstream', 'correlation', 'faceexpressions', 'p913', 'p913_upstream', 'panel')
    """
    return _REGISTRY.names()
