"""Models beside people: alignment, kappa, human range, fairness, controls, soft labels."""

from __future__ import annotations

from functools import partial

import numpy as np
import polars as pl
from tests.golden import inputs
from tests.golden.case import ITERATED, case

from . import tables


@case("models", "two_raters", "full")
def verdicts(al, ratings):
    return al.evaluation.alignment(ratings, seed=1)


@case("models")
def verdicts_otherwise(al, ratings):
    people, models = ratings.humans(), ratings.models()
    found = {
        over: partial(
            al.evaluation.alignment,
            people,
            models,
            seed=2,
            target="stimuli" if over == "units" else over,
            margin=0.1,
            truncate=True,
            exclude=("awe",),
        )
        for over in ("units", "raters", "both")
    }
    both = al.evaluation.alignment(people, models, seed=2)
    everybody = both.to_frame("models_and_people")
    measures = everybody.select("rater", *dict.fromkeys(both.difference.frame["measure"]))
    person = everybody["rater_kind"] == "person"
    return found | {"models": measures.filter(~person), "people": measures.filter(person)}


@case("models", "full")
def sides(al, ratings):
    apart = al.evaluation.people_and_models.sides(ratings)
    return {
        "apart": apart,
        "people": apart.people.summary(),
        "models": apart.models.summary(),
        "main runs": al.evaluation.people_and_models.main_runs(ratings).summary(),
    }


@case("models", "one_rater")
def beside_people(al, ratings):
    evaluation = al.evaluation
    return {
        "alpha": lambda: evaluation.rater_comparison.alpha_by_side(ratings, n_boot=40, seed=3),
        "alpha interval": lambda: evaluation.rater_comparison.alpha_by_side(
            ratings, level="interval", n_boot=0
        ),
        "alt": lambda: evaluation.alt_test(ratings, min_people=2, min_items=5),
        "discrepancy": lambda: evaluation.discrepancy(ratings, seed=4),
        "kappa": lambda: al.reliability.pairwise_kappa(evaluation.rater_comparison.merged(ratings)),
        "kinds": lambda: evaluation.rater_comparison.pair_kinds(
            al.reliability.pairwise_kappa(evaluation.rater_comparison.merged(ratings))
        ).to_frame(),
        "kinds by label": lambda: evaluation.rater_comparison.pair_kinds(
            al.reliability.pairwise_kappa(evaluation.rater_comparison.merged(ratings)),
            by_label=True,
        ).to_frame(),
        "spearman": lambda: evaluation.rater_comparison.pairwise_spearman(ratings),
        "with people": lambda: evaluation.spearman_with_people(ratings, n_boot=40, seed=5),
        "groups": lambda: evaluation.rater_comparison.group_comparison(ratings, n_boot=40, seed=6),
        "families": lambda: evaluation.rater_comparison.group_comparison(
            ratings, groups="family", n_boot=40, seed=6
        ),
        "values": lambda: evaluation.rater_comparison.group_values(ratings),
        "raters": lambda: evaluation.rater_comparison.rater_table(ratings).to_frame(),
        "ceiling": lambda: evaluation.human_ceiling(ratings, seed=7),
        "published": lambda: evaluation.published_tables(ratings, n_boot=20, seed=8),
        "top": lambda: evaluation.preference.top_labels(ratings, k=2),
        "top of raters": lambda: evaluation.preference.top_labels(ratings, k=2, by="rater"),
    }


@case("models")
def brought_to_scale(al, ratings):
    models = tables.make(al, "models").models()
    scale = al.ratings.Scale.parse("0-100 interval")
    found = {
        how: al.evaluation.people_and_models.on_scale(models, scale, how)
        for how in ("round", "truncate", "none")
    }
    calm = al.evaluation.human_alignment.neutral_calibrated(models, ["s00", "s01", "s02"])
    return found | {"calm": calm}


