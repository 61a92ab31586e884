"""What the scores of stimuli are: their ends, the most disputed, and differences of groups."""

from __future__ import annotations

from typing import Any

from affectlab.core.words import shown
from affectlab.reliability import LabelScores
from affectlab.report import wording
from affectlab.report.images import thumbnail
from affectlab.report.page import (
    Block,
    Card,
    Cards,
    Files,
    Picture,
    Section,
    said,
    table_of,
)
from affectlab.report.statistics import Study

_MOST_CARDS = 4
_SHOWN_OF_TEXT = 140
_SIDE = 144


def scores_question(study: Study) -> Section | None:
    """Answer in words, with all scores on a line, and a few stimuli."""
    found = study.scores
    if found is None:
        return None
    groups = () if study.differences is None else said(study.differences)
    blocks: list[Block] = [*said(found), *groups, scores_file(study), Picture.of(found, "scores")]
    if any(table.name == "disputed" for table in found.tables):
        title = "What do most raters answer, and how sure is it?"
        return Section("scores", title, (*blocks, table_of(found, "disputed", "disputed")))
    blocks.append(_cards(study, found.labels))
    return Section("scores", "What are the scores?", tuple(blocks))


def scores_file(study: Study) -> Files:
    """Link the table of all scores."""
    assert study.scores is not None
    return Files(table_of(study.scores, "scores", "scores", caption=wording.ALL_SCORES, limit=0))


def _cards(study: Study, scored: tuple[LabelScores, ...]) -> Cards:
    chosen = scored[:_MOST_CARDS]
    rows = []
    for one in chosen:
        cards = tuple(_card(study, one, row) for row in (one.highest, one.lowest, one.disputed))
        rows.append((shown(one.label, 40), cards))
    n_chosen = len(chosen) if len(chosen) < len(scored) else 0
    return Cards(
        wording.cards_caption(n_chosen), ("Highest", "Lowest", "Most disputed"), tuple(rows)
    )


def _card(study: Study, one: LabelScores, row: dict[str, Any]) -> Card:
    name = row["stimulus"]
    path = study.picture_of(name)
    picture = None if path is None else thumbnail(path, _SIDE)
    text = "" if picture else study.text_of(name)
    return Card(
        shown(name, 60),
        one.written(row),
        shown(row["answers"], 60),
        text=shown(text, _SHOWN_OF_TEXT),
        picture=picture,
    )
