"""Tuning a network that writes texts, so that it finds chosen texts likelier than others."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from affectlab.core.errors import InputError, check_choice
from affectlab.core.types import Bools, Floats, Ints
from affectlab.models.preference_metric.data import PreferenceTexts
from affectlab.models.text import Training
from affectlab.models.text.encoders import collate
from affectlab.models.text_metrics import Writer
from affectlab.models.training import fine_tune

__all__ = ["TuningSettings", "both_scores", "check_settings", "tune"]

Progress = Callable[[str, int, int], None]
_MIN_GROUPS = 4
"""Fewest groups of items of which a part can be kept aside."""


@dataclass(frozen=True)
class TuningSettings:
    """How a network is tuned."""

    epochs: int = 10
    """Passes over the pairs at most; the best by the pairs kept aside is taken, or none at all."""
    patience: int = 3
    """Passes without a better one before tuning ends."""
    learning_rate: float = 2e-5
    weight_decay: float = 0.01
    pairs_at_once: int = 8
    """Pairs in a step."""
    sharpness: float = 5.0
    """Log odds of the choice per unit of mean log-probability."""
    kept_aside: float = 0.25
    """Share of the groups of training items by which the best pass is chosen."""

    def to_dict(self) -> dict[str, Any]:
        """Give the settings by name."""
        return asdict(self)

    def training(self, device: str) -> Training:
        """Give what the training loop is told."""
        return Training(
            epochs=self.epochs,
            batch_size=self.pairs_at_once,
            learning_rate=self.learning_rate,
            schedule="constant",
            weight_decay=self.weight_decay,
            patience=self.patience,
            precision="fp32",
            device=device,
        )


def check_settings(given: dict[str, Any]) -> TuningSettings:
    """Make settings from what was given by name.

    Raises
    ------
    InputError
        When a name is not known or a value is out of range.
    """
    known = {field.name: field.type for field in fields(TuningSettings)}
    for name, value in given.items():
        check_choice("setting", name, known)
        whole = known[name] == "int"
        good = isinstance(value, int) if whole else isinstance(value, int | float)
        if isinstance(value, bool) or not good or not math.isfinite(value):
            raise InputError(f"{name} {value!r}: expected a {'whole ' if whole else ''}number")
    made = TuningSettings(**given)
    for name in ("epochs", "patience", "pairs_at_once"):
        if getattr(made, name) < 1:
            raise InputError(f"{name} {getattr(made, name)}: expected at least 1")
    for name in ("learning_rate", "sharpness"):
        if getattr(made, name) <= 0:
            raise InputError(f"{name} {getattr(made, name)}: expected more than 0")
    if made.weight_decay < 0:
        raise InputError(f"weight_decay {made.weight_decay}: expected 0 or more")
    if not 0 < made.kept_aside <= 0.5:
        raise InputError(f"kept_aside {made.kept_aside}: expected a share above 0, up to 0.5")
    return made


def both_scores(writer: Writer, data: PreferenceTexts, rows: Ints) -> Floats:
    """Give mean log-probabilities of the own and the other text after the context, (rows, 2)."""
    cut = writer.cut([*data.context, *data.own, *data.other])
    source = cut.rows(data.context[k] for k in rows)
    found = [
        writer.mean_log_probabilities(cut, source, cut.rows(texts[k] for k in rows))
        for texts in (data.own, data.other)
    ]
    return np.stack(found, axis=1)


def tune(
    writer: Writer,
    data: PreferenceTexts,
    rows: Ints,
    settings: TuningSettings,
    seed: int,
    progress: Progress | None = None,
) -> int:
    r"""Tune the network of `writer` on the decided pairs in `rows`.

    With s the mean log-probability of a text after its context, the loss of a pair is
    :math:`-\ln \sigma(\beta (s_{chosen} - s_{other}))`, as Bradley and Terry have it. Some groups
    of these pairs are kept aside to choose the pass whose network is taken; where none is better
    than the network as it was, it stays as it was.

    Returns
    -------
    The pass that was taken, 0 for none.
    """
    network, size = writer.network, settings.pairs_at_once
    rng = np.random.default_rng(seed)
    kept = _kept_aside(data.clusters[rows], settings.kept_aside, rng)
    learn, aside = rows[~kept], rows[kept]
    orders = [rng.permutation(learn) for _ in range(settings.epochs)]
    cut = writer.cut([*data.context, *data.own, *data.other])
    source, own, other = map(cut.rows, (data.context, data.own, data.other))
    pairs = np.where(data.own_chosen, (own, other), (other, own))

    def read(batch: Ints, _: int) -> dict[str, Tensor]:
        return collate([cut.ids[at] for at in source[batch]], writer.padding)

    def loss(network: Any, inputs: dict[str, Tensor], batch: Ints) -> tuple[Tensor, Tensor]:
        chosen, passed = (
            _scores(writer, network, inputs, [cut.ids[at] for at in texts[batch]])
            for texts in pairs
        )
        reached = functional.softplus(-settings.sharpness * (chosen - passed)).mean()
        return reached, reached.new_zeros(())

    def judge(_: Any) -> tuple[float, dict[str, float]]:
        network.eval()
        scores = both_scores(writer, data, aside)
        apart = np.where(data.own_chosen[aside], 1.0, -1.0) * (scores[:, 0] - scores[:, 1])
        return -float(np.logaddexp(0.0, -settings.sharpness * apart).mean()), {}

    network.requires_grad_(True)
    # The trainer turns it off for good, and the folder of the network would say so.
    caches = network.config.use_cache
    _, taken = fine_tune(
        network,
        lambda epoch: np.split(orders[epoch], range(size, learn.size, size)),
        read,
        loss,
        judge,
        settings.training(writer.device.type),
        judge_first=True,
        seed=seed,
        progress=progress,
    )
    network.config.use_cache = caches
    network.requires_grad_(False)
    writer._fingerprint = ""
    return taken


def _kept_aside(clusters: Ints, share: float, rng: np.random.Generator) -> Bools:
    """Say which rows are kept aside, groups as a whole."""
    groups = rng.permutation(np.unique(clusters))
    if groups.size < _MIN_GROUPS:
        raise InputError(
            f"{groups.size} groups of items are too few to learn from, since some are kept aside; "
            f"expected at least {_MIN_GROUPS}"
        )
    return np.isin(clusters, groups[: max(1, round(share * groups.size))])


def _scores(
    writer: Writer, network: Any, source: dict[str, Tensor], target: Sequence[Ints]
) -> Tensor:
    """Mean log-probabilities of targets with their gradients, shape (rows,)."""
    total = writer.log_probabilities(network, target, **source).sum(dim=1)
    return total / torch.tensor([len(ids) for ids in target], device=total.device)
