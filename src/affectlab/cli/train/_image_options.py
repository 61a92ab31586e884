"""Options of the verbs that train models of images: ``vision`` and ``semi``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Optional

import typer

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
    Path, typer.Option("--out", "-o", help="Folder for the model.", show_default=False)
]
TaxonomyName = Annotated[
    str, typer.Option(help="Taxonomy that holds the labels: a name or a TOML file.")
]
LabelColumn = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(help="Column of labels.", show_default="label, emotion or class"),
]
Embedded = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option(
        help="Embeddings of all images, a folder that affectlab embed wrote.", show_default=False
    ),
]
ModelName = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(help="Name of the model as a rater; by default that of the folder."),
]

Loss = Annotated[
    Literal["cross-entropy", "rank", "soft"],
    typer.Option(
        help="rank: cross-entropy and ListMLE on the order of costs; soft: a share of each label "
        "for those near it.",
        rich_help_panel=LOSS,
    ),
]
Lam = Annotated[float, typer.Option(help="Weight of ListMLE.", min=0, rich_help_panel=LOSS)]

Select = Annotated[
    Literal["acc", "acc2", "ecc", "emc"],
    typer.Option(help="What the kept epoch is best by on dev.", rich_help_panel=TRAINING),
]
Epochs = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option(
        help="Epochs at most.", min=1, show_default="10, a head 50", rich_help_panel=TRAINING
    ),
]
LearningRate = Annotated[
    Optional[float],  # noqa: UP045
    typer.Option(
        help="At its highest.", show_default="1e-4, a head 3e-3", rich_help_panel=TRAINING
    ),
]
Patience = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option(
        help="Stop after so many epochs without progress.",
        min=1,
        show_default="5, a head 10",
        rich_help_panel=TRAINING,
    ),
]
Hidden = Annotated[
    int,
    typer.Option(help="Units of a layer within a head; 0: none.", min=0, rich_help_panel=TRAINING),
]
Precision = Annotated[
    Literal["auto", "fp32", "bf16", "fp16"],
    typer.Option(help="What matrices are multiplied in.", rich_help_panel=TRAINING),
]
Device = Annotated[
    Literal["auto", "cpu", "cuda", "mps"],
    typer.Option(help="Where it is trained.", rich_help_panel=TRAINING),
]
Resume = Annotated[
    bool,
    typer.Option(
        "--resume", help="Go on where a run into this folder stopped.", rich_help_panel=TRAINING
    ),
]
