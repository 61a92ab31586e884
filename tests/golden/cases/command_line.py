"""The command line: its results are those of the library, with the defaults of its verbs.

Of what a command says, its result as JSON is a value, and its exit status.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import runpy
from functools import partial
from pathlib import Path

import polars as pl
from tests.cli.command import run_here
from tests.golden import inputs
from tests.golden.case import case

from affectlab.cli import main


def result(*words):
    """Give the result of a command that succeeds."""
    return json.loads(run_here(*words, "--json").stdout)["result"]


def status(*words):
    """Give the exit status of a command."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        try:
            main([str(word) for word in words])
        except SystemExit as end:
            return end.code or 0


def boot(n):
    """Give the options of few replicates."""
    return ("--n-boot", n, "--seed", 1)


@case()
def emotional_distance(al):
    inputs.examples("weather_moods.toml")
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        runpy.run_path(str(inputs.examples("emotional_distance.py")), run_name="__main__")
    return [float(number) for number in re.findall(r"\d+\.\d+", out.getvalue())]


@case("full", "gaps", "two_scales", "guessed", "binary", "nominal", "repeats", "text", "models")
def ratings_verbs(al, ratings):
    file = ratings.write("ratings.csv")
    if not ratings.scale.declared:
        Path("ratings.csv.meta.json").rename("aside.json")
    return {
        "summary": lambda: result("ratings", "describe", file)["summary"],
        "check": lambda: _usable(result("ratings", "describe", file)["summary"]),
        "convert": status("ratings", "convert", file, "--out", "again.parquet"),
        "files": sorted(path.name for path in Path().iterdir()),
    }


def _usable(summary):
    aside = [part for part in summary["set_aside"] if part["count"]]
    return {"n_ratings": summary["n_ratings"], "set_aside": aside}


@case()
def taxonomy_verbs(al):
    inputs.examples("weather_moods.toml")
    mine = result("taxonomy", "show", "weather_moods.toml")
    return {
        "list": result("taxonomy", "show"),
        "show": result("taxonomy", "show", "mikels"),
        "costs": result("taxonomy", "show", "mikels", "--costs"),
        "check": {
            "name": mine["settings"]["name"],
            "n_labels": len(mine["labels"]),
            "version": mine["settings"]["version"],
        },
    }


@case("models")
def alignment_verbs(al, ratings):
    file = ratings.write("ratings.csv")
    Path("stimuli.csv").write_text(ratings.stimuli.write_csv())
    by = ("--by", "stimulus.gender", "--metric", "bias", "--stimuli", "stimuli.csv")
    return {
        "alignment": partial(result, "evaluate", "alignment", file, "--seed", 1),
        "published": partial(result, "emonet-face", "published", file, *boot(40)),
        "fairness": partial(result, "evaluate", "fairness", file, *by, "--seed", 1),
        "outcomes": partial(result, "evaluate", "outcomes", file),
        "controls": partial(result, "evaluate", "controls", file),
    }


@case()
def examples_of_human_level(al):
    folder = inputs.examples("human-level")
    people = (folder / "people.csv", "--scale", "0-7", "--wide", "labels")
    kept = ("kept.csv", "--scale", "0-7")
    with_model = (*kept, "--models", folder / "model.csv")
    return {
        "screen": result("reliability", "screen", *people, "--kept", "kept.csv"),
        "agreement": result("reliability", "agreement", *kept, "--seed", 1),
        "alignment": result("evaluate", "alignment", *with_model, "--seed", 1, "--margin", 0.05),
        "published": result("emonet-face", "published", *with_model, *boot(100)),
        "report": result("report", *with_model, "--out", "report", "--seed", 1),
        "tables": {path.stem: pl.read_csv(path) for path in sorted(Path("report").rglob("*.csv"))},
    }


@case()
def examples_of_leaderboard(al):
    folder = inputs.examples("leaderboard")
    return {
        "all": result("evaluate", "leaderboard", folder),
        "sorted": result("evaluate", "leaderboard", folder, "--sort", "absolute error"),
        "label": result("evaluate", "leaderboard", folder, "--label", "joy"),
    }


@case()
def preference_verbs(al):
    counts = "machine=91,human=233,both good=47,both bad=11"
    return {
        "counts": result("evaluate", "preference", counts),
        "verdicts": result(
            "evaluate", "preference", "--show", "verdicts", counts, "--sampled", 500
        ),
    }


@case()
def faces_verbs(al):
    pl.DataFrame(inputs.pair_table()).write_csv("scores.csv")
    pl.DataFrame(inputs.frame_table()).write_csv("frames.csv")
    times, seed = ("--frames", "frames.csv"), ("--seed", 1)
    options = {
        "transition-curves": ("transitions", "--show", "curves"),
        "transition-ranges": ("transitions",),
        "expressions": ("expressions", *seed),
        "asymmetry": ("expressions", "--show", "asymmetry"),
        "score-histograms": ("expressions", "--show", "histograms"),
        "latency": ("timing", "--show", "latency", *times, "--latency-ms", 20, *seed),
        "jnd-scores": ("jnd", *seed),
        "jnd-steps": ("jnd", "--show", "steps", *seed),
        "jnd-times": ("jnd", "--show", "times", *times, *seed),
        "sampling-interval": ("timing", *times, *seed),
    }
    return {
        name: partial(result, "face-expressions", verb, "scores.csv", *given)
        for name, (verb, *given) in options.items()
    }


@case("full")
def mistakes(al, ratings):
    ratings.write("full.csv")
    return {
        "no file": status("reliability", "agreement", "nothing.csv"),
        "no verb": status("reliability", "agrement", "full.csv"),
        "no option": status("reliability", "agreement", "full.csv", "--sede", 1),
        "bad scale": status("ratings", "describe", "full.csv", "--scale", "7-0"),
        "no label": status("evaluate", "leaderboard", "full.csv"),
    }
