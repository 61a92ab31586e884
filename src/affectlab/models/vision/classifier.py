"""Classifying images by the emotion they show or evoke."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias, TypeVar, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from affectlab._version import __version__
from affectlab.core.errors import InputError, check_choice
from affectlab.core.types import Floats, Ints
from affectlab.models.augment import load_augmentation
from affectlab.models.devices import pick_device, pick_precision, private_seed, quiet_transformers
from affectlab.models.embedding import Embeddings, EncoderCard, embed, list_encoders
from affectlab.models.losses import Order, Ties, expected_cost_labels
from affectlab.models.pretrained import load_image_processor
from affectlab.models.processes import is_main_process
from affectlab.models.runs import (
    META,
    HubModel,
    front_matter,
    load_arrays,
    read_meta,
    replacing,
    save_arrays,
    write_json,
)
from affectlab.models.text.networks import check_finite, load_weights, save_weights
from affectlab.models.training import fingerprint_of, fingerprint_of_weights
from affectlab.models.vision.backbone import (
    Head,
    forward_head,
    forward_images,
    freeze,
    load_backbone,
    preparing,
    side_of,
)
from affectlab.models.vision.inputs import (
    Feed,
    Pictures,
    Rows,
    codes_of,
    feed_of,
    names_of_labels,
)
from affectlab.models.vision.loop import (
    Forward,
    Report,
    loss_of,
    probabilities_of,
    scores_of,
    train,
)
from affectlab.models.vision.settings import LossName, VisionTraining
from affectlab.ratings import Ratings, mark_training
from affectlab.taxonomy import CostMatrix, Taxonomy, load_taxonomy

__all__ = [
    "VisionClassifier",
    "as_ratings",
    "embedded",
    "load_model",
    "save_model",
]

# Vision classifiers in folders: weights as safetensors, all else as JSON.


_SCHEMA = "affectlab/vision-model/1"
_HEAD_FILE = "head.safetensors"
_SEEN = "seen.npz"
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
        with replacing(folder, ("*.safetensors", "config.json", _SEEN)) as place:
            if model.on_embeddings:
                save_weights(model.network, place / _HEAD_FILE)
            else:
                with quiet_transformers():
                    model.network.save_pretrained(place)
                    model.processor.save_pretrained(place)
            if model.seen.size:
                save_arrays(place / _SEEN, {"fingerprints": model.seen})
            (place / "README.md").write_text(_card(model), encoding="utf-8", newline="\n")
            write_json(place / META, meta)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or error}") from None
    return folder


def _plain(entry: dict[str, float]) -> dict[str, float | None]:
    """JSON knows no nan: EMC without a mistake is null."""
    return {name: None if value != value else value for name, value in entry.items()}


def _card(model: VisionClassifier) -> str:
    reached = ", ".join(f"{name} {value:.3f}" for name, value in model.dev_scores.items())
    how = ", ".join(f"{name} {value}" for name, value in model.loss.items())
    on_dev = (
        f"On the images that chose its epoch it reached: {reached}. These numbers are too good: "
        "those images had a say in the weights.\n"
        if reached
        else "It was judged on no image beside training.\n"
    )
    return (
        front_matter(
            "image-classification",
            [model.taxonomy.name],
            library="affectlab" if model.on_embeddings else "transformers",
        )
        + f"\n\n# {model.name}\n\nChooses one of {len(model.labels)} emotions for an image: "
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
        load_weights(model.network, folder / _HEAD_FILE)
    else:
        place = str(folder.resolve())
        model.network = load_backbone(place, model.labels, complete=True)
        model.processor = load_image_processor(place)
    if (folder / _SEEN).is_file():
        seen = load_arrays(folder / _SEEN).get("fingerprints")
        if seen is None or seen.ndim != 1 or seen.dtype != np.uint64:
            raise InputError(f"{folder / _SEEN}: expected the hashes of the training images")
        model.seen = seen
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


# From probabilities to a table of ratings.


def as_ratings(
    model: VisionClassifier,
    stimuli: Sequence[str],
    proba: Floats,
    decided: Sequence[str],
    rater: str,
) -> Ratings:
    """Make a table with one row per image and label; see :meth:`VisionClassifier.rate`."""
    import polars as pl

    n, k = proba.shape
    stimulus = pl.Series("stimulus", list(stimuli), dtype=pl.String)
    chosen = np.array(model.labels)[None, :] == np.array(decided)[:, None]
    frame = pl.DataFrame(
        {
            "stimulus": stimulus.gather(np.repeat(np.arange(n), k)),
            "rater": pl.Series([rater]).new_from_index(0, n * k),
            "label": pl.Series(list(model.labels) * n, dtype=pl.String),
            "value": np.clip(proba, 0.0, 1.0).ravel(),
            "chosen": chosen.ravel().astype(np.int8),
        }
    )
    said = f"probabilities of the vision model {model.name!r} ({model.backbone}), not calibrated"
    return Ratings(
        frame,
        scale="0-1 interval",
        raters=pl.DataFrame({"rater": [rater], "rater_kind": ["model"], "answers": [said]}),
        stimuli=pl.DataFrame([stimulus]),
        taxonomy=model.taxonomy,
        source=rater,
    )


# Embeddings of images: those given, or made by the encoder of a model.


def embedded(
    images: Any, name: str, known: EncoderCard | None, device: str, progress: Any = None
) -> Embeddings:
    """Give embeddings as they are, or embed images.

    Parameters
    ----------
    images
        Embeddings, or what :func:`affectlab.models.embedding.embed` takes.
    name
        Of the encoder, or the folder of a checkpoint of transformers.
    known
        The encoder that must have made them; None: any; images are embedded by that of
        this `name`.

    Raises
    ------
    InputError
        When another encoder made them, it cannot be loaded, or it reads texts.
    """
    if isinstance(images, Embeddings):
        if known is not None and not known.same(images.encoder):
            raise InputError(
                f"embeddings of encoder {images.encoder}; the model was trained on those of {known}"
            )
        found = images
    elif known is not None:
        from affectlab.models.embedding import encoder_of

        found = embed(images, encoder_of(known, None, device), progress=progress)
    else:
        # A folder that happens to be called as an encoder is, such as faces/, is not meant.
        folder = name not in list_encoders() and Path(name).is_dir()
        made = f"transformers:{name}" if folder else name
        found = embed(images, made, device=device, progress=progress)
    if not len(found):
        raise InputError("embeddings of no stimulus; expected one or more")
    if found.encoder.kind != "image":
        raise InputError(f"encoder {found.encoder} reads texts; expected one of images")
    return found


Labels: TypeAlias = Sequence[str] | Mapping[str, str]
"""The true label of each image in order, or by name of stimulus."""
Decision: TypeAlias = Literal["probable", "cost"]

_EMBEDDING = "embedding:"
_HEAD = VisionTraining(epochs=50, batch_size=64, learning_rate=3e-3, augment="none", patience=10)
"""What a head on embeddings starts from."""


class VisionClassifier(HubModel):
    """One emotion of several for each image.

    Parameters
    ----------
    taxonomy
        Holds the labels, and the costs of mistakes among them; or its name or file.
    labels
        Those to choose from, in their order; None: those that training has, in the order of the
        taxonomy.
    backbone
        Name or folder of an image network of transformers, all of which is trained; or
        ``embedding:NAME``, an encoder by name or folder (see
        :func:`affectlab.models.embedding.load_encoder`), on whose numbers a head is trained.
    costs
        Costs of mistakes; None: those of the taxonomy.
    hidden, dropout
        Of a head on embeddings: units of its layer between, 0 for none, and the share left out.
    frozen
        Train the last layer of a network alone.
    name
        Of the model as a rater.
    seed
        Of everything that is random.

    References
    ----------
    Zhao et al. (2024), To Err Like Human, sections 4.2.2 to 4.5.

    Examples
    --------
    >>> from affectlab.simulate import draw_face
    >>> shown = [name for name in ("amusement", "sadness", "anger") for _ in range(4)]
    >>> faces = [draw_face(name, identity=at % 4, size=48) for at, name in enumerate(shown)]
    >>> model = VisionClassifier("mikels", backbone="embedding:hog")
    >>> model.fit(faces, shown, loss="rank", epochs=30).predict(faces[:5:4])
    ['amusement', 'sadness']
    """

    def __init__(
        self,
        taxonomy: str | Path | Taxonomy,
        labels: Sequence[str] | None = None,
        *,
        backbone: str | Path = "embedding:faces",
        costs: CostMatrix | None = None,
        hidden: int = 0,
        dropout: float = 0.1,
        frozen: bool = False,
        name: str = "vision",
        seed: int = 0,
    ) -> None:
        self.taxonomy = load_taxonomy(taxonomy)
        self.asked = None if labels is None else tuple(map(self.taxonomy.name_of, labels))
        self.backbone, self.costs = str(backbone), costs
        if not isinstance(hidden, int) or hidden < 0:
            raise InputError(f"hidden = {hidden}: expected a whole number from 0 on")
        if not 0 <= dropout < 1:
            raise InputError(f"dropout = {dropout}: expected a share from 0 to below 1")
        if not isinstance(seed, int) or seed < 0:
            raise InputError(f"seed = {seed}: expected a whole number from 0 on")
        self.hidden, self.dropout, self.frozen = hidden, float(dropout), frozen
        self.name, self.seed = name, seed
        self.labels: tuple[str, ...] = self.asked or ()
        self.training = _HEAD if self.on_embeddings else VisionTraining()
        self.loss: dict[str, Any] = {}
        """What was learned with, in words and numbers."""
        self.history: list[dict[str, float]] = []
        """What each epoch reached: epoch, loss, and the scores on dev."""
        self.best_epoch = 0
        """Epoch whose weights were kept, from 1 on."""
        self.encoder: EncoderCard | None = None
        """What made the embeddings."""
        self.network: Any = None
        self.processor: Any = None
        self.seen: NDArray[np.uint64] = np.empty(0, dtype=np.uint64)
        """Hashes of the images of training, and of dev."""

    def __repr__(self) -> str:
        """Say what it is."""
        held = f"{len(self.labels)} labels" if self.network is not None else "not trained"
        return f"<VisionClassifier {self.name!r} on {self.backbone}, {held}>"

    @property
    def dev_scores(self) -> dict[str, float]:
        """What the epoch that was kept reached on dev: as :meth:`evaluate`; empty without dev."""
        kept = self.history[self.best_epoch - 1] if self.best_epoch else {}
        return {
            name.removeprefix("dev "): value
            for name, value in kept.items()
            if name.startswith("dev ")
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """How far the scores on dev say how good the model is."""
        if not self.dev_scores:
            return (
                "no image was kept aside for dev: the last epoch was kept, and nothing judged it",
            )
        return (
            f"epoch {self.best_epoch} of {len(self.history)} was chosen by "
            f"{self.training.select.upper()} on dev: what is reached there is too good",
        )

    @property
    def on_embeddings(self) -> bool:
        """Whether it is a head on embeddings."""
        return self.backbone.startswith(_EMBEDDING)

    def fit(
        self,
        images: Any,
        labels: Labels,
        *,
        dev: tuple[Any, Labels] | None = None,
        loss: LossName | nn.Module = "cross-entropy",
        lam: float = 1.0,
        order: Order = "true",
        ties: Ties = "random",
        temperature: float = 1.0,
        progress: Report | None = None,
        **settings: Any,
    ) -> Self:
        """Train on images.

        Parameters
        ----------
        images
            A folder, a table, or a list of files (see :func:`affectlab.models.images.find_images`),
            a list or mapping of pictures, or
            :class:`~affectlab.models.embedding.Embeddings` for a backbone on embeddings, which
            say themselves what made them.
        labels
            The true label of each image in order, or by name of stimulus.
        dev
            Images and labels beside training that choose the epoch whose weights are kept; None:
            the last one is.
        loss
            ``"cross-entropy"``; ``"rank"``, :class:`EmotionRankLoss` with `lam`, `order` and
            `ties`; ``"soft"``, :class:`SoftLabelLoss` with `temperature`; or a module that takes
            logits, shape (n, C), and places of labels, shape (n,), and gives a mean.
        progress
            Told what is being done, how much of it is done, and the total.
        **settings
            Of :class:`VisionTraining`, such as ``epochs`` and ``select``.

        Raises
        ------
        InputError
            When a label or a setting is not known, images are missing, the taxonomy has not what
            the loss or `select` needs, or training diverges. The model then counts as not trained.
        """
        # Whatever stops this run, what was trained before is not taken for its result.
        self.best_epoch = 0
        start = _HEAD if self.on_embeddings else VisionTraining()
        training = VisionTraining.with_settings(start, settings)
        feed = self._found(images, training, progress, learning=True)
        names = names_of_labels(labels, feed.names, self.taxonomy, "training")
        self.labels = self.asked or tuple(n for n in self.taxonomy.labels if n in set(names))
        if len(self.labels) < 2:
            raise InputError(
                f"training: all images are {self.labels[0]!r}; expected two labels at least"
            )
        targets = codes_of(names, self.labels, "training")
        module, said = loss_of(
            loss,
            self.costs or self.taxonomy,
            self.labels,
            lam=lam,
            order=order,
            ties=ties,
            temperature=temperature,
            seed=self.seed,
        )
        self.training, self.loss = training, said
        judged = None if dev is None else self._dev(dev, training, progress)
        self._build(feed)
        whole = fingerprint_of(
            training.to_dict(),
            said,
            # A loss that was given says its settings, where it says any.
            repr(module),
            self.seed,
            feed.told(),
            names,
            None if judged is None else [judged[0].told(), judged[2].tobytes()],
            fingerprint_of_weights(self.network),
        )
        self.history, self.best_epoch = train(
            self.network,
            self._forward,
            module,
            feed,
            targets,
            None if judged is None else judged[:2],
            training,
            seed=self.seed,
            fingerprint=whole,
            progress=progress,
        )
        parts = [feed, *(() if judged is None else (judged[0],))]
        self.seen = np.unique(np.concatenate([part.marks() for part in parts]))
        return self

    def predict_proba(self, images: Any, *, progress: Report | None = None) -> Floats:
        """Give probabilities, shape (n, C), columns in the order of `labels`."""
        return self._said(self._feed(images, progress), progress)

    def predict(
        self, images: Any, *, decide: Decision = "probable", progress: Report | None = None
    ) -> list[str]:
        """Give a label for each image.

        Parameters
        ----------
        decide
            ``"probable"``: the most probable label; ``"cost"``: the one that is expected to cost
            least (see :func:`expected_cost_labels`).
        """
        return self.decide(self.predict_proba(images, progress=progress), decide)

    def decide(self, proba: Floats, decide: Decision = "probable") -> list[str]:
        """Choose a label by probabilities; see :meth:`predict`."""
        check_choice("decision", decide, get_args(Decision))
        if decide == "cost":
            return expected_cost_labels(proba, self.costs or self.taxonomy, self.labels)
        return [self.labels[place] for place in proba.argmax(axis=1)]

    def rate(
        self,
        images: Any,
        *,
        rater: str | None = None,
        decide: Decision = "probable",
        progress: Report | None = None,
    ) -> Ratings:
        """Rate images as a rater would: a probability for each label, and which one is chosen.

        ``n_seen`` and ``share_seen`` of the rater count the images of training or dev,
        ``in_training`` says which these are.
        """

        feed = self._feed(images, progress)
        proba = self._said(feed, progress)
        found = as_ratings(self, feed.names, proba, self.decide(proba, decide), rater or self.name)
        if not self.seen.size:
            return found
        known = np.isin(feed.marks(), self.seen)
        return mark_training(found, [feed.names[row] for row in np.flatnonzero(known)])

    def evaluate(
        self, images: Any, labels: Labels, *, progress: Report | None = None
    ) -> dict[str, float]:
        """Judge on other images: ``acc``, ``acc2``, ``ecc``, ``emc`` and ``loss``.

        What the taxonomy does not allow is left out; ``emc`` is nan where there is no mistake.
        """
        feed = self._feed(images, progress)
        names = names_of_labels(labels, feed.names, self.taxonomy, "evaluation")
        truth = codes_of(names, self.labels, "evaluation")
        said = self._said(feed, progress)
        return scores_of(truth, said, self.labels, self.taxonomy, self.costs)

    def save(self, path: str | Path) -> Path:
        """Write the model to a folder: new, empty, or that of a model, which is replaced.

        Of several processes that trained it together, the first one writes, and all wait for it.

        Raises
        ------
        InputError
            When it was not trained, or the folder holds anything else or cannot be written.
        """

        self._trained()
        if is_main_process():
            save_model(self, Path(path))
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            torch.distributed.barrier()
        return Path(path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what :meth:`save` wrote; nothing in it is executed.

        Raises
        ------
        InputError
            When there is none, a part of it is missing, or parts do not fit together.
        """

        return load_model(cls, Path(path))

    # -- inner -----------------------------------------------------------------------------------

    @property
    def _forward(self) -> Forward:
        return forward_head if self.on_embeddings else forward_images

    def _trained(self) -> None:
        if self.network is None or not self.best_epoch:
            raise InputError("the model is not trained; call fit, or load one")

    def _feed(self, images: Any, progress: Report | None) -> Pictures | Rows:
        self._trained()
        return self._found(images, self.training, progress)

    def _found(
        self, images: Any, training: VisionTraining, progress: Report | None, learning: bool = False
    ) -> Pictures | Rows:
        if self.on_embeddings:
            known = None if learning else self.encoder
            name = self.backbone.removeprefix(_EMBEDDING)
            found = embedded(images, name, known, training.device, progress)
            given = isinstance(images, Embeddings)
            if learning:
                if training.augment != "none":
                    raise InputError(
                        f"augment = {training.augment!r}: embeddings cannot be changed as images "
                        "are; expected 'none'"
                    )
                self.encoder = found.encoder
                # Embeddings that were given say themselves what made them.
                self.backbone = self.backbone if not given else _EMBEDDING + found.encoder.name
            return Rows(found)
        change = None
        if learning:
            self.processor = load_image_processor(self.backbone)
            if training.augment != "none":
                change = load_augmentation(training.augment)
        side = side_of(self.processor)
        return feed_of(images, preparing(self.processor), change, training.workers, side)

    def _build(self, feed: Feed) -> None:
        """Make the network for the labels, with random weights where none are known."""
        with private_seed(self.seed):
            if isinstance(feed, Rows):
                rows = feed.embeddings.rows()
                head = Head(rows.shape[1], self.hidden, len(self.labels), self.dropout)
                head.standardise(torch.from_numpy(rows))
                self.network = head
                return
            self.network = load_backbone(self.backbone, self.labels)
        if self.frozen:
            freeze(self.network)

    def _dev(
        self, dev: tuple[Any, Labels], training: VisionTraining, progress: Report | None
    ) -> tuple[Pictures | Rows, Any, Ints]:
        """Find what epochs are judged on, and check that it can be judged."""
        if not isinstance(dev, tuple | list) or len(dev) != 2:
            raise InputError("dev: expected a pair of images and their labels")
        feed = self._found(dev[0], training, progress)
        names = names_of_labels(dev[1], feed.names, self.taxonomy, "dev")
        truth = codes_of(names, self.labels, "dev")

        def judge(proba: Floats) -> dict[str, float]:
            return scores_of(truth, proba, self.labels, self.taxonomy, self.costs, training.select)

        # Nothing is learned before it is known that epochs can be compared.
        k = len(self.labels)
        judge(torch.full((len(truth), k), 1 / k, dtype=torch.float64).numpy())
        return feed, judge, truth

    def _said(self, feed: Feed, progress: Report | None) -> Floats:
        device = pick_device(self.training.device)
        self.network.to(device)
        precision = pick_precision(self.training.precision, device)
        return probabilities_of(
            self.network, self._forward, feed, self.training, precision, progress
        )
