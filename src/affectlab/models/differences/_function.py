"""Functions of two pictures as difference metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from affectlab._types import Floats
from affectlab._words import shown
from affectlab.errors import InputError, unknown_name
from affectlab.models.differences._prepared import PreparedMetric

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["FunctionDifference", "imported", "of_function"]

_SETTINGS = ("name", "version", "higher_is_more_different")


class FunctionDifference(PreparedMetric):
    """A function from two pictures to a number; made by :func:`of_function`."""

    batch = 1

    def __init__(
        self, function: Callable[[Any, Any], Any], name: str, version: str, higher: bool
    ) -> None:
        self.name = name
        self.version = version
        self.settings = {}
        self.higher_is_more_different = higher
        self._function = function

    def prepare(self, pictures: Sequence[Image.Image]) -> Sequence[Any]:
        """Give the pictures back."""
        return pictures

    def compare(self, first: Sequence[Any], second: Sequence[Any]) -> Floats:
        """Call the function for each pair; shape (n,).

        Raises
        ------
        InputError
            When it fails, or gives no number.
        """
        return np.array([self._of(one, other) for one, other in zip(first, second, strict=True)])

    def _of(self, first: Image.Image, second: Image.Image) -> float:
        try:
            # Copies: a picture is in many pairs, and the function may change it.
            found = self._function(first.copy(), second.copy())
        except InputError:
            raise
        # The function is anybody's code.
        except Exception as error:
            raise InputError(
                f"metric {self.name!r} fails on two pictures ({type(error).__name__}: "
                f"{' '.join(str(error).split())[:160]})"
            ) from error
        try:
            return float(found)
        except (TypeError, ValueError):
            raise InputError(
                f"metric {self.name!r} gave {type(found).__name__} for two pictures; expected one "
                "number"
            ) from None


def of_function(
    function: Callable[[Any, Any], Any], given: Mapping[str, Any]
) -> FunctionDifference:
    """Make a metric of a function from two pictures to a number.

    Parameters
    ----------
    given
        `name`, `version` and `higher_is_more_different`, each by default the attribute of the
        function of that name; without one, numbers rise with the difference.

    Raises
    ------
    InputError
        When a setting is not known or of another kind.
    """
    for setting in given:
        if setting not in _SETTINGS:
            raise unknown_name("setting", setting, _SETTINGS, "a function as a metric")
    own = getattr(function, "__qualname__", None) or type(function).__qualname__
    short = str(own).rsplit(".", 1)[-1].strip("<>")
    name = given.get("name") or getattr(function, "name", "") or short
    version = given.get("version", getattr(function, "version", ""))
    higher = given.get(
        "higher_is_more_different", getattr(function, "higher_is_more_different", True)
    )
    if not isinstance(higher, bool):
        raise InputError(
            f"metric {str(name)!r}: higher_is_more_different is {higher!r}; expected true or false"
        )
    return FunctionDifference(function, str(name), str(version), higher)


def imported(place: str) -> Any:
    """Import what ``module:name`` names.

    Raises
    ------
    InputError
        When there is no such module or name, or importing it fails.
    """
    module, _, name = place.partition(":")
    said = shown(place, 120)
    try:
        found: Any = import_module(module)
    except ModuleNotFoundError as missing:
        raise InputError(
            f"metric {said!r}: no module {missing.name!r} can be imported; expected the name of a "
            "metric, or module:function of a module on Python's path (PYTHONPATH adds folders)"
        ) from None
    # What a module's import raises is up to the module.
    except Exception as error:
        raise InputError(f"metric {said!r}: importing {module} fails: {error}") from error
    for part in name.split("."):
        if not hasattr(found, part):
            raise InputError(f"metric {said!r}: module {module} has no {name!r}")
        found = getattr(found, part)
    return found
