"""Head banks in folders: weights as safetensors, all else as JSON; nothing is ever executed."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from affectlab._version import __version__
from affectlab.core.errors import InputError
from affectlab.core.words import count, joined, number, plural
from affectlab.models.embedding import EncoderCard
from affectlab.models.heads.calibration import Intervals, Neutral, ScaleMap
from affectlab.models.heads.heads import Heads
from affectlab.models.heads.published import is_published, load_published
from affectlab.models.heads.shape import HeadShape
from affectlab.models.heads.weights import StackedWeights
from affectlab.models.runs import (
    META,
    file_hash,
    front_matter,
    load_arrays,
    read_meta,
    replacing,
    save_arrays,
    write_json,
)
from affectlab.taxonomy import Taxonomy

__all__ = [
    "card_text",
    "load_bank",
    "save_bank",
]

Bank = TypeVar("Bank", bound=Heads)

# The card of a head bank: what it was made of, how scores become ratings, what it is not for.


def card_text(bank: Heads, folder: str = "DIR") -> str:
    """Give the card as Markdown, for a folder of this name."""
    layers = "-".join(map(str, (bank.width, *bank.shape.hidden, 1)))
    size = bank.shape.n_parameters(bank.width or 1)
    encoder = (
        f"embeddings of {bank.encoder}" if bank.encoder else "embeddings of an encoder not named"
    )
    parts = [
        front_matter("image-feature-extraction", [bank.taxonomy.name]),
        f"# {bank.name}",
        f"{plural(len(bank.labels), 'head')} of {count(size)} parameters each ({layers}, dropout "
        f"{bank.shape.dropout:g}) on {encoder}; labels of `{bank.taxonomy.name}`. Written by "
        f"affectlab {__version__}.",
        "## Training",
        "Targets: "
        + (
            "whether an emotion is there (0/1, there from half a point on)."
            if bank.binarised
            else "ratings from 0 to 7."
        ),
        _stages(bank),
        _ties(bank),
        _judged(bank),
        "## From scores to ratings",
        "\n".join(f"{place}. {step}" for place, step in enumerate(_steps(bank), 1)),
        _calibration(bank),
        "## Use",
        f"```sh\naffectlab rate {folder} IMAGES --out ratings.parquet\n```",
        "**Intended use**: studying which emotions many pictures show, where single mistakes do "
        "not matter; compare the ratings with those of people on pictures of the same kind first.",
        "**Not for**: decisions about single persons, diagnosis, or judging what somebody feels. A "
        "face shows what others see in it.",
        "## Limits",
        "People, cameras, styles and expressions unlike those of training are untested. "
        "The best weights of each head were chosen on validation rows, whose losses are too good "
        "for that reason.",
        "## Labels",
        ", ".join(bank.labels),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _stages(bank: Heads) -> str:
    rows = [
        "| stage | source | rated | learned from | epochs | learning rate | best validation loss |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for stage in bank.stages:
        cells = [
            str(stage.get("name", "")),
            str(stage.get("source", "")) or "–",
            _span(stage.get("n_rated"), 0),
            _span(stage.get("rows_per_head"), 0),
            _count(stage.get("epochs")),
            f"{stage.get('learning_rate', '–')}",
            _span(stage.get("best_loss"), 4),
        ]
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(rows) if bank.stages else ""


def _ties(bank: Heads) -> str:
    """Say what was made of answers that lie between a yes and a no."""
    said = []
    for stage in bank.stages:
        n = sum(one for one in stage.get("n_tied") or [] if isinstance(one, int))
        if n and stage.get("tied") in _TIED:
            of = f" of {stage.get('source')}" if stage.get("source") else ""
            took = _TIED[stage["tied"]]
            said.append(f"For {plural(n, 'rating')}{of} raters were divided in half: {took}.")
    return " ".join(said)


_TIED = {
    "present": "the emotion was taken as there",
    "absent": "the emotion was taken as not there",
    "leave_out": "nothing was learned from them",
}


def _judged(bank: Heads) -> str:
    """Say how near the heads came to ratings that were kept aside."""
    if not bank.judged:
        return ""
    rows = bank.judged["labels"]
    table = [
        "| label | ratings | Spearman | mean difference | with its sign |",
        "|---|--:|--:|--:|--:|",
    ]
    for row in rows:
        numbers = [number(row.get(name), 3) for name in ("spearman", "mae", "bias")]
        table.append(f"| {row.get('label')} | {_count(row.get('n'))} | {' | '.join(numbers)} |")
    head = f"Judged by {bank.judged.get('by')}; {bank.judged.get('steps')}:"
    return "\n\n".join(("## How good they are", head, "\n".join(table)))


def _count(given: Any) -> str:
    return count(given) if isinstance(given, int) else "–"


def _span(given: Any, digits: int) -> str:
    """Write the least and the greatest of some numbers."""
    values = [one for one in given or [] if isinstance(one, int | float)]
    if not values:
        return "–"
    ends = [number(end, digits) for end in (min(values), max(values))]
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


def _steps(bank: Heads) -> list[str]:
    neutral = (
        f"They are taken {bank.neutral.said}."
        if bank.neutral
        else ("Nothing is subtracted: the heads are not calibrated on neutral stimuli.")
    )
    return [
        f"Scores are brought to 0 to 7: {bank.scale_map.said}.",
        neutral,
        "What lies beyond 0 to 7 is taken as the bound."
        + (" So the mean rating of neutral stimuli lies a little above 0." if bank.neutral else ""),
    ]


def _calibration(bank: Heads) -> str:
    said = []
    if bank.neutral:
        offsets = sorted(zip(bank.neutral.offsets, bank.labels, strict=True), reverse=True)[:3]
        most = joined(f"{label} ({number(offset)})" for offset, label in offsets)
        said.append(f"Largest neutral means: {most}.")
    if bank.intervals:
        said.append(f"Intervals: {bank.intervals.said}.")
    return " ".join(said)


_SCHEMA = "affectlab/head-bank/1"
_WEIGHTS = "weights.safetensors"
_SEEN = "seen.npz"
_KEYS = (
    "name",
    "taxonomy",
    "labels",
    "shape",
    "width",
    "binarised",
    "seed",
    "encoder",
    "stages",
    "scale_map",
    "neutral",
    "intervals",
    "weights",
)


def save_bank(bank: Heads, folder: Path) -> Path:
    """Write a bank; see :meth:`HeadBank.save`."""
    from safetensors.torch import save_file

    weights = bank._trained()
    description = {
        "schema": _SCHEMA,
        "affectlab": __version__,
        "name": bank.name,
        "taxonomy": bank.taxonomy.to_toml(),
        "labels": list(bank.labels),
        "shape": {"hidden": list(bank.shape.hidden), "dropout": bank.shape.dropout},
        "width": weights.width,
        "binarised": bank.binarised,
        "seed": bank.seed,
        "encoder": None if bank.encoder is None else bank.encoder.to_dict(),
        "stages": bank.stages,
        "scale_map": bank.scale_map.to_dict(),
        "neutral": None if bank.neutral is None else bank.neutral.to_dict(),
        "intervals": None if bank.intervals is None else bank.intervals.to_dict(),
        "judged": bank.judged,
    }
    try:
        with replacing(folder, (_SEEN,)) as place:
            save_file(weights.state(), place / _WEIGHTS)
            if bank.seen.size:
                save_arrays(place / _SEEN, {"fingerprints": bank.seen})
            (place / "README.md").write_text(
                card_text(bank, folder.name or "."), encoding="utf-8", newline="\n"
            )
            held = {"file": _WEIGHTS, "blake2b": file_hash(place / _WEIGHTS)}
            write_json(place / META, {**description, "weights": held})
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or error}") from None
    return folder


def load_bank(cls: type[Bank], folder: Path) -> Bank:
    """Read a bank; see :meth:`HeadBank.load`."""
    if not (folder / META).is_file() and is_published(folder):
        return load_published(cls, folder)
    meta = read_meta(folder, _SCHEMA, _KEYS, "head bank")
    where = folder / META
    try:
        bank = _described(cls, meta, where)
    except InputError as error:
        said = str(error)
        raise InputError(said if said.startswith(str(where)) else f"{where}: {said}") from None
    except RecursionError:
        raise InputError(f"{where} cannot be used: brackets in brackets without end") from None
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError, IndexError) as error:
        said = f"key {error} is missing" if isinstance(error, KeyError) else str(error)
        raise InputError(f"{where} cannot be used ({said}); expected what save wrote") from None
    bank.weights = _weights_of(bank, folder / _WEIGHTS, meta)
    bank.seen = _seen_of(folder / _SEEN)
    return bank


def _described(cls: type[Bank], meta: dict[str, Any], where: Path) -> Bank:
    """Make the bank that a folder describes, without its weights."""
    shape = HeadShape(tuple(meta["shape"]["hidden"]), dropout=float(meta["shape"]["dropout"]))
    for name, kind in (("name", str), ("binarised", bool), ("width", int), ("stages", list)):
        if not isinstance(meta[name], kind):
            raise InputError(f"{name} is {meta[name]!r}; expected what save wrote")
    card = meta["encoder"]
    taxonomy = Taxonomy.from_toml(meta["taxonomy"], where=f"{where}, taxonomy")
    bank = cls(
        taxonomy,
        list(meta["labels"]),
        encoder=None if card is None else EncoderCard.from_dict(card, f"{where}, encoder"),
        shape=shape,
        binarised=meta["binarised"],
        name=meta["name"],
        seed=meta["seed"],
    )
    if bank.encoder is not None and bank.encoder.width != meta["width"]:
        raise InputError(f"width {meta['width']}; that of the encoder is {bank.encoder.width}")
    if not all(isinstance(stage, dict) for stage in meta["stages"]):
        raise InputError("stages: expected what save wrote")
    bank.stages = meta["stages"]
    bank.judged = _judged_of(meta.get("judged"))
    bank.scale_map = ScaleMap.from_dict(meta["scale_map"])
    if meta["neutral"] is not None:
        bank.neutral = Neutral.from_dict(meta["neutral"])
    if meta["intervals"] is not None:
        bank.intervals = Intervals.from_dict(meta["intervals"])
    counts = {
        "scale_map": len(bank.scale_map.knots),
        "neutral": len(bank.neutral.offsets) if bank.neutral else len(bank.labels),
        "intervals": len(bank.intervals.half) if bank.intervals else len(bank.labels),
    }
    for name, n in counts.items():
        if n != len(bank.labels):
            raise InputError(f"{name} is of {n} heads; expected {len(bank.labels)}")
    return bank


def _judged_of(given: Any) -> dict[str, Any] | None:
    """Check what is said of how good the heads are; folders of earlier versions say nothing."""
    if given is None:
        return None
    if not isinstance(given, dict) or not all(isinstance(row, dict) for row in given["labels"]):
        raise InputError("judged: expected what save wrote")
    return given


def _weights_of(bank: Heads, path: Path, meta: dict[str, Any]) -> StackedWeights:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        found = file_hash(path)
        state = load_file(path)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; the model folder is not complete") from None
    except (SafetensorError, OSError, ValueError, KeyError, RuntimeError) as error:
        said = " ".join(str(error).split())[:120]
        raise InputError(f"{path} cannot be read ({said}); expected weights of heads") from None
    weights = StackedWeights.from_state(state, str(path))
    sizes, k = bank.shape.sizes(meta["width"]), len(bank.labels)
    if weights.sizes != sizes or weights.n_heads != k:
        raise InputError(
            f"{path} holds {weights.n_heads} heads with layers {_layers(weights.sizes)}; expected "
            f"{k} with layers {_layers(sizes)}, as {META} says"
        )
    held = meta["weights"]
    if not isinstance(held, dict) or held.get("blake2b") != found:
        raise InputError(
            f"{path} is not the file that save wrote: its content was changed or damaged since; "
            "copy the folder again"
        )
    return weights


def _layers(sizes: tuple[int, ...]) -> str:
    return "-".join(map(str, sizes))


def _seen_of(path: Path) -> NDArray[np.uint64]:
    if not path.is_file():
        return np.empty(0, dtype=np.uint64)
    seen = load_arrays(path).get("fingerprints")
    if seen is None or seen.ndim != 1 or seen.dtype != np.uint64:
        raise InputError(f"{path}: expected the fingerprints of the rows that were trained on")
    return seen
