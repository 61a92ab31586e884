"""Services that are ill, hostile or in a hurry: what is kept, where keys go, how long to wait."""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.models.raters.conftest import pictures
from tests.models.raters.fake_hume import FakeHume, Reply, serving, upload_face, uploaded
from tests.models.raters.test_hume import UPLOAD, answers, ask

from affectlab.core.errors import InputError
from affectlab.models.ask.http import MOST_BYTES, is_path, seconds_to_wait
from affectlab.models.images import find_images
from affectlab.models.raters import ApiRequest, Rater, api_rater, load_rater, rate
from affectlab.models.raters.hume import HUME_EXPRESSIONS, HumeApi
from affectlab.models.raters.rate import BrokenLedgerWarning

WIDTHS = range(50, 60)


class TestFailuresAreNeverFinal:
    @pytest.mark.parametrize("status", [301, 302, 401, 402, 403, 404, 407])
    def test_what_is_the_same_for_all_ends_the_run(
        self, status: int, hume: FakeHume, tmp_path: Path
    ) -> None:
        images = pictures(tmp_path / "p", *WIDTHS)
        for width in WIDTHS:
            hume.upload[width] = [Reply(status)]
        with pytest.raises(InputError, match=f"answers {status}: .*as told.*; check"):
            ask(hume, images, path=tmp_path / "o", concurrency=1)
        assert len(hume.seen) == 1
        hume.upload.clear()
        found = ask(hume, images, path=tmp_path / "o")
        assert set(found.to_frame()["outcome"]) == {"ok"}
        assert len(hume.seen) == 1 + len(WIDTHS)

    def test_rejections_in_a_row(self, hume: FakeHume, tmp_path: Path) -> None:
        images = pictures(tmp_path / "p", *WIDTHS)
        for width in WIDTHS:
            hume.upload[width] = [Reply(400)]
        with pytest.raises(InputError, match="about 5 pictures in a row that can be used"):
            ask(hume, images, path=tmp_path / "o", concurrency=1)
        assert len(hume.seen) <= 6
        hume.upload.clear()
        found = ask(hume, images, path=tmp_path / "o")
        assert set(found.to_frame()["outcome"]) == {"ok"}

    def test_whatever_a_rater_raises(self, tmp_path: Path) -> None:
        images = pictures(tmp_path / "p", *WIDTHS)
        state = {"full": True}

        def own(batch: Any) -> list[Any]:
            if state["full"]:
                raise RuntimeError("CUDA out of memory")
            return [{"joy": 0.5} for _ in batch]

        mine = Rater("mine", own, ("joy",))
        with pytest.raises(InputError, match=r"5 pictures in a row .*CUDA out of memory"):
            rate(mine, images, path=tmp_path / "o")
        state["full"] = False
        found = rate(mine, images, path=tmp_path / "o")
        assert found.value.tolist() == [0.5] * len(WIDTHS)

    def test_answers_are_asked_about_again_on_request(self, hume: FakeHume, tmp_path: Path) -> None:
        images = pictures(tmp_path / "p", 50, 51)
        hume.upload[50] = [Reply(body=b'{"measurements": []}')]
        ask(hume, images, path=tmp_path / "o")
        assert answers(tmp_path / "o")["w50"]["outcome"] == "schema_invalid"
        ask(hume, images, path=tmp_path / "o")
        assert len(hume.seen) == 2
        ask(hume, images, path=tmp_path / "o", again="schema_invalid")
        assert hume.seen[2:] == [("POST", UPLOAD, 50)]
        assert answers(tmp_path / "o")["w50"]["outcome"] == "ok"
        for wrong in ("ok", "schema"):
            with pytest.raises(InputError):
                ask(hume, images, path=tmp_path / "o", again=[wrong])


