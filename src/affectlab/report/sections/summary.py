"""What was rated, by whom, on what scale, and what was left aside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from affectlab.core.tables import Count, Key, Number, Table, Text
from affectlab.core.words import count, joined, plural, sentence_case, shown
from affectlab.ratings import BATCH_COLUMNS, ROW_COLUMNS
from affectlab.report import wording
from affectlab.report.page import Block, Bullets, Paragraph, Section
from affectlab.report.statistics import Study

_MOST_NAMES = 8


def summary_section(study: Study) -> Section:
    """Counts, scale, trials, outcomes, rows set aside and steps taken."""
    summary = study.summary
    facts = _facts(study)
    frame = pl.DataFrame(facts, schema=["what", "value"], orient="row")
    table = replace(summary.table(), frame=frame, columns=(Key("what"), Text("value")))
    blocks: list[Block] = [table, *_elsewhere(study), *_aside(study)]
    if summary.history:
        blocks += [
            Paragraph(wording.STEPS_TAKEN),
            Bullets(tuple(map(str, summary.history))),
        ]
    return Section("summary", "What was rated: a summary", tuple(blocks))


def _elsewhere(study: Study) -> list[Block]:
    """List the labels on other scales, which page one and no other section is about."""
    others = study.elsewhere
    if others is None:
        return []
    alpha = {} if study.alpha_elsewhere is None else {key[0]: e for key, e in study.alpha_elsewhere}
    answers = [others.select(labels=name).n_ratings for name in others.label_names]
    rows = pl.DataFrame(
        {
            "label": list(others.label_names),
            "scale": [str(scale) for scale in others.scales.values()],
            "answers": answers,
            "alpha": [alpha[n].value if n in alpha else None for n in others.label_names],
        }
    )
    columns = (
        Key("label"),
        Text("scale"),
        Count("answers"),
        Number("alpha", "Krippendorff's alpha"),
    )
    return [
        Paragraph(wording.other_scales(study.ratings.label_names)),
        Table("other_scales", wording.OTHER_SCALES, rows, columns),
    ]


def _taxonomy(study: Study) -> str:
    """Title of the taxonomy, or its name where it has none."""
    taxonomy = study.ratings.taxonomy
    return "" if taxonomy is None else taxonomy.title or taxonomy.name


def _facts(study: Study) -> list[tuple[str, str]]:
    """Say what the ratings hold, as their summary does, and what of it the report does not use."""
    summary = study.summary
    # The steps and what was set aside stand below.
    elsewhere = {"step", "set aside"}
    if not study.ratings.raters_known:
        elsewhere.add("stimuli per rater")
    if study.aggregated_only:
        elsewhere |= {"raters", "raters per stimulus", "stimuli per rater"}
    whole = {"labels": ", ".join(summary.labels), "taxonomy": _taxonomy(study)}
    if study.aggregated:
        kinds = Counter(summary.rater_kinds)
        kinds["human"] -= len(study.aggregated)
        kinds["aggregated from several people"] = len(study.aggregated)
        whole["raters"] = ", ".join(f"{count(n)} {kind}" for kind, n in kinds.items() if n)
    facts = [
        (sentence_case(what), whole.get(what, value))
        for what, value in summary.to_frame().iter_rows()
        if what not in elsewhere
    ]
    used = 0 if study.numeric is None else study.numeric.n_ratings
    if used not in (0, summary.n_ratings):
        facts.append(("In the statistics", f"{count(used)} answers"))
    if study.n_filled:
        filled = wording.filled(study.n_filled, upto=study.filled_is_most)
        facts.append(("Absent answers", filled))
    known = {"stimulus", "rater", "label", "value", "unclear", *ROW_COLUMNS, *BATCH_COLUMNS}
    rest = [name for name in study.ratings.coded_frame.columns if name not in known]
    if rest:
        facts.append(("Columns not used", wording.unused_columns(rest)))
    if summary.silent_raters:
        facts.append(("Raters without an answer", _some(summary.silent_raters)))
    silent = (*study.silent_stimuli, *summary.silent_stimuli)
    if silent:
        facts.append(("Stimuli without an answer", _some(silent)))
    counts = Counter[str]()
    for part in summary.set_aside:
        if part["unit"] in ("row", "cell"):
            counts[str(part["unit"])] += int(part["count"])
    aside = joined([plural(n, unit) for unit, n in counts.items()] or ["nothing"])
    facts.append(("Set aside", aside))
    return facts


def _some(names: Sequence[str]) -> str:
    """Count names and give the first of them."""
    listed = [shown(name, 40) for name in names[:_MOST_NAMES]]
    more = ", …" if len(names) > _MOST_NAMES else ""
    return f"{count(len(names))}: {', '.join(listed)}{more}"


def _aside(study: Study) -> list[Table]:
    rows = [row for row in study.summary.set_aside if row["unit"] in ("row", "cell")]
    if not rows:
        return []
    frame = pl.DataFrame(
        {
            "reason": [str(row["reason"]) for row in rows],
            "count": [int(row["count"]) for row in rows],
            "unit": [row["unit"] if row["count"] == 1 else f"{row['unit']}s" for row in rows],
            "places": [", ".join(map(str, row["places"])) for row in rows],
        }
    )
    columns = (Text("reason"), Count("count"), Text("unit", "of"), Text("places", "first places"))
    return [Table("set_aside", wording.SET_ASIDE, frame, columns)]
