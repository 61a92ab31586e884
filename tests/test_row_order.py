"""Same answers and same seed give the same numbers, in whatever order the rows stand."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st
from tests.evaluation.test_protocols import table as asked_in_ways
from tests.public_api.source import public_modules

from affectlab import Ratings, analysis, evaluation, models, reliability, simulate, stimuli
from affectlab.analysis import reactions
from affectlab.core.errors import MissingDependencyError
from affectlab.stimuli.taxonomy import revise_taxonomy
from affectlab.taxonomy import Taxonomy

Shuffle = Callable[[Any], Any]

_OF_RATINGS = re.compile(r"\b(Ratings|PairSource|PairScores|Choices|Preferences|JndTimes)\b")
"""Annotations of what holds answers, or was made of them."""


# -- the tables ----------------------------------------------------------------------------------

_NAMES = np.random.default_rng(11)


def _names(start: str, n: int) -> list[str]:
    """Names that do not stand in the order of the alphabet."""
    return [f"{start}{k}" for k in _NAMES.permutation(n)]


def _crossed(
    stimuli: list[str], raters: list[str], labels: list[str], values: np.ndarray, answered: float
) -> pl.DataFrame:
    """Answers of all raters to all stimuli, but for some; `values` by stimulus, rater, label."""
    rows = [
        (one, rater, label, float(values[i, j, k]))
        for i, one in enumerate(stimuli)
        for j, rater in enumerate(raters)
        for k, label in enumerate(labels)
    ]
    frame = pl.DataFrame(rows, schema=["stimulus", "rater", "label", "value"], orient="row")
    kept = np.random.default_rng(len(rows)).random(len(rows)) < answered
    return frame.filter(pl.Series(kept))


def _panel() -> Ratings:
    """People and models on three labels, with attributes and gaps; some people answer twice."""
    rng = np.random.default_rng(1)
    stimuli, people, models = _names("s", 24), _names("p", 7), _names("net", 3)
    raters = [*people, *models]
    truth = rng.uniform(0, 7, (24, 1, 3))
    values = np.clip(np.rint(truth + rng.normal(0, 1.6, (24, len(raters), 3))), 0, 7)
    frame = _crossed(stimuli, raters, ["zeal", "awe", "joy"], values, 0.85)
    first = frame.with_columns(trial=pl.lit(1))
    again = frame.filter(pl.col("rater") == people[0]).with_columns(
        trial=pl.lit(2), value=7 - pl.col("value")
    )
    return Ratings(
        pl.concat([first, again]),
        scale="0-7",
        raters={
            "rater": raters,
            "rater_kind": ["human"] * 7 + ["model"] * 3,
            "family": [None] * 7 + ["big", "small", "big"],
        },
        stimuli={
            "stimulus": stimuli,
            "sex": ["man", "woman"] * 12,
            "actor": [f"a{k % 8}" for k in range(24)],
        },
    )


def _ticks() -> Ratings:
    """Yes and no of people and two models on labels of a taxonomy."""
    rng = np.random.default_rng(2)
    stimuli, people = _names("t", 60), _names("q", 6)
    truth = rng.random((60, 1, 4)) < [0.6, 0.4, 0.3, 0.3]
    flipped = rng.random((60, 8, 4)) < 0.2
    raters = [*people, "netb", "neta"]
    frame = _crossed(stimuli, raters, ["joy", "anger", "fear", "awe"], truth ^ flipped, 0.95)
    return Ratings(
        frame,
        scale="binary",
        raters={"rater": raters, "rater_kind": ["human"] * 6 + ["model"] * 2},
    )


def _choices() -> Ratings:
    """One of four emotions each, by people and two models; ties among people are common."""
    rng = np.random.default_rng(3)
    stimuli, people = _names("c", 40), _names("r", 4)
    words = ["fear", "awe", "sadness", "anger"]
    raters = [*people, "netb", "neta"]
    rows = [
        (one, rater, words[int(rng.integers(4)) if rng.random() < 0.5 else i % 4])
        for i, one in enumerate(stimuli)
        for rater in raters
    ]
    frame = pl.DataFrame(rows, schema=["stimulus", "rater", "value"], orient="row")
    return Ratings(
        frame,
        scale="nominal:awe,fear,sadness,anger",
        taxonomy="mikels",
        raters={"rater": raters, "rater_kind": ["human"] * 4 + ["model"] * 2},
    )


def _grades() -> Ratings:
    """Grades from 1 to 3 on three labels of no taxonomy, so that several are often highest."""
    rng = np.random.default_rng(9)
    stimuli, people = _names("g", 30), _names("h", 3)
    raters = [*people, "neta"]
    values = rng.integers(1, 4, (30, 4, 3))
    frame = _crossed(stimuli, raters, ["zest", "calm", "pep"], values, 1.0)
    return Ratings(
        frame,
        scale="1-3",
        raters={"rater": raters, "rater_kind": ["human"] * 3 + ["model"]},
    )


def _verdicts() -> Ratings:
    """Which of two systems people prefer."""
    rng = np.random.default_rng(4)
    said = ["model", "human", "both", "neither"]
    rows = [
        (one, judge, said[int(rng.integers(4))])
        for one in _names("v", 40)
        for judge in _names("j", 5)
        if rng.random() < 0.8
    ]
    frame = pl.DataFrame(rows, schema=["stimulus", "rater", "value"], orient="row")
    return Ratings(frame, scale="nominal:model,human,both,neither")


def _faces() -> Ratings:
    """How different two faces of an actor look, on a design of pairs."""
    roles = ("peak", "near_peak", "middle", "near_neutral", "neutral")
    strength = dict(zip(roles, (1.0, 0.8, 0.5, 0.2, 0.0), strict=True))
    rng = np.random.default_rng(5)
    pairs = []
    for actor in ("uma", "bo", "eve"):
        for expression, size in (("joy", 60.0), ("fear", 80.0), ("awe", 45.0), ("rage", 70.0)):
            for a in range(5):
                for b in range(a + 1, 5):
                    gap = size * (strength[roles[a]] - strength[roles[b]])
                    pairs.append(("intra", actor, expression, roles[a], expression, roles[b], gap))
        for a, b in (("joy", "fear"), ("awe", "joy"), ("fear", "awe"), ("rage", "awe"),
                     ("rage", "joy"), ("fear", "rage")):  # fmt: skip
            pairs += [
                ("inter", actor, a, role, b, role, float(rng.uniform(30, 80))) for role in roles[:3]
            ]
    columns = ["kind", "actor", "expression_a", "role_a", "expression_b", "role_b", "truth"]
    table = pl.DataFrame(pairs, schema=columns, orient="row").with_columns(
        stimulus=pl.Series(_names("f", len(pairs)))
    )
    people = _names("w", 8)
    bias, noise = rng.normal(0, 4, 8), rng.uniform(4, 10, 8)
    rows = [
        (one, person, float(np.clip(truth + bias[j] + rng.normal(0, noise[j]), 0, 100)))
        for one, truth in table.select("stimulus", "truth").iter_rows()
        for j, person in enumerate(people)
        if rng.random() < 0.8
    ]
    frame = pl.DataFrame(rows, schema=["stimulus", "rater", "value"], orient="row")
    return Ratings(frame, scale="0-100 interval", stimuli=table.drop("truth"))


def _reactions(raters: list[str], seed: int) -> Ratings:
    """Texts about what people feel at a picture and its caption."""
    rng = np.random.default_rng(seed)
    shown = [f"i{k}" for k in rng.permutation(8)]
    rows = [
        (one, rater, emotion, f"{rater} feels {emotion} number {int(rng.integers(1000))} at {one}")
        for one in shown
        for rater in raters
        for emotion in ("sad", "happy")
        if rng.random() < 0.9
    ]
    frame = pl.DataFrame(rows, schema=["stimulus", "rater", "label", "text"], orient="row")
    captions = {"stimulus": shown, "caption": [f"caption of {one}" for one in shown]}
    return Ratings(frame, scale="text", stimuli=captions)


PANEL, TICKS, CHOICES, VERDICTS, FACES = _panel(), _ticks(), _choices(), _verdicts(), _faces()
GRADES = _grades()
ASKED = asked_in_ways(0.5, 0.3, 0.3, n_models=3)
PEOPLE, MODELS = PANEL.humans(), PANEL.models()
FILMS = Ratings(
    pl.DataFrame(
        [
            (
                film,
                rater,
                float(at),
                40.0 + 30 * np.sin((at + 5 * k + lag) / 4) + 3 * ((at * lag) % 5),
            )
            for k, film in enumerate(("zoo", "chase", "rain"))
            for lag, rater in enumerate(("uma", "bo", "eve"))
            for at in range(24)
        ],
        schema=["stimulus", "rater", "at", "value"],
        orient="row",
    ),
    scale="0-100 interval",
)
LISTENERS, MACHINES = _reactions(["zoe", "bob", "ann"], 1), _reactions(["net", "hub"], 2)
FRAMES = pl.DataFrame(
    [
        (actor, expression, role, time)
        for actor in ("uma", "bo", "eve")
        for expression in ("joy", "fear", "awe", "rage")
        for role, time in zip(
            ("peak", "near_peak", "middle", "near_neutral", "neutral"),
            (0, 60, 200, 330, 400),
            strict=True,
        )
    ],
    schema=["actor", "expression", "role", "time_ms"],
    orient="row",
)
_RNG = np.random.default_rng(6)
SCORES = pl.DataFrame(
    [
        (item, metric, float(_RNG.normal()))
        for item in VERDICTS.stimulus_names
        for metric in ("clip", "bert")
    ],
    schema=["item", "metric", "score"],
    orient="row",
)
METRICS = Ratings(
    SCORES.rename({"item": "stimulus", "metric": "rater", "score": "value"}),
    scale="interval",
    raters={"rater": ["clip", "bert"], "rater_kind": ["model"] * 2},
)


def _predictions(what: str, seed: int) -> Ratings:
    """What a model says of pictures or captions, on two labels."""
    rng = np.random.default_rng(seed)
    rows = [
        (f"n{k}", what, label, float(rng.random()))
        for k in rng.permutation(30)
        for label in ("sadness", "joy")
    ]
    frame = pl.DataFrame(rows, schema=["stimulus", "rater", "label", "value"], orient="row")
    return Ratings(frame, scale="0-1 interval")


SEEN, READ = _predictions("eyes", 7), _predictions("reader", 8)
NEWS = pl.DataFrame(
    {
        "stimulus": [f"n{k}" for k in range(30)],
        "file": [f"n{k}.jpg" for k in range(30)],
        "text": [f"news {k}" for k in range(30)],
        "source": ["one", "two", "three"] * 10,
    }
)


# -- the same rows in another order --------------------------------------------------------------


def shuffled(table: Any, rng: np.random.Generator | None, *, listed: bool = False) -> Any:
    """Give a table with its rows, its raters and its stimuli in another order.

    Without `rng` they come in reverse, so that what is named last is named first.

    With `listed` labels, models and metrics still come in the order in which they came: the rows
    that name them first come first.
    """
    if isinstance(table, pl.DataFrame):
        every = np.arange(table.height)
        rows = every[::-1] if rng is None else rng.permutation(every)
        return table[_first_named(table, rows) if listed else rows.tolist()]
    frame = table.to_frame()
    if table.scale.categories:
        named = {float(k): name for k, name in enumerate(table.scale.categories)}
        frame = frame.with_columns(pl.col("value").replace_strict(named, return_dtype=pl.String))
    kinds = dict(zip(table.rater_names, table.rater_kinds, strict=True))
    models = pl.col("rater").replace_strict(kinds, return_dtype=pl.String) == "model"
    made = shuffled(
        frame.with_columns(metric=pl.when(models).then("rater")), rng, listed=listed
    ).drop("metric")
    return Ratings(
        made,
        scale=table.scale,
        taxonomy=table.taxonomy,
        raters=shuffled(table.raters, rng),
        stimuli=shuffled(table.stimuli, rng),
    )


def _first_named(frame: pl.DataFrame, rows: np.ndarray) -> list[int]:
    label = frame["label"].to_list() if "label" in frame.columns else [""] * frame.height
    metric = frame["metric"].to_list() if "metric" in frame.columns else [None] * frame.height
    first = [
        next(k for k in rows if metric[k] == name and label[k] == label[0])
        for name in dict.fromkeys(one for one in metric if one is not None)
    ]
    for name in dict.fromkeys(label):
        first.append(next(k for k in rows if label[k] == name and k not in first))
    return [*first, *(k for k in rows if k not in set(first))]


# -- what must be equal --------------------------------------------------------------------------


def content(thing: Any) -> Any:
    """What a result says, without the order in which it says it."""
    if isinstance(thing, Ratings):
        return content(thing.to_frame())
    if isinstance(thing, pl.DataFrame):
        names = sorted(thing.columns)
        return {"columns": names, "rows": content(thing.select(names).rows())}
    if isinstance(thing, pl.Series | np.ndarray):
        return content(np.asarray(thing).ravel().tolist())
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        return {
            field.name: content(getattr(thing, field.name)) for field in dataclasses.fields(thing)
        }
    if isinstance(thing, Mapping):
        return {str(key): content(value) for key, value in thing.items()}
    if isinstance(thing, list | tuple | set | frozenset):
        return sorted((content(part) for part in thing), key=repr)
    if isinstance(thing, float | np.floating):
        # Rounded, so that the last digits of a sum do not count.
        return 0.0 if abs(thing) < 1e-9 else float(f"{thing:.6g}")
    return thing


def alike(one: Any, other: Any) -> bool:
    """Whether two contents are equal up to rounding."""
    if isinstance(one, Mapping):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return one == pytest.approx(other, rel=1e-5, abs=1e-9, nan_ok=True)
    return bool(one == other)


def _numbers_of_reactions(ratings: Ratings) -> dict[str, Any]:
    """What is drawn or counted, without the numbers of rows."""
    found = reactions.summarise_reactions(
        ratings,
        sentiment=lambda texts: ["negative" if "sad" in one else "positive" for one in texts],
        most=8,
        n_random=50,
        seed=1,
    )
    agreement, match = found.agreement, found.sentiment
    assert agreement is not None
    assert match is not None
    scores = [agreement.higher, agreement.same, agreement.random]
    quality = [
        match.match,
        match.chance,
        match.kappa,
        match.to_frame("sentiments"),
        match.to_frame("sentiment_emotions"),
    ]
    return {
        "sentences": found.sentences,
        "diversity": found.diversity,
        "agreement": scores,
        "sentiment": quality,
        "signs": found.signs.to_frame("sign_raters"),
        "popular": found.popular.to_frame(),
    }


def _crowd(ratings: Ratings) -> Any:
    """How near models come that know who answered; features are of the names."""
    names = ratings.stimulus_names
    features = {name: [len(name), int(name[1:]) % 3, int(name[1:]) % 7] for name in names}
    return models.crowd.compare_crowd_models(
        ratings, features, n_splits=2, penalties=[1.0], shrinkages=[3.0], seed=1
    )


CALLS: dict[str, Callable[[Shuffle], Any]] = {
    "compare_crowd_models": lambda s: _crowd(s(CHOICES)),
    "protocol_effects": lambda s: evaluation.protocol_effects(s(ASKED), seed=1, n_boot=20),
    "krippendorff_alpha": lambda s: [
        reliability.krippendorff_alpha(
            s(PANEL), n_boot=20, target=over, joint=joint, seed=1, interval="percentile"
        )
        for over in ("stimuli", "raters", "both")
        for joint in (True, False)
    ],
    "label_correlations": lambda s: analysis.label_correlations(s(PANEL), n_boot=20, seed=1),
    "label_map": lambda s: [
        analysis.label_map(s(TICKS), method=method, most=25, seed=1) for method in ("pca", "tsne")
    ],
    "expression_differences": lambda s: analysis.expression_differences(
        s(FACES), n_boot=20, seed=1
    ),
    "jnd_score": lambda s: analysis.jnd.jnd_score(s(FACES), n_boot=20, seed=1),
    "jnd_scores": lambda s: analysis.jnd_scores(s(FACES), n_boot=20, seed=1),
    "jnd_steps": lambda s: analysis.jnd_steps(s(FACES), n_boot=20, seed=1),
    "jnd_times": lambda s: analysis.jnd_times(s(FACES), s(FRAMES), n_boot=20, seed=1),
    "sampling_interval": lambda s: analysis.sampling_interval(
        s(FACES), s(FRAMES), n_boot=20, seed=1
    ),
    "latency_budget": lambda s: analysis.latency_budget(
        analysis.jnd_times(s(FACES), s(FRAMES), jnd=20.0), 10.0, n_boot=20, seed=1
    ),
    "model_calibration": lambda s: evaluation.soft_labels.model_calibration(
        s(TICKS), n_boot=20, seed=1
    ),
    "evaluate_soft_labels": lambda s: evaluation.evaluate_soft_labels(
        s(TICKS), by_person=True, n_splits=3, n_boot=20, seed=1
    ),
    "soft_label_metrics": lambda s: evaluation.soft_label_metrics(
        s(TICKS), by_person=True, n_splits=3, n_boot=20, seed=1
    ),
    "soft_label_comparison": lambda s: evaluation.soft_labels.soft_label_comparison(
        s(TICKS), n_splits=3, n_boot=20, seed=1
    ),
    "classes_of": lambda s: [
        evaluation.classes_of(s(CHOICES), ties="random", seed=1),
        evaluation.classes_of(s(GRADES), ties="random", seed=1).to_frame(),
        evaluation.classes_of(s(GRADES), ties="first", answer_ties="first", seed=1).to_frame(),
    ],
    "evaluate_classification": lambda s: [
        evaluation.evaluate_classification(s(CHOICES), n_boot=20, seed=1),
        evaluation.evaluate_classification(s(GRADES), n_boot=20, seed=1).estimates,
    ],
    "compare_models": lambda s: evaluation.compare_models(
        s(CHOICES), n_boot=20, n_permutations=50, seed=1
    ),
    "spearman_with_people": lambda s: [
        evaluation.spearman_with_people(s(PANEL), n_boot=20, target=over, seed=1)
        for over in ("stimuli", "labels")
    ],
    "published_tables": lambda s: evaluation.published_tables(
        s(PANEL), groups="family", n_boot=20, seed=1
    ),
    "difference_metrics": lambda s: evaluation.difference_metrics(
        s(PEOPLE), s(MODELS), label="joy", n_splits=5, n_boot=20, seed=1
    ),
    "fairness": lambda s: [
        evaluation.fairness(s(PANEL), by="stimulus.sex", n_boot=20, n_permutations=49, seed=1),
        evaluation.fairness(
            s(PANEL), by="stimulus.sex", cluster="stimulus.actor", n_boot=20, seed=1
        ),
    ],
    "evaluate_preference_metrics": lambda s: evaluation.evaluate_preference_metrics(
        evaluation.preferences(s(VERDICTS)), s(METRICS), n_boot=20, n_permutations=49, seed=1
    ),
    "preferences": lambda s: evaluation.preferences(s(VERDICTS), n_boot=20, seed=1),
    "preference_scale": lambda s: evaluation.preference_scale(s(VERDICTS), seed=1),
    "preference_pairs": lambda s: evaluation.preference_pairs(s(PANEL), k=1, seed=1),
    "reaction_pairs": lambda s: evaluation.reaction_pairs(s(LISTENERS), s(MACHINES), n=10, seed=1),
    "dawid_skene": lambda s: reliability.dawid_skene(s(CHOICES), n_draws=20, seed=1),
    "choose_golden": lambda s: reliability.choose_golden(
        s(PEOPLE), 4, share=0.5, min_ratings=3, label="joy", seed=1
    ),
    "mean_spearman": lambda s: [
        reliability.mean_spearman(s(PEOPLE), s(MODELS), n_boot=20, target=over, seed=1)
        for over in ("stimuli", "labels")
    ],
    "pilot_report": lambda s: reliability.pilot_report(s(FACES), n_splits=3, seed=1),
    "plan": lambda s: reliability.plan(
        s(FACES), quantity="interval", goal=10, n_pilots=3, n_sim=8, seed=1
    ),
    "ppca": lambda s: reliability.ppca(s(TICKS), seed=1),
    "split_half": lambda s: reliability.split_half(s(PANEL), n_splits=5, seed=1),
    "traces": lambda s: reliability.traces(s(FILMS), seed=1),
    "summarise_reactions": lambda s: _numbers_of_reactions(s(LISTENERS)),
    "random_baseline": lambda s: [
        simulate.random_baseline(s(PANEL), how=how, seed=1) for how in ("uniform", "shuffled")
    ],
    "captioned_pairs": lambda s: stimuli.captioned_pairs(
        s(NEWS), random=6, conflict=4, image_emotions=s(SEEN), text_emotions=s(READ), seed=1
    ),
    "labelled_corpus": lambda s: stimuli.labelled_corpus(s(TICKS), keep_together=None, seed=1),
    "revise_taxonomy": lambda s: revise_taxonomy(
        Taxonomy.from_labels(["anger", "awe", "fear", "joy"]),
        s(TICKS),
        agreement=reliability.krippendorff_alpha(
            s(TICKS), n_boot=20, seed=1, interval="percentile", target="stimuli"
        ),
        seed=1,
    ),
    "BothWrong.sample": lambda s: evaluation.both_wrong(s(CHOICES)).sample(5, seed=1),
    "BothWrong.items": lambda s: evaluation.both_wrong(s(CHOICES)).items(seed=1),
}
"""Calls that say more than a table of ratings and a seed."""

LISTED = {
    "BothWrong.sample": "columns of answers are named after models, in their order",
    "alignment": "notes name models in their order",
    "cluster_labels": "clusters are numbered, and branches drawn, in the order of labels",
    "compare_models": "differences are those of the first model less the second",
    "concordance": "a figure's description names labels in their order",
    "control_checks": "the most frequent answers are written label by label",
    "difference_metrics": "fitted curves are kept by the places of models",
    "evaluate_classification": "of people who are right equally often, the first is named",
    "evaluate_preference_metrics": "differences are those of the first metric less the second",
    "evaluate_soft_labels": "differences are those of the first model less the second",
    "fairness": "sentences name models in their order",
    "internal_consistency": "a note names items in their order",
    "label_correlations": "pairs of labels are named in the order of labels",
    "labelled_corpus": "the labels of a stimulus are written in the order of labels",
    "published_tables": "pairs of raters are named in the order of raters",
    "soft_label_comparison": "differences are those of the first model less the second",
}
"""Where the order of labels and models, in which results list them, is also in what they say."""

APART = {
    "jnd_strips": "needs films; its times are those of jnd_times",
    "write_report": "shows results of the functions here, and pictures drawn from sorted names",
}
"""Why some have no call."""


INSIDE = (
    "affectlab.analysis.jnd",
    "affectlab.evaluation.classification",
    "affectlab.evaluation.soft_labels",
)
"""Packages whose functions public ones rest on, and whose results these give."""


# -- every public function with a seed ------------------------------------------------------------


def _public_modules() -> Iterator[Any]:
    for name in (*public_modules(), *INSIDE):
        # What an extra needs and is not there is skipped.
        with contextlib.suppress(ImportError, MissingDependencyError):
            yield importlib.import_module(name)


def _seeded() -> dict[str, Callable[..., Any]]:
    """Public functions, and methods of what they return, that have a seed and take answers."""
    found: dict[str, Callable[..., Any]] = {}
    for module in _public_modules():
        handed_out = [name for name in vars(module) if not name.startswith("_")]
        for name in getattr(module, "__all__", handed_out):
            thing = getattr(module, name)
            members = {name: thing}
            if inspect.isclass(thing):
                members = {
                    f"{name}.{key}": member
                    for key, member in inspect.getmembers(thing, inspect.isfunction)
                    if not key.startswith("_")
                }
            for key, one in members.items():
                if not inspect.isfunction(one):
                    continue
                parameters = inspect.signature(one).parameters
                takes = any(_OF_RATINGS.search(str(p.annotation)) for p in parameters.values())
                if "seed" in parameters and (takes or key in CALLS):
                    found[key] = one
    return found


SEEDED = _seeded()


def _call(name: str, shuffle: Shuffle) -> Any:
    if name in CALLS:
        return CALLS[name](shuffle)
    options = {"n_boot": 20} if "n_boot" in inspect.signature(SEEDED[name]).parameters else {}
    return SEEDED[name](shuffle(PANEL), seed=1, **options)


@functools.cache
def _as_it_stands(name: str) -> Any:
    return content(_call(name, lambda table: table))


def test_calls_are_those_of_functions_that_exist() -> None:
    assert set(CALLS) <= set(SEEDED)
    assert set(LISTED) <= set(SEEDED)
    assert set(APART) <= set(SEEDED)
    assert len(SEEDED) > 40


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(set(SEEDED) - set(APART)))
@settings(max_examples=3, suppress_health_check=list(HealthCheck))
@given(order=st.integers(0, 2**32 - 1))
@example(order=None)
def test_rows_in_any_order_give_the_same_numbers(name: str, order: int | None) -> None:
    """A function that is new is called with a table of people and models on three labels."""
    rng = None if order is None else np.random.default_rng(order)
    found = _call(name, lambda table: shuffled(table, rng, listed=name in LISTED))
    assert alike(content(found), _as_it_stands(name))


# -- what a reader sees keeps its order ------------------------------------------------------------


def _order_of(names: Any, known: tuple[str, ...]) -> tuple[str, ...]:
    wanted = set(known)
    return tuple(dict.fromkeys(name for name in names if name in wanted))


def test_results_list_names_as_the_table_does() -> None:
    assert PANEL.stimulus_names != tuple(sorted(PANEL.stimulus_names))
    people = PANEL.humans().rater_names
    assert people != tuple(sorted(people))
    ceiling = evaluation.human_ceiling(PANEL)
    assert _order_of(ceiling.people.frame["rater"], people) == people
    judged = evaluation.evaluate_classification(CHOICES, n_boot=4, seed=1)
    for names in (
        judged.estimates.frame["rater"],
        judged.to_frame("per_class")["rater"],
        judged.confusions,
    ):
        assert _order_of(names, CHOICES.humans().rater_names) == CHOICES.humans().rater_names
        assert _order_of(names, ("netb", "neta")) == ("netb", "neta")
    soft = evaluation.soft_label_metrics(TICKS, by_person=True, n_splits=2, n_boot=4, seed=1)
    assert _order_of(soft.frame["rater"], TICKS.humans().rater_names) == TICKS.humans().rater_names
    pairs = evaluation.published_tables(PANEL, n_boot=4, seed=1).kappa
    assert pairs is not None
    assert pairs.raters == PANEL.rater_names
    alpha = reliability.krippendorff_alpha(
        PANEL, n_boot=4, seed=1, interval="percentile", target="stimuli"
    )
    assert tuple(alpha.frame["label"]) == PANEL.label_names
    assert reliability.ppca(TICKS, seed=1).raters == TICKS.rater_names
    scores = reliability.pilot_report(FACES, n_splits=2, seed=1).scores
    assert tuple(scores.frame["stimulus"]) == FACES.stimulus_names
    placed = analysis.label_map(TICKS, method="pca", most=20, seed=1)
    assert placed.stimuli == _order_of(TICKS.stimulus_names, placed.stimuli)
    dice = simulate.random_baseline(PANEL, seed=1)
    assert dice.stimulus_names == PANEL.stimulus_names
