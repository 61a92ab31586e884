"""Both of Hume's interfaces, over real HTTP."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import polars as pl
import pytest
from PIL import Image
from tests.models.raters.conftest import pictures
from tests.models.raters.fake_hume import (
    KEY,
    FakeHume,
    Reply,
    batch_face,
    predicted,
    upload_face,
    uploaded,
)

from affectlab.core.errors import InputError
from affectlab.evaluation import outcome_table
from affectlab.models.raters import load_rater, rate
from affectlab.models.raters.hume import HUME_EXPRESSIONS, HumeApi, HumeBatchApi
from affectlab.models.raters.ledger import AnswerLedger
from affectlab.models.raters.rate import InFlightWarning
from affectlab.ratings import Ratings

UPLOAD = "/v1/expression/video/file"
QUICK = {"pause": 0.01, "retries": 2}


def ask(hume: FakeHume, images: object, rater: str = "hume", **more: object) -> Ratings:
    wait = {"every": 0.01} if rater == "hume-batch" else {}
    return rate(rater, images, url=hume.url, **QUICK | wait | more)  # type: ignore[arg-type]


def answers(folder: Path) -> dict[str, dict[str, object]]:
    table = pl.read_csv(folder / "answers.csv")
    return {str(row["stimulus"]): row for row in table.iter_rows(named=True)}


class TestUpload:
    def test_scores_become_ratings(self, hume: FakeHume, tmp_path: Path) -> None:
        hume.upload[50] = [Reply(body=uploaded(upload_face(9, {"joy": 0.6, "awe": 0.25})))]
        found = ask(hume, pictures(tmp_path / "p", 50))
        values = dict(found.to_frame().select("label", "value").iter_rows())
        # What the service leaves out is not rated, and not 0.
        assert values == {"joy": 0.6, "awe": 0.25}
        assert found.rater_kinds == ("model",)
        assert (found.scale.low, found.scale.high) == (0.0, 1.0)
        assert found.raters["version"][0] == "v1"

    def test_the_request_is_as_documented(self, hume: FakeHume, tmp_path: Path) -> None:
        secret = pictures(tmp_path / "disgust", 61)
        (secret / "w61.png").rename(secret / "very-sad-face.png")
        ask(hume, secret, threshold=0.8, min_size=30)
        assert hume.seen == [("POST", UPLOAD, 61)]
        assert json.loads(hume.fields[0]["config"]) == {"face": {"threshold": 0.8, "min_size": 30}}
        assert b'filename="picture.jpg"' in hume.bodies[0]
        assert b"image/jpeg" in hume.bodies[0]
        assert b"application/json" in hume.bodies[0]
        assert b"sad" not in hume.bodies[0]
        assert b"disgust" not in hume.bodies[0]

    def test_no_face_several_and_unmeasured(self, hume: FakeHume, tmp_path: Path) -> None:
        small, big = upload_face(5, {"joy": 0.2}), upload_face(50, {"joy": 0.9})
        hume.upload[50] = [Reply(body=uploaded())]
        hume.upload[51] = [Reply(body=uploaded(small, big, upload_face(90, {}, measured=False)))]
        hume.upload[52] = [Reply(body=uploaded(upload_face(5, {})))]
        found = ask(hume, pictures(tmp_path / "p", 50, 51, 52), path=tmp_path / "out")
        rows = answers(tmp_path / "out")
        assert (rows["w50"]["outcome"], rows["w50"]["faces"]) == ("empty", 0)
        assert (rows["w51"]["outcome"], rows["w51"]["faces"]) == ("ok", 2)
        # A face with no expression above the service's cut is an answer without values.
        assert rows["w52"]["outcome"] == "ok"
        frame = found.to_frame().filter(pl.col("value").is_not_null())
        assert frame.select("stimulus", "label", "value").rows() == [("w51", "joy", 0.9)]
        # No face is no rating of 0.
        assert found.to_frame().filter(stimulus="w50")["value"].null_count() == 48

    def test_names_that_the_service_adds_are_kept(self, hume: FakeHume, tmp_path: Path) -> None:
        hume.upload[50] = [Reply(body=uploaded(upload_face(9, {"schadenfreude": 0.4})))]
        assert ask(hume, pictures(tmp_path / "p", 50)).label_names == ("schadenfreude",)

    def test_busy_servers_are_asked_again(self, hume: FakeHume, tmp_path: Path) -> None:
        hume.upload[50] = [Reply(429, headers={"Retry-After": "0.2"}), Reply(503)]
        hume.upload[51] = [Reply(drop=True)]
        found = ask(hume, pictures(tmp_path / "p", 50, 51), concurrency=1, path=tmp_path / "o")
        assert set(found.to_frame()["outcome"]) == {"ok"}
        assert hume.counted(UPLOAD, 50) == 3
        assert hume.counted(UPLOAD, 51) == 2
        rows = answers(tmp_path / "o")
        assert (rows["w50"]["retries"], rows["w51"]["retries"]) == (2, 1)
        # What the server asks to wait goes before our own pause.
        assert hume.times[1] - hume.times[0] >= 0.19

    def test_a_date_to_wait_for(self, hume: FakeHume, tmp_path: Path) -> None:
        past = "Wed, 21 Oct 2015 07:28:00 GMT"
        hume.upload[50] = [Reply(429, headers={"Retry-After": past})]
        started = time.monotonic()
        ask(hume, pictures(tmp_path / "p", 50), pause=30.0)
        assert time.monotonic() - started < 10

    @pytest.mark.parametrize(
        ("reply", "outcome", "said"),
        [
            (Reply(500), "transport", "3 times tried; status 500"),
            (Reply(400, b'{"code": "image_decode_failed"}'), "rejected", "image_decode_failed"),
            (Reply(body=b"<html>hello"), "unparseable", "no JSON: <html>hello"),
            (Reply(body=b'{"measurements": []}'), "schema_invalid", "0 results"),
            (Reply(body=b'{"other": 1}'), "schema_invalid", "documented shape"),
            (Reply(body=b"[1]"), "schema_invalid", "documented shape"),
            (Reply(body=b'{"measurements": [{"faces": 3}]}'), "schema_invalid", "shape"),
            (
                Reply(body=uploaded(upload_face(5, {"joy": 7}))),
                "schema_invalid",
                "joy = 7.0: expected interval 0 to 1",
            ),
            (Reply(body=uploaded(upload_face(5, {}, measured=False))), "schema_invalid", "none"),
        ],
    )
    def test_what_becomes_of_bad_replies(
        self, reply: Reply, outcome: str, said: str, hume: FakeHume, tmp_path: Path
    ) -> None:
        hume.upload[50] = [reply] * 3
        found = ask(hume, pictures(tmp_path / "p", 50), path=tmp_path / "o")
        row = answers(tmp_path / "o")["w50"]
        assert row["outcome"] == outcome
        assert said in str(row["problem"])
        assert found.to_frame()["value"].null_count() == found.n_rows
        assert outcome_table(found).to_frame("usable")[outcome][0] == 1
        # Only the transport is tried again.
        assert hume.counted(UPLOAD, 50) == (3 if outcome == "transport" else 1)

    def test_only_unanswered_pictures_are_asked_about_again(
        self, hume: FakeHume, tmp_path: Path
    ) -> None:
        images = pictures(tmp_path / "p", 50, 51, 52)
        hume.upload[50], hume.upload[51] = [Reply(500)] * 3, [Reply(body=b"{}")]
        ask(hume, images, path=tmp_path / "o")
        first = len(hume.seen)
        again = ask(hume, images, path=tmp_path / "o")
        assert hume.seen[first:] == [("POST", UPLOAD, 50)]
        assert again.to_frame().filter(stimulus="w50")["outcome"].unique().to_list() == ["ok"]
        # Other settings are other answers.
        ask(hume, images, path=tmp_path / "o", threshold=0.9)
        assert len(hume.seen) == first + 4

    def test_a_copy_is_not_asked_about_twice(self, hume: FakeHume, tmp_path: Path) -> None:
        images = pictures(tmp_path / "p", 50)
        (images / "copy.png").write_bytes((images / "w50.png").read_bytes())
        found = ask(hume, images)
        assert len(hume.seen) == 1
        assert found.to_frame().select("stimulus", "value").rows() == [
            ("copy", 0.75),
            ("w50", 0.75),
        ]

    def test_a_service_out_of_reach_ends_the_work(self, hume: FakeHume, tmp_path: Path) -> None:
        images = pictures(tmp_path / "p", *range(50, 60))
        for width in range(52, 60):
            hume.upload[width] = [Reply(500)] * 3
        with pytest.raises(InputError, match="no answer about 2 pictures in a row"):
            ask(hume, images, path=tmp_path / "o", patience=2, concurrency=1)
        before = len(hume.seen)
        hume.upload.clear()
        ask(hume, images, path=tmp_path / "o")
        # The two that were answered are not asked about again.
        assert len(hume.seen) == before + 8

    def test_the_key_is_shown_nowhere(
        self,
        hume: FakeHume,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        images = pictures(tmp_path / "p", 50, 51)
        hume.upload[50] = [Reply(400, json.dumps({"message": f"bad key {KEY}"}).encode())]
        echo = uploaded(upload_face(5, {"joy": 0.5})).replace(b'"r"', f'"{KEY}"'.encode())
        hume.upload[51] = [Reply(body=echo)]
        caplog.set_level(1)
        rater = load_rater("hume", url=hume.url, **QUICK)
        rate(rater, images, path=tmp_path / "o")
        assert KEY in hume.keys
        kept = b"".join(file.read_bytes() for file in (tmp_path / "o").iterdir())
        assert KEY.encode() not in kept
        assert KEY not in repr(rater) + caplog.text + "".join(capsys.readouterr())
        monkeypatch.setenv("HUME_API_KEY", "another-secret-key")
        with pytest.raises(InputError, match=r"answers 401: .*\[key\]") as refused:
            ask(hume, pictures(tmp_path / "q", 70))
        assert "another-secret-key" not in str(refused.value)

    def test_without_a_key(
        self, hume: FakeHume, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("HUME_API_KEY")
        with pytest.raises(InputError, match="environment variable HUME_API_KEY"):
            ask(hume, pictures(tmp_path / "p", 50))
        assert hume.seen == []

    def test_concurrency_and_rate_stay_in_bounds(self, hume: FakeHume, tmp_path: Path) -> None:
        widths = range(50, 62)
        for width in widths:
            hume.upload[width] = [Reply(body=uploaded(upload_face(5, {"joy": 0.5})), after=0.05)]
        # Nobody is answered before as many ask as may; the wait would show one more.
        hume.together = threading.Barrier(3)
        ask(hume, pictures(tmp_path / "p", *widths), concurrency=3)
        hume.together = None
        assert hume.most_at_once == 3
        hume.times.clear()
        ask(hume, pictures(tmp_path / "q", *range(70, 76)), concurrency=3, per_second=20)
        # Six in 0.25 s at the least; the first may have come late to the server.
        assert hume.times[-1] - hume.times[0] > 0.1

    def test_pictures_are_made_as_small_as_the_service_wants(self) -> None:
        noise = Image.effect_noise((3000, 3400), 120).convert("RGB")
        sent = HumeApi().encode(noise)
        assert len(sent) <= 2_000_000
        import io

        with Image.open(io.BytesIO(sent)) as image:
            assert image.format == "JPEG"
            assert image.width * image.height <= 3840 * 2160
            assert abs(image.width / image.height - 3000 / 3400) < 0.01


class TestJobs:
    def test_a_job_is_waited_for(self, hume: FakeHume, tmp_path: Path) -> None:
        hume.states[50] = [
            Reply(body=b'{"state": {"status": "QUEUED"}}'),
            Reply(body=b'{"state": {"status": "IN_PROGRESS"}}'),
        ]
        scores = {name: k / 100 for k, name in enumerate(HUME_EXPRESSIONS)}
        hume.predictions[50] = [Reply(body=predicted(batch_face(9, scores)))]
        found = ask(hume, pictures(tmp_path / "p", 50), "hume-batch", prob_threshold=0.5)
        assert dict(found.to_frame().select("label", "value").iter_rows()) == scores
        assert [path for _, path, _ in hume.seen] == [
            "/v0/batch/jobs",
            *["/v0/batch/jobs/JOB"] * 3,
            "/v0/batch/jobs/JOB/predictions",
        ]
        told = json.loads(hume.fields[0]["json"])
        assert told == {"models": {"face": {"prob_threshold": 0.5}}}

    @pytest.mark.parametrize(
        ("where", "reply", "outcome", "said"),
        [
            (
                "states",
                Reply(body=b'{"state": {"status": "FAILED", "message": "too dark"}}'),
                "rejected",
                "the job failed: too dark",
            ),
            ("states", Reply(body=b'{"state": {"status": "LOST"}}'), "schema_invalid", "'LOST'"),
            ("start", Reply(body=b'{"job_id": "../../x"}'), "schema_invalid", "name of the job"),
            ("start", Reply(body=b'{"id": "x"}'), "schema_invalid", "documented shape"),
            ("predictions", Reply(body=predicted()), "empty", "no face found"),
            (
                "predictions",
                Reply(body=predicted(errors=[{"message": "broken picture", "file": "x"}])),
                "rejected",
                "broken picture",
            ),
            (
                "predictions",
                Reply(body=predicted(batch_face(9, {"Joy": 0.5}))),
                "schema_invalid",
                "label 'Admiration' is missing",
            ),
        ],
    )
    def test_what_becomes_of_jobs(
        self,
        where: str,
        reply: Reply,
        outcome: str,
        said: str,
        hume: FakeHume,
        tmp_path: Path,
    ) -> None:
        getattr(hume, where)[50] = [reply]
        hume.labels = HUME_EXPRESSIONS
        ask(hume, pictures(tmp_path / "p", 50), "hume-batch", path=tmp_path / "o")
        row = answers(tmp_path / "o")["w50"]
        assert row["outcome"] == outcome
        assert said in str(row["problem"])

    def test_the_largest_of_several_faces(self, hume: FakeHume, tmp_path: Path) -> None:
        one = dict.fromkeys(HUME_EXPRESSIONS, 0.1)
        other = dict.fromkeys(HUME_EXPRESSIONS, 0.8)
        body = predicted(batch_face(8, one), batch_face(30, other), batch_face(9, one))
        hume.predictions[50] = [Reply(body=body)]
        found = ask(hume, pictures(tmp_path / "p", 50), "hume-batch", path=tmp_path / "o")
        assert set(found.value) == {0.8}
        assert answers(tmp_path / "o")["w50"]["faces"] == 3

    def test_a_job_that_takes_too_long_is_asked_for_later(
        self, hume: FakeHume, tmp_path: Path
    ) -> None:
        hume.labels = HUME_EXPRESSIONS
        hume.states[50] = [Reply(body=b'{"state": {"status": "QUEUED"}}')] * 1000
        images = pictures(tmp_path / "p", 50)
        slow = ask(hume, images, "hume-batch", path=tmp_path / "o", longest=0.2)
        del slow
        row = answers(tmp_path / "o")["w50"]
        assert row["outcome"] == "transport"
        hume.states.clear()
        found = ask(hume, images, "hume-batch", path=tmp_path / "o")
        assert set(found.to_frame()["outcome"]) == {"ok"}
        assert hume.counted("/v0/batch/jobs", 50) == 1

    def test_a_job_that_is_gone_is_started_again(self, hume: FakeHume, tmp_path: Path) -> None:
        hume.labels = HUME_EXPRESSIONS
        hume.states[50] = [Reply(body=b'{"state": {"status": "QUEUED"}}')] * 1000
        images = pictures(tmp_path / "p", 50)
        ask(hume, images, "hume-batch", path=tmp_path / "o", longest=0.2)
        hume.states[50] = [Reply(404)]
        found = ask(hume, images, "hume-batch", path=tmp_path / "o")
        assert set(found.to_frame()["outcome"]) == {"ok"}
        assert hume.counted("/v0/batch/jobs", 50) == 2

    def test_a_killed_run_asks_for_the_job_it_started(self, hume: FakeHume, tmp_path: Path) -> None:
        hume.labels = HUME_EXPRESSIONS
        images = pictures(tmp_path / "p", 50, 51, 52)
        hume.states[51] = [Reply(body=b'{"state": {"status": "IN_PROGRESS"}}')] * 100_000
        code = (
            "import sys\n"
            "from affectlab.models.raters import rate\n"
            f"rate('hume-batch', {str(images)!r}, path={str(tmp_path / 'o')!r}, "
            f"url={hume.url!r}, concurrency=1, every=0.02)\n"
        )
        process = subprocess.Popen([sys.executable, "-c", code], env={**os.environ})
        for _ in range(2000):
            if hume.counted("/v0/batch/jobs/JOB", 51) >= 3:
                break
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert hume.counted("/v0/batch/jobs", 50) == 1
        hume.states.clear()
        found = ask(hume, images, "hume-batch", path=tmp_path / "o")
        assert set(found.to_frame()["outcome"]) == {"ok"}
        for width in (50, 51, 52):
            assert hume.counted("/v0/batch/jobs", width) == 1


def test_a_killed_run_says_which_pictures_were_in_flight(hume: FakeHume, tmp_path: Path) -> None:
    images = pictures(tmp_path / "p", 50, 51, 52, 53)
    # Two pictures are sent, and no answer to them ever comes.
    for width in (51, 52):
        hume.upload[width] = [Reply(body=uploaded(upload_face(9, {"joy": 0.5})), after=600)]
    code = (
        "from affectlab.models.raters import rate\n"
        f"rate('hume', {str(images)!r}, path={str(tmp_path / 'o')!r}, "
        f"url={hume.url!r}, concurrency=2, timeout=900.0)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], env={**os.environ})
    end = time.monotonic() + 120
    while hume.counted(UPLOAD, 51) + hume.counted(UPLOAD, 52) < 2 and time.monotonic() < end:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert len(hume.seen) == 3
    with pytest.warns(InFlightWarning) as said:
        found = ask(hume, images, path=tmp_path / "o")
    assert str(said[0].message).startswith(
        "2 pictures were in flight when an earlier run ended (w51 and w52): no answer of theirs"
    )
    assert set(found.to_frame()["outcome"]) == {"ok"}
    assert [hume.counted(UPLOAD, width) for width in (50, 51, 52, 53)] == [1, 2, 2, 1]
    # It is said once, and a picture with an answer is not sent again.
    ask(hume, images, path=tmp_path / "o")
    assert len(hume.seen) == 6


def test_a_key_that_is_refused_leaves_nothing_in_flight(
    hume: FakeHume, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    images = pictures(tmp_path / "p", 50, 51)
    for key in ("", "another-key-0123456789"):
        monkeypatch.setenv("HUME_API_KEY", key)
        with pytest.raises(InputError, match="key"):
            ask(hume, images, path=tmp_path / "o", concurrency=1)
    monkeypatch.setenv("HUME_API_KEY", KEY)
    ask(hume, images, path=tmp_path / "o")


def test_a_picture_that_left_once_is_in_flight_whatever_ends_the_run(
    hume: FakeHume, tmp_path: Path
) -> None:
    # Both are told to wait for too long; one of them was sent before, and got no reply.
    wait = Reply(429, headers={"Retry-After": "3600"})
    for width, replies in ((50, [wait]), (51, [Reply(drop=True), wait])):
        hume.upload[width] = replies
        with pytest.raises(InputError, match="asks to wait 3,600 s"):
            ask(hume, pictures(tmp_path / f"p{width}", width), path=tmp_path / "o")
    assert len(hume.seen) == 3
    with AnswerLedger(tmp_path / "o", load_rater("hume", url=hume.url)) as ledger:
        assert ledger.in_flight == ("w51",)


@pytest.mark.parametrize(
    ("rater", "settings", "said"),
    [
        ("hume", {"threshold": 2}, "threshold = 2; expected a number from 0 to 1"),
        ("hume", {"min_size": 0}, "min_size = 0; expected 1 or more"),
        ("hume", {"colour": 1}, "unknown setting 'colour'"),
        ("hume", {"retries": -1}, "retries = -1"),
        ("hume", {"timeout": 0}, "timeout = 0"),
        ("hume", {"url": "ftp://x"}, "expected an address"),
        ("hume", {"url": "https://me:secret@x"}, "before '@'"),
        ("hume-batch", {"every": 0}, "every = 0"),
        ("humee", {}, "unknown rater 'humee'; did you mean 'hume'"),
    ],
)
def test_bad_settings(rater: str, settings: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said.replace("?", r"\?")):
        load_rater(rater, **settings)


def test_labels_of_both_interfaces_are_the_same_words() -> None:
    assert len(HUME_EXPRESSIONS) == len(set(HUME_EXPRESSIONS)) == 48
    assert [name.lower() for name in HumeBatchApi.labels] == list(HumeApi.labels)
