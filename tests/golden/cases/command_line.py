"""The command line: the demo, the examples, and every verb that ends without a service.

A command's result is its JSON where it gives one, its lines of text where not, and what it wrote.
"""

from __future__ import annotations

import contextlib
import io
import json
import runpy
import sys
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from unittest.mock import patch

import numpy as np
import polars as pl
from tests.golden import inputs
from tests.golden.case import ITERATED, case

from . import tables

TIMES = {"seconds", "rows_per_s"}
"""What the ledger of a filter says of its speed."""


def untimed(value):
    """Leave out how long the steps of a filter took."""
    if isinstance(value, list):
        return [untimed(item) for item in value]
    if not isinstance(value, dict):
        return value
    gone = TIMES if value.keys() >= TIMES else set()
    return {key: untimed(item) for key, item in value.items() if key not in gone}


def told(*words):
    """Run one command in this process, and give what it said."""
    out, err = io.StringIO(), io.StringIO()
    code = 0
    with (
        patch.object(sys, "argv", ["affectlab", *map(str, words)]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            runpy.run_module("affectlab", run_name="__main__")
        except SystemExit as end:
            code = end.code
    said = out.getvalue()
    if said.startswith("{"):
        said = untimed(json.loads(said))
        said.pop("version", None)
    else:
        said = said.splitlines()
    return {"exit": code or 0, "out": said, "err": err.getvalue().splitlines()}


def shaped(said, shape):
    """Give what a command said with its result in the shape that `shape` makes of it."""
    if said["exit"]:
        return said
    out = said["out"]
    return {**said, "out": {**out, "result": shape(out["result"])}}


def result(*words):
    """Give the result of a command that succeeds."""
    said = told(*words, "--json")
    return said["out"]["result"] if not said["exit"] else said


def without(rows, *columns):
    """Leave out columns of a table of JSON."""
    return [{key: item for key, item in row.items() if key not in columns} for row in rows]


class _Text(HTMLParser):
    """The text of a page under its headings, without scripts and drawings."""

    def __init__(self):
        super().__init__()
        self.skipped, self.heading, self.parts, self.section = 0, False, [], "top"
        self.found = {}

    def flush(self):
        text = " ".join("".join(self.parts).split())
        self.parts = []
        if not text:
            return
        if self.heading:
            self.section = text
        else:
            self.found.setdefault(self.section, []).append(text)

    def handle_starttag(self, tag, attrs):
        if tag in ("script", "style", "svg", "head"):
            self.skipped += 1
        if tag in (
            "p",
            "li",
            "td",
            "th",
            "h1",
            "h2",
            "h3",
            "summary",
            "figcaption",
            "div",
            "tr",
            "caption",
        ):
            self.flush()
        self.heading = self.heading or tag in ("h1", "h2", "h3")

    def handle_endtag(self, tag):
        if tag in ("script", "style", "svg", "head"):
            self.skipped -= 1
        if tag in (
            "p",
            "li",
            "td",
            "th",
            "h1",
            "h2",
            "h3",
            "summary",
            "figcaption",
            "div",
            "caption",
        ):
            self.flush()
        if tag in ("h1", "h2", "h3"):
            self.heading = False

    def handle_data(self, data):
        if not self.skipped:
            self.parts.append(data)


def page(file):
    """Give the text of a page by section."""
    parser = _Text()
    parser.feed(Path(file).read_text("utf-8"))
    parser.flush()
    return parser.found


def written(folder="."):
    """Give the tables and the names of files that a command wrote."""
    files = sorted(path for path in Path(folder).rglob("*") if path.is_file())
    files = [path for path in files if not {"figures", "work"} & set(path.parts)]
    found = {path.as_posix(): pl.read_csv(path) for path in files if path.suffix == ".csv"}
    return {
        "files": [path.as_posix() for path in files],
        "tables": {
            path: table.drop(TIMES) if set(table.columns) >= TIMES else table
            for path, table in found.items()
        },
    }


def saved(al, name, file=None):
    ratings = tables.make(al, name)
    return ratings.write(file or f"{name}.csv")


@case()
def demo(al):
    said = told("demo", "--out", "demo", "--seed", 1, "--json")
    return {"said": said, "report": page("demo/report.html"), "written": written("demo")}


@case()
def first_example(al):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        runpy.run_path(str(inputs.examples("first_report.py")), run_name="__main__")
    return {"said": out.getvalue().splitlines(), "report": page("report/report.html")}


@case(quick=True)
def emotional_distance(al):
    inputs.examples("weather_moods.toml")
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        runpy.run_path(str(inputs.examples("emotional_distance.py")), run_name="__main__")
    return out.getvalue().splitlines()


@case("full", "gaps", "two_scales", "models", "nominal", "repeats", "one_rater", "text")
def report(al, ratings):
    ratings.write("ratings.csv")
    return {
        "said": told("report", "ratings.csv", "--out", "report", "--seed", 1, "--json"),
        "report": lambda: (
            page("report/report.html") if Path("report/report.html").exists() else None
        ),
        "written": partial(written, "report"),
    }


@case(
    "full",
    "gaps",
    "two_scales",
    "guessed",
    "binary",
    "nominal",
    "repeats",
    "text",
    "models",
    "one_rater",
    quick=True,
)
def ratings_verbs(al, ratings):
    file = ratings.write("ratings.csv")
    Path("ratings.csv.meta.json").rename("aside.json") if ratings.scale.declared is False else None
    return {
        "summary": told("ratings", "summary", file, "--json"),
        "check": told("ratings", "check", file, "--json"),
        "summary as text": told("ratings", "summary", file),
        "convert": told("ratings", "convert", file, "--out", "again.parquet"),
        "files": sorted(path.name for path in Path().iterdir()),
    }


@case(
    "full",
    "gaps",
    "ties",
    "two_scales",
    "binary",
    "nominal",
    "repeats",
    "models",
    "one_rater",
    "slider",
    tolerance=ITERATED,
)
def reliability_verbs(al, ratings):
    file = ratings.write("ratings.csv")
    return {
        "agreement": partial(told, "reliability", "agreement", file, "--json", "--seed", 1),
        "agreement as text": partial(told, "reliability", "agreement", file, "--seed", 1),
        "scores": partial(told, "reliability", "scores", file, "--json"),
        "screen": partial(told, "reliability", "screen", file, "--json"),
        "screen p913": partial(told, "reliability", "screen", file, "--policy", "p913"),
        "split-half": partial(
            told, "reliability", "split-half", file, "--n-splits", 10, "--seed", 1, "--json"
        ),
        "ppca": partial(told, "reliability", "ppca", file, "--n-splits", 3, "--seed", 1, "--json"),
        "consensus": partial(told, "reliability", "consensus", file, "--json"),
    }


@case("slider", tolerance=ITERATED)
def plan_verb(al, ratings):
    said = told(
        "reliability",
        "plan",
        ratings.write("pilot.csv"),
        "--target",
        "interval",
        "--goal",
        12,
        "--n-stimuli",
        200,
        "--json",
    )

    def shape(plan):
        (advice,) = plan["recommendation"]
        return {
            **{key: plan["settings"][key] for key in ("target", "goal", "n_sim")},
            "panel": plan["panel"],
            "recommended": advice["raters"],
            "recommended_range": [advice["least"], advice["most"]],
            "table": plan["plan"],
            "words": " ".join(plan["sentences"]),
        }

    return shaped(said, shape)


@case(quick=True)
def taxonomy_verbs(al):
    inputs.examples("weather_moods.toml")
    return {
        "list": shaped(
            told("taxonomy", "list", "--json"),
            lambda found: {row.pop("name"): row for row in found["taxonomies"]},
        ),
        "show": told("taxonomy", "show", "mikels", "--json"),
        "costs": shaped(
            told("taxonomy", "costs", "mikels", "--json"),
            lambda found: {
                "labels": [row["true"] for row in found["matrix"]],
                "matrix": [list(row.values())[1:] for row in found["matrix"]],
            },
        ),
        "check": told("taxonomy", "check", "weather_moods.toml", "--json"),
        "show as text": told("taxonomy", "show", "ekman"),
        "not known": told("taxonomy", "show", "mikel"),
    }


def aligned(*words, margin=()):
    """Give alignment with models, and what was published, as the result of one command."""

    def shape(found):
        published = result("evaluate", "published", *words)
        return {
            **found,
            "verdicts": {row["rater"]: row["verdict"] for row in found["models"]},
            "raters": published["raters"],
            "pair_kinds": published["kinds"],
            "pair_kinds_by_label": published["kinds_by_label"],
            "spearman_with_median": published["with_median"],
            **{
                name: published[name]
                for name in ("spearman_kinds", "groups", "kind_groups", "alpha", "discrepancy")
            },
        }

    return shaped(told("evaluate", "alignment", *words, *margin, "--json"), shape)


@case("models", quick=True)
def alignment_verbs(al, ratings):
    file = ratings.write("ratings.csv")
    Path("stimuli.csv").write_text(ratings.stimuli.write_csv())
    quickly = ("--n-boot", 40, "--seed", 1)

    def outcomes():
        controls = result("evaluate", "controls", file)
        return shaped(
            told("evaluate", "outcomes", file, "--json"),
            lambda found: {
                "by": found["settings"]["by"],
                "shares": found["outcomes"],
                "usable": found["usable"],
                "controls": {name: controls.get(name) for name in ("duplicates", "runs", "hints")},
            },
        )

    return {
        "alignment": partial(aligned, file, *quickly),
        "alignment as text": partial(told, "evaluate", "alignment", file, *quickly),
        "fairness": partial(
            told,
            "evaluate",
            "fairness",
            file,
            "--by",
            "stimulus.gender",
            "--metric",
            "bias",
            "--stimuli",
            "stimuli.csv",
            "--seed",
            1,
            "--json",
        ),
        "outcomes": outcomes,
    }


@case()
def examples_of_fairness(al):
    folder = inputs.examples("fairness")
    return {
        by: told(
            "evaluate",
            "fairness",
            folder / "people.csv",
            "--scale",
            "0-7",
            "--models",
            folder / "gazer.csv",
            "--models",
            folder / "pelican.csv",
            "--stimuli",
            folder / "faces.csv",
            "--by",
            by,
            "--metric",
            "bias",
            "--seed",
            1,
            "--json",
        )
        for by in ("stimulus.gender", "stimulus.gender x stimulus.age")
    }


@case(quick=True)
def examples_of_human_level(al):
    folder = inputs.examples("human-level")
    return {
        "screen": told(
            "reliability",
            "screen",
            folder / "people.csv",
            "--scale",
            "0-7",
            "--wide",
            "labels",
            "--kept",
            "kept.csv",
            "--json",
        ),
        "agreement": told(
            "reliability", "agreement", "kept.csv", "--scale", "0-7", "--seed", 1, "--json"
        ),
        "alignment": aligned(
            "kept.csv",
            "--scale",
            "0-7",
            "--models",
            folder / "model.csv",
            "--seed",
            1,
            "--n-boot",
            100,
            margin=("--margin", 0.05),
        ),
        "report": told(
            "report",
            "kept.csv",
            "--scale",
            "0-7",
            "--models",
            folder / "model.csv",
            "--out",
            "report",
            "--seed",
            1,
            "--json",
        ),
        "text": lambda: page("report/report.html"),
    }


@case(quick=True)
def examples_of_leaderboard(al):
    folder = inputs.examples("leaderboard")
    return {
        "all": shaped(
            told("evaluate", "leaderboard", folder, "--json"),
            lambda found: {"boards": found["settings"]["boards"], "rows": found["leaderboard"]},
        ),
        "sorted": told("evaluate", "leaderboard", folder, "--sort", "absolute error"),
        "label": told("evaluate", "leaderboard", folder, "--label", "joy"),
        "page": told(
            "evaluate", "leaderboard", folder, "--out", "board.html", "--table", "board.csv"
        ),
        "text": lambda: page("board.html"),
        "written": partial(written, "."),
    }


@case()
def examples_of_classifier(al):
    folder = inputs.examples("classifier")
    given = [
        folder / "people.csv",
        "--models",
        folder / "gentle.csv",
        "--models",
        folder / "harsh.csv",
        "--taxonomy",
        "mikels",
        "--seed",
        1,
    ]

    def confusions(found):
        labels = found["settings"]["classes"]
        counts = {}
        for row in found["confusion"]:
            of = counts.setdefault(row["rater"], {"labels": labels, "counts": {}})["counts"]
            of[labels.index(row["true"]), labels.index(row["predicted"])] = row["count"]
        for one in counts.values():
            of, places = one["counts"], range(len(labels))
            one["counts"] = [[of.get((true, said), 0) for said in places] for true in places]
        return {**found, "confusions": counts}

    return {
        "classification": shaped(told("evaluate", "classification", *given, "--json"), confusions),
        "as text": told("evaluate", "classification", *given),
        "compare": told("evaluate", "compare", *given, "--a", "gentle", "--b", "harsh", "--json"),
        "soft": told("evaluate", "soft-labels", *given, "--n-boot", 40, "--json"),
        "spread": told(
            "evaluate",
            "soft-labels",
            folder / "people.csv",
            "--models",
            folder / "spread.csv",
            "--models-scale",
            "0-1 interval",
            "--taxonomy",
            "mikels",
            "--seed",
            1,
            "--n-boot",
            40,
            "--json",
        ),
        "faces": shaped(
            told(
                "evaluate",
                "classification",
                folder / "face_scores.jsonl",
                "--truth",
                "attribute:expression",
                "--label-map",
                "emonet_face--ferd",
                "--scores",
                "value,mean_subtracted",
                "--seed",
                1,
                "--json",
            ),
            confusions,
        ),
        "moods": shaped(
            told(
                "evaluate",
                "classification",
                folder / "face_scores.jsonl",
                "--truth",
                folder / "moods_truth.csv",
                "--label-map",
                folder / "moods.toml",
                "--costs",
                folder / "moods_costs.csv",
                "--scores",
                "mean_subtracted",
                "--seed",
                1,
                "--json",
            ),
            confusions,
        ),
    }


@case(quick=True)
def preference_verb(al):
    counts = "machine=91,human=233,both good=47,both bad=11"
    return {
        "counts": told("evaluate", "preference", counts, "--json"),
        "verdicts": told("evaluate", "preference-verdicts", counts, "--sampled", 500, "--json"),
        "as text": told("evaluate", "preference", "human=707,model=292"),
    }


@case("slider")
def difference_verb(al, ratings):
    file = ratings.write("people.csv")
    rng = np.random.default_rng(1)
    stimuli = sorted(ratings.stimulus_names)
    pl.DataFrame({"stimulus": stimuli, "rater": "L1", "value": rng.random(len(stimuli))}).write_csv(
        "net.csv"
    )
    return told(
        "evaluate", "difference", file, "--models", "net.csv", "--seed", 1, "--n-boot", 40, "--json"
    )


@case("full", "binary")
def analyze_verbs(al, ratings):
    file = ratings.write("ratings.csv")
    clusters = result("analyze", "clusters", file, "--seed", 1)
    return {
        "correlations": shaped(
            told("analyze", "correlations", file, "--out", "pairs.csv", "--seed", 1, "--json"),
            lambda found: {
                "panel": found["panel"],
                "correlations": found["correlations"],
                "clusters": clusters["labels"],
            },
        ),
        "as text": told("analyze", "clusters", file, "--k", 2, "--seed", 1),
        "written": partial(written, "."),
    }


@case("text")
def words_verb(al, ratings):
    emotions = ["joy", "fear", "sadness"] * 10
    pl.DataFrame({"text": ratings.stimuli["text"], "labels": emotions}).write_csv("texts.csv")
    rated = ratings.frame.select(pl.col("stimulus", "rater", "label").cast(pl.String), value=1)
    rated.join(ratings.stimuli, on="stimulus").write_csv("rated.csv")
    return {
        "texts": told("analyze", "words", "texts.csv", "--json"),
        "ratings": told("analyze", "words", "rated.csv", "--scale", "binary", "--json"),
        "as text": told("analyze", "words", "rated.csv", "--scale", "binary", "--label", "joy"),
    }


@case(quick=True)
def faces_verbs(al):
    pl.DataFrame(inputs.pair_table()).write_csv("scores.csv")
    pl.DataFrame(inputs.frame_table()).write_csv("frames.csv")
    times, seed = ("--frames", "frames.csv"), ("--seed", 1)
    sampling = result("analyze", "sampling-interval", "scores.csv", *times, *seed)
    return {
        "transitions": shaped(
            told("analyze", "transition-curves", "scores.csv", "--json"),
            lambda found: {
                **result("analyze", "transition-ranges", "scores.csv"),
                "transitions": found["transitions"],
                "curves": without(found["points"], "half"),
            },
        ),
        "expressions": shaped(
            told("analyze", "expressions", "scores.csv", *seed, "--json"),
            lambda found: {
                "panel": found["panel"],
                "differences": found["pairs"],
                "clusters": found["expressions"],
                "priority": found["priority"],
                **{
                    f"{of}_effects": {
                        row["name"]: row["effect"] for row in found["effects"] if row["of"] == of
                    }
                    for of in ("actor", "role")
                },
                "asymmetry": result("analyze", "asymmetry", "scores.csv")["tests"],
                "histograms": result("analyze", "score-histograms", "scores.csv")["summary"],
            },
        ),
        "jnd": shaped(
            told("analyze", "latency", "scores.csv", *times, "--latency-ms", 20, *seed, "--json"),
            lambda latency: {
                "panel": latency["panel"],
                "jnd_by_end": result("analyze", "jnd-scores", "scores.csv", *seed)["estimates"],
                "steps": result("analyze", "jnd-steps", "scores.csv", *seed)["estimates"],
                "typical": result("analyze", "jnd-times", "scores.csv", *times, *seed)["actors"],
                "latency": latency["latency"],
                "sampling": sampling["groups"],
                "sequences": sampling["sequences"],
                "segments": sampling["segments"],
            },
        ),
        "as text": told("analyze", "jnd-scores", "scores.csv", *seed),
    }


@case()
def stimuli_verbs(al):
    pairs, captions, corpus = (inputs.examples(name) for name in ("pairs", "captions", "corpus"))
    curate, texts = inputs.examples("curate"), inputs.examples("taxonomy")
    return {
        "prompts": told("stimuli", "prompts", 40, "--seed", 1, "--out", "prompts.csv", "--json"),
        "pairs": told(
            "stimuli",
            "pairs",
            pairs / "frames.csv",
            "--known",
            pairs / "known.csv",
            "--per-batch",
            30,
            "--out",
            "pairs.csv",
            "--seed",
            1,
            "--json",
        ),
        "captions": told(
            "stimuli",
            "captions",
            captions / "pairs.csv",
            "--random",
            6,
            "--conflict",
            4,
            "--polarity-of",
            "ekman",
            "--image-emotions",
            captions / "picture-emotions.csv",
            "--text-emotions",
            captions / "caption-emotions.csv",
            "--seed",
            1,
            "--json",
        ),
        "corpus": told(
            "stimuli",
            "corpus",
            corpus / "raw.csv",
            "--wide",
            "labels",
            "--scale",
            "binary",
            "--taxonomy",
            corpus / "feelings.toml",
            "--out",
            "made",
            "--seed",
            1,
            "--json",
        ),
        "agreement of the corpus": told(
            "reliability",
            "agreement",
            corpus / "raw.csv",
            "--wide",
            "labels",
            "--scale",
            "binary",
            "--taxonomy",
            corpus / "feelings.toml",
            "--seed",
            1,
            "--json",
        ),
        "curate": told("stimuli", "curate", curate / "plan.toml", "--out", "curated", "--json"),
        "taxonomy": told(
            "stimuli", "taxonomy", "build", texts / "texts.csv", "--out", "built", "--json"
        ),
        "written": partial(written, "."),
    }


@case()
def study_verbs(al):
    names = (
        "study-faces.toml",
        "study-staircase.toml",
        "study-differences.toml",
        "study-verify.toml",
    )
    inputs.examples("study-pictures")
    for name in names:
        inputs.examples(name)
    return {name: told("study", "check", name, "--json") for name in names} | {
        "init": told("study", "init", "mine.toml"),
        "checked": told("study", "check", "mine.toml"),
        "again": told("study", "init", "mine.toml"),
    }


@case(needs=("fastapi", "httpx"))
def study_rehearsed(al):
    """A study from its file to its answers; names of people are drawn anew in every run."""
    study = inputs.examples("study-faces.toml")
    rehearsed = told("study", "simulate", study, "--seed", 1, "--json")
    rehearsed["out"]["result"].pop("minutes_per_person")
    exported = told("study", "export", study, "--out", "data")["exit"]
    answers = al.read_ratings("data/ratings.parquet")
    values = answers.frame.select("stimulus", "label", "value").sort("stimulus", "label", "value")
    return {
        "rehearsed": rehearsed,
        "exported": exported,
        "truth": pl.read_csv("study-faces.affectlab/truth.csv"),
        "counts": [answers.n_ratings, answers.n_stimuli, answers.n_raters],
        "scale": str(answers.scale),
        "means": values.group_by("label", maintain_order=True).agg(
            pl.col("value").len().alias("n"), pl.col("value").mean().alias("mean")
        ),
    }


@case(quick=True)
def mistakes(al):
    saved(al, "full")
    return {
        "no file": told("reliability", "agreement", "nothing.csv"),
        "no verb": told("reliability", "agrement", "full.csv"),
        "no option": told("reliability", "agreement", "full.csv", "--sede", 1),
        "bad scale": told("ratings", "summary", "full.csv", "--scale", "7-0"),
        "no label": told("evaluate", "leaderboard", "full.csv"),
    }
