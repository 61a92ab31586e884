"""Structure of answers: labels, words, maps, staircases, and pairs of faces."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
from tests.golden import inputs
from tests.golden.case import ITERATED, case


@case("full", "gaps", "models", "binary", "one_rater", "ties")
def labels_together(al, ratings):
    analysis = al.analysis
    found = analysis.label_correlations(ratings, n_boot=40, seed=1)
    ranks = analysis.label_correlations(ratings, method="spearman", n_boot=0)
    return {
        "found": found,
        "ranks": ranks,
        "strongest": found.strongest(),
        "clusters": lambda: analysis.cluster_labels(found),
        "members": lambda: analysis.cluster_labels(
            ranks, k=2, metric="absolute", linkage="average"
        ).members(),
    }


@case()
def clusters(al):
    rng = np.random.default_rng(2)
    counts = rng.integers(0, 9, (8, 8)) + 20 * np.eye(8, dtype=int)
    names = list(al.load_taxonomy("mikels").labels)
    return {
        method: al.analysis.cluster_confusion(counts, names, linkage=method)
        for method in ("ward", "average", "complete", "single")
    }


@case("text")
def words(al, ratings):
    analysis = al.analysis
    texts = ["so happy today", "happy happy birthday", "afraid of today", "so afraid"]
    found = analysis.log_odds(texts, ["joy", "joy", "fear", "fear"])
    return {
        "found": found,
        "top": found.top("joy", n=3, min_z=0),
        "kept": found.kept(),
        "z": found.z,
        "p": found.p,
        "holm": found.p_holm,
        "bh": found.p_bh,
        "delta": found.delta,
        "null": found.null_sd,
        "compatible": analysis.log_odds(texts, ["joy", "joy", "fear", "fear"], paper_compat=True),
        "of ratings": lambda: analysis.log_odds(ratings, min_raters=1),
        "words": analysis.tokenize(["Don’t, I said: don't! 😀", ""]),
        "others": analysis.tokenize(["Don’t, I said!"], paper_compat=True),
    }


@case()
def pairs_of_faces(al):
    analysis, table = al.analysis, pl.DataFrame(inputs.pair_table())
    frames = pl.DataFrame(inputs.frame_table())
    settings = {"n_boot": 40, "seed": 4}
    scores = analysis.pair_scores(table)
    jnd = analysis.jnd.jnd_score(scores, **settings)
    times = analysis.jnd_times(scores, frames, **settings)
    steps = analysis.jnd_steps(scores, **settings)
    interval = analysis.sampling_interval(times)
    return {
        "scores": scores,
        "intra": scores.intra(),
        "inter": scores.inter(),
        "jnd": jnd,
        "jnd of ends": analysis.jnd_scores(scores, "end", **settings),
        "jnd of actors": analysis.jnd_scores(scores, "actor", **settings),
        "steps": steps,
        "additivity": steps.additivity,
        "times": times,
        "typical": times.typical(),
        "strip": analysis.jnd.strip_choices(times),
        "film": analysis.jnd.jnd_strip(times, "ada", "joy", np.arange(0, 600, 20)),
        "interval": interval,
        "rate": interval.rate_hz,
        "corrected": interval.corrected,
        "safe": interval.safe_ms,
        "rates": [analysis.jnd.common_rate(x) for x in (20, 62.5, 90, 5000)],
        "budget": analysis.latency_budget(times, [20, 75, 150], **settings),
        "of expressions": analysis.latency_budget(times, 75, by="expression", **settings),
        "histograms": analysis.score_histograms(scores),
        "curves": analysis.transition_curves(scores),
        "timed": analysis.transition_curves(scores, frames=frames, normalise=False),
        "ranges": analysis.transition_ranges(scores),
        "asymmetry": analysis.asymmetry_tests(scores),
        "two-sided": analysis.asymmetry_tests(scores, alternative="two-sided"),
        "expressions": analysis.expression_differences(scores, **settings),
        "pairs": analysis.expression_differences(
            scores, resample="pairs", linkage="ward", k=2, adjust=False, missing="fill", **settings
        ),
    }


@case(tolerance=ITERATED)
def pairs_of_ratings(al):
    """Scores of pairs from the answers of people, by the model of raters."""
    table = pl.DataFrame(inputs.pair_table()).drop("value", "se").head(40)
    stimuli = table.with_columns(pl.Series("stimulus", [f"pair{k:02d}" for k in range(40)]))
    simulated = al.simulate.simulate_differences(
        stimuli.select("stimulus", batch=pl.lit(1)),
        np.linspace(5, 90, 40),
        8,
        golden=3,
        repeats=2,
        seed=5,
    )
    ratings = simulated.ratings.where(pl.col("trial_kind") == "main").with_stimuli(stimuli)
    return {
        score: al.analysis.pair_scores(ratings, score=score) for score in ("subject-model", "mean")
    }


@case()
def staircases(al):
    analysis = al.analysis
    observer = analysis.simulate_observer(-1.2, seed=6)
    state = analysis.quest(guess=-1, sd=1)
    shown = []
    for _ in range(25):
        shown.append(state.next_intensity())
        state = state.update(shown[-1], observer(shown[-1]))
    runs = [
        analysis.FrameStaircase.begin(90).simulate(
            analysis.simulate_observer(math.log10(frames), guess_rate=0.1, seed=seed)
        )
        for seed, frames in enumerate([8, 9, 20, 22])
    ]
    ends = [
        run.simulate(analysis.simulate_observer(math.log10(k), guess_rate=0.1, seed=k))
        for run, k in zip(analysis.FrameStaircase.runs(90).values(), (12, 20), strict=True)
    ]
    return {
        "shown": shown,
        "estimate": state.estimate(),
        "sd": state.sd,
        "mode": state.mode,
        "quantile": state.quantile(0.25),
        "interval": state.interval(),
        "saved": state.to_dict(),
        "again": analysis.jnd.Quest.from_dict(state.to_dict()) == state,
        "settings": state.settings,
        "probability": analysis.psychometric_function([-math.inf, 0.0, 1.0, 2.0], 1.0),
        "run": [run.result() for run in runs],
        "frames": runs[0].frames,
        "pooled": analysis.pooled_jnd(runs),
        "groups": analysis.pooled_jnds(runs, {"actor": ["Ada", "Ada", "Ben", "Ben"]}),
        "transition": analysis.transition_jnd(ends),
        "answers": analysis.simulate_observer(0.5, seed=7).answers(np.linspace(-1, 2, 30)),
    }
