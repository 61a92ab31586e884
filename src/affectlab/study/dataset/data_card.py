"""The data card: what a person should know before using a data set."""

from __future__ import annotations

import json
import statistics
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from affectlab._version import __version__
from affectlab.core.render.notes import row_status_text
from affectlab.core.words import count, number, plural
from affectlab.study.dataset.codebook import ABOUT
from affectlab.study.delivery import bundle_progress
from affectlab.study.store import Store, pseudonym
from affectlab.study.tables import answers, events, participants, sessions, tasks

if TYPE_CHECKING:
    import polars as pl

    from affectlab.ratings import Ratings

__all__ = ["write_card"]

_MOST_LABELS = 60
_MOST_CHOICES = 12
"""Different entries up to which a column about people is counted out."""
_UNSET = "*Not set.* Say it in the study file: `release.{key}`."
_SOURCES = {
    "filter": "left to the platform's filter",
    "address": "the visitor's own word, in the address of the page",
    "platform": "told by the platform",
    "nobody": "not checked",
}


def write_card(store: Store, path: Path, ratings: Ratings, tables: dict[str, pl.DataFrame]) -> Path:
    """Write the data card as Markdown; give its path.

    Everything that can be counted is counted; what only the researcher knows stands in the study
    file, and is asked for where it is missing.
    """
    said, head = store.study.design.release, store.study.design.study
    creators = ", ".join(said.creators) or _UNSET.format(key="creators")
    lines = [
        f"# {said.title or head.title}",
        "",
        f"Version {said.version}, {datetime.now(UTC).date().isoformat()}. By {creators}",
        "",
        _size(ratings),
        "",
        "## Purpose",
        "",
        said.purpose or _UNSET.format(key="purpose"),
        "",
        "## Licence",
        "",
        said.licence or _UNSET.format(key="licence"),
        "",
        *_files(tables, store),
        *_protocol(store),
        *_population(store, tables["raters"]),
        *_collection(store, ratings),
        *_agreement(ratings),
        *_consent(store, set(ratings.rater_names)),
        *_limits(store, ratings),
        "## Citation",
        "",
        said.citation or _UNSET.format(key="citation"),
        "",
        *([f"Contact: {head.contact}", ""] if head.contact else []),
        f"Written by affectlab {__version__}; `croissant.json` says the same to machines.",
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _size(ratings: Ratings) -> str:
    """Count what is data: answers to main trials, apart from those that check or train."""
    frame = ratings.to_frame()
    main = frame
    if "trial_kind" in frame.columns:
        main = frame.filter(frame["trial_kind"].cast(str) == "main")
    n = main["value"].drop_nulls().len() if "value" in main.columns else main.height
    n = n if n or ratings.scale.kind != "text" else main.height
    stimuli = plural(main["stimulus"].n_unique(), "stimulus", "stimuli")
    text = f"{count(n)} ratings of {stimuli} by {_people(ratings)}."
    rest = frame.height - main.height
    if rest:
        text += (
            f" Not counted here: {plural(rest, 'row')} of training, golden and repeated trials, "
            "which `trial_kind` tells apart."
        )
    return text


def _people(ratings: Ratings) -> str:
    kinds = Counter(ratings.rater_kinds)
    if kinds["simulated"]:
        simulated = plural(kinds["simulated"], "simulated rater")
        human = plural(kinds["human"], "person", "people")
        return f"{human} and {simulated}" if kinds["human"] else simulated
    return plural(ratings.n_raters, "person", "people")


def _files(tables: dict[str, pl.DataFrame], store: Store) -> Iterator[str]:
    yield from ("## Files", "")
    yield "| file | rows | columns |"
    yield "|---|---|---|"
    for name, table in tables.items():
        columns = ", ".join(f"`{column}`" for column in table.columns)
        yield f"| `{name}.csv` | {count(table.height)} | {columns} |"
    yield "| `ratings.parquet` | as `ratings.csv` | with types |"
    if store.study.design.release.pictures:
        yield "| `pictures/` | | the pictures that were judged |"
    yield "| `codebook.csv` | | what columns and values mean, and what was asked |"
    yield ""
    shown = dict.fromkeys(column for table in tables.values() for column in table.columns)
    for column in shown:
        if column in ABOUT:
            yield f"- `{column}`: {ABOUT[column]}"
    yield ""


def _protocol(store: Store) -> Iterator[str]:
    protocol = store.study.protocol
    yield from ("## How it was asked", "")
    title = f": {protocol.title}" if protocol.title else ""
    yield f"Protocol `{protocol.name}`, version {protocol.version}{title}."
    if protocol.source:
        yield f"After {protocol.source.rstrip('.')}."
    yield from ("", f"Scale: {protocol.scale}, answered with: {store.study.widget}.")
    if protocol.anchors is not None:
        yield f"Ends of the scale: “{protocol.anchors[0]}” and “{protocol.anchors[1]}”."
    if protocol.not_rated:
        yield "A label that was left alone has no row, which is not the same as 0."
    yield ""
    labels = protocol.labels()
    questions = store.study.questions
    texts = dict.fromkeys(question.text for question in questions)
    yield "Wording:" if len(texts) == 1 else "Wordings:"
    yield ""
    yield from (f"> {text}\n" for text in list(texts)[:_MOST_LABELS])
    if store.study.instructions:
        yield "Instructions:\n"
        yield from (f"> {line}" for line in store.study.instructions.splitlines())
        yield ""
    if labels:
        more = ", …" if len(labels) > _MOST_LABELS else ""
        yield f"{plural(len(labels), 'label')}: {', '.join(labels[:_MOST_LABELS])}{more}."
        yield ""


def _population(store: Store, raters: pl.DataFrame) -> Iterator[str]:
    design = store.study.design
    yield from ("## Who answered", "")
    platform = {"prolific": "Prolific", "connect": "CloudResearch Connect"}
    named = platform.get(design.recruitment.platform)
    yield f"Recruited through {named}." if named else "Recruited by the researchers."
    rules = design.eligibility.model_dump(exclude_defaults=True)
    if rules:
        yield ""
        yield "Who could take part, and how that was checked:"
        yield ""
        checked, away = _checked(store, set(raters["rater"]))
        for rule, wanted in rules.items():
            told = ", ".join(wanted) if isinstance(wanted, list | tuple) else f"{wanted} or more"
            told = "yes" if wanted is True else told
            yield f"- {rule.replace('_', ' ')}: {told} ({checked.get(rule, 'not checked')})"
        yield ""
        yield f"{plural(away, 'visitor')} turned away by these rules."
    pay = design.recruitment
    if pay.pay is not None:
        yield f"Paid {pay.pay:,.2f} {pay.currency} for a session."
    yield ""
    for name in raters.columns:
        if name == "rater":
            continue
        column = raters[name]
        asked = next((one for one in design.demographics.questions if one.name == name), None)
        title = f"`{name}`" + (f" (“{asked.question}”)" if asked else "")
        missing = column.null_count()
        declined = f"; {missing} without an answer" if missing else ""
        if column.dtype.is_numeric():
            numbers = [float(one) for one in column.drop_nulls()]
            if numbers:
                middle, low, high = statistics.median(numbers), min(numbers), max(numbers)
                yield f"- {title}: median {middle:g}, {low:g} to {high:g}{declined}"
        elif column.n_unique() <= _MOST_CHOICES:
            counts = Counter(str(one) for one in column.drop_nulls())
            told = ", ".join(f"{value} {n}" for value, n in counts.most_common())
            yield f"- {title}: {told or 'no answer'}{declined}"
    yield ""


def _checked(store: Store, released: set[str]) -> tuple[dict[str, str], int]:
    """Say for each rule how it was checked for those in the data set; count who was turned away."""
    with store.database.read() as connection:
        rows = connection.execute(select(participants.c.id, participants.c.eligibility)).all()
        away = connection.execute(
            select(func.count()).where(sessions.c.verdict == "ineligible")
        ).scalar_one()
    by: dict[str, Counter[str]] = {}
    for person, text in rows:
        if pseudonym(store, person) in released:
            for one in json.loads(text).get("checks", ()):
                by.setdefault(one["rule"], Counter())[one["by"]] += 1
    return {
        rule: ", ".join(f"{_SOURCES[kind]} for {n}" for kind, n in counts.most_common())
        for rule, counts in by.items()
    }, int(away)


def _collection(store: Store, ratings: Ratings) -> Iterator[str]:
    with store.database.read() as connection:

        def n(query: object) -> int:
            return int(connection.execute(query).scalar_one() or 0)  # type: ignore[call-overload]

        given = select(func.count()).select_from(answers)
        main = tasks.c.batch != "pilot"
        rejected = n(given.where(answers.c.valid.is_(False)))
        stages = connection.execute(
            select(sessions.c.stage, func.count())
            .where(sessions.c.batch != "pilot")
            .group_by(sessions.c.stage)
        ).all()
        wanted, done = (
            n(select(func.count()).select_from(tasks).where(main)),
            n(select(func.count()).where(main, tasks.c.valid >= tasks.c.wanted)),
        )
        whole = bundle_progress(connection)
    yield from ("## Collection", "")
    frame = ratings.to_frame()
    if "at" in frame.columns:
        days = sorted(str(one)[:10] for one in frame["at"].drop_nulls())
        if days:
            span = days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
            yield f"- Days: {span} (UTC)"
    told = ", ".join(f"{count} {stage}" for stage, count in sorted(stages))
    yield f"- Sessions: {told}"
    kinds = Counter(frame["trial_kind"].to_list()) if "trial_kind" in frame.columns else {}
    if kinds:
        yield f"- Rows by kind of trial: {', '.join(f'{n} {kind}' for kind, n in kinds.items())}"
    people = frame.group_by("stimulus").n_unique()["rater"].to_list()
    middle = statistics.median(people)
    yield f"- Raters per stimulus: median {middle:g}, {min(people)} to {max(people)}"
    yield f"- Tasks with all the answers they wanted: {done} of {wanted}"
    if whole is not None:
        yield f"- Batches, each given to a session as a whole: {count(whole.batches)}"
        yield (
            f"- Sessions that count for their batch: {count(whole.sessions)} of "
            f"{count(whole.wanted)} wanted"
        )
    yield f"- Answers left out because their session was rejected: {rejected}"
    if store.study.design.policy:
        yield f"- Screening policy: `{store.study.design.policy}`"
    yield ""


def _agreement(ratings: Ratings) -> Iterator[str]:
    from affectlab.core.errors import InputError
    from affectlab.reliability import krippendorff_alpha

    yield from ("## Agreement", "")
    if ratings.scale.kind == "text":
        yield "The answers are texts; there is no coefficient of agreement for them."
        yield ""
        return
    try:
        found = krippendorff_alpha(ratings)
    except InputError as error:
        yield f"Krippendorff's alpha is not defined: {error}."
        yield ""
        return
    table = found.frame
    statistic = ", ".join((table["statistic"][0], *table["options"][0]))
    yield f"{statistic}; 95 % intervals for other stimuli and raters:"
    yield ""
    yield "| label | alpha | interval | stimuli | raters |"
    yield "|---|---|---|---|---|"
    keys = [name for name in ("label",) if name in table.columns]
    for row in table.iter_rows(named=True):
        label = row[keys[0]] if keys else "all"
        if row["status"] != "ok":
            yield f"| {label} | {row_status_text(row)} | | {row['n_items']} | {row['n_raters']} |"
            continue
        interval = f"{number(row['low'], 2)} to {number(row['high'], 2)}"
        if row["low"] != row["low"]:
            interval = "not defined"
        yield (
            f"| {label} | {number(row['value'], 2)} | {interval} | {row['n_items']} "
            f"| {row['n_raters']} |"
        )
    yield ""


def _consent(store: Store, released: set[str]) -> Iterator[str]:
    consent = store.study.design.consent
    yield from ("## Consent", "")
    if consent is None:
        yield "The study showed no consent text."
        yield ""
        return
    with store.database.read() as connection:
        rows = connection.execute(
            select(events.c.participant_id, events.c.body)
            .where(events.c.kind == "consented")
            .order_by(events.c.id)
        ).all()
    last = {person: str(json.loads(body).get("version")) for person, body in rows}
    versions = Counter(
        version for person, version in last.items() if pseudonym(store, person) in released
    )
    told = ", ".join(f"version {version} by {n}" for version, n in sorted(versions.items()))
    yield f"Agreed to: {told or 'nobody'}. The text of version {consent.version}:"
    yield ""
    yield from (f"> {line}".rstrip() for line in consent.text.strip().splitlines())
    yield ""


def _limits(store: Store, ratings: Ratings) -> Iterator[str]:
    yield from ("## Known limits", "")
    for sentence in store.study.design.release.limits:
        yield f"- {sentence}"
    kinds = Counter(ratings.rater_kinds)
    if kinds["simulated"]:
        n = plural(kinds["simulated"], "rater is", "raters are")
        yield f"- {n} simulated: this is a rehearsal, and says nothing about people."
    people = ratings.to_frame().group_by("stimulus").n_unique()["rater"]
    few = int((people < 3).sum())
    if few:
        yield f"- {plural(few, 'stimulus', 'stimuli')} have fewer than three raters."
    if store.status != "closed":
        yield "- The study was still open when this was written."
    if "text" in ratings.coded_frame.columns:
        yield "- Texts were written freely and not read for names of people."
    yield (
        "- Answers say what people saw or read in a stimulus, not what anyone felt; they hold for "
        "the people who were asked."
    )
    yield ""
