"""The weights of many heads of one shape, side by side in one tensor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import sqrt
from typing import Any

import numpy as np
import torch
from torch import Tensor

from affectlab.core.errors import InputError
from affectlab.models.heads.shape import HeadShape

__all__ = ["Layer", "StackedWeights", "layers_of", "padded_size"]

_ALIGNED = 64
"""Every matrix begins at a multiple of so many numbers: wide loads need it, also in bf16."""


@dataclass(frozen=True)
class Layer:
    """Where a layer lies among the numbers of one head."""

    inputs: int
    outputs: int
    weight: slice
    bias: slice


def _rounded_up(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED


def layers_of(sizes: Sequence[int]) -> tuple[Layer, ...]:
    """Lay the layers of a head out, one after another."""
    found, place = [], 0
    for inputs, outputs in pairwise(sizes):
        weight = slice(place, place + inputs * outputs)
        bias = slice(_rounded_up(weight.stop), _rounded_up(weight.stop) + outputs)
        found.append(Layer(inputs, outputs, weight, bias))
        place = _rounded_up(bias.stop)
    return tuple(found)


def padded_size(sizes: Sequence[int]) -> int:
    """Count the numbers that one head takes up, with what lies between its layers."""
    return _rounded_up(layers_of(sizes)[-1].bias.stop)


@dataclass(frozen=True, eq=False)
class StackedWeights:
    """Weights of heads of one shape.

    All numbers lie in one tensor, one row per head; `weight` and `bias` are views of it, so that
    heads are computed together as matrices in a stack.

    Examples
    --------
    >>> from affectlab.models.heads.shape import SMALL
    >>> weights = StackedWeights.initial(SMALL, width=1152, heads=3, seed=0)
    >>> [tuple(part.shape) for part in weights.weight]
    [(3, 1152, 128), (3, 128, 32), (3, 32, 1)]
    """

    sizes: tuple[int, ...]
    """Width of the embedding, of every hidden layer, and 1."""
    flat: Tensor
    """Shape (heads, numbers of a head); what lies between layers is 0."""

    @classmethod
    def zeros(
        cls,
        sizes: Sequence[int],
        heads: int,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> StackedWeights:
        """Make weights that are all 0."""
        sizes = tuple(int(size) for size in sizes)
        flat = torch.zeros((heads, padded_size(sizes)), dtype=dtype, device=device)
        return cls(sizes, flat)

    @classmethod
    def initial(cls, shape: HeadShape, width: int, heads: int, seed: int = 0) -> StackedWeights:
        """Draw weights to begin training with.

        Weights and biases of a layer with n inputs are uniform from -1/sqrt(n) to 1/sqrt(n), as
        in ``torch.nn.Linear``. What a head begins with depends on the seed and its place alone.

        Raises
        ------
        InputError
            When there is no head, or the seed is below 0.
        """
        if heads < 1 or seed < 0:
            raise InputError(
                f"{heads} heads, seed {seed}; expected one or more, and a seed from 0 on"
            )
        found = cls.zeros(shape.sizes(width), heads)
        for row in range(heads):
            draw = np.random.default_rng([seed, row, 0])
            for layer in found.layers:
                edge = 1 / sqrt(layer.inputs)
                for part in (layer.weight, layer.bias):
                    drawn = draw.uniform(-edge, edge, part.stop - part.start)
                    found.flat[row, part] = torch.from_numpy(drawn.astype(np.float32))
        return found

    @cached_property
    def layers(self) -> tuple[Layer, ...]:
        """Where the layers of a head lie."""
        return layers_of(self.sizes)

    @cached_property
    def weight(self) -> tuple[Tensor, ...]:
        """Matrices of the layers, each of shape (heads, inputs, outputs)."""
        n = self.n_heads
        return tuple(
            self.flat[:, layer.weight].view(n, layer.inputs, layer.outputs) for layer in self.layers
        )

    @cached_property
    def bias(self) -> tuple[Tensor, ...]:
        """Biases of the layers, each of shape (heads, 1, outputs)."""
        return tuple(self.flat[:, None, layer.bias] for layer in self.layers)

    @property
    def n_heads(self) -> int:
        """Number of heads."""
        return int(self.flat.shape[0])

    @property
    def width(self) -> int:
        """Width of the embeddings."""
        return self.sizes[0]

    @property
    def device(self) -> torch.device:
        """Where the weights lie."""
        return self.flat.device

    def select(self, places: Sequence[int] | Tensor) -> StackedWeights:
        """Copy some heads, in the order given."""
        rows = torch.as_tensor(places, dtype=torch.int64, device=self.device)
        return StackedWeights(self.sizes, self.flat.index_select(0, rows))

    def to(self, device: torch.device | str) -> StackedWeights:
        """Give the weights on a device; shared where they lie there."""
        return StackedWeights(self.sizes, self.flat.to(device))

    def clone(self) -> StackedWeights:
        """Copy the weights."""
        return StackedWeights(self.sizes, self.flat.clone())

    def state(self) -> dict[str, Tensor]:
        """Give copies by name, as safetensors stores them: ``layers.0.weight``, ``layers.0.bias``.

        Weights have shape (heads, inputs, outputs), biases (heads, outputs).
        """
        found: dict[str, Tensor] = {}
        for k, (weight, bias) in enumerate(zip(self.weight, self.bias, strict=True)):
            found[f"layers.{k}.weight"] = weight.detach().cpu().contiguous().clone()
            found[f"layers.{k}.bias"] = bias[:, 0].detach().cpu().contiguous().clone()
        return found

    @classmethod
    def from_state(cls, state: Mapping[str, Any], where: str = "weights") -> StackedWeights:
        """Take weights up that :meth:`state` gave.

        Parameters
        ----------
        where
            Where they come from, for errors.

        Raises
        ------
        InputError
            When a layer is missing, a shape does not fit, or a number is not finite.

        Examples
        --------
        >>> from affectlab.models.heads.shape import HeadShape
        >>> weights = StackedWeights.initial(HeadShape((4,)), width=3, heads=2)
        >>> bool((StackedWeights.from_state(weights.state()).flat == weights.flat).all())
        True
        """
        n_layers = sum(1 for name in state if name.endswith(".weight"))
        wanted = [f"layers.{k}.{part}" for k in range(n_layers) for part in ("weight", "bias")]
        if not wanted or sorted(wanted) != sorted(state):
            raise InputError(
                f"{where}: parts {', '.join(sorted(state)) or 'none'}; expected weight and bias "
                "of layers.0, layers.1, and so on"
            )
        for name in wanted:
            part, n_axes = state[name], 3 if name.endswith("weight") else 2
            if not isinstance(part, Tensor) or part.ndim != n_axes or not part.is_floating_point():
                raise InputError(f"{where}, {name}: expected floating-point numbers, {n_axes} axes")
        weights = [state[name] for name in wanted[::2]]
        biases = [state[name] for name in wanted[1::2]]
        sizes = (*(int(part.shape[1]) for part in weights), int(weights[-1].shape[2]))
        heads = int(weights[0].shape[0])
        if sizes[-1] != 1 or not heads or 0 in sizes:
            raise InputError(
                f"{where}: {heads} heads with layers {sizes}; expected one output, and no layer "
                "without a unit"
            )
        found = cls.zeros(sizes, heads)
        for k, layer in enumerate(found.layers):
            for name, part, shape, into in (
                ("weight", weights[k], (heads, layer.inputs, layer.outputs), found.weight[k]),
                ("bias", biases[k], (heads, layer.outputs), found.bias[k][:, 0]),
            ):
                if tuple(part.shape) != shape:
                    raise InputError(
                        f"{where}, layers.{k}.{name}: shape {tuple(part.shape)}; expected {shape}"
                    )
                if not bool(torch.isfinite(part).all()):
                    raise InputError(f"{where}, layers.{k}.{name}: expected finite numbers")
                into.copy_(part)
        return found
