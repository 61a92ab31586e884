"""A learned metric as a loss of torch: gradients flow to embeddings, and to pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from affectlab.errors import InputError, unknown_name
from affectlab.models.differences import _expression_metric
from affectlab.models.differences._learned_data import SCALE
from affectlab.models.differences._learned_linear import LinearDistance
from affectlab.models.differences._learned_trainers import Distance
from affectlab.models.differences._siamese import ROUNDING

if TYPE_CHECKING:
    from affectlab.models.differences._loss_pixels import PixelEncoder

__all__ = ["ExpressionLoss"]

_REDUCTIONS = ("mean", "sum", "none")


class ExpressionLoss(nn.Module):
    """The predicted difference of two faces, less that of identical ones.

    It holds no parameters: what was learned stays as it is, and moves with the input to other
    devices and precisions.

    Examples
    --------
    >>> from affectlab.models.differences import ExpressionMetric
    >>> pairs = {"actor": ["ann"] * 3, "file_a": ["a", "a", "b"], "file_b": ["b", "c", "c"],
    ...          "value": [20.0, 40.0, 20.0]}
    >>> frames = {"a": [0.0], "b": [1.0], "c": [2.0]}
    >>> metric = ExpressionMetric("ridge", strength=1e-6).fit(pairs, embeddings=frames)
    >>> face = torch.tensor([[1.5]], requires_grad=True)
    >>> metric.loss(face, torch.tensor([[0.0]])).backward()
    >>> round(face.grad.item(), 2)
    20.0
    """

    weights: torch.Tensor
    projection: torch.Tensor

    def __init__(self, distance: Distance, metric: _expression_metric.ExpressionMetric) -> None:
        super().__init__()
        self._linear = isinstance(distance, LinearDistance)
        for name, array in distance.arrays().items():
            self.register_buffer(name, torch.from_numpy(array.copy()), persistent=False)
        self.width = distance.width
        # In a list, so that the metric is no part of what is saved with the module.
        self._metric = [metric]
        self._pixels: list[PixelEncoder] = []

    def forward(
        self, first: torch.Tensor, second: torch.Tensor, reduction: str = "mean"
    ) -> torch.Tensor:
        """Give the loss; see :meth:`ExpressionMetric.loss`."""
        if reduction not in _REDUCTIONS:
            raise unknown_name("reduction", str(reduction), _REDUCTIONS)
        _check(first, second)
        if first.ndim == 4:
            encoder = self._pixel_encoder()
            first, second = encoder(first), encoder(second)
        elif first.ndim != 2 or first.shape[1] != self.width:
            raise InputError(
                f"loss: tensors of shape {tuple(first.shape)}; expected embeddings of shape "
                f"(n, {self.width}), or pictures of shape (n, 3, height, width)"
            )
        found = self._apart(first, second)
        if reduction == "none":
            return found
        return found.mean() if reduction == "mean" else found.sum()

    def _apart(self, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        apart = first - second
        if self._linear:
            return apart.abs() @ self.weights.to(apart)
        projected = apart @ self.projection.to(apart).T
        sizes = torch.sqrt(projected**2 + ROUNDING**2) - ROUNDING
        return -(SCALE[1] - SCALE[0]) * torch.expm1(-(sizes @ self.weights.to(apart)))

    def _pixel_encoder(self) -> PixelEncoder:
        if not self._pixels:
            from affectlab.models.differences._loss_pixels import PixelEncoder

            self._pixels.append(PixelEncoder(self._metric[0].image_encoder()))
        return self._pixels[0]


def _check(first: Any, second: Any) -> None:
    for what, tensor in (("first", first), ("second", second)):
        if not isinstance(tensor, torch.Tensor):
            raise InputError(
                f"loss, {what}: expected a tensor of torch, not {type(tensor).__name__}"
            )
        if not tensor.is_floating_point():
            raise InputError(
                f"loss, {what}: a tensor of {tensor.dtype}; expected floating-point numbers, "
                "pixels from 0 to 1"
            )
    if first.shape != second.shape or not first.numel():
        raise InputError(
            f"loss: tensors of shape {tuple(first.shape)} and {tuple(second.shape)}; expected two "
            "of the same shape, with one row or more"
        )
    if first.dtype != second.dtype or first.device != second.device:
        raise InputError(
            f"loss: tensors of {first.dtype} on {first.device} and {second.dtype} on "
            f"{second.device}; expected the same of both"
        )
