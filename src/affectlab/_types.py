"""Short names for the types of arrays, and for classes of libraries that load where they are used.

Annotations name classes of heavy libraries through this module: the annotations can be evaluated,
and evaluating them loads no library. Code that works with such a library imports it itself.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
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
    "Figure",
    "Floats",
    "Image",
    "Ints",
    "Line2D",
    "Normalize",
    "Transform",
    "by_name",
    "daft",
    "pl",
    "torch",
]

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]


class _ByName(type):
    """A class that stands for one of a library, of which it knows module and name.

    Where the library is not loaded, nothing can be an instance of its class.
    """

    def __instancecheck__(cls, instance: object) -> bool:
        library = sys.modules.get(cls.__module__)
        return library is not None and isinstance(instance, getattr(library, cls.__name__))


def by_name(library: str, *names: str) -> SimpleNamespace:
    """Stand in for a library whose classes occur in annotations."""
    return SimpleNamespace(**{name: _ByName(name, (), {"__module__": library}) for name in names})


if not TYPE_CHECKING:
    daft = by_name("daft", "DataFrame", "Expression")
    pl = by_name("polars", "DataFrame", "Expr", "LazyFrame", "Series")
    torch = by_name("torch", "Tensor")
    torch.nn = by_name("torch.nn", "Module")
    Image = by_name("PIL.Image", "Image")
    Artist = by_name("matplotlib.artist", "Artist").Artist
    Axes = by_name("matplotlib.axes", "Axes").Axes
    Colormap = by_name("matplotlib.colors", "Colormap").Colormap
    Figure = by_name("matplotlib.figure", "Figure").Figure
    Line2D = by_name("matplotlib.lines", "Line2D").Line2D
    Normalize = by_name("matplotlib.colors", "Normalize").Normalize
    Transform = by_name("matplotlib.transforms", "Transform").Transform
