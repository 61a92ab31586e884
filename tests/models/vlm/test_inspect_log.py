"""The log for Inspect is read by Inspect's own reader, and holds neither pictures nor keys."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from affectlab.models.vlm import AskSettings, Budget, Retrying, VlmRater
from affectlab.models.vlm.prompts import image_part

from .fake_server import Answer, Call, FakeServer, chat, error

VALID = '{"Amusement": 3}'
KEY = "sk-live-0123456789abcdef"
NAME = "openai-api-fake-m-zero-shot.eval"


def rater(server: FakeServer, folder: Path, **more: Any) -> VlmRater:
    return VlmRater(
        "openai-api/fake/m",
        ledger=folder,
        settings=AskSettings(base_url=server.url, timeout=20, key_env="MY_KEY"),
        retrying=Retrying(tries=1),
        price_in=1.0,
        price_out=10.0,
        **more,
    )


# Of pandas, within Inspect's own table.
@pytest.mark.filterwarnings("ignore:The inplace keyword")
def test_inspect_reads_what_came_of_every_question(
    faces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from inspect_ai.analysis import samples_df
    from inspect_ai.log import list_eval_logs, read_eval_log, read_eval_log_sample

    monkeypatch.setenv("MY_KEY", KEY)
    refused, lost = (image_part(faces / f"{name}.png").data for name in ("awe", "fear"))

    def script(call: Call) -> Answer:
        if call.images == [refused]:
            return chat(None, refusal=f"not this one, {KEY}")
        return error(500, f"{KEY} is busy") if call.images == [lost] else chat(VALID)

    with FakeServer(script) as server:
        run = rater(server, tmp_path).rate(faces, control="no_image", repeats=2)
    log = read_eval_log(str(tmp_path / NAME))
    assert [Path(found.name).name for found in list_eval_logs(str(tmp_path))] == [NAME]
    assert (log.status, log.eval.model, len(log.samples or ())) == ("success", run.model, 18)
    assert log.results is not None
    assert log.results.scores[0].metrics["usable"].value == pytest.approx(run.n_usable / 18)
    assert log.stats.model_usage[run.model].total_tokens == run.usage.total
    rows = {
        (row["stimulus"], row["control"], row["repeat"]): row for row in run.to_frame().to_dicts()
    }
    for sample in log.samples or ():
        about = sample.metadata
        row = rows.pop((about["stimulus"], about["control"], about["repeat"]))
        assert sample.scores is not None
        score = sample.scores["outcome"]
        assert (score.value, score.explanation) == (row["outcome"], row["problem"])
        assert sample.output.completion == (row["text"] or "")
        assert "How strongly does this face show" in str(sample.input)
        shown = hashlib.sha256((faces / f"{about['stimulus']}.png").read_bytes()).hexdigest()
        assert (f"sha256:{shown}" in str(sample.input)) == (about["control"] == "none")
        if row["input_tokens"]:
            assert sample.output.usage is not None
            assert sample.output.usage.input_tokens == row["input_tokens"]
    assert not rows
    assert read_eval_log_sample(str(tmp_path / NAME), "anger", 2).metadata["repeat"] == 2
    table = samples_df(str(tmp_path / NAME), quiet=True)
    assert len(table) == 18
    assert set(table["score_outcome"]) == {"ok", "refused", "transport"}
    with zipfile.ZipFile(tmp_path / NAME) as file:
        content = b"".join(map(file.read, file.namelist()))
    assert KEY.encode() not in content
    assert b"base64" not in content


def test_a_run_that_stops_is_logged_and_a_log_that_fails_is_told(
    faces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from inspect_ai.log import read_eval_log

    monkeypatch.setenv("MY_KEY", KEY)
    with FakeServer(lambda call: chat(VALID)) as server:
        poor = rater(server, tmp_path, budget=Budget(requests=2)).rate(faces)
        log = read_eval_log(str(tmp_path / NAME))
        assert (log.status, len(log.samples or ())) == ("error", 2)
        assert log.error is not None
        assert poor.halt is not None
        assert log.error.message == poor.halt.reason

        # A folder in its place: the answers are there, and the log is told to be missing.
        (tmp_path / NAME).unlink()
        (tmp_path / NAME).mkdir()
        run = rater(server, tmp_path).rate(faces)
    assert run.n_usable == 6
    assert sum(NAME in said for said in run.sentences) == 1
    assert not list(tmp_path.glob(".*.part"))
