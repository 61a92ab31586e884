"""``affectlab stimuli corpus``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from affectlab.cli._options import SeedOption, reads_ratings
from affectlab.cli._output import write_csv
from affectlab.cli.parameters import Option

if TYPE_CHECKING:
    from affectlab.cli._output import Output
    from affectlab.ratings import Ratings

__all__ = ["corpus"]


@reads_ratings("stimuli corpus")
def corpus(
    ratings: Ratings,
    out: Output,
    folder: Annotated[
        Path, Option("--out", help="Folder for the tables.", metavar="FOLDER")
    ] = Path("corpus"),
    agree: Annotated[int, Option(help="Raters who must choose a label.", min=1)] = 2,
    splits: Annotated[
        str, Option(help="Names and weights of the parts.", metavar="NAME=WEIGHT,…")
    ] = "train=80,dev=10,test=10",
    together: Annotated[
        str,
        Option(
            help="Stimuli with the same value of this attribute come into the same part; '' for "
            "none."
        ),
    ] = "text",
    seed: SeedOption = 0,
) -> None:
    """Make a labelled corpus from raw answers: agreed labels, in a training, dev and test part.

    Labels that fewer than --agree raters chose are dropped; stimuli on which nobody agrees go into
    low_agreement.csv. Every part is a CSV file that affectlab train text reads.

    Example: affectlab stimuli corpus goemotions_raw.csv --out corpus/
    """
    from affectlab.core.errors import InputError
    from affectlab.stimuli import labelled_corpus

    panel = out.panel(ratings)
    made = labelled_corpus(
        panel, agree=agree, splits=_parts(splits), keep_together=together or None, seed=seed
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InputError(f"{folder} cannot be a folder: there is a file of that name") from None
    found = made.statistics
    for name in found["splits"]:
        part = made.examples.filter(made.examples["split"] == name)
        write_csv(part.drop("split"), folder / f"{name}.csv")
    write_csv(made.low_agreement, folder / "low_agreement.csv")
    write_csv(made.labels_per_example, folder / "labels_per_example.csv")
    shares = found["labels_per_example"]
    lines = [
        ("examples", f"{found['n_examples']:,}"),
        *(
            (f"{k} or more raters agree on a label", f"{two['n']:,} ({_percent(two['share'])})")
            for k, two in found["agreed_by"].items()
        ),
        *((f"labels per example: {k}", _percent(share)) for k, share in shares.items()),
        ("kept", f"{found['n_kept']:,}"),
        ("low agreement, set aside", f"{found['n_low_agreement']:,}"),
        *((name, f"{size:,}") for name, size in found["splits"].items()),
    ]
    for name, text in lines:
        out.show(f"{name:<36}{text}")
    out.show(f"tables: {folder}")
    counts = made.labels_per_example.to_dicts()
    result = {**found, "labels_before_after": counts, "folder": folder, "seed": seed}
    out.finish({"panel": out.who, **result}, ratings.warnings)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _parts(text: str) -> dict[str, float]:
    """Read names and weights, such as train=80,dev=20."""
    from affectlab.core.errors import InputError

    parts: dict[str, float] = {}
    for piece in text.split(","):
        name, _, weight = (part.strip() for part in piece.partition("="))
        try:
            parts[name] = float(weight)
        except ValueError:
            parts[name] = 0.0
        if not name.isidentifier() or not 0 < parts[name] < float("inf"):
            raise InputError(
                f"--splits {text}: {piece!r} is not a name and a weight above 0, such as train=80"
            )
    return parts
