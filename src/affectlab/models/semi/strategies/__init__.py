"""The strategies that come with affectlab, one module each."""

from __future__ import annotations

from collections.abc import Callable

from affectlab.models.semi.strategies.comatch import CoMatch
from affectlab.models.semi.strategies.emc import EmcThreshold
from affectlab.models.semi.strategies.fixmatch import FixMatch
from affectlab.models.semi.strategies.flexmatch import FlexMatch
from affectlab.models.semi.strategies.freematch import FreeMatch
from affectlab.models.semi.strategies.s2ver import S2ver
from affectlab.models.semi.strategies.simmatch import SimMatch
from affectlab.models.semi.strategies.softmatch import SoftMatch
from affectlab.models.semi.strategies.supervised import Supervised
from affectlab.models.semi.strategy import Strategy

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
