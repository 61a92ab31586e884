"""Files of strangers are read rightly at once, or opened by a command that the refusal prints."""

from __future__ import annotations

import re
import shlex
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import polars as pl
import pytest
from tests.cli.command import run_here
from tests.ratings.layouts import Answer, Value
from tests.ratings.strangers import STRANGERS, TODAY, Stranger

from affectlab.core.errors import InputError
from affectlab.core.result import Result
from affectlab.core.words import command_line
from affectlab.ratings import Ratings, describe_ratings, read_ratings

Outcome = Literal["right", "opened", "refused", "told", "silent"]
"""Read rightly; refused, with a command that reads it rightly; refused without; read wrongly, and a
warning prints such a command; read wrongly in silence."""

_COMMAND = re.compile(r"affectlab (?:report|ratings \w+) \S+((?: +(?:--?\w[\w-]*|'[^']*'|\S+))*)")
_OPTIONS = re.compile(r"\((--[^()]+)\)")
_OPEN = re.compile(r"\b(?:NAME|FILE|LABEL)\b|,? or | and ")
"""What has to be filled in or chosen before a command runs."""


def _described(file: Path) -> Iterator[str]:
    """Give all that a description of a file says; nothing where there is none."""
    try:
        described: Result = describe_ratings(file)
    except InputError:
        return
    yield from (*described.sentences, *described.notes)
    for one in described.tables:
        for column in one.frame.select(pl.col(pl.String)):
            yield from column.drop_nulls().to_list()


def commands(said: str) -> list[list[str]]:
    """Give the options of the commands that a text prints, as they can be pasted."""
    found = [match[1] for match in _COMMAND.finditer(said)]
    found += [match[1] for match in _OPTIONS.finditer(said)]
    return [shlex.split(one) for one in dict.fromkeys(found) if one and not _OPEN.search(one)]


def answers_of(ratings: Ratings) -> list[Answer]:
    """Give the answers of a table, in words where a scale has categories."""
    found = []
    for row in ratings.frame.iter_rows(named=True):
        label = row.get("label") or ""
        scale = ratings.scales[label] if label else ratings.scale
        value: Value = row["value"]
        if scale.kind == "text":
            value = row["text"]
        elif scale.categories:
            value = scale.categories[int(row["value"] - (scale.low or 0))]
        found.append(Answer(row["stimulus"], row["rater"], label, value))
    return found


def faults(stranger: Stranger, ratings: Ratings) -> str:
    """Say what is wrong with what was read; nothing: it is right."""
    read, right = (_alike(stranger, given) for given in (answers_of(ratings), list(stranger.right)))
    if read != right:
        extra = next((one for one in read if one not in right), None)
        lacks = next((one for one in right if one not in read), None)
        return f"{len(read)} answers, such as {extra}, and not {len(right)}, such as {lacks}"
    for label, scale in stranger.scales.items():
        given = ratings.scales[label] if label else ratings.scale
        if str(given).removesuffix(" (inferred)") != scale:
            return f"the scale is {given}, and not {scale}"
    kinds = dict(zip(ratings.rater_names, ratings.rater_kinds, strict=True))
    wrong = {
        name: kind for name, kind in kinds.items() if kind != stranger.kinds.get(name, "human")
    }
    if wrong and not stranger.anonymous:
        return f"kinds of raters are {wrong}"
    if stranger.n_raters not in (0, ratings.n_raters):
        return f"{ratings.n_raters} raters, and not {stranger.n_raters}"
    if stranger.apart and stranger.apart not in ratings.frame.columns:
        return f"no {stranger.apart} tells answers apart"
    tables = (ratings.raters, ratings.stimuli, ratings.frame)
    kept = [name for name in stranger.never if any(name in table.columns for table in tables)]
    return f"kept {', '.join(kept)}" if kept else ""


def _alike(stranger: Stranger, answers: Sequence[Answer]) -> list[Answer]:
    """Give names in one spelling, and leave out those that are open."""
    one_label = len({one.label for one in answers}) <= 1
    return sorted(
        (
            Answer(
                stranger.also.get(one.stimulus, one.stimulus),
                "" if stranger.anonymous else stranger.also.get(one.rater, one.rater),
                "" if one_label else stranger.also.get(one.label, one.label),
                one.value,
            )
            for one in answers
        ),
        key=str,
    )


def outcome(stranger: Stranger, folder: Path) -> tuple[Outcome, str]:
    """Read a file as its owner would, and say what comes of it."""
    file = stranger.write(folder)
    with warnings.catch_warnings(), command_line():
        warnings.simplefilter("ignore")
        try:
            ratings = read_ratings(file)
        except InputError as error:
            if not stranger.right:
                return ("right" if stranger.said in str(error) else "refused"), str(error)
            said = "\n".join((str(error), *_described(file)))
            return ("opened" if _opens(stranger, file, said) else "refused"), str(error)
        said = "\n".join((*ratings.warnings, *map(str, ratings.history)))
    fault = faults(stranger, ratings) or stranger.asks
    if not fault:
        return "right", ""
    return ("told" if _opens(stranger, file, said) else "silent"), fault


def _opens(stranger: Stranger, file: Path, said: str) -> bool:
    """Whether one of the commands that are printed reads the file rightly."""
    out = file.parent / "read.parquet"
    for options in commands(said):
        if not stranger.right:
            return False
        try:
            run_here("ratings", "convert", file, *options, "--out", out, "--quiet")
        except AssertionError:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if not faults(stranger, read_ratings(out)):
                return True
    return False


@pytest.mark.parametrize("stranger", STRANGERS, ids=lambda stranger: stranger.name)
def test_it_is_read_rightly_or_opened_by_a_printed_command(
    stranger: Stranger, tmp_path: Path
) -> None:
    found, why = outcome(stranger, tmp_path)
    good = ("opened",) if stranger.asks else ("right", "opened")
    if (today := TODAY.get(stranger.name)) is None:
        assert found in good, f"{found}: {why}"
        return
    assert found not in good, "it is as it should be: take it out of TODAY"
    assert today.startswith(f"{found}: "), f"it is another fault than in TODAY: {found}: {why}"
    pytest.xfail(today)


@pytest.mark.parametrize("stranger", STRANGERS, ids=lambda stranger: stranger.name)
def test_what_is_described_reads_the_same(stranger: Stranger, tmp_path: Path) -> None:
    file = stranger.write(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ratings = read_ratings(file)
        except InputError:
            return
        mapping = describe_ratings(file).save(tmp_path / "said.toml")
        again = read_ratings(file, mapping=mapping)
    assert sorted(answers_of(again), key=str) == sorted(answers_of(ratings), key=str)


def test_each_has_a_name_of_its_own_and_is_small() -> None:
    assert len({one.name for one in STRANGERS}) == len(STRANGERS)
    assert set(TODAY) <= {one.name for one in STRANGERS}
    assert sum(not one.case for one in STRANGERS) >= 40
