"""Short names for the types of arrays, and for classes of libraries that load where they are used.

Annotations name classes of heavy libraries through this module: the annotations can be evaluated,
and evaluating them loads no library. Code that works with such a library imports it itself.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

if TYPE_CHECKING:
    import daft
    import polars as pl
    import torch
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap, Normalize
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.transforms import Transform
    from PIL import Image

__all__ = [
    "Artist",
    "Axes",
    "Bools",
    "Colormap",
    "Count",
    "Device",
    "Figure",
    "Floats",
    "Image",
    "Ints",
    "Line2D",
    "Normalize",
    "Precision",
    "Rare",
    "Transform",
    "by_name",
    "daft",
    "pl",
    "torch",
]

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]

Count: TypeAlias = Annotated[int, Ge(1)]
"""A whole number from 1 on."""


class Rare:
    """Marks a field of settings that is rarely set: ``Annotated[float, Rare]``.

    The command line takes it from a file alone, as it does what the documentation of a function has
    among *Other Parameters*.
    """


Device: TypeAlias = Literal["auto", "cpu", "cuda", "mps"]
"""Where a model of torch runs."""
Precision: TypeAlias = Literal["auto", "fp32", "bf16", "fp16"]
"""What a model of torch computes in."""


class _ByName(type):
    """A class that stands for one of a library, of which it knows module and name.

    Where the library is not loaded, nothing can be an instance of its class.
    """

    def __instancecheck__(cls, instance: object) -> bool:
        library = sys.modules.get(cls.__module__)
        return library is not None and isinstance(instance, getattr(library, cls.__name__))


def by_name(module: str, name: str) -> type:
    """Stand in for a class in annotations, where its module is not to be loaded."""
    return _ByName(name, (), {"__module__": module})


def _library(module: str, *names: str) -> SimpleNamespace:
    return SimpleNamespace(**{name: by_name(module, name) for name in names})


if not TYPE_CHECKING:
    daft = _library("daft", "DataFrame", "Expression")
    pl = _library("polars", "DataFrame", "Expr", "LazyFrame", "Series")
    torch = _library("torch", "Tensor")
    torch.nn = _library("torch.nn", "Module")
    Image = _library("PIL.Image", "Image")
    Artist = by_name("matplotlib.artist", "Artist")
    Axes = by_name("matplotlib.axes", "Axes")
    Colormap = by_name("matplotlib.colors", "Colormap")
    Figure = by_name("matplotlib.figure", "Figure")
    Line2D = by_name("matplotlib.lines", "Line2D")
    Normalize = by_name("matplotlib.colors", "Normalize")
    Transform = by_name("matplotlib.transforms", "Transform")
