"""Sentence encoders with a head, as SetFit saves them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from affectlab.core.errors import InputError
from affectlab.core.types import Count, Device
from affectlab.core.words import joined, shown
from affectlab.models.embedding import encode_batch, load_encoder
from affectlab.models.raters.published.estimator import (
    load_estimator,
    names_of_outputs,
    probabilities_of,
    scores_several,
)
from affectlab.models.raters.rater import Judged, Rater
from affectlab.models.runs import file_hash, read_json

__all__ = ["sentence_rater"]

_HEADS = ("model_head.skops", "model_head.pkl", "model_head.joblib")


def sentence_rater(
    place: str,
    *,
    labels: Sequence[str] = (),
    batch: Count = 32,
    device: Device = "auto",
    trust_pickle: bool = False,
) -> Rater:
    """Make a rater of texts of a SetFit folder: an encoder of sentences, and an estimator on it.

    Parameters
    ----------
    place
        The folder, with ``modules.json`` and ``model_head.skops``, or ``model_head.pkl`` where
        `trust_pickle`.
    labels
        Names of the outputs, where neither the settings nor the head have them.
    batch
        Texts at a time.
    device
        Where the encoder computes.
    trust_pickle
        Read a head that is a pickle, which runs whatever code is in it.

    Raises
    ------
    InputError
        When a part is missing, is not known, or is a pickle that is not trusted.
    """
    folder = Path(place)
    path = next((folder / name for name in _HEADS if (folder / name).is_file()), None)
    if path is None:
        raise InputError(f"{shown(folder)} holds no head; expected one of {joined(_HEADS)}")
    head = load_estimator(path, trusted=trust_pickle)
    settings = read_json(folder / "config_setfit.json")
    names = names_of_outputs(head, labels or tuple(settings.get("labels") or ()), path)
    encode = _encoder(folder, bool(settings.get("normalize_embeddings")), device)

    def rate(texts: Sequence[str]) -> list[Judged]:
        rows = probabilities_of(head.predict_proba(encode(texts)), len(names))
        return [dict(zip(names, row, strict=True)) for row in rows.tolist()]

    files = (path, *sorted(folder.rglob("*.safetensors")))
    return Rater(
        folder.resolve().name,
        rate,
        names,
        takes="text",
        version=" ".join(file_hash(one)[:16] for one in files),
        batch=batch,
        join="max" if scores_several(head) else "sum",
    )


def _encoder(
    folder: Path, normalize: bool, device: Device
) -> Callable[[Sequence[str]], NDArray[np.float32]]:
    """Load the encoder as its modules say; where SetFit says so, rows are brought to length 1."""
    encoder = load_encoder(f"transformers:{folder}", kind="text", device=device, precision="fp32")

    def encode(texts: Sequence[str]) -> NDArray[np.float32]:
        rows = encode_batch(encoder, texts)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True) if normalize else rows

    return encode