@case("models")
def fair(al, ratings):
    people, models = ratings.humans(), ratings.models()
    found = {
        metric: partial(
            al.evaluation.fairness,
            people,
            models,
            by="stimulus.gender",
            metric=metric,
            n_permutations=99,
            n_boot=30,
            seed=9,
        )
        for metric in al.evaluation.list_metrics()
    }
    found["crossed"] = lambda: al.evaluation.fairness(
        people,
        models,
        by=["stimulus.gender x stimulus.batch"],
        metric="bias",
        cluster="stimulus.actor",
        by_label=True,
        n_permutations=99,
        correction="fdr",
        seed=10,
    )
    found["pairs of groups"] = lambda: al.evaluation.fairness(
        people, models, by="stimulus.actor", against="each", n_permutations=99, seed=11
    )
    found["of people"] = lambda: al.evaluation.fairness(
        people, by="rater.gender", n_permutations=99, n_boot=0, seed=12
    )
    found["flagged"] = lambda: al.evaluation.fairness(
        people, models, by="stimulus.gender", n_permutations=99, seed=9
    ).flagged()
    return found


@case("controls")
def controlled(al, ratings):
    checks = al.evaluation.control_checks(ratings, n_boot=40, seed=13)
    table = al.evaluation.outcome_table(ratings)
    return {
        "checks": checks,
        "outcomes": table,
        "counts": table.to_frame("usable").select(
            *table.by, pl.col("n_ratings").alias("n"), *al.evaluation.outcomes.OUTCOMES
        ),
        "everyone": al.evaluation.outcome_table(ratings, everyone=True),
        "by label": lambda: al.evaluation.outcome_table(ratings, by=["rater", "label"]),
    }


@case()
def outcomes(al):
    evaluation, answer = al.evaluation, al.evaluation.outcomes.Response
    asked = {
        "busy": answer(http_status=429),
        "large": answer(http_status=400, rejection="image too large"),
        "declined": answer(text="I cannot help with that."),
        "nothing": answer(text=" "),
        "cut": answer(text='{"joy": 3', stop_reason="max_tokens"),
        "words": answer(text="joy, mostly"),
        "fine": answer(text='{"joy": 3}', parsed={"joy": 3}),
        "beyond": answer(
            text='{"joy": 9}', parsed={"joy": 9}, schema_errors=("joy = 9: expected 0 to 7",)
        ),
        "rule": answer(text='{"joy": 9}', parsed={"joy": 9}, rule_errors=("sum",)),
    }
    texts = ("I'm sorry, but I can't rate the emotions of real people.", "Joy: high. Fear: low.")
    return {
        "classes": {name: evaluation.outcomes.classify_outcome(one) for name, one in asked.items()},
        "refusals": [evaluation.outcomes.looks_like_refusal(text) for text in texts],
        "known": evaluation.outcomes.OUTCOMES,
        "controls": evaluation.people_and_models.CONTROLS,
        "table": evaluation.outcome_table(list(asked.values())),
    }


@case("nominal", "models", "binary", "full")
def spread_of_answers(al, ratings):
    evaluation = al.evaluation
    given = evaluation.label_distributions(ratings.humans())
    return {
        "people": given,
        "entropy": given.entropy(),
        "top": given.top(),
        "mean": given.mean(),
        "smoothed": lambda: evaluation.label_distributions(ratings.humans(), smoothing=0.5),
        "raters": lambda: evaluation.soft_labels.rater_distributions(ratings),
    }


@case("nominal", tolerance=ITERATED)
def soft_labels(al, ratings):
    people, models = ratings.humans(), tables.make(al, "shares")
    evaluation = al.evaluation
    settings = {"taxonomy": "mikels", "n_splits": 4, "seed": 14}
    return {
        "metrics": lambda: evaluation.soft_label_metrics(
            people, models, n_boot=30, by_person=True, **settings
        ),
        "comparison": lambda: evaluation.soft_labels.soft_label_comparison(
            people, models, n_boot=30, **settings
        ),
        "all": lambda: evaluation.evaluate_soft_labels(people, models, n_boot=30, **settings),
        "majority": lambda: evaluation.evaluate_soft_labels(
            people, models, truth="majority", n_boot=0, **settings
        ),
        "of categories": lambda: evaluation.soft_label_metrics(ratings, n_boot=0, **settings),
        "calibration": lambda: evaluation.soft_labels.model_calibration(
            people, models, n_boot=30, seed=15
        ),
        "calibration of majority": lambda: evaluation.soft_labels.model_calibration(
            people, models, truth="majority", n_boot=0
        ),
    }