class TestLedger:
    def test_another_address_is_another_rater(self, hume: FakeHume, tmp_path: Path) -> None:
        images = pictures(tmp_path / "p", 50, 51)
        with serving() as other:
            ask(hume, images, path=tmp_path / "o")
            found = ask(other, images, path=tmp_path / "o")
            assert (len(hume.seen), len(other.seen)) == (2, 2)
            assert json.loads(found.raters["settings"][0]) == {"url": other.url}
        assert load_rater("hume").settings == {}

    def test_one_run_at_a_time(self, hume: FakeHume, tmp_path: Path) -> None:
        images = pictures(tmp_path / "p", *WIDTHS)
        for width in WIDTHS:
            hume.upload[width] = [Reply(body=uploaded(upload_face(9, {"joy": 0.5})), after=0.1)]
        ended: list[str] = []

        def run() -> None:
            try:
                ask(hume, images, path=tmp_path / "o")
                ended.append("well")
            except InputError as problem:
                ended.append(str(problem))

        runs = [threading.Thread(target=run) for _ in range(2)]
        for one in runs:
            one.start()
        for one in runs:
            one.join()
        assert sorted(ended)[1] == "well"
        assert "is in use by another run" in min(ended)
        assert len(hume.seen) == len(WIDTHS)

    def test_lines_that_were_not_written_here(self, hume: FakeHume, tmp_path: Path) -> None:
        images = pictures(tmp_path / "p", 50)
        ask(hume, images, path=tmp_path / "o")
        ledger = tmp_path / "o" / "ledger.jsonl"
        schema, asked, good = ledger.read_text().splitlines()
        assert "asking" in asked
        held = json.loads(good)
        wrong: list[Any] = [
            5,
            {"key": 5},
            {"key": held["key"]},
            {"key": held["key"], "answer": "ok"},
            {"key": held["key"], "answer": {"outcome": "fine"}},
            {"key": held["key"], "state": "x"},
        ]
        changes = (
            *({"scores": 3}, {"scores": {"joy": "high"}}, {"faces": "two"}, {"retries": -1}),
            *({"problem": 3}, {"more": 1}),
        )
        wrong += [held | {"answer": held["answer"] | change} for change in changes]
        for line in wrong:
            ledger.write_text(f"{schema}\n{json.dumps(line)}\n")
            with pytest.warns(BrokenLedgerWarning, match="1 line"):
                found = ask(hume, images, path=tmp_path / "o")
            assert found.to_frame()["value"].to_list() == [0.75]
        assert len(hume.seen) == 1 + len(wrong)

    def test_a_picture_that_changes_meanwhile(self, hume: FakeHume, tmp_path: Path) -> None:
        images = pictures(tmp_path / "p", *WIDTHS)

        def swap(name: str, done: int, total: int) -> None:
            if done == 1:
                (images / "w59.png").write_bytes((images / "w50.png").read_bytes())

        with pytest.raises(InputError, match=r"w59\.png has changed since the run began"):
            ask(hume, images, path=tmp_path / "o", concurrency=1, progress=swap)
        assert hume.counted(UPLOAD, 59) == 0


