"""What a folder of sentence-transformers says of its encoder: pooling, length of rows, tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transformers.utils.hub import cached_file

from affectlab.core.errors import InputError
from affectlab.core.words import joined, shown
from affectlab.models.devices import quiet_transformers
from affectlab.models.runs import read_json

__all__ = ["SentenceModules", "sentence_modules"]

_KNOWN = ("Transformer", "Pooling", "Normalize")
_POOLINGS = {"pooling_mode_cls_token": "cls", "pooling_mode_mean_tokens": "mean"}
_OPTIONAL: dict[str, Any] = {
    "_raise_exceptions_for_gated_repo": False,
    "_raise_exceptions_for_missing_entries": False,
    "_raise_exceptions_for_connection_errors": False,
}


@dataclass(frozen=True)
class SentenceModules:
    """The modules of an encoder of sentences, one after the other."""

    pooling: str = "mean"
    """``"mean"`` over tokens, or ``"cls"``, the first."""
    unit: bool = False
    """Whether rows are brought to length 1."""
    max_tokens: int | None = None
    """Tokens of a text that are read, where fewer than the network can."""


def sentence_modules(place: str) -> SentenceModules | None:
    """Read ``modules.json`` of a checkpoint, and what it leads to; None where there is none.

    Raises
    ------
    InputError
        When a module, or a way to pool, is not known.
    """
    modules = _json(place, "modules.json")
    if modules is None:
        return None
    kinds = {str(one.get("type", "")).rpartition(".")[2]: one for one in modules}
    unknown = [kind for kind in kinds if kind not in _KNOWN]
    if unknown or kinds.get("Transformer", {}).get("path"):
        what = f"module {unknown[0]!r}" if unknown else "a network in a folder of its own"
        raise InputError(
            f"{shown(place)}: {what} is not known in modules.json; expected {joined(_KNOWN)}, or "
            "pooling='mean' or 'cls' (--set pooling=mean), which read the network alone"
        )
    said = _json(place, f"{kinds['Pooling']['path']}/config.json") if "Pooling" in kinds else None
    tokens = (_json(place, "sentence_bert_config.json") or {}).get("max_seq_length")
    return SentenceModules(
        _pooling(place, said or {}),
        "Normalize" in kinds,
        tokens if isinstance(tokens, int) else None,
    )


def _json(place: str, file: str) -> Any:
    with quiet_transformers():
        found = cached_file(place, file, **_OPTIONAL)
    return None if found is None else read_json(Path(found))


def _pooling(place: str, said: Mapping[str, Any]) -> str:
    modes = [name for name, on in said.items() if name.startswith("pooling_mode_") and on is True]
    if said and (len(modes) != 1 or modes[0] not in _POOLINGS):
        raise InputError(
            f"{shown(place)}: pooling {joined(modes) if modes else 'of no kind'}; expected the "
            "mean of tokens, or the first"
        )
    return _POOLINGS[modes[0]] if modes else "mean"
