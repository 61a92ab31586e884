"""Options of the verbs that train models of images: ``vision`` and ``semi``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from affectlab.cli.parameters import Option

__all__ = [
    "LOSS",
    "TRAINING",
    "Device",
    "Embedded",
    "Epochs",
    "Hidden",
    "LabelColumn",
    "Lam",
    "LearningRate",
    "Loss",
    "ModelFolder",
    "ModelName",
    "Patience",
    "Precision",
    "Resume",
    "Select",
    "TaxonomyName",
]

LOSS = "Loss"
TRAINING = "Training"

ModelFolder = Annotated[
    Path, Option("--out", "-o", help="Folder for the model.", show_default=False)
]
TaxonomyName = Annotated[str, Option(help="Taxonomy that holds the labels: a name or a TOML file.")]
LabelColumn = Annotated[
    str | None,
    Option(help="Column of labels.", show_default="label, emotion or class"),
]
Embedded = Annotated[
    Path | None,
    Option(
        help="Embeddings of all images, a folder that affectlab embed wrote.", show_default=False
    ),
]
ModelName = Annotated[
    str | None,
    Option(help="Name of the model as a rater; by default that of the folder."),
]

Loss = Annotated[
    Literal["cross-entropy", "rank", "soft"],
    Option(
        help="rank: cross-entropy and ListMLE on the order of costs; soft: a share of each label "
        "for those near it.",
        group=LOSS,
    ),
]
Lam = Annotated[float, Option(help="Weight of ListMLE.", min=0, group=LOSS)]

Select = Annotated[
    Literal["acc", "acc2", "ecc", "emc"],
    Option(help="What the kept epoch is best by on dev.", group=TRAINING),
]
Epochs = Annotated[
    int | None,
    Option(help="Epochs at most.", min=1, show_default="10, a head 50", group=TRAINING),
]
LearningRate = Annotated[
    float | None,
    Option(help="At its highest.", show_default="1e-4, a head 3e-3", group=TRAINING),
]
Patience = Annotated[
    int | None,
    Option(
        help="Stop after so many epochs without progress.",
        min=1,
        show_default="5, a head 10",
        group=TRAINING,
    ),
]
Hidden = Annotated[
    int,
    Option(help="Units of a layer within a head; 0: none.", min=0, group=TRAINING),
]
Precision = Annotated[
    Literal["auto", "fp32", "bf16", "fp16"],
    Option(help="What matrices are multiplied in.", group=TRAINING),
]
Device = Annotated[
    Literal["auto", "cpu", "cuda", "mps"],
    Option(help="Where it is trained.", group=TRAINING),
]
Resume = Annotated[
    bool,
    Option("--resume", help="Go on where a run into this folder stopped.", group=TRAINING),
]
