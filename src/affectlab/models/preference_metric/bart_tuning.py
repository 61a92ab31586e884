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
from affectlab.models.devices import private_seed
from affectlab.models.preference_metric.data import PreferenceTexts
from affectlab.models.text.encoders import collate
from affectlab.models.text_metrics import Writer

__all__ = ["TuningSettings", "both_scores", "check_settings", "tune"]

Progress = Callable[[str, int, int], None]
_IGNORED = -100
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
    network, device = writer.network, writer.device
    rng = np.random.default_rng(seed)
    kept = _kept_aside(data.clusters[rows], settings.kept_aside, rng)
    learn, aside = rows[~kept], rows[kept]
    first = _state(network)
    best, best_loss, taken, worse = first, _loss(writer, data, aside, settings), 0, 0
    network.requires_grad_(True)
    optimiser = torch.optim.AdamW(
        network.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay
    )
    cut = writer.cut([*data.context, *data.own, *data.other])
    chosen = [own if won else other for own, other, won in _triples(data)]
    passed = [other if won else own for own, other, won in _triples(data)]
    try:
        with private_seed(seed, device):
            for epoch in range(1, settings.epochs + 1):
                network.train()
                order = rng.permutation(learn)
                for start in range(0, order.size, settings.pairs_at_once):
                    batch = order[start : start + settings.pairs_at_once]
                    optimiser.zero_grad()
                    source = [cut.ids[cut.place[data.context[k]]] for k in batch]
                    scores = [
                        _scores(writer, source, [cut.ids[cut.place[texts[k]]] for k in batch])
                        for texts in (chosen, passed)
                    ]
                    apart = settings.sharpness * (scores[0] - scores[1])
                    loss = functional.softplus(-apart).mean()
                    if not torch.isfinite(loss):
                        raise InputError(
                            "tuning fails: the loss is no finite number; expected a smaller "
                            f"learning_rate than {settings.learning_rate:g}"
                        )
                    loss.backward()  # type: ignore[no-untyped-call]
                    torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
                    optimiser.step()
                network.eval()
                found = _loss(writer, data, aside, settings)
                if progress is not None:
                    progress("tuning", epoch, settings.epochs)
                if found < best_loss:
                    best, best_loss, taken, worse = _state(network), found, epoch, 0
                else:
                    worse += 1
                    if worse >= settings.patience:
                        break
    finally:
        network.load_state_dict(best)
        network.eval().requires_grad_(False)
        writer._fingerprint = ""
    return taken


def _triples(data: PreferenceTexts) -> Sequence[tuple[str, str, bool]]:
    return list(zip(data.own, data.other, data.own_chosen.tolist(), strict=True))


def _kept_aside(clusters: Ints, share: float, rng: np.random.Generator) -> Bools:
    """Say which rows are kept aside, groups as a whole."""
    groups = rng.permutation(np.unique(clusters))
    if groups.size < _MIN_GROUPS:
        raise InputError(
            f"{groups.size} groups of items are too few to learn from, since some are kept aside; "
            f"expected at least {_MIN_GROUPS}"
        )
    return np.isin(clusters, groups[: max(1, round(share * groups.size))])


def _loss(writer: Writer, data: PreferenceTexts, rows: Ints, settings: TuningSettings) -> float:
    scores = both_scores(writer, data, rows)
    apart = np.where(data.own_chosen[rows], 1.0, -1.0) * (scores[:, 0] - scores[:, 1])
    return float(np.logaddexp(0.0, -settings.sharpness * apart).mean())


def _state(network: Any) -> dict[str, Tensor]:
    return {name: part.detach().clone() for name, part in network.state_dict().items()}


def _scores(writer: Writer, source: Sequence[Ints], target: Sequence[Ints]) -> Tensor:
    """Mean log-probabilities of targets with their gradients, shape (rows,)."""
    tokenizer, device = writer.tokenizer, writer.device
    inputs = {
        name: part.to(device) for name, part in collate(source, tokenizer.pad_token_id).items()
    }
    length = max(ids.size for ids in target)
    labels = torch.full((len(target), length), _IGNORED, dtype=torch.int64)
    before = torch.full((len(target), length), int(tokenizer.pad_token_id), dtype=torch.int64)
    before[:, 0] = writer.start
    for row, ids in enumerate(target):
        own = torch.from_numpy(ids)
        labels[row, : ids.size] = own
        before[row, 1 : ids.size] = own[:-1]
    labels = labels.to(device)
    logits = writer.network(**inputs, decoder_input_ids=before.to(device), use_cache=False).logits
    wrong = functional.cross_entropy(
        logits.flatten(0, 1).float(), labels.flatten(), ignore_index=_IGNORED, reduction="none"
    ).view(len(target), length)
    return -wrong.sum(dim=1) / (labels != _IGNORED).sum(dim=1)
