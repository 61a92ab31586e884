"""The strategies that come with affectlab, one module each."""

from __future__ import annotations

from collections.abc import Callable

from affectlab.models.semi._strategies.comatch import CoMatch
from affectlab.models.semi._strategies.emc import EmcThreshold
from affectlab.models.semi._strategies.fixmatch import FixMatch
from affectlab.models.semi._strategies.flexmatch import FlexMatch
from affectlab.models.semi._strategies.freematch import FreeMatch
from affectlab.models.semi._strategies.s2ver import S2ver
from affectlab.models.semi._strategies.simmatch import SimMatch
from affectlab.models.semi._strategies.softmatch import SoftMatch
from affectlab.models.semi._strategies.supervised import Supervised
from affectlab.models.semi._strategy import Strategy

__all__ = ["BUILT_IN"]

BUILT_IN: dict[str, Callable[..., Strategy]] = {
    made.name: made
    for made in (
        Supervised,
        FixMatch,
        FlexMatch,
        FreeMatch,
        SoftMatch,
        EmcThreshold,
        CoMatch,
        SimMatch,
        S2ver,
    )
}
"""Classes by name."""
