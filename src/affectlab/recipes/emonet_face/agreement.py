"""The figures of EmoNet-Face HQ: people among one another, and models beside them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from affectlab.recipes.published_figures import load_published
from affectlab.recipes.recipe import Finding

if TYPE_CHECKING:
    from affectlab.core.estimates import Estimates
    from affectlab.evaluation.rater_comparison import PublishedTables
    from affectlab.ratings import Ratings


__all__ = [
    "GROUPS",
    "LARGE",
    "MODELS",
    "OWN",
    "PEOPLE",
    "RANDOM",
    "SMALL",
    "STAND_INS",
    "VLM_NAMES",
    "Compared",
    "compare",
    "families_of",
    "hq_findings",
    "inconsistencies",
    "key_of",
    "paper_name",
    "simulated",
]

# Who is compared in EmoNet-Face: the rows of Table 6, their groups, and the figures they have.


PEOPLE = tuple(f"human-{k}" for k in range(1, 9))
SMALL, LARGE = "Empathic Insight Face Small", "Empathic Insight Face Large"
RANDOM = "Random Baseline"
OWN = "EmpathicInsight-Face"

MODELS = {
    LARGE: OWN,
    SMALL: OWN,
    "Hume Face*": "proprietary",
    "Gemini 2.5 Flash MS": "VLM, multi-shot",
    "Gemini 2.0 Flash MS": "VLM, multi-shot",
    "Claude 3.7 MS": "VLM, multi-shot",
    "Gemini 2.5 Pro 03-25 ZS": "VLM, zero-shot",
    "Gemini 2.0 Flash ZS": "VLM, zero-shot",
    "Gemini 2.5 Flash ZS": "VLM, zero-shot",
    "Qwen Plus ZS": "VLM, zero-shot",
    "Pixtral Large ZS": "VLM, zero-shot",
    "GPT-4o ZS": "VLM, zero-shot",
    "Nova Pro ZS": "VLM, zero-shot",
    RANDOM: "random baseline",
}
"""Models as the published file names them, and the group that each belongs to in Figure 3."""

GROUPS = {
    "proprietary": "proprietary",
    "multi-shot": "VLM, multi-shot",
    "zero-shot": "VLM, zero-shot",
    "random": RANDOM.lower(),
}
"""Key of a published test, and the group that the paper's own models are compared with."""

STAND_INS = {
    name: "~" + name.replace("Empathic Insight Face", "EIF").replace(" 03-25", "").replace("*", "")
    for name in MODELS
}
"""Model to the name of what stands in for it in a simulation: nobody should take that for it."""
_STOOD_FOR = {short: name for name, short in STAND_INS.items()}

VLM_NAMES = (
    "Gemini 2.5 Pro", "Gemini 2.5 Flash", "Gemini 2.0 Flash", "Claude 3.7", "GPT-4o", "Nova Pro",
    "Pixtral Large", "Qwen Plus",
)  # fmt: skip
"""Vision-language models of Table 3."""


def paper_name(name: str) -> str:
    """Give the name that a model has in the paper; of a stand-in, that of the model it stands for.

    Examples
    --------
    >>> paper_name("~Hume Face")
    'Hume Face*'
    """
    return _STOOD_FOR.get(name, name)


def key_of(name: str) -> str:
    """Give the part of a key that stands for a rater.

    Examples
    --------
    >>> key_of("~Gemini 2.5 Pro ZS")
    'gemini-2-5-pro-03-25-zs'
    """
    return re.sub(r"[^a-z0-9]+", "-", paper_name(name).lower()).strip("-")


def families_of(names: Iterable[str]) -> dict[str, str]:
    """Give the group of each model; one that the paper does not have is a group of its own."""
    return {name: MODELS.get(paper_name(name), name) for name in names}


_ALPHA = ("Elation", "Amusement", "Anger", "Interest", "Concentration", "Contemplation")
_GEMINI = "Gemini 2.5 Pro 03-25 ZS"


def simulated(ratings: Ratings) -> str:
    """Say in a figure that people are simulated, if they are."""
    return " (simulated)" if "simulated" in ratings.rater_kinds else ""


@dataclass(frozen=True)
class Compared:
    """People, models, and the tables that the paper has of them."""

    people: Ratings
    models: Ratings
    tables: PublishedTables
    families: dict[str, str]
    """Group of each model."""
    own: dict[str, Estimates]
    """Group to what Mann-Whitney's U says of it and the paper's own models."""

    @property
    def said(self) -> str:
        """What figures say after the name of a value, so that none is taken for a real one."""
        return simulated(self.people)


