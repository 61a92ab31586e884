"""Agreement of raters (Figure 1, Table 7), components (4.3), and labels that go together (4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from affectlab.core.words import joined
from affectlab.recipes.goemotions.data import Corpus
from affectlab.recipes.published_figures import load_published
from affectlab.recipes.recipe import SETTING, Finding

if TYPE_CHECKING:
    from affectlab.analysis.labels import LabelClusters, LabelCorrelations
    from affectlab.core.estimates import Estimate
    from affectlab.ratings import Ratings
    from affectlab.reliability.correlation import PPCA

__all__ = ["Agreement", "Structure", "rater_findings", "structure_of"]

_KINDS = ("correlation", "kappa")
_DRAWS = 10
"""Random pairs of raters from which kappa is found, where all answers are there."""


@dataclass(frozen=True)
class Agreement:
    """Both measures of agreement for each emotion; ``nan`` where not defined."""

    labels: tuple[str, ...]
    correlation: tuple[float, ...]
    kappa: tuple[float, ...]

    @property
    def pearson(self) -> float:
        """Correlation of the two measures over emotions."""
        both = np.array([self.correlation, self.kappa])
        known = ~np.isnan(both).any(axis=0)
        if known.sum() < 3:
            return float("nan")
        return float(np.corrcoef(both[:, known])[0, 1])


@dataclass(frozen=True)
class Structure:
    """Which emotions are chosen together."""

    correlations: LabelCorrelations
    clusters: LabelClusters


def printed_agreement() -> Agreement:
    """Give Table 7 as it is printed."""
    value = {figure.key: figure.value for figure in load_published("goemotions").figure}
    labels = tuple(key.split(".")[1] for key in value if key.endswith(".correlation"))
    columns = (tuple(value[f"raters.{name}.{kind}"] for name in labels) for kind in _KINDS)
    return Agreement(labels, *columns)


def rater_findings(
    corpus: Corpus, splits: int, seed: int
) -> tuple[dict[str, Finding], Agreement | None, list[str]]:
    """Find Table 7 and the number of components, and say how they fit together."""
    from affectlab.reliability import interrater_correlation, random_pair_kappa

    printed = printed_agreement()
    told = [_told_of_print(printed)]
    found = {"ppca.alpha": Finding(0.05 / len(printed.labels), doubt=SETTING)}
    raw, doubt = corpus.raw, corpus.raw_doubt
    if raw is None:
        keys = [f"raters.{name}.{kind}" for name in printed.labels for kind in _KINDS]
        return (
            found | dict.fromkeys((*keys, "ppca.dimensions"), Finding(why=doubt)),
            None,
            told,
        )
    tables = {
        "correlation": interrater_correlation(raw),
        "kappa": random_pair_kappa(raw, seed=seed),
    }
    values: dict[str, list[float]] = {kind: [] for kind in _KINDS}
    for name in printed.labels:
        for kind in _KINDS:
            one = tables[kind][name]
            found[f"raters.{name}.{kind}"] = _finding(one, doubt)
            values[kind].append(one.value)
    if corpus.complete:
        drawn = _drawn_kappas(raw, printed.labels, seed)
        found |= {f"raters.{name}.kappa": one for name, one in drawn.items()}
        values["kappa"] = [np.nan if one.value is None else one.value for one in drawn.values()]
    ours = Agreement(printed.labels, tuple(values["correlation"]), tuple(values["kappa"]))
    pair = f"{ours.pearson:.2f}" if ours.pearson == ours.pearson else "not defined"
    told.append(f"In our data the two correlate over emotions by {pair} (Pearson).")
    if not corpus.complete:
        told.append(_told_of_intervals(found, printed))
    found["ppca.dimensions"], said = _components(raw, doubt, splits, seed)
    return found, ours, [*told, *said]


def _finding(one: Estimate, doubt: str) -> Finding:
    if not one.ok or one.value != one.value:
        return Finding(why=str(one.reason or "not defined"))
    if not doubt:
        # Of all answers of the paper: what other answers would give is no measure of its print.
        return Finding(one.value)
    low, high = (None if end is None or end != end else end for end in (one.low, one.high))
    return Finding(one.value, low, high, doubt=doubt)


def _drawn_kappas(raw: Ratings, labels: tuple[str, ...], seed: int) -> dict[str, Finding]:
    """Give the mean kappa of several draws, and where one more lies: the print is of one draw."""
    from scipy.stats import t

    from affectlab.reliability import random_pair_kappa

    draws = [random_pair_kappa(raw, seed=np.random.default_rng([seed, k])) for k in range(_DRAWS)]
    reach = float(t.ppf(0.975, _DRAWS - 1)) * np.sqrt(1 + 1 / _DRAWS)
    found = {}
    for name in labels:
        value = np.array([one[name].value for one in draws])
        if np.isnan(value).any():
            found[name] = Finding(why="not defined in each random draw of two raters")
            continue
        mean, around = float(value.mean()), float(reach * value.std(ddof=1))
        found[name] = Finding(mean, mean - around, mean + around)
    return found


def _told_of_print(printed: Agreement) -> str:
    order = sorted(zip(printed.correlation, printed.labels, strict=True))
    return (
        "Table 7: the printed Pearson correlation of the two columns is lost in the text; the "
        f"columns themselves give {printed.pearson:.2f}. Section 4.1 calls grief and nervousness "
        f"lowest in interrater correlation; by the table they are {order[0][1]} and {order[1][1]}, "
        f"before {order[2][1]}. The script of the release (ppca.py) gives each emotion the "
        "correlation of the component that loads on it most, which is another quantity than that "
        "of section 4.1; ours is that of section 4.1."
    )


def _told_of_intervals(found: dict[str, Finding], printed: Agreement) -> str:
    """Count the printed values that lie in intervals of a part of the raw file."""
    said = []
    for kind, values in zip(_KINDS, (printed.correlation, printed.kappa), strict=True):
        inside, known, outside = 0, 0, []
        for name, value in zip(printed.labels, values, strict=True):
            one = found[f"raters.{name}.{kind}"]
            if one.low is None or one.high is None:
                continue
            known += 1
            inside += one.low <= value <= one.high
            if not one.low <= value <= one.high:
                outside.append(name)
        which = "Cohen's kappas" if kind == "kappa" else "interrater correlations"
        said.append(f"{inside} of {known} printed {which} (outside: {joined(outside or ['none'])})")
    return (
        f"In our 95 % intervals from this part of the raw file lie {said[0]} and {said[1]}. Most "
        "comments of the part have one or two raters, the paper's three or five."
    )


def _components(raw: Ratings, doubt: str, splits: int, seed: int) -> tuple[Finding, list[str]]:
    from affectlab.core.errors import InputError
    from affectlab.reliability import ppca

    try:
        found = ppca(raw, n_splits=splits, seed=seed)
    except InputError as error:
        return Finding(why=str(error)), []
    defined = (found.components.frame["status"] == "ok").sum()
    if not defined:
        return (
            Finding(
                why=f"{found.n_examples} examples with three raters or more are left; no rater has "
                "enough of them"
            ),
            [],
        )
    return Finding(float(found.n_significant), doubt=doubt), [_told_of(found)]


def _told_of(found: PPCA) -> str:
    frame = found.components.frame.filter(found.components.frame["significant"])
    if not frame.height:
        return "No component is preserved."
    return (
        f"Preserved components: {frame.height}, from {found.n_examples:,} examples; the largest of "
        f"their corrected p-values is {float(frame['p_bonferroni'].max()):.1e}, "  # type: ignore[arg-type]
        "where the paper has all 27 below 1.5e-06."
    )


def structure_of(corpus: Corpus) -> tuple[Structure | None, list[str]]:
    """Correlate emotions over comments, cluster them, and set clusters beside sentiments."""
    from affectlab.analysis import cluster_labels, label_correlations

    if corpus.raw is None:
        return None, []
    correlations = label_correlations(corpus.raw, n_boot=0)
    clusters = cluster_labels(correlations)
    pairs = correlations.strongest(3).select("label_a", "label_b", "value").rows()
    high = joined([f"{a} and {b} ({value:.2f})" for a, b, value in pairs[:3]])
    notes = [f"Emotions that are chosen together most: {high}."]
    if clusters.ok and clusters.groups is not None:
        same = sum(
            len({clusters.groups[clusters.labels.index(name)] for name in names}) == 1
            for names in clusters.members().values()
            if len(names) > 1
        )
        several = sum(len(names) > 1 for names in clusters.members().values())
        notes.append(
            f"{same} of {several} clusters of two labels or more hold one sentiment (Figure 2)."
        )
    return Structure(correlations, clusters), notes