class TestWhereTheKeyGoes:
    @pytest.mark.parametrize(
        "path",
        [
            *("@example.org/x", "//example.org/x", ".example.org/x", ":99/x", "", "x", "/a b"),
            *("/x\n", "/x\r\nX-Other: 1", "/\\example.org", "/ä", "/x\x00", "http://example.org/"),
        ],
    )
    def test_paths_that_lead_elsewhere(self, path: str) -> None:
        assert not is_path(path)
        with pytest.raises(ValueError, match="leads to this service"):
            ApiRequest("GET", path, "state")

    def test_a_path_in_the_ledger(self, hume: FakeHume, tmp_path: Path) -> None:
        images = pictures(tmp_path / "p", 50)
        hume.labels = HUME_EXPRESSIONS
        sha256 = find_images(images)[0].sha256
        rater = load_rater("hume-batch", url=hume.url, pause=0.01, every=0.01, retries=0)
        with serving() as other:
            port = other.url.rsplit(":", 1)[1]
            state = {
                "method": "GET",
                "path": f"@127.0.0.1:{port}/v0/batch/jobs/x",
                "step": "state",
            }
            line = {"key": f"{sha256}:{rater.fingerprint}", "rater": "hume-batch", "state": state}
            (tmp_path / "o").mkdir()
            (tmp_path / "o" / "ledger.jsonl").write_text(
                '{"schema": "affectlab/answers/1"}\n' + json.dumps(line) + "\n"
            )
            found = rate(rater, images, path=tmp_path / "o")
            assert other.keys == []
        assert set(found.to_frame()["outcome"]) == {"ok"}
        assert hume.counted("/v0/batch/jobs", 50) == 1

    @pytest.mark.parametrize("url", [f"http://{'ä' * 70}", "http://xn--a", "http://a\x7fb"])
    def test_an_address_that_is_none(self, url: str, hume: FakeHume, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="url 'http://"):
            rate("hume", pictures(tmp_path / "p", 50), url=url)
        assert hume.seen == []

    def test_a_name_that_no_look_up_takes(
        self, hume: FakeHume, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def look_up(*_: object) -> None:
            raise UnicodeError("label too long")

        monkeypatch.setattr(socket, "getaddrinfo", look_up)
        images = pictures(tmp_path / "p", 50)
        url = f"http://{'a' * 70}.example"
        rate("hume", images, path=tmp_path / "o", url=url, retries=0)
        assert "label too long" in str(answers(tmp_path / "o")["w50"]["problem"])

    def test_redirects(self, hume: FakeHume, tmp_path: Path) -> None:
        with serving() as other:
            for status in (301, 302, 303, 307, 308):
                hume.upload[50] = [Reply(status, headers={"Location": f"{other.url}{UPLOAD}"})]
                with pytest.raises(InputError, match=f"answers {status}: .*check the address"):
                    ask(hume, pictures(tmp_path / "p", 50))
            assert other.seen == []


class TestHowLong:
    def test_what_the_server_asks_is_not_undercut(self, hume: FakeHume, tmp_path: Path) -> None:
        waited: list[float] = []
        hume.upload[50] = [Reply(429, headers={"Retry-After": "500"})]
        rater = api_rater(HumeApi(), url=hume.url, wait=waited.append)
        rate(rater, pictures(tmp_path / "p", 50))
        assert sum(waited) == pytest.approx(500, abs=5)

    def test_longer_than_a_run_waits(self, hume: FakeHume, tmp_path: Path) -> None:
        for width in WIDTHS:
            hume.upload[width] = [Reply(429, headers={"Retry-After": "3600"})] * 9
        images = pictures(tmp_path / "p", *WIDTHS)
        with pytest.raises(InputError, match="asks to wait 3,600 s"):
            ask(hume, images, path=tmp_path / "o", concurrency=2)
        assert len(hume.seen) <= 4
        hume.upload.clear()
        ask(hume, images, path=tmp_path / "o")

    def test_nobody_asks_meanwhile(self, hume: FakeHume, tmp_path: Path) -> None:
        hume.upload[50] = [Reply(429, headers={"Retry-After": "1"})]
        for width in (51, 52, 53):
            hume.upload[width] = [Reply(body=uploaded(upload_face(9, {"joy": 0.5})), after=0.2)]
        ask(hume, pictures(tmp_path / "p", *WIDTHS), concurrency=2)
        first = hume.times[0]
        held = [at - first for at in hume.times[2:]]
        assert min(held) > 0.9

    @pytest.mark.parametrize(
        ("said", "seconds"),
        [
            ("0", 0.0),
            (" 2.5 ", 2.5),
            ("-5", 0.0),
            ("inf", None),
            ("nan", None),
            ("1e999", None),
            ("soon", None),
            ("", None),
            ("Mon, 01 Jan 99999 00:00:00 GMT", None),
            ("Wed, 21 Oct 2015 07:28:00", 0.0),
        ],
    )
    def test_odd_words(self, said: str, seconds: float | None) -> None:
        assert seconds_to_wait(said) == seconds

    def test_a_byte_at_a_time(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HUME_API_KEY", "x" * 20)
        with dribbling() as url:
            began = time.monotonic()
            rate(
                "hume",
                pictures(tmp_path / "p", 50),
                path=tmp_path / "o",
                url=url,
                timeout=0.5,
                retries=0,
            )
            assert time.monotonic() - began < 5
        assert "no whole reply within 0.5 s" in str(answers(tmp_path / "o")["w50"]["problem"])


class TestHowMuch:
    def test_an_endless_reply(self, hume: FakeHume, tmp_path: Path) -> None:
        hume.upload[50] = [Reply(body=b'{"x": "' + b"0" * MOST_BYTES + b'"}')]
        ask(hume, pictures(tmp_path / "p", 50), path=tmp_path / "o")
        row = answers(tmp_path / "o")["w50"]
        assert row["outcome"] == "unparseable"
        assert "more than 16,777,216 bytes" in str(row["problem"])
        assert hume.counted(UPLOAD, 50) == 1

    @pytest.mark.parametrize("packed", [True, False])
    def test_compressed(self, packed: bool, hume: FakeHume, tmp_path: Path) -> None:
        body = gzip.compress(b"0" * 50_000_000) if packed else b"not gzip"
        hume.upload[50] = [Reply(body=body, headers={"Content-Encoding": "gzip"})]
        hume.upload[51] = [Reply(400, body, headers={"Content-Encoding": "gzip"})]
        ask(hume, pictures(tmp_path / "p", 50, 51), path=tmp_path / "o")
        rows = answers(tmp_path / "o")
        assert rows["w50"]["outcome"] == "unparseable"
        assert "compressed ('gzip')" in str(rows["w50"]["problem"])
        assert rows["w51"]["outcome"] == "rejected"

    @pytest.mark.parametrize(
        "body",
        [
            b'{"job_id": "abc\\n"}',
            b'{"job_id": 10000000000000000000000000}',
            b'{"job_id": "' + b"a" * 4000 + b'"}',
        ],
    )
    def test_names_of_jobs_that_are_none(self, body: bytes, hume: FakeHume, tmp_path: Path) -> None:
        hume.start[50] = [Reply(body=body)]
        ask(hume, pictures(tmp_path / "p", 50), "hume-batch", path=tmp_path / "o")
        assert answers(tmp_path / "o")["w50"]["outcome"] == "schema_invalid"
        assert len(hume.seen) == 1

    def test_numbers_that_are_too_large(self, hume: FakeHume, tmp_path: Path) -> None:
        huge = uploaded(upload_face(9, {"joy": 0.5})).replace(b"0.5", b"1" + b"0" * 400)
        hume.upload[50] = [Reply(body=huge)]
        ask(hume, pictures(tmp_path / "p", 50), path=tmp_path / "o")
        assert answers(tmp_path / "o")["w50"]["outcome"] == "schema_invalid"
        own = Rater("own", lambda batch: [{"joy": 10**400}] * len(batch), ("joy",))
        rate(own, pictures(tmp_path / "p", 50), path=tmp_path / "own")
        assert answers(tmp_path / "own")["w50"]["outcome"] == "schema_invalid"


@contextmanager
def dribbling() -> Iterator[str]:
    """Serve a reply of which a byte comes every now and then, for ever."""
    server = socket.create_server(("127.0.0.1", 0))
    ended = threading.Event()

    def serve() -> None:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection:
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
            try:
                while not ended.wait(0.1):
                    connection.sendall(b" ")
            except OSError:
                return

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
    finally:
        ended.set()
        server.close()
        thread.join()
