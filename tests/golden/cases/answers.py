"""Ratings, their shapes and files; simulation; taxonomies."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
from tests.golden import inputs
from tests.golden.case import case

from . import tables

EVERY = tuple(inputs.TABLES)


@case(*EVERY)
def summary(al, ratings):
    return {
        "summary": ratings.summary(),
        "ratings": ratings,
        "raters": ratings.raters,
        "stimuli": ratings.stimuli,
        "kinds": ratings.rater_kinds,
        "labels": ratings.label_names,
        "scale": str(ratings.scale),
        "answers": ratings.answers,
    }


@case(*EVERY)
def shapes(al, ratings):
    return {
        "matrix": ratings.matrix,
        "label": lambda: ratings.matrix(ratings.label_names[0]),
        "every trial": lambda: ratings.matrix(every_trial=True),
        "wide": ratings.pivot,
        "means": lambda: ratings.pivot("rater", "label"),
        "counts": lambda: ratings.pivot(aggregate="count"),
    }


@case()
def merged(al):
    people = tables.make(al, "full")
    half = people.where(pl.col("label") == "joy")
    whole = half.merge(people.where(pl.col("label") == "fear"))
    return {
        "whole": whole,
        "twice": lambda: people.merge(people),
        "other scale": lambda: people.merge(tables.make(al, "slider")),
        "models": lambda: people.merge(tables.make(al, "models").models()),
        "selected": lambda: people.select(labels=["joy"]),
        "nothing": lambda: people.where(pl.lit(False)),
        "absent": lambda: tables.make(al, "binary").fill_absent(),
        "values": half.with_values(7 - half.value, step="reversed"),
    }


@case()
def read(al):
    Path("wide.csv").write_text("image,ann,ben\n001,1,2\n002,,7\n003,4,9\n")
    Path("long.csv").write_text(
        "picture,annotator,emotion,score,remark\n007,anna,joy,3,x\n007,NA,joy,4,\n008,anna,joy,,y\n"
    )
    Path("bad.csv").write_text("stimulus,rater,value\na,r,1\na,r,2\n,r,3\nb,r,x\n")
    Path("model.csv").write_text("stimulus,prediction\ns00,2.5\ns01,6.9\n")
    Path("lines.jsonl").write_text('{"stimulus": "a", "rater": "r", "value": 1}\n')
    read = al.ratings.read_ratings
    return {
        "wide": lambda: read("wide.csv", scale="0-7", on_bad="set_aside"),
        "strict": lambda: read("wide.csv", scale="0-7"),
        "long": lambda: read("long.csv", scale="0-7"),
        "guessed": lambda: read("long.csv"),
        "columns": lambda: read(
            "long.csv",
            columns={
                "stimulus": "picture",
                "rater": "annotator",
                "label": "emotion",
                "value": "score",
            },
        ),
        "bad": lambda: read("bad.csv", scale="0-7"),
        "bad rows": lambda: read("bad.csv", scale="0-7", on_bad="skip"),
        "lines": lambda: read("lines.jsonl"),
        "model": lambda: al.ratings.read_models("model.csv", tables.make(al, "full")),
        "table": lambda: al.ratings.read_table("model.csv"),
        "nothing": lambda: read("nothing.csv"),
        "path": lambda: al.ratings.check_ratings_path("ratings.xyz"),
    }


@case()
def scales(al):
    texts = (
        "0-7",
        "1-5",
        "0-100 interval",
        "binary",
        "nominal:a,b",
        "ordinal:never,sometimes,often",
        "text",
        "0-1 step 0.25",
        "interval",
        "7-0",
        "words",
    )

    def told(text):
        scale = al.ratings.Scale.parse(text)
        return {
            "scale": str(scale),
            "dict": scale.to_dict(),
            "levels": scale.levels,
            "holds": lambda: scale.contains([0, 3.5, 8]),
        }

    return {text: partial(told, text) for text in texts} | {
        "guessed": {
            str(values): partial(lambda given: str(al.ratings.Scale.infer(given)), values)
            for values in ([0, 1, 1], [1, 2, 5], [0.1, 0.7], [0, 50, 100])
        }
    }


@case()
def simulated(al):
    simulate = al.simulate
    truth = simulate.simulate_truth(20, "mikels", "0-7", seed=1)
    people = simulate.panel(8, seed=2, careless=0.3)
    study = simulate.simulate_raters(truth, people, seed=3, golden=4, repeats=3)
    pairs = pl.DataFrame(
        {"stimulus": [f"q{k}" for k in range(12)], "batch": [k // 6 for k in range(12)]}
    )
    differences = simulate.simulate_differences(
        pairs, np.linspace(5, 90, 12), 5, golden=2, repeats=2, careless=0.2, seed=4
    )
    rater = simulate.raters.rater_profile("generous", "r1", scale="0-100")
    return {
        "study": study,
        "truth": truth,
        "people": study.profiles_frame(),
        "ratings": study.ratings,
        "golden": study.golden,
        "profile": rater,
        "attentive": rater.attentive,
        "presets": simulate.raters.PRESETS,
        "recovery": simulate.recovery(study),
        "flagged": simulate.recovery(study).flagged,
        "dice": {
            how: simulate.random_baseline(study.ratings, seed=5, how=how)
            for how in ("uniform", "shuffled")
        },
        "verified": simulate.simulate_verification(60, seed=6),
        "differences": differences,
        "invented": simulate.differences.golden_differences(5),
        "careless": simulate.difference_people(20, careless=0.3, seed=7),
        "kinds": simulate.differences.CARELESS_KINDS,
    }


@case()
def demo_study(al):
    study = al.simulate.demo_study(3, identities=3)
    return {
        "study": study,
        "summary": study.ratings.summary(),
        "ratings": study.ratings,
        "truth": study.simulation.truth,
        "faces": [face.stimulus for face in study.faces],
        "recovery": al.simulate.recovery(study.simulation),
    }


@case()
def taxonomies(al):
    def told(name):
        taxonomy = al.load_taxonomy(name)
        return {
            "labels": taxonomy.labels,
            "entries": taxonomy.entries,
            "polarity": lambda: taxonomy.polarity,
            "opposites": lambda: taxonomy.opposites,
            "costs": taxonomy.cost_matrix,
            "groups": {level: partial(taxonomy.groups, level) for level in taxonomy.levels},
        }

    return {name: partial(told, name) for name in al.taxonomy.list_taxonomies()}


@case()
def label_mappings(al):
    names = al.taxonomy.list_taxonomies()

    def mapped(source, target):
        found = al.taxonomy.map_labels(source, target)
        return {"found": found, "unmapped": found.unmapped, "matrix": found.matrix()}

    return {
        f"{source} to {target}": partial(mapped, source, target)
        for source in names
        for target in names
        if source != target
    } | {
        "matched": al.taxonomy.taxonomy.match_taxonomy(
            ["Anger", "Disgust", "Fear", "Happiness", "Sadness", "Surprise"]
        ).name,
        "not matched": al.taxonomy.taxonomy.match_taxonomy(["anger"]),
    }


@case()
def costs(al):
    taxonomy, labels = al.taxonomy, ["fear", "shock", "joy"]
    wheel = al.load_taxonomy("mikels").cost_matrix()
    base = taxonomy.CostMatrix(("awe", "fun", "fear"), [[1, 2, 5], [2, 1, 6], [5, 6, 1]])
    return {
        "confusions": taxonomy.cost_from_confusions([[8, 2, 0], [2, 8, 0], [0, 0, 9]], labels),
        "correlation": taxonomy.cost_from_correlation(
            [[1, 0.3, -0.8], [0.3, 1, 0], [-0.8, 0, 1]], labels
        ),
        "differences": taxonomy.cost_from_differences(
            [[0, 30, 60], [30, 0, 45], [60, 45, 0]], labels
        ),
        "groups": taxonomy.cost_from_groups(
            labels, [{"joy": "positive", "fear": "negative", "shock": "negative"}]
        ),
        "reference": taxonomy.cost_from_reference(
            ["joy", "fear"], base, {"joy": ["awe", "fun"], "fear": ["fear"]}
        ),
        "ring": taxonomy.cost_from_ring(
            ["joy", "awe", "fear"],
            {"joy": "positive", "awe": "positive", "fear": "negative"},
            lam=3.0,
        ),
        "one": wheel.cost("awe", "fear"),
        "other order": wheel.reorder(sorted(wheel.labels)),
        "not known": lambda: wheel.cost("awe", "hunger"),
    }
