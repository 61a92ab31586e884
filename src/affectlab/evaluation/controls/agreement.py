"""How much of a model's agreement with people is left without the image, or on a wrong one."""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np
import polars as pl

from affectlab.core.arrays import mean_of_defined, ratio
from affectlab.core.estimates import Estimates
from affectlab.core.facts import Cause, Reason, fact_column, reason_type
from affectlab.core.inference import infer, streams
from affectlab.core.statistic import from_weights
from affectlab.core.types import Bools, Floats
from affectlab.evaluation.people_and_models import Control, ControlledRuns
from affectlab.reliability.agreement import concordance_of_moments

MEASURES = ("answers", "labels")
"""Agreement over all answers together, and within each label, averaged over labels."""
QUANTITIES = ("main", "control", "same", "kept", "gain")
"""Agreement of the main run with people; of the control run with people; of both runs; the second
divided by the first; the first less the second."""


def agreement_of_runs(
    panel: ControlledRuns, n_boot: int, confidence: float, rng: np.random.Generator
) -> Estimates:
    """Compare each run without the image, or on a wrong one, with its main run and with people."""
    own = streams(rng, (control.run for control in panel.controls))
    nothing = Estimates.build({"rater": [], "run": [], "measure": [], "quantity": []}, value=[])
    empty = nothing.with_columns(pl.Series("control", [], dtype=pl.String))
    frames = [
        _compare(panel, control, n_boot, confidence, own[control.run])
        for control in panel.controls
        if control.kind != "decoy_hint"
    ]
    return empty.with_frame(pl.concat([empty.frame, *frames]))


def _why(panel: ControlledRuns, quantity: str, n_items: int) -> Reason:
    if panel.people is None and quantity != "same":
        return Reason(Cause.NONE, of="people")
    if n_items < 2:
        return Reason(Cause.FEWER, least=2, of="stimuli in common")
    if quantity == "kept":
        return Reason(Cause.NONE, of="clear agreement to keep in the main run")
    return Reason(Cause.NONE, of="variation")


def _compare(
    panel: ControlledRuns,
    control: Control,
    n_boot: int,
    confidence: float,
    rng: np.random.Generator,
) -> pl.DataFrame:
    """Compare a control run with its main run and with people."""
    main, run = panel.matrix(control.of), panel.matrix(control.run)
    both = ~np.isnan(main) & ~np.isnan(run)
    target = np.zeros(main.shape)
    if panel.people is not None:
        target = panel.target
        both &= ~np.isnan(target)
    kept = both.any(axis=1)
    main, run, target, both = main[kept], run[kept], target[kept], both[kept]
    pairs = [
        _moments(first, second, both, panel)
        for first, second in ((main, target), (run, target), (main, run))
    ]
    if panel.people is None:
        pairs[:2] = [np.full_like(moments, np.nan) for moments in pairs[:2]]
    n = int(kept.sum())
    measures = MEASURES if len(panel.labels) > 1 else MEASURES[:1]
    rows = list(product(measures, QUANTITIES))

    def compute(weights: Floats) -> Floats:
        if n < 2:
            return np.full((len(weights), len(rows)), np.nan)
        sums = [_weigh(weights, moments) for moments in pairs]
        return np.concatenate([_quantities(sums, measure, panel) for measure in measures], axis=1)

    is_nominal = panel.scale.kind == "nominal"
    middle = "most frequent answer" if is_nominal else "median"
    what = "Cohen's kappa" if is_nominal else "quadratic kappa"
    over = {"answers": "over all answers", "labels": "mean over labels"}
    reasons = [_why(panel, quantity, n) for _, quantity in rows]
    statistic = from_weights(
        {
            "rater": [control.of] * len(rows),
            "run": [control.run] * len(rows),
            "measure": [measure for measure, _ in rows],
            "quantity": [quantity for _, quantity in rows],
        },
        n,
        compute,
        method=[(f"{what} with people's {middle}", over[measure]) for measure, _ in rows],
        undefined=reasons,
        n_items=n,
        n_raters=0 if panel.people is None else len(panel.people.raters),
        n_ratings=int(both.sum()),
    )
    found = infer(statistic, n_boot=n_boot if n > 1 else 0, confidence=confidence, seed=rng)
    # A share of an agreement that may be none says nothing.
    low = found.frame["low"].to_numpy().reshape(len(measures), -1)
    is_kept = np.array([quantity == "kept" for _, quantity in rows])
    unclear = is_kept & np.repeat(low[:, QUANTITIES.index("main")] <= 0, len(QUANTITIES))
    why = fact_column("why", reasons, reason_type())
    hidden = pl.lit(pl.Series(unclear))
    return found.frame.with_columns(
        *(
            pl.when(hidden).then(np.nan).otherwise(name).alias(name)
            for name in ("value", "se", "low", "high")
        ),
        pl.when(hidden).then(pl.lit("undefined")).otherwise("status").alias("status"),
        pl.when(hidden).then(pl.lit(why)).otherwise("reason").alias("reason"),
        control=pl.lit(control.kind),
    )


def _moments(first: Floats, second: Floats, both: Bools, panel: ControlledRuns) -> Floats:
    """Sums from which kappa follows, per stimulus and label, shape (stimuli, labels, sums)."""
    a, b = np.where(both, first, 0.0), np.where(both, second, 0.0)
    if panel.scale.kind != "nominal":
        # About the middle of the scale, so that squares do not swallow small differences.
        centre = float(np.nanmean(first[both])) if both.any() else 0.0
        a, b = np.where(both, a - centre, 0.0), np.where(both, b - centre, 0.0)
        return np.stack([both.astype(np.float64), a, b, a * a, b * b, a * b], axis=-1)
    levels = np.arange(len(panel.scale.categories))
    one = (a[..., None] == levels) & both[..., None]
    other = (b[..., None] == levels) & both[..., None]
    equal = both & (a == b)
    parts = [both[..., None], equal[..., None], one, other]
    return np.concatenate(parts, axis=-1).astype(np.float64)


def _weigh(weights: Floats, moments: Floats) -> Floats:
    n, labels, sums = moments.shape
    return (weights @ moments.reshape(n, labels * sums)).reshape(-1, labels, sums)


def _quantities(sums: list[Floats], measure: str, panel: ControlledRuns) -> Floats:
    """Compute the quantities of every replicate, shape (replicates, quantities)."""
    # With numbers off the steps, quadratic kappa is Lin's concordance.
    quadratic = partial(concordance_of_moments, fewest=1)
    kappa = _nominal_kappa if panel.scale.kind == "nominal" else quadratic
    if measure == "answers":
        main, control, same = (kappa(part.sum(axis=1)) for part in sums)
    else:
        main, control, same = (mean_of_defined(kappa(part), 1) for part in sums)
    return np.stack([main, control, same, ratio(control, main), main - control], axis=1)


def _nominal_kappa(sums: Floats) -> Floats:
    n, equal = sums[..., 0], sums[..., 1]
    size = (sums.shape[-1] - 2) // 2
    with np.errstate(invalid="ignore", divide="ignore"):
        expected = (sums[..., 2 : 2 + size] * sums[..., 2 + size :]).sum(axis=-1) / n**2
        return np.where(expected < 1, (equal / n - expected) / (1 - expected), np.nan)
