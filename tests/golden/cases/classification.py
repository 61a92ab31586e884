"""Classifications: metrics, comparisons, classes of ratings, mappings, preferences, differences."""

from __future__ import annotations

from functools import partial

import numpy as np
import polars as pl
from tests.golden import inputs
from tests.golden.case import ITERATED, case

from . import tables

POLARITY = {
    "awe": "up",
    "amusement": "up",
    "contentment": "up",
    "excitement": "up",
    "fear": "down",
    "sadness": "down",
    "disgust": "down",
    "anger": "down",
}


@case()
def metrics(al):
    evaluation = al.evaluation
    truth, near, far = inputs.classified()
    weights = np.random.default_rng(1).random(len(truth))
    single = {
        name: {
            who: getattr(evaluation, name)(truth, said, "mikels")
            for who, said in (("near", near), ("far", far))
        }
        for name in ("acc", "accuracy", "acc2", "ecc", "emc", "mean_emotional_distance")
    }
    return {
        "single": single,
        "weighted": evaluation.classification_metrics(
            truth, near, "mikels", sample_weight=weights, n_boot=0
        ),
        "both": evaluation.classification_metrics(
            truth, {"near": near, "far": far}, "mikels", n_boot=60, seed=1
        ),
        "without intervals": evaluation.classification_metrics(truth, near, "mikels", n_boot=0),
        "clusters": evaluation.classification_metrics(
            truth, far, "mikels", clusters=[k // 4 for k in range(len(truth))], n_boot=60, seed=2
        ),
        "own groups": evaluation.classification_metrics(truth, far, groups=POLARITY, n_boot=0),
        "one class": evaluation.classification_metrics(
            ["awe"] * 5, ["awe"] * 5, "mikels", n_boot=20, seed=1
        ),
        "known": {
            name: {
                field: getattr(metric, field)
                for field in (
                    "better",
                    "needs",
                    "bounded",
                    "ratio",
                )
            }
            for name, metric in evaluation.classification.CLASSIFICATION_METRICS.items()
        },
        "prf": evaluation.precision_recall_f1(truth, near, "mikels", n_boot=40, seed=3),
        "prf of sets": evaluation.precision_recall_f1(
            [["joy", "love"], ["fear"], []],
            [["joy"], ["fear"], ["joy"]],
            zero_division=0.0,
            n_boot=0,
        ),
    }


@case()
def confusions(al):
    evaluation = al.evaluation
    truth, near, _ = inputs.classified()
    seen = evaluation.confusion(truth, near, "mikels")
    return {
        "table": seen,
        "n": seen.n,
        "ecc": seen.ecc,
        "emc": seen.emc,
        "acc2": seen.acc2,
        "distance": seen.mean_emotional_distance,
        "accuracy": seen.accuracy,
        "rows": seen.normalized("true"),
        "columns": seen.normalized("pred"),
        "all": seen.normalized("all"),
        "mistakes": seen.to_frame("mistakes"),
        "own": evaluation.classification.Confusion.from_counts(
            [[8, 2], [1, 9]], ["awe", "fear"], "mikels"
        ),
        "many": evaluation.classification.metrics_of_confusion(
            [[[2, 0], [0, 2]], [[1, 1], [1, 1]]], ["awe", "fear"], "mikels"
        ),
        "sets": evaluation.multilabel_confusion(
            [["joy", "love"], ["pride"]],
            [["joy", "pride"], ["pride"]],
            labels=["joy", "love", "pride"],
        ),
        "bounds": evaluation.classification.severity_bounds(0.6, 0.9),
        "possible": evaluation.classification.figures_possible(
            acc=0.658, acc2=0.790, ecc=0.761, emc=0.501
        ),
        "not possible": evaluation.classification.figures_possible(acc=0.612, ecc=0.715, emc=0.486),
    }


@case()
def two_classifiers(al):
    truth, near, far = inputs.classified()
    settings = {"names": ("near", "far"), "n_boot": 60, "n_permutations": 199, "seed": 4}
    found = al.evaluation.compare_predictions(truth, near, far, "mikels", **settings)
    margins = al.evaluation.compare_predictions(
        truth,
        near,
        far,
        "mikels",
        margin=0.1,
        clusters=[k // 5 for k in range(len(truth))],
        **settings,
    )
    return {"found": found, "margins": margins}


@case("nominal")
def classes(al, ratings):
    evaluation = al.evaluation
    known = tables.make(al, "nominal").stimulus_names
    gold = {stimulus: "awe" if k % 3 else "fear" for k, stimulus in enumerate(known)}
    settings = {"taxonomy": "mikels", "n_boot": 40, "seed": 5}
    found = evaluation.evaluate_classification(ratings, **settings)
    compared = evaluation.compare_models(ratings, n_permutations=199, **settings)
    return {
        "classes": evaluation.classes_of(ratings, taxonomy="mikels"),
        "no ties": evaluation.classes_of(ratings, taxonomy="mikels", min_people=4, ties="random"),
        "found": found,
        "truth given": lambda: evaluation.evaluate_classification(ratings, truth=gold, **settings),
        "a rater": lambda: evaluation.evaluate_classification(
            ratings, truth="rater:p00", **settings
        ),
        "all": lambda: evaluation.evaluate_classification(ratings, missing="wrong", **settings),
        "compared": compared,
        "two": lambda: evaluation.compare_models(
            ratings, a="net", b="mini", margin=0.1, n_permutations=199, **settings
        ),
        "both wrong": lambda: evaluation.both_wrong(
            ratings, systems=["net", "mini"], taxonomy="mikels"
        ),
        "items": lambda: evaluation.both_wrong(
            ratings, systems=["net", "mini"], taxonomy="mikels"
        ).items(),
    }


@case()
def scores_as_classes(al):
    people, shares = tables.make(al, "nominal").humans(), tables.make(al, "shares")
    evaluation = al.evaluation
    settings = {"taxonomy": "mikels", "seed": 6}
    return {
        "largest": evaluation.classes_of(people, shares, **settings),
        "found": evaluation.evaluate_classification(people, shares, n_boot=20, **settings),
        "several": lambda: evaluation.classes_of(
            people, shares, multilabel=True, threshold=0.3, agree=0.3, **settings
        ),
        "several judged": lambda: evaluation.evaluate_classification(
            people, shares, multilabel=True, threshold=0.3, agree=0.3, n_boot=20, **settings
        ),
        "thresholds": evaluation.classes.load_thresholds({"joy": 0.4}),
        "mappings": {
            name: evaluation.classes.load_score_mapping(name)
            for name in evaluation.classes.list_score_mappings()
        },
        "variants": evaluation.classes.score_variants(
            al.Ratings(
                {
                    "stimulus": ["a", "a"],
                    "rater": ["net", "net"],
                    "label": ["joy", "fear"],
                    "value": [2.0, 1.0],
                    "softmax": [0.7, 0.3],
                },
                scale="interval",
            ),
            ["value", "softmax"],
        ),
    }


@case()
def preferred(al):
    evaluation = al.evaluation
    counts = {"machine": 91, "human": 233, "both good": 47, "both bad": 11}
    found = evaluation.preferences(counts)
    table = evaluation.preference_verdicts(found, sampled=500)
    wins = [[0, 12, 18], [8, 0, 13], [2, 7, 0]]
    names = ["human", "large", "small"]
    rng = np.random.default_rng(9)
    said = dict(
        zip(
            [f"i{k:02d}" for k in range(40)],
            rng.choice(["model", "both", "human", "neither"], 40).tolist(),
            strict=True,
        )
    )
    scored = {
        "item": list(said) * 2,
        "metric": ["clip"] * 40 + ["bleu"] * 40,
        "score": rng.random(80).tolist(),
    }
    judged = evaluation.evaluate_preference_metrics(said, scored, n_boot=40, seed=10)
    return {
        "found": found,
        "choices": found.choices,
        "verdicts": table,
        "scale": evaluation.preference_scale(wins, systems=names, seed=11),
        "judged": judged,
        "scores": evaluation.metric_scores(scored),
        "models": {
            model: partial(evaluation.preference_scale, wins, systems=names, model=model, prior=0.5)
            for model in ("thurstone",)
        },
    }


@case("models")
def blind_pairs(al, ratings):
    return al.evaluation.preference_pairs(ratings, k=2, seed=13)


@case("slider", tolerance=ITERATED)
def predicted_differences(al, ratings):
    rng = np.random.default_rng(15)
    mean = al.reliability.mean_opinion_scores(ratings).to_frame()["value"].to_numpy()
    predictions = np.stack([mean / 100 + rng.normal(0, 0.1, len(mean)), rng.random(len(mean))])
    found = al.evaluation.difference_metrics(
        mean,
        predictions,
        names=["near", "far"],
        cluster=[k // 5 for k in range(len(mean))],
        comparison=False,
        n_boot=40,
        seed=16,
    )
    return {
        "found": found,
        "fits": found.fits,
        "raters": found.compare,
        "absolute": found.compare(absolute=True),
        "ceiling": lambda: (
            al.evaluation.difference_metrics(ratings, ceiling=True, n_splits=5, seed=17).ceiling
        ),
        "fit": al.evaluation.logistic_fit(np.arange(6.0), [2, 3, 20, 80, 97, 98]),
        "too few": al.evaluation.logistic_fit([1, 2, 3], [1, 2, 3]),
        "curve": al.evaluation.logistic_fit(np.arange(6.0), [2, 3, 20, 80, 97, 98]).predict(
            [2.5, 3.0]
        ),
    }


@case()
def predicted_by_metrics(al):
    """Metrics as raters of the stimuli that people scored, by attribute of the stimulus."""
    people = tables.make(al, "slider")
    stimuli = sorted(set(people.stimulus_names))
    rng = np.random.default_rng(18)
    metric = al.Ratings(
        pl.DataFrame(
            {
                "stimulus": stimuli * 2,
                "rater": ["L1"] * len(stimuli) + ["net"] * len(stimuli),
                "value": rng.random(2 * len(stimuli)),
            }
        ),
        scale="0-1 interval",
        stimuli={"stimulus": stimuli, "kind": ["intra", "inter"] * (len(stimuli) // 2)},
    )
    found = al.evaluation.difference_metrics(
        people, metric, by=["kind"], metrics=["srocc", "rmse"], comparison=False, n_boot=30, seed=19
    )
    return {"found": found, "compared": found.compare(), "groups": found.compare("group")}
