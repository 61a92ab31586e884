"""Runs that are killed, and what their ledgers hold."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from tests.models.reactions.tiny import save_pairs

from affectlab.core.errors import InputError
from affectlab.models.reactions import Decoding, ReactionGenerator
from affectlab.models.reactions.items import ReactionItem
from affectlab.models.reactions.ratings import Answer

SAMPLED = Decoding(temperature=1.0, n=4, seed=3)
CHILD = """
import sys
from pathlib import Path
from affectlab.models.reactions import Decoding, ReactionGenerator, read_items
from affectlab.models.reactions.ratings import Answer
place, table, ledger = sys.argv[1:]
ReactionGenerator(
    place, decoding=Decoding(temperature=1.0, n=4, seed=3), batch_size=2, ledger=ledger
).write(read_items(table))
"""


def keys_of(ledger: Path) -> list[str]:
    """Keys of the answers in a ledger, in the order in which they were written."""
    found = []
    for line in ledger.read_text().splitlines():
        try:
            found.append(json.loads(line)["key"])
        except (ValueError, KeyError):
            continue
    return found


def same(found: list[Answer], known: list[Answer]) -> None:
    """Check that answers are the same, their likelihoods but for the rounding of another batch."""
    assert [(one.item, one.sample, one.written.text) for one in found] == [
        (one.item, one.sample, one.written.text) for one in known
    ]
    np.testing.assert_allclose(
        [one.written.log_likelihood for one in found],
        [one.written.log_likelihood for one in known],
        atol=1e-3,
    )


@pytest.mark.long
def test_a_killed_run_goes_on(blip2: str, tmp_path: Path) -> None:
    items = save_pairs(tmp_path / "images", 15)
    table = tmp_path / "pairs.csv"
    rows = [f'{one.stimulus},"{one.caption}",{one.emotion},{one.image}' for one in items]
    table.write_text("\n".join(["stimulus,caption,emotion,image", *rows, ""]))
    ledger = tmp_path / "kept.jsonl"
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, blip2, str(table), str(ledger)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 60
    while not (ledger.exists() and len(keys_of(ledger)) >= 6):
        assert child.poll() is None, "the run ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.01)
    child.send_signal(signal.SIGKILL)
    child.wait()
    before = keys_of(ledger)
    total = len(items) * SAMPLED.n
    assert 6 <= len(before) < total
    told: list[tuple[int, int]] = []
    again = ReactionGenerator(blip2, decoding=SAMPLED, batch_size=16, ledger=ledger)
    found = again.write(items, progress=lambda _, done, of: told.append((done, of)))
    assert told[0] == (len(before), total)
    assert told[-1] == (total, total)
    assert set(Counter(keys_of(ledger)).values()) == {1}
    assert keys_of(ledger)[: len(before)] == before
    fresh = ReactionGenerator(blip2, decoding=SAMPLED, batch_size=16).write(items)
    same(found, fresh)


def test_a_line_that_was_cut_off_is_done_again(
    blip2: str, items: list[ReactionItem], tmp_path: Path
) -> None:
    ledger = tmp_path / "kept.jsonl"
    generator = ReactionGenerator(blip2, ledger=ledger)
    found = generator.write(items)
    whole = ledger.read_bytes()
    ledger.write_bytes(whole[:-20])
    same(generator.write(items), found)
    assert sorted(set(keys_of(ledger))) == sorted(keys_of(ledger))
    # Values that cannot have been written are no answers, either.
    lines = [json.loads(line) for line in whole.decode().splitlines()]
    lines[1]["log_likelihood"] = "much"
    ledger.write_text("\n".join(map(json.dumps, lines)) + "\n")
    same(generator.write(items), found)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("log_likelihood", "1" + "0" * 400),
        ("log_likelihood", "true"),
        ("log_likelihood", "NaN"),
        ("log_likelihood", "3.5"),
        ("n_tokens", "0"),
        ("n_tokens", "true"),
        ("n_tokens", "9" * 30),
        ("text", '"\\ud800"'),
        ("ended", "1"),
        ("key", "[" * 20_000),
    ],
)
def test_lines_that_others_changed_are_done_again(
    t5: str, items: list[ReactionItem], tmp_path: Path, name: str, value: str
) -> None:
    ledger = tmp_path / "kept.jsonl"
    generator = ReactionGenerator(t5, text_only=True, ledger=ledger)
    found = generator.write(items[:2])
    first, line, *others = ledger.read_text().splitlines()
    told = json.loads(line)
    told[name] = "HERE"
    changed = json.dumps(told).replace('"HERE"', value)
    ledger.write_text("\n".join([first, changed, *others]) + "\n")
    same(generator.write(items[:2]), found)
    assert len(ledger.read_text().splitlines()) == 4


def test_what_decides_about_an_answer_is_in_its_key(
    blip2: str, t5: str, items: list[ReactionItem], tmp_path: Path
) -> None:
    ledger = tmp_path / "kept.jsonl"

    def n_after(generator: ReactionGenerator) -> int:
        generator.write(items[:1])
        return len(keys_of(ledger))

    assert n_after(ReactionGenerator(blip2, ledger=ledger)) == 1
    assert n_after(ReactionGenerator(blip2, ledger=ledger, batch_size=3, rater="other")) == 1
    assert n_after(ReactionGenerator(blip2, ledger=ledger, text_only=True)) == 2
    assert n_after(ReactionGenerator(t5, ledger=ledger, text_only=True)) == 3
    longer = Decoding(max_new_tokens=25)
    assert n_after(ReactionGenerator(blip2, ledger=ledger, decoding=longer)) == 4
    warm = Decoding(temperature=1.0, seed=1)
    assert n_after(ReactionGenerator(blip2, ledger=ledger, decoding=warm)) == 5
    # More samples keep those that there are.
    more = Decoding(temperature=1.0, seed=1, n=3)
    assert n_after(ReactionGenerator(blip2, ledger=ledger, decoding=more)) == 7
    ReactionGenerator(blip2, ledger=ledger).log_likelihood(items[:1], ["why"])
    assert len(keys_of(ledger)) == 8


def test_a_ledger_in_use_or_of_another_kind(
    t5: str, items: list[ReactionItem], tmp_path: Path
) -> None:
    other = tmp_path / "other.jsonl"
    other.write_text('{"schema": "affectlab/vlm-ledger/1"}\n')
    with pytest.raises(InputError, match="expected 'affectlab/reactions-ledger/1'"):
        ReactionGenerator(t5, text_only=True, ledger=other).write(items)
    text = tmp_path / "text.jsonl"
    text.write_text("hello\n")
    with pytest.raises(InputError, match="is no ledger"):
        ReactionGenerator(t5, text_only=True, ledger=text).write(items)