def compare(people: Ratings, models: Ratings, *, n_boot: int, seed: int) -> Compared:
    """Compute the paper's tables as its notebooks do: fractions are cut off, not rounded."""
    from affectlab.evaluation import published_tables
    from affectlab.evaluation.rater_comparison import group_comparison

    people = people.answers()
    families = families_of(models.rater_names)
    tables = published_tables(
        people, models, groups=families, truncate=True, n_boot=n_boot, seed=seed
    )
    own = {}
    ours = {name: family for name, family in families.items() if family == OWN}
    if ours and tables.kappa is not None:
        for family in GROUPS.values():
            others = {name: kind for name, kind in families.items() if kind == family}
            if others:
                own[family] = group_comparison(
                    people,
                    models,
                    groups=ours | others,
                    truncate=True,
                    pairs=tables.kappa,
                    n_boot=0,
                )
    return Compared(people, models, tables, families, own)


def hq_findings(found: Compared) -> dict[str, Finding]:
    """Give every figure that follows from ratings of people and models."""
    return _counts(found) | _agreement(found) | _table_6(found) | _tests(found)


def _counts(found: Compared) -> dict[str, Finding]:
    people = found.people
    images = people.coded_frame.select("stimulus", "rater").unique().height
    counts = {
        "hq.images": people.n_stimuli,
        "hq.annotations": images,
        "hq.raters": people.n_raters,
        "hq.raters_per_image": images / people.n_stimuli,
    }
    for name in found.families:
        if paper_name(name) == _GEMINI:
            counts["table3.gemini.images"] = found.models.select(raters=name).n_stimuli
    named = [paper_name(name) for name in found.families]
    counts["table3.models"] = sum(any(name.startswith(one) for name in named) for one in VLM_NAMES)
    return {key: Finding(float(value)) for key, value in counts.items()}


def _agreement(found: Compared) -> dict[str, Finding]:
    made: dict[str, Finding] = {}
    if found.tables.kinds is not None:
        row = found.tables.kinds.filter(pl.col("pair_kind") == "human-human")
        made["hq.kappa"] = _finding(row["mean"][0])
    alpha = found.tables.alpha.to_frame().filter(
        (pl.col("side") == "human") & pl.col("value").is_not_nan()
    )
    made["hq.alpha"] = _finding(alpha["value"].mean())
    # The ends of the interval as the released notebook makes them.
    for key in ("low", "high"):
        known = alpha[key].drop_nans().drop_nulls()
        made[f"hq.alpha.{key}"] = _finding(known.mean() if len(known) else None)
    for label in _ALPHA:
        rows = alpha.filter(pl.col("label") == label).to_dicts()
        key = f"hq.alpha.{label.lower()}"
        made[key] = _finding(rows[0]["value"]) if rows else Finding(why="alpha is not defined")
    return made


def _table_6(found: Compared) -> dict[str, Finding]:
    if found.tables.raters is None:
        return {}
    keys = {figure.key for figure in load_published("emonet_face").figure}
    made = {}
    for row in found.tables.raters.iter_rows(named=True):
        start = f"table6.{key_of(row['rater'])}"
        for name in ("mean", "sd", "median", "best"):
            if f"{start}.{name}" in keys:
                made[f"{start}.{name}"] = _finding(row[name])
    return made


def _tests(found: Compared) -> dict[str, Finding]:
    made: dict[str, Finding] = {}
    groups = found.tables.groups
    if groups is not None and OWN in found.families.values():
        row = _pair(groups, "people", OWN)
        made["test.difference"] = Finding(row["value"])
        made["test.p"] = Finding(row["p"])
    for slug, family in GROUPS.items():
        if family in found.own:
            made[f"test.p.{slug}"] = Finding(_pair(found.own[family], OWN, family)["p"])
    return made


def _pair(table: Estimates, first: str, second: str) -> dict[str, float]:
    both = {first, second}
    for row in table.frame.iter_rows(named=True):
        if {row["group_a"], row["group_b"]} == both:
            return row
    return {"value": math.nan, "p": math.nan}


def _finding(value: object) -> Finding:
    return Finding(float(value) if isinstance(value, int | float) else math.nan)


def inconsistencies() -> tuple[str, ...]:
    """Say which printed figures cannot be right, and what the printed ones say together."""
    printed = {figure.key: figure.value for figure in load_published("emonet_face").figure}
    marked = [
        f"† {figure.name}: {figure.inconsistent}."
        for figure in load_published("emonet_face").figure
        if figure.inconsistent
    ]
    people = [printed[f"table6.human-{k}.mean"] for k in range(1, 9)]
    own = [printed[f"table6.{key_of(name)}.mean"] for name, kind in MODELS.items() if kind == OWN]
    mean, of_models = sum(people) / len(people), sum(own) / len(own)
    below = sum(printed["table6.empathic-insight-face-large.mean"] > one for one in people)
    return (
        *marked,
        f"Of the printed Table 6 people have a mean of {mean:.3f}, where the text says 0.20 of "
        f"their pairs; less the mean of both Empathic Insight models it is {mean - of_models:.3f}, "
        f"as the text says. The large model is above {below} of 8 people, the small one below "
        "three runs of Gemini, though both are said to outperform all other models.",
    )
