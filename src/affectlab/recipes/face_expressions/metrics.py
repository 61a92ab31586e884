"""Metrics of pictures, and a learned one, on the pairs of a study."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import polars as pl

from affectlab.core.environment.installing import install_line
from affectlab.recipes.face_expressions.figures import metric_pictures
from affectlab.recipes.face_expressions.findings import Figures
from affectlab.recipes.recipe import SETTING, Finding

if TYPE_CHECKING:
    from affectlab.analysis import PairScores
    from affectlab.recipes.face_expressions.films import Films

__all__ = ["WEIGHTS", "drawn_metrics", "metric_figures", "needs_weights"]

WEIGHTS = (
    "lpips", "blendshapes.cosine", "blendshapes.l1", "resnet50.cosine", "resnet50.l1",
    "moco.cosine", "moco.l1", "clip_resnet50.cosine", "clip_resnet50.l1", "clip_vit.cosine",
    "clip_vit.l1", "mae_face.cosine", "mae_face.l1", "fmae_iat.cosine", "fmae_iat.l1",
    "farl.cosine", "farl.l1", "blendshapes.intra", "blendshapes.inter", "farl.intra", "farl.inter",
)  # fmt: skip
"""Metrics of the paper whose weights do not come with affectlab."""

_ENCODER = "faces"
_OF_SSIM = ("metrics.ssim.srocc", "metrics.ssim.plcc")
_OF_LEARNED = ("learned.splits", "learned.srocc", "learned.plcc")
_DRAWS = 1000
_STRENGTH = 1.0
"""On the scale of standardised numbers; looking for the best would take most of the time."""
_SIGNS = {"ssim": -1}
"""Ours rises with the difference; the paper gives the similarity."""


def needs_weights() -> Figures:
    """Say of every metric that needs weights that it does."""
    why = "needs weights that do not come with affectlab; see affectlab rate"
    keys = [f"metrics.{name}.{what}" for name in WEIGHTS for what in ("srocc", "plcc")]
    return Figures(dict.fromkeys(keys, Finding(why=why)))


def metric_figures(
    pairs: pl.DataFrame,
    images: Path,
    *,
    learner: bool = True,
    strength: float | None = None,
    seed: int = 0,
) -> Figures:
    """Compare metrics that need no weights with scores, and learn one on embeddings.

    Parameters
    ----------
    pairs
        ``stimulus, actor, kind, file_a, file_b`` and ``value``, the score.
    images
        Folder of the files.
    learner
        Whether to cross-validate a learned metric, which needs three actors or more.
    strength
        How far it is held back; by default what predicts actors left out best, which takes long.
    """
    from affectlab.evaluation import difference_metrics
    from affectlab.models.differences import rate_differences

    names, deep = ["mse", "mae"], list[str]()
    skipped: dict[str, Finding] = {}
    if find_spec("skimage") is not None:
        names.append("ssim")
        deep = [f"deep:{_ENCODER},distance={one}" for one in ("l1", "cosine")]
    else:
        missing = Finding(why=f"needs scikit-image ({install_line('vision')})")
        skipped = dict.fromkeys((*_OF_SSIM, *(_OF_LEARNED if learner else ())), missing)
        learner = False
    rated = rate_differences(pairs.drop("value"), [*names, *deep], images=images)
    answers = {
        name: part.sort("stimulus").select("stimulus", "value")
        for (name,), part in (
            rated.to_frame()
            .with_columns(pl.col("rater", "stimulus").cast(pl.String))
            .partition_by("rater", as_dict=True)
            .items()
        )
    }
    values = {name: table["value"].to_numpy() for name, table in answers.items()}
    score = pairs.sort("stimulus")["value"].to_numpy()
    table = difference_metrics(
        score, list(values.values()), names=list(values), metrics=["srocc", "plcc"], n_boot=0
    )
    found = {
        f"metrics.{name}.{what}": Finding(_SIGNS.get(name, 1) * table[name, "all", what].value)
        for name in names
        for what in ("srocc", "plcc")
    }
    best = max((table[name, "all", "srocc"].value, name) for name in values)
    notes = [
        f"Metrics are compared on {pairs.height:,} pairs of {pairs['actor'].n_unique()} actors; "
        f"the best without learning is {best[1]} with an SROCC of {best[0]:.3f}."
    ]
    actors = pairs.sort("stimulus")["actor"].cast(pl.String).to_list()
    drawn = metric_pictures(score, values, actors, f"“{_ENCODER}”")
    figures = needs_weights() | Figures({**found, **skipped}, tuple(notes), drawn)
    if not learner:
        return figures
    return figures | _learned(
        pairs, images, strength, seed, {name: answers[name] for name in names}
    )


def _learned(
    pairs: pl.DataFrame,
    images: Path,
    strength: float | None,
    seed: int,
    others: dict[str, pl.DataFrame],
) -> Figures:
    from affectlab.models.differences import SvrDistance, cross_validate
    from affectlab.models.embedding import embed

    files = sorted({*pairs["file_a"], *pairs["file_b"]})
    embedded = embed([(file, images / file) for file in files], _ENCODER)
    rows = dict(zip(embedded.stimuli, embedded.values, strict=True))
    found = cross_validate(
        pairs.drop("value"),
        pairs["value"].to_numpy(),
        rows,
        learner="svr" if strength is None else SvrDistance(strength),
        baselines=others,
        n_boot=_DRAWS,
        seed=seed,
    )
    apart = found.to_frame().filter(pl.col("group") == "all", pl.col("method") != "svr")
    row = apart.sort("srocc_ahead").row(0, named=True)
    nearest, low, high = row["method"], row["srocc_ahead_low"], row["srocc_ahead_high"]
    doubt = f"on embeddings of the encoder {_ENCODER!r}, which are not those of FaRL"
    ends = f" [{low:.3f}, {high:.3f}]" if low == low else ""
    return Figures(
        {
            "learned.splits": Finding(float(found.n_splits), doubt=SETTING),
            "learned.srocc": Finding(found.median("svr", "srocc"), doubt=doubt),
            "learned.plcc": Finding(found.median("svr", "plcc"), doubt=doubt),
        },
        (
            f"The learned metric is a linear SVR on embeddings of the encoder {_ENCODER!r}, which "
            f"needs no weights, and not on FaRL's. On the same splits {nearest} comes nearest of "
            f"{apart.height} metrics without learning: median SROCC {found.median(nearest):.3f}, "
            f"the learned one ahead by {row['srocc_ahead']:.3f}{ends}, an interval over actors. "
            "Neither is comparable with correlations over all pairs.",
        ),
    )


def drawn_metrics(films: Films, scores: PairScores, expressions: int, seed: int) -> Figures:
    """Draw the frames of some expressions that all actors have, and compare metrics on them."""
    shared = (
        films.frames.select("actor", "expression")
        .unique()
        .group_by("expression")
        .len()
        .filter(pl.col("len") == len(films.transitions.actors))["expression"]
        .sort()
        .sample(fraction=1.0, shuffle=True, seed=seed)
        .head(expressions)
    )
    of_both = pl.all_horizontal(pl.col("expression_a", "expression_b").is_in(shared.implode()))
    pairs = films.design.pairs.filter(of_both).join(
        scores.frame.select("stimulus", "value"), on="stimulus"
    )
    wanted = films.frames.filter(pl.col("expression").is_in(shared.implode()))
    with TemporaryDirectory(prefix="affectlab-faces-") as folder:
        for row in wanted.iter_rows(named=True):
            place = Path(folder) / row["file"]
            place.parent.mkdir(parents=True, exist_ok=True)
            one = films.transitions.of(row["actor"], row["expression"])
            one.draw(row["frame"], size=96).save(place)
        return metric_figures(pairs, Path(folder), strength=_STRENGTH, seed=seed)