@case()
def distances_of_distributions(al):
    evaluation = al.evaluation
    rng = np.random.default_rng(30)
    people, models = rng.dirichlet(np.full(8, 0.5), 20), rng.dirichlet(np.full(8, 0.7), 20)
    costs = al.load_taxonomy("mikels").cost_matrix()
    labels = al.load_taxonomy("mikels").labels
    chosen = [labels[k] for k in rng.integers(0, 8, 20)]
    yes = rng.integers(0, 2, 20)
    given = evaluation.soft_labels.LabelDistributions.of(people, list(labels))
    return {
        "cross entropy": evaluation.soft_labels.cross_entropy(people, models, floor=0.01),
        "divergence": evaluation.soft_labels.kullback_leibler(people, models, floor=0.01),
        "divergence without a floor": evaluation.soft_labels.kullback_leibler(
            people, np.eye(8)[rng.integers(0, 8, 20)]
        ),
        "jensen": evaluation.soft_labels.jensen_shannon(people, models),
        "transport": evaluation.soft_labels.earth_movers_distance(people, models, costs),
        "given": given,
        "taken": given.take(list(given.stimuli[1:3])),
        "calibration": evaluation.calibration(
            models, chosen, labels=list(labels), n_boot=30, seed=31
        ),
        "of distributions": evaluation.calibration(models, people, n_raters=5, n_boot=0),
        "binary": evaluation.calibration(models[:, 0], yes, n_bins=5, n_boot=0),
    }


@case()
def against_a_range(al):
    evaluation = al.evaluation
    rng = np.random.default_rng(32)
    value = rng.random(6)
    return {
        "standing": [
            evaluation.rankings.against_people(x, x - 0.05, x + 0.05, [0.4, 0.6]) for x in value
        ],
        "lower is better": evaluation.rankings.against_people(
            0.5, 0.45, 0.55, [0.4, 0.6], higher_is_better=False
        ),
        "ranks": evaluation.rankings.possible_ranks(value, value - 0.1, value + 0.1),
        "wilson": al.core.inference.wilson_interval([0, 3, 10], 10),
        "equivalence": {
            str(at): evaluation.equivalence(at, 0.02, margin=0.05, df=24)
            for at in (-0.2, -0.04, 0.0, 0.03, 0.2)
        },
        "of differences": evaluation.equivalence(
            [0.02, -0.01, 0.0, 0.03, -0.02, 0.01], margin=0.05
        ),
    }


@case("models")
def rows_of_a_leaderboard(al, ratings):
    evaluation = al.evaluation
    data = evaluation.data_set(ratings.humans(), "golden", link="https://example.org")
    ceiling = evaluation.human_ceiling(ratings).people.frame
    measure = ceiling["measure"][0]
    ceiling = ceiling.filter(ceiling["measure"] == measure).drop("measure")
    people = al.core.estimates.Estimates.of(ceiling, ("rater",))
    rows = evaluation.human_results({"kappa": people}, data=data)
    rows += [
        evaluation.ResultFile.from_estimates(
            "net",
            {"kappa": al.core.estimates.Estimate(0.6, "kappa", low=0.5, high=0.7)},
            data=data,
            prompt="zero-shot",
            cost=evaluation.rankings.Cost(amount=1.5, seconds=20.0),
        )
    ]
    from pathlib import Path

    folder = Path("rows")
    folder.mkdir()
    files = [evaluation.write_result(row, folder) for row in rows]
    board = evaluation.leaderboard(folder)
    return {
        "data": data,
        "rows": rows,
        "files": files,
        "board": board,
        "coverage": evaluation.rankings.Coverage(n_answered=40, n_stimuli=48),
        "dict": as_dict(board),
        "read": [evaluation.rankings.read_result(file) for file in files],
        "parsed": evaluation.rankings.parse_result(files[0].read_text(), where="file"),
        "example": as_dict(evaluation.leaderboard(inputs.examples("leaderboard"))),
    }


def as_dict(board):
    return {"boards": board.settings["boards"], "rows": board.to_frame().to_dicts()}
