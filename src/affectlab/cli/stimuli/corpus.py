"""``affectlab stimuli corpus``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from affectlab.cli._output import write_csv

if TYPE_CHECKING:
    from affectlab.cli._output import Output
    from affectlab.core.types import Count
    from affectlab.ratings import Ratings

__all__ = ["corpus"]


def corpus(
    ratings: Ratings,
    out: Output,
    *,
    to: Path = Path("corpus"),
    agree: Count = 2,
    splits: str = "train=80,dev=10,test=10",
    together: str = "text",
    seed: int = 0,
) -> None:
    """Make a labelled corpus from raw answers: agreed labels, in a training, dev and test part.

    Labels that fewer than --agree raters chose are dropped; stimuli on which nobody agrees go into
    low_agreement.csv. Every part is a CSV file that affectlab train text reads.

    Parameters
    ----------
    to
        Folder for the tables.
    agree
        Raters who must choose a label.
    splits
        Names and weights of the parts.
    together
        Stimuli with the same value of this attribute come into the same part; '' for none.
    """
    from affectlab.core.errors import InputError
    from affectlab.stimuli import labelled_corpus

    panel = out.panel(ratings)
    made = labelled_corpus(
        panel, agree=agree, splits=_parts(splits), keep_together=together or None, seed=seed
    )
    try:
        to.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InputError(f"{to} cannot be a to: there is a file of that name") from None
    found = made.statistics
    for name in found["splits"]:
        part = made.examples.filter(made.examples["split"] == name)
        write_csv(part.drop("split"), to / f"{name}.csv")
    write_csv(made.low_agreement, to / "low_agreement.csv")
    write_csv(made.labels_per_example, to / "labels_per_example.csv")
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
    out.show(f"tables: {to}")
    counts = made.labels_per_example.to_dicts()
    result = {**found, "labels_before_after": counts, "folder": to, "seed": seed}
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
