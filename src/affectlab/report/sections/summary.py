"""What was rated, by whom, on what scale, and what was left aside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from affectlab.core.tables import Count, Key, Number, Table, Text
from affectlab.core.words import (
    count,
    joined,
    number,
    option,
    percent,
    plural,
    sentence_case,
    shown,
)
from affectlab.ratings import BATCH_COLUMNS, ROW_COLUMNS
from affectlab.report.page import Block, Bullets, Paragraph, Section, Tile, Tiles
from affectlab.report.statistics import Agreement, Study, is_person

_MOST_NAMES = 8


def panel_in_words(study: Study) -> str:
    """Say how many people and models answered: "12 people and 3 models"."""
    kinds = study.summary.rater_kinds
    simulated = kinds.get("simulated", 0)
    real = kinds.get("human", 0) - len(study.aggregated)
    models = sum(n for kind, n in kinds.items() if not is_person(kind))
    parts = []
    if real:
        parts.append(plural(real, "person", "people"))
    if study.aggregated:
        parts.append(f"the aggregated answers of people ({joined(map(shown, study.aggregated))})")
    if simulated:
        parts.append(plural(simulated, "simulated person", "simulated people"))
    if models:
        parts.append(plural(models, "model"))
    return " and ".join(parts) if len(parts) < 3 else f"{parts[0]}, {parts[1]} and {parts[2]}"


def summary_section(study: Study) -> Section:
    """Counts, scale, trials, outcomes, rows set aside and steps taken."""
    summary = study.summary
    low, median, high = summary.raters_per_stimulus
    tiles = [
        Tile("Answers", count(summary.n_ratings), _rows_remark(study)),
        Tile("Stimuli", count(study.n_rated), _stimuli_remark(study)),
        _raters_tile(study),
    ]
    if study.ratings.has_labels:
        tiles.append(Tile("Labels", count(summary.n_labels), _taxonomy(study) or "own names"))
    spread = f"median, {count(low)} to {count(high)}" if low != high else "for every stimulus"
    if not study.aggregated_only:
        tiles.append(Tile("Raters per stimulus", f"{median:g}", spread))
    if study.flow is not None:
        sure = [
            batch
            for batch in study.flow.batches
            if batch.status == "ok" and batch.kind == "affirmative"
        ]
        tiles += [
            Tile(
                "Confirmed",
                percent(part.agreement, 1),
                f"of {count(part.items)} items in batch {part.batch}",
            )
            for part in sure[-1:]
        ]
    elif study.agreement is not None and study.agreement.n_labels:
        tiles.append(_alpha_tile(study.agreement, study.panel_name))
    facts = _facts(study)
    frame = pl.DataFrame(facts, schema=["what", "value"], orient="row")
    table = replace(summary.table(), frame=frame, columns=(Key("what"), Text("value")))
    blocks: list[Block] = [Tiles(tuple(tiles)), table, *_elsewhere(study), *_aside(study)]
    if summary.history:
        blocks += [
            Paragraph("How the answers were read, and what was done before this report, in order:"),
            Bullets(summary.history),
        ]
    return Section("summary", "What was rated", tuple(blocks))


def _elsewhere(study: Study) -> list[Block]:
    """List the labels on other scales, which no other section is about."""
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
    here = joined(map(shown, study.ratings.label_names))
    return [
        Paragraph(
            f"The labels of the source are on different scales. This report compares labels on one "
            f"scale and is about {here}; the other labels stand here only. Each can have a report "
            f"of its own ({option('select(labels=…)', cli='--keep-labels')})."
        ),
        Table(
            "other_scales",
            "Labels on other scales: answers, and Krippendorff's alpha of people at the level of "
            "the scale of each label.",
            rows,
            (
                Key("label"),
                Text("scale"),
                Count("answers"),
                Number("alpha", "Krippendorff's alpha"),
            ),
        ),
    ]


def _alpha_tile(found: Agreement, who: str) -> Tile:
    remarks = [f"median of {plural(found.n_labels, 'label')}"] if found.n_all > 1 else []
    if found.low == found.low:
        remarks.append(f"95\u00a0% interval {number(found.low)} to {number(found.high)}")
    elif found.ungraded == "few":
        remarks.append("too few stimuli to judge")
    return Tile("Krippendorff's alpha", number(found.value), "; ".join([*remarks, who]))


def _taxonomy(study: Study) -> str:
    """Title of the taxonomy, or its name where it has none."""
    taxonomy = study.ratings.taxonomy
    return "" if taxonomy is None else taxonomy.title or taxonomy.name


def _rows_remark(study: Study) -> str:
    used = study.numeric.n_ratings if study.numeric is not None else 0
    parts = [f"{count(used)} in the statistics"] if used not in (0, study.summary.n_ratings) else []
    return "; ".join([*parts, *([study.filled] if study.filled else [])])


def _stimuli_remark(study: Study) -> str:
    silent = len(study.silent_stimuli) + len(study.summary.silent_stimuli)
    return f"{count(silent)} more without an answer" if silent else ""


def _raters_tile(study: Study) -> Tile:
    if study.aggregated_only:
        return Tile("Raters", "not known", panel_in_words(study))
    return Tile("Raters", count(study.summary.n_raters), _raters_remark(study))


def _raters_remark(study: Study) -> str:
    silent = len(study.summary.silent_raters)
    return panel_in_words(study) + (f"; {count(silent)} more without an answer" if silent else "")


def _facts(study: Study) -> list[tuple[str, str]]:
    """Say what the ratings hold, as their summary does, and what of it the report does not use."""
    summary = study.summary
    # Counts stand above, the steps and what was set aside below.
    elsewhere = {"answers", "stimuli", "step", "set aside"}
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
    known = {"stimulus", "rater", "label", "value", "unclear", *ROW_COLUMNS, *BATCH_COLUMNS}
    rest = [name for name in study.ratings.frame.columns if name not in known]
    if rest:
        why = "differs" if len(rest) == 1 else "differ"
        listed = joined([shown(name, 40) for name in rest])
        said = f"{listed} ({why} between the answers to a stimulus and those of a rater)"
        facts.append(("Columns not used", said))
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
    return [Table("set_aside", "What was set aside of the source, and why.", frame, columns)]
