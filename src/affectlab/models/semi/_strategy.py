"""What a strategy of semi-supervised learning is, and finding one by name."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from affectlab._plugs import added_names, find_plug
from affectlab.errors import InputError, unknown_name
from affectlab.models.semi._view import PoolLabels, Problem, Step, View

__all__ = [
    "PoolLabels",
    "Problem",
    "Step",
    "Strategy",
    "View",
    "list_strategies",
    "load_strategy",
]

GROUP = "affectlab.strategies"
"""Group of entry points through which other packages add strategies."""


class Strategy(nn.Module):
    """Which unlabelled examples count, and what their labels are taken to be.

    A strategy has buffers and no parameters, so that its ``state_dict`` is all that has to be kept
    to go on, and ``to`` moves it. Its constructor takes settings by name, and keeps each in an
    attribute of the same name.
    """

    name: ClassVar[str]
    strong_views: int = 1
    """Strongly augmented views of each unlabelled example that are needed."""
    wants_features: bool = False
    """Whether projected features are needed."""
    wants_pool: bool = False
    """Whether :meth:`before_epoch` needs the labels of the pool."""
    needs: ClassVar[tuple[str, ...]] = ()
    """What the problem must have: ``"costs"``, ``"polarity"``."""
    classes: int
    device: torch.device

    # That of Module takes anything, and signatures tell settings.
    def __init__(self) -> None:
        super().__init__()

    def begin(self, problem: Problem) -> None:
        """Make the buffers; called once, before a ``state_dict`` is loaded.

        Raises
        ------
        InputError
            When the problem lacks what the strategy needs.
        """
        for what in self.needs:
            if getattr(problem, what) is None:
                raise InputError(
                    f"strategy {self.name!r} needs {what} of the labels; expected a taxonomy, "
                    f"or another strategy"
                )
        if self.wants_features and problem.features < 1:
            raise InputError(
                f"strategy {self.name!r} needs features; expected a width of at least 1, "
                f"not {problem.features}"
            )
        if self.strong_views and problem.n_unlabelled < 1:
            raise InputError(
                f"strategy {self.name!r} needs unlabelled examples; expected one at least, or "
                "strategy 'supervised'"
            )
        self.classes, self.device = len(problem.labels), problem.device

    def before_epoch(
        self,
        epoch: int,  # noqa: ARG002
        pool: PoolLabels | None,  # noqa: ARG002
    ) -> dict[str, float]:
        """Look at the whole pool before an epoch; gives what the history shows."""
        return {}

    @abstractmethod
    def step(self, view: View) -> Step:
        """Label the unlabelled examples of one step, and weight them."""

    def settings(self) -> dict[str, Any]:
        """Give the settings by name: what :func:`load_strategy` makes the same strategy of."""
        return {name: getattr(self, name) for name in signature(type(self)).parameters}

    def extra_repr(self) -> str:
        """Say the settings."""
        return ", ".join(f"{name}={value!r}" for name, value in self.settings().items())

    def features_of(self, view: View) -> tuple[Tensor, Tensor, tuple[Tensor, ...]]:
        """Give the features of the labelled, the weak and the strong views.

        Raises
        ------
        InputError
            When the view has none, or too few strong ones.
        """
        labelled, weak, strong = view.labelled_features, view.weak_features, view.strong_features
        if labelled is None or weak is None or len(strong) < self.strong_views:
            raise InputError(
                f"strategy {self.name!r} needs features of labelled examples, of weak views and of "
                f"{self.strong_views} strong ones; expected them in every step"
            )
        return labelled, weak, strong


def _built_in() -> dict[str, Callable[..., Strategy]]:
    from affectlab.models.semi._strategies import BUILT_IN

    return BUILT_IN


def list_strategies() -> tuple[str, ...]:
    """Give the names of all strategies, those of installed packages among them.

    Examples
    --------
    >>> "fixmatch" in list_strategies()
    True
    """
    return tuple(dict.fromkeys((*_built_in(), *added_names(GROUP))))


def load_strategy(strategy: str | Strategy, **settings: Any) -> Strategy:
    """Make a strategy by name.

    Parameters
    ----------
    strategy
        One of :func:`list_strategies`; or a strategy, which is given back.
    **settings
        Of the strategy, such as ``tau`` of FixMatch; none with a strategy.

    Raises
    ------
    InputError
        When the name or a setting is not known, or an entry point gives no strategy.

    Examples
    --------
    >>> load_strategy("fixmatch", tau=0.9).settings()
    {'tau': 0.9}
    """
    if isinstance(strategy, Strategy):
        if settings:
            raise InputError(
                f"strategy {strategy.name!r} was made already; expected no settings beside it, "
                f"not {_listed(settings)}"
            )
        return strategy
    make = _built_in().get(strategy)
    where = f"strategy {strategy!r}"
    if make is None:
        plug = find_plug(GROUP, strategy)
        if plug is None:
            raise unknown_name("strategy", strategy, list_strategies())
        make, where = plug.found, plug.where
    if not callable(make):
        raise InputError(f"{where} gives {type(make).__name__}; expected a class of Strategy")
    _check_settings(make, settings, where)
    made = make(**settings)
    if not isinstance(made, Strategy):
        raise InputError(f"{where} gives {type(made).__name__}; expected a Strategy")
    return made


def _check_settings(make: Callable[..., Any], settings: dict[str, Any], where: str) -> None:
    known = signature(make).parameters
    if any(one.kind is one.VAR_KEYWORD for one in known.values()):
        return
    for name in settings:
        if name not in known:
            raise unknown_name("setting", name, known, where)


def _listed(names: Sequence[str] | dict[str, Any]) -> str:
    return ", ".join(sorted(names))
