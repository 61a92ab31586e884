"""Vision classifiers in folders: weights as safetensors, all else as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from affectlab._version import __version__
from affectlab.errors import InputError
from affectlab.models._store import META, read_meta, replacing, write_json
from affectlab.models._torch import quiet_transformers
from affectlab.models.embedding import EncoderCard
from affectlab.models.text._tensors import check_finite, load_weights, save_weights
from affectlab.models.vision._backbone import Head, load_backbone, load_processor
from affectlab.models.vision._training import VisionTraining
from affectlab.taxonomy import CostMatrix, Taxonomy

if TYPE_CHECKING:
    from affectlab.models.vision._classifier import VisionClassifier

__all__ = ["load_model", "save_model"]

_SCHEMA = "affectlab/vision-model/1"
_NETWORK = "network"
_HEAD = "head.safetensors"
_KEYS = (
    *("name", "taxonomy", "labels", "costs", "backbone", "hidden", "dropout", "frozen", "seed"),
    *("encoder", "loss", "training", "history", "best_epoch"),
)
_Model = TypeVar("_Model", bound="VisionClassifier")


def save_model(model: VisionClassifier, folder: Path) -> Path:
    """Write a model; see :meth:`VisionClassifier.save`."""
    costs = model.costs
    meta = {
        "schema": _SCHEMA,
        "affectlab": __version__,
        "name": model.name,
        "taxonomy": model.taxonomy.to_toml(),
        "labels": list(model.labels),
        "costs": None
        if costs is None
        else {
            "labels": list(costs.labels),
            "matrix": costs.matrix.tolist(),
            "kind": costs.kind,
        },
        "backbone": model.backbone,
        "hidden": model.hidden,
        "dropout": model.dropout,
        "frozen": model.frozen,
        "seed": model.seed,
        "encoder": None if model.encoder is None else model.encoder.to_dict(),
        "loss": model.loss,
        "training": model.training.to_dict(),
        "history": [_plain(entry) for entry in model.history],
        "best_epoch": model.best_epoch,
    }
    try:
        with replacing(folder, (_HEAD,)) as place:
            if model.on_embeddings:
                save_weights(model.network, place / _HEAD)
            else:
                with quiet_transformers():
                    model.network.save_pretrained(place / _NETWORK)
                    model.processor.save_pretrained(place / _NETWORK)
            (place / "README.md").write_text(_card(model), encoding="utf-8", newline="\n")
            write_json(place / META, meta)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or error}") from None
    return folder


def _plain(entry: dict[str, float]) -> dict[str, float | None]:
    """JSON knows no nan: EMC without a mistake is null."""
    return {name: None if value != value else value for name, value in entry.items()}


def _card(model: VisionClassifier) -> str:
    best = model.history[model.best_epoch - 1]
    reached = ", ".join(
        f"{name.removeprefix('dev ')} {value:.3f}"
        for name, value in best.items()
        if name.startswith("dev ")
    )
    how = ", ".join(f"{name} {value}" for name, value in model.loss.items())
    on_dev = (
        f"On the images that chose its epoch it reached: {reached}. These numbers are too good: "
        "those images had a say in the weights.\n"
        if reached
        else "It was judged on no image beside training.\n"
    )
    return (
        f"# {model.name}\n\nChooses one of {len(model.labels)} emotions for an image: "
        f"{', '.join(model.labels)}.\n\nBackbone: {model.backbone}. Learned with: {how}. Epoch "
        f"{model.best_epoch} of {len(model.history)} was kept. {on_dev}\n"
        "A model says which emotion people would name for an image, as far as its training images "
        "tell; it knows nothing of what a person feels.\n\n"
        "```python\nfrom affectlab.models.vision import VisionClassifier\n\n"
        'VisionClassifier.load("THIS FOLDER").predict("images/")\n```\n'
    )


def load_model(cls: type[_Model], folder: Path) -> _Model:
    """Read a model; see :meth:`VisionClassifier.load`."""
    meta = read_meta(folder, _SCHEMA, _KEYS, "vision model")
    where = folder / META
    try:
        model = _described(cls, meta, where)
    except InputError as error:
        said = str(error)
        raise InputError(said if said.startswith(str(where)) else f"{where}: {said}") from None
    except (KeyError, TypeError, AttributeError, ValueError, IndexError, OverflowError) as error:
        said = f"key {error} is missing" if isinstance(error, KeyError) else str(error)
        raise InputError(f"{where} cannot be used ({said}); expected what save wrote") from None
    if model.on_embeddings:
        load_weights(model.network, folder / _HEAD)
    else:
        place = str((folder / _NETWORK).resolve())
        model.network = load_backbone(place, model.labels, complete=True)
        model.processor = load_processor(place)
    check_finite(model.network, folder)
    model.network.eval()
    return model


def _described(cls: type[_Model], meta: dict[str, Any], where: Path) -> _Model:
    """Make the model that a folder describes, without its weights."""
    for name, kind in (("name", str), ("backbone", str), ("labels", list), ("best_epoch", int)):
        if not isinstance(meta[name], kind):
            raise InputError(f"{name} is {meta[name]!r}; expected what save wrote")
    costs = meta["costs"]
    model = cls(
        Taxonomy.from_toml(meta["taxonomy"], where=f"{where}, taxonomy"),
        meta["labels"],
        backbone=meta["backbone"],
        costs=None if costs is None else CostMatrix(**costs),
        hidden=meta["hidden"],
        dropout=meta["dropout"],
        frozen=bool(meta["frozen"]),
        name=meta["name"],
        seed=meta["seed"],
    )
    for name in meta["training"]:
        # Others, such as a folder for states, would let a file decide what is written where.
        if name not in model.training.to_dict():
            raise InputError(f"setting {name!r} is none that save writes")
    model.training = VisionTraining.with_settings(model.training, meta["training"])
    model.loss = dict(meta["loss"])
    model.history = [
        {name: float("nan") if value is None else float(value) for name, value in entry.items()}
        for entry in meta["history"]
    ]
    model.best_epoch = meta["best_epoch"]
    if not 1 <= model.best_epoch <= len(model.history):
        raise InputError(f"best_epoch is {model.best_epoch}; expected one of the history")
    if model.on_embeddings:
        model.encoder = EncoderCard.from_dict(meta["encoder"], f"{where}, encoder")
        model.network = Head(model.encoder.width, model.hidden, len(model.labels), model.dropout)
    return model
